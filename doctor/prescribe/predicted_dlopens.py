"""Names that the libraries of a build open, and that the loader would not find: what can be told before it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.build import is_cuda_row, oldest_cuda
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow, LibraryRow
from compat.traits import traits_of
from doctor.host import Host
from doctor.host.optional_reads import names_of
from doctor.loader.implicit_dlopens import habits
from doctor.loader.simulate import start
from doctor.model.facts import Facts
from doctor.model.facts.loader import LoaderFacts, Outcome, Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or

if TYPE_CHECKING:
    from doctor.prescribe.simulated_machine import SimulatedMachine

_PART = "libcudnn_cnn_infer.so.8"  # the one that differs by the release, and without which the process aborts


def requests(row: FrameworkRow, prefix: str, *, own: bool) -> Iterator[tuple[str, str, str]]:
    """Environment, package, name: what the cuDNN of its `own` opens by name, and aborts without.

    Else cuDNN itself, of a build that leaves it to the program to open the wheels' files.
    """
    release = str(row.cudnn or "")
    if own:
        for habit in habits(_PART, release, "") if release.startswith("8.") else ():
            yield from ((prefix, row.package, name) for name in habit.names if habit.fatal)
    elif traits_of(row.package).opens == "call" and not traits_of(row.package).cudnn_with:
        majors = re.findall(r"^\D*(\d+)", release or row.cudnn_accepts or "")
        yield from ((prefix, row.package, f"libcudnn.so.{major}") for major in majors)


def again(row: FrameworkRow, prefix: str, facts: Facts, matrix: Matrix) -> Iterator[tuple[str, str, str]]:
    """Environment, package, name: what the build before it opened of CUDA when a program called it, for the new CUDA.

    Of one that leaves it to the loader to find them: CTranslate2, ONNX Runtime, CuPy under each of its names.
    """
    traits = traits_of(row.package)
    finds_itself = bool(traits.finds_wheels) and accepts(traits.finds_wheels, row.versions.lstrip("="))
    if traits.opens != "call" or finds_itself or not is_cuda_row(row):
        return
    told = (
        one
        for one in value_or(facts.loader.predictions, ())
        if one.environment == prefix and traits_of(one.asker).id == traits.id
    )
    stems = {one.soname.partition(".so")[0] for one in told if one.is_cuda and "cudnn" not in one.soname}
    cuda = oldest_cuda(row, matrix)
    libraries: tuple[LibraryRow, ...] = matrix.rows("libraries", "sonames")
    yield from ((prefix, row.package, one.soname) for one in libraries if one.stem in stems and accepts(one.cuda, cuda))


def missing(world: SimulatedMachine, host: Host, search: LoaderFacts) -> Iterator[Prediction]:
    """A prediction for each of them that is nowhere on the loader's path."""
    known = {one.prefix: one for one in value_or(world.facts.environments, ())}
    for prefix, package, name in world.asked:
        if prefix not in known:
            continue
        process = start(host, search, known[prefix])
        found = process.search.find(name, None, (), process.machine)
        if not isinstance(found, Seen):
            why = Unseen(f"{name}, which is opened by that name, was not found: {found.why}")
            told = Prediction(
                environment=prefix, asker=package, soname=name, path=why, intended=why, outcome=Outcome.MISSING
            )
            nvidia = (f"{site}/nvidia" for site in value_or(known[prefix].sites, ()))
            paths = (f"{folder}/{one}/lib/{name}" for folder in nvidia for one in names_of(host, folder))
            yield told._replace(intended=next((Seen(path, path) for path in paths if host.is_file(path)), None) or why)
