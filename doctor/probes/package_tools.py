"""Who installs into a Python environment, and which project's lock file rules it; told by files.

Sources: uv's documentation, "Structure and files" (uv.lock beside pyproject.toml), and "Installation" (~/.local/bin);
python-poetry/poetry:src/poetry/utils/env/env_manager.py; pixi's documentation, "Environments" (.pixi/envs/NAME);
Debian's README of python3-venv: ensurepip is a package of its own there.
"""

from __future__ import annotations

from compat.record import NamedTuple
from doctor.facts.environment import Distribution
from doctor.host import Host
from doctor.probes.prefixes import Located

_OFFLINE = ("/usr/local/bin", "/usr/bin", "/bin", "/root/.local/bin", "/opt/conda/bin")  # PATH of most images
_PIXI = "/.pixi/envs/"
_ELEMENTS_AT_MOST = 64


class PackageTools(NamedTuple):
    """As `facts.Environment` has them."""

    installers: tuple[str, ...]
    keeper: str = ""
    project: str = ""


def look(host: Host, located: Located, distributions: tuple[Distribution, ...]) -> PackageTools:
    """What can install there, best first."""
    found = ["pip"] if any(one.name == "pip" and not one.hidden_by for one in distributions) else []
    if not found and _has_uv(host):
        found.append("uv")
    if not found and _has_ensurepip(host, located):
        found.append("ensurepip")
    return PackageTools(tuple(found or ["none"]), *_kept(host, located))


def _has_uv(host: Host) -> bool:
    """On PATH, or where its installer puts it."""
    program = "uv.exe" if host.os_family == "windows" else "uv"
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
        for keeper in ("uv", "poetry"):
            if host.is_file(f"{folder}/{keeper}.lock"):
                return keeper, folder
    return ("poetry", "") if "/pypoetry/virtualenvs/" in located.prefix else ("", "")
