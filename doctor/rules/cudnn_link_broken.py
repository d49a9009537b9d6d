"""A link among cuDNN's libraries leads nowhere, or to another release."""

from __future__ import annotations

import posixpath

from compat.matrix import Matrix
from compat.need import LinkTo
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy, CudnnLink
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.cudnn_use import reinstall_need, severity_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """The probe has followed every link; what it could not follow to its end is broken."""
    links = copy.broken_links.get()
    if not links:
        return ok(f"every symlink in {copy.path} points to a library of its version")
    first, more = links[0], f", and {len(links) - 1} more" if len(links) > 1 else ""
    target = _right_target(first, copy) if len(links) == 1 else ""
    needs = (LinkTo(first.path, target),) if target else ()
    return bad(
        f"{_shown(first)}: {first.why}{more}",
        *needs,
        reinstall_need(copy, facts),
        severity=_severity(links, copy, facts),
        evidence=tuple(Evidence(link.why, file=link.path, label=_shown(link)) for link in links),
        explains=(Symptom("cudnn-sublibrary-missing"), Symptom("cudnn-install-incomplete", copy.label)),
    )


def _shown(link: CudnnLink) -> str:
    return f"{link.path} -> {link.target}" if link.target else link.path


def _severity(links: tuple[CudnnLink, ...], copy: CudnnCopy, facts: Facts) -> Severity:
    """Only a linker asks for the name without a version; programs ask for the SONAME."""
    if all(link.path.endswith(".so") for link in links):
        return Severity.WARNING
    return severity_of(copy, facts)


def _right_target(link: CudnnLink, copy: CudnnCopy) -> str:
    """The text that the link should have: the library of the same name in its directory, "" where there is none."""
    name = posixpath.basename(link.path)
    stem = name.partition(".so")[0]
    for part in value_or(copy.parts, ()):
        file = posixpath.basename(part.path)
        if file.partition(".so")[0] == stem and file != name and posixpath.dirname(part.path) == copy.path:
            return part.name if name.endswith(".so") and part.name != name else file
    return ""


RULE = Rule(CUDNN_COPIES, check)
