"""A plan installs a framework whose CUDA libraries it does not bring, and its base image lacks."""

from __future__ import annotations

import re

from compat.matrix import Matrix, Uncovered
from compat.need import Advice
from compat.overlap import overlap
from compat.row import FrameworkRow
from compat.traits import traits_of
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok, unknown
from doctor.rules.shared.builds import build_row, finds_wheels, preload
from doctor.rules.shared.image import dockerfile_of, from_line
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, environment_of

_FOR_GPUS = re.compile(r".+-gpu|cupy-cuda\d+x?|mxnet-cu\d+")
_FOR_BOTH = frozenset({"tensorflow", "ctranslate2"})  # on an image of CUDA's they are meant for its GPU
_WITH_CUDNN = re.compile(r"-cudnn(\d*)(?:-|$)|-tensorrt")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Each framework that is pinned; a line that names CUDA may bring its libraries, and leaves it to the image."""
    told = dockerfile_of(facts)
    rows = [*_of_system(facts, matrix)]
    if not told.base.image:
        return _locked(rows, facts)
    toolkits = facts.toolkit.toolkits
    if isinstance(toolkits, Seen) and not toolkits.value:  # tensorflow there may be meant for the CPU
        rows = [(one, row) for one, row in rows if _FOR_GPUS.fullmatch(one.package)]
    if not rows:
        raise NotApplicable("no pinned framework uses the system's CUDA libraries")
    if told.may_bring:
        line = told.may_bring[0]
        return unknown(f"{line.source} {line.what}, which may install CUDA libraries")._replace(blocks_verdict=False)
    wheels = [one for one in _beside(rows, facts) if one.package == "torch"]
    if wheels:
        return unknown(f"{wheels[0].label} beside it may bring the CUDA libraries")._replace(blocks_verdict=False)
    if not isinstance(toolkits, Seen):
        return unknown(f"the content of {told.base.image} is unknown")._replace(blocks_verdict=False)
    for framework, row in rows:
        if why := _by_wheels(framework, facts):
            return unknown(why)._replace(blocks_verdict=False)
        lacks = _lacking(told.base, row) if toolkits.value else f"CUDA {_major(row.cuda)}"
        if lacks:
            return _bad(framework, row, told.base, lacks, matrix)
    return ok(f"{told.base.image} has the libraries that {rows[0][0].label} needs")


def _beside(rows: list[tuple[Framework, FrameworkRow]], facts: Facts) -> tuple[Framework, ...]:
    """What the plan installs into the same environments."""
    names = {one.environment for one, _ in rows}
    found = (one for one in value_or(facts.environments, ()) if one.prefix in names)
    return tuple(one for each in found for one in value_or(each.frameworks, ()))


def _locked(rows: list[tuple[Framework, FrameworkRow]], facts: Facts) -> Answer:
    """A lock file shows no system: only what has an extra with the libraries may have been meant to bring them."""
    bare = [(one, row) for one, row in rows if _extra_of(one)]
    if not bare or "gpus" not in facts.assumed:
        raise NotApplicable("every locked framework brings its CUDA libraries, or uses those of the system")
    framework, row = bare[0]
    wanted = _wanted(row)
    return bad(
        f"{framework.label} is locked without its CUDA libraries: it uses no GPU unless the system has {wanted}",
        Advice(f"in the project write {_extra_of(framework)}, then lock it again"),
        severity=Severity.WARNING,
        evidence=(Evidence.at(framework.pinned_at, f"{framework.label} needs {wanted}"),),
    )


def _of_system(facts: Facts, matrix: Matrix) -> list[tuple[Framework, FrameworkRow]]:
    found = []
    for environment in value_or(facts.environments, ()):
        there = {one.package for one in value_or(environment.frameworks, ())}
        for one in value_or(environment.frameworks, ()):
            if one.package == "ctranslate2" and "torch" in there:
                continue  # a program that imports torch first has the cuBLAS and cuDNN of torch's wheels
            try:
                row = build_row(one, facts, matrix)
            except Uncovered:
                continue
            is_bare = one.pinned_at is not None and _extra_of(one) and not one.extras and not _has_wheels(environment)
            if (row.libraries == "system" or is_bare) and (
                _FOR_GPUS.fullmatch(row.package) or row.package in _FOR_BOTH
            ):
                found.append((one, row))
    return found


def _by_wheels(framework: Framework, facts: Facts) -> str:
    """Why NVIDIA's wheels beside it may serve a framework; "" if it does not find them, or if there are none."""
    there = value_or(environment_of(framework, facts).distributions, ())
    wheels = [one for one in there if one.name.startswith("nvidia-")]
    finds = finds_wheels(framework) or preload(framework)
    variables = {one.name for one in value_or(facts.configuration.variables, ())}
    if not wheels or not (finds or "LD_LIBRARY_PATH" in variables):
        return ""
    return f"{framework.label} may find its CUDA libraries in NVIDIA's wheels, such as {wheels[0].name}"


def _has_wheels(environment: Environment) -> bool:
    """Whether the plan has NVIDIA's wheel of cuDNN, as a lock file lists it for an extra."""
    return any(one.name.startswith("nvidia-cudnn-cu") for one in value_or(environment.distributions, ()))


def _extra_of(framework: Framework) -> str:
    """The requirement with the extra that brings its libraries, "tensorflow[and-cuda]"; "" if it has none."""
    asked = traits_of(framework.package).asked_as.get(framework.package, "")
    has_wheels = any("extra" in one for one in value_or(framework.requires, ()))
    return asked if "[" in asked and has_wheels else ""


def _lacking(base: DockerfileBase, row: FrameworkRow) -> str:
    """What of it an image of nvidia/cuda has not, "" for nothing."""
    if overlap((row.cuda or "", f"=={base.release.partition('.')[0]}.*")) == "no":
        return f"CUDA {_major(row.cuda)}"
    if base.variant == "base":
        return "cuBLAS and the libraries beside it"
    if row.package.startswith("cupy") or not row.cudnn_accepts:
        return ""
    found = _WITH_CUDNN.search(base.image)
    major = _major(row.cudnn_accepts)
    return "" if found and found[1] in {None, "", major} else f"cuDNN {major}"


def _major(versions: str | None) -> str:
    found = re.search(r"\d+", versions or "")
    return found[0] if found else ""


def _instead(base: DockerfileBase, row: FrameworkRow, wanted: str, matrix: Matrix) -> str:
    """The image of NVIDIA's for the same system that this rule would pass, the same release of CUDA first."""
    images = sorted(matrix.rows("index", "images"), key=lambda one: one.release != base.release)
    for one in images if base.system else ():
        from doctor.script.base import base_of  # late: only a Dockerfile has a base image

        known = base_of(one.image, base.source).told
        if known.system == base.system and not _lacking(known, row):
            return f"instead of {base.source}, because that image has {wanted}: {from_line(base, one.image)}"
    return f"{base.source}: use a runtime image of nvidia/cuda with {wanted}."


def _with_extra(framework: Framework) -> str:
    asked = _extra_of(framework)
    return f"{framework.pinned_at}: write {asked}=={framework.version.partition('+')[0]}" if asked else ""


def _wanted(row: FrameworkRow) -> str:
    return f"CUDA {_major(row.cuda)}" + (f" and cuDNN {_major(row.cudnn_accepts)}" if row.cudnn_accepts else "")


def _bad(framework: Framework, row: FrameworkRow, base: DockerfileBase, lacks: str, matrix: Matrix) -> Answer:
    source, wanted = framework.pinned_at, _wanted(row)
    return bad(
        (
            f"{source} installs {framework.label}, which needs the system's "
            f"CUDA libraries, but {base.image} has no {lacks}"
        ),
        Advice(_with_extra(framework) or _instead(base, row, wanted, matrix)),
        evidence=(
            Evidence.at(source, f"{framework.label} needs {wanted}"),
            Evidence.at(base.source, f"FROM {base.image}" + (f": the {base.variant} variant" if base.variant else "")),
            Evidence("it uses the system's libraries", label=f"matrix, {row.id}"),
        ),
        explains=(Symptom("framework-wants-other-cuda", framework.label),),
    )


RULE = Rule(MACHINE, check)
