"""What an image requires of driver and GPU by NVIDIA_REQUIRE_*, judged as NVIDIA's container tools judge it.

Blanks separate alternatives, commas what must hold together; they are looked at in their order until one holds, and
what is no expression by then ends it. Sources: NVIDIA/libnvidia-container, src/cli/dsl.c and configure.c (each GPU by
itself; names and brands in any case); NVIDIA/nvidia-container-toolkit, internal/config/image/cuda_image.go (which
variables count; CUDA_VERSION where NVIDIA_REQUIRE_CUDA is not set).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from compat.base.record import NamedTuple
from doctor.model.facts.seen import UnseenError

_CONDITION = re.compile(r"(cuda|driver|arch|brand)(<=|>=|!=|=|<|>)([^<>=!]+)", re.IGNORECASE)
_HOLDS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    ">": lambda order: order > 0,
    "<=": lambda order: order <= 0,
    ">=": lambda order: order >= 0,
    "=": lambda order: order == 0,
    "!=": lambda order: order != 0,
}
_NO_CUDA = 90  # a release with this major or a higher one is a number such as 121 for 12.1, which no driver has
# What Go's strconv.ParseBool takes for true, and what its semver.NewVersion takes for a release.
_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_RELEASE = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_REQUIRE, _CUDA, _JETPACK = "NVIDIA_REQUIRE_", "NVIDIA_REQUIRE_CUDA", "NVIDIA_REQUIRE_JETPACK"
LEGACY = "CUDA_VERSION"

# The brand that NVML gives a GPU, by its name; of two, the driver's release decides. Sources: nvml.h (GEFORCE_RTX and
# TITAN_RTX are unused); nvidia-smi -q of an H100, a GH200 and a T4 ("NVIDIA"), and of an RTX A2000 ("NVIDIA RTX").
_BRANDS = (
    (r"GeForce", ("geforce",)),
    (r"TITAN", ("titan", "titanrtx")),
    (r"Quadro", ("quadro", "quadrortx")),
    (r"NVIDIA RTX ", ("nvidiartx", "quadrortx")),
    (r"Tesla|NVIDIA (?:[AHLB]\d+|G[HB]\d+)", ("tesla", "nvidia")),
)


class Condition(NamedTuple):
    """One comparison of an expression."""

    text: str
    holds: bool | None  # None where it is unknown
    why: str
    is_invalid: bool = False  # it ends the tool, whatever the machine


class Outcome(NamedTuple):
    """Whether an expression holds, and what decides it."""

    holds: bool | None
    decides: tuple[Condition, ...] = ()


Values = Callable[[str], str]  # what "cuda" and so on are; raises UnseenError


def requirements(given: Mapping[str, str]) -> dict[str, str]:
    """The expressions by their variables; that of CUDA_VERSION is "" where it is no release."""
    asked = {
        name: value for name, value in given.items() if name.startswith(_REQUIRE) and not name.startswith(_JETPACK)
    }
    if given.get(LEGACY) and not asked.get(_CUDA):
        found = _RELEASE.fullmatch(given[LEGACY])
        asked[LEGACY] = f"cuda>={found[1]}.{found[2] or 0}" if found else ""
    return {name: value for name, value in asked.items() if value.strip() or name == LEGACY}


def is_off(given: Mapping[str, str]) -> bool:
    """Whether the image says that nothing is required."""
    return given.get("NVIDIA_DISABLE_REQUIRE", "") in _TRUE


def brands(name: str) -> tuple[str, ...]:
    """Those that NVML may give a GPU of this name; raises UnseenError."""
    for pattern, found in _BRANDS:
        if re.search(pattern, name):
            return found
    raise UnseenError(f"the brand of {name or 'a GPU without a name'} is unknown")


def evaluate(expression: str, values: Values) -> Outcome:
    """Whether it holds on a GPU."""
    groups: list[list[Condition]] = []
    for text in expression.split(" "):
        group: list[Condition] = []
        for one in filter(None, text.split(",")):
            group.append(_condition(one, values))
            if group[-1].is_invalid or group[-1].holds is False:
                break
        if not group:
            continue
        groups.append(group)
        if all(one.holds for one in group):
            return Outcome(True)
        if group[-1].is_invalid:
            is_reached = all(one.holds for one in group[:-1]) and all(map(_fails, groups[:-1]))
            return Outcome(False if is_reached else None, (group[-1],))
    if not groups:
        return Outcome(True)
    open_ones = [one for group in groups if not _fails(group) for one in group if one.holds is None]
    if open_ones:
        return Outcome(None, tuple(open_ones[:1]))
    best = min(groups, key=lambda group: sum(one.holds is False for one in group))
    return Outcome(False, tuple(one for one in best if one.holds is False))


def _fails(group: list[Condition]) -> bool:
    return any(one.holds is False for one in group)


def _condition(text: str, values: Values) -> Condition:
    match = _CONDITION.fullmatch(text)
    key, sign, wanted = (match[1].lower(), match[2], match[3]) if match else ("", "", "")
    is_version = re.fullmatch(r"[\d.]+", wanted) is not None
    if not match or (not is_version if key != "brand" else sign not in {"=", "!="}):
        return Condition(text, False, f"{text[:60]!r} is not a condition, so nvidia-container-cli fails", True)
    try:
        found = values(key)
    except UnseenError as error:
        if key == "cuda" and sign in {">=", ">", "="} and int(wanted.partition(".")[0] or 0) >= _NO_CUDA:
            return Condition(text, False, f"no driver supports CUDA {wanted}")
        return Condition(text, None, f"{text}: {error}")
    order = _spelled if key == "brand" else _order
    return Condition(text, _HOLDS[sign](order(found, wanted)), f"{key} is {found}")


def _spelled(one: str, other: str) -> int:
    return 0 if one.lower() == other.lower() else 1


def _order(one: str, other: str) -> int:
    """Compare dotted numbers; a part that is missing is 0."""
    first, second = ([int(part) for part in re.findall(r"\d+", text)[:8]] for text in (one, other))
    length = max(len(first), len(second))
    left, right = (numbers + [0] * (length - len(numbers)) for numbers in (first, second))
    return (left > right) - (left < right)
