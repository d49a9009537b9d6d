"""An installation by gpudoctor was killed, and what it had changed until then is still there."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import RollBack
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, bad, ok, unknown
from doctor.probes.independent import install_runs
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """A run that is still at work is none of these; of one whose record is damaged, nobody can tell."""
    runs = install_runs.PROBE.of(facts).get()
    killed = [one for one in runs if one.state == "killed"]
    damaged = [one for one in runs if one.state == "damaged"]
    if killed:
        what = (
            f"installation {killed[0].id} ({killed[0].summary})"
            if len(killed) == 1
            else (f"{len(killed)} installations")
        )
        return bad(
            f"{what} of gpudoctor {'was' if len(killed) == 1 else 'were'} interrupted and not undone yet",
            *(RollBack(one.id) for one in killed),
            severity=Severity.WARNING,
            evidence=tuple(
                Evidence("the record has no end; `backup` has the original files", file=one.directory) for one in killed
            ),
        )
    if damaged:
        return unknown(f"the record of an installation is damaged: {', '.join(one.directory for one in damaged)}")
    unclear = [one for one in runs if one.state == "unclear"]
    if unclear:
        return unknown(f"installation {unclear[0].id} was killed or is still running: its lock cannot be read here")
    return ok("gpudoctor has no unfinished installation")


RULE = Rule(MACHINE, check, blocks_verdict=False)
