"""A file to fetch into the staging directory; a file with another digest is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import protocol, quote, script_word, verified
from installers.render.powershell import literal, staged_path
from installers.render.powershell import verified as powershell_verified
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_MIB = 1 << 20
_TRUST = {
    "manifest": "checksum from NVIDIA's manifest",
    "several": "checksum confirmed by independent packagers",
    "one": "checksum from one packager's recipe",
}


class Download(NamedTuple):
    """Where it lies, what it is called here, and what it must be."""

    url: str
    to: str  # name in the staging directory
    sha256: tuple[str, ...]  # any of these; () is refused when applied
    size_bytes: int | None
    digest_from: str  # how far the digest can be trusted, see `compat.artefact`
    why: str


def _title(step: Download) -> str:
    size = f"{step.size_bytes / _MIB:,.0f} MiB, " if step.size_bytes else ""
    unknown = "signed by NVIDIA" if step.to.endswith(".exe") else "no known checksum"
    trust = _TRUST.get(step.digest_from, "your checksum") if step.sha256 else unknown
    return f"download {step.to} ({size}{trust})"


def _refuse(step: Download) -> None:
    from installers.fetch import require_digest

    require_digest(step)


def _apply(step: Download, run: Run) -> None:
    from installers.digest import verify_file  # late, as what follows: printing needs none of it
    from installers.errors import InstallError
    from installers.fetch import fetch

    # Under its digest: what broke off is found again, and by no other file of that name.
    to = os.path.join(run.downloads(), step.sha256[0].lower())
    try:
        verify_file(to, step.sha256, run.report)
    except (FileNotFoundError, InstallError):
        fetch(step, to, run.report, run.limits)
    run.archives[step.to] = to


def _bash(step: Download, _: Target) -> Lines:
    get = f"curl -fL --retry 3{protocol(step.url)} -o {quote(step.to)} {quote(step.url)}"
    return (get, *verified(step.to, step.sha256))


def _bash_script(step: Download, _: Target) -> Lines:
    return (" ".join(("fetch", quote(step.url), script_word(step.to), *step.sha256)),)


def _powershell(step: Download, _: Target) -> Lines:
    get = f"Invoke-WebRequest -Uri {literal(step.url)} -OutFile {literal(step.to)}"
    return (get, *powershell_verified(step.to, step.sha256))


def _powershell_script(step: Download, _: Target) -> Lines:
    return (f"Get-Archive {literal(step.url)} {staged_path(step.to)} @({', '.join(map(literal, step.sha256))})",)


_BASH_FUNCTIONS = ("stop.sh", "verify.sh", "receive.sh", "fetch.sh")

KIND = StepType(
    Download,
    title=_title,
    bash=Shell(
        _bash,
        _bash_script,
        functions=lambda _: _BASH_FUNCTIONS,
    ),
    powershell=Shell(
        _powershell,
        _powershell_script,
        functions=lambda _: ("verify.ps1", "fetch.ps1"),
    ),
    apply=_apply,
    refuse=_refuse,
    size_bytes=lambda step: step.size_bytes or 0,
    staged=True,
)
