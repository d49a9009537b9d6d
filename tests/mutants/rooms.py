"""The rooms of the product that mutants are made of, the tests that must kill them, and how many of them at least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Room(NamedTuple):
    """A part of the product, with paths from the root of the project."""

    sources: tuple[str, ...]  # globs of Python files
    tests: tuple[str, ...]  # what pytest runs
    floor_percent: int  # of the mutants killed, or stopped by the time limit, with --sample 30 --seed 1


ROOMS: Mapping[str, Room] = {
    "rules": Room(("doctor/rules/**/*.py",), ("tests/rules",), 65),
    "prescribe": Room(("doctor/prescribe/**/*.py",), ("tests/prescribe",), 50),
    "solve": Room(("compat/solve/*.py",), ("tests/compat/test_solve.py", "tests/commands/matrix/test_solve.py"), 55),
    "explain": Room(("doctor/messages/**/*.py", "doctor/commands/explain/**/*.py"), ("tests/commands/explain",), 60),
    "installers": Room(("installers/**/*.py",), ("tests/installers",), 60),
    "gate": Room(("doctor/commands/gate/**/*.py",), ("tests/commands/gate",), 85),
    "redact": Room(
        ("doctor/output/redact.py", "doctor/output/private_forms.py", "doctor/probes/private.py"),
        ("tests/output/test_redact.py",),
        85,
    ),
}
