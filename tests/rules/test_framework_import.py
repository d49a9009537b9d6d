"""framework-import-crash and framework-import-hang."""

from __future__ import annotations

import pytest

from compat.need import InstallPackage
from doctor.model.facts.environment import Import
from doctor.model.finding import Status
from tests.machine import VENV, machine, seen, unseen
from tests.rules.case import answer


@pytest.mark.parametrize(
    ("state", "crash", "hang"),
    [
        ("ok", Status.OK, Status.OK),
        ("crashed", Status.BAD, Status.NOT_APPLICABLE),
        ("hung", Status.OK, Status.BAD),
        ("failed", Status.UNKNOWN, Status.OK),
    ],
)
def test_states(state: str, crash: Status, hang: Status) -> None:
    facts = machine(imports=seen((Import("torch", VENV, state, "a line\nSIGSEGV"),)))
    assert answer("framework-import-crash", facts).kind is crash
    assert answer("framework-import-hang", facts).kind is hang


@pytest.mark.parametrize("code", ["framework-import-crash", "framework-import-hang"])
def test_untried_and_unseen(code: str) -> None:
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE
    assert answer(code, machine(imports=unseen("no interpreter"))).kind is Status.UNKNOWN


def test_a_crash_names_its_signal_and_the_release_to_install_anew() -> None:
    found = answer("framework-import-crash", machine(imports=seen((Import("torch", VENV, "crashed", "SIGSEGV"),))))
    assert "SIGSEGV" in found.why
    assert found.needs == (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)
