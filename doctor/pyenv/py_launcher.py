r"""The Pythons that Windows' launcher (`py -3.11`) knows: what installers write into the registry, on PATH or not.

Sources: PEP 514 (Software\Python\PythonCore\TAG\InstallPath, whose default value is the prefix; the user's own comes
first); PEP 397 and Python's documentation, "Using Python on Windows" (the newest is the default, PY_PYTHON names
another; a tag that ends in -32 is a Python of 32 bits).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host

_TAG = re.compile(r"(?:py(?:\.exe)?\s+)?-?V?:?(\d\.\d{1,2})(t?)(-32|-arm64)?")
_ROOTS = (r"HKCU\Software\Python\PythonCore", r"SOFTWARE\Python\PythonCore", r"SOFTWARE\WOW6432Node\Python\PythonCore")
_TAGS_AT_MOST = 50


class Registered(NamedTuple):
    """A Python of the registry."""

    tag: str  # "3.11", "3.11-32"
    prefix: str


def registered(host: Host) -> tuple[Registered, ...]:
    """Each once, the newest first as the launcher lists them; none where there is no registry."""
    if not host.is_live or host.os_family != "windows":
        return ()
    from doctor.host import registry  # late: only Windows has one

    found: dict[str, Registered] = {}
    for root in _ROOTS:
        try:
            tags = registry.keys(root)[:_TAGS_AT_MOST]
            prefixes = [(tag, "".join(registry.texts(f"{root}\\{tag}\\InstallPath", ""))) for tag in tags]
        except OSError:
            continue
        for tag, prefix in prefixes:
            if prefix and re.match(r"\d", tag):
                found.setdefault(tag, Registered(tag, prefix.replace("\\", "/").rstrip("/")))
    return tuple(sorted(found.values(), key=_newest_first))


def named(host: Host, asked: str) -> str:
    """The prefix that `py -3.11`, `-3.11` or `3.11` means, "" where that is no such name or none is registered."""
    match = _TAG.fullmatch(asked.strip())
    if match is None:
        return ""
    minor, free, kind = match.groups()
    tags = (f"{minor}{free}{kind or ''}", *(() if kind else (f"{minor}{free}-32", f"{minor}{free}-arm64")))
    prefixes = {one.tag: one.prefix for one in registered(host)}
    return next((prefixes[tag] for tag in tags if tag in prefixes), "")


def default(host: Host) -> Iterator[str]:
    """The prefixes that `py` tries, in its order."""
    chosen = named(host, host.environ.get("PY_PYTHON", ""))
    yield from filter(None, (chosen, *(one.prefix for one in registered(host))))


def _newest_first(one: Registered) -> tuple[tuple[int, ...], int]:
    """A Python of 64 bits before one of 32."""
    return tuple(-int(part) for part in re.findall(r"\d+", one.tag.partition("-")[0])), len(one.tag)
