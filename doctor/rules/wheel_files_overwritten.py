"""Two installed distributions own the same file, and only one of them can have it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.build import is_cuda_row
from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, Need
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework, Overlap
from doctor.model.facts.seen import Seen, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms, installed
from doctor.rules.shared.nvidia_wheels import as_requirements, breaches, cuda_major_of, leftovers, pins_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_SHOWN = 3  # files of one group in the evidence
_IN_A_COPY = (
    "cudnn-header-library-mismatch",
    "cudnn-install-incomplete",
    "cudnn-sublibrary-missing",
    "cudnn-sublibrary-mixed",
)
_IN_A_FRAMEWORK = (
    "cudnn-for-other-cuda",
    "cudnn-version-mismatch-loaded-vs-compiled",
    "library-for-other-cuda",
)


class Group(NamedTuple):
    """Distributions that own the same files."""

    owners: tuple[str, ...]  # "nvidia-cudnn-cu12 9.10.2.21"
    needed: tuple[str, ...]  # those of them that a framework of the environment asks for, or that are one
    overlaps: tuple[Overlap, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether a program may meet another's files: false where the one that is needed has them all."""
        return len(self.needed) != 1 or any(
            not isinstance(one.winner, Seen) or one.winner.value != self.needed[0] for one in self.overlaps
        )


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """Any file with several owners: an error where a program may meet the wrong one."""
    overlaps = environment.overlaps.get()
    if not overlaps:
        return ok("no file of the known families belongs to two packages")
    groups = sorted(_groups(overlaps, environment, facts, matrix), key=lambda one: (_severity(one).rank, one.owners))
    groups = [one for one in groups if not _has_own_code(one)] or groups
    worst = groups[0]
    more = f" (and {len(groups) - 1} more such groups)" if len(groups) > 1 else ""
    return bad(
        f"{' and '.join(worst.owners)} own the same {_files(len(worst.overlaps))}{_winner(worst)}{more}",
        _need(groups, environment, _nobodys(environment, facts, matrix), facts, matrix),
        severity=_severity(worst),
        evidence=tuple(_evidence(groups, str(how(environment.overlaps)))),
        explains=tuple(_symptoms(groups, environment, facts, matrix)),
        places=tuple(one.path for group in groups for one in group.overlaps),
    )


def _groups(overlaps: tuple[Overlap, ...], environment: Environment, facts: Facts, matrix: Matrix) -> Iterator[Group]:
    frameworks = value_or(environment.frameworks, ())
    asked = {one.name for framework in frameworks for one in pins_of(framework, facts, matrix)}
    packages = {framework.package for framework in frameworks}
    together: dict[frozenset[str], list[Overlap]] = {}
    for overlap in overlaps:
        together.setdefault(frozenset(overlap.owners), []).append(overlap)
    for owners, shared in together.items():
        needed = tuple(sorted(owner for owner in owners if _name(owner) in asked))
        own = tuple(owner for owner in owners if _name(owner) in packages)
        # of two builds of one framework, neither is the needed one, unless only one of them uses the GPU that is here
        needed = needed or (own if len(own) == 1 else _for_the_gpu(own, facts, matrix))
        yield Group(tuple(sorted(owners)), needed, tuple(shared))


def _for_the_gpu(owners: tuple[str, ...], facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """The build with GPU code among builds of one framework whose others are for the CPU; () where no GPU is seen."""
    if not value_or(facts.gpus, ()) or len({traits_of(_name(owner)).id for owner in owners}) != 1:
        return ()
    found = tuple(owner for owner in owners if _name(owner) in traits_of(_name(owner)).gpu)
    others = [_name(owner) for owner in owners if owner not in found]
    return found if len(found) == 1 and all(_is_for_the_cpu(one, matrix) for one in others) else ()


def _is_for_the_cpu(name: str, matrix: Matrix) -> bool:
    return matrix.has(name) and not any(map(is_cuda_row, matrix.rows(name, "builds")))


def _has_own_code(group: Group) -> bool:
    """Whether a rule about several builds of one framework is about it: that is the root of it, and fixes it."""
    families = {traits.id: traits for traits in (traits_of(_name(owner)) for owner in group.owners)}
    return len(families) == 1 and all("wheel-files-overwritten" in one.instead for one in families.values())


def _name(owner: str) -> str:
    return owner.partition(" ")[0]


def _severity(group: Group) -> Severity:
    """What is no part of the GPU stack (OpenCV's builds share files too) is worth a warning only."""
    stack = group.needed or any(owner.startswith("nvidia-") for owner in group.owners)
    return Severity.ERROR if stack and group.is_wrong else Severity.WARNING


def _files(count: int) -> str:
    return "file" if count == 1 else f"{count} files"


def _winner(group: Group) -> str:
    winners = {one.winner.value for one in group.overlaps if isinstance(one.winner, Seen)}
    return f": they are those of {winners.pop()}" if len(winners) == 1 else "; the last installed one is in use"


def _nobodys(environment: Environment, facts: Facts, matrix: Matrix) -> frozenset[str]:
    """The wheels of a CUDA major that nothing here uses: they go too, else the fixed files are overwritten again."""
    if not isinstance(environment.frameworks, Seen):
        return frozenset()
    return frozenset(one.name for one in leftovers(environment, facts, matrix))


def _need(groups: list[Group], environment: Environment, nobodys: frozenset[str], facts: Facts, matrix: Matrix) -> Need:
    """Remove what nobody asks for and install the rest again; separate environments where both are asked for."""
    rivals = next((one for one in groups if len(one.needed) > 1), None)
    if rivals and (one_plugin := _one_plugin(groups, environment, facts, matrix)):
        return one_plugin
    if rivals:
        both = " and ".join(_name(owner) for owner in rivals.needed)
        return Advice(f"put the packages that need {both} into separate environments")
    keep = {_kept(group, nobodys) for group in groups}
    gone = {_name(owner) for group in groups for owner in group.owners if owner not in keep} | nobodys
    anew = as_requirements(sorted(keep), environment, facts, matrix)
    return ChangePackages(tuple(anew), environment.interpreter, tuple(sorted(gone)))


def _one_plugin(groups: list[Group], environment: Environment, facts: Facts, matrix: Matrix) -> Need | None:
    """Of two plugins of one framework (jax[cuda12], jax[cuda13]) the newest that the driver runs stays, alone."""
    named = {_name(owner) for group in groups for owner in group.needed}
    pins = {one: {each.name for each in pins_of(one, facts, matrix)} for one in value_or(environment.frameworks, ())}
    askers = sorted((one for one in pins if pins[one] & named), key=_major, reverse=True)
    if len({traits_of(one.package).id for one in askers}) != 1 or not all(
        one.package.endswith("-plugin") for one in askers
    ):
        return None
    runs = value_or(facts.driver.cuda, None)
    keep = next((one for one in askers if runs is None or _major(one) <= runs.major), None)
    if keep is None:
        return None
    there = {one.name for one in installed(environment)}
    others = [one for one in askers if one != keep]
    gone = {name for one in others for name in (*pins[one], one.package, one.package.replace("-plugin", "-pjrt"))}
    gone = {name for name in gone & there if name not in pins[keep] and cuda_major_of(name) != _major(keep)}
    anew = [owner for group in groups for owner in group.owners if _name(owner) in pins[keep]]
    stays = as_requirements(sorted(set(anew)), environment, facts, matrix)
    return ChangePackages(tuple(stays), environment.interpreter, tuple(sorted(gone)))


def _major(framework: Framework) -> int:
    """The CUDA major in the name of a plugin, "jax-cuda12-plugin"."""
    found = re.search(r"-cuda(\d+)-", framework.package)
    return int(found[1]) if found else 0


def _kept(group: Group, nobodys: frozenset[str]) -> str:
    """The one that a framework asks for, else the one whose files are there, if it is for a CUDA that is used."""
    winners = [one.winner.value for one in group.overlaps if isinstance(one.winner, Seen)]
    used = [one for one in (*winners, *group.owners) if _name(one) not in nobodys]
    return (*group.needed, *used, group.owners[-1])[0]


def _evidence(groups: list[Group], label: str) -> Iterator[Evidence]:
    for group in groups:
        for one in group.overlaps[:_SHOWN]:
            has = f", is that of {one.winner.value}" if isinstance(one.winner, Seen) else ""
            yield Evidence.of(one.winner, f"{one.path}: owned by {', '.join(one.owners)}{has}", label)


def _symptoms(groups: list[Group], environment: Environment, facts: Facts, matrix: Matrix) -> Iterator[Symptom]:
    """What a directory with files of two releases looks like to other rules."""
    sites = value_or(environment.sites, ())
    folders = {f"{site}/{one.path.rpartition('/')[0]}" for site in sites for group in groups for one in group.overlaps}
    for copy in value_or(facts.cudnn, ()):
        if copy.path in folders:
            yield from (Symptom(code, copy.label) for code in _IN_A_COPY)
    if any(group.is_wrong for group in groups):
        names = {_name(owner) for group in groups for owner in group.owners}
        for framework in value_or(environment.frameworks, ()):
            yield from (Symptom(code, framework.label) for code in _IN_A_FRAMEWORK)
            if framework.package in names:
                yield Symptom("cpu-only-wheel", framework.label)
            yield from import_symptoms(framework)
    yield from _left_over(groups, environment, facts, matrix)


def _left_over(groups: list[Group], environment: Environment, facts: Facts, matrix: Matrix) -> Iterator[Symptom]:
    """Wheels that nobody asks for are the same fault told twice, where they are the ones that overwrite."""
    if not isinstance(environment.frameworks, Seen) or breaches(environment, facts, matrix):
        return
    owners = {_name(owner) for group in groups for owner in group.owners}
    if {one.name for one in leftovers(environment, facts, matrix)} <= owners:
        yield Symptom("pip-nvidia-wheels-conflict", environment.label)


RULE = Rule(ENVIRONMENTS, check)
