"""What `gpudoctor install config loader` and `... path` do: let programs find CUDA's libraries and commands."""

from __future__ import annotations

import re

from doctor.commands.install.config_target import Machine, machine, prepared, shell_script
from doctor.commands.install.install import BadOrder, Prepared
from installers.hooks import LOADER_DIRECTORY, Found, hooks_plan, loader_plan, path_plan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_USUAL = {
    ("LD_LIBRARY_PATH", "linux"): "/usr/local/cuda/lib64",
    ("PATH", "linux"): "/usr/local/cuda/bin",
}
# What stands for something else in a file of the loader, in a list of directories, in a script of cmd or of a shell.
_MEANT_OTHERWISE = {"linux": " \t\r\n#,:=", "windows": '\t\r\n;%="!^&|<>'}


def loader(directory: str, name: str, conda: str = "", os_family: str = "", below: str = LOADER_DIRECTORY) -> Prepared:
    """Libraries: for every process, or for a conda environment; raises BadOrder, NoSuchName."""
    at = machine(os_family)
    if at.os_family not in {"linux", "windows"} or (at.os_family == "windows" and not conda):
        raise BadOrder("only Linux has loader directories; on this system use `gpudoctor install config path`")
    if conda:
        variable = "LD_LIBRARY_PATH" if at.os_family == "linux" else "PATH"
        return _hooks(at, Found(variable, _directory(at, "LD_LIBRARY_PATH", directory)), conda, name)
    return prepared(at, loader_plan(_directory(at, "LD_LIBRARY_PATH", directory), _file_name(name), below))


def path(directory: str, name: str, conda: str = "", os_family: str = "") -> Prepared:
    """Programs: in the user's shells, or in a conda environment; raises BadOrder, NoSuchName."""
    at = machine(os_family)
    found = Found("PATH", _directory(at, "PATH", directory))
    if conda:
        return _hooks(at, found, conda, name)
    return prepared(at, path_plan(found.directory, shell_script(at)))


def _hooks(at: Machine, found: Found, prefix: str, name: str) -> Prepared:
    """Raises BadOrder where the prefix is no conda environment."""
    prefix = prefix.replace("\\", "/").rstrip("/") if at.os_family == "windows" else prefix.rstrip("/")
    if not prefix or any(not one.isprintable() for one in prefix):
        raise BadOrder(f"--conda {prefix!r} is not a directory: give the environment's prefix, such as $CONDA_PREFIX")
    if at.lacks(f"{prefix}/conda-meta"):
        raise BadOrder(f"{prefix} is not a conda environment: it has no conda-meta")
    # Two hooks of one name in one environment, for PATH and for libraries, would be one file.
    name = f"{_file_name(name)}-{'path' if found.variable == 'PATH' else 'libraries'}"
    return prepared(at, hooks_plan(found, prefix, name, windows=at.os_family == "windows"))


def _file_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadOrder(f"--name {name!r} is not a valid file name: use letters, digits, '.', '_' and '-'")
    return name


def _directory(at: Machine, variable: str, directory: str) -> str:
    """The one that is named, else the usual one; raises BadOrder."""
    family = "windows" if at.os_family == "windows" else "linux"
    directory = directory or _USUAL.get((variable, family), "")
    if not directory:
        raise BadOrder("give the directory: on Windows each CUDA version has its own")
    whole = re.match(r"[A-Za-z]:[\\/]", directory) if family == "windows" else directory.startswith("/")
    if not whole or set(directory) & set(_MEANT_OTHERWISE[family]):
        raise BadOrder(f"{directory!r} cannot be a list entry: give an absolute path without blanks and ':'")
    directory = directory.replace("/", "\\").rstrip("\\") if family == "windows" else directory.rstrip("/") or "/"
    if at.lacks(directory):
        raise BadOrder(f"{directory} does not exist")
    return directory
