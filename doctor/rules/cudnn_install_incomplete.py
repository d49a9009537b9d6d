"""A copy of cuDNN lacks libraries that its release ships, or has damaged or unreadable ones."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Need
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.cudnn_use import (
    drop_from_path_need,
    is_of_windows,
    lacking,
    loaders_of,
    need_parts,
    reinstall_need,
    severity_of,
    variable_of,
)
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """Its package's own list decides; for a copy without a package, the list of its release."""
    if not value_or(copy.missing, ()):
        need_parts(copy)
    faults = tuple(_damage(copy))
    lacks = lacking(copy, facts, matrix)
    faults = (*(f"{name} is missing" for name in lacks), *faults)
    if not faults:
        copy.damaged.get()  # a library that was not read may be damaged
        return ok(f"{copy.label} is complete")
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    listed_by = copy.owner or "the release's list in the matrix, cudnn.releases"
    return bad(
        f"{copy.label} is incomplete: {faults[0]}{more}",
        *_needs(copy, facts),
        severity=severity_of(copy, facts),
        evidence=(Evidence("; ".join(faults), label=listed_by), *_load(copy, facts)),
        explains=tuple(Symptom("cudnn-sublibrary-missing", one.label) for one in loaders_of(copy, facts)),
    )


def _needs(copy: CudnnCopy, facts: Facts) -> tuple[Need, ...]:
    """What nobody loads and only a variable brings, and what lies among Windows' files, is kept out first."""
    variable = variable_of(copy, facts)
    stray = variable and not copy.owner and (not loaders_of(copy, facts) or is_of_windows(copy))
    return (*((drop_from_path_need(copy, variable, facts),) if stray else ()), reinstall_need(copy, facts))


def _damage(copy: CudnnCopy) -> Iterator[str]:
    for text in value_or(copy.damaged, ()):
        yield f"{text} is damaged"
    for part in copy.parts.get():
        if not part.readable:
            yield f"{part.path} is not readable for this user"


def _load(copy: CudnnCopy, facts: Facts) -> Iterator[Evidence]:
    for framework in loaders_of(copy, facts):
        yield Evidence(f"{framework.label} loads this copy", label="loader")


RULE = Rule(CUDNN_COPIES, check)
