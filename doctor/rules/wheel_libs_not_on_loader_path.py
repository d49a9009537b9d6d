"""A library is in a wheel of the environment, and the framework that asks for it by name does not look there."""

from __future__ import annotations

import posixpath

from compat.matrix import Matrix
from compat.need import Advice, Need
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms, preload
from doctor.rules.shared.cuda_libraries import names_of, need_use, not_found, with_directories
from doctor.rules.shared.cudnn_use import is_main, predictions_for
from doctor.rules.shared.nvidia_wheels import pins_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Of the names that the loader does not find, those of which a wheel has the file.

    What a library asks for that a variable brings in the place of the wheel's is not to be found for it: that library
    is to be kept out (ld-library-path-shadowing).
    """
    need_use(framework, facts)
    strays = {one.soname for one in predictions_for(framework, facts) if one.variable and not one.is_as_intended}
    missing = tuple(
        one
        for one in not_found(framework, facts, cudnn=True)
        if isinstance(one.intended, Seen) and posixpath.basename(one.library) not in strays
    )
    if not missing:
        return ok(f"no wheel has a library that {framework.label} does not find")
    files = tuple(one.intended.get() for one in missing)
    of_cudnn = _of_cudnn(framework, facts, matrix)
    folders = tuple(sorted({posixpath.dirname(path) for path in files}))
    other = _opens_them(missing, framework, facts)
    calls = preload(framework) or _import_before(other, framework)
    unless = f", unless {other} is imported first" if other else ""
    return bad(
        f"{framework.label} does not find {names_of(missing)}, which is in {folders[0]}{unless}",
        *calls,
        with_directories(tuple(dict.fromkeys((*folders, *of_cudnn))), facts),
        severity=Severity.INFO if calls else _severity(framework),
        evidence=tuple(
            Evidence(one.path.why if isinstance(one.path, Unseen) else "", file=path)
            for path, one in zip(files, missing, strict=True)
        ),
        explains=(
            Symptom("tf-cannot-dlopen-gpu-libs", framework.label),
            Symptom("nvrtc-missing", framework.label),
            *import_symptoms(framework),
        ),
    )


def _of_cudnn(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """The directory of its wheel of cuDNN, which it opens once the rest is found, where nothing told of that yet."""
    asks = any(one.name.startswith("nvidia-cudnn") for one in pins_of(framework, facts, matrix))
    if not asks or any(is_main(one.soname) for one in predictions_for(framework, facts)):
        return ()
    copies = value_or(facts.cudnn, ())
    return tuple(one.path for one in copies if one.environment == framework.environment and one.origin == "wheel")


def _severity(framework: Framework) -> Severity:
    """Where a call of the program opens them, it may have imported torch before, which has them open."""
    return Severity.WARNING if traits_of(framework.package).opens == "call" else Severity.ERROR


def _opens_them(missing: tuple[Prediction, ...], framework: Framework, facts: Facts) -> str:
    """What opens these libraries when it is imported, so that their names are found from then on; "" for nothing.

    Not the parts of cuDNN: an import opens its main library alone.
    """
    names = {one.soname for one in missing}
    if traits_of(framework.package).opens != "call" or any("cudnn" in name for name in names):
        return ""
    beside = value_or(environment_of(framework, facts).frameworks, ())
    early = (one for one in beside if traits_of(one.package).opens == "import")
    return next((one.package for one in early if names <= _found(one, facts)), "")


def _import_before(other: str, framework: Framework) -> tuple[Need, ...]:
    return (Advice(f"In the program, import {other} before {framework.package}."),) if other else ()


def _found(framework: Framework, facts: Facts) -> set[str]:
    return {one.soname for one in predictions_for(framework, facts) if isinstance(one.path, Seen)}


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
