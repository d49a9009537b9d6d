"""Make an empty Python environment.

Sources: Python's documentation of `venv`; the Python launcher for Windows (`py -3.12`); uv's documentation (`uv venv
--python`); conda's documentation (`conda create --prefix`), with Python from conda-forge, which has every release.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import CreateEnvironment
from installers.effect import EnvironmentMade
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def plan(need: CreateEnvironment, target: Target, matrix: Matrix) -> Plan:
    """With the tool that will install into it."""
    python = need.python
    make = {"uv": _uv, "conda": _conda}.get(target.tool, _venv)
    summary = f"create an environment in {need.directory}" + (f" with Python {python}" if python else "")
    argv = make(python, need.directory, target)
    step = Command(argv, "create a virtual environment", timeout_s=3600, inverse=removal(need, target))
    return Plan(summary, (step,), (made(need.directory, target, python),))


def made(where: str, target: Target, python: str = "") -> EnvironmentMade:
    """What is there then; `python` is its version, "" for that of the interpreter that makes it."""
    kind = "conda" if target.tool == "conda" else "venv"
    inside = "bin/python"
    if target.os_family == "windows":
        inside = "python.exe" if kind == "conda" else "Scripts\\python.exe"
    separator = "\\" if target.os_family == "windows" else "/"
    return EnvironmentMade(where, f"{where}{separator}{inside}", python, kind)


def removal(need: CreateEnvironment, target: Target) -> Inverse:
    """Remove the directory, unless it was there before."""
    if target.os_family == "windows":
        return Inverse(left=f"remove the directory {need.directory}")
    return Inverse((("rm", "-r", "--", need.directory),), names=(need.directory,), present=("test", "-e"))


def _venv(python: str, where: str, target: Target) -> tuple[str, ...]:
    if python.startswith("2."):  # it has no module venv, and newer releases of virtualenv cannot make it
        return ("pipx", "run", "--spec", "virtualenv<20.22", "virtualenv", "-p", f"python{python}", where)
    if target.os_family == "windows":
        return ("py", *((f"-{python}",) if python else ()), "-m", "venv", where)
    return (f"python{python or 3}", "-m", "venv", where)


def _uv(python: str, where: str, target: Target) -> tuple[str, ...]:
    return ("uv", "venv", *(("--python", python) if python else ()), where)


def _conda(python: str, where: str, target: Target) -> tuple[str, ...]:
    return (
        "conda",
        "create",
        "-y",
        "-p",
        where,
        "-c",
        "conda-forge",
        f"python={python}" if python else "python",
        "pip",
    )


METHOD = Method(CreateEnvironment, "a Python environment", plan)
