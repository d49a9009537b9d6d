"""Where uv, pixi, poetry, hatch and pipenv put the environment of the project in a directory; read from their files.

Sources: astral-sh/uv#6834 (UV_PROJECT_ENVIRONMENT, relative to the workspace's root); pixi's documentation,
"Environments" (.pixi/envs/default); python-poetry/poetry:src/poetry/utils/env/env_manager.py and
locations.py; pypa/hatch:src/hatch/env/virtual.py and cli/application.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from compat.base.record import NamedTuple
from compat.base.user_dirs import user_dir
from doctor.host import Host
from doctor.host.optional_reads import names_of, text_of

_PROJECT_FILES = ("pyproject.toml", "pixi.toml", "hatch.toml")
_PARENTS_AT_MOST = 12
_TOML_BYTES = 1 << 20
_NAMES_AT_MOST = 500


class ProjectEnvironment(NamedTuple):
    """Where an environment may be, and whose it is."""

    prefix: str
    why: str
    is_first: bool = False  # its tool ignores a .venv


def working_directory() -> str:
    """The working directory, by "/"; "" where it was removed."""
    try:
        return os.getcwd().replace(os.sep, "/")
    except OSError:
        return ""


def project_environments(host: Host, folder: str) -> Iterator[ProjectEnvironment]:
    """Where the environment of the project around a directory may be, the likeliest first; not all are there."""
    roots = [place for place in _upwards(folder) if any(host.is_file(f"{place}/{name}") for name in _PROJECT_FILES)]
    named = host.environ.get("UV_PROJECT_ENVIRONMENT", "").strip().replace("\\", "/")
    if named and roots:
        yield ProjectEnvironment(_from(roots[0], named), "UV_PROJECT_ENVIRONMENT")
    of_poetry = list(_poetry(host, roots[0])) if roots else []
    yield from (one for one in of_poetry if one.is_first)  # then it ignores .venv
    for place in dict.fromkeys(filter(None, [folder, *roots])):
        yield ProjectEnvironment(f"{place}/.venv", "the project's .venv")
    for place in roots:
        yield ProjectEnvironment(f"{place}/.pixi/envs/default", "pixi's for the project")
    yield from of_poetry
    if roots:
        yield from _hatch(host, roots[0])
    if any(host.is_file(f"{place}/Pipfile") for place in _upwards(folder)):
        from doctor.pyenv.pipenv import pipenv_environments  # late: most projects have another tool's

        yield from (ProjectEnvironment(one, "pipenv's for the project") for one in pipenv_environments(host, folder))


def _upwards(folder: str) -> Iterator[str]:
    for _ in range(_PARENTS_AT_MOST if folder else 0):
        yield folder
        above = folder.rpartition("/")[0]
        if not above or above == folder:
            return
        folder = above


def _from(root: str, path: str) -> str:
    return path if path.startswith("/") or path[1:2] == ":" else f"{root}/{path}"


def _poetry(host: Host, root: str) -> Iterator[ProjectEnvironment]:
    """`<name>-<hash of the directory>-py<minor>` in the folder of environments; the hash alone says whose it is."""
    if not host.is_file(f"{root}/poetry.lock") and not _speaks_of(host, root, "poetry"):
        return
    own = host.environ.get("POETRY_CONFIG_DIR") or user_dir(
        host.environ, host.os_family, "config", "pypoetry", roaming=True
    )
    settings: dict[str, Any] = {}
    for file in (f"{own}/config.toml", f"{root}/poetry.toml"):
        read = toml_of(host, file)
        settings |= table_of(read, "virtualenvs")
        settings |= {"cache-dir": read["cache-dir"]} if isinstance(read.get("cache-dir"), str) else {}
    in_project = host.environ.get("POETRY_VIRTUALENVS_IN_PROJECT", str(settings.get("in-project", ""))).lower()
    is_first = in_project in {"false", "0"}
    ignores = ", in-project = false" if is_first else ""
    cache = host.environ.get("POETRY_CACHE_DIR") or settings.get("cache-dir")
    cache = cache or user_dir(host.environ, host.os_family, "cache", "pypoetry")
    folder = host.environ.get("POETRY_VIRTUALENVS_PATH") or str(settings.get("path", "{cache-dir}/virtualenvs"))
    folder = folder.replace("{cache-dir}", cache).replace("{project-dir}", root)
    ending = re.compile(rf"(.+-{re.escape(_hash(os.path.normcase(os.path.realpath(root))))})-py(\d+)\.(\d+)$")
    found = [match for match in map(ending.match, names_of(host, folder)[:_NAMES_AT_MOST]) if match]
    chosen = toml_of(host, f"{folder}/envs.toml")  # what `poetry env use` wrote
    found.sort(
        key=lambda one: (table_of(chosen, one[1]).get("minor") == f"{one[2]}.{one[3]}", int(one[2]), int(one[3]))
    )
    for match in reversed(found):
        yield ProjectEnvironment(f"{folder}/{match[0]}", f"poetry's for the project{ignores}", is_first)


def _hatch(host: Host, root: str) -> Iterator[ProjectEnvironment]:
    """The path that is configured, else `<project>/<hash of the directory>/<project>` in the folder of environments."""
    if not host.is_file(f"{root}/hatch.toml") and not _speaks_of(host, root, "hatch"):
        return
    tables = (
        table_of(table_of(toml_of(host, f"{root}/pyproject.toml"), "tool"), "hatch"),
        toml_of(host, f"{root}/hatch.toml"),
    )
    paths = [host.environ.get("HATCH_ENV_TYPE_VIRTUAL_PATH", "")]
    paths += [str(table_of(table_of(table, "envs"), "default").get("path", "")) for table in tables]
    yield from (ProjectEnvironment(_from(root, path), "hatch's for the project") for path in paths if path)
    own = user_dir(host.environ, host.os_family, "config", "hatch")
    file = host.environ.get("HATCH_CONFIG") or f"{own}/config.toml"
    named = table_of(table_of(toml_of(host, file), "dirs"), "env").get("virtual")
    data = host.environ.get("HATCH_DATA_DIR") or user_dir(host.environ, host.os_family, "data", "hatch")
    folder = _from(root, named) if isinstance(named, str) else f"{data}/env/virtual"
    mark = _hash(os.path.realpath(root))
    for name in names_of(host, folder)[:_NAMES_AT_MOST]:
        yield ProjectEnvironment(f"{folder}/{name}/{mark}/{name}", "hatch's for the project")
        if folder.startswith(f"{root}/") and not name.endswith("-build"):
            yield ProjectEnvironment(f"{folder}/{name}", "hatch's for the project")


_HASHED = {  # where each tool keeps its environments, with the hash of the project's directory in their path
    "poetry": re.compile(r"/virtualenvs/[^/]+-([\w-]{8})-py\d+\.\d+$"),
    "hatch": re.compile(r"/env/virtual/[^/]+/([\w-]{8})/[^/]+$"),
}


def hashed_project(prefix: str, folder: str) -> tuple[str, str]:
    """The tool in whose folder of environments a prefix is, and its project around a directory; "" for each unknown.

    The hash tells a directory, and is no way back to it.
    """
    for tool, pattern in _HASHED.items():
        if found := pattern.search(prefix):
            near = (place for place in _upwards(folder) if _hash(os.path.normcase(os.path.realpath(place))) == found[1])
            return tool, next(near, "")
    return "", ""


def _hash(text: str) -> str:
    """The eight signs that poetry and hatch tell directories apart by."""
    from base64 import urlsafe_b64encode  # late, as what follows: only projects of these two need it
    from hashlib import sha256

    return urlsafe_b64encode(sha256(text.encode("utf-8", "surrogateescape")).digest()).decode()[:8]


def _speaks_of(host: Host, root: str, tool: str) -> bool:
    """Whether pyproject.toml has a table of this tool; told by its text, since parsing takes a tenth of a check."""
    return f"[tool.{tool}" in text_of(host, f"{root}/pyproject.toml", _TOML_BYTES)


def table_of(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A table inside another one, empty where it is none."""
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def toml_of(host: Host, path: str) -> dict[str, Any]:
    """Nothing where the file is not there or is no TOML: then its tool does not work either."""
    text = text_of(host, path, _TOML_BYTES)
    if not text:
        return {}
    from doctor.host.documents import parse_toml  # late: most machines have none of these files

    try:
        return parse_toml(text)
    except ValueError:
        return {}
