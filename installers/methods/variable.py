"""Set, unset or shorten an environment variable, and name the file and line that sets it."""

from __future__ import annotations

import re

from compat.base.paths import key_of
from compat.matrix import Matrix
from compat.need import Need
from installers.effect import Effect, EntryAdded, EntryRemoved, VariableSet, VariableUnset
from installers.method import Method
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unload_module import UnloadModule
from installers.steps.unset_variable import UnsetVariable

_WITH, _WITHOUT = "with ", "without "
_MODULE = "module "


def serves(need: Need, target: Target) -> bool:
    """Everywhere; the name must be one, since it is rendered unquoted."""
    return need.product == "variable" and need.build.isascii() and need.build.replace("_", "a").isalnum()


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """By how `spec` begins; what a module of the cluster put into a variable leaves with the module."""
    name, place = need.build, f" (set in {need.where})" if need.where else ""
    step: Step = UnsetVariable(name, "it misleads the processes started here", need.where)
    effect: Effect = VariableUnset(name, need.where)
    summary = f"unset {name}"
    if need.spec.startswith("="):
        step = SetVariable(name, need.spec[1:], "for the processes started from here", need.where)
        summary, effect = f"set {name} to {_shortly(need.spec[1:])}", VariableSet(name, need.spec[1:], need.where)
    elif need.spec.startswith(_WITHOUT):
        directory = need.spec.removeprefix(_WITHOUT)
        if _is_of_the_system(directory, target.os_family):
            text = f"move NVIDIA's files, and nothing else, out of {directory}, which must stay in {name}"
            return Plan(text, (ByHand(text),), ())
        if need.where.startswith(_MODULE):
            return _unloading(need, directory)
        step = RemoveFromPath(name, directory, "the loader searches it before the right place", need.where)
        summary, effect = f"remove {directory} from {name}", EntryRemoved(name, directory, need.where)
    elif need.spec.startswith(_WITH) and target.os_family == "windows":
        return _entering(name, need.spec.removeprefix(_WITH).split(";"))
    return Plan(summary + place, (step,), (effect,))


def _is_of_the_system(directory: str, os_family: str) -> bool:
    """Whether the programs of the system itself lie there, so that no shell works without it."""
    place = key_of(directory, os_family)
    if os_family == "windows":
        return re.fullmatch(r"(%systemroot%|%windir%|c:/windows)(/system32|/syswow64)?", place) is not None
    return place in {"/bin", "/sbin", "/usr/bin", "/usr/sbin"}


def _entering(name: str, directories: list[str]) -> Plan:
    """Directories of DLLs into the user's Path: the last step's comes first."""
    steps = tuple(AddToPath(one.replace("/", "\\"), "Windows looks for DLLs there") for one in directories)
    effects = tuple(EntryAdded(name, one) for one in directories)
    return Plan(f"add {' and '.join(one.directory for one in steps)} to Path", steps, effects)


def _shortly(value: str) -> str:
    """A value as it stands in a sentence: of many directories the first."""
    first, *more = value.split(":")
    return f"{first} and {len(more)} more directories" if len(more) > 1 and first.startswith("/") else value


def _unloading(need: Need, directory: str) -> Plan:
    name = need.where.removeprefix(_MODULE)
    step = UnloadModule(name, f"it puts {directory} into {need.build}")
    return Plan(f"unload the module {name}", (step,), (EntryRemoved(need.build, directory, need.where),))


METHOD = Method("an environment variable", serves, plan)
