"""Set, unset or shorten an environment variable, and name the file and line that sets it."""

from __future__ import annotations

import re

from compat.base.paths import key_of
from compat.matrix import Matrix
from compat.need import AssignVariable, ClearVariable, DropFromPath, PutOnPath
from installers.effect import EntryAdded, EntryRemoved, VariableSet, VariableUnset
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unload_module import UnloadModule
from installers.steps.unset_variable import UnsetVariable

_MODULE = "module "
_Any = AssignVariable | ClearVariable | DropFromPath | PutOnPath


def serves(need: _Any, target: Target) -> bool:
    """The name must be one, since it is rendered unquoted; DLLs are searched on Path on Windows only."""
    if isinstance(need, PutOnPath):
        return target.os_family == "windows"
    name = need.variable if isinstance(need, DropFromPath) else need.name
    return name.isascii() and name.replace("_", "a").isalnum()


def plan(need: _Any, target: Target, matrix: Matrix) -> Plan:
    """One step for each variable."""
    if isinstance(need, PutOnPath):
        # Directories of DLLs into the user's Path: the last step's comes first.
        steps = tuple(AddToPath(one.replace("/", "\\"), "Windows searches it for DLLs") for one in need.directories)
        effects = tuple(EntryAdded("PATH", one) for one in need.directories)
        return Plan(f"add {' and '.join(one.directory for one in steps)} to Path", steps, effects)
    if isinstance(need, DropFromPath):
        return _dropping(need, target)
    place = f" (set in {need.set_in})" if need.set_in else ""
    if isinstance(need, ClearVariable):
        unset = UnsetVariable(need.name, "its value is wrong for the programs that you start here", need.set_in)
        return Plan(f"unset {need.name}{place}", (unset,), (VariableUnset(need.name, need.set_in),))
    step = SetVariable(need.name, need.value, "for programs started in this shell", need.set_in)
    effect = VariableSet(need.name, need.value, need.set_in)
    first, _, others = need.value.partition(":")
    in_front = need.name == "PATH" and others
    what = f"put {first} first in PATH" if in_front else f"set {need.name} to {_shortly(need.value)}"
    return Plan(f"{what}{place}", (step,), (effect,))


def _dropping(need: DropFromPath, target: Target) -> Plan:
    """What a module of the cluster put into a variable leaves with the module."""
    name, directory = need.variable, need.entry
    if _is_of_the_system(directory, target.os_family):
        text = f"move only NVIDIA's files out of {directory}, which must stay in {name}"
        return Plan(text, (ByHand(text),), ())
    if need.set_in.startswith(_MODULE):
        return _unloading(need, directory)
    place = f" (set in {need.set_in})" if need.set_in else ""
    step = RemoveFromPath(name, directory, "the loader searches it before the right directory", need.set_in)
    return Plan(f"remove {directory} from {name}{place}", (step,), (EntryRemoved(name, directory, need.set_in),))


def _is_of_the_system(directory: str, os_family: str) -> bool:
    """Whether the programs of the system itself lie there, so that no shell works without it."""
    place = key_of(directory, os_family)
    if os_family == "windows":
        return re.fullmatch(r"(%systemroot%|%windir%|c:/windows)(/system32|/syswow64)?", place) is not None
    return place in {"/bin", "/sbin", "/usr/bin", "/usr/sbin"}


def _shortly(value: str) -> str:
    """A value as it stands in a sentence: of many directories the first."""
    first, *more = value.split(":")
    return f"{first} and {len(more)} more directories" if len(more) > 1 and first.startswith("/") else value


def _unloading(need: DropFromPath, directory: str) -> Plan:
    name = need.set_in.removeprefix(_MODULE)
    step = UnloadModule(name, f"it adds {directory} to {need.variable}")
    return Plan(f"unload the module {name}", (step,), (EntryRemoved(need.variable, directory, need.set_in),))


METHOD = Method((AssignVariable, ClearVariable, DropFromPath, PutOnPath), "an environment variable", plan, serves)
