"""The packages of a Python environment, kept while pip or uv changes them: a second name for every file, and no copy.

pip and uv write new files and unlink old ones, so the second names hold what was there; where a command fails halfway
(a full disk, an index that answers no more) the environment is put back without a network and without room. What is
written in place, as `easy-install.pth` by pip (`UninstallPthEntries`), is copied.
"""

from __future__ import annotations

import contextlib
import csv
import filecmp
import os
import shutil
from collections.abc import Iterator

from compat.base.record import NamedTuple
from installers.effect import DistributionsInstalled, DistributionsRemoved
from installers.file_identity import copy_as_it_is, is_same
from installers.plan import Plan

_CONFIG = "pyvenv.cfg"
_IN_PLACE = (".pth", ".egg-link")
_LATE_S = 30


class Pair(NamedTuple):
    """A folder, and its mirror."""

    folder: str
    place: str
    whole: bool = True  # False: the mirror has some files of the folder, and others in it are somebody else's


def environments_of(plan: Plan) -> tuple[str, ...]:
    """Virtual environments in whose packages a plan installs or removes something; no other directory is mirrored."""
    changes = (one for one in plan.effects or () if isinstance(one, (DistributionsInstalled, DistributionsRemoved)))
    prefixes = (os.path.dirname(os.path.dirname(one.python)) for one in changes if os.path.isabs(one.python))
    return tuple(dict.fromkeys(one for one in prefixes if os.path.isfile(os.path.join(one, _CONFIG))))


def folders_of(prefix: str) -> tuple[str, ...]:
    """Where an environment keeps packages and their programs; () where one lies elsewhere, with others' maybe.

    `lib64` is a link of `venv`'s, or a directory of its own; PyPy's packages are in `lib/pypy3.10`.
    """
    libraries = [os.path.join(prefix, name) for name in ("lib", "lib64", "Lib")]
    within = [*libraries, *(os.path.join(one, name) for one in libraries for name in _names(one))]
    sites = [path for one in within if os.path.isdir(path := os.path.join(one, "site-packages"))]
    programs = [path for name in ("bin", "Scripts") if os.path.isdir(path := os.path.join(prefix, name))]
    found = tuple(dict.fromkeys(map(os.path.realpath, (*sites, *programs))))
    return found if sites and all(_is_below(one, prefix) for one in found) else ()


def keep_all(prefix: str, mirror: str) -> tuple[Pair, ...]:
    """Mirror an environment; () where that cannot be, though a part of it may be there then."""
    folders, top = folders_of(prefix), os.path.realpath(prefix)
    pairs = tuple(Pair(folder, os.path.join(mirror, str(at))) for at, folder in enumerate(folders))
    if not pairs or not all(keep(one.folder, one.place) for one in pairs):
        return ()
    rest = Pair(top, os.path.join(mirror, "rest"), whole=False)
    try:
        os.mkdir(rest.place)
        for path in _recorded_elsewhere(top, folders):
            there = os.path.join(rest.place, os.path.relpath(path, top))
            os.makedirs(os.path.dirname(there), exist_ok=True)
            if not os.path.lexists(there):
                _second_name(path, there)
    except OSError:
        return ()
    return (*pairs, rest)


def keep(folder: str, place: str) -> bool:
    """Mirror a folder, links as links; False, and nothing left, where its file system or owner does not let that be."""
    try:
        for here, _, names in _walked(folder):
            there = os.path.normpath(os.path.join(place, os.path.relpath(here, folder)))
            os.makedirs(there)
            for name in names:
                _second_name(os.path.join(here, name), os.path.join(there, name))
        _alike(folder, place)
    except (OSError, RecursionError):
        shutil.rmtree(place, ignore_errors=True)
        return False
    return True


def put_back(pair: Pair) -> None:
    """The folder as it was mirrored; raises OSError, after which it can be called again."""
    folder, place, whole = pair
    if whole:
        for path in _in_the_way(folder, place):
            shutil.rmtree(path) if _is_folder(path) else os.unlink(path)
    for here, _, names in _walked(place):
        there = os.path.join(folder, os.path.relpath(here, place))
        os.makedirs(there, exist_ok=True)
        for name in names:
            path, target = os.path.join(here, name), os.path.join(there, name)
            if not _is_kept(path, target):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(target)
                _second_name(path, target)
    if whole:
        _alike(place, folder)


def is_ours(mirror: str, pairs: tuple[Pair, ...]) -> bool:
    """Whether nobody but the run changed the environment: neither led it elsewhere, nor wrote into it after the run.

    Whoever fixes by hand what a killed run left must not lose that, and all that came later, weeks afterwards.
    """
    if any(os.path.realpath(path) != path for pair in pairs for path in pair[:2] if os.path.lexists(path)):
        return False
    last = os.stat(mirror).st_mtime + _LATE_S
    return not any(_written(path) > last for pair in pairs if pair.whole for path in _differing(pair))


def touch(mirrors: tuple[str, ...]) -> None:
    """Set the time of the mirrors, which says until when the run was at work, however it ends."""
    for path in mirrors:
        with contextlib.suppress(OSError):
            os.utime(path)


def _differing(pair: Pair) -> Iterator[str]:
    """Files and links of the folder that the mirror lacks; Python writes byte code whenever it runs."""
    for here, folders, names in _walked(pair.folder):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        for name in names:
            path = os.path.join(here, name)
            if not _is_kept(os.path.join(pair.place, os.path.relpath(path, pair.folder)), path):
                yield path


def _written(path: str) -> float:
    seen = os.lstat(path)
    return max(seen.st_mtime if os.name == "nt" else 0.0, seen.st_ctime)  # mtime may be that of the wheel's file


def _in_the_way(folder: str, place: str) -> Iterator[str]:
    """What was not there, or is of another kind now: a link where a directory was leads to somebody else's files."""
    for here, folders, names in _walked(folder):
        there = os.path.join(place, os.path.relpath(here, folder))
        for name in (*folders, *names):
            path, kept = os.path.join(here, name), os.path.join(there, name)
            if not os.path.lexists(kept) or _is_folder(kept) != _is_folder(path):
                yield path
        folders[:] = [name for name in folders if _is_folder(os.path.join(there, name))]


def _recorded_elsewhere(prefix: str, folders: tuple[str, ...]) -> Iterator[str]:
    """Files of packages below the prefix, but outside of those folders: share/man, etc/jupyter."""
    for record in (os.path.join(site, name, "RECORD") for site in folders for name in _names(site)):
        for name in _outside(record) if record.endswith(f".dist-info{os.sep}RECORD") else ():
            path = os.path.normpath(os.path.join(record, os.pardir, os.pardir, name))
            of_another = any(_is_below(path, one) for one in folders)
            if os.path.isfile(path) and not of_another and _is_below(os.path.dirname(path), prefix):
                yield path


def _outside(record: str) -> Iterator[str]:
    try:
        with open(record, encoding="utf-8", errors="surrogateescape", newline="") as lines:
            yield from (row[0] for row in csv.reader(one for one in lines if one.startswith(("..", '"..'))))
    except (FileNotFoundError, NotADirectoryError, csv.Error):
        return


def _is_below(path: str, folder: str) -> bool:
    """Whether a path leads to what is in a folder."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _walked(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """As os.walk, with links to directories among the files; raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    for here, folders, names in os.walk(folder, onerror=fail):
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        folders[:] = [name for name in folders if name not in links]
        yield here, folders, names + links


def _second_name(source: str, target: str) -> None:
    if os.path.islink(source) or source.endswith(_IN_PLACE):
        copy_as_it_is(source, target)
    else:
        os.link(source, target, follow_symlinks=False)


def _alike(source: str, target: str) -> None:
    """Owner, permissions and times of directories, which have no second names."""
    for here, _, _ in os.walk(source, topdown=False):
        there = os.path.join(target, os.path.relpath(here, source))
        seen, made = os.lstat(here), os.lstat(there)
        if (seen.st_uid, seen.st_gid) != (made.st_uid, made.st_gid):
            with contextlib.suppress(PermissionError):
                os.chown(there, seen.st_uid, seen.st_gid)
        shutil.copystat(here, there)


def _is_kept(one: str, other: str) -> bool:
    if os.path.islink(one) or os.path.islink(other):
        return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
    if is_same(one, other):
        return True
    in_place = one.endswith(_IN_PLACE) and os.path.isfile(one) and os.path.isfile(other)
    return in_place and filecmp.cmp(one, other, shallow=False)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
