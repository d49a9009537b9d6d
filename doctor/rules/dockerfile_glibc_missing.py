"""A Dockerfile installs a framework on Alpine, which has no glibc."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Advice
from compat.platform import absent
from compat.target import TargetMachine
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of, from_line
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_MUSL = TargetMachine(os_family="musl", arch="")
_PYTHON = re.compile(r"(.*\bpython:.*)-alpine[\d.]*")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """What pip is asked for in each stage that starts from Alpine, of which a row says that no release has wheels."""
    told = dockerfile_of(facts)
    if not told.on_musl:
        raise NotApplicable("no line installs a Python package on Alpine")
    rows = [(one, absent(one.package, one.versions, _MUSL, matrix)) for one in told.on_musl]
    found = [(one, row) for one, row in rows if row]
    if not found:
        return ok("every package on Alpine may have wheels for musl")
    if told.unread:
        line = told.unread[0]
        return unknown(f"{line.source} {line.what}, which may install another Python, with glibc")
    (first, row), base = found[0], found[0][0].base
    return bad(
        f"{first.source} installs {first.package} on Alpine: {row.summary}, so pip finds no wheel",
        Advice(_with_glibc(base)),
        evidence=(
            *(Evidence.at(one.source, f"{one.package}: {row.summary}") for one, row in found),
            Evidence.at(base.source, f"FROM {base.image}, which uses musl, not glibc"),
            Evidence(row.note, label=f"matrix, platform.absent[{row.id}]"),
        ),
    )


def _with_glibc(base: DockerfileBase) -> str:
    """The same release of Python on Debian, whose tag Docker's official images have for each."""
    found = _PYTHON.fullmatch(base.image)
    if not found:
        return f"{base.source}: use an image of Debian or Ubuntu, which has glibc."
    return f"instead of {base.source}, because Debian has glibc: {from_line(base, f'{found[1]}-slim')}"


RULE = Rule(MACHINE, check, blocks_verdict=False)  # what a script brings is seen in the image itself
