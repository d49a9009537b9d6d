"""pip's configuration, read as pip reads it, for environments that have no pip.

Source: pip documentation, "Configuration" (locations, precedence) and pip/_internal/configuration.py.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping

from compat.record import NamedTuple
from doctor.refresh.index import Connection, Index

_SECTIONS = ("global", "download", "install")  # the later one wins, whatever the file
_TRUE = {"1", "true", "yes", "on", "y", "t"}


class Said(NamedTuple):
    """The value of one option and where it stands."""

    value: str
    where: str


def read(environ: Mapping[str, str], prefix: str, platform: str = sys.platform) -> Connection:
    """What pip would use in the environment at `prefix` ("" for none)."""
    options, notes = _options(environ, prefix, platform)
    offline = options.get("no-index", Said("", "")).value.lower() in _TRUE
    main = options.get("index-url")
    indexes = [Index.of(word, said.where) for word, said in _words(options, "index-url", "extra-index-url")]
    links = [Index.of(word, said.where, is_flat=True) for word, said in _words(options, "find-links")]
    text = {name: said.value for name, said in options.items()}
    return Connection(
        indexes=(*(() if offline else indexes), *links),
        has_default=main is not None or offline,
        certificates=os.path.expanduser(text.get("cert", "")),
        client_certificate=os.path.expanduser(text.get("client-cert", "")),
        trusted_hosts=tuple(text.get("trusted-host", "").split()),
        proxy=text.get("proxy", ""),
        timeout_s=_seconds(text.get("timeout") or text.get("default-timeout", "")),
        notes=tuple(notes),
    )


def _words(options: Mapping[str, Said], *names: str) -> Iterator[tuple[str, Said]]:
    for name in names:
        if name in options:
            yield from ((word, options[name]) for word in options[name].value.split())


def _seconds(text: str) -> float:
    try:
        return min(max(float(text), 1.0), 600.0)
    except ValueError:
        return 30.0


def _options(environ: Mapping[str, str], prefix: str, platform: str) -> tuple[dict[str, Said], list[str]]:
    """Every option by its name: files in their order, then sections in theirs, then the environment."""
    by_section: dict[tuple[str, str], Said] = {}
    notes: list[str] = []
    for path in files(environ, prefix, platform):
        try:
            by_section.update(_file(path))
        except (OSError, configparser.Error, UnicodeDecodeError) as error:
            notes.append(f"{path} could not be read: {str(error).splitlines()[0]}")
    found = {name: said for wanted in _SECTIONS for (section, name), said in by_section.items() if section == wanted}
    for variable, value in environ.items():
        if variable.startswith("PIP_") and value.strip():
            found[_normal(variable[len("PIP_") :])] = Said(value, variable)
    return found, notes


def _file(path: str) -> dict[tuple[str, str], Said]:
    parser = configparser.RawConfigParser()
    with open(path, encoding="utf-8") as stream:
        parser.read_file(stream)
    return {
        (section, _normal(name)): Said(value, f"{path} [{section}] {_normal(name)}")
        for section in parser.sections()
        for name, value in parser.items(section)
        if value.strip()
    }


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def files(environ: Mapping[str, str], prefix: str, platform: str = sys.platform) -> tuple[str, ...]:
    """The configuration files that are there, each overriding those before it."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return ()
    name = "pip.ini" if platform == "win32" else "pip.conf"
    wanted = [f"{folder}/{name}" for folder in _global_folders(environ, platform)]
    if not (named and os.path.exists(named)):
        wanted += [f"{folder}/{name}" for folder in _user_folders(environ, platform)]
    wanted += [f"{prefix}/{name}"] if prefix else []
    wanted += [named] if named else []
    return tuple(path for path in dict.fromkeys(wanted) if os.path.isfile(path))


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
