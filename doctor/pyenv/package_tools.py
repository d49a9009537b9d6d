"""Who installs into a Python environment, and which project's lock file rules it; told by files.

Sources: pdm's documentation ("pdm.lock", `--project`); pypa/pipenv:pipenv/utils/virtualenv.py (the environment's file
.project names the project); mamba's documentation (MAMBA_EXE); uv's
documentation, "Structure and files" (uv.lock beside pyproject.toml), and "Installation" (~/.local/bin);
python-poetry/poetry:src/poetry/utils/env/env_manager.py; pixi's documentation, "Environments" (.pixi/envs/NAME);
Debian's README of python3-venv: ensurepip is a package of its own there.
"""

from __future__ import annotations

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.optional_reads import text_of
from doctor.model.facts.environment import Distribution
from doctor.pyenv.prefixes import Located

_OFFLINE = ("/usr/local/bin", "/usr/bin", "/bin", "/root/.local/bin", "/opt/conda/bin")  # PATH of most images
_PIXI = "/.pixi/envs/"
_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile.lock": "pipenv"}
_ELEMENTS_AT_MOST = 64
_PATH_BYTES = 4096


class PackageTools(NamedTuple):
    """As `facts.Environment` has them."""

    installers: tuple[str, ...]
    keeper: str = ""
    project: str = ""
    conda: str = ""


def look(host: Host, located: Located, distributions: tuple[Distribution, ...]) -> PackageTools:
    """What can install there, best first."""
    found = ["pip"] if any(one.name == "pip" and not one.hidden_by for one in distributions) else []
    if not found and _has(host, "uv"):
        found.append("uv")
    if not found and _has_ensurepip(host, located):
        found.append("ensurepip")
    keeper, project = _kept(host, located)
    return PackageTools(tuple(found or ["none"]), keeper, project, _conda(host, located))


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
    if "/pypoetry/virtualenvs/" in located.prefix:
        return "poetry", ""
    project = text_of(host, f"{located.prefix}/.project", _PATH_BYTES).strip()
    is_there = project and host.is_file(f"{project}/Pipfile")  # virtualenvwrapper writes .project, too
    return ("pipenv", project) if is_there else ("", "")
