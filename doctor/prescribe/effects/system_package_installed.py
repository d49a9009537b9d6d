"""A package of the distribution is there; of one that is installed again, all its files are."""

from __future__ import annotations

from compat.matrix import Uncovered
from compat.version import CudnnVersion
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.predicted_files import PredictedFiles
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import SystemPackageInstalled

_WITH_MODPROBE = ("nvidia-modprobe", "nvidia-utils")  # the program of that name, set-user-ID


def apply(effect: SystemPackageInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """cuDNN's packages are known by the copies that they own; of others nobody says what they hold."""
    if effect.name in _WITH_MODPROBE:
        driver = world.facts.driver._replace(modprobe=Seen("set-user-ID", "a remedy"))
        return world._replace(facts=world.facts._replace(driver=driver))
    if world.host is None or not effect.anew:
        return world
    made = PredictedFiles(world.facts, world.matrix)
    for copy in value_or(world.facts.cudnn, ()):
        name, _, version = copy.owner.partition(" ")
        if name != effect.name:
            continue
        try:
            release = CudnnVersion.parse(version.partition("-")[0])
            made.cudnn(copy.path, release)
            if isinstance(copy.header_path, Seen):
                made.cudnn_header(copy.header_path.value.rpartition("/")[0], release)
        except (Uncovered, ValueError):
            return world
    return world.with_changes(made.onto(world.changes))
