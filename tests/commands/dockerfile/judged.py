"""A Dockerfile's text, judged."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from doctor.commands.check.command import CheckSubject, report_of
from doctor.model.facts import Facts
from doctor.model.finding import Report


def report(folder: Path, text: str, **more: Any) -> Report:
    file = folder / "Dockerfile"
    file.write_text(text)
    given = {"platform": "linux/amd64", "policy": "", **more}
    return report_of(CheckSubject(dockerfile=str(file), **given), time.perf_counter())


def facts(folder: Path, text: str, **more: Any) -> Facts:
    return report(folder, text, only=("check-error",), **more).facts


def found(report: Report, *, info: bool = False) -> list[str]:
    """Codes of the findings; those for information only where they are asked for."""
    return [one.code for one in report.findings if info or one.severity.value != "info"]
