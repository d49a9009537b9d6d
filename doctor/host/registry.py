"""The registry of the Windows that gpudoctor runs on, below HKEY_LOCAL_MACHINE: read, never written.

A path that begins with HKCU is the user's own, below HKEY_CURRENT_USER.
"""

from __future__ import annotations

import importlib
from typing import Any

_USERS = "HKCU\\"


def _opened(path: str) -> tuple[Any, Any]:
    winreg: Any = importlib.import_module("winreg")  # only Windows has it
    root = winreg.HKEY_CURRENT_USER if path.startswith(_USERS) else winreg.HKEY_LOCAL_MACHINE
    return winreg, winreg.OpenKey(root, path.removeprefix(_USERS))


def keys(path: str) -> tuple[str, ...]:
    """The names of the keys below one, in its order; none where it is not there. Raises OSError."""
    try:
        winreg, opened = _opened(path)
    except FileNotFoundError:
        return ()
    with opened:
        return tuple(winreg.EnumKey(opened, number) for number in range(winreg.QueryInfoKey(opened)[0]))


def texts(path: str, name: str) -> tuple[str, ...]:
    """The text of a value, or the texts of a list; none where it is not there or is no text. Raises OSError."""
    try:
        winreg, opened = _opened(path)
        with opened:
            found = winreg.QueryValueEx(opened, name)[0]
    except FileNotFoundError:
        return ()
    return (found,) if isinstance(found, str) else tuple(found) if isinstance(found, list) else ()


def all_texts(path: str) -> tuple[str, ...]:
    """The texts of all values of a key; none where it is not there. Raises OSError."""
    try:
        winreg, opened = _opened(path)
    except FileNotFoundError:
        return ()
    with opened:
        found = (winreg.EnumValue(opened, number)[1] for number in range(winreg.QueryInfoKey(opened)[1]))
        return tuple(one for one in found if isinstance(one, str))


def number(path: str, name: str) -> int | None:
    """A REG_DWORD; None where it is not there or is none. Raises OSError."""
    try:
        winreg, opened = _opened(path)
        with opened:
            found = winreg.QueryValueEx(opened, name)[0]
    except FileNotFoundError:
        return None
    return found if isinstance(found, int) else None
