"""A copy of cuDNN is in a directory, whole."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered, accepts
from compat.version import CudnnVersion
from doctor.host.optional_reads import real_path_of
from doctor.host.overlay import Overlay
from doctor.model.facts.seen import value_or
from doctor.prescribe.predicted_files import PredictedFiles
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import CudnnInstalled
from installers.requirement import exact_version

_TRIPLETS = {"aarch64": "aarch64-linux-gnu", "ppc64le": "powerpc64le-linux-gnu"}


def apply(effect: CudnnInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """Its libraries and its header; if the files of the release are unknown, nothing changes."""
    if world.host is None:
        return world
    named = effect.directory.replace("\\", "/") if effect.directory[1:2] == ":" else effect.directory
    directory = real_path_of(Overlay(world.host, world.changes), named or library_directory(world))
    try:
        release = release_of(effect.spec, effect.cuda_major, world.matrix)
        made = PredictedFiles(world.facts, world.matrix)
        main = made.cudnn(directory, release)[0]
        if effect.directory and main.startswith("lib"):  # an archive has the name for linkers as well
            made.links[f"{directory}/{main.partition('.so')[0]}.so"] = main
        # Where the header of a directory of libraries lies: in include beside lib, else in /usr/include.
        folder, _, name = directory.rpartition("/")
        made.cudnn_header(f"{folder}/include" if name in {"lib", "lib64", "bin"} else "/usr/include", release)
    except (Uncovered, ValueError):
        return world
    return world.with_changes(made.onto(world.changes))


def release_of(spec: str, cuda_major: int, matrix: Matrix) -> CudnnVersion:
    """The newest release that a specifier admits for that CUDA; raises Uncovered."""
    exact = exact_version(spec)
    if exact:
        return CudnnVersion.parse(exact)
    rows = [row.version for row in matrix.rows("cudnn", "releases") if accepts(spec, row.version)]
    for version in sorted(rows, reverse=True):
        try:
            if not cuda_major or matrix.cudnn_build(version, cuda_major):
                return CudnnVersion(version)
        except Uncovered:
            continue
    raise Uncovered(f"cuDNN {spec} for CUDA {cuda_major}")


def library_directory(world: SimulatedMachine) -> str:
    """Where packages of this distribution put libraries."""
    machine = value_or(world.facts.system.machine, "x86_64")
    multiarch = f"/usr/lib/{_TRIPLETS.get(machine, 'x86_64-linux-gnu')}"
    return multiarch if world.host and world.host.is_dir(multiarch) else "/usr/lib64"
