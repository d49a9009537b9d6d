r"""The SYSTEM hive of a Windows disk: what that Windows held below HKLM\SYSTEM, read, never written.

regipy reads it, which the extra "hive" brings; what still stands in the hive's log files alone is not seen. Source:
Microsoft, "HKLM\SYSTEM\Select registry tree": CurrentControlSet is a link to the control set that Current numbers.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

from compat.base.errors import GpudoctorError
from doctor.host import Host, HostError

PATH = "C:/Windows/System32/config/SYSTEM"
_SIZE_AT_MOST_BYTES = 1 << 28  # regipy takes all of it into memory
_ENTRIES_AT_MOST = 10_000  # of one key
_CURRENT = "SYSTEM\\CurrentControlSet\\"
_T = TypeVar("_T")


class HiveError(GpudoctorError):
    """The hive cannot be read."""


class Hive:
    """The questions of doctor.host.registry, answered by a disk's file; each raises HiveError."""

    def __init__(self, host: Host) -> None:
        """Raises HiveError."""
        try:
            regipy: Any = importlib.import_module("regipy.registry")
        except ImportError as error:
            raise HiveError(f"{PATH} is not read without regipy: install 'gpudoctor[hive]'") from error
        try:
            size = host.status(PATH).size_bytes
            if size > _SIZE_AT_MOST_BYTES:
                raise HiveError(f"{PATH} has {size} bytes, more than is read of a hive")
            with host.open(PATH) as stream:
                handle = os.dup(stream.fileno())  # regipy opens what it is given, and closes it
        except (HostError, OSError) as error:
            raise HiveError(str(error)) from error
        self._root = _asked(lambda: regipy.RegistryHive(handle).root)
        self._set = ""
        number = self._value("SYSTEM\\Select", "Current")
        if not isinstance(number, int):
            raise HiveError(f"{PATH} does not say which control set is the current one")
        self._set = f"ControlSet{number:03d}\\"

    def keys(self, path: str) -> tuple[str, ...]:
        """The names of the keys below one; none where it is not there."""
        key = self._key(path)
        return tuple(str(one.name) for one in _children(key)) if key is not None else ()

    def texts(self, path: str, name: str) -> tuple[str, ...]:
        """The text of a value, or the texts of a list; none where it is not there or is no text."""
        found = self._value(path, name)
        return (found,) if isinstance(found, str) else tuple(map(str, found)) if isinstance(found, list) else ()

    def all_texts(self, path: str) -> tuple[str, ...]:
        """The texts of all values of a key; none where it is not there."""
        return tuple(one for one in self._values(path).values() if isinstance(one, str))

    def number(self, path: str, name: str) -> int | None:
        """A REG_DWORD; None where it is not there or is none."""
        found = self._value(path, name)
        return found if isinstance(found, int) else None

    def _value(self, path: str, name: str) -> object:
        return self._values(path).get(name.lower())

    def _values(self, path: str) -> dict[str, object]:
        """By their names in small letters, as Windows compares them."""
        key = self._key(path)
        if key is None:
            return {}
        if key.values_count > _ENTRIES_AT_MOST:
            raise HiveError(f"{PATH}: {path} has {key.values_count} values")
        found = _asked(lambda: list(key.iter_values(trim_values=False)))
        return {str(one.name).lower(): one.value for one in found}

    def _key(self, path: str) -> Any:
        key = self._root
        below = self._set + path.removeprefix(_CURRENT) if path.startswith(_CURRENT) else path.partition("\\")[2]
        for part in below.split("\\"):
            key = next((one for one in _children(key) if one.name.lower() == part.lower()), None)
            if key is None:
                return None
        return key


def _children(key: Any) -> list[Any]:
    return _asked(lambda: list(islice(key.iter_subkeys(), _ENTRIES_AT_MOST)))


def _asked(question: Callable[[], _T]) -> _T:
    """The answer of regipy, which raises errors of many kinds about a damaged file."""
    try:
        return question()
    except Exception as error:
        raise HiveError(f"{PATH} cannot be read: {type(error).__name__} {error}".rstrip()) from error
