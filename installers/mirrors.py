"""Where a plan's files come from instead of NVIDIA: a mirror. Digests stay the same."""

from __future__ import annotations

from urllib.parse import urlsplit

from compat.base.errors import GpudoctorError
from installers.plan import Plan
from installers.step import Step
from installers.steps.download import Download


class BadSupply(GpudoctorError):
    """A mirror that files cannot come from."""


def from_mirror(plan: Plan, mirror: str) -> Plan:
    """Each download from below the mirror's address, under the path that it has at NVIDIA; raises BadSupply."""
    if "@" in mirror:
        raise BadSupply(
            "--mirror with a user or a password: it would stand in what is printed and recorded; "
            "write it into ~/.netrc, where --apply finds it, and curl with --netrc"
        )
    found = urlsplit(mirror)
    if found.scheme != "https" or not found.netloc or not mirror.isprintable() or found.query or found.fragment:
        raise BadSupply(f"{mirror!r} is no address of a mirror: https://HOST/PATH, never what is not encrypted")
    return plan._replace(steps=tuple(_mirrored(step, mirror.rstrip("/")) for step in plan.steps))


def _mirrored(step: Step, mirror: str) -> Step:
    return step._replace(url=f"{mirror}{urlsplit(step.url).path}") if isinstance(step, Download) else step
