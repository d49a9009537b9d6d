"""interpreter-cannot-start: the program of an environment, by its own file."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts.environment import CannotStart, InterpreterStart
from doctor.model.finding import Status
from tests.machine import VENV, environment, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "interpreter-cannot-start"
FILE = "/usr/bin/python3.12"


def starting(start: Any, **changes: Any) -> Any:
    return machine(environments=seen((environment(start=start, **changes),)))


def faulty(fault: CannotStart, what: str = "", **changes: Any) -> Any:
    return starting(seen(InterpreterStart(FILE, "x86_64", "2.17", fault, what)), **changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (starting(seen(InterpreterStart(FILE, "x86_64", "2.39"))), Status.OK),
        (starting(seen(InterpreterStart(FILE))), Status.OK),  # a script, or linked statically
        (starting(seen(InterpreterStart(FILE, "x86_64", "2.40"))), Status.BAD),
        (faulty(CannotStart.LINK, "/opt/python3.12"), Status.BAD),
        (starting(unseen()), Status.UNKNOWN),
        (machine(environments=unseen()), Status.UNKNOWN),
        (
            machine(
                environments=seen((environment(start=seen(InterpreterStart(FILE, "x86_64", "2.40"))),)),
                system=system(glibc=unseen()),
            ),
            Status.UNKNOWN,
        ),
        (starting(None), Status.NOT_APPLICABLE),  # a plan, a pasted text, Windows
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "why", "advice"),
    [
        (faulty(CannotStart.ABSENT), "no interpreter", f"python3.12 -m venv --clear {VENV}"),
        (faulty(CannotStart.LINK, "/opt/python3.12"), "a symlink to /opt/python3.12", "python3.12 -m venv --clear"),
        (faulty(CannotStart.MINOR, "3.13"), "Python 3.13 now, and the packages are for 3.12", "venv --clear"),
        (faulty(CannotStart.LIBRARY, "libpython3.12.so.1.0"), "libpython3.12.so.1.0", "venv --clear"),
        (faulty(CannotStart.LIBRARY, "libpython3.12.so.1.0", kind="system"), "was not found", "Reinstall this Python"),
        (faulty(CannotStart.LIBRARY, "libpython3.12.so.1.0", kind="conda"), "was not found", "conda install -p"),
        (faulty(CannotStart.LOADER, "/lib/ld-musl-x86_64.so.1"), "does not exist here", "image with musl"),
        (
            faulty(CannotStart.LINK, "/x", keeper="uv", project="/home/user/project"),
            "a symlink",
            "cd /home/user/project && uv venv --clear && uv sync",
        ),
    ],
)
def test_words(facts: Any, why: str, advice: str) -> None:
    found = answer(CODE, facts)
    assert why in found.why
    assert advice in as_json(found.needs[0]).spec
    assert "framework-import-crash" in {one.code for one in found.explains}
