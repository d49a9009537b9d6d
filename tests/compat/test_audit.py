"""What the audit of the rows sees beside the columns that a wheel and its row both have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from packaging.tags import parse_tag
from packaging.version import Version

from compat.artefact import StatusRow
from compat.row import FrameworkRow
from compat.version import CodeTarget, CudnnVersion
from doctor.binaries.fatbin import GpuCode, Piece
from doctor.commands.refresh.framework import Release, releases_of
from doctor.commands.refresh.listing import Wheel
from tests.compat import audit


def _releases(package: str, *tags: str, version: str = "1.0") -> tuple[Release, ...]:
    name = package.replace("-", "_")
    return releases_of(
        package,
        [Wheel(f"{name}-{version}-{tag}.whl", "", Version(version), (), parse_tag(tag), False, False) for tag in tags],
    )


def _row(**columns: Any) -> FrameworkRow:
    base = {"package": "torch", "versions": "==1.0", "build": "", "os": ("linux",), "arch": ("x86_64",), "source": ""}
    row: FrameworkRow = audit.MATRIX.rows("torch", "builds")[0]
    return row._replace(**{**base, **columns})


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (("cp39-cp39-manylinux2014_x86_64",), ["1.0 has no wheel for linux/sbsa"]),
        (("cp39-cp39-manylinux2014_x86_64", "cp39-cp39-manylinux2014_aarch64"), []),
        (("py3-none-any",), []),
    ],
)
def test_a_release_that_lacks_a_platform_of_its_row(tags: tuple[str, ...], said: list[str]) -> None:
    row = _row(arch=("x86_64", "sbsa"))
    assert audit._not_served(row, list(_releases("torch", *tags)), {"1.0"}) == said


def test_a_release_that_lacks_the_only_platform_of_its_row() -> None:
    own = list(_releases("torch", "cp39-cp39-win_amd64"))
    assert audit._not_served(_row(os=("windows",)), own, {"1.0"}) == []
    assert audit._not_served(_row(os=("windows",)), own, {"1.0", "1.1"}) == ["1.1 has no wheel for windows/x86_64"]


@pytest.mark.parametrize(
    ("pins", "said"),
    [
        ({"numpy": ">=1.0"}, []),
        ({}, ["1.0: requires numpy>=1.0 too"]),
        (None, []),  # the row says that nobody knows
    ],
)
def test_what_a_wheel_requires_and_its_row_omits(pins: dict[str, str] | None, said: list[str]) -> None:
    told = _row(pins={"numpy": ">=1.0", "opencv-python": ""})
    assert audit._left_out(_row(pins=pins), told, "1.0") == said


@pytest.mark.parametrize(("pythons", "differs"), [(("3.9", "3.10"), False), (("3.9",), True)])
def test_a_row_that_is_from_the_wheels_of_a_part(pythons: tuple[str, ...], differs: bool) -> None:
    served = {
        "torch-part": _releases("torch-part", "cp39-none-manylinux_2_28_x86_64", "cp310-none-manylinux_2_28_x86_64")
    }
    shelf: Any = type("Shelf", (), {"releases": staticmethod(served.get)})
    row = _row(source="torch-1.0.tar.gz; torch_part-1.0-cp39-none-manylinux_2_28_x86_64.whl", python=pythons)
    assert bool(audit._by_its_parts(row, shelf)) is differs
    assert audit._by_its_parts(row._replace(source="a page"), shelf) is None


@pytest.mark.parametrize(("at_most", "opened"), [(0, 5), (3, 3)])
def test_every_release_of_a_row_or_three(at_most: int, opened: int) -> None:
    [one] = _releases("torch", "cp39-cp39-manylinux2014_x86_64")
    assert len(audit._some([one] * 5, at_most)) == opened


def test_a_wheel_with_cuda_is_no_cpu_build() -> None:
    assert audit._may_be("cpu", "")
    assert not audit._may_be("cpu", "cu128")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AD102 [GeForce RTX 4090]", {"geforce rtx 4090"}),
        ("GM206 [GeForce GTX 750 v2]", {"geforce gtx 750 v2"}),
        ("GF108M [GeForce GT 620M/640M LE]", {"geforce gt 620m", "geforce gt 640m le"}),
        ("GP106M [GeForce GTX 1060 Mobile / Quadro P3000]", {"geforce gtx 1060", "quadro p3000"}),
        ("TU116 High Definition Audio Controller", {""}),
    ],
)
def test_names_of_a_device_in_pci_ids(text: str, names: set[str]) -> None:
    assert audit._names(text) == names


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("1200  GF114 [GeForce GTX 560 Ti]", []),
        ("ffff  GF114 [GeForce GTX 560 Ti]", ["no row has the chip of ffff, GF114 [GeForce GTX 560 Ti]"]),
        ("1180  GK104 [GeForce GTX 560 Ti]", ["cards of that name are of ['3.0'] too"]),
        ("ffff  GF114 High Definition Audio Controller [GeForce GTX 560 Ti]", None),
    ],
)
def test_a_card_beside_pci_ids(device: str, said: list[str] | None) -> None:
    shelf: Any = type("Shelf", (), {"source": lambda *_: f"10de  NVIDIA Corporation\n\t{device}\n"})()
    assert audit._product(audit.MATRIX.gpu("GTX 560 Ti"), shelf) == said


@pytest.mark.parametrize(
    ("numbers", "said"),
    [(("12", "1"), []), (("13", "0"), ["its header goes up to 13.0, not 12.1"]), ((), None)],
)
def test_a_build_of_cudnn_beside_its_header(numbers: tuple[str, ...], said: list[str] | None) -> None:
    names = ("CUDNN_MAX_SM_MAJOR_NUMBER", "CUDNN_MAX_SM_MINOR_NUMBER")
    text = "".join(f"#define {name} {number}\n" for name, number in zip(names, numbers, strict=False))
    release = type("Release", (), {"public": "9.13.0.50"})()
    shelf: Any = type("Shelf", (), {"releases": lambda *_: [release], "file_in": lambda *_: text})()
    [row] = [row for row in audit.MATRIX.rows("cudnn", "builds") if row.id == "cudnn-9.13.0-cuda13"]
    assert audit._cudnn_build(row, shelf) == said


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("id", "cudnn-a.tar.xz", []),
        ("size_bytes", 8, ["its size in the manifest is another"]),
        ("url", "https://h/cudnn/redist/b/cudnn-a.tar.xz", ["its place in the manifest is another"]),
        ("sha256", ("1" * 64,), ["its digest in the manifest is another"]),
    ],
)
def test_an_archive_beside_the_manifest(column: str, value: Any, said: list[str]) -> None:
    file = {"relative_path": "cudnn/a/cudnn-a.tar.xz", "sha256": "0" * 64, "size": "7"}
    content = json.dumps({"release_date": "2024-01-01", "cudnn": {"linux-x86_64": {"cuda12": file}}}).encode()
    web = type("Web", (), {"page": lambda *_: type("Page", (), {"content": content})})()
    shelf: Any = type("Shelf", (), {"manifests": lambda *_: {"9.10.2": "file:"}, "web": web})()
    row = audit.MATRIX.rows("cudnn-archive", "archives")[0]._replace(
        id="cudnn-a.tar.xz",
        version=CudnnVersion((9, 10, 2, 21)),
        url="https://h/redist/cudnn/a/cudnn-a.tar.xz",
        sha256=("0" * 64,),
        size_bytes=7,
    )
    assert audit._archive(row._replace(**{column: value}), shelf) == said


@pytest.mark.parametrize(
    ("texts", "digest_from", "said"),
    [
        (("has DIGEST", "has it not"), "one", []),
        (("has DIGEST", "DIGEST too"), "several", []),
        (("has DIGEST", "has it not"), "several", ["1 of 2 in a:b; c:d have one of DIGEST"]),
        (("has it not", ""), "one", ["0 of 1 in a:b; c:d have one of DIGEST"]),
        (("has DIGEST", ""), "several", None),
        (("", ""), "one", None),
    ],
)
def test_a_digest_on_which_several_agree_is_in_two_sources(
    texts: tuple[str, str], digest_from: str, said: list[str] | None
) -> None:
    shelf: Any = type("Shelf", (), {"source": staticmethod(dict(zip(("a:b", "c:d"), texts, strict=True)).get)})
    row = audit.MATRIX.rows("cuda-installer", "installers")[0]._replace(
        source="a:b; c:d", sha256="DIGEST", digest_from=digest_from
    )
    assert audit._installer(row, shelf) == said


@pytest.mark.parametrize(
    ("name", "said"), [("NVIDIA T1200 Laptop GPU", []), ("NVIDIA T9", ["NVIDIA T9 is no product of 7.5"])]
)
def test_a_name_of_the_driver_that_is_no_product(name: str, said: list[str]) -> None:
    [chip] = (one for one in audit.MATRIX.rows("chip", "devices") if "1fbc" in one.devices)
    listed = f"| Product Name | PCI ID |\n| {name}    | 1FBC      |\n"
    shelf: Any = type("Shelf", (), {"source": staticmethod(lambda names: listed if "README" in names else "")})
    assert audit._chip(chip, shelf) == said


@pytest.mark.parametrize(
    ("versions", "said"), [(">=11.1", []), (">=10.1", ["cudaErrorStubLibrary came with CUDA 11.1"])]
)
def test_an_error_that_came_later(versions: str, said: list[str]) -> None:
    [row] = (one for one in audit.MATRIX.rows("status", "codes") if one.id == "cuda-34")
    shelf: Any = type("Shelf", (), {})()
    shelf.source = lambda _: "|`cudaErrorStubLibrary`|11.1| | | |`hipErrorStubLibrary`|\n"
    shelf.text_in = lambda *_: "    cudaErrorStubLibrary    =     34,"
    assert audit._status(row._replace(versions=versions), shelf) == said


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (("2.17", "2.17"), ["glibc is null, read is 2.17"]),
        (("2.17", ""), []),  # of a release for Linux and one for Windows
        ((None,), []),
        ((), []),
    ],
)
def test_what_a_wheel_tells_and_its_row_does_not(read: tuple[str | None, ...], said: list[str]) -> None:
    [release] = _releases("torch", "cp39-cp39-manylinux2014_x86_64")
    row = _row(glibc=None)
    assert audit._untold(row, [(release, row._replace(glibc=one)) for one in read]) == said


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (">=9.2", []),
        (">=9", ["cuDNN 9.1.0 has no CUDNN_STATUS_BAD_PARAM"]),
        (">=9.3", ["cuDNN 9.2.0 has it"]),
    ],
)
def test_the_release_that_brought_a_code(versions: str, said: list[str]) -> None:
    served = tuple(
        one
        for release in ("9.1.0", "9.2.0", "9.10.0")
        for one in _releases("nvidia-cudnn-cu12", "py3-none-manylinux_2_27_x86_64", version=release)
    )
    shelf: Any = type(
        "Shelf",
        (),
        {
            "releases": staticmethod(lambda _: served),
            "file_in": staticmethod(lambda _, release, __: "" if release == "9.1.0" else "CUDNN_STATUS_BAD_PARAM = 2"),
        },
    )
    row: StatusRow = audit.MATRIX.rows("status", "codes")[0]
    row = row._replace(library="cudnn", name="CUDNN_STATUS_BAD_PARAM", versions=versions)
    assert audit._since(row, shelf) == said


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"glibc": "2.17", "cudnn_accepts": ">=7,<8"}, 0),
        ({"glibc": "2.5", "cudnn_accepts": ">=7,<8"}, 1),
        ({"glibc": None, "cudnn_accepts": None}, 0),
        ({"glibc": "2.17", "cudnn_accepts": ""}, 1),  # as if cuDNN were inside
        ({"glibc": "2.17", "cudnn_accepts": ">=8,<9"}, 1),
    ],
)
def test_what_the_libraries_of_a_wheel_ask_for(columns: dict[str, Any], said: int) -> None:
    [release] = _releases("torch", "cp39-cp39-manylinux2014_x86_64")
    shelf: Any = type("Shelf", (), {"heads": True, "heads_of": staticmethod(lambda _: ("2.17", frozenset({7})))})
    assert len(audit._asked(_row(**columns), release, shelf)) == said


@pytest.mark.parametrize(
    ("cudnn_accepts", "build", "said"),
    [(None, "", 1), (">=6,<7", "", 1), (">=7,<8", "", 0), ("", "", 0), (None, "cpu", 0)],
)
def test_the_cudnn_that_a_wheel_for_windows_holds(cudnn_accepts: str | None, build: str, said: int) -> None:
    [release] = _releases("torch", "cp39-cp39-win_amd64")
    shelf: Any = type("Shelf", (), {"held_by": staticmethod(lambda _: frozenset({7}))})
    row = _row(os=("windows",), build=build, cudnn_accepts=cudnn_accepts)
    assert len(audit._held(row, release, shelf)) == said


@pytest.mark.parametrize(
    ("version", "module", "said"),
    [
        ("0.40.0", "cudart.cudaRuntimeGetVersion(version)  # not torch.version.cuda", 0),
        ("0.40.0", "torch.version.cuda", 1),
        ("0.40.1", "torch.version.cuda", 0),
        ("0.40.1", "cudart.cudaRuntimeGetVersion(version)", 1),
    ],
)
def test_whose_cuda_the_modules_ask_for(version: str, module: str, said: int) -> None:
    [release] = _releases("bitsandbytes", "py3-none-any", version=version)
    shelf: Any = type("Shelf", (), {"choice_of": staticmethod(lambda _: module)})
    assert len(audit._chooses(_row(package="bitsandbytes"), release, shelf)) == said


_IMAGE = """$cudnn_subfolder="cudnn-windows-x86_64-9.10.2.21_cuda12-archive"
Switch ($cudaVersion) {
  "12.8" { $toolkitInstaller = "cuda_12.8.1_572.61_windows.exe" }
  "13.0" { $cudnn_subfolder="cudnn-windows-x86_64-9.12.0.46_cuda13-archive" }
}"""


@pytest.mark.parametrize(
    ("cuda", "cudnn_accepts", "said"),
    [
        ("==13.0", ">=9.12,<10", []),
        ("==13.0", ">=9.13,<10", ["a/b:Install-CUDA-Tools.ps1@1 has cuDNN 9.12.0.46"]),
        ("==12.8", ">=9.10,<10", []),
        ("==12.8", ">=9.11,<10", ["a/b:Install-CUDA-Tools.ps1@1 has cuDNN 9.10.2.21"]),
        ("==12.9", ">=9.11,<10", []),  # which it does not install
    ],
)
def test_the_cudnn_of_the_machine_that_builds(cuda: str, cudnn_accepts: str, said: list[str]) -> None:
    shelf: Any = type("Shelf", (), {"source": staticmethod(lambda _: _IMAGE)})
    row = _row(source="x; a/b:scripts/Install-CUDA-Tools.ps1@1", cuda=cuda, cudnn_accepts=cudnn_accepts)
    assert [one.replace("scripts/", "") for one in audit._image(row, shelf)] == said


def test_the_cudnn_that_a_build_from_source_refuses() -> None:
    text = "minimum_cudnn_version = 7600\nmaximum_cudnn_version = 8099\n"
    assert audit._refused_by_its_build(_row(cudnn_accepts=">=7.6,<8.1"), text) == []
    assert "its build takes cuDNN 8.0.5" in audit._refused_by_its_build(_row(cudnn_accepts=">=7.6,<8"), text)
    assert "its build refuses cuDNN 8.9.7" in audit._refused_by_its_build(_row(cudnn_accepts=">=7.6,<9"), text)
    assert "its build takes cuDNN 8.9.7" in audit._refused_by_its_build(
        _row(cudnn_accepts=">=8.8,<8.9"), text.splitlines()[0]
    )
    assert audit._refused_by_its_build(_row(cudnn_accepts=">=8.8,<8.9"), "") == []


def test_the_code_that_a_makefile_makes() -> None:
    text = "CUDA_ARCH := -gencode arch=compute_20,code=sm_21 -gencode arch=compute_50,code=compute_50"
    targets = tuple(map(CodeTarget.parse, ("sm_21", "compute_50")))
    assert audit._made_by_its_build(_row(targets=targets), text) == []
    assert audit._made_by_its_build(_row(targets=targets[:1]), text) == ["its build makes compute_50, sm_21"]
    assert audit._made_by_its_build(_row(targets=targets[:1]), "") == []


_BUILDS = """export TORCH_CUDA_ARCH_LIST="3.7+PTX;5.0"
if [[ $CUDA_VERSION == "9.0" ]] || [[ $CUDA_VERSION == "9.1" ]]; then
    export TORCH_CUDA_ARCH_LIST="$TORCH_CUDA_ARCH_LIST;6.0"
fi
case ${CUDA_VERSION} in
    10.2)
        TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST};7.5"
        ;;
    10.*)
        TORCH_CUDA_ARCH_LIST=";${TORCH_CUDA_ARCH_LIST}"
        ;;
    *)
        exit 1
        ;;
esac
echo $TORCH_CUDA_ARCH_LIST
"""


@pytest.mark.parametrize(
    ("cuda", "targets"),
    [
        ("==9.1", ("sm_37", "sm_50", "sm_60", "compute_37")),
        ("==10.1", ("sm_37", "sm_50", "compute_37")),
        ("==10.2", ("sm_37", "sm_50", "sm_75", "compute_37")),
    ],
)
def test_the_code_that_the_script_of_a_build_lists(cuda: str, targets: tuple[str, ...]) -> None:
    parsed = tuple(map(CodeTarget.parse, targets))
    assert audit._listed_by_its_build(_row(cuda=cuda, targets=parsed), _BUILDS) == []
    assert audit._listed_by_its_build(_row(cuda=cuda, targets=parsed[1:]), _BUILDS) != []
    assert audit._listed_by_its_build(_row(cuda=cuda, targets=None), _BUILDS) is None
    assert audit._listed_by_its_build(_row(cuda=cuda, targets=parsed), "no list") is None


def test_the_list_of_a_build_for_windows() -> None:
    targets = tuple(map(CodeTarget.parse, ("sm_50", "sm_90", "compute_50")))
    text = "    set TORCH_CUDA_ARCH_LIST=5.0+PTX;9.0\n"
    assert audit._listed_by_its_build(_row(cuda="==12.1", targets=targets), text) == []


def test_what_most_of_the_code_of_a_wheel_is_for() -> None:
    def code(**containers: int) -> GpuCode:
        return GpuCode(tuple(Piece(CodeTarget.parse(name), many, many) for name, many in containers.items()))

    main = code(sm_80=639, sm_90=320, sm_30=8, compute_90=320)
    assert set(map(str, audit.most_of([main, code(sm_62=2), GpuCode(())]))) == {"sm_80", "sm_90", "compute_90"}
    assert audit.most_of([code(sm_80=3), code(sm_90=3, compute_90=2)]) == {
        CodeTarget.parse(one) for one in ("sm_80", "sm_90", "compute_90")
    }
    assert audit.most_of([GpuCode(())]) == frozenset()


class _Index:
    """An index of two distributions, the first of which only points at the second."""

    def releases(self, package: str, withdrawn: bool = False) -> tuple[Release, ...]:
        return () if withdrawn else _releases(package, "cp39-cp39-win_amd64", version="2.12.0")

    def metadata_of(self, release: Release) -> FrameworkRow:
        return _row(package=release.package, python=("3.9",), pins={"numpy": "<1.24"})

    def archives(self, package: str) -> frozenset[str]:
        return frozenset({"0.34.0", "2.12.0", "3.0"})


def test_requirements_of_what_a_wheel_points_at() -> None:
    (release,) = _releases("tensorflow", "cp39-cp39-win_amd64", version="2.12.0")
    told = _row(package="tensorflow", python=("3.8", "3.9"), pins={"tensorflow-intel": "==2.12.0"})
    shelf: Any = _Index()
    found = audit._with_its_target(told, release, shelf)
    assert (found.pins, found.python) == ({"tensorflow-intel": "==2.12.0", "numpy": "<1.24"}, ("3.9",))
    plain = told._replace(pins={"numpy": ">=1"})
    assert audit._with_its_target(plain, release, shelf) == plain


def test_an_archive_is_no_wheel() -> None:
    shelf: Any = _Index()
    row = _row(package="numba", versions=">=0.18,<3", python=("3.6",))
    assert audit._archives_alone(row, {"2.12.0"}, shelf) == ["0.34.0 is a source archive alone"]
    assert audit._archives_alone(row._replace(python=None, glibc=None), {"2.12.0"}, shelf) == []
    assert audit._archives_alone(row, {"0.34.0", "2.12.0"}, shelf) == []
