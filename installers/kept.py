"""The packages of a Python environment, kept while pip or uv changes them: a second name for every file, and no copy.

pip and uv write new files and unlink old ones, so the second names hold what was there; where a command fails halfway
(a full disk, an index that answers no more) the environment is put back without a network and without room.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from installers.effect import DistributionsInstalled, DistributionsRemoved
from installers.plan import Plan

_CONFIG = "pyvenv.cfg"


def environments_of(plan: Plan) -> tuple[str, ...]:
    """Virtual environments in whose packages a plan installs or removes something; no other directory is mirrored."""
    changes = (one for one in plan.effects or () if isinstance(one, (DistributionsInstalled, DistributionsRemoved)))
    prefixes = (os.path.dirname(os.path.dirname(one.python)) for one in changes if os.path.isabs(one.python))
    return tuple(dict.fromkeys(one for one in prefixes if os.path.isfile(os.path.join(one, _CONFIG))))


def folders_of(prefix: str) -> tuple[str, ...]:
    """Where an environment keeps packages and their programs."""
    libraries = os.path.join(prefix, "lib")
    pythons = [name for name in _names(libraries) if name.startswith("python")]
    folders = [os.path.join(libraries, name, "site-packages") for name in pythons]
    folders += [os.path.join(prefix, "Lib", "site-packages")] if not pythons else []
    folders += [os.path.join(prefix, name) for name in ("bin", "Scripts")]
    return tuple(one for one in folders if os.path.isdir(one) and not os.path.islink(one))


def keep(folder: str, place: str) -> bool:
    """Mirror a folder, links as links; False, and nothing left, where its file system or owner does not let that be."""
    try:
        shutil.copytree(folder, place, symlinks=True, copy_function=_link)
    except OSError:  # shutil.Error is one
        shutil.rmtree(place, ignore_errors=True)
        return False
    return True


def put_back(folder: str, place: str) -> None:
    """The folder as it was mirrored; raises OSError, after which it can be called again."""
    for path, name in _files(folder):
        if not os.path.lexists(os.path.join(place, name)):
            os.unlink(path)
    for here, folders, _ in os.walk(folder, topdown=False):
        for name in folders:
            path = os.path.join(here, name)
            if not os.path.lexists(os.path.join(place, os.path.relpath(path, folder))):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
    for here, _, _ in os.walk(place):
        os.makedirs(os.path.join(folder, os.path.relpath(here, place)), exist_ok=True)
    for path, name in _files(place):
        target = os.path.join(folder, name)
        if not _is_same(path, target):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)
            _link(path, target)
    for here, _, _ in os.walk(place, topdown=False):  # times and permissions of directories, which are no second names
        shutil.copystat(here, os.path.join(folder, os.path.relpath(here, place)))


def _files(folder: str) -> Iterator[tuple[str, str]]:
    """Files and links, also those to directories: the path, and its name below the folder."""
    for here, folders, names in os.walk(folder):
        for name in (*names, *(one for one in folders if os.path.islink(os.path.join(here, one)))):
            path = os.path.join(here, name)
            yield path, os.path.relpath(path, folder)


def _link(source: str, target: str) -> None:
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    else:
        os.link(source, target, follow_symlinks=False)


def _is_same(one: str, other: str) -> bool:
    if os.path.islink(one):
        return os.path.islink(other) and os.readlink(one) == os.readlink(other)
    return os.path.isfile(other) and not os.path.islink(other) and os.path.samefile(one, other)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
