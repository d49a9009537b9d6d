"""A Dockerfile installs a second CUDA toolkit of another release."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileTree
from doctor.model.finding import Answer, Evidence, Severity, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Several packages of one release are one toolkit."""
    trees = dockerfile_of(facts).trees
    if len(trees) < 2:
        raise NotApplicable("the Dockerfile installs at most one CUDA toolkit")
    others = [one for one in trees[1:] if one.cuda and trees[0].cuda and one.cuda != trees[0].cuda]
    if others:
        return _bad(trees[0], others[0])
    undecided = next((one for one in trees if not one.cuda), None)
    if undecided:
        return unknown(f"{undecided.source}: the version of {undecided.what} is known only at build time")
    return ok(f"every package has CUDA {trees[0].cuda}")


def _bad(first: DockerfileTree, other: DockerfileTree) -> Answer:
    is_own = other.cuda == "distribution"
    second = "the distribution's own CUDA" if is_own else f"CUDA {other.cuda}"
    there = "the distribution's own CUDA" if first.cuda == "distribution" else f"CUDA {first.cuda}"
    return bad(
        f"{other.source} installs {second} beside {there}: a program may find either nvcc and either libraries",
        Advice(f"{other.source}: delete {other.what}, or use an image with that version."),
        severity=Severity.WARNING,
        evidence=(Evidence.at(first.source, first.what), Evidence.at(other.source, other.what)),
    )


RULE = Rule(MACHINE, check)
