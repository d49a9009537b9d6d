"""Level load against real releases of cuDNN, whole and damaged: the right finding, and never a crash of ours.

Without a GPU: the parts are opened, the version asked, the parts' own checks made, the mapped files looked at.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.cli import execute
from tests.commands.verify.cudnn_trial import stub
from tests.commands.verify.damage import emptied, linked, missing, replaced, truncated
from tests.wheels import fetch, unpack

pytestmark = pytest.mark.slow

INCOMPLETE, PART_MISSING, MIXED = "cudnn-install-incomplete", "cudnn-sublibrary-missing", "cudnn-sublibrary-mixed"
SHADOWED = "ld-library-path-shadowing"
WHEELS = {
    "9.10.2": ("nvidia-cudnn-cu12==9.10.2.21", "3.11"),
    "9.13.0": ("nvidia-cudnn-cu13==9.13.0.50", "3.11"),
    "9.19.0": ("nvidia-cudnn-cu13==9.19.0.56", "3.11"),
    "9.28.1": ("nvidia-cudnn-cu13==9.28.1.4", "3.11"),
    "8.9.7": ("nvidia-cudnn-cu12==8.9.7.29", "3.11"),
    "8.9.2": ("nvidia-cudnn-cu12==8.9.2.26", "3.11"),
    "7.6.5": ("cupy-cuda101==7.8.0", "3.7"),
}
PARTS = {
    "9": ("adv", "cnn", "engines_precompiled", "engines_runtime_compiled", "graph", "heuristic", "ops"),
    "8": ("adv_infer", "adv_train", "cnn_infer", "cnn_train", "ops_infer", "ops_train"),
}
# What the library itself does not miss before it computes: only the inventory of the files does.
UNSEEN_WITHOUT_GPU = ("engines_precompiled", "engines_runtime_compiled", "heuristic")


class Release(NamedTuple):
    """A site directory with one release, and where its libraries lie in it."""

    site: Path
    libraries: Path  # relative

    def again(self, target: Path) -> Path:
        """Another tree of the same files; its directory of libraries."""
        return linked(self.site, target) / self.libraries


class Told(NamedTuple):
    """What verify said."""

    status: int
    report: dict[str, Any]

    @property
    def roots(self) -> set[str]:
        return {one["code"] for one in self.report["findings"] if not one["explained_by"]}

    @property
    def codes(self) -> set[str]:
        return {one["code"] for one in self.report["findings"]}

    @property
    def result(self) -> str:
        return str(self.report["copies"][0]["result"]) if self.report["copies"] else ""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Release]]:
    found: dict[str, Release] = {}
    base = tmp_path_factory.mktemp("releases")

    def get(version: str) -> Release:
        if version not in found:
            requirement, python = WHEELS[version]
            only = ("cupy/.data/lib/libcudnn",) if "cupy" in requirement else ("nvidia/", "nvidia_cudnn")
            site = unpack(fetch(requirement, python=python), base / version, only)
            main = next(site.rglob("libcudnn.so.[0-9]"))
            found[version] = Release(site, main.parent.relative_to(site))
        return found[version]

    yield get
    shutil.rmtree(base)  # gigabytes, which the tests of other modules need


class Lab:
    """Releases, trees of the same files to damage, and what verify says of them."""

    def __init__(self, release: Callable[[str], Release], capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.release = release
        self.folder = folder
        self._capsys = capsys

    def whole(self, version: str) -> Path:
        """The directory of a release's libraries, as it is."""
        one = self.release(version)
        return one.site / one.libraries

    def again(self, version: str) -> Path:
        """The same in a tree that may be damaged."""
        return self.release(version).again(self.folder / version)

    def verify(self, path: Path, level: str = "load") -> Told:
        """What the command says of a copy."""
        status = execute(["verify", "--level", level, "--format", "json", "--cudnn", str(path)])
        shown = self._capsys.readouterr()
        assert shown.err == ""
        report = json.loads(shown.out)
        assert not [one for one in report["answers"] if one["code"] == "check-error"]
        return Told(status, report)


@pytest.fixture
def lab(release: Callable[[str], Release], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Lab:
    return Lab(release, capsys, tmp_path)


def main_of(version: str) -> str:
    return f"libcudnn.so.{version[0]}"


def part_of(version: str, part: str) -> str:
    return f"libcudnn_{part}.so.{version[0]}"


EVERY_PART = [(version, part) for version in ("9.10.2", "9.13.0", "8.9.7") for part in PARTS[version[0]]]


@pytest.mark.parametrize("version", list(WHEELS))
def test_a_whole_release_passes(version: str, lab: Lab) -> None:
    told = lab.verify(lab.whole(version))
    assert (told.status, told.report["verdict"], told.codes) == (0, "passed", set())
    (copy,) = told.report["copies"]
    facts = {stage["name"]: stage["facts"] for stage in copy["stages"]}
    assert facts["version"]["version"] == version
    more = 2 if version == "9.28.1" else 0  # ext and engines_tensor_ir
    assert len(facts["mapped"]["cudnn"]) == 1 + len(PARTS.get(version[0], ())) + more


@pytest.mark.parametrize("version", ["9.13.0", "8.9.7", "7.6.5"])
def test_without_a_gpu_conv_is_never_passed(version: str, lab: Lab) -> None:
    told = lab.verify(lab.whole(version), level="conv")
    stages = [stage["name"] for stage in told.report["copies"][0]["stages"] if stage["status"] == "passed"]
    assert stages[:5] == ["load", "version", "parts", "plans", "mapped"]
    assert (told.status, told.report["verdict"]) in {(4, "incomplete"), (0, "passed")}
    if told.status == 4:
        (line,) = told.report["missing"]
        assert ("GPU" in line or "driver" in line) or "gpudoctor[cuda1" in line
    else:
        assert "convolution" in stages


@pytest.mark.parametrize(("version", "part"), EVERY_PART)
@pytest.mark.parametrize("damage", [missing, truncated, emptied])
def test_a_damaged_part(damage: Callable[[Path], None], version: str, part: str, lab: Lab) -> None:
    libraries = lab.again(version)
    damage(libraries / part_of(version, part))
    told = lab.verify(libraries)
    assert (told.status, told.roots) == (1, {INCOMPLETE})
    assert told.codes <= {INCOMPLETE, PART_MISSING}
    if damage is missing:
        unseen = part in UNSEEN_WITHOUT_GPU
        assert (told.result, PART_MISSING in told.codes) == (("passed", False) if unseen else ("failed", True))
    else:
        assert told.result == "failed"
    assert all(one["remedies"] for one in told.report["findings"] if not one["explained_by"])


@pytest.mark.parametrize("version", ["9.10.2", "9.13.0", "8.9.7", "7.6.5"])
@pytest.mark.parametrize("damage", [truncated, emptied])
def test_a_damaged_main_library(damage: Callable[[Path], None], version: str, lab: Lab) -> None:
    libraries = lab.again(version)
    damage(libraries / main_of(version))
    told = lab.verify(libraries)
    assert (told.status, told.roots, told.result) == (1, {INCOMPLETE}, "failed")


@pytest.mark.parametrize("version", ["9.10.2", "8.9.7"])
def test_parts_without_a_main_library(version: str, lab: Lab) -> None:
    libraries = lab.again(version)
    missing(libraries / main_of(version))
    told = lab.verify(libraries)
    assert (told.status, told.roots, told.report["copies"]) == (1, {INCOMPLETE}, [])


@pytest.mark.parametrize(
    ("version", "other", "part"),
    [
        *(("9.10.2", "9.13.0", part) for part in PARTS["9"]),
        *(("9.13.0", "9.10.2", part) for part in PARTS["9"]),
        *(("8.9.7", "8.9.2", part) for part in PARTS["8"]),
    ],
)
def test_a_part_of_another_release(version: str, other: str, part: str, lab: Lab) -> None:
    libraries = lab.again(version)
    replaced(libraries / part_of(version, part), lab.whole(other) / part_of(version, part))
    told = lab.verify(libraries)
    assert told.status == 1
    # an older engine or heuristic is loaded by a newer release without a word; its size gives it away
    assert told.roots in ({MIXED}, {INCOMPLETE} if part in UNSEEN_WITHOUT_GPU else {MIXED})
    assert told.codes <= {MIXED, INCOMPLETE, PART_MISSING}


def test_the_main_library_of_another_release_is_known_by_its_digest(lab: Lab) -> None:
    libraries = lab.again("9.10.2")
    replaced(libraries / main_of("9"), lab.whole("9.13.0") / main_of("9"))
    told = lab.verify(libraries)
    assert (told.status, told.roots, told.result) == (1, {INCOMPLETE}, "passed")
    assert "SHA-256" in told.report["findings"][0]["evidence"][0]["detail"]


def test_an_archive_without_precompiled_engines_stays_open(lab: Lab) -> None:
    libraries = linked(lab.whole("9.10.2"), lab.folder / "archive/lib")
    missing(libraries / part_of("9", "engines_precompiled"))
    told = lab.verify(lab.folder / "archive")
    assert (told.status, told.report["verdict"], told.codes) == (4, "incomplete", set())


@pytest.mark.parametrize("part", UNSEEN_WITHOUT_GPU)
@pytest.mark.parametrize("damage", [missing, truncated, emptied])
@pytest.mark.parametrize("version", ["9.19.0", "9.28.1"])
def test_an_archive_that_is_damaged_is_a_finding_where_it_can_plan(
    version: str, damage: Callable[[Path], None], part: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No package lists its files: it is cuDNN itself that misses them."""
    libraries = linked(lab.whole(version), lab.folder / "archive/lib")
    damage(libraries / part_of("9", part))
    (lab.folder / "cublas").mkdir()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(stub.cublas(lab.folder / "cublas", 13)))
    told = lab.verify(lab.folder / "archive")
    assert told.status == 1
    assert told.roots <= {INCOMPLETE, PART_MISSING}
    assert told.roots


@pytest.mark.parametrize(
    ("version", "first", "roots"),
    [
        ("9.10.2", "9.13.0", {SHADOWED}),
        ("9.13.0", "9.10.2", {SHADOWED}),
        ("8.9.7", "8.9.2", {SHADOWED}),
        ("8.9.7", "9.10.2", set()),  # other majors have other names
        ("7.6.5", "8.9.7", set()),
    ],
)
def test_another_release_on_the_search_path(
    version: str, first: str, roots: set[str], lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial itself tests the copy that is named: its parts are opened first."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(lab.whole(first)))
    told = lab.verify(lab.whole(version))
    assert (told.status, told.roots, told.result) == (1 if roots else 0, roots, "passed")
    mapped = next(stage["facts"] for stage in told.report["copies"][0]["stages"] if stage["name"] == "mapped")
    assert all(path.startswith(str(lab.whole(version))) for path in mapped["cudnn"])


@pytest.mark.parametrize(
    ("version", "other", "part"),
    [
        ("9.10.2", "9.13.0", "ops"),
        ("9.10.2", "9.13.0", "graph"),
        ("9.13.0", "9.10.2", "cnn"),
        ("8.9.7", "8.9.2", "ops_infer"),
    ],
)
def test_a_part_that_another_release_on_the_path_stands_in_for(
    version: str, other: str, part: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = lab.again(version)
    missing(libraries / part_of(version, part))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(lab.whole(other)))
    told = lab.verify(libraries)
    assert told.status == 1
    assert told.roots == {INCOMPLETE, SHADOWED}
    assert told.codes <= {INCOMPLETE, SHADOWED, MIXED, PART_MISSING}
