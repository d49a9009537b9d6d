"""Where a plan's files come from instead of NVIDIA: a mirror or a directory. Digests stay the same."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from compat.base.errors import GpudoctorError
from installers.plan import Plan
from installers.step import Step
from installers.steps.download import Download
from installers.steps.use_file import UseFile


class BadSupply(GpudoctorError):
    """A mirror or a directory that files cannot come from."""


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


def from_directory(plan: Plan, directory: str, *, here: bool) -> Plan:
    """Each download as a file of its name in a directory; on this machine (`here`) all must be there.

    Raises BadSupply.
    """
    downloads = [step for step in plan.steps if isinstance(step, Download)]
    if not downloads:
        raise BadSupply("this plan downloads nothing: omit --bundle")
    missing = [step for step in downloads if here and not os.path.isfile(os.path.join(directory, step.to))]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadSupply(f"{directory} lacks {missing[0].to}{more}: {missing[0].url}")
    return plan._replace(steps=tuple(_taken(step, directory) for step in plan.steps))


def _taken(step: Step, directory: str) -> Step:
    if not isinstance(step, Download):
        return step
    joint = "\\" if "\\" in directory else "/"
    return UseFile(f"{directory.rstrip(joint)}{joint}{step.to}", step.to, step.sha256, step.why)
