"""A Python of 32 bits on a Windows of 64: no framework has wheels with CUDA for it."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS, need_where

_OF_32_BITS = "i386"
_FOLLOWS = ("cpu-only-wheel", "python-version-no-wheel")


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """An error where a framework is there or planned; beside a GPU a warning, for none can be installed."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    frameworks = value_or(environment.frameworks, ())
    if not frameworks:
        need_where(facts, "gpus")
    if environment.machine.get() != _OF_32_BITS:
        return ok("its Python is 64-bit")
    python = value_or(environment.python, "")
    launcher = f"py -{'.'.join(python.split('.')[:2])}" if python else "py"
    return bad(
        "its Python is 32-bit: no framework has CUDA wheels for it, so pip finds no wheel or a CPU build",
        Advice(
            f"Install the 64-bit Python, create an environment with it ({launcher} "
            "-m venv .venv), and install the packages there."
        ),
        severity=Severity.ERROR if frameworks else Severity.WARNING,
        evidence=(Evidence.of(environment.machine, "a 32-bit program"),),
        explains=tuple(Symptom(code, one.label) for one in frameworks for code in _FOLLOWS),
    )


RULE = Rule(ENVIRONMENTS, check, blocks_verdict=False)  # a program that cannot be read leaves the rest as it is
