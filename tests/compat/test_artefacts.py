"""What must hold over the tables of files to download and of status codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import combinations

import pytest

from compat.artefact import (
    ARTEFACT_TABLES,
    ComponentRow,
    CudaInstallerRow,
    CudnnArchiveRow,
    CudnnLayoutRow,
    InstallerOptionsRow,
    ManifestRow,
    StatusRow,
)
from compat.load import is_framework, products, tables_of
from compat.matrix import Matrix, accepts
from compat.row import ARTEFACT_PRODUCTS, TABLES, ImageRow
from compat.version import CudaVersion, CudnnVersion, DriverRelease
from tests.each import each

pytestmark = pytest.mark.no_cover  # it is about rows: what reads them is covered elsewhere
MATRIX = Matrix()
ARCHIVES: tuple[CudnnArchiveRow, ...] = MATRIX.rows("cudnn-archive", "archives")
LAYOUTS: tuple[CudnnLayoutRow, ...] = MATRIX.rows("cudnn-archive", "layouts")
INSTALLERS: tuple[CudaInstallerRow, ...] = MATRIX.rows("cuda-installer", "installers")
MANIFESTS: tuple[ManifestRow, ...] = MATRIX.rows("redist", "manifests")
COMPONENTS: tuple[ComponentRow, ...] = MATRIX.rows("redist-component", "components")
CODES: tuple[StatusRow, ...] = MATRIX.rows("status", "codes")
# Toolkits older than the first whose driver floor is known.
OLDER_THAN_THE_TABLE = {"6.0.37", "6.5.14"}
SHA256 = re.compile("[0-9a-f]{64}")
VENDOR = re.compile(r"https://developer\.(download\.)?nvidia\.com/")
# Files that NVIDIA keeps on its other host.


def test_the_names_of_the_products_agree() -> None:
    assert set(ARTEFACT_PRODUCTS) == set(ARTEFACT_TABLES)
    assert not set(ARTEFACT_PRODUCTS) & set(TABLES)
    assert not any(map(is_framework, (*ARTEFACT_PRODUCTS, *TABLES)))


def test_a_diagnosis_never_reads_these_row_types() -> None:
    code = "import doctor.commands.check.command, compat.matrix, sys; print('compat.artefact' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_digest_is_of_one_file() -> None:
    owners: dict[str, set[str]] = {}
    for name, digests in (
        *((row.id, row.sha256) for row in ARCHIVES),
        *((row.id, (row.sha256,)) for row in INSTALLERS if row.sha256 is not None),
        *((row.id, (row.sha256,)) for row in MANIFESTS),
    ):
        for digest in digests:
            assert re.fullmatch(r"[0-9a-f]{64}", digest), name
            owners.setdefault(digest, set()).add(name)
    assert [names for names in owners.values() if len(names) > 1] == []


@each("row", [*ARCHIVES, *INSTALLERS])
def test_a_file_is_the_vendor_s_and_named_by_its_address(row: CudnnArchiveRow | CudaInstallerRow) -> None:
    assert VENDOR.match(row.url)
    assert re.fullmatch(rf"(v[\d.]+-)?{re.escape(os.path.basename(row.url).lower())}", row.id)
    assert row.os in {"linux", "windows", "macos"}
    assert row.arch in {"x86_64", "sbsa", "jetson", "ppc64le", "arm64"}
    assert row.digest_from in {"manifest", "several", "one", ""}
    assert bool(row.sha256) == bool(row.digest_from)


@each("row", ARCHIVES)
def test_an_archive_refers_to_a_release_a_build_and_a_layout(row: CudnnArchiveRow) -> None:
    release = MATRIX.cudnn(row.version)
    if len(row.version) == 4:
        assert row.version in release.full_versions
    layout = next(one for one in LAYOUTS if one.id == row.layout)
    assert accepts(layout.versions, row.version)
    assert MATRIX.cudnn_build(row.version, int(row.cuda.partition(".")[0]))
    if row.digest_from == "manifest":
        assert "/redistrib_" in row.source
    if row.digest_from == "several":
        assert len(row.source.split("; ")) > 1
    if row.digest_from == "one":
        assert row.confidence != "high"


def test_a_file_with_several_digests_says_so() -> None:
    assert {row.id for row in ARCHIVES if len(row.sha256) > 1} == {
        "cudnn-7.0-linux-x64-v4.0-prod.tgz",
        "cudnn-7.5-linux-x64-v5.1.tgz",
        "cudnn-8.0-linux-x64-v5.1.tgz",
    }
    assert all(row.note.startswith("sources disagree: ") for row in ARCHIVES if len(row.sha256) > 1)


@pytest.mark.parametrize("line", ["9.11.0.98_cuda13", "9.15.0.58_cuda12"])
def test_stale_lines_of_recipes_are_gone(line: str) -> None:
    """The manifest of 9.11.0 has no CUDA 13 build, and the CUDA 12 build of 9.15.0 is 9.15.0.57."""
    assert not any(line in row.id for row in ARCHIVES)


def test_layouts_are_told_apart_by_version() -> None:
    for release in MATRIX.rows("cudnn", "releases"):
        found = [row.id for row in LAYOUTS if accepts(row.versions, release.version)]
        assert len(found) == 1, release.id


@pytest.mark.parametrize(
    ("version", "layout", "libraries"),
    [
        ("2", "flat", ""),
        ("7.6.5", "cuda-dir-7", "lib64"),
        ("8.9.7", "archive-8.8", "lib"),
        ("9.18", "archive-9.18", "lib"),
    ],
)
def test_layout_of(version: str, layout: str, libraries: str) -> None:
    (found,) = [row for row in LAYOUTS if accepts(row.versions, version)]
    assert (found.id, found.libs_linux) == (layout, libraries)


@each("row", INSTALLERS)
def test_an_installer_is_of_a_known_toolkit_and_its_driver(row: CudaInstallerRow) -> None:
    assert row.cuda == CudaVersion.parse(row.release)
    toolkit = next((one for one in MATRIX.rows("cuda", "toolkits") if one.release == row.release), None)
    if toolkit is None:
        assert row.release in OLDER_THAN_THE_TABLE
        return
    known = toolkit.toolkit_driver_linux
    if row.os == "linux" and known and row.driver_bundled and row.driver_bundled[: len(known)] != known:
        assert "bundles" in toolkit.note, (row.driver_bundled, known)


def test_manifests_are_of_known_releases() -> None:
    toolkits = {row.release for row in MATRIX.rows("cuda", "toolkits")}
    for row in MANIFESTS:
        assert VENDOR.match(row.url)
        assert row.url.endswith(f"/compute/{row.product}/redist/redistrib_{row.release}.json")
        assert row.digest_from in {"several", "one"}
        if row.product == "cudnn":
            assert MATRIX.cudnn(CudnnVersion.parse(row.release))
        if row.product == "cuda":
            assert row.release in toolkits


def test_forward_compatibility_is_of_known_toolkits_and_branches() -> None:
    for row in MATRIX.rows("forward-compat", "packages"):
        assert row.id == f"cuda-compat-{row.cuda.major}-{row.cuda.minor}"
        assert MATRIX.toolkit(row.cuda)
        if row.libcuda is not None:
            assert MATRIX.branch(row.libcuda).cuda_max == row.cuda
        for branch in row.base_branches or ():
            assert (MATRIX.branch(DriverRelease((branch,))).cuda_max or row.cuda) < row.cuda


def test_a_number_means_one_thing_in_one_release() -> None:
    for one, other in combinations(CODES, 2):
        if (one.library, one.code) == (other.library, other.code):
            assert one.versions.startswith("<") or one.versions.endswith("<9"), one.id
            assert other.versions.startswith(">="), other.id


@pytest.mark.parametrize(
    ("library", "release", "code", "name"),
    [
        ("cudnn", "8.9.7", 14, "CUDNN_STATUS_VERSION_MISMATCH"),
        ("cudnn", "9.10.2", 1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
        ("cudnn", "7.6.5", 8, "CUDNN_STATUS_EXECUTION_FAILED"),
        ("cudnn", "9.1.0", 5000, "CUDNN_STATUS_EXECUTION_FAILED"),
        ("cuda", "8.0", 48, "cudaErrorNoKernelImageForDevice"),
        ("cuda", "12.8", 209, "cudaErrorNoKernelImageForDevice"),
        ("cuda", "9.2", 77, "cudaErrorIllegalAddress"),
        ("cuda", "13.0", 35, "cudaErrorInsufficientDriver"),
        ("nvml", "580.65", 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
    ],
)
def test_status(library: str, release: str, code: int, name: str) -> None:
    found = [row.name for row in CODES if (row.library, row.code) == (library, code) and accepts(row.versions, release)]
    assert found == [name]


def test_nvml_numbers_are_the_binding_s() -> None:
    pynvml = pytest.importorskip("pynvml")
    for row in CODES:
        if row.library == "nvml" and hasattr(pynvml, row.name):
            assert getattr(pynvml, row.name) == row.code


@each("product", products())
def test_a_contradiction_is_told_in_one_form(product: str) -> None:
    """Both sides and whom the row follows, so that a reader sees why, and a program finds it."""
    for table in tables_of(product):
        for row in MATRIX.rows(product, table):
            if "disagree" in row.note:
                assert re.search(r"sources disagree: .+; the row (follows|keeps) ", row.note), row.id


def test_components_are_of_known_manifests_and_named_as_nvidia_names_them() -> None:
    releases = {row.release for row in MANIFESTS if row.product == "cuda"}
    assert {row.release for row in COMPONENTS} <= releases  # of later ones only the digest of the manifest is known
    for row in COMPONENTS:
        assert row.id == f"{row.release}-{row.component}"
        assert row.sha256.keys() == row.size_bytes.keys()
        assert row.sha256.keys() <= {"linux-x86_64", "linux-sbsa", "windows-x86_64"}
        assert row.source.endswith(f"/compute/cuda/redist/redistrib_{row.release}.json")
        assert not row.component.startswith(("nvidia_driver", "fabricmanager", "nsight"))


def test_a_digest_of_a_component_is_of_one_file() -> None:
    """The same file may be part of several releases, but never under two names, nor with another digest or size."""
    names: dict[str, set[tuple[str, str, str]]] = {}
    files: dict[tuple[str, str, str], tuple[str, int]] = {}
    for row in COMPONENTS:
        for platform, digest in row.sha256.items():
            assert SHA256.fullmatch(digest)
            assert row.size_bytes[platform] > 0
            name = (row.component, row.version, platform)
            names.setdefault(digest, set()).add(name)
            assert files.setdefault(name, (digest, row.size_bytes[platform])) == (digest, row.size_bytes[platform])
    assert {digest: found for digest, found in names.items() if len(found) > 1} == {}


def test_every_installer_has_options_that_ask_nothing() -> None:
    options: tuple[InstallerOptionsRow, ...] = MATRIX.rows("cuda-installer", "options")
    for row in INSTALLERS:
        if row.kind != "exe-network":
            found = [one for one in options if one.kind == row.kind and accepts(one.versions, str(row.cuda))]
            assert len(found) == 1, row.id
    for one in options:
        assert one.options[0] in {"--silent", "-s"}
        assert not any(word.startswith(("Display", "--driver")) for word in one.options)


def test_images_and_local_repositories_are_of_known_releases() -> None:
    toolkits = {row.release for row in MATRIX.rows("cuda", "toolkits")}
    images: tuple[ImageRow, ...] = MATRIX.rows("index", "images")
    for image in images:
        assert image.release in toolkits
        assert image.image == f"nvidia/cuda:{image.id}"
        assert image.id.startswith(f"{image.release}-")
    for row in MATRIX.rows("index", "local"):
        assert VENDOR.match(row.url)
        assert {"{release}", "{cuda}"} <= set(re.findall(r"{\w+}", row.url))
        assert (
            MATRIX.repository(row.distribution, (*row.versions, "")[0] or "41", row.arches[0]).distribution
            == row.distribution
        )
