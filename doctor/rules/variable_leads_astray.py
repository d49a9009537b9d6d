"""An environment variable names a file that is not there or cannot be used, or has a value that is not known."""

from __future__ import annotations

import re

from compat.build import serves
from compat.matrix import Matrix
from compat.need import Need
from compat.version import CodeTarget
from doctor.check.finding import Answer, Evidence, Severity, bad, ok
from doctor.facts import Facts
from doctor.facts.environment import Variable
from doctor.facts.seen import Seen, value_or
from doctor.rules.shared.rule import NotApplicable, Rule, Subjects

# What comes of it, by the beginning of the variable's name; the sources stand in the rule's page.
_THEN = {
    "CU": "a build or a search that follows it fails, or takes another one",
    "LD_": "the loader ignores it, with a line on the error stream of every program",
    "NCCL_": "NCCL goes on without it, slower or in another way than meant",
    "NUMBA_": "Numba ends with an error",
    "NVCC_": "nvcc ends with an error",
    "PYTORCH_": "building an extension fails",
    "TRITON_": "Triton takes its own instead",
}
_VALUES = {"CUDA_DEVICE_ORDER": ("FASTEST_FIRST", "PCI_BUS_ID"), "CUDA_MODULE_LOADING": ("DEFAULT", "EAGER", "LAZY")}
_ARCHES = "TORCH_CUDA_ARCH_LIST"
_ARCH = r"(\d{1,2})\.(\d)([af]?)(\+PTX)?"


def check(setting: Variable, facts: Facts, matrix: Matrix) -> Answer:
    """Follow it as its program does; empty is as good as not set."""
    if not setting.value.strip():
        raise NotApplicable(f"{setting.name} is empty")
    if setting.name in _VALUES:
        return _of_value(setting, facts)
    if setting.name == _ARCHES:
        return _of_arches(setting, facts)
    named = [one for one in facts.configuration.named.get() if one.variable == setting.name]
    if not named:
        raise NotApplicable(f"{setting.name} names no file by its path")
    wrong = [one for one in named if one.problem]
    if not wrong:
        return ok(f"what {setting.name} names is there")
    then = next((text for start, text in _THEN.items() if setting.name.startswith(start)), "")
    return _bad(
        setting,
        f"{setting.name} names {wrong[0].path}, which {wrong[0].problem}{f': {then}' if then else ''}",
        f"={wrong[0].left}" if wrong[0].left else "",
    )


def _bad(setting: Variable, why: str, wanted: str) -> Answer:
    return bad(
        why,
        Need("variable", wanted, setting.set_in, setting.name),
        severity=Severity.WARNING,
        evidence=(Evidence.at(setting.set_at, f"{setting.name}={setting.value}", setting.set_in or "environment"),),
    )


def _of_value(setting: Variable, facts: Facts) -> Answer:
    known, said = _VALUES[setting.name], setting.value.strip().upper()
    if said in known:
        return ok(f"{setting.name}={setting.value} is known to CUDA")
    if setting.name == "CUDA_DEVICE_ORDER" and len(facts.gpus.get()) < 2:
        return ok("one GPU has one order")
    near = next((one for one in known if one.startswith(said[:3])), "")
    return _bad(
        setting,
        f"CUDA does not know {setting.name}={setting.value}, and ignores it: it knows {', '.join(known)}",
        f"={near}" if near else "",
    )


def _of_arches(setting: Variable, facts: Facts) -> Answer:
    """What is built from now on must run on the cards here; a generation's name is left to torch."""
    entries = [one for one in re.split(r"[;,\s]+", setting.value.strip()) if one]
    found = [re.fullmatch(_ARCH, one) for one in entries]
    if not all(found):
        raise NotApplicable(f"{_ARCHES}={setting.value} is not a list of numbers")
    targets = [
        CodeTarget.parse(f"{kind}_{one[1]}{one[2]}{one[3]}")
        for one in found
        if one
        for kind in (("sm", "compute") if one[4] else ("sm",))
    ]
    for gpu in facts.gpus.get():
        if isinstance(gpu.capability, Seen) and not serves(tuple(targets), gpu.capability.value):
            why = f"extensions are built for {_ARCHES}={setting.value}: no code for {gpu.label}, which is "
            return _bad(setting, f"{why}{gpu.capability.value}", "")
    if not value_or(facts.gpus, ()):
        raise NotApplicable("no GPU answers, so what must be built for is not known")
    return ok(f"{_ARCHES} has code for every GPU here")


RULE = Rule(
    Subjects(
        "environment variable",
        lambda facts: value_or(facts.configuration.shown, ()) or facts.configuration.variables.get(),
    ),
    check,
    matters=False,
)
