"""Every machine of the lab: `check` in every format, from one look and from its own JSON; `gate` and `which`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.product import run
from tests.lab.case import Case
from tests.lab.cases import CASES

SUFFIXES = {
    "html": ".html",
    "json": ".json",
    "junit": ".xml",
    "markdown": ".md",
    "prometheus": ".prom",
    "sarif": ".sarif",
    "text": ".txt",
}
_FINGERPRINT = re.compile('("gpudoctor/v1": ")[0-9a-f]{64}')
PRINTED = "github"  # the one format that no suffix of a file stands for


@cache
def _cases() -> dict[str, Case]:
    return {case.name: case for case in CASES}


def jobs() -> Sequence[str]:
    """The names of the machines."""
    return list(_cases())


def outputs(name: str, folder: Path) -> Outputs:
    """A machine without a home of its own on the disk of the tests is looked at as if it were this one."""
    case = _cases()[name]
    case.build(folder / "tree")
    files = {style: f"report{suffix}" for style, suffix in SUFFIXES.items()}
    subject = ["--root", "tree"] if case.where == "root" and not case.environ else []
    more = ["--deep"] * case.deep
    asked = [word for file in ("-", *files.values()) for word in ("--output", file)]
    ran = run("check", *subject, *more, "--format", PRINTED, *asked, folder=folder, machine=case)
    found = {PRINTED: ran.text()}
    found |= {style: (folder / file).read_text(encoding="utf-8") for style, file in files.items()}
    found["from"] = run("check", "--from", "report.json", "--format", "json", folder=folder).text()
    if case.where == "root":  # a fingerprint of SARIF holds the root's path, which differs from run to run
        found["sarif"] = _FINGERPRINT.sub(r"\1", found["sarif"])
    found["which"] = run("which", "cudnn", *subject, folder=folder, machine=case).text()
    if not subject:
        found["gate"] = run("gate", folder=folder, machine=case).text()
    return found


AREA = Area(jobs, outputs, 60)
