"""Plans from NVIDIA's archives: for every layout, what its installation guide says, in effect."""

from __future__ import annotations

from typing import Any

import pytest

from compat.matrix import Uncovered
from compat.need import InstallCudnn
from compat.version import CudnnVersion
from installers.choose import plan_for
from installers.methods.cudnn_archive import NoSuchArchive, Order, archive_plan
from installers.plan import Plan, Target
from installers.step import kind_of
from installers.steps.by_hand import ByHand
from installers.steps.change_mode import ChangeMode
from installers.steps.check import Check
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.extract import Extract
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.use_file import UseFile
from tests.installers.archives import LINUX, MATRIX, WINDOWS_ERAS, Era
from tests.installers.target import UBUNTU, WINDOWS

PPC, SBSA, JETSON = (UBUNTU._replace(arch=arch) for arch in ("ppc64le", "sbsa", "jetson"))


def plan(version: str, cuda: str, target: Target, **more: Any) -> Plan:
    return archive_plan(Order(CudnnVersion.parse(version), cuda)._replace(**more), target, MATRIX)


def copies(found: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(step.source, step.into, step.patterns) for step in found.steps if isinstance(step, CopyTree)]


@pytest.mark.parametrize("era", LINUX, ids=lambda era: era.name)
def test_linux(era: Era) -> None:
    found = archive_plan(era.order(), era.target, MATRIX)
    kinds = [type(step) for step in found.steps]
    assert kinds == [Download, Extract, CopyTree, CopyTree, ChangeMode, RefreshLoader, ByHand, Check]
    download, extract = found.steps[0], found.steps[1]
    assert isinstance(download, Download)
    assert isinstance(extract, Extract)
    assert download.to == extract.archive == era.name
    assert download.sha256
    assert copies(found) == [
        (f"unpacked/{era.headers}", "/usr/local/cuda/include", ("cudnn*.h",)),
        (f"unpacked/{era.libraries}", "/usr/local/cuda/lib64", ("libcudnn*",)),
    ]
    mode = found.steps[4]
    assert isinstance(mode, ChangeMode)
    assert (mode.add, mode.paths) == ("a+r", ("/usr/local/cuda/include/cudnn*.h", "/usr/local/cuda/lib64/libcudnn*"))


@pytest.mark.parametrize("era", WINDOWS_ERAS, ids=lambda era: era.name)
def test_windows(era: Era) -> None:
    home = f"C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v{era.cuda}"
    found = archive_plan(era.order(), era.target, MATRIX)
    dlls = "bin\\x64" if era.libraries.endswith("x64") else "bin"
    assert copies(found) == [
        (f"unpacked/{era.libraries}", f"{home}\\{dlls}", ("cudnn*.dll",)),
        (f"unpacked/{era.headers}", f"{home}\\include", ("cudnn*.h",)),
        (f"unpacked/{era.import_libraries}", f"{home}\\lib\\x64", ("cudnn*.lib",)),
    ]
    assert not any(isinstance(step, (ChangeMode, RefreshLoader)) for step in found.steps)


def test_every_archive_that_a_row_knows_has_its_plan() -> None:
    rows = [row for row in MATRIX.rows("cudnn-archive", "archives") if row.os in {"linux", "windows"}]
    layouts = {row.id: row for row in MATRIX.rows("cudnn-archive", "layouts")}
    for row in rows:
        target = (WINDOWS if row.os == "windows" else UBUNTU)._replace(arch=row.arch)
        found = archive_plan(Order(row.version, row.cuda, "/x/cuda"), target, MATRIX)
        first = next(step for step in found.steps if isinstance(step, Download))
        assert (first.url, first.sha256, first.size_bytes) == (row.url, row.sha256, row.size_bytes)
        assert MATRIX.cudnn_layout(row.version) == layouts[row.layout]
        kinds = [(step, kind_of(step)) for step in found.steps]
        assert all(kind.title(step) and (kind.reason(step) or isinstance(step, ByHand)) for step, kind in kinds)
    assert len(rows) > 400


@pytest.mark.parametrize(
    ("version", "cuda", "chosen"),
    [
        ("9.10.2", "12.8", "_cuda12-archive"),
        ("9.10.2", "12", "_cuda12-archive"),
        ("9.10.2", "11.8", "_cuda11-archive"),
        ("9.10.2", "", "_cuda12-archive"),  # the newest that there is: the driver runs CUDA 13
        ("9.13.0", "", "_cuda13-archive"),
        ("8.4.0", "11.4", "8.4.0.27_cuda11.6-archive"),  # released for a range
        ("8.9", "12.2", "8.9.7.29_cuda12"),
        ("7.6.5", "10", "cudnn-10.2-linux-x64-v7.6.5.32"),
    ],
)
def test_the_right_build(version: str, cuda: str, chosen: str) -> None:
    first = plan(version, cuda, UBUNTU).steps[0]
    assert isinstance(first, Download)
    assert chosen in first.to


@pytest.mark.parametrize(
    ("version", "cuda", "target", "said"),
    [
        ("7.6.5", "9.1", UBUNTU, "there are archives for 9.0, 9.2, 10.0, 10.1, 10.2"),
        ("7.6.5", "12.1", UBUNTU, "has no archive for CUDA 12.1"),
        (
            "9.18.0",
            "13",
            WINDOWS,
            "Windows has a directory for each CUDA version: give --cuda-version 13.Y or --cuda-home DIR",
        ),
        ("5.0", "", WINDOWS, "is known: give its CUDA with --cuda-version X.Y"),
        ("5.0", "9.0", WINDOWS, "cuDNN 5.0 has no build for CUDA 9.0, only for 7.5, 8.0"),
        ("4", "12.0", WINDOWS, "has no build for CUDA 12.0, only for 7.0 to 7.5"),
        ("99", "13.0", UBUNTU, "cuDNN 99 is unknown"),
        ("9.10.9", "12", UBUNTU, "cuDNN 9.10.9 is unknown"),
        ("8.9.7.30", "12", UBUNTU, "cuDNN 8.9.7.30 is unknown; known are 8.9.7.29"),
        ("9.10.2", "12.8", PPC, "cuDNN 9.10.2 has no archive for linux ppc64le; there are archives for linux sbsa"),
        ("9.28.0", "13.0", PPC, "cuDNN 9.28.0 has no archive for linux ppc64le"),
        ("8.9.7", "12.2", JETSON, "cuDNN 8.9.7 has no archive for"),
        ("2", "6.5", SBSA, "cuDNN 2 has no archive for linux sbsa; the first version that has one is 8.0.5.39"),
    ],
)
def test_what_there_is_not(version: str, cuda: str, target: Target, said: str) -> None:
    with pytest.raises(NoSuchArchive, match=said):
        plan(version, cuda, target)


def test_a_layout_that_nobody_knows() -> None:
    with pytest.raises(Uncovered, match="layout"):
        plan("0.5", "6.5", UBUNTU, archive="/home/user/any.tgz")


@pytest.mark.parametrize(
    ("version", "cuda", "target", "name"),
    [
        ("7.4.2", "10.0", UBUNTU, "v7.4.2/cudnn-10.0-linux-x64-v7.4.2.24.tgz"),
        ("7.1.4", "9.0", UBUNTU, "v7.1.4/cudnn-9.0-linux-x64-v7.1.tgz"),
        ("7.1.2", "9.0", UBUNTU, "v7.1.2/cudnn-9.0-linux-x64-v7.1.tgz"),
        ("7.0.5", "9.0", UBUNTU, "v7.0.5/cudnn-9.0-linux-x64-v7.tgz"),
        ("6.0", "7.5", UBUNTU, "v6.0/cudnn-7.5-linux-x64-v6.0.tgz"),
        ("5.1", "8.0", WINDOWS, "v5.1/cudnn-8.0-windows10-x64-v5.1.zip"),
    ],
)
def test_names_come_from_rows(version: str, cuda: str, target: Target, name: str) -> None:
    """Red on the old code: 31 of 44 old names were made by a pattern, and never existed."""
    [fetched] = (step for step in plan(version, cuda, target).steps if isinstance(step, Download))
    assert fetched.url.endswith(f"/compute/redist/cudnn/{name}")
    assert fetched.to == name.partition("/")[2]


@pytest.mark.parametrize(("version", "cuda", "target"), [("5.0", "7.5", WINDOWS), ("7.4.2", "10.0", WINDOWS)])
def test_a_name_that_no_row_has_is_not_guessed(version: str, cuda: str, target: Target) -> None:
    found = plan(version, cuda, target)
    choose = found.steps[-1]
    assert isinstance(choose, ByHand)
    assert MATRIX.page("cudnn-archive").url in choose.text
    assert f"gpudoctor install cudnn {version} --cuda-version {cuda} --archive FILE" in choose.text
    assert "cudnn-" not in choose.text.replace("cudnn-archive", "")
    assert found.effects == ()


def test_the_driver_stays_with_a_cuda_that_is_not_so_old() -> None:
    assert not any("display driver" in kind_of(step).title(step) for step in plan("7.6.5", "10.1", WINDOWS).steps)


@pytest.mark.parametrize(("version", "cuda", "named"), [("8.4.0", "11.6", True), ("8.9.7", "12.2", False)])
def test_zlib_is_named_where_it_is_loaded(version: str, cuda: str, named: bool) -> None:
    titles = (kind_of(step).title(step) for step in plan(version, cuda, WINDOWS).steps)
    assert any("zlibwapi.dll" in title for title in titles) is named


@pytest.mark.parametrize(("sha256", "count"), [("", 2), ("a" * 64, 1)])
def test_a_file_of_the_users(sha256: str, count: int) -> None:
    found = plan("5.1", "8.0", UBUNTU, archive="/home/user/a b/any.tgz", sha256=sha256)
    use, extract = found.steps[:2]
    assert isinstance(use, UseFile)
    assert (use.path, use.to) == ("/home/user/a b/any.tgz", "cudnn-8.0-linux-x64-v5.1.tgz")
    assert len(use.sha256) == count  # of this one, the row keeps two
    assert isinstance(extract, Extract)
    assert extract.archive == use.to


def test_a_home_of_the_users_needs_no_root() -> None:
    found = plan("7.6.5", "10.1", UBUNTU, home="/home/user/cuda/")
    assert [into for _, into, _ in copies(found)] == ["/home/user/cuda/include", "/home/user/cuda/lib64"]
    assert not any(getattr(step, "needs_root", False) for step in found.steps)


@pytest.mark.parametrize(
    ("where", "target", "into"),
    [
        ("/usr/local/cuda-12.8/lib64", UBUNTU, "/usr/local/cuda-12.8/lib64"),
        ("/usr/local/cuda-12.8/targets/x86_64-linux/lib", UBUNTU, "/usr/local/cuda-12.8/lib64"),
        ("C:/CUDA/v12.8/bin", WINDOWS, "C:\\CUDA\\v12.8\\bin"),
        ("/opt/cudnn/lib", UBUNTU, ""),
        ("/srv/libs/lib64", UBUNTU, ""),
    ],
)
def test_a_copy_in_a_cuda_directory_is_mended_by_its_archive(where: str, target: Target, into: str) -> None:
    found = plan_for(InstallCudnn("==9.10.2", where, "12"), target, MATRIX)
    assert into in {step.into for step in found.steps if isinstance(step, CopyTree)} | ({""} if not into else set())
    assert isinstance(found.steps[0], Download if into else ByHand)


@pytest.mark.parametrize(
    ("spec", "where", "build", "named"),
    [
        ("==9.10.2", "/usr/local/cuda-11.8/lib64", "", "cuda11-archive"),  # by the directory's name
        ("==9.10.2", "/usr/local/cuda/lib64", "11.8", "cuda11-archive"),
        ("==9.*", "/usr/local/cuda-11.8/lib64", "11.8", "9.10.2.21_cuda11"),  # the last one for CUDA 11
        (">=8.1,<9", "/usr/local/cuda-11.2/lib64", "11.2", "8.9.7.29_cuda11"),
        (">=7.6,<8", "/usr/local/cuda-10.1/lib64", "10.1", "cudnn-10.1-linux-x64-v7.6.5"),
        ("==8.9.7", "/usr/local/cuda-12.8/lib64", "12.8", "8.9.7.29_cuda12"),  # a minor that came after it
        ("==8.2.4", "/usr/local/cuda-11.8/lib64", "11.8", "cudnn-11.4-linux-x64-v8.2.4"),
        (">=8.1,<9", "/usr/local/cuda-12.8/lib64", "12.8", "8.9.7.29_cuda12"),
    ],
)
def test_the_cuda_of_the_directory_decides(spec: str, where: str, build: str, named: str) -> None:
    """The driver runs a newer CUDA than the toolkit that cuDNN lies in."""
    found = plan_for(InstallCudnn(spec, where, build), UBUNTU._replace(cuda_major=13), MATRIX)
    assert isinstance(found.steps[0], Download)
    assert named in found.steps[0].url


def test_a_range_is_the_newest_archive_into_the_very_directory_of_windows() -> None:
    """From 9.18 on the archive has its DLLs in bin/x64; Path names bin."""
    found = plan_for(InstallCudnn(">=9,<10", "C:/CUDA/v12.8/bin", "12"), WINDOWS, MATRIX)
    newest = max(
        row.version for row in MATRIX.rows("cudnn-archive", "archives") if (row.os, row.cuda) == ("windows", "12")
    )
    assert f"cuDNN {newest} for CUDA 12" in found.summary
    assert "C:\\CUDA\\v12.8\\bin" in {step.into for step in found.steps if isinstance(step, CopyTree)}


@pytest.mark.parametrize(("release", "cuda", "named"), [("9.13.0", "11.8", "11"), ("7.6.5", "10.3", r"10\.3")])
def test_a_release_that_was_not_built_for_the_directorys_cuda_is_refused(release: str, cuda: str, named: str) -> None:
    with pytest.raises(NoSuchArchive, match=rf"{release}.* has no build for CUDA {named}"):
        plan_for(InstallCudnn(f"=={release}", f"/usr/local/cuda-{cuda}/lib64"), UBUNTU, MATRIX)


def test_without_a_known_cuda_a_person_chooses() -> None:
    found = plan_for(InstallCudnn("==9.10.2", "/usr/local/cuda/lib64"), UBUNTU._replace(cuda_major=13), MATRIX)
    assert isinstance(found.steps[0], ByHand)


@pytest.mark.parametrize("spec", [">=9.90,<10", "==9.99.1", "==1"])
def test_what_no_row_knows_is_left_to_a_person(spec: str) -> None:
    found = plan_for(InstallCudnn(spec, "/usr/local/cuda/lib64", "12"), UBUNTU, MATRIX)
    assert all(isinstance(step, (ByHand, UseFile)) for step in found.steps[:2])
