"""Parts of different cuDNN releases come together in one process."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy, CudnnPart
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.cudnn_use import (
    drop_from_path_need,
    is_main,
    is_of_windows,
    lacking,
    move_aside_need,
    need_parts,
    reinstall_need,
    searched,
    severity_of,
    variable_of,
)
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """First within the directory, then what the search path would put in the place of a part."""
    need_parts(copy)
    # Parts of two majors have different names, and never meet: a distribution may put both into one directory.
    found = sorted({part.version.value.release for part in copy.parts.get() if isinstance(part.version, Seen)})
    for releases in [[one for one in found if one.major == major] for major in sorted({one.major for one in found})]:
        if any(not one.agrees_with(releases[0]) for one in releases):
            return _bad_inside(copy, releases, facts)
    intruder = next(_intruders(copy, facts, matrix), None)
    if intruder is not None:
        return _bad_across(copy, *intruder, facts)
    return ok(f"every part of {copy.label} has the same version")


def _bad_inside(copy: CudnnCopy, releases: list[CudnnVersion], facts: Facts) -> Answer:
    parts = [part for part in copy.parts.get() if value_or(part.version, releases[0]).major == releases[0].major]
    return bad(
        f"{copy.path} has parts of cuDNN {' and '.join(map(str, releases))}, which do not work together",
        reinstall_need(copy, facts),
        severity=severity_of(copy, facts),
        evidence=tuple(
            Evidence(f"cuDNN {part.version.value}", file=part.path) for part in parts if isinstance(part.version, Seen)
        ),
        explains=(*_symptoms(copy), Symptom("cudnn-install-incomplete", copy.label)),  # their sizes differ, too
    )


def _symptoms(copy: CudnnCopy) -> tuple[Symptom, ...]:
    return (Symptom("cudnn-header-library-mismatch", copy.label), Symptom("cudnn-sublibrary-missing"))


def _intruders(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Iterator[tuple[CudnnCopy, CudnnPart]]:
    """Parts of another release that the loader takes in the place of this copy's.

    Those in a directory that a variable puts first, without a main library of their own (else the whole copy would
    be taken); and, in the place of what this copy lacks, those anywhere on the path.
    """
    mine = {part.name.lower() for part in copy.parts.get()}
    lacks = {name.lower() for name in _lacks(copy, facts, matrix)}
    rank = value_or(copy.search_rank, len(searched(facts)) + 1000)
    for other in searched(facts):
        parts = value_or(other.parts, ())
        partial = not any(is_main(part.name) for part in parts)
        first = bool(variable_of(other, facts)) and value_or(other.search_rank, rank) < rank
        for part in parts:
            replaces = part.name.lower() in mine and partial and first
            if other.path != copy.path and (replaces or part.name.lower() in lacks) and _differs(part, copy):
                yield other, part


def _lacks(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    try:
        return lacking(copy, facts, matrix)
    except (UnseenError, Uncovered):
        return ()  # cudnn-install-incomplete says so


def _differs(part: CudnnPart, copy: CudnnCopy) -> bool:
    known = isinstance(part.version, Seen) and isinstance(copy.version, Seen)
    return known and not part.version.get().release.agrees_with(copy.version.get().release)


def _bad_across(copy: CudnnCopy, other: CudnnCopy, part: CudnnPart, facts: Facts) -> Answer:
    variable = variable_of(other, facts)
    stray = move_aside_need(copy, facts) if is_of_windows(copy) else None
    needs = (*([stray] if stray else []), *([drop_from_path_need(other, variable, facts)] if variable else []))
    return bad(
        f"a process with {copy.label} would load {part.name} {part.version.get()} from {other.path}",
        *needs,
        reinstall_need(copy, facts),
        severity=severity_of(copy, facts),
        evidence=(
            Evidence(f"cuDNN {copy.version.get()}", file=copy.path),
            Evidence(f"cuDNN {part.version.get()}, found by {variable or 'the search path'}", file=part.path),
        ),
        explains=_symptoms(copy),
    )


RULE = Rule(CUDNN_COPIES, check, blocks_verdict=False)
