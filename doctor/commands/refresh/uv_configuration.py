"""uv's configuration: its variables, uv.toml and [tool.uv] of pyproject.toml.

Source: uv documentation, "Configuration files", "Package indexes" and "Environment variables".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.commands.refresh.index import Connection, Index
from doctor.host.documents import parse_toml

_TRUE = {"1", "true", "yes", "on", "y", "t"}
_COMMA = {False: ",", True: " "}  # UV_FIND_LINKS is a list with commas, the others with spaces
_FOLDERS_AT_MOST = 40
_FILE_BYTES = 1 << 20


def read(environ: Mapping[str, str], folder: str, platform: str = sys.platform) -> Connection:
    """What uv would use in a folder: its variables, the project's files, then the user's and the system's."""
    notes: list[str] = []
    tables = list(_tables(environ, folder, platform, notes))
    offline = environ.get("UV_NO_INDEX", "").lower() in _TRUE or any(
        table.get("no-index") is True for table, _ in tables
    )
    found = [*_of_variables(environ), *(index for table, path in tables for index in _of_table(table, path, notes))]
    indexes = [(_with_credentials(index, name, environ), is_default) for index, name, is_default in found]
    return Connection(
        indexes=tuple(index for index, _ in indexes if index.is_flat or not offline),
        has_default=offline or any(is_default for _, is_default in indexes),
        notes=tuple(notes),
    )


_Found = tuple[Index, str, bool]  # with its name, and whether it takes the place of the built-in one


def _of_variables(environ: Mapping[str, str]) -> Iterator[_Found]:
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        for word in environ.get(variable, "").replace(",", _COMMA[variable == "UV_FIND_LINKS"]).split():
            name, url = _named(word)
            yield (
                Index.of(url, variable, is_flat=variable == "UV_FIND_LINKS"),
                name,
                variable in {"UV_DEFAULT_INDEX", "UV_INDEX_URL"},
            )


def _named(word: str) -> tuple[str, str]:
    """UV_INDEX may give a name: "internal=https://...", which a "=" in a URL's query is not."""
    name, equals, url = word.partition("=")
    named = equals and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    return (name, url) if named else ("", word)


def _of_table(table: dict[str, Any], path: str, notes: list[str]) -> Iterator[_Found]:
    base = os.path.dirname(path)
    entries = table.get("index", [])
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            name, is_flat = str(entry.get("name", "")), entry.get("format") == "flat"
            index = Index.of(_located(entry["url"], base), f"{path} [[index]]", is_flat=is_flat)
            yield index, name, entry.get("default") is True
        else:
            notes.append(f"{path}: an [[index]] without url")
    pip = table.get("pip") if isinstance(table.get("pip"), dict) else {}
    for settings in (table, pip or {}):
        for key in ("index-url", "extra-index-url", "find-links"):
            value = settings.get(key)
            values = value if isinstance(value, list) else [value]
            for url in [one for one in values if isinstance(one, str)]:
                yield (
                    Index.of(_located(url, base), f"{path} {key}", is_flat=key == "find-links"),
                    "",
                    key == "index-url",
                )


def _located(url: str, base: str) -> str:
    """A path is meant from the file that names it."""
    return url if "://" in url or url.startswith("file:") else os.path.join(base, os.path.expanduser(url))


def _with_credentials(index: Index, name: str, environ: Mapping[str, str]) -> Index:
    """UV_INDEX_<NAME>_USERNAME and _PASSWORD: the name in capitals, other characters as "_"."""
    key = "".join(character if character.isalnum() else "_" for character in name).upper()
    user = environ.get(f"UV_INDEX_{key}_USERNAME", "") if name else ""
    password = environ.get(f"UV_INDEX_{key}_PASSWORD", "") if name else ""
    return index._replace(user=user or index.user, password=password or index.password)


def _tables(
    environ: Mapping[str, str], folder: str, platform: str, notes: list[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    for path in files(environ, folder, platform):
        try:
            with open(path, "rb") as stream:
                table = parse_toml(stream.read(_FILE_BYTES).decode())
        except (OSError, ValueError) as error:
            notes.append(f"{path} could not be read: {str(error).splitlines()[0]}")
            continue
        if path.endswith("pyproject.toml"):
            tool = table.get("tool", {})
            table = tool.get("uv", {}) if isinstance(tool, dict) else {}
        if isinstance(table, dict):
            yield table, path


def files(environ: Mapping[str, str], folder: str, platform: str = sys.platform) -> tuple[str, ...]:
    """The configuration files that are there, the one that wins first."""
    if environ.get("UV_CONFIG_FILE"):
        wanted = [environ["UV_CONFIG_FILE"]]
    elif environ.get("UV_NO_CONFIG", "").lower() in _TRUE:
        wanted = []
    else:
        wanted = [*_of_project(folder), *_of_user_and_system(environ, platform)]
    return tuple(path for path in dict.fromkeys(wanted) if os.path.isfile(path))


def _of_project(folder: str) -> list[str]:
    """The nearest folder upwards with a uv.toml, else a pyproject.toml that speaks of uv."""
    for _ in range(_FOLDERS_AT_MOST):
        if os.path.isfile(f"{folder}/uv.toml"):
            return [f"{folder}/uv.toml"]
        if os.path.isfile(f"{folder}/pyproject.toml"):
            return [f"{folder}/pyproject.toml"]
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return []


def _of_user_and_system(environ: Mapping[str, str], platform: str) -> list[str]:
    if platform == "win32":
        return [f"{environ.get(name, '')}/uv/uv.toml" for name in ("APPDATA", "PROGRAMDATA")]
    home = environ.get("HOME") or os.path.expanduser("~")
    system = [f"{one}/uv/uv.toml" for one in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if one]
    return [f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/uv/uv.toml", *system, "/etc/uv/uv.toml"]
