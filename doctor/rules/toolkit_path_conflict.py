"""The names by which programs ask for the CUDA toolkit lead to toolkits of different CUDA versions."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Advice, AssignVariable, LinkTo, Need
from compat.version import CudaVersion
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, of_their_cuda

_NVCC = "nvcc on PATH"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the CUDA versions that the names lead to; different directories of one version are no conflict."""
    toolkits = {toolkit.path: toolkit for toolkit in facts.toolkit.toolkits.get()}
    names = [one for one in facts.toolkit.names.get() if value_or(one.leads_to, "") in toolkits]
    compared = _compared(names, toolkits)
    if len(compared) < 2:
        raise NotApplicable("fewer than two paths or variables choose a CUDA toolkit")
    if len({one.leads_to.get() for one in compared}) == 1:
        return ok(f"{_list(compared)} point to the same toolkit")
    versions: dict[str, CudaVersion] = {one.name: toolkits[one.leads_to.get()].cuda.get() for one in compared}
    if len(set(versions.values())) == 1:
        return ok(f"{_list(compared)} point to CUDA {versions[compared[0].name]}")
    said = ", ".join(f"{name} points to CUDA {version}" for name, version in versions.items())
    return bad(
        f"several CUDA toolkits are selected: {said}",
        *_needs(compared, toolkits, facts),
        severity=Severity.WARNING,
        evidence=tuple(
            Evidence.at(one.place, f"{one.value} is in {toolkits[one.leads_to.get()].label}", one.name) for one in names
        ),
        explains=tuple(Symptom("host-compiler-unsupported", one.label) for one in _left(compared, toolkits, facts)),
        places=tuple(path for one in names for path in (one.value, one.leads_to.get())),
    )


def _compared(names: list[ToolkitName], toolkits: dict[str, Toolkit]) -> list[ToolkitName]:
    """The names that programs weigh against each other.

    A variable is asked before nvcc on PATH, and both before /usr/local/cuda (torch.utils.cpp_extension, CMake's
    FindCUDAToolkit): the default link counts only while nothing was chosen, by a variable or by activating an
    environment that has its own nvcc.
    """
    variables = [one for one in names if one.name.startswith("CUDA_")]
    nvcc = [one for one in names if one.name == _NVCC]
    default = [one for one in names if one.name.startswith("/")]
    activated = any(toolkits[one.leads_to.get()].kind in {"conda", "wheels"} for one in nvcc)
    return [*nvcc, *variables, *([] if variables or activated else default)]


def _list(names: list[ToolkitName]) -> str:
    return " and ".join(one.name for one in names)


def _needs(compared: list[ToolkitName], toolkits: dict[str, Toolkit], facts: Facts) -> Iterator[Need]:
    """What frameworks and most names say is meant; where they are even, the others follow the first name."""
    first, other = compared[0], _other(compared, toolkits)
    moved, kept = (first, other) if _first_moves(compared, toolkits, facts) else (other, first)
    root, nvcc = kept.leads_to.get(), toolkits[other.leads_to.get()].nvcc
    path = _path_with(nvcc.value.rpartition("/")[0], facts) if isinstance(nvcc, Seen) else ""
    if moved.name == _NVCC and path:
        yield AssignVariable("PATH", path, _set_in("PATH", facts))
    elif moved.name.startswith("/"):
        yield LinkTo(moved.name, root)
    elif moved.name != _NVCC and toolkits[root].kind != "distribution":
        yield AssignVariable(moved.name, root, _set_in(moved.name, facts))
    if first.name == _NVCC and isinstance(nvcc, Seen) and not path:
        yield Advice(f"put {nvcc.value.rpartition('/')[0]} first in PATH")


def _other(compared: list[ToolkitName], toolkits: dict[str, Toolkit]) -> ToolkitName:
    """The first name of another CUDA version than the first of all."""
    cuda = toolkits[compared[0].leads_to.get()].cuda
    return next(one for one in compared if toolkits[one.leads_to.get()].cuda != cuda)


def _left(compared: list[ToolkitName], toolkits: dict[str, Toolkit], facts: Facts) -> tuple[Toolkit, ...]:
    """Those that no name leads to any more where the others follow the first: which compiler they take matters no more.

    None where the first name is the one to follow.
    """
    if _first_moves(compared, toolkits, facts):
        return ()
    follow = {one.name for one in compared[1:]}
    kept = {value_or(one.leads_to, "") for one in value_or(facts.toolkit.names, ()) if one.name not in follow}
    paths = dict.fromkeys(one.leads_to.get() for one in compared[1:])
    return tuple(toolkits[path] for path in paths if path not in kept)


def _first_moves(compared: list[ToolkitName], toolkits: dict[str, Toolkit], facts: Facts) -> bool:
    """Whether the first name follows the others: the frameworks or most names agree with them, or it is of /usr."""
    first = toolkits[compared[0].leads_to.get()]
    there, here = (of_their_cuda(one, facts) for one in (toolkits[_other(compared, toolkits).leads_to.get()], first))
    if there != here:
        return there
    return compared[0].name == _NVCC and (first.kind == "distribution" or _outvoted(compared[0], toolkits, facts))


def _outvoted(first: ToolkitName, toolkits: dict[str, Toolkit], facts: Facts) -> bool:
    """Whether the other names, /usr/local/cuda included, agree on another version, and are several."""
    names = [one for one in value_or(facts.toolkit.names, ()) if one.name != first.name]
    said = [toolkits[one.leads_to.get()].cuda for one in names if value_or(one.leads_to, "") in toolkits]
    return len(said) > 1 and len(set(said)) == 1 and said[0] != toolkits[first.leads_to.get()].cuda


def _path_with(directory: str, facts: Facts) -> str:
    """PATH with a directory before all others; "" where PATH was not seen."""
    path = next((one.value for one in value_or(facts.configuration.variables, ()) if one.name == "PATH"), "")
    kept = [one for one in path.split(":") if one.rstrip("/") != directory]
    return ":".join((directory, *kept)) if path else ""


def _set_in(name: str, facts: Facts) -> str:
    return next((one.set_in for one in value_or(facts.configuration.variables, ()) if one.name == name), "")


RULE = Rule(MACHINE, check, blocks_verdict=False)
