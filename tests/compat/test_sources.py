"""What a row names as its source can be its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from compat.load import is_framework, products, tables_of
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow
from compat.version import CudnnVersion
from tests.each import each

pytestmark = pytest.mark.no_cover  # it is about rows: what reads them is covered elsewhere
MATRIX = Matrix()
_WHEEL = re.compile(r"([\w.]+?)-(\d[^-; /]*)-(?:cp|py)[^-; ]*-[^-; ]+-([^; /)]+?)\.whl")
_SYSTEMS = {"linux": "linux", "win": "windows", "macosx": "macos"}
_MACHINES = {"x86_64": {"x86_64"}, "amd64": {"x86_64"}, "aarch64": {"sbsa", "jetson"}, "arm64": {"sbsa"}}


def _own_wheels(row: FrameworkRow) -> Iterator[tuple[str, str]]:
    """Version and platform tag of each wheel of the row's own package that its source names."""
    for project, version, tag in _WHEEL.findall(row.source):
        if project.lower().replace("_", "-") == row.package:
            yield version.partition("+")[0], tag


def _of_another_platform(tag: str, row: FrameworkRow) -> bool:
    systems = {system for start, system in _SYSTEMS.items() if re.search(rf"(^|many){start}", tag)}
    machines = {machine for end, own in _MACHINES.items() if end in tag for machine in own}
    return bool(systems - set(row.os)) or bool(machines and machines.isdisjoint(row.arch))


@each("package", [name for name in products() if is_framework(name)])
def test_a_wheel_that_is_named_is_of_the_row(package: str) -> None:
    """Or the note says which release it is of, and that a value was taken over from there."""
    rows = [row for row in MATRIX.rows(package, "builds") if not row.build.startswith("jp")]  # Jetson's own numbers
    foreign = [
        (row.id, version, tag)
        for row in rows
        for version, tag in _own_wheels(row)
        if version not in row.note and (not accepts(row.versions, version) or _of_another_platform(tag, row))
    ]
    assert foreign == []


@each("product", products())
def test_nothing_is_named_twice(product: str) -> None:
    rows = [row for table in tables_of(product) for row in MATRIX.rows(product, table)]
    parts = {row.id: row.source.split("; ") for row in rows}
    assert [name for name, own in parts.items() if len(set(own)) < len(own)] == []


# what names the cuDNN of a build of torch: the wheel itself, the release's table or requirements, the machine's set-up
_SAYS_CUDNN = re.compile(r"torch-[\d.]+-cp|RELEASE\.md|generate_binary_build_matrix|install_cuda\.sh|Dockerfile")
_OF_OTHERS = re.compile(r"by the libraries of|\(file names\)")


def test_the_cudnn_of_a_build_of_torch_is_from_what_names_it() -> None:
    """manywheel/build.sh, which tells its code, does not name the cuDNN that its machine has."""
    built = [row for row in MATRIX.rows("torch", "builds") if "manywheel/build" in row.source and row.cudnn is not None]
    parts = {row.id: [one for one in row.source.split("; ") if not _OF_OTHERS.search(one)] for row in built}
    assert len(parts) > 40
    assert [name for name, own in parts.items() if not _SAYS_CUDNN.search(" ".join(own))] == []


def test_what_a_single_recipe_says_is_of_medium_confidence() -> None:
    """Somebody else's copy, with no second one beside it: CONTRIBUTING.md, "A row of the matrix"."""
    rows = [*MATRIX.rows("cudnn-archive", "archives"), *MATRIX.rows("cuda-installer", "installers")]
    assert [row.id for row in rows if row.digest_from in {"", "one"} and row.confidence == "high"] == []


_PAGES = re.compile(r"cudnn/(?:archives/cudnn[-_](\d+)(?:-preview)?|backend/v([\d.]+))/")
# addresses that name no release -> the release whose table the copy of them has that was read
_UNNAMED = {
    "https://docs.nvidia.com/deeplearning/cudnn/support-matrix/": "9.1.0",
    "https://docs.nvidia.com/deeplearning/cudnn/latest/support-matrix/index.html": "9.10.2",
    "https://docs.nvidia.com/deeplearning/sdk/cudnn-support-matrix/index.html": "9.17.0",
}
# someone's notes on the page, which name what it had for 9.11 to 9.25.1, and what it has for 9.26.0
_NOTES = {"BBC-Esq/Torch-CUDA-Compatibility-Checker:COMPATIBILITY.py@11ad5894755d": ("9.25.1", "9.26.0")}


def _speaks_of(page: CudnnVersion, version: CudnnVersion) -> bool:
    """NVIDIA's support matrix of a release: up to 8.2 it has those before it, too."""
    return page == version or (version < page < CudnnVersion.parse("8.3"))


@pytest.mark.parametrize("table", ["releases", "builds"])
def test_a_support_matrix_is_that_of_the_release(table: str) -> None:
    """Or the note says that it is another one's, and nobody is sure."""
    foreign = []
    for row in MATRIX.rows("cudnn", table):
        assert "backend/latest" not in row.source, f"{row.id}: another release's table tomorrow"
        found = [CudnnVersion.parse(dotted or ".".join(digits)) for digits, dotted in _PAGES.findall(row.source)]
        for part in row.source.split("; "):
            named = (_UNNAMED[part],) if part in _UNNAMED else _NOTES.get(part, ())
            found += map(CudnnVersion.parse, named)
        is_own = not found or any(_speaks_of(page, row.version) for page in found)
        if not is_own and ("neighbours" not in row.note or row.confidence == "high"):
            foreign.append(row.id)
    assert foreign == []


def test_which_releases_a_support_matrix_speaks_of() -> None:
    parse = CudnnVersion.parse
    assert _speaks_of(parse("8.0.3"), parse("7.6.5"))
    assert not _speaks_of(parse("7.6.0"), parse("7.6.5"))
    assert not _speaks_of(parse("8.4.0"), parse("8.3.3"))
    assert _speaks_of(parse("9.5.0"), parse("9.5.0"))


# whose tags are the releases of the packages, and how a tag is written
_TAGGED = {
    "chainer": ("chainer/chainer", "v"),
    "cupy": ("cupy/cupy", "v"),
    "jax": ("jax-ml/jax", "jax-v|jaxlib-v"),
    "keras": ("keras-team/keras", "v|"),
    "numba": ("numba/numba", ""),
    "theano": ("Theano/Theano", "rel-"),
}


def _tags_of(row: FrameworkRow) -> list[str]:
    """The releases of its own project at whose tags the files are that its source names."""
    family = next((one for one in _TAGGED if row.package.startswith(one)), "")
    project, prefix = _TAGGED.get(family, ("", ""))
    found: list[str] = re.findall(rf"(?:^|; ){project}:[\w./-]+@(?:{prefix})(\d+(?:\.\d+)+)(?=;|$| )", row.source)
    return found if project else []


@each("package", [name for name in products() if is_framework(name)])
def test_a_document_is_that_of_the_release(package: str) -> None:
    """At the tag of a release that the row speaks of; or the note says of which it is."""
    foreign = [
        (row.id, tag)
        for row in MATRIX.rows(package, "builds")
        for tag in _tags_of(row)
        if not accepts(row.versions, tag) and tag not in row.note
    ]
    assert foreign == []


def test_which_release_a_tag_is_of() -> None:
    row = MATRIX.rows("numba", "builds")[0]
    assert _tags_of(row._replace(source="numba/numba:docs/a.rst@0.18.0; x/y:z@1.0")) == ["0.18.0"]
    assert _tags_of(row._replace(package="jaxlib", source="jax-ml/jax:README.md@jaxlib-v0.3.2")) == ["0.3.2"]
    assert _tags_of(row._replace(package="cupy", source="cupy/cupy:install.rst@v9; cupy/cupy:a@6b6d9563c")) == []
