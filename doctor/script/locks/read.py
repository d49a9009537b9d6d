"""Read a lock file by its name: the packages that it selects, and the Python that its project admits."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from compat.specifier import accepts
from doctor.host.documents import parse_json, parse_toml
from doctor.script.locks import conda, pipfile, toml, uv
from doctor.script.locks.package import Lines, LockError, Package, Wanted, refuse_other_shape
from doctor.script.parse import DockerfileError
from doctor.script.yaml import Node, parse_yaml

FILE_AT_MOST_BYTES = 32 << 20
SYSTEMS = {"linux": ("linux", "Linux", "posix"), "windows": ("win32", "Windows", "nt"),
           "macos": ("darwin", "Darwin", "posix")}  # fmt: skip
_CONDA = {("linux", "x86_64"): "linux-64", ("linux", "aarch64"): "linux-aarch64", ("macos", "x86_64"): "osx-64",
          ("macos", "aarch64"): "osx-arm64", ("windows", "x86_64"): "win-64"}  # fmt: skip
_PYTHONS = ("3.12", "3.13", "3.14", "3.11", "3.10", "3.9", "3.8")  # the first that a project admits
_NO = Node(None, 0)
CONDA_LOCKS = ("conda-lock.yml", "conda-lock.yaml")
_TOML_NAMES = r'\s*name\s*=\s*"([^"]+)"'
_JSON_NAMES = r'\s*"([^"]+)"\s*:\s*\{'


def names_of(family: str, machine: str, python: str) -> dict[str, str]:
    """Return the values of PEP 508's names on a platform."""
    sys_platform, system, os_name = SYSTEMS[family]
    names = {("windows", "x86_64"): "AMD64", ("macos", "aarch64"): "arm64", ("windows", "aarch64"): "ARM64"}
    return {
        "platform_system": system,
        "sys_platform": sys_platform,
        "os_name": os_name,
        "platform_machine": names.get((family, machine), machine),
        "platform_release": "",
        "platform_version": "",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "platform_python_implementation": "CPython",
        "python_version": python,
        "python_full_version": f"{python}.0",
    }


def subdir_of(family: str, machine: str) -> str:
    """Return conda's name of a platform: "linux-64"."""
    return _CONDA.get((family, machine), f"{family}-{machine}")


def admitted_python(document: object) -> str:
    """Return a Python that the project admits: 3.12 where it does, otherwise a newer or older one.

    conda's environment.yml lists it as a package: "python=3.10", "python >=3.11,<3.13".
    """
    if isinstance(document, Node):
        if locked := _locked_python(document):
            return locked
        listed = [one.text.rpartition("::")[2].replace(" ", "") for one in (document.at("dependencies") or _NO).items]
        found = next(filter(None, (re.match(r"python([=<>!~]=?)?(\d[\d.*,<>=!~]*)", one) for one in listed)), None)
        exact = re.match(r"\d\.\d+", found[2]) if found and found[1] in {None, "=", "=="} else None
        if exact:
            return exact[0]
        asked = found[1] + found[2] if found else ""
        return next((one for one in _PYTHONS if not asked or accepts(asked, one)), _PYTHONS[0])
    said: Any = document if isinstance(document, dict) else {}
    metadata, pipenv = said.get("metadata", {}), said.get("_meta", {}).get("requires", {})
    asked = said.get("requires-python") or metadata.get("python-versions") or metadata.get("requires_python")
    asked = asked or pipenv.get("python_version") or ""
    return next((one for one in _PYTHONS if any(admits(each, one) for each in asked.split("||"))), _PYTHONS[0])


def _locked_python(document: Node) -> str:
    """Return the Python that pixi.lock or conda-lock.yml holds; "" where it holds none or several."""
    found = set()
    for one in (document.at("packages") or document.at("package") or _NO).items:
        address, name, version = (one.at(key) or _NO for key in ("conda", "name", "version"))
        text = address.text or (f"/{name.text}-{version.text}-" if not one.at("pypi") else "")
        if python := re.search(r"/python-(3\.\d+)\.\d+-", text):
            found.add(python[1])
    return found.pop() if len(found) == 1 else ""


def admits(asked: str, python: str) -> bool:
    """Return whether a specifier admits a Python, also one of poetry's: "3.12.*", "~3.10", "^3.9"."""
    clauses = [re.sub(r"^=?(?=\d)", "==", one) for one in asked.replace(" ", "").split(",")]
    clauses = [re.sub(r"^(?:~(?!=)|==)(\d+\.\d+)(?:\.[\d*]+)*$", r"==\1.*", one) for one in clauses]
    specifier = ",".join(f">={one[1:]},<4" if one.startswith("^3") else one for one in clauses)
    try:
        return accepts(specifier, python)
    except ValueError:
        return True


def parse_lock(name: str, text: str, path: str) -> object:
    """Return the parsed file, the text itself for a list of requirements; raises LockError."""
    if name.endswith((".toml", "uv.lock", "poetry.lock", "pdm.lock")):
        try:
            document = parse_toml(text, FILE_AT_MOST_BYTES)
        except ValueError as error:
            if re.search(r"^[A-Za-z][\w.-]*(\[.*\])?==", text, re.MULTILINE):
                hint = "it is a requirements file, not TOML: rename it to requirements.txt"
                raise LockError(f"{path}: {hint}") from error
            raise LockError(f"{path}: it is not TOML: {error}") from error
        if not document:
            raise LockError(f"{path}: it is empty")
        refuse_other_shape(document, (_reader(name) or (None, {}))[1], path)
        return document
    if name.endswith(("pixi.lock", ".yml", ".yaml")):
        try:
            return parse_yaml(text, path)
        except DockerfileError as error:
            raise LockError(str(error)) from error
    if name.endswith("Pipfile.lock"):
        try:
            document = parse_json(text)
        except ValueError as error:
            raise LockError(f"{path}: it is not JSON") from error
        if isinstance(document, dict):
            refuse_other_shape(document, pipfile.SHAPE, path)
        return document
    return text


Reader = Callable[[Mapping[str, Any], Wanted, str, Lines], tuple[Package, ...]]
_READERS: dict[str, tuple[Reader, dict[str, Any]]] = {
    "uv.lock": (uv.select, uv.SHAPE),
    "poetry.lock": (toml.poetry, toml.POETRY),
    "pdm.lock": (toml.pdm, toml.PDM),
}


def _reader(name: str) -> tuple[Reader, dict[str, Any]] | None:
    """What reads a file of TOML with this name, and the shape that it has."""
    is_pylock = re.fullmatch(r"pylock(\.[\w-]+)?\.toml", name)
    return (toml.pylock, toml.PYLOCK) if is_pylock else _READERS.get(name)


def packages_of(document: Any, text: str, path: str, wanted: Wanted, platform: str) -> tuple[Package, ...]:
    """Return what a lock file installs; `platform` is conda's name of it. Raises LockError."""
    name = os.path.basename(path)
    if reader := _reader(name):
        return reader[0](document, wanted, path, Lines(text, _TOML_NAMES))
    if name == "pixi.lock":
        return conda.pixi(document, platform, path, wanted.part)
    if name.endswith(CONDA_LOCKS):
        return conda.conda_lock(document, platform, path)
    if name == "Pipfile.lock":
        return pipfile.select(document, wanted, path, Lines(text, _JSON_NAMES))
    known = "uv.lock, pylock.toml, poetry.lock, pdm.lock, pixi.lock, conda-lock.yml, Pipfile.lock, requirements.txt"
    raise LockError(f"{path}: gpudoctor does not read this file; it reads {known} and environment.yml")
