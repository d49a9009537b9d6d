"""One real environment judged: `check` on a healthy GPU machine, and each framework's loader against its prediction."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.loader_oracle.programs import installed
from tests.real.machine import Machine, Toolkit, machine, site_of


class Compared(NamedTuple):
    """A framework's libraries, predicted and observed."""

    name: str  # of the oracle's program, "torch"
    label: str  # "torch 2.9.1+cu128"
    known: bool  # a card says what it opens
    failed: str  # why there is no comparison, or why the predicted import fails
    rows: tuple[Mapping[str, Any], ...]
    said: str

    def count(self, kind: str) -> int:
        """Rows of one kind: "yes", "replayed", "refused", "no", "unobserved"."""
        return sum(row["equal"] == kind for row in self.rows)


class Verdict(NamedTuple):
    """What was said of an environment."""

    name: str
    status: int  # of `check`
    findings: tuple[str, ...]  # codes
    details: tuple[str, ...]  # each finding in one line
    open: tuple[str, ...]  # what `check` could not tell
    compared: tuple[Compared, ...]


def judge(
    prefix: Path,
    *,
    environ: Mapping[str, str] | None = None,
    cuda: Toolkit | None = None,
    only: str | None = None,
) -> Verdict:
    """Put it on a machine of the lab, check it, import its frameworks; `only` "check" or "loader" is one half."""
    with tempfile.TemporaryDirectory() as folder:
        there = machine(prefix, Path(folder), environ=environ, cuda=cuda)
        verdict = Verdict(prefix.name, 0, (), (), (), ())
        if only != "loader":
            verdict = _checked(there, verdict)
        if only != "check":
            verdict = verdict._replace(compared=tuple(_compared(there, name) for name in programs_for(prefix)))
    return verdict


def programs_for(prefix: Path) -> list[str]:
    """The oracle's programs for what is installed."""
    names = [path.name.split("-")[0].replace("_", "-").lower() for path in site_of(prefix).glob("*.dist-info")]
    return installed(names)


def _checked(there: Machine, verdict: Verdict) -> Verdict:
    outcome = there.check()
    findings = outcome.report["findings"]
    return verdict._replace(
        status=outcome.status,
        findings=outcome.named,
        details=tuple(f"{one['severity']} {one['code']} ({one['subject']}): {one['summary']}" for one in findings),
        open=outcome.open,
    )


def _compared(there: Machine, name: str) -> Compared:
    ran = there.oracle(name)
    if not ran.output.startswith("{"):
        why = f"no comparison: status {ran.status}: {ran.errors.strip()[-1500:]}"
        return Compared(name, name, False, why, (), ran.output)
    found = json.loads(ran.output)
    label, known = found["framework"] or name, bool(found["framework"])
    return Compared(name, label, known, found["broken"], tuple(found["rows"]), found["said"])
