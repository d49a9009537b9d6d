"""The machine is not as the policy wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compat.load import is_framework
from compat.matrix import Matrix
from compat.need import Advice, InstallDriver, InstallPackage, InstallToolkit, Need
from compat.spec import normal
from compat.specifier import accepts
from compat.version import CudnnVersion, VersionError
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.policy import Requirement
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.conditions import on_host
from doctor.rules.shared.rule import Rule, Subjects

REQUIREMENTS: Subjects[Requirement] = Subjects("requirement of a policy", lambda facts: facts.policy.requirements)
_GIB = 1 << 30
_OTHER_CARDS = {"ti", "super", "d", "laptop", "mobile", "max", "with"}  # after a card's name: "with Max-Q Design"


def check(requirement: Requirement, facts: Facts, matrix: Matrix) -> Answer:
    """One key of [require]; what could not be seen raises, and is UNKNOWN: a policy is met only by what was seen."""
    of_framework = requirement.key.startswith("require.frameworks.")
    wrong = _framework(requirement, facts) if of_framework else _JUDGES[requirement.name](requirement, facts)
    if not wrong:
        return ok(f"{requirement.name}: {_wanted(requirement)} is met")
    return bad(
        f"{requirement.key} requires {_wanted(requirement)}; {wrong}",
        *(_framework_needs(requirement, facts, matrix) if of_framework else _machine_needs(requirement, facts)),
        Advice(f"Change {requirement.name} to {_wanted(requirement)}, or change {requirement.source}."),
        evidence=(Evidence.at(requirement.source, f"{requirement.key}: {_wanted(requirement)}"),),
    )


def _wanted(requirement: Requirement) -> str:
    parts = (requirement.wanted.replace("|", " or "), f"build {requirement.build}" if requirement.build else "")
    return ", ".join(filter(None, parts)) or "any version"


def _driver(requirement: Requirement, facts: Facts) -> str:
    release = facts.driver.release.get()
    return "" if accepts(requirement.wanted, release) else f"the driver is {release}"


def _gpu(requirement: Requirement, facts: Facts) -> str:
    """Each card by whole words of its name, or by a pattern."""
    parts = requirement.wanted.lower().split("|")
    names = [gpu.name.get() for gpu in facts.gpus.get()]
    others = [one for one in names if not any(_is_called(one.lower(), part) for part in parts)]
    return f"found: {', '.join(dict.fromkeys(others))}" if others else "" if names else "no GPU was found"


def _is_called(name: str, part: str) -> bool:
    """An RTX 4070 is no RTX 4070 Ti, and an A100 no RTX A1000."""
    from fnmatch import fnmatchcase  # late: only with a policy; in time that does not grow with the stars

    if "*" in part:
        return fnmatchcase(name, part.replace("[", "[[]").replace("?", "[?]"))
    words, wanted = _words(name), _words(part)
    ends = [at + len(wanted) for at in range(len(words)) if wanted and words[at : at + len(wanted)] == wanted]
    return any(_OTHER_CARDS.isdisjoint(words[end : end + 1]) for end in ends)


def _words(text: str) -> list[str]:
    return "".join(one if one.isalnum() else " " for one in text).split()


def _gpu_count(requirement: Requirement, facts: Facts) -> str:
    count = len(facts.gpus.get())
    return "" if accepts(requirement.wanted, count) else f"there {'is' if count == 1 else 'are'} {count}"


def _gpu_memory(requirement: Requirement, facts: Facts) -> str:
    """Rounded to GiB: a card of 24 GiB says 23.99."""
    sizes = [round(gpu.memory_bytes.get() / _GIB) for gpu in facts.gpus.get()]
    others = [size for size in sizes if not accepts(requirement.wanted, size)]
    return f"a GPU has {others[0]} GiB" if others else "" if sizes else "no GPU was found"


def _capability(requirement: Requirement, facts: Facts) -> str:
    found = [gpu.capability.get() for gpu in facts.gpus.get()]
    others = [one for one in found if not accepts(requirement.wanted, one)]
    return f"a GPU has {others[0]}" if others else "" if found else "no GPU was found"


def _cuda(requirement: Requirement, facts: Facts) -> str:
    """One toolkit that is there is enough; UNKNOWN where none fits and the release of one was not seen."""
    toolkits = facts.toolkit.toolkits.get()
    known = [[str(value_or(one.release, str(one.cuda.value)))] for one in toolkits if isinstance(one.cuda, Seen)]
    return _one_of(requirement, known, "toolkit", len(toolkits))


def _cudnn(requirement: Requirement, facts: Facts) -> str:
    """By the release of its libraries, or by that of its package, which has one number more."""
    copies = facts.cudnn.get()
    known = [[str(one.version.value), *_packaged(one)] for one in copies if isinstance(one.version, Seen)]
    return _one_of(requirement, known, "copy of cuDNN", len(copies))


def _packaged(copy: CudnnCopy) -> Iterator[str]:
    """9.10.2.21 of "libcudnn9-cuda-12 9.10.2.21-1"."""
    release = copy.owner.rpartition(" ")[2].partition("-")[0]
    try:
        if CudnnVersion.parse(release).agrees_with(copy.version.get()):
            yield release
    except VersionError:
        pass  # of no package, or of one that counts otherwise


def _one_of(requirement: Requirement, known: list[list[str]], what: str, there_are: int) -> str:
    """`known`: each thing that was seen, by every name of its release, the usual one first."""
    if any(accepts(requirement.wanted, release) for one in known for release in one):
        return ""
    if len(known) < there_are:
        raise UnseenError(f"the version of a {what} is unknown")
    return f"found: {', '.join(dict.fromkeys(one[0] for one in known))}" if known else f"no {what} was found"


def _framework(requirement: Requirement, facts: Facts) -> str:
    """Everywhere that it is installed; in one environment at least."""
    environments = facts.environments.get()
    found = [one for each in environments for one in _installed(normal(requirement.name), each)]
    if not found:
        return f"{requirement.name} is not installed"
    return next(filter(None, (_difference(requirement, one) for one in found)), "")


def _installed(name: str, environment: Environment) -> list[Framework | Distribution]:
    """What the environment has by this name; of packages that gpudoctor has no card of, what their metadata says."""
    from doctor.loader.cards import card_of  # late: only with a policy

    if card_of(name) is not None:
        return [one for one in environment.frameworks.get() if one.package == name]
    return [one for one in environment.distributions.get() if one.name == name and not one.hidden_by]


def _difference(requirement: Requirement, framework: Framework | Distribution) -> str:
    label = f"{normal(requirement.name)} {framework.version}"
    if requirement.wanted and not accepts(requirement.wanted, framework.version):
        return f"{label} is installed"
    if requirement.build and _build(framework).lower() != requirement.build:
        return f"{label} is build {_build(framework)}"
    return ""


def _machine_needs(requirement: Requirement, facts: Facts) -> tuple[Need, ...]:
    """What can be installed: no card, and no release of cuDNN that is not the newest."""
    if requirement.name == "driver":
        return (on_host(facts, InstallDriver(requirement.wanted), f"install a driver {requirement.wanted}"),)
    return (InstallToolkit(requirement.wanted),) if requirement.name == "cuda" else ()


def _framework_needs(requirement: Requirement, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """In the first environment that lacks it; where it is in none, in the first of all.

    Only of frameworks that the matrix knows.
    """
    environments = facts.environments.get()
    name = normal(requirement.name)
    if not (is_framework(name) and matrix.has(name)):
        return ()
    wrong = [one for one in environments if any(_misses(requirement, each) for each in one.frameworks.get())]
    build = requirement.build
    return tuple(
        InstallPackage(name, requirement.wanted, one.interpreter, build) for one in (*wrong, *environments)[:1]
    )


def _misses(requirement: Requirement, framework: Framework) -> bool:
    return framework.package == normal(requirement.name) and bool(_difference(requirement, framework))


def _build(framework: Framework | Distribution) -> str:
    build = framework.version.partition("+")[2]
    if isinstance(framework, Framework):
        return build or framework.build.get()
    if not build:
        raise UnseenError(f"{framework.name} {framework.version} does not show its build")
    return build


_JUDGES: Mapping[str, Callable[[Requirement, Facts], str]] = {
    "driver": _driver,
    "gpu": _gpu,
    "gpu_count": _gpu_count,
    "gpu_memory": _gpu_memory,
    "cuda": _cuda,
    "cudnn": _cudnn,
    "compute_capability": _capability,
}
RULE = Rule(REQUIREMENTS, check)
