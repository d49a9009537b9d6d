"""What must hold over all rows of the shipped tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from packaging.specifiers import SpecifierSet

from compat import schema
from compat.build import accepted_cudas, is_cuda_row, is_default_build
from compat.load import DATA, columns_of, is_framework, parser_of, products, tables_of
from compat.matrix import Matrix, accepts
from compat.row import FRAMEWORK_TABLES, CompilerRow, CudnnBuildRow, CudnnRow, FrameworkRow, ToolkitRow
from compat.traits import takes_the_runtime_that_it_finds, traits_of
from compat.version import CudaVersion, CudnnVersion
from tests.each import each

pytestmark = pytest.mark.no_cover  # it is about rows: what reads them is covered elsewhere
MATRIX = Matrix()
FRAMEWORKS = [name for name in products() if is_framework(name)]
ALL_TABLES = [(product, table) for product in products() for table in tables_of(product)]
_VALIDATOR = jsonschema.Draft202012Validator(schema.schema())
VERSION_TYPES = ("CudaVersion", "CudnnVersion", "DriverRelease", "ComputeCapability", "CodeTarget")


def _raw(product: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(DATA, f"{product}.json").read_text(encoding="utf-8"))
    return content


def _cells(product: str, *types: str) -> Iterator[tuple[str, str, Any]]:
    """Row id, column type and value of every cell (of every element of a list) of these types."""
    for table, row_type in tables_of(product).items():
        for name, annotation in columns_of(row_type).items():
            plain = annotation.removesuffix(" | None").removeprefix("tuple[").removesuffix(", ...]")
            if plain in types:
                for item in _raw(product)["tables"][table]:
                    value = item[name]
                    for one in value if isinstance(value, list) else [value]:
                        yield item["id"], plain, one


def _toolkits() -> tuple[ToolkitRow, ...]:
    rows: tuple[ToolkitRow, ...] = MATRIX.rows("cuda", "toolkits")
    return tuple(sorted(rows, key=lambda row: (row.cuda, tuple(map(int, row.release.split("."))))))


def _releases() -> tuple[CudnnRow, ...]:
    rows: tuple[CudnnRow, ...] = MATRIX.rows("cudnn", "releases")
    return rows


def test_committed_schema_is_the_generated_one() -> None:
    assert Path(schema.PATH).read_text(encoding="utf-8") == schema.text()


@each("product", products())
def test_schema(product: str) -> None:
    assert [error.message for error in _VALIDATOR.iter_errors(_raw(product))] == []


@pytest.mark.parametrize("change", [{"cuda_max": "13"}, {"source": ""}, {"confidence": "sure"}, {"odd": 1}])
def test_schema_refuses(change: dict[str, Any]) -> None:
    content = _raw("driver")
    content["tables"]["branches"][0].update(change)
    assert not jsonschema.Draft202012Validator(schema.schema()).is_valid(content)


@each(("product", "table"), ALL_TABLES)
def test_rows_load_and_say_where_they_are_from(product: str, table: str) -> None:
    rows, as_of = MATRIX.rows(product, table), _raw(product)["as_of"]
    assert rows
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert row.source
        assert row.read_on <= as_of, row.id
        assert row.confidence in {"high", "medium", "low"}, row.id


def test_the_date_that_stands_for_all_is_the_newest() -> None:
    """`check` and others print that of the CUDA tables."""
    assert MATRIX.as_of() == max(_raw(product)["as_of"] for product in products())


def test_one_release_is_named_alone() -> None:
    """What names one release, or one series, is compared by its text: a second clause behind it would not count."""
    rows = [row for product in products() if "builds" in tables_of(product) for row in MATRIX.rows(product, "builds")]
    assert [row.id for row in rows if re.match("==.*,", getattr(row, "versions", ""))] == []


@each("product", products())
def test_texts(product: str) -> None:
    text = Path(DATA, f"{product}.json").read_text(encoding="utf-8")
    text = text.replace("pypi.jetson-ai-lab.io", "") if product == "index" else text  # NVIDIA's own, for Jetson
    assert re.findall(r"stored copy|p[y]pi\.|python[h]osted|ana[c]onda\.org|/wor[k]/|/tmp/|/opt/", text) == []
    if product != "index":  # the one table of addresses to install from
        assert not [row.url for row in Matrix().rows("index", "wheels") if row.url in text]
    assert "\t" not in text


@each("product", products())
def test_versions_are_written_as_they_print(product: str) -> None:
    odd = [
        (row, value)
        for row, kind, value in _cells(product, *VERSION_TYPES)
        if value is not None and str(parser_of(kind)(value)) != value
    ]
    assert odd == []


@pytest.mark.parametrize("column", ["driver_floor_linux", "driver_floor_windows"])
def test_floors_never_fall(column: str) -> None:
    floors = [getattr(row, column) for row in _toolkits()]
    assert all(floor is not None for floor in floors)
    assert [(str(a), str(b)) for a, b in pairwise(floors) if a > b] == []


def test_releases_of_one_cuda_share_a_floor_from_11_on() -> None:
    for one, other in pairwise(_toolkits()):
        if one.cuda == other.cuda and one.cuda.major >= 11:
            assert one.driver_floor_linux == other.driver_floor_linux


def test_toolkit_driver_is_at_least_the_floor_and_of_a_known_branch() -> None:
    for row in _toolkits():
        if row.toolkit_driver_linux is not None and row.driver_floor_linux is not None:
            assert row.toolkit_driver_linux >= row.driver_floor_linux, row.id
            branch = MATRIX.branch(row.toolkit_driver_linux)
            assert branch.cuda_max is not None
            assert branch.cuda_max >= row.cuda, row.id


def test_branches_report_ever_newer_cuda() -> None:
    rows = sorted((row for row in MATRIX.rows("driver", "branches") if row.cuda_max), key=lambda row: row.branch)
    assert not [other.id for one, other in pairwise(rows) if one.cuda_max > other.cuda_max]


def test_branches_end_on_a_date_or_month() -> None:
    for row in MATRIX.rows("driver", "branches"):
        assert row.end_of_life is None or re.fullmatch(r"|\d{4}-\d{2}(-\d{2})?", row.end_of_life), row.id
        assert row.kind in {"production", "new-feature", "long-term", "legacy", ""}, row.id


def test_targets_and_generations_agree() -> None:
    targets = sorted(MATRIX.rows("cuda", "targets"), key=lambda row: row.cuda)
    for row in MATRIX.rows("gpu", "generations"):
        for capability in row.capabilities:
            builders = [one.cuda for one in targets if capability.sm in map(str, one.sm)]
            if row.cuda_first > targets[0].cuda:
                assert builders[0] == row.cuda_first, row.id
            if row.dropped and row.cuda_last >= targets[0].cuda:
                assert builders[-1] == row.cuda_last, row.id
            if not row.dropped:
                assert builders[-1] == targets[-1].cuda, row.id
        assert row.dropped is (row.cuda_last is not None), row.id
        assert row.driver_dropped is (row.driver_last is not None), row.id
        assert row.open_module in {"no", "yes", "only"}, row.id


@each("product", FRAMEWORKS)
def test_code_is_of_a_card_that_a_compiler_of_its_cuda_knows(product: str) -> None:
    """A build with code for a newer or older card was compiled by another CUDA than its row says."""
    known = {row.cuda: {one.capability for one in row.sm} for row in MATRIX.rows("cuda", "targets")}
    for row in MATRIX.rows(product, "builds"):
        can = [cards for cuda, cards in known.items() if row.cuda and accepts(row.cuda, cuda)]
        if can:
            every = set().union(*can)
            strange = [one for one in row.targets or () if not min(every) <= one.capability <= max(every)]
            assert not strange, (row.id, row.cuda, strange)


@each("product", FRAMEWORKS)
def test_libraries_are_of_one_cuda(product: str) -> None:
    """What two extras ask for, each for its CUDA, overwrites each other."""
    for row in MATRIX.rows(product, "builds"):
        named = {found[1] for name in row.pins or () if (found := re.search(r"^nvidia-.*-cu(\d+)$", name))}
        assert len(named) <= 1, row.id


@pytest.mark.parametrize("product", ["vllm", "xformers"])
def test_pythons_are_those_of_the_torch_that_is_pinned(product: str) -> None:
    """A wheel of the stable ABI names every later Python, also those that its torch has no wheel for."""
    for row in MATRIX.rows(product, "builds"):
        pin = (row.pins or {}).get("torch", "")
        if row.python and pin.startswith("=="):
            own = [one.python for one in MATRIX.framework_rows("torch", pin[2:]) if set(one.os) & set(row.os)]
            assert set(row.python) <= {one for pythons in own for one in pythons or row.python}, row.id


@each("product", FRAMEWORKS)
def test_glibc_is_linux(product: str) -> None:
    assert not [row.id for row in MATRIX.rows(product, "builds") if row.glibc != "" and "linux" not in row.os]


@each("product", FRAMEWORKS)
def test_cuda_for_arm_servers_begins_with_11(product: str) -> None:
    """An older one for ARM is Jetson's, as CuPy's wheels for CUDA 10.2 are."""
    first = min(row.cuda for row in MATRIX.rows("cuda-installer", "installers") if row.arch == "sbsa")
    own = [row for row in MATRIX.rows(product, "builds") if row.cuda and "sbsa" in row.arch]
    assert not [row.id for row in own if max(accepted_cudas(row, MATRIX)) < first]


def test_whose_cuda_a_library_is_taken_for_is_said_once() -> None:
    """By the row's note and by the traits, which the rules go by."""
    rows = [row for row in MATRIX.rows("bitsandbytes", "builds") if "takes the library" in row.note]
    finds = {row.id: takes_the_runtime_that_it_finds(row.package, row.versions.removeprefix("==")) for row in rows}
    assert {row.id: "libcudart.so that it finds" in row.note for row in rows} == finds
    assert set(finds.values()) == {True, False}


def test_tensorrt_requires_the_package_of_its_cuda() -> None:
    """From 10 on its archive holds none but that requirement, of the same release."""
    for row in MATRIX.rows("tensorrt", "builds"):
        release = row.versions.removeprefix("==")
        if row.libraries == "wheels" and accepts(">=10", release):
            [(name, asked)] = [pin for pin in row.pins.items() if pin[0].startswith("tensorrt-cu")]
            assert name.removeprefix("tensorrt-cu") == str(accepted_cudas(row, MATRIX)[0].major), row.id
            assert accepts(asked, release), row.id


def test_cudnn_has_no_code_that_its_cuda_cannot_make() -> None:
    for row in MATRIX.rows("cudnn", "builds"):
        if row.cuda_max and row.capability_max:
            assert row.capability_max <= MATRIX.targets(row.cuda_max).capability_max, row.id


def test_targets_span_their_capabilities() -> None:
    for row in MATRIX.rows("cuda", "targets"):
        capabilities = [target.capability for target in row.sm]
        assert (min(capabilities), max(capabilities)) == (row.capability_min, row.capability_max), row.id
        assert str(row.cuda) in {str(one.cuda) for one in _toolkits()}


def test_a_package_that_holds_a_repository_is_for_machines_that_have_the_repository() -> None:
    for row in MATRIX.rows("index", "local"):
        for version in row.versions or ("42",):
            for machine in row.arches:
                assert MATRIX.repository(row.distribution, version, machine).distribution == row.distribution


def test_cards_of_servers_and_laptops_are_no_others() -> None:
    for row in MATRIX.rows("gpu", "products"):
        assert "Server Edition" not in row.name or row.family == "datacenter", row.id
        assert "Laptop GPU" not in row.name or row.family in {"geforce", "workstation"}, row.id


def test_gpu_names_are_unambiguous() -> None:
    owner: dict[str, str] = {}
    for row in MATRIX.rows("gpu", "products"):
        for capability in row.capabilities:
            assert MATRIX.generation(capability)
        for name in (row.name, *row.aliases):
            assert MATRIX.gpu(name).id == row.id
            owner[name] = row.id
    assert len(owner) > 800


@each("release", [row.release for row in _toolkits() if row.cuda >= (7, 5)])
def test_compilers_cover_every_toolkit_once(release: str) -> None:
    rows: tuple[CompilerRow, ...] = MATRIX.rows("compiler", "hosts")
    key = [int(part) for part in release.split(".")]
    inside = [row.id for row in rows if _key(row.release_min)[: len(key)] <= key <= _key(row.release_max)]
    assert len(inside) == 1 or len(key) == 2
    assert MATRIX.compilers(release).id == inside[0]


def _key(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def test_compilers_rise() -> None:
    rows: tuple[CompilerRow, ...] = MATRIX.rows("compiler", "hosts")
    ordered = sorted(rows, key=lambda row: _key(row.release_min))
    for one, other in pairwise(ordered):
        assert _key(one.release_max) < _key(other.release_min)
        assert (one.gcc_max or 0) <= (other.gcc_max or 0)
        assert (one.clang_max or 0) <= (other.clang_max or 0)
        assert (one.msc_max or 0) <= (other.msc_max or 0)


def test_cudnn_releases() -> None:
    for row in _releases():
        assert len(row.version) == 3, row.id
        assert all(row.version.agrees_with(full) for full in row.full_versions), row.id
        if row.version.major >= 4:
            assert row.soname == f"libcudnn.so.{row.version.major}"
            assert all(part.endswith(f".so.{row.version.major}") for part in row.parts_linux or ())
            assert all(part.endswith(f"64_{row.version.major}.dll") for part in row.parts_windows or ())
        assert len(row.parts_linux or ()) == len(row.parts_windows or ()), row.id


def test_cudnn_parts_never_vanish_within_a_major() -> None:
    for one, other in pairwise(_releases()):
        if one.version.major == other.version.major:
            assert set(one.parts_linux or ()) <= set(other.parts_linux or ()), other.id


def test_cudnn_builds_refer_to_releases_and_toolkits() -> None:
    rows: tuple[CudnnBuildRow, ...] = MATRIX.rows("cudnn", "builds")
    known_cuda = {row.cuda for row in _toolkits()} | {CudaVersion(6, 5)}
    assert {row.version for row in rows} == {row.version for row in _releases()}
    for row in rows:
        assert row.cuda_min is not None
        assert row.cuda_min.major == row.cuda_major, row.id
        assert row.cuda_min in known_cuda, row.id
        if row.cuda_max is not None:
            assert row.cuda_min <= row.cuda_max, row.id
            assert row.cuda_max in known_cuda, row.id


def _frameworks() -> Iterator[FrameworkRow]:
    for package in FRAMEWORKS:
        yield from MATRIX.rows(package, "builds")


@each("package", FRAMEWORKS)
def test_framework_rows(package: str) -> None:
    cudas = {row.cuda for row in _toolkits()}
    for row in MATRIX.rows(package, "builds"):
        assert row.package == package, row.id
        assert SpecifierSet(row.versions), row.id
        assert set(row.os) <= {"linux", "windows", "macos"}, row.id
        assert set(row.arch) <= {"x86_64", "sbsa", "jetson", "ppc64le"}, row.id
        assert row.os, row.id
        assert row.arch, row.id
        assert row.libraries in {None, "", "bundled", "wheels", "system"}, row.id
        if row.cuda:
            assert any(accepts(row.cuda, cuda) for cuda in cudas), row.id
        if row.cuda == "":
            assert (row.cudnn, row.cudnn_accepts or "", row.targets or ()) == (None, "", ()), row.id
        for python in row.python or ():
            assert re.fullmatch(r"[23]\.\d+t?", python), row.id


@each("package", FRAMEWORKS)
def test_framework_cudnn_exists(package: str) -> None:
    for row in MATRIX.rows(package, "builds"):
        if row.cudnn is not None:
            assert MATRIX.cudnn(row.cudnn), row.id
            if row.cudnn_accepts:
                assert accepts(row.cudnn_accepts, row.cudnn), row.id
        if row.cudnn_accepts:
            assert any(accepts(row.cudnn_accepts, release.version) for release in _releases()), row.id


@each("package", FRAMEWORKS)
def test_framework_pins(package: str) -> None:
    wheels = {str(full) for release in _releases() for full in release.full_versions}
    for row in MATRIX.rows(package, "builds"):
        for name, specifier in (row.pins or {}).items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), row.id
            SpecifierSet(specifier)
            if name.startswith("nvidia-cudnn-cu"):
                assert any(accepts(specifier, full) for full in wheels), (row.id, specifier)
                if specifier.startswith("==") and row.cudnn:
                    assert row.cudnn.agrees_with(CudnnVersion.parse(specifier[2:])), row.id


@each("package", FRAMEWORKS)
def test_no_two_rows_are_of_one_build(package: str) -> None:
    rows: tuple[FrameworkRow, ...] = MATRIX.rows(package, "builds")
    releases = {row.versions.removeprefix("==").removesuffix(".*") for row in rows if row.versions.startswith("==")}
    for release in releases:
        for one, other in combinations(MATRIX.framework_rows(package, release), 2):
            same_platform = set(one.os) & set(other.os) and set(one.arch) & set(other.arch)
            assert not (one.build == other.build and same_platform), (one.id, other.id)


def test_conflicts_name_what_is_there_and_what_to_do() -> None:
    for row in MATRIX.conflicts():
        assert len(row.when) >= 1, row.id
        assert row.summary, row.id
        assert row.remedy, row.id
        assert row.severity in {"error", "warning", "info"}, row.id
        for name, specifier in row.when.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), row.id
            SpecifierSet(specifier)


# Three digests for each of 936 components; archives of thirteen years. Only an installation reads them.
_MOST_BYTES = {"redist-component": 650_000, "cudnn-archive": 330_000}


def test_files_stay_quick_to_read() -> None:
    large = {name: Path(DATA, f"{name}.json").stat().st_size for name in products()}
    assert [name for name, size in large.items() if size > _MOST_BYTES.get(name, 300_000)] == []
    assert set(FRAMEWORK_TABLES) == {"builds"}


def test_a_card_on_the_bus_has_one_chip_and_its_generation() -> None:
    rows = MATRIX.rows("chip", "devices")
    devices = [device for row in rows for device in row.devices]
    assert len(devices) == len(set(devices))
    assert all(re.fullmatch("[0-9a-f]{4}", device) for device in devices)
    assert all(MATRIX.generation(row.capability) for row in rows)


@pytest.mark.parametrize(
    ("device", "name"),
    [(0x1180, "Kepler"), (0x1B06, "Pascal"), (0x1DB6, "Volta"), (0x2684, "Ada Lovelace"), (0x2B85, "Blackwell")],
)
def test_cards_by_their_ids(device: int, name: str) -> None:
    assert MATRIX.generation(MATRIX.chip(device).capability).name == name


def test_a_framework_knows_all_of_its_distributions_that_have_builds_for_a_gpu() -> None:
    """Those that it does not name are never looked at: CuPy 9 was unknown for every card that CUDA 11 was made for."""
    for row in (one for one in MATRIX.rows("frameworks", "traits") if one.gpu):
        own = (one for one in products() if any(fnmatch(one, name) for name in row.distributions) and one != row.id)
        built = {one for one in own if any(build.cuda for build in MATRIX.rows(one, "builds"))}
        assert built <= set(row.gpu), row.id


def test_the_package_index_has_one_cuda_build_of_each_torch() -> None:
    """The source of a row says so by a wheel's name: naming it for another column made every build the default."""
    found = Counter(
        (row.versions, row.os, row.arch)
        for row in MATRIX.rows("torch", "builds")
        if is_cuda_row(row) and is_default_build(row)
    )
    assert found
    assert not [one for one, count in found.items() if count > 1]


def _names(stem: str, cuda: str) -> set[str]:
    """What a library is called in the CUDA versions that a specifier admits."""
    known = {str(row.cuda) for row in MATRIX.rows("cuda", "toolkits")}
    sonames = [row for row in MATRIX.rows("libraries", "sonames") if row.stem == stem]
    return {row.soname for one in known if accepts(cuda, one) for row in sonames if accepts(row.cuda, one)}


@pytest.mark.parametrize("asked", MATRIX.rows("libraries", "asked"), ids=lambda row: row.id)
def test_the_cudas_of_a_build_have_the_libraries_that_it_opens(asked: Any) -> None:
    """It opens each by one name: TensorFlow 2.4, libcusolver.so.10, which of all CUDA 11 is in 11.0 alone."""
    rows = [row for package in (asked.package, f"{asked.package}-gpu") for row in MATRIX.rows(package, "builds")]
    own = [row for row in rows if row.cuda and any(accepts(asked.versions, one) for one in _releases_in(row.versions))]
    assert own != []
    wrong = [(row.id, stem) for row in own for stem in asked.stems if len(_names(stem, row.cuda or "")) > 1]
    assert wrong == []


def _releases_in(versions: str) -> list[str]:
    """Those that a specifier names and admits: "==2.4.*" -> 2.4."""
    return [one for one in re.findall(r"\d+(?:\.\d+)+", versions) if accepts(versions, one)]


def test_a_name_changes_within_a_major_of_cuda() -> None:
    assert _names("libcusolver", ">=11.0,<12") == {"libcusolver.so.10", "libcusolver.so.11"}
    assert _names("libcusolver", "==11.0") == {"libcusolver.so.10"}
    assert _releases_in(">=2.1.2,<2.2") == ["2.1.2"]


def test_cupy_for_cuda_11_begins_with_11_2() -> None:
    """On ARM as elsewhere: each asks for libnvrtc.so.11.2."""
    assert {row.cuda for row in MATRIX.rows("cupy-cuda11x", "builds")} == {">=11.2,<12"}


def test_a_wheel_that_points_at_another_has_its_requirements() -> None:
    """TensorFlow's for Windows, ARM and Apple silicon hold nothing themselves, up to 2.18.0, 2.15 and 2.15.0."""
    pointing = [
        row
        for name in ("tensorflow", "tensorflow-cpu")
        for row in MATRIX.rows(name, "builds")
        if re.search(r"tensorflow-(intel|cpu-aws|macos) ", row.source)
    ]
    assert len(pointing) > 40
    assert [row.id for row in pointing if not {"keras", "numpy", "protobuf"} <= set(row.pins or {})] == []


def test_the_code_of_mxnet_is_that_of_its_makefile() -> None:
    """Each architecture in it that the row's CUDA makes code for, and PTX of the last; below 1.4 it ends before 7.5."""
    known = ("sm_30", "sm_35", "sm_50", "sm_52", "sm_60", "sm_61", "sm_70", "sm_75")
    rows = [
        row
        for package in products()
        if package.startswith("mxnet-cu")
        for row in MATRIX.rows(package, "builds")
        if "apache/mxnet:Makefile@" in row.source
    ]
    assert len(rows) > 20
    for row in rows:
        made = MATRIX.targets(CudaVersion.parse((row.cuda or "").removeprefix("=="))).sm
        own = [one for one in known if one in map(str, made)]
        own = own if row.source.split("Makefile")[1] >= "@1.4" else [one for one in own if one != "sm_75"]
        assert list(map(str, row.targets or ())) == [*own, own[-1].replace("sm", "compute")], row.id


def _shares_its_folder_with(package: str, name: str) -> bool:
    traits = traits_of(package)
    named = [any(fnmatch(one, shape) for shape in traits.distributions) for one in (package, name)]
    return traits.one_directory and all(named)


def test_no_build_requires_another_distribution_of_its_own_import_package() -> None:
    """`solve` takes the two for rivals that overwrite each other, and finds no build."""
    assert _shares_its_folder_with("tensorflow-cpu", "tensorflow-intel")
    shared = [
        (row.id, name)
        for package in products()
        if is_framework(package)
        for row in MATRIX.rows(package, "builds")
        for name in row.pins or ()
        if _shares_its_folder_with(package, name)
    ]
    assert shared == []


def test_a_universal_wheel_of_macos_is_for_both_chips() -> None:
    """A file named universal2 has code for Intel's and Apple's chips; a wheel for one chip may stand beside it."""
    rows: list[FrameworkRow] = [row for package in FRAMEWORKS for row in MATRIX.rows(package, "builds")]
    arm = {(row.package, row.versions) for row in rows if "macos" in row.os and "sbsa" in row.arch}
    universal = {(row.package, row.versions) for row in rows if "macos" in row.os and "universal2" in row.source}
    assert universal
    assert universal <= arm
