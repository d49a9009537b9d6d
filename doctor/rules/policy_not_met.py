"""The machine is not as the policy wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compat.matrix import Matrix
from compat.need import BY_HAND, Need
from compat.specifier import accepts
from doctor.check.finding import Answer, Evidence, bad, ok
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.policy import Requirement
from doctor.facts.seen import Seen, UnseenError, value_or
from doctor.rules.shared.rule import Rule, Subjects

REQUIREMENTS: Subjects[Requirement] = Subjects("requirement of a policy", lambda facts: facts.policy.requirements)
_GIB = 1 << 30


def check(requirement: Requirement, facts: Facts, matrix: Matrix) -> Answer:
    """One key of [require]; what could not be seen raises, and is UNKNOWN: a policy is met only by what was seen."""
    is_framework = requirement.key.startswith("require.frameworks.")
    wrong = _framework(requirement, facts) if is_framework else _JUDGES[requirement.name](requirement, facts)
    if not wrong:
        return ok(f"{requirement.name}: {_wanted(requirement)} is met")
    return bad(
        f"{requirement.key} asks for {_wanted(requirement)}; {wrong}",
        Need(BY_HAND, f"Bring {requirement.name} to {_wanted(requirement)}, or change {requirement.source}."),
        evidence=(Evidence(requirement.source, f"{requirement.key}: {_wanted(requirement)}"),),
    )


def _wanted(requirement: Requirement) -> str:
    parts = (requirement.wanted.replace("|", " or "), f"build {requirement.build}" if requirement.build else "")
    return ", ".join(filter(None, parts)) or "any release"


def _driver(requirement: Requirement, facts: Facts) -> str:
    release = facts.driver.release.get()
    return "" if accepts(requirement.wanted, release) else f"the driver is {release}"


def _gpu(requirement: Requirement, facts: Facts) -> str:
    """Each card by a part of its name, or by a pattern."""
    from fnmatch import fnmatchcase  # late: only with a policy; in time that does not grow with the stars

    parts = (part.replace("[", "[[]").replace("?", "[?]") for part in requirement.wanted.lower().split("|"))
    patterns = [part if "*" in part else f"*{part}*" for part in parts]
    names = [gpu.name.get() for gpu in facts.gpus.get()]
    others = [one for one in names if not any(fnmatchcase(one.lower(), each) for each in patterns)]
    return f"there is {', '.join(dict.fromkeys(others))}" if others else "" if names else "there is no GPU"


def _gpu_count(requirement: Requirement, facts: Facts) -> str:
    count = len(facts.gpus.get())
    return "" if accepts(requirement.wanted, count) else f"there {'is' if count == 1 else 'are'} {count}"


def _gpu_memory(requirement: Requirement, facts: Facts) -> str:
    """Rounded to GiB: a card of 24 GiB says 23.99."""
    sizes = [round(gpu.memory_bytes.get() / _GIB) for gpu in facts.gpus.get()]
    others = [size for size in sizes if not accepts(requirement.wanted, size)]
    return f"a GPU has {others[0]} GiB" if others else "" if sizes else "there is no GPU"


def _capability(requirement: Requirement, facts: Facts) -> str:
    found = [gpu.capability.get() for gpu in facts.gpus.get()]
    others = [one for one in found if not accepts(requirement.wanted, one)]
    return f"a GPU has {others[0]}" if others else "" if found else "there is no GPU"


def _cuda(requirement: Requirement, facts: Facts) -> str:
    """One toolkit that is there is enough; UNKNOWN where none fits and the release of one was not seen."""
    toolkits = facts.toolkit.toolkits.get()
    known = [str(value_or(one.release, str(one.cuda.value))) for one in toolkits if isinstance(one.cuda, Seen)]
    return _one_of(requirement, known, "toolkit", len(toolkits))


def _cudnn(requirement: Requirement, facts: Facts) -> str:
    copies = facts.cudnn.get()
    known = [str(one.version.value) for one in copies if isinstance(one.version, Seen)]
    return _one_of(requirement, known, "copy of cuDNN", len(copies))


def _one_of(requirement: Requirement, known: list[str], what: str, there_are: int) -> str:
    if any(accepts(requirement.wanted, one) for one in known):
        return ""
    if len(known) < there_are:
        raise UnseenError(f"the release of a {what} could not be seen")
    return f"there is {', '.join(dict.fromkeys(known))}" if known else f"there is no {what}"


def _framework(requirement: Requirement, facts: Facts) -> str:
    """Everywhere that it is installed; in one environment at least."""
    environments = facts.environments.get()
    found = [one for each in environments for one in each.frameworks.get() if one.package == requirement.name.lower()]
    if not found:
        return f"{requirement.name} is not installed"
    for one in found:
        if requirement.wanted and not accepts(requirement.wanted, one.version):
            return f"{one.label} is installed"
        if requirement.build and _build(one) != requirement.build:
            return f"{one.label} is build {_build(one)}"
    return ""


def _build(framework: Framework) -> str:
    return framework.version.partition("+")[2] or framework.build.get()


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
