"""Programs that need a driver of some releases: the rows of `_drivers.json`, and the driver of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.specifier import accepts
from compat.version import DriverRelease
from doctor.messages.clues import Clues
from doctor.messages.signature import Means
from doctor.messages.signatures import table

_WINDOWS = r"windows|\bwin(?:32|64|10|11)\b|[A-Z]:\\\\"
_OLD, _BUG = "driver-too-old-for-runtime", "framework-bug"


def driver_of(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Compare the driver that the text names with what the named release needs; nothing without a row."""
    refuses = bool(found.groupdict().get("refused"))
    yield from _compared(_name(found["name"]), found["version"], clues, refuses=refuses)


def old_optix(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A program of OptiX 6, which calls every driver that no longer has it too old."""
    yield from _compared(found["name"], "6.0", clues, refuses=False)


def _compared(name: str, version: str, clues: Clues, *, refuses: bool) -> Iterator[Means]:
    row = next(
        (one for one in table("_drivers")["needs"] if one["name"] == name and accepts(one["versions"], version)), None
    )
    if not row:
        return
    need = row["windows" if clues.has(_WINDOWS) else "linux"]
    what, release = f"{name} {version}", clues.driver
    if need and (refuses or (release and release < DriverRelease.parse(need))):
        has = f"; {release} is installed" if release and release < DriverRelease.parse(need) else ""
        yield Means(_OLD, f"{what} needs driver {need} or newer{has}", 0.9 if refuses else 0.72)
    elif row["until"] and release and release >= DriverRelease.parse(row["until"]):
        says = f"{what} does not run with drivers from {row['until']} on; {release} is installed"
        yield Means(_BUG, says, 0.78, mends=_older(row["until"], what))


def _name(text: str) -> str:
    """As the rows have it: the program's own spelling differs in blanks and capitals."""
    names: dict[str, str] = {
        re.sub(r"[^a-z]", "", one["name"].lower()): one["name"] for one in table("_drivers")["needs"]
    }
    return names.get(re.sub(r"[^a-z]", "", text.lower()), text)


def _older(until: str, what: str) -> str:
    return (
        f"Use a newer release of the program, or a driver older than {until}: its requirements for {what} name one. "
        "`nvidia-smi` shows which is installed."
    )
