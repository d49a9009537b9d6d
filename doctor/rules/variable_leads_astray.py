"""An environment variable names a file that is not there or cannot be used, or has a value that is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from compat.build import compilers_for, serves
from compat.matrix import Matrix
from compat.need import Advice, AssignVariable, ClearVariable, Need
from compat.specifier import keeps
from compat.traits import traits_of
from compat.version import CodeTarget, ComputeCapability
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.pins import release_of
from doctor.rules.shared.rule import NotApplicable, Rule, Subjects

if TYPE_CHECKING:
    from compat.platform_row import VariableRow

# What comes of it, by the beginning of the variable's name; the sources stand in the rule's page.
_THEN = {
    "CONDA_PREFIX": "another Python is used and checked",
    "CU": "a build or a search with it fails, or uses another file",
    "LD_": "the loader ignores it and prints a warning in every program",
    "GLOO_": "Gloo stops with an error",
    "NCCL_IB_HCA": "NCCL does not use InfiniBand",
    "NCCL_OOB": "NCCL stops with an error",
    "NCCL_SOCKET": "NCCL stops with an error",
    "NCCL_": "NCCL continues without it, maybe slower",
    "NUMBA_": "Numba stops with an error",
    "NVCC_": "nvcc stops with an error",
    "PYTORCH_": "building an extension fails",
    "TP_": "TensorPipe uses another interface",
    "TRITON_": "Triton uses its own instead",
    "VIRTUAL_ENV": "another Python is used and checked",
}
_SWITCHES = (("1", "true", "yes", "on", "y", "t"), ("0", "false", "no", "off", "n", "f"))
_SHOWN_CHARACTERS = 80  # of a value
_LONGEST = 4096  # characters of a value that is checked
_ARCHES = "TORCH_CUDA_ARCH_LIST"
_ARCH = r"(\d{1,2})\.(\d)([af]?)(\+PTX)?"


def check(setting: Variable, facts: Facts, matrix: Matrix) -> Answer:
    """Follow it as its program does; empty is as good as not set."""
    if not setting.value.strip():
        raise NotApplicable(f"{setting.name} is empty")
    if setting.name == _ARCHES:
        return _of_arches(setting, facts, matrix)
    named = [one for one in value_or(facts.configuration.named, ()) if one.variable == setting.name]
    if not named and (rows := matrix.values_of(setting.name)):
        return _of_value(setting, rows, facts)
    if not named:
        facts.configuration.named.get()
        raise NotApplicable(f"{setting.name} contains no file path")
    wrong = [one for one in named if one.problem]
    if not wrong:
        return ok(f"the path in {setting.name} exists")
    then = next((text for start, text in _THEN.items() if setting.name.startswith(start)), "")
    return _bad(
        setting,
        f"{setting.name} names {wrong[0].path}, which {wrong[0].problem}{f': {then}' if then else ''}",
        _need(setting, wrong[0].left),
    )


def _need(setting: Variable, value: str) -> Need:
    """Set to a value; unset for ""."""
    if not value:
        return ClearVariable(setting.name, setting.set_in)
    return AssignVariable(setting.name, value, setting.set_in)


def _bad(
    setting: Variable,
    why: str,
    need: Need,
    *,
    severity: Severity = Severity.WARNING,
    also: tuple[Evidence, ...] = (),
) -> Answer:
    said = Evidence.at(setting.set_at, f"{setting.name}={setting.value}", setting.set_in or "environment")
    return bad(why, need, severity=severity, evidence=(said, *also))


def _of_value(setting: Variable, rows: tuple[VariableRow, ...], facts: Facts) -> Answer:
    """Compare it with what the program accepts that reads it, in the releases that are installed."""
    if len(setting.value) > _LONGEST:
        raise NotApplicable(f"{setting.name} has {len(setting.value)} characters")
    readers = [(row, reader) for row in rows for reader in _readers(row, facts)]
    if not readers:
        raise NotApplicable(f"no installed release reads {setting.name}")
    for row, reader in readers:
        if re.fullmatch(row.values, setting.value.strip()):
            continue
        if row.gpus and len(facts.gpus.get()) < row.gpus:
            return ok(f"{setting.name} does not matter with fewer than {row.gpus} GPUs")
        value = setting.value if len(setting.value) <= _SHOWN_CHARACTERS else f"{setting.value[:_SHOWN_CHARACTERS]}..."
        return _bad(
            setting,
            f"{setting.name}={value} is not valid{f' for {reader}' if reader else ''}: {row.then}; valid: {row.valid}",
            _need(setting, _meant(setting.value, row.choices)),
            severity=Severity(row.severity),
            also=(Evidence(f"{row.id}: {row.source}", label="matrix"),),
        )
    return ok(f"{setting.name}={setting.value} is valid")


def _readers(row: VariableRow, facts: Facts) -> Iterable[str]:
    """Yield the installed releases that a row speaks of; "" for a program that is no Python package."""
    if not row.reader:
        yield ""
        return
    for environment in facts.environments.get():
        for one in value_or(environment.distributions, ()):
            is_reader = one.name == row.reader or traits_of(one.name).id == row.reader
            if is_reader and not one.hidden_by and (not row.versions or keeps(row.versions, release_of(one.version))):
                yield f"{one.name} {one.version}"


def _meant(value: str, choices: tuple[str, ...]) -> str:
    """The choice that a value stands for; "" where none is near."""
    said = value.strip().strip("\"'").casefold()
    group = next((one for one in _SWITCHES if said in one), ())
    return next(
        (one for one in choices if one.casefold() in group or one.casefold().startswith(said[:3] or "?")),
        "",
    )


def _of_arches(setting: Variable, facts: Facts, matrix: Matrix) -> Answer:
    """What is built from now on must run on the cards here; a generation's name is left to torch."""
    entries = [one for one in re.split(r"[;,\s]+", setting.value.strip()) if one]
    if not all(re.fullmatch(_ARCH, one) for one in entries):
        raise NotApplicable(f"{_ARCHES}={setting.value} is not a list of numbers")
    cards = [gpu for gpu in value_or(facts.gpus, ()) if isinstance(gpu.capability, Seen)]
    lacking = [gpu for gpu in cards if not serves(_targets(entries), gpu.capability.get())]
    need = _need_of_arches(setting, [gpu.capability.get() for gpu in lacking], entries, facts, matrix)
    if lacking:
        first = lacking[0]
        why = f"extensions are built for {_ARCHES}={setting.value}: no code for {first.label}, which is "
        return _bad(setting, f"{why}{first.capability.get()}", need)
    if setting.value.replace(" ", ";").split(";") != entries:  # as torch.utils.cpp_extension takes it apart
        return _bad(
            setting, (f"torch refuses {_ARCHES}={setting.value}: separate entries with one ';' or one blank"), need
        )
    if not facts.gpus.get():
        raise NotApplicable("no GPU answers, so the target is unknown")
    return ok(f"{_ARCHES} has code for every GPU here")


def _targets(entries: list[str]) -> tuple[CodeTarget, ...]:
    """What torch makes of the list: machine code for each entry, and PTX where it says so."""
    found = (one for one in (re.fullmatch(_ARCH, entry) for entry in entries) if one)
    return tuple(
        CodeTarget.parse(f"{kind}_{one[1]}{one[2]}{one[3]}")
        for one in found
        for kind in (("sm", "compute") if one[4] else ("sm",))
    )


def _need_of_arches(
    setting: Variable, lacking: Iterable[ComputeCapability], entries: list[str], facts: Facts, matrix: Matrix
) -> Need:
    """The same list with code for these GPUs, too.

    Never an empty one, nor none: torch then asks the GPUs that it sees, and a build that sees none ends with an
    IndexError (pytorch/pytorch#137261).
    """
    for gpu in sorted(set(lacking)):
        if serves(_targets(entries), gpu):
            continue  # by what was added for an older one
        older = [one for one in entries if re.fullmatch(r"[\d.]+", one) and ComputeCapability.parse(one) < gpu]
        if _is_compiled_for(gpu, facts, matrix):
            entries = [*entries, str(gpu)]
        elif older:
            newest = max(older, key=ComputeCapability.parse)
            entries = [f"{one}+PTX" if one == newest else one for one in entries]
        else:
            text = f"Add {gpu} to {_ARCHES}, and build with a CUDA toolkit that supports it: none here does."
            return Advice(text)
    joined = (";" if ";" in setting.value else " ").join(entries)
    return AssignVariable(setting.name, joined, setting.set_in)


def _is_compiled_for(gpu: ComputeCapability, facts: Facts, matrix: Matrix) -> bool:
    """Whether nvcc and torch know the architecture, in so far as they are seen: torch refuses what its CUDA lacks."""
    toolkits = [one for one in value_or(facts.toolkit.toolkits, ()) if isinstance(one.nvcc, Seen)]
    extended = [one for each in value_or(facts.environments, ()) for one in value_or(each.frameworks, ())]
    for group in (toolkits, [one for one in extended if traits_of(one.package).extended]):
        cudas = tuple(sorted({one.cuda.value for one in group if isinstance(one.cuda, Seen)}))
        builders, rows = compilers_for(gpu, cudas, matrix)
        if rows and not builders:
            return False
    return True


RULE = Rule(
    Subjects(
        "environment variable",
        lambda facts: value_or(facts.configuration.shown, ()) or facts.configuration.variables.get(),
    ),
    check,
    blocks_verdict=False,
)
