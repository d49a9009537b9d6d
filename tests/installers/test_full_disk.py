"""A file system that is really full: nothing is lost, the message is one line, and the status is a documented one.

Each case is `python -m tests.installers.test_full_disk DIRECTORY CASE` in a mount namespace, on a tmpfs of 8 MiB.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.base.errors import GpudoctorError
from tests.host.test_dead_mounts import hanging_is_possible

ROOT = Path(__file__).resolve().parents[2]
_PRIVATE_AND_BELOW = 0x44000  # MS_REC | MS_PRIVATE
_SIZE = "8m"
_OLD = "[global]\ndevice = cpu\n"
FREE_PAGES = (0, 1, 2, 3, 5, 8, 16, 32, 48, 64, 96, 128, 160, 200, 240, 280, 320, 600, 1_000)  # of 4 KiB each


def gpudoctor(*argv: str, **variables: str) -> dict[str, Any]:
    """How a command ends on this disk."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GPUDOCTOR_CACHE": "", **variables}
    command = (sys.executable, "-m", "gpudoctor", *argv)
    ran = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    return {"status": ran.returncode, "lines": ran.stderr.splitlines(), "out": ran.stdout}


def fill(disk: Path, free_pages: int = 0) -> Path:
    """Take all room but some pages."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(path, max(path.stat().st_size - 4096 * free_pages, 0))
    return path


def output(disk: Path) -> list[Any]:
    report = disk / "report.json"
    report.write_text("old")
    fill(disk)
    told = gpudoctor("check", "--root", str(ROOT / "docs"), "--output", str(report))
    return [told, report.read_text(), sorted(os.listdir(disk))]


def cache(disk: Path) -> list[Any]:
    fill(disk)
    told = gpudoctor("check", "--python", sys.prefix, "--quiet", GPUDOCTOR_CACHE=str(disk / "cache"))
    return [told, gpudoctor("check", "--python", sys.prefix, "--quiet")]


def config(disk: Path) -> list[Any]:
    (disk / ".theanorc").write_text(_OLD)
    fill(disk)
    line = ("install", "config", "theano", "--theano", "1.0.5", "--device", "cuda0", "--apply", "--yes")
    told = gpudoctor(*line, HOME=str(disk), GPUDOCTOR_STATE=str(disk / "state"))
    return [told, (disk / ".theanorc").read_text(), sorted(os.listdir(disk))]


def _applied(disk: Path, change: Callable[[Any, Path, Path, int], Any]) -> list[Any]:
    """What is left for each amount of room: nothing was done, or all."""
    import shutil

    from installers.apply import apply
    from installers.journal import State
    from installers.undo import recover
    from tests.installers import trees

    found = []
    for pages in FREE_PAGES:
        place = disk / "place"
        place.mkdir()
        cuda, packed, state = trees.toolkit(place), trees.archive(disk), State(str(disk / "state"))
        before = trees.digest_of(cuda)
        error = change((apply, state, trees), cuda, packed, pages)
        (disk / "filler").unlink(missing_ok=True)
        with state.lock():
            recover(state)
        after = trees.digest_of(cuda)
        found.append([pages, error, after == before, not list(cuda.rglob(".gpudoctor-*"))])
        for one in (place, disk / "state"):
            shutil.rmtree(one, ignore_errors=True)
    return found


def _error_of(work: Callable[[], object]) -> str:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            work()
    except (GpudoctorError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def archive(disk: Path) -> list[Any]:
    def change(tools: Any, cuda: Path, packed: Path, pages: int) -> str:
        apply, state, trees = tools
        plan = trees.plan(cuda, packed)
        fill(disk, pages)
        return _error_of(lambda: apply(plan, state))

    return _applied(disk, change)


def rollback(disk: Path) -> list[Any]:
    from installers.undo import rollback as take_back

    def change(tools: Any, cuda: Path, packed: Path, pages: int) -> str:
        apply, state, trees = tools
        with contextlib.redirect_stdout(sys.stderr):
            apply(trees.plan(cuda, packed), state)
        fill(disk, pages)
        error = _error_of(lambda: take_back(state))
        if error:
            (disk / "filler").unlink()
            take_back(state)
        return error

    return _applied(disk, change)


CASES = {one.__name__: one for one in (output, cache, config, archive, rollback)}


def main() -> None:
    """Mount, fill, try."""
    disk, case = sys.argv[1:]
    system = ctypes.CDLL(None, use_errno=True)
    system.mount(b"none", b"/", None, _PRIVATE_AND_BELOW, None)
    if system.mount(b"none", os.fsencode(disk), b"tmpfs", 0, f"size={_SIZE}".encode()):
        raise SystemExit(f"no tmpfs: {os.strerror(ctypes.get_errno())}")
    sys.stdout.write(json.dumps(CASES[case](Path(disk))))


def told(disk: Path, case: str) -> list[Any]:
    command = ("unshare", "--mount", sys.executable, "-m", "tests.installers.test_full_disk", str(disk), case)
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


pytestmark = pytest.mark.system


@pytest.fixture(autouse=True)
def _namespaces() -> None:
    if not hanging_is_possible():
        pytest.skip("needs root and mount namespaces")


def test_a_report_that_has_no_room(tmp_path: Path) -> None:
    ended, report, names = told(tmp_path, "output")
    assert ended["status"] == 2
    assert len(ended["lines"]) == 1
    assert "no space left on device" in ended["lines"][0].lower()
    assert (report, names) == ("old", ["filler", "report.json"])


def test_a_cache_that_has_no_room(tmp_path: Path) -> None:
    full, without = told(tmp_path, "cache")
    assert (full["status"], full["lines"], full["out"]) == (without["status"], without["lines"], without["out"])


def test_a_setting_that_has_no_room(tmp_path: Path) -> None:
    ended, text, names = told(tmp_path, "config")
    assert ended["status"] in {1, 2}
    assert len(ended["lines"]) == 1, ended
    assert text == _OLD
    assert {*names} <= {".theanorc", "filler", "state"}


@pytest.mark.parametrize("case", ["archive", "rollback"])
def test_a_disk_that_becomes_full(tmp_path: Path, case: str) -> None:
    """An installation is done or undone; a rollback is done, or the next one does it."""
    found = told(tmp_path, case)
    errors = {pages: error for pages, error, _, _ in found}
    assert case == "rollback" or (errors[0] and not errors[FREE_PAGES[-1]]), errors
    for pages, error, is_as_before, is_clean in found:
        assert "\n" not in error
        assert "/proc/" not in error
        assert is_as_before == (case == "rollback" or error != ""), (pages, error)
        assert is_clean, (pages, error)


if __name__ == "__main__":
    main()
