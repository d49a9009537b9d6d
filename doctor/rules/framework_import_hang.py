"""Importing a framework does not end."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Import
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import IMPORTS


def check(tried: Import, facts: Facts, matrix: Matrix) -> Answer:
    """An import that did not end in time is BAD: the usual causes are a dead file system and a driver that hangs."""
    if tried.state == "hung":
        text = (
            f"find where `import {tried.package}` waits: run `python -X importtime`; look for a network file system "
            "on sys.path, and for processes in state D (`ps -eo stat,pid,cmd`). If the driver hangs, reboot"
        )
        return bad(
            f"import {tried.package} hangs",
            Advice(text),
            evidence=(Evidence(tried.detail, label=f"import of {tried.package} in a subprocess"),),
        )
    if tried.state == "crashed":
        raise NotApplicable("it crashed: see framework-import-crash")
    return ok(f"import {tried.package} finished in time")


RULE = Rule(IMPORTS, check)
