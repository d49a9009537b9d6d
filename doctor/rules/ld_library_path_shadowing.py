"""A variable of the loader puts another cuDNN, or an older library of CUDA, before the one that a framework has."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Need
from compat.version import CudnnVersion
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.loader import Prediction
from doctor.facts.seen import Seen, how, value_or
from doctor.finding import Answer, Evidence, Kind, Severity, Symptom, bad, ok
from doctor.judging.builds import import_symptoms, need_own_cuda
from doctor.judging.cuda_libraries import displaced, dotted, is_older, release_of
from doctor.judging.cudnn_use import copy_of, pin_of, predictions, set_in
from doctor.rule import NotApplicable, Rule
from doctor.subjects import INSTALLED_FRAMEWORKS

_LINKED_CLOSELY = ("libcublas", "libnvJitLink", "libcusparse", "libcusolver")  # undefined symbols, and no import
_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PATH")


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the file that is loaded with the one that is intended; the prediction says what decides."""
    need_own_cuda(framework)
    known = [one for one in predictions(framework, facts) if isinstance(one.intended, Seen)]
    good = None
    for one in known:
        variable = _deciding(one)
        if variable and one.path.get() != one.intended.get():
            good = _judge(framework, one, variable, facts)
            if good.kind is not Kind.OK:
                return good
            break
    for one in _older(framework, facts, matrix):
        return _judge_older(framework, one, facts, matrix)
    if not known:
        raise NotApplicable(f"{framework.label} ships and pins no cuDNN of its own, and no variable brings older CUDA")
    return good or ok(f"{known[0].path.get()} is loaded: {known[0].because}")


def _older(framework: Framework, facts: Facts, matrix: Matrix) -> Iterator[Prediction]:
    """CUDA's other libraries: a newer one of the same name works, an older one lacks what was linked against."""
    if value_or(facts.system.family, "") != "linux" or not isinstance(facts.loader.predictions, Seen):
        return
    try:
        found = displaced(framework, facts)
    except NotApplicable:
        return
    yield from (one for one in found if _deciding(one) and is_older(one, facts, matrix))


def _judge_older(framework: Framework, found: Prediction, facts: Facts, matrix: Matrix) -> Answer:
    loaded, own = (dotted(release_of(path.get(), found.soname, facts, matrix)) for path in (found.path, found.intended))
    variable = _deciding(found)
    return bad(
        f"{framework.label} will load {found.soname} {loaded} instead of its own {own}",
        _need(found, variable, facts),
        severity=Severity.ERROR if found.soname.startswith(_LINKED_CLOSELY) else Severity.WARNING,
        evidence=_evidence(framework, found, variable, facts),
        explains=(Symptom("cublas-mismatch", framework.label), *import_symptoms(framework)),
    )


def _deciding(found: Prediction) -> str:
    """The variable by which the file is found, "" where none is named first: RUNPATH and RPATH are not PATH."""
    words = found.because.replace("=", " ").replace(",", " ").split()
    return next((name for name in _VARIABLES if name in words), "")


def _judge(framework: Framework, found: Prediction, variable: str, facts: Facts) -> Answer:
    """Another copy of the very same release does no harm."""
    loaded, own = _release(found.path.get(), facts), _release(found.intended.get(), facts)
    if loaded and own and loaded.agrees_with(own):
        return ok(f"{variable} puts another copy of the same cuDNN {own} first")
    instead = f"instead of its own {own}" if own else "instead of its own"
    return bad(
        f"{framework.label} will load cuDNN {loaded or 'of an unknown release'} {instead}",
        _need(found, variable, facts),
        severity=_severity(loaded, own),
        evidence=_evidence(framework, found, variable, facts),
        explains=(
            Symptom("cudnn-version-mismatch-loaded-vs-compiled", framework.label),
            Symptom("cudnn-wrong-major", framework.label),
            Symptom("cudnn-copies-conflict"),
        ),
    )


def _release(path: str, facts: Facts) -> CudnnVersion | None:
    copy = copy_of(path, facts)
    version = value_or(copy.version, None) if copy else None
    return version.release if version else None


def _severity(loaded: CudnnVersion | None, own: CudnnVersion | None) -> Severity:
    """A newer minor release of the same major works; an older one is refused."""
    if loaded and own and (loaded.major != own.major or loaded < own):
        return Severity.ERROR
    return Severity.WARNING


def _directory(found: Prediction, variable: str, facts: Facts) -> str:
    """The entry of the variable that leads to the file, as it is written there."""
    folder = posixpath.dirname(found.path.get())
    separator = ";" if value_or(facts.system.family, "") == "windows" else ":"
    value = next((one.value for one in value_or(facts.configuration.variables, ()) if one.name == variable), "")
    entries = [one for one in value.split(separator) if one]
    exact = [one for one in entries if one.rstrip("/\\").replace("\\", "/") == folder]
    named = sorted((one for one in entries if one in found.because), key=len)
    return exact[0] if exact else named[-1] if named else folder


def _need(found: Prediction, variable: str, facts: Facts) -> Need:
    place = set_in(variable, facts)
    if variable == "LD_PRELOAD":
        return Need("variable", "", place, variable)
    return Need("variable", f"without {_directory(found, variable, facts)}", place, variable)


def _evidence(framework: Framework, found: Prediction, variable: str, facts: Facts) -> tuple[Evidence, ...]:
    pin = "".join(pin_of(framework)) if "cudnn" in found.soname.lower() else ""
    place = set_in(variable, facts)
    pinned = f", pinned by {pin}," if pin else ""
    return (
        Evidence(how(framework.requires) or framework.path, f"its own{pinned} is {found.intended.get()}"),
        Evidence(f"the loader, asked for {found.soname}", f"will load {found.path.get()}"),
        Evidence(f"{variable}, set in {place}" if place else variable, found.because),
    )


RULE = Rule("A loader variable puts another cuDNN or CUDA library first", INSTALLED_FRAMEWORKS, check, matters=False)
