"""CUDA's own libraries (cuBLAS, the runtime, NVRTC ...) as a framework's process would load them."""

from __future__ import annotations

import re

from compat.matrix import Matrix, Uncovered
from compat.need import Need
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.loader import Prediction
from doctor.facts.seen import Seen, value_or
from doctor.judging.builds import distribution_of, installed, need_own_cuda
from doctor.judging.cudnn_use import set_in
from doctor.rule import NotApplicable
from doctor.subjects import environment_of, need_gpu, need_linux

_PATH = "LD_LIBRARY_PATH"


def predicted(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """What the loader does for each of CUDA's libraries but cuDNN.

    Raises NotApplicable where the framework asks for none, UnseenError.
    """
    need_linux(facts)
    need_own_cuda(framework)
    found = tuple(
        one
        for one in facts.loader.predictions.get()
        if (one.environment, one.asker) == (framework.environment, framework.package) and "cudnn" not in one.soname
    )
    if not found:
        raise NotApplicable(f"{framework.label} is not known to ask for CUDA's libraries by name")
    return found


def need_use(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable for a framework that runs on the CPU all the same on a live machine without a card."""
    if framework.package != "torch" and facts.machine.kind == "live":
        need_gpu(facts)


def not_found(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Those of which the whole search was walked in vain; raises NotApplicable, UnseenError."""
    found = predicted(framework, facts)
    missing = tuple(one for one in found if one.missing)
    if not missing:
        for one in found:
            one.path.get()  # what could not be told must be said
    return missing


def displaced(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Those for which another file is loaded than the framework ships or requires; raises NotApplicable."""
    return tuple(
        one
        for one in predicted(framework, facts)
        if isinstance(one.path, Seen) and isinstance(one.intended, Seen) and one.path.value != one.intended.value
    )


def release_of(path: str, soname: str, facts: Facts, matrix: Matrix) -> tuple[int, ...]:
    """The release of a library, from its file's name, else from the wheel that brings it; () where neither tells."""
    stem, _, number = path.rpartition("/")[2].partition(".so.")
    if stem == soname.partition(".so.")[0] and re.fullmatch(r"\d+(?:\.\d+){2,3}", number):
        return tuple(map(int, number.split(".")))
    try:
        wheel = matrix.library_named(soname).wheel
    except Uncovered:
        return ()
    for environment in value_or(facts.environments, ()):
        for one in installed(environment):
            digits = one.version.split(".")
            if one.name == wheel and path.startswith(f"{one.site}/") and all(part.isdigit() for part in digits):
                return tuple(map(int, digits))
    return ()


def is_older(one: Prediction, facts: Facts, matrix: Matrix) -> bool:
    """Whether the file that is loaded is known to be of an older release than the one that is meant."""
    loaded = release_of(one.path.get(), one.soname, facts, matrix)
    own = release_of(one.intended.get(), one.soname, facts, matrix)
    return bool(loaded and own and loaded < own)


def dotted(release: tuple[int, ...]) -> str:
    """As it is written; "of an unknown release" for ()."""
    return ".".join(map(str, release)) or "of an unknown release"


def is_wheel(framework: Framework, facts: Facts) -> bool:
    """Whether a framework was installed by pip, not by conda."""
    found = distribution_of(framework, facts)
    return found is not None and found.kind == "wheel"


def wheels_for(missing: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """The need for the wheels that bring these libraries; () where the matrix does not name all."""
    names = []
    for one in missing:
        try:
            names.append(matrix.library_named(one.soname).wheel)
        except Uncovered:
            return ()
    python = environment_of(framework, facts).interpreter
    return (Need("wheels", " ".join(dict.fromkeys(names)), python),)


def with_directories(directories: tuple[str, ...], facts: Facts) -> Need:
    """The need to have directories first in LD_LIBRARY_PATH, what is in it kept."""
    said = next((one.value for one in value_or(facts.configuration.variables, ()) if one.name == _PATH), "")
    value = ":".join((*directories, *([said] if said else [])))
    return Need("variable", f"={value}", set_in(_PATH, facts), _PATH)


def names_of(missing: tuple[Prediction, ...]) -> str:
    """For a sentence: "libcudart.so.12 and 3 more"."""
    names = [one.soname for one in missing]
    return (
        names[0]
        if len(names) == 1
        else " and ".join(names)
        if len(names) == 2
        else f"{names[0]} and {len(names) - 1} more"
    )
