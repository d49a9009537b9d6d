"""A library that a framework brings, or requires as a wheel, is for another type of machine."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallPackage, Need
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.cuda_libraries import wheels_for
from doctor.rules.shared.cudnn_use import predictions_for, wheel_need
from doctor.rules.shared.dlls import needs_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of, need_linux

_LOOKS_LIKE = (
    "cudart-soname-missing",
    "cudnn-missing",
    "cudnn-sublibrary-missing",
    "needed-library-missing",
    "nvrtc-missing",
    "tf-cannot-dlopen-gpu-libs",
    "wheel-libs-not-on-loader-path",
)


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """The loader passes over such a file; where the right one lies behind it in the search, nothing is wrong."""
    if value_or(facts.system.family, "") == "windows":
        return _of_windows(framework, facts)
    need_linux(facts)
    told = predictions_for(framework, facts)
    if not told:
        raise NotApplicable(f"the libraries that {framework.label} opens are unknown, or it opens none")
    wrong = tuple(one for one in told if one.foreign and _is_meant(one, framework))
    if not wrong:
        for one in told:
            if not one.soname:
                one.path.get()  # the process could not be followed to its end
        return ok(f"no library of {framework.label} is for another type of machine")
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return bad(
        f"{wrong[0].foreign}, which {framework.label} needs, is for another type of machine{more}",
        _need(wrong, framework, facts, matrix),
        evidence=tuple(Evidence(_why(one), file=one.foreign) for one in wrong),
        explains=(
            *(Symptom(code, framework.label) for code in _LOOKS_LIKE),
            *(Symptom("cudnn-install-incomplete", one.label) for one in _copies(wrong, facts)),
            *import_symptoms(framework),
        ),
    )


def _of_windows(framework: Framework, facts: Facts) -> Answer:
    """A DLL of which no copy fits; where one lies elsewhere, it is the search that is to be fixed."""
    wrong = tuple(one for one in needs_of(framework, facts) if one.foreign and not one.found and not one.elsewhere)
    if not wrong:
        return ok(f"no DLL that {framework.label} needs is for another type of machine")
    paths = dict.fromkeys(one.foreign for one in wrong)
    first, more = wrong[0].foreign, f", and {len(paths) - 1} more" if len(paths) > 1 else ""
    own = [one for one in paths if one.startswith(f"{framework.path}/")]
    by_hand = f"Reinstall the package of {first} for this type of machine: 64-bit Windows on x86 is `win_amd64`."
    return bad(
        f"{first}, which {framework.label} needs, is for another type of machine{more}: error 193",
        _anew(framework, facts) if own else Advice(by_hand),
        evidence=tuple(Evidence(f"{one.asker} needs {one.name}", file=one.foreign) for one in wrong),
        explains=(*(Symptom(code, framework.label) for code in _LOOKS_LIKE), *import_symptoms(framework)),
    )


def _anew(framework: Framework, facts: Facts) -> Need:
    release, _, build = framework.version.partition("+")
    python = environment_of(framework, facts).interpreter
    return InstallPackage(framework.package, f"=={release}", python, build, reinstall=not build)


def _is_meant(one: Prediction, framework: Framework) -> bool:
    """Whether it is the framework's own file, or that of a wheel which it requires."""
    own = one.foreign.startswith(f"{framework.path}/")
    return own or (isinstance(one.intended, Seen) and one.intended.value == one.foreign)


def _why(one: Prediction) -> str:
    return one.path.why if isinstance(one.path, Unseen) else ""


def _need(wrong: tuple[Prediction, ...], framework: Framework, facts: Facts, matrix: Matrix) -> Need:
    """The same releases again, which the installer takes for this machine."""
    if any(one.foreign.startswith(f"{framework.path}/") for one in wrong):
        return _anew(framework, facts)
    by_hand = Advice(f"Reinstall the package of {wrong[0].foreign} for this type of machine.")
    owners = (one.owner.partition(" ") for one in _copies(wrong, facts) if one.origin == "wheel" and one.owner)
    cudnn = (wheel_need(name, f"=={version}", framework, facts) for name, _, version in owners)
    return (*cudnn, *wheels_for(wrong, framework, facts, matrix), by_hand)[0]


def _copies(wrong: tuple[Prediction, ...], facts: Facts) -> tuple[CudnnCopy, ...]:
    """The copies of cuDNN whose parts these are."""
    folders = {one.foreign.rpartition("/")[0] for one in wrong}
    return tuple(one for one in value_or(facts.cudnn, ()) if one.path in folders)


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
