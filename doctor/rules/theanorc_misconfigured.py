"""Theano's settings stop it, keep it on the CPU, or do not say what they seem to say.

Sources: theano/configparser.py and theano/configdefaults.py at the tags rel-0.8.2, rel-0.9.0 and rel-1.0.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework, Setting
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule, Subjects
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of
from doctor.rules.shared.theano import can_be_set, setting_need

_GPU_DEVICES = ("gpu", "cuda", "opencl")
_GLOBAL_OPTIONS = {"device", "floatX", "force_device", "optimizer_including", "optimizer", "mode"}
_PATHS = ("cuda.", "dnn.")
_PERCENT = 100


class _Wanted(NamedTuple):
    """A setting as it should be."""

    section: str
    name: str
    value: str


class _Fault(NamedTuple):
    """One thing wrong with the settings."""

    severity: Severity
    setting: Setting
    why: str
    remedy: str
    wanted: _Wanted | None = None  # the setting that fixes it, where it is one


def _theanos(facts: Facts) -> Iterator[Framework]:
    return (one for one in FRAMEWORKS.of(facts) if one.package.startswith("theano"))


def check(theano: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Judge how the settings are written, then what the ones that win mean together."""
    settings = [one for one in facts.configuration.settings.get() if one.program == "theano"]
    if not settings:
        raise NotApplicable("Theano has no settings: it uses the CPU")
    in_force = {one.name: one for one in settings if one.value or not one.problem}
    faults = [
        *_written(settings, environment_of(theano, facts)),
        *_misplaced(settings),
        *_device(in_force, theano, matrix),
        *_precision(in_force, theano, matrix),
        *_memory(in_force, theano, matrix),
        *_compiler(in_force, theano, matrix),
        *_paths(in_force),
    ]
    if not faults:
        return ok("Theano's settings are well formed and agree")
    faults.sort(key=lambda one: one.severity.rank)
    return bad(
        faults[0].why,
        *_needs(faults[0], facts),
        severity=faults[0].severity,
        evidence=tuple(
            Evidence.at(one.setting.at, f"{_shown(one.setting)}: {one.why}", one.setting.source) for one in faults
        ),
    )


def _needs(fault: _Fault, facts: Facts) -> Iterator[Need]:
    """The edit of that file, or of the variable; what a person must decide as text."""
    if fault.wanted and can_be_set(facts):
        yield setting_need(fault.setting, *fault.wanted, facts)
    else:
        yield Advice(fault.remedy)


def _shown(setting: Setting) -> str:
    return f"{setting.name} = {setting.value}" if setting.value else setting.name


def _written(settings: list[Setting], environment: Environment) -> Iterator[_Fault]:
    """What ConfigParser refuses: Python 3's also refuses what is there twice, Python 2's lets the last one win."""
    python = value_or(environment.python, "")
    for one in settings:
        if not one.problem or one.name.startswith((*_PATHS, "global.")):
            continue
        twice = "twice" in one.problem
        stops = one.at is not None and (not twice or (python != "" and not python.startswith("2.")))
        yield _Fault(
            Severity.ERROR if stops else Severity.WARNING,
            one,
            f"{one.name} {one.problem}" + (": import theano stops there" if stops else ""),
            f"correct {one.source}: {one.name} {one.problem}",
        )


def _misplaced(settings: list[Setting]) -> Iterator[_Fault]:
    """Options under a section where Theano does not look for them."""
    for one in settings:
        section, _, name = one.name.rpartition(".")
        if section.startswith("global") and one.problem:
            yield _Fault(Severity.WARNING, one, f"{name} {one.problem}", f"in {one.source}: {name} {one.problem}")
        elif section and name in _GLOBAL_OPTIONS:
            why = f"{name} is under [{section}], where it is ignored: it belongs under [global]"
            yield _Fault(Severity.WARNING, one, why, f"move {name} ({one.source}) under [global]")


def _device(in_force: Mapping[str, Setting], theano: Framework, matrix: Matrix) -> Iterator[_Fault]:
    device = in_force.get("device")
    if not device:
        return
    if device.value != "cpu" and not device.value.startswith(_GPU_DEVICES):
        why = (
            f"device = {device.value} is not a device: Theano stops; it must "
            "be cpu, gpu*, cuda* or opencl*, in lower case"
        )
        fixed = device.value.lower()
        known = fixed == "cpu" or fixed.startswith(_GPU_DEVICES)
        wanted = _Wanted("global", "device", fixed) if known else None
        yield _Fault(Severity.ERROR, device, why, f"set device = cuda or device = gpu ({device.source})", wanted=wanted)
    elif device.value.startswith("gpu") and not _has_old_back_end(theano, matrix):
        why = f"{theano.label} no longer has the GPU back end of device = {device.value}: it stops"
        named = device.value.replace("gpu", "cuda", 1)
        yield _Fault(Severity.ERROR, device, why, f"set device = {named} ({device.source}), and install pygpu")


_SINGLE = _Wanted("global", "floatX", "float32")


def _has_old_back_end(theano: Framework, matrix: Matrix) -> bool:
    """Whether device = gpu means anything to this release; raises Uncovered."""
    rows = matrix.framework_rows("theano", theano.version.partition("+")[0])
    if not rows:
        raise Uncovered(f"theano {theano.version}")
    return all(row.build != "gpuarray" for row in rows)


def _precision(in_force: Mapping[str, Setting], theano: Framework, matrix: Matrix) -> Iterator[_Fault]:
    """The old back end holds float32 only, and floatX is float64 where nothing else is shown."""
    device, precision = in_force.get("device"), in_force.get("floatX")
    value = precision.value if precision else "float64"
    if precision and not value.endswith(("16", "32", "64")):
        why = f"floatX = {value} is not a precision: Theano stops; it must be float32, float64 or float16"
        yield _Fault(Severity.ERROR, precision, why, f"set floatX = float32 ({precision.source})", wanted=_SINGLE)
    elif device and device.value.startswith("gpu") and value.endswith("64") and _has_old_back_end(theano, matrix):
        said = f"floatX = {value}" if precision else "floatX is not set, so it is float64"
        why = f"device = {device.value} supports only float32; {said}, so everything runs on the CPU"
        remedy = f"set floatX = float32 under [global] ({device.source})"
        yield _Fault(Severity.ERROR, precision or device, why, remedy, wanted=_SINGLE)


def _memory(in_force: Mapping[str, Setting], theano: Framework, matrix: Matrix) -> Iterator[_Fault]:
    """Either pool is up to 1 a share of the memory, above 1 a number of MB; below 0 gpuarray keeps nothing freed."""
    old, new, device = (in_force.get(name) for name in ("lib.cnmem", "gpuarray.preallocate", "device"))
    faults = list(_pool(old, "lib", least=0.0)) if old and _has_old_back_end(theano, matrix) else []
    yield from faults
    if old and not faults and _number(old) > 0 and device and device.value.startswith("cuda"):
        why = f"lib.cnmem belongs to the old GPU back end and has no effect with device = {device.value}"
        remedy = f"set preallocate = {old.value} under [gpuarray] instead ({old.source})"
        yield _Fault(Severity.INFO, old, why, remedy)
    if new:
        yield from _pool(new, "gpuarray", least=-math.inf)


def _number(setting: Setting) -> float:
    try:
        return float(setting.value)
    except ValueError:
        return math.nan


def _pool(pool: Setting, section: str, least: float) -> Iterator[_Fault]:
    size, option = _number(pool), pool.name.rpartition(".")[2]
    if not size >= least:
        why = f"{pool.name} = {pool.value} is not a share of the memory: Theano stops"
        yield _Fault(
            Severity.ERROR, pool, why, f"set {option} to a number from 0 to 1 under [{section}] ({pool.source})"
        )
    elif 1 < size <= _PERCENT:
        why = f"{pool.name} = {pool.value} means {pool.value} MB, not {pool.value} percent"
        remedy = f"set {option} = {size / 100:g} under [{section}] ({pool.source})"
        yield _Fault(Severity.WARNING, pool, why, remedy, wanted=_Wanted(section, option, f"{size / 100:g}"))


def _compiler(in_force: Mapping[str, Setting], theano: Framework, matrix: Matrix) -> Iterator[_Fault]:
    """Words for nvcc begin with "-", or Theano stops: filter_nvcc_flags. From 0.10 on nobody reads them."""
    flags = in_force.get("nvcc.flags")
    if not flags or not _has_old_back_end(theano, matrix):
        return
    for word in flags.value.split():
        if not word.startswith("-"):
            why = f"nvcc.flags holds {word!r}, which does not begin with '-': import theano stops there"
            remedy = f"write option and value as one word, -arch=sm_30, or remove {word!r} ({flags.source})"
            yield _Fault(Severity.ERROR, flags, why, remedy)
            return


def _paths(in_force: Mapping[str, Setting]) -> Iterator[_Fault]:
    """Directories of CUDA and cuDNN, where the GPU is asked for."""
    device, enabled = in_force.get("device"), in_force.get("dnn.enabled")
    if not device or not device.value.startswith(_GPU_DEVICES):
        return
    for name, one in in_force.items():
        without = enabled and enabled.value == "False" and name.startswith("dnn.")
        if one.problem and name.startswith(_PATHS) and not without:
            why = f"{name} = {one.value} {one.problem}"
            yield _Fault(Severity.WARNING, one, why, f"set {name} to the right directory, or remove it ({one.source})")


RULE = Rule(Subjects("Theano installation", _theanos), check)
