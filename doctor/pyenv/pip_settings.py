"""pip's configuration, read as pip reads it.

Source: pip documentation, "Configuration" (locations, precedence) and pip/_internal/configuration.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from compat.base.record import NamedTuple
from doctor.host import HostError

_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})


class Said(NamedTuple):
    """The value of one option and where it stands."""

    value: str
    where: str  # "PIP_INDEX_URL", "/etc/pip.conf [global] index-url"


class Files(NamedTuple):
    """How files are read: of this machine, or of the one that is looked at."""

    is_file: Callable[[str], bool]
    text: Callable[[str], str]  # raises OSError, HostError, UnicodeDecodeError


def is_on(said: Said | None) -> bool:
    """Whether a switch is on, by the words that pip takes for it."""
    return said is not None and said.value.lower() in _TRUE


def options(
    environ: Mapping[str, str], prefix: str, platform: str, read: Files, sections: tuple[str, ...]
) -> tuple[dict[str, Said], list[str]]:
    """Every option by its name, and what could not be read.

    Files come in their order, then their sections in the order that is asked for, then the environment.
    """
    by_section: dict[tuple[str, str], Said] = {}
    notes: list[str] = []
    for path in files(environ, prefix, platform, read.is_file):
        _add(path, read, by_section, notes)
    found = {name: said for wanted in sections for (section, name), said in by_section.items() if section == wanted}
    for variable, value in environ.items():
        if variable.startswith("PIP_") and value.strip():
            found[_normal(variable[len("PIP_") :])] = Said(value, variable)
    return found, notes


def _add(path: str, read: Files, by_section: dict[tuple[str, str], Said], notes: list[str]) -> None:
    from doctor.host.documents import parse_ini  # late: most machines have no such file

    try:
        parser = parse_ini(read.text(path), path)
    except (OSError, HostError, ValueError) as error:
        notes.append(f"{path} could not be read: {str(error).splitlines()[0]}")
        return
    for section in parser.sections():
        for name, value in parser.items(section):
            if value.strip():
                by_section[section, _normal(name)] = Said(value, f"{path} [{section}] {_normal(name)}")


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def files(
    environ: Mapping[str, str],
    prefix: str,
    platform: str = sys.platform,
    is_file: Callable[[str], bool] = os.path.isfile,
) -> tuple[str, ...]:
    """The configuration files that are there, each overriding those before it; `prefix` is "" for no environment."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return ()
    name = "pip.ini" if platform == "win32" else "pip.conf"
    wanted = [f"{folder}/{name}" for folder in _global_folders(environ, platform)]
    if not (named and is_file(named)):
        wanted += [f"{folder}/{name}" for folder in _user_folders(environ, platform)]
    wanted += [f"{prefix}/{name}"] if prefix else []
    wanted += [named] if named else []
    return tuple(path for path in dict.fromkeys(wanted) if is_file(path))


def _global_folders(environ: Mapping[str, str], platform: str) -> list[str]:
    if platform == "win32":
        return [f"{environ.get('PROGRAMDATA', 'C:/ProgramData')}/pip"]
    if platform == "darwin":
        return ["/Library/Application Support/pip"]
    folders = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    return [*(f"{folder}/pip" for folder in folders if folder), "/etc"]


def _user_folders(environ: Mapping[str, str], platform: str) -> list[str]:
    """The legacy folder, then the present one."""
    if platform == "win32":
        return [f"{environ.get('USERPROFILE', '')}/pip", f"{environ.get('APPDATA', '')}/pip"]
    home = environ.get("HOME") or os.path.expanduser("~")
    mac = f"{home}/Library/Application Support/pip"
    if platform == "darwin" and os.path.isdir(mac):
        return [f"{home}/.pip", mac]
    return [f"{home}/.pip", f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/pip"]
