"""Everything that the harness uses of gpudoctor itself: where a module moves, this is the only file to edit."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import gpudoctor
from compat.load import DATA
from compat.matrix import Matrix
from doctor.host import live
from installers.render import commands, script_bash, script_powershell
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for
from tests.installers.target import LINUX, WINDOWS
from tests.lab.case import Case, host_of

# A fixed process: the width of a help page, symbols without colours, and nothing of the user who runs it.
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/golden",
    "LANG": "C.UTF-8",
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "GPUDOCTOR_CACHE": "",
    "GPUDOCTOR_MATRIX_OVERLAY": "/home/golden/matrix",
}
_WAITING = "gpudoctor: waiting"  # printed where the machine of the tests is busy


class LookedAtThisMachine(BaseException):
    """An output would hold what is true of the machine of the tests: the question must name another one."""


class _NoMachine:
    """The live machine where a question is about none: it may be made, not looked at."""

    def __getattr__(self, name: str) -> Any:
        raise LookedAtThisMachine(f"{name}: {shlex.join(sys.argv)}")


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    output: str
    errors: str

    def text(self) -> str:
        """All of it; what is usual (a report, and nothing on standard error) is the shortest."""
        errors = f"standard error:\n{self.errors}" if self.errors else ""
        return f"exit status {self.status}\n{errors}{self.output}"


_RUNS, _COLLECTED_AFTER = count(1), 50


def run(*argv: str, folder: Path, machine: Case | None = None, stdin: str = "") -> Ran:
    """Run the command line in this process, in `folder`; `machine` is a machine of the lab whose tree `folder` holds.

    The clock that reports read is stopped, so that no time stands in an output.
    """
    output, errors = _stream(), _stream()
    with (
        _process(["gpudoctor", *argv], folder, output, errors, stdin),
        _machine(machine, folder / "tree"),
        patch("compat.base.limits.limit_this_process"),  # this process runs thousands of them
        patch("compat.matrix.Matrix.of_user", _matrix),  # nobody has rows of his own; each would be parsed, and kept
    ):
        try:
            gpudoctor.main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
    if next(_RUNS) % _COLLECTED_AFTER == 0:
        gc.collect()  # hosts hold their directories open
    return Ran(status, _written(output), "".join(one for one in _lines(errors) if not one.startswith(_WAITING)))


@cache
def _matrix() -> Matrix:
    return Matrix()


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", newline="")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _lines(stream: io.TextIOWrapper) -> list[str]:
    return _written(stream).splitlines(keepends=True)


# The version of gpudoctor, and the day of the newest row: either would change nearly every output.
_VERSION = re.compile(
    r'("gpudoctor": "|"name": "gpudoctor",\s+"version": "|^gpudoctor )\d+\.\d+\.\d+[^\s"]*', re.MULTILINE
)
_ROWS_OF = re.compile(r'("matrix_as_of": "|\bmatrix\s+of\s+)\d{4}-\d\d-\d\d')
_MADE = re.compile(r'("at": "|<p class=\'small\'>)\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d')
SCHEMAS = (*sorted((Path(gpudoctor.HERE) / "docs").glob("*.schema.json")), Path(DATA, "schema.json"))
TARGETS = {**LINUX, "windows": WINDOWS}


def neutral(text: str) -> str:
    """Take out what changes with each release of gpudoctor and of its rows, and the time of a report."""
    return _MADE.sub(r"\g<1>TIME", _ROWS_OF.sub(r"\g<1>DATE", _VERSION.sub(r"\g<1>VERSION", text)))


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of the matrix, with the name of its product."""
    for path in sorted(Path(DATA).glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for table in content["tables"].values() if "product" in content else ():
            yield from ((content["product"], row) for row in table)


def plans(target: str) -> Iterator[str]:
    """Yield what is printed for each need on a target: the commands, then the script for its shell."""
    machine = TARGETS[target]
    needs, script = ((*ANYWHERE, *LINUX_ONLY), script_bash.script)
    if target == "windows":
        needs, script = ANYWHERE, script_powershell.script
    for _, plan in plans_for(needs, machine, Matrix()):
        yield "\n".join((*commands(plan, machine), "", script(plan, machine)))


@contextlib.contextmanager
def _process(
    argv: list[str], folder: Path, output: io.TextIOWrapper, errors: io.TextIOWrapper, stdin: str
) -> Iterator[None]:
    """What is one of a kind in a process, replaced, and put back."""
    before = (sys.argv, sys.stdin, sys.stdout, sys.stderr, list(sys.meta_path), gc.get_threshold(), time.perf_counter)
    environment, directory = dict(os.environ), os.getcwd()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(_ENVIRONMENT)
    sys.argv, sys.stdin, sys.stdout, sys.stderr = argv, _stream(stdin), output, errors
    time.perf_counter = lambda: 0.0
    try:
        yield
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr, sys.meta_path[:], threshold, time.perf_counter = before
        gc.set_threshold(*threshold)
        gc.unfreeze()
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(directory)


@contextlib.contextmanager
def _machine(case: Case | None, tree: Path) -> Iterator[None]:
    """The live machine of the command line is that of the lab, or one that refuses to be looked at."""

    def machine(environ: Any = None) -> Any:
        return _NoMachine() if case is None else host_of(case, tree)

    before: Callable[..., Any] = live.LiveHost
    live.LiveHost = machine  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        live.LiveHost = before  # type: ignore[assignment,misc]
