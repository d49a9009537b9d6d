"""Who installs into a Python environment, and which project's lock file rules it; told by files.

Sources: pdm's documentation ("pdm.lock", `--project`); pypa/pipenv:pipenv/utils/virtualenv.py (the environment's file
.project names the project); mamba's documentation (MAMBA_EXE); uv's
documentation, "Structure and files" (uv.lock beside pyproject.toml), and "Installation" (~/.local/bin);
python-poetry/poetry:src/poetry/utils/env/env_manager.py; pixi's documentation, "Environments" (.pixi/envs/NAME);
Debian's README of python3-venv: ensurepip is a package of its own there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.documents import parse_toml
from doctor.host.optional_reads import text_of
from doctor.model.facts.environment import Distribution
from doctor.pyenv.prefixes import Located
from doctor.pyenv.project import hashed_project, working_directory

_OFFLINE = ("/usr/local/bin", "/usr/bin", "/bin", "/root/.local/bin", "/opt/conda/bin")  # PATH of most images
_PIXI = "/.pixi/envs/"
_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile.lock": "pipenv"}
_ELEMENTS_AT_MOST = 64
_MANIFESTS = ("pyproject.toml", "pixi.toml", "Pipfile")
_MANIFEST_BYTES = 256 << 10
_DEPENDENCIES = re.compile(r"dependenc|^(dev-)?packages$")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PATH_BYTES = 4096


class PackageTools(NamedTuple):
    """As `facts.Environment` has them."""

    installers: tuple[str, ...]
    keeper: str = ""
    project: str = ""
    conda: str = ""
    declared: tuple[str, ...] = ()


def look(host: Host, located: Located, distributions: tuple[Distribution, ...]) -> PackageTools:
    """What can install there, best first."""
    found = ["pip"] if any(one.name == "pip" and not one.hidden_by for one in distributions) else []
    if not found and _has(host, "uv"):
        found.append("uv")
    if not found and _has_ensurepip(host, located):
        found.append("ensurepip")
    keeper, project = _kept(host, located)
    declared = _declared(host, project) if project else ()
    return PackageTools(
        installers=tuple(found or ["none"]),
        keeper=keeper,
        project=project,
        conda=_conda(host, located),
        declared=declared,
    )


def _declared(host: Host, project: str) -> tuple[str, ...]:
    """The distributions that the manifests of a project name, of every group.

    Sources: PyPA's specifications, "pyproject.toml" and "Dependency Groups"; the manifests of poetry, pdm, uv, pixi and
    pipenv (Pipfile).
    """
    names: dict[str, None] = {}
    for file in _MANIFESTS:
        try:
            read = parse_toml(text_of(host, f"{project}/{file}", _MANIFEST_BYTES))
        except ValueError:
            continue
        names.update(dict.fromkeys(_names(read)))
    return tuple(names)


def _names(table: Any, key: str = "") -> Iterator[str]:
    """Of a table of dependencies its keys, of a list its requirements; tables of other tables are looked into."""
    if isinstance(table, dict):
        for name, value in table.items():
            if _DEPENDENCIES.search(key) and not isinstance(value, list) and not _DEPENDENCIES.search(name):
                yield from (_canonical(name),) if name != "python" and _is_requirement(value) else _names(value, key)
            else:
                yield from _names(value, name if _DEPENDENCIES.search(name) else key)
    elif isinstance(table, list) and _DEPENDENCIES.search(key):
        yield from (_canonical(found[0]) for one in table if isinstance(one, str) and (found := _NAME.match(one)))


def _is_requirement(value: Any) -> bool:
    """Whether it says which release: a text, or a table of its properties."""
    known = {"version", "git", "path", "url", "index", "extras", "source", "markers", "channel", "build"}
    return isinstance(value, str) or (isinstance(value, dict) and not known.isdisjoint(value))


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _conda(host: Host, located: Located) -> str:
    """The program that changes a conda environment here: conda, where there is no sign that it is another one."""
    if located.kind != "conda":
        return ""
    if host.environ.get("CONDA_EXE") or _has(host, "conda"):
        return "conda"
    named = host.environ.get("MAMBA_EXE", "").replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    found = (one for one in ("mamba", "micromamba") if named == one or _has(host, one))
    return next(found, "conda")


def _has(host: Host, name: str) -> bool:
    """On PATH, or where the installers of these programs put them."""
    program = f"{name}.exe" if host.os_family == "windows" else name
    listed = host.environ.get("PATH", "").split(";" if host.os_family == "windows" else ":")[:_ELEMENTS_AT_MOST]
    home = host.environ.get("HOME", "")
    folders = [*filter(None, listed), *([f"{home}/.local/bin"] if home else [])] if host.is_live else [*_OFFLINE]
    return any(host.is_file(f"{folder.rstrip('/')}/{program}") for folder in folders)


def _has_ensurepip(host: Host, located: Located) -> bool:
    library = "Lib" if host.os_family == "windows" else f"lib/{located.tag}"
    return host.is_file(f"{located.base.rstrip('/')}/{library}/ensurepip/__init__.py")


def _kept(host: Host, located: Located) -> tuple[str, str]:
    """The tool and the project whose lock file says what belongs in there; ("", "") for none."""
    project, found, environment = located.prefix.rpartition(_PIXI)
    if found and "/" not in environment:
        return "pixi", project
    folder, _, name = located.prefix.rpartition("/")
    if name == ".venv":
        for lock, keeper in _LOCKS.items():
            if host.is_file(f"{folder}/{lock}"):
                return keeper, folder
    tool, project = hashed_project(located.prefix, working_directory() if host.is_live else "")
    if tool:
        return tool, project
    if "/pypoetry/virtualenvs/" in located.prefix:
        return "poetry", ""
    project = text_of(host, f"{located.prefix}/.project", _PATH_BYTES).strip()
    is_there = project and host.is_file(f"{project}/Pipfile")  # virtualenvwrapper writes .project, too
    return ("pipenv", project) if is_there else ("", "")
