"""Several builds of CuPy in one environment overwrite each other."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import ChangePackages
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import installed, overwritten_among
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_SYMPTOMS = ("cudart-soname-missing", "nvrtc-missing", "wheel-libs-not-on-loader-path")


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """At most one distribution may own the import package `cupy` (cupy/_environment.py warns of more)."""
    found = [one for one in installed(environment) if re.fullmatch(r"cupy(-cuda\w+|-rocm-?\w*)?", one.name)]
    if not found:
        raise NotApplicable("no CuPy is installed")
    if len(found) == 1:
        return ok(f"only {found[0].name} is installed")
    keep = max(found, key=lambda one: (*_rank(one, facts), one.name))
    others = [one for one in found if one is not keep]
    names = ", ".join(one.name for one in found)
    return bad(
        f"{names} are installed together: they own the same files, so the import is a mixture",
        ChangePackages((f"{keep.name}=={keep.version}",), environment.interpreter, tuple(one.name for one in others)),
        evidence=tuple(Evidence.at(one.place, f"{one.name} {one.version}") for one in found),
        explains=(
            *overwritten_among(environment, [one.name for one in found]),
            *(Symptom("framework-wants-other-cuda", f"{one.name} {one.version}") for one in others),
            *(Symptom("companion-version-mismatch", f"{one.name} {one.version}") for one in others),
            *(Symptom(code, f"{one.name} {one.version}") for one in found for code in _SYMPTOMS),
        ),
    )


def _cudas_here(facts: Facts) -> frozenset[int]:
    """The majors of the toolkits."""
    toolkits = value_or(facts.toolkit.toolkits, ())
    return frozenset(one.cuda.value.major for one in toolkits if isinstance(one.cuda, Seen))


def _rank(one: Distribution, facts: Facts) -> tuple[bool, bool, int]:
    """Keep what the driver runs, of that what has a toolkit of its CUDA, and of that the newest."""
    match = re.search(r"cuda(\d+)", one.name)
    digits = match[1] if match else "0"
    major = int(digits if one.name.endswith("x") else digits[:-1] or "0")  # cupy-cuda12x, cupy-cuda102
    runs = not isinstance(facts.driver.cuda, Seen) or major <= facts.driver.cuda.value.major
    return runs and major > 0, major in _cudas_here(facts), major


RULE = Rule(ENVIRONMENTS, check)
