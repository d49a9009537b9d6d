"""A lock file as the facts of what is installed from it on one platform."""

from __future__ import annotations

import os
import platform as this
from typing import Any

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.version import CudaVersion
from doctor.commands.dockerfile.beside_lock import with_project
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.expanded import of_package, without_wheel
from doctor.commands.dockerfile.facts import planned_environments
from doctor.commands.dockerfile.locked import TOOLS, LockUse
from doctor.commands.dockerfile.pins import Pins
from doctor.commands.dockerfile.requirements import LOCAL_VERSION, Listed, constrained, environment, requirements
from doctor.commands.dockerfile.run import Pinned, conda_pins
from doctor.host.files import read_regular
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase, DockerfileFacts, DockerfileLine
from doctor.model.facts.seen import Place, Seen, Unseen, WhyNot, all_unseen, value_or
from doctor.model.facts.system import SystemFacts, common_machine
from doctor.planned.assumed import with_assumed
from doctor.probes import independent_unseen
from doctor.script.locks.package import LockError, Wanted
from doctor.script.locks.read import (
    CONDA_LOCKS,
    FILE_AT_MOST_BYTES,
    SYSTEMS,
    admitted_python,
    names_of,
    packages_of,
    parse_lock,
    subdir_of,
)

_HIDDEN = Unseen("a lock file does not show it: name it with --assume-driver or --assume-gpu", WhyNot.NOT_SHOWN)
_FAMILIES = {"darwin": "macos", "win32": "windows"}


class LockRequest(NamedTuple):
    """A lock file, and for what it is read."""

    path: str
    platform: str = ""  # "linux/arm64"; "" for this machine's
    python: str = ""  # "3.12"; "" for one that the project admits
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    driver: str = ""  # of the machine that it is installed on: conda chooses by it


def facts_of_lock(asked: LockRequest, matrix: Matrix) -> Facts:
    """Return what is installed from the file; raises LockError."""
    text, name = _content(asked.path), os.path.basename(asked.path)
    family, machine = parse_platform(asked.platform)
    document = parse_lock(name, text, asked.path)
    python = asked.python or admitted_python(document)
    wanted = Wanted(names_of(family, machine, python), frozenset(asked.extras), frozenset(asked.groups))
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
    where = subdir_of(family, machine)
    wanted = wanted._replace(driver_cuda=value_or(with_assumed(bare, matrix, asked.driver, ()).driver.cuda, None))
    told, pinned, unread = _selected(document, text, asked.path, wanted, where)
    read_for = "--python-version" if asked.python else f"assumed from {name}: --python-version sets another"
    found, unjudged = planned_environments(pinned, Seen(python, read_for), bare, matrix)
    made = [one._replace(asked_by=name) for one in found]
    return bare._replace(
        environments=Seen(tuple(made), Place(asked.path)),
        dockerfile=Seen(told._replace(unjudged=(*unread, *unjudged)), Place(asked.path)),
    )


def _told(path: str) -> DockerfileFacts:
    base = DockerfileBase(image="", source=Place(path), release="", variant="", system="")
    return DockerfileFacts(stage="", base=base, drivers=(), trees=(), compiles=(), paths=(), caches=(), unread=())


def _content(path: str) -> str:
    try:
        content = read_regular(path, FILE_AT_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LockError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > FILE_AT_MOST_BYTES or b"\0" in content:
        raise LockError(f"{path}: it is not text, or has more than {FILE_AT_MOST_BYTES >> 20} MiB")
    return content.decode("utf-8-sig", "replace")


def parse_platform(named: str) -> tuple[str, str]:
    """Return system and processor of "linux/arm64", this machine's for ""; raises LockError."""
    system, _, machine = named.lower().partition("/")
    if not named:
        system, machine = this.system().lower(), this.machine()
    family = _FAMILIES.get(system, system)
    if family not in SYSTEMS:
        raise LockError(f"--platform {named}: linux, windows or darwin, with a processor: linux/arm64")
    return family, common_machine(machine or "x86_64")


def _selected(
    document: Any, text: str, path: str, wanted: Wanted, platform: str
) -> tuple[DockerfileFacts, list[Pinned], list[DockerfileLine]]:
    """What the file installs, and what could not be read; raises LockError."""
    told = _told(path)
    name = os.path.basename(path)
    if name.endswith((".txt", ".in")):
        return told, *_listed(requirements(name, _context(path, text), {}), path)
    if name.endswith((".yml", ".yaml")) and not name.endswith(CONDA_LOCKS):
        return told, *_environment_file(path, _context(path, text), wanted.driver_cuda)
    packages = packages_of(document, text, path, wanted, platform)
    project = LockUse(TOOLS.get(name, "pip"), name, "pyproject.toml")
    told = with_project(told._replace(no_wheels=without_wheel(packages)), project, document, _context(path, text))
    beside = tuple(f"{one.name}=={one.version}" for one in packages)
    return told, [of_package(one, "", beside) for one in packages if one.name and one.version], []


def _listed(listed: Listed, path: str) -> tuple[list[Pinned], list[DockerfileLine]]:
    pins, lines = Pins("pip", "", ()), constrained(listed)
    build = pins.build(listed.indexes, is_whole=listed.is_whole)
    tags = pins.tags(listed.indexes, has_main=listed.has_main, is_whole=listed.is_whole)
    specs = tuple(one.spec for one in lines)
    found = [Pinned(one.spec, build, "", tool="pip", source=one.source, tags=tags, beside=specs) for one in lines]
    unread = [DockerfileLine(f"installs {one.spec[:80]}", one.source) for one in listed.others]
    unread += [
        DockerfileLine(f"names {one.spec[:80]}, but no index that has it", one.source)
        for one in found
        if tags == ("",) and LOCAL_VERSION.fullmatch(one.spec.partition(";")[0].strip())
    ]
    if not listed.is_whole:
        unread.append(DockerfileLine("names a file that was not found", Place(path)))
    return found, unread


def _context(path: str, text: str) -> Context:
    """What lies beside a file that was read already: with hashes it is larger than a file of a build."""
    context = Context(os.path.dirname(path) or ".")
    context.keep(os.path.basename(path), text)
    return context


def _environment_file(
    path: str, context: Context, driver_cuda: CudaVersion | None
) -> tuple[list[Pinned], list[DockerfileLine]]:
    """conda's environment.yml: its `pip:` list; which builds its own packages get, conda's solver decides."""
    found = environment(os.path.basename(path), context, {})
    if found is None:
        raise LockError(f"{path}: it is not a conda environment file: it has no dependencies")
    pinned, unread = _listed(found.pip, path)
    return [*conda_pins(found.packages, "", found.channels, driver_cuda), *pinned], unread
