"""A Dockerfile compiles with nvcc where its stage has none."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase, DockerfileCompile
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of, from_line
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Every command that needs nvcc, in every stage that is built; what comes before it may bring nvcc."""
    compiles = dockerfile_of(facts).compiles
    if not compiles:
        raise NotApplicable("no line of the Dockerfile calls nvcc or CMake for CUDA")
    without = [one for one in compiles if isinstance(one.has_nvcc, Seen) and not one.has_nvcc.value]
    if without:
        return _bad(without, matrix)
    for one in compiles:
        if isinstance(one.has_nvcc, Unseen):
            return unknown(one.has_nvcc.why)
    return ok(f"{compiles[0].base.image}, or a package on it, has nvcc")


def _bad(found: list[DockerfileCompile], matrix: Matrix) -> Answer:
    base = found[0].base
    return bad(
        f"{found[0].source} compiles CUDA code, but {base.image} has no nvcc",
        _need(base, matrix),
        evidence=(
            *(Evidence.at(one.source, one.command) for one in found),
            Evidence.at(base.source, f"FROM {base.image}" + (f": the {base.variant} variant" if base.variant else "")),
        ),
    )


def _need(base: DockerfileBase, matrix: Matrix) -> Need:
    """The devel image of the same release and system, where a row has it."""
    rows = matrix.rows("index", "images")
    for row in rows:
        if row.release == base.release and base.system and row.image.endswith(f"-devel-{base.system}"):
            return Advice(
                f"instead of {base.source}, because the devel variant has the compiler: {from_line(base, row.image)}"
            )
    kind = "the devel variant of the same image" if base.variant else "an image with the CUDA toolkit"
    return Advice(f"{base.source}: start from {kind}, at least in the stage that compiles.")


RULE = Rule(MACHINE, check)
