"""A lock file as the facts of what is installed from it on one platform."""

from __future__ import annotations

import os
import platform as this
import re
from collections.abc import Callable, Mapping
from typing import Any

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.specifier import accepts
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.facts import planned_environments
from doctor.commands.dockerfile.pins import Pins
from doctor.commands.dockerfile.requirements import Listed, constrained, environment, requirements
from doctor.commands.dockerfile.run import Pinned, conda_pins
from doctor.commands.dockerfile.yaml import Node, parse_yaml
from doctor.commands.lock import conda, pipfile, toml, uv
from doctor.commands.lock.package import Lines, LockError, Package, Wanted, refuse_other_shape
from doctor.host.documents import parse_json, parse_toml
from doctor.host.files import read_regular
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase, DockerfileFacts, DockerfileLine
from doctor.model.facts.seen import Place, Seen, Unseen, WhyNot, all_unseen
from doctor.model.facts.system import SystemFacts, common_machine
from doctor.probes import independent_unseen
from doctor.script.parse import DockerfileError

FILE_AT_MOST_BYTES = 32 << 20
_HIDDEN = Unseen("a lock file does not show it: name it with --assume-driver or --assume-gpu", WhyNot.NOT_SHOWN)
_FAMILIES = {"darwin": "macos", "win32": "windows"}
_SYSTEMS = {"linux": ("linux", "Linux", "posix"), "windows": ("win32", "Windows", "nt"),
            "macos": ("darwin", "Darwin", "posix")}  # fmt: skip
_CONDA = {("linux", "x86_64"): "linux-64", ("linux", "aarch64"): "linux-aarch64", ("macos", "x86_64"): "osx-64",
          ("macos", "aarch64"): "osx-arm64", ("windows", "x86_64"): "win-64"}  # fmt: skip
_PYTHONS = ("3.12", "3.13", "3.14", "3.11", "3.10", "3.9", "3.8")  # the first that a project admits
_NO = Node(None, 0)
_CONDA_LOCKS = ("conda-lock.yml", "conda-lock.yaml")
_TOML_NAMES = r'\s*name\s*=\s*"([^"]+)"'
_JSON_NAMES = r'\s*"([^"]+)"\s*:\s*\{'


class LockRequest(NamedTuple):
    """A lock file, and for what it is read."""

    path: str
    platform: str = ""  # "linux/arm64"; "" for this machine's
    python: str = ""  # "3.12"; "" for one that the project admits
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def facts_of_lock(asked: LockRequest, matrix: Matrix) -> Facts:
    """Return what is installed from the file; raises LockError."""
    text, name = _content(asked.path), os.path.basename(asked.path)
    family, machine = _platform(asked.platform)
    document = _document(name, text, asked.path)
    python = asked.python or _python(document)
    wanted = Wanted(_environment(family, machine, python), frozenset(asked.extras), frozenset(asked.groups))
    system: SystemFacts = all_unseen(SystemFacts, _HIDDEN)
    bare = Facts.unseen(Machine("lock", asked.path), _HIDDEN)._replace(
        system=system._replace(
            family=Seen(family, "--platform"),
            machine=Seen(machine, "--platform"),
            jetson=Seen("", "--platform"),
            wsl=Seen(0, "--platform"),
        ),
        independent=independent_unseen(_HIDDEN),
    )
    where = _CONDA.get((family, machine), f"{family}-{machine}")
    pinned, unread = _selected(document, text, asked.path, wanted, where)
    read_for = "--python-version" if asked.python else f"assumed from {name}: --python-version sets another"
    found, unjudged = planned_environments(pinned, Seen(python, read_for), bare, matrix)
    lines = (*unread, *unjudged)
    made = [one._replace(asked_by=name) for one in found]
    return bare._replace(
        environments=Seen(tuple(made), Place(asked.path)), dockerfile=Seen(_told(asked.path, lines), Place(asked.path))
    )


def _told(path: str, unjudged: tuple[DockerfileLine, ...]) -> DockerfileFacts:
    base = DockerfileBase(image="", source=Place(path), release="", variant="", system="")
    return DockerfileFacts(
        stage="", base=base, drivers=(), trees=(), compiles=(), paths=(), caches=(), unread=(), unjudged=unjudged
    )


def _content(path: str) -> str:
    try:
        content = read_regular(path, FILE_AT_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LockError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > FILE_AT_MOST_BYTES or b"\0" in content:
        raise LockError(f"{path}: it is not text, or has more than {FILE_AT_MOST_BYTES >> 20} MiB")
    return content.decode("utf-8-sig", "replace")


def _platform(named: str) -> tuple[str, str]:
    system, _, machine = named.lower().partition("/")
    if not named:
        system, machine = this.system().lower(), this.machine()
    family = _FAMILIES.get(system, system)
    if family not in _SYSTEMS:
        raise LockError(f"--platform {named}: linux, windows or darwin, with a processor: linux/arm64")
    return family, common_machine(machine or "x86_64")


def _environment(family: str, machine: str, python: str) -> dict[str, str]:
    sys_platform, system, os_name = _SYSTEMS[family]
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


def _python(document: object) -> str:
    """A Python that the project admits: 3.12 where it does, otherwise a newer or older one.

    conda's environment.yml lists it as a package: "python=3.10", "python >=3.11,<3.13".
    """
    if isinstance(document, Node):
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
    return next((one for one in _PYTHONS if any(_admits(each, one) for each in asked.split("||"))), _PYTHONS[0])


def _admits(asked: str, python: str) -> bool:
    """Whether a specifier does, also one of poetry's: "3.12.*", "~3.10", "^3.9"."""
    clauses = [re.sub(r"^=?(?=\d)", "==", one) for one in asked.replace(" ", "").split(",")]
    clauses = [re.sub(r"^(?:~(?!=)|==)(\d+\.\d+)(?:\.[\d*]+)*$", r"==\1.*", one) for one in clauses]
    specifier = ",".join(f">={one[1:]},<4" if one.startswith("^3") else one for one in clauses)
    try:
        return accepts(specifier, python)
    except ValueError:
        return True


def _document(name: str, text: str, path: str) -> object:
    """The parsed file, the text itself for a list of requirements."""
    if name.endswith((".toml", "uv.lock", "poetry.lock", "pdm.lock")):
        try:
            document = parse_toml(text, FILE_AT_MOST_BYTES)
        except ValueError as error:
            if re.search(r"^[A-Za-z][\w.-]*(\[.*\])?==", text, re.MULTILINE):
                raise LockError(
                    f"{path}: it is a requirements file, not TOML: rename it to requirements.txt"
                ) from error
            raise LockError(f"{path}: it is not TOML: {error}") from error
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


def _selected(
    document: Any, text: str, path: str, wanted: Wanted, platform: str
) -> tuple[list[Pinned], list[DockerfileLine]]:
    """What the file installs, and what could not be read; raises LockError."""
    name = os.path.basename(path)
    if name.endswith((".txt", ".in")):
        return _listed(requirements(name, _context(path, text), {}), path)
    if name.endswith((".yml", ".yaml")) and not name.endswith(_CONDA_LOCKS):
        return _environment_file(path, _context(path, text))
    packages = _packages(document, text, path, wanted, platform)
    beside = tuple(f"{one.name}=={one.version}" for one in packages)
    return [_pinned(one, beside) for one in packages if one.name and one.version], []


def _packages(document: Any, text: str, path: str, wanted: Wanted, platform: str) -> tuple[Package, ...]:
    name = os.path.basename(path)
    if reader := _reader(name):
        return reader[0](document, wanted, path, Lines(text, _TOML_NAMES))
    if name == "pixi.lock":
        return conda.pixi(document, platform, path)
    if name.endswith(_CONDA_LOCKS):
        return conda.conda_lock(document, platform, path)
    if name == "Pipfile.lock":
        return pipfile.select(document, wanted, path, Lines(text, _JSON_NAMES))
    known = "uv.lock, pylock.toml, poetry.lock, pdm.lock, pixi.lock, conda-lock.yml, Pipfile.lock, requirements.txt"
    raise LockError(f"{path}: gpudoctor does not read this file; it reads {known} and environment.yml")


def _pinned(one: Package, beside: tuple[str, ...]) -> Pinned:
    spec = f"{one.name}=={one.version}"
    return Pinned(spec, one.build, "", tool=one.tool, source=one.source, cuda=one.cuda, beside=beside)


def _listed(listed: Listed, path: str) -> tuple[list[Pinned], list[DockerfileLine]]:
    pins, lines = Pins("pip", "", ()), constrained(listed)
    build = pins.build(listed.indexes, is_whole=listed.is_whole)
    tags = pins.tags(listed.indexes, has_main=listed.has_main, is_whole=listed.is_whole)
    specs = tuple(one.spec for one in lines)
    found = [Pinned(one.spec, build, "", tool="pip", source=one.source, tags=tags, beside=specs) for one in lines]
    unread = [DockerfileLine(f"installs {one.spec[:80]}", one.source) for one in listed.others]
    if not listed.is_whole:
        unread.append(DockerfileLine("names a file that was not found", Place(path)))
    return found, unread


def _context(path: str, text: str) -> Context:
    """What lies beside a file that was read already: with hashes it is larger than a file of a build."""
    context = Context(os.path.dirname(path) or ".")
    context.keep(os.path.basename(path), text)
    return context


def _environment_file(path: str, context: Context) -> tuple[list[Pinned], list[DockerfileLine]]:
    """conda's environment.yml: its `pip:` list; which builds its own packages get, conda's solver decides."""
    found = environment(os.path.basename(path), context, {})
    if found is None:
        raise LockError(f"{path}: it is not a conda environment file: it has no dependencies")
    pinned, unread = _listed(found.pip, path)
    return [*conda_pins(found.packages, ""), *pinned], unread
