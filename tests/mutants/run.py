"""Mutants in copies of the project, and the tests of their room run on each."""

from __future__ import annotations

import os
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from tests.built import BUILT
from tests.mutants.operators import Change, changes_of, makes_another, members_of
from tests.mutants.rooms import Room

KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
_MEMORY_AT_MOST_BYTES = 16 << 30  # of one process: a mutant may ask for all there is
_PYTEST = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly")


class FailsAlready(Exception):
    """The tests of a room fail without any mutant."""


class Mutant(NamedTuple):
    """One fault in one file."""

    path: str
    change: Change

    def __str__(self) -> str:
        """Show it in one line."""
        old, new = (" ".join(text.split()) for text in (self.change.old, self.change.new))
        return f"{self.path}:{self.change.line} {self.change.operator}: {old[:70]} -> {new[:70] or '(nothing)'}"


class Result(NamedTuple):
    """What the tests made of a mutant."""

    mutant: Mutant
    outcome: str
    seconds: float


def mutants_of(root: Path, room: Room, sample: int, seed: int) -> list[Mutant]:
    """Choose the mutants of a room: the same ones for the same seed, of each operator in turn."""
    product = (path for path in root.iterdir() if path.name[0] not in "._" and path.name not in {"tests", "build"})
    enums = members_of(path.read_bytes() for folder in product for path in sorted(folder.rglob("*.py")))
    sources = {path: path.read_bytes() for pattern in room.sources for path in sorted(root.glob(pattern))}
    groups: dict[str, list[tuple[Path, Change]]] = {}
    for path, source in sources.items():
        for one in changes_of(source, enums):
            groups.setdefault(one.operator, []).append((path, one))
    chance = random.Random(seed)
    shuffled = [chance.sample(groups[name], len(groups[name])) for name in sorted(groups)]
    turns = filter(None, chain.from_iterable(zip_longest(*shuffled)))
    found = (Mutant(str(path.relative_to(root)), one) for path, one in turns if makes_another(one, sources[path]))
    return list(islice(found, sample))


def run(root: Path, room: Room, mutants: list[Mutant], jobs: int) -> Iterator[Result]:
    """Test each mutant in a copy of the project; raises FailsAlready where the tests fail without one."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        made = [_Copy(root, Path(folder) / str(number)) for number in range(jobs)]
        copies: queue.SimpleQueue[_Copy] = queue.SimpleQueue()
        for one in made:
            copies.put(one)
        began = time.monotonic()
        status, said = made[0].tests(room.tests, None)
        if status:
            raise FailsAlready(said[-2000:])
        limit_s = 3 * (time.monotonic() - began) + 20

        def judged(mutant: Mutant) -> Result:
            copy = copies.get()
            try:
                return copy.judged(mutant, room, limit_s)
            finally:
                copies.put(copy)

        try:
            yield from pool.map(judged, mutants)
        finally:  # whoever does not wait for the end wants no tests that run on
            pool.shutdown(wait=False, cancel_futures=True)
            for one in made:
                one.stop()


class _Copy:
    """A copy of the project that tests run in."""

    def __init__(self, root: Path, folder: Path) -> None:
        shutil.copytree(root, folder, ignore=_LEFT_OUT, symlinks=True)
        self._folder = folder
        self._scratch = folder.with_name(f"{folder.name}-tmp")
        self._scratch.mkdir()
        self._number = 0
        self._running: subprocess.Popen[str] | None = None

    def judged(self, mutant: Mutant, room: Room, limit_s: float) -> Result:
        """Put the mutant in, run the tests of the room until one fails, and take it out again."""
        path = self._folder / mutant.path
        source, began = path.read_bytes(), time.monotonic()
        try:
            self._write(path, mutant.change.applied(source))
            status, _ = self.tests(self._files(mutant.path, room), limit_s)
        finally:
            self._write(path, source)
        outcome = TIMEOUT if status is None else KILLED if status else SURVIVED
        return Result(mutant, outcome, time.monotonic() - began)

    def tests(self, names: tuple[str, ...], limit_s: float | None) -> tuple[int | None, str]:
        """Run tests until one fails; the exit status is None where the limit ended them."""
        environ = {**os.environ, "PYTHONPATH": str(self._folder), "TMPDIR": str(self._scratch)}
        environ |= {"GPUDOCTOR_TEST_CACHE": str(BUILT)}  # whatever its TMPDIR: what is compiled is compiled once
        with subprocess.Popen(
            (sys.executable, "-m", "pytest", *_PYTEST, *names),
            cwd=self._folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            self._running = running
            resource.prlimit(running.pid, resource.RLIMIT_AS, (_MEMORY_AT_MOST_BYTES, _MEMORY_AT_MOST_BYTES))
            try:
                said, _ = running.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                self.stop()
                return None, ""
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(exist_ok=True)
        return running.returncode, said

    def stop(self) -> None:
        """End the tests that run, with all that they started."""
        if self._running and self._running.poll() is None:
            os.killpg(self._running.pid, signal.SIGKILL)

    def _write(self, path: Path, source: bytes) -> None:
        """Write a file with a time of its own, so that Python takes no older byte code for it."""
        self._number += 1
        path.write_bytes(source)
        os.utime(path, (self._number, self._number))

    def _files(self, path: str, room: Room) -> tuple[str, ...]:
        """List the files of tests: first those that name the module of a path, then the smallest, which are quick."""
        module = path.removesuffix(".py").replace("/", ".")
        names = (module, module.rpartition(".")[2].replace("_", "-"))
        found = [file for one in room.tests for file in _test_files(self._folder / one)]
        texts = {file: file.read_text(encoding="utf-8") for file in found}
        found.sort(key=lambda file: (not any(one in texts[file] for one in names), len(texts[file])))
        return tuple(str(file.relative_to(self._folder)) for file in found)


def _test_files(path: Path) -> list[Path]:
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
