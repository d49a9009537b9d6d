"""The packages of a lock file or project that a command of a Dockerfile installs, as requirements with their lines."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from doctor.commands.dockerfile.beside_lock import with_project
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.locked import ALL, LockUse
from doctor.commands.dockerfile.pyproject import declared, extras_of, groups_of, parse_project
from doctor.commands.dockerfile.run import Pinned
from doctor.model.facts import Facts
from doctor.model.facts.dockerfile import DockerfileFacts, DockerfileLine
from doctor.model.facts.seen import value_or
from doctor.script.locks.package import LockError, Package, Wanted
from doctor.script.locks.read import admits, admitted_python, names_of, packages_of, parse_lock, subdir_of


def expanded(
    pinned: list[Pinned], python: str, told: DockerfileFacts, facts: Facts, context: Context
) -> tuple[list[Pinned], DockerfileFacts]:
    """Return the requirements, each command that reads a lock file or project replaced by what it installs.

    `python` is that of the image, "3.12"; "" if unknown. Also return what projects say beside their lock files.
    """
    found: list[Pinned] = []
    unread: list[DockerfileLine] = []
    for one in pinned:
        if one.lock is None:
            found.append(one)
            continue
        try:
            if one.lock.lock:
                listed, document, lacking = _locked(one, one.lock, python, facts, context)
                found += listed
                told = told._replace(no_wheels=(*told.no_wheels, *lacking))
                told = with_project(told, one.lock, document, context)
            else:
                found += _declared(one, one.lock, context, unread)
        except LockError as error:
            unread.append(DockerfileLine(f"reads {one.lock.lock}, which cannot be used: {error}", one.source))
    return found, told._replace(unjudged=(*told.unjudged, *unread))


def without_wheel(packages: Iterable[Package]) -> tuple[DockerfileLine, ...]:
    """Return the locked packages that have no file for the platform and Python."""
    return tuple(DockerfileLine(f"{one.name} {one.version}", one.source) for one in packages if not one.is_installable)


def of_package(package: Package, environment: str, beside: tuple[str, ...]) -> Pinned:
    """Return the requirement that a locked package is."""
    return Pinned(
        f"{package.name}=={package.version}",
        package.build,
        environment,
        tool=package.tool,
        source=package.source,
        cuda=package.cuda,
        beside=beside,
    )


def _locked(
    one: Pinned, use: LockUse, python: str, facts: Facts, context: Context
) -> tuple[list[Pinned], object, tuple[DockerfileLine, ...]]:
    """What the lock file selects for the image's platform, the file, and what has no wheel; raises LockError."""
    name, text = posixpath.basename(use.lock), context.text(use.lock) or ""
    document = parse_lock(name, text, context.shown(use.lock))
    project = parse_project(context.text(use.project)) if use.project.endswith(".toml") else {}
    python = _python(one, use, python, document, context)
    family, machine = value_or(facts.system.family, "linux"), value_or(facts.system.machine, "x86_64")
    groups = use.only or groups_of(use, project)
    if use.tool == "pipenv":
        groups = ("develop",) if use.groups else ()
    wanted = Wanted(
        names_of(family, machine, python),
        frozenset(extras_of(use, project)) - {ALL},
        frozenset(groups),
        part=use.part,
        main=not use.only or "main" in use.only,
    )
    packages = packages_of(document, text, context.shown(use.lock), wanted, subdir_of(family, machine))
    left = [each for each in packages if each.name and each.version and each.name not in use.skips]
    beside = tuple(f"{each.name}=={each.version}" for each in left)
    made = [of_package(each, one.environment, beside)._replace(python=python) for each in left]
    return made, document, without_wheel(left)


def _declared(one: Pinned, use: LockUse, context: Context, unread: list[DockerfileLine]) -> Iterator[Pinned]:
    """What the project asks for, and today's indexes serve."""
    told = declared(use, context)
    shown = context.shown(use.project)
    unread += [DockerfileLine(f"installs what {shown} lists: {why}", one.source) for why in told.unread]
    beside = tuple(each.line.spec for each in told.asked)
    for each in told.asked:
        if each.is_from_elsewhere:
            unread.append(DockerfileLine(f"installs {each.line.spec[:80]}", each.line.source))
            continue
        tags = one.tags if each.tags == ("",) else each.tags
        build = tags[-1] if tags is not None and len(tags) == 1 else None
        yield Pinned(
            each.line.spec, build, one.environment, tool=one.tool, source=each.line.source, tags=tags,
            beside=tuple(spec for spec in beside if spec != each.line.spec), active=one.active, python=one.python,
        )  # fmt: skip


def _python(one: Pinned, use: LockUse, own: str, document: object, context: Context) -> str:
    """The Python that uv takes: by its options or `.python-version`, else the image's own if the project admits it."""
    beside = context.text(posixpath.join(posixpath.dirname(use.lock), ".python-version")) if use.tool == "uv" else None
    named = re.match(r"\s*(3\.\d+)", beside or "")
    if one.python or named:
        return one.python or (named[1] if named else "")
    asked = document.get("requires-python", "") if isinstance(document, dict) else ""
    if own and (not asked or admits(asked, own)):
        return own
    return admitted_python(document)
