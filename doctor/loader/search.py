"""The order in which the loader of glibc searches, place by place, and what it does with what lies there.

Sources: ld.so(8) and dlopen(3); glibc's `elf/dl-load.c` (_dl_map_object, open_path, open_verify) and `elf/dl-cache.c`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from doctor.binaries import NotRead
from doctor.binaries.elf import ElfError
from doctor.host import Host, HostError, LinkLoop, Missing
from doctor.loader.hwcaps import Levels, levels
from doctor.loader.library import Library, library_at
from doctor.loader.tokens import Values, directories, expand
from doctor.model.facts.loader import CacheEntry, FoundBy, LoaderFacts, Way
from doctor.model.facts.seen import Fact, Seen, Unseen, UnseenError, value_or

_LIB = {"x86_64": "lib64", "aarch64": "lib64", "ppc64le": "lib64", "i386": "lib"}  # where no multiarch is in use
_VARIABLE = FoundBy.LIBRARY_PATH.value
_SET_ID_BITS = 0o6000  # set-user-ID, set-group-ID


class _Absent:
    """No file lies there."""


class _PassedOver:
    """A file that the loader does not take, and goes on."""

    def __init__(self, why: str) -> None:
        self.why = why


class _Damaged:
    """A file with which the search ends: the loader takes it, and cannot use it."""


class _Unread:
    """What we could not read: what the loader makes of it is not known."""

    def __init__(self, why: str) -> None:
        self.why = why


class Nowhere(Unseen):
    """The whole search was walked, and no file answers."""


class Place(NamedTuple):
    """One place of the search: a directory, or a file that the cache or the asker names."""

    path: str
    way: Way
    is_file: bool = False


class Found(NamedTuple):
    """Where the loader finds a library, and how it came there."""

    path: str
    way: Way
    is_damaged: bool = False  # the loader takes the file and cannot use it: what the asker gets is an error


class SearchHit(NamedTuple):
    """A file of the right name in a place of the search, and why the loader does not take it there, "" if it does."""

    path: str
    place: Place
    passed_over: str
    is_damaged: bool = False
    is_foreign: bool = False  # it is passed over because it is made for another type of machine


# What all libraries of one search may ask for together. TensorFlow 2.20, whose RUNPATHs have 700 directories, takes a
# tenth of it.
_BOUNDS = {"places searched": 2_000_000, "directories in search paths": 100_000, "characters of names": 16 << 20}


class Search:
    """The search of one program on one machine."""

    def __init__(self, host: Host, facts: LoaderFacts, program: Library | None = None) -> None:
        self.host = host
        self.facts = facts
        self.program = program
        self.here = host.environ.get("PWD", ".")
        self._levels: dict[str, Levels] = {}
        self._below: dict[tuple[str, str], tuple[str, ...]] = {}
        self._expanded: dict[tuple[str, str, str], tuple[tuple[str, str], ...]] = {}
        self._listed: dict[str, frozenset[str] | None] = {}
        self._seen: dict[str, _Seen] = {}
        self._is_privileged = bool(program) and _is_privileged(host, program.path if program else "")
        self._in_cache: dict[str, list[CacheEntry]] = {}
        self._left = dict(_BOUNDS)
        self._of_variable: dict[tuple[str, str], tuple[Place, ...]] = {}
        self._defaults: tuple[Place, ...] | None = None

    def find(self, name: str, asker: Library | None, loaded_by: Iterable[Library], machine: str) -> Fact[Found]:
        """What the loader opens; Nowhere where nothing answers, Unseen where a step of the search is not known.

        `asker` is the library that asks, None where a program opens a path; `loaded_by` are those that loaded it, the
        nearest first.
        """
        passed = ""
        try:
            for one in self.candidates(name, asker, loaded_by, machine):
                if not one.passed_over:
                    return Seen(Found(one.path, one.place.way, one.is_damaged), one.place.way.rule.value)
                passed = passed or f"; {one.path} is passed over: {one.passed_over}"
        except UnseenError as unknown:
            return Unseen(str(unknown))
        who = asker.name if asker else "the program"
        return Nowhere(f"no directory that the loader searches for {who} has {name}{passed}")

    def candidates(
        self, name: str, asker: Library | None, loaded_by: Iterable[Library], machine: str
    ) -> Iterator[SearchHit]:
        """Every file of this name that is in the search, in its order; the first not passed over is opened.

        Raises UnseenError where a step of the search is not known.
        """
        left = self._left
        for place in self.places(name, asker, tuple(loaded_by), machine):
            left["places searched"] -= 1
            if left["places searched"] < 0:
                self._spend("places searched", 1)
            paths = (place.path,) if place.is_file else self._spellings(place, name, machine)
            for path in paths:
                there = self._look(path)
                if isinstance(there, _Absent):
                    continue
                if not self._of(machine).sure and "/glibc-hwcaps/" in path:
                    raise UnseenError(f"whether {path} is taken depends on the processor, which an image does not name")
                if isinstance(there, _Unread):
                    raise UnseenError(f"{path}, which is in the search for {name}, could not be read: {there.why}")
                is_foreign = isinstance(there, Library) and there.machine != machine
                yield SearchHit(path, place, _passed_over(there, machine), _is_damaged(there), is_foreign=is_foreign)

    def places(self, name: str, asker: Library | None, loaded_by: tuple[Library, ...], machine: str) -> Iterator[Place]:
        """The places of the search for one name, in order; raises UnseenError where one is not known."""
        if "/" in name:
            values = self._values(machine)
            path = expand(name, asker.origin, values) if asker else name
            yield Place(path, Way(FoundBy.ABSOLUTE, entry=name), is_file=True)
            return
        if isinstance(self.facts.search, Unseen):
            self.facts.search.get()
        yield from self._by_rpath(asker, loaded_by, machine)
        later = asker.path if asker and asker.runpath else ""
        if (later, machine) not in self._of_variable:
            self._of_variable[later, machine] = tuple(self._in_variable(later, machine))
        yield from self._of_variable[later, machine]
        if asker and asker.runpath:
            for folder, entry in self._folders(asker.runpath, asker.origin, machine):
                yield Place(folder, Way(FoundBy.RUNPATH, asker.path, entry, folder))
        who = asker or self.program
        if not (who and who.no_default):
            yield from self._by_cache(name, machine)
            if self._defaults is None:
                folders = [one.path for one in self.facts.search.get() if one.why is FoundBy.DEFAULT]
                self._defaults = tuple([Place(path, Way(FoundBy.DEFAULT, folder=path)) for path in folders])
            yield from self._defaults

    def _by_rpath(self, asker: Library | None, loaded_by: tuple[Library, ...], machine: str) -> Iterator[Place]:
        """RPATHs of the asker, of those that loaded it, and of the program; none for an asker with a RUNPATH."""
        if asker and asker.runpath is not None:
            return
        chain = [one for one in (asker, *loaded_by) if one]
        if self.program and self.program not in chain:
            chain.append(self.program)
        for one in chain:
            if one.rpath:
                for folder, entry in self._folders(one.rpath, one.origin, machine):
                    yield Place(folder, Way(FoundBy.RPATH, one.path, entry, folder))

    def _in_variable(self, later: str, machine: str) -> Iterator[Place]:
        origin = self.program.origin if self.program else ""
        for one in self.facts.search.get():
            if one.why is FoundBy.LIBRARY_PATH:
                if self._is_privileged:
                    raise UnseenError(f"whether {_VARIABLE} counts for a set-user-ID program depends on who starts it")
                folder = expand(one.path, origin, self._values(machine))
                if folder:
                    entry = one.written or one.path
                    yield Place(
                        folder, Way(FoundBy.LIBRARY_PATH, later, entry, folder, set_in=one.set_in, set_at=one.set_at)
                    )

    def _by_cache(self, name: str, machine: str) -> Iterator[Place]:
        if not self._in_cache:  # it has some thousand entries, and a process asks a hundred times
            for one in self.facts.cache.get():
                self._in_cache.setdefault(one.soname, []).append(one)
        entries = [one for one in self._in_cache.get(name, ()) if one.machine == machine]
        best = self._best(entries, self._of(machine))
        if best:
            yield Place(best.path, Way(FoundBy.CACHE, entry=best.path), is_file=True)

    def _best(self, entries: list[CacheEntry], level: Levels) -> CacheEntry | None:
        """The entry for the best level of this processor, else the first plain one: only one is ever tried."""
        special = [one for one in entries if one.level]
        if special and not level.sure:
            raise UnseenError(f"which {special[0].soname} of ld.so.cache is taken depends on the processor")
        for name in level.new:
            for one in special:
                if one.level == name:
                    return one
        return next((one for one in entries if not one.level), None)

    def _folders(self, text: str, origin: str, machine: str) -> tuple[tuple[str, str], ...]:
        """The directories of an RPATH or RUNPATH, each once, as the loader keeps them, and as they are written."""
        key = (text, origin, machine)
        if key not in self._expanded:
            found: dict[str, str] = {}
            for folder, entry in directories(text, origin, self._values(machine), self.here):
                found.setdefault(folder, entry)
            self._spend("directories in search paths", len(found))
            self._expanded[key] = tuple(found.items())
        return self._expanded[key]

    def _spellings(self, place: Place, name: str, machine: str) -> list[str]:
        """The paths to try in a directory: in its subdirectories for better processors, then in itself."""
        key = (place.path, machine)
        if key not in self._below:
            self._below[key] = tuple(self._subfolders(place, machine))
        below = self._below[key]
        found = [f"{folder}/{name}" for folder in below] if below else []
        names = None if place.way.rule is FoundBy.DEFAULT else self._names(place.path)
        if names is None or name in names:
            found.append(f"{place.path.rstrip('/')}/{name}")
        return found

    def _subfolders(self, place: Place, machine: str) -> Iterator[str]:
        names = self._names(place.path)
        for below in self._of(machine).folders:
            if names is not None and below.partition("/")[0] not in names:
                continue
            folder = f"{place.path.rstrip('/')}/{below}"
            if self.host.is_dir(folder):
                yield folder

    def _names(self, folder: str) -> frozenset[str] | None:
        """What is in a directory, listed once; None for one that may be searched and not be listed."""
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(self.host.names(folder))
            except Missing:
                self._listed[folder] = frozenset()
            except HostError:
                self._listed[folder] = None
        return self._listed[folder]

    def library(self, path: str) -> Library | None:
        """What a file that was found says of itself, None for a damaged one."""
        found = self._look(path)
        return found if isinstance(found, Library) and not found.broken else None

    def _spend(self, what: str, how_many: int) -> None:
        """Raise UnseenError where the files ask for more than any real process does."""
        self._left[what] -= how_many
        if self._left[what] < 0:
            raise UnseenError(f"more than {_BOUNDS[what]:,} {what}")

    def _look(self, path: str) -> _Seen:
        if path not in self._seen:
            there = self._seen[path] = self._read(path)
            if isinstance(there, Library):
                self._spend(
                    "characters of names",
                    len(there.rpath or "") + len(there.runpath or "") + sum(map(len, there.needed)),
                )
        return self._seen[path]

    def _read(self, path: str) -> _Seen:
        """Sources: open_verify and open_path in `elf/dl-load.c`: only ENOENT and EACCES let the search go on."""
        try:
            found = library_at(self.host, path)
        except Missing:
            return _Absent()
        except NotRead as error:
            return _Unread(str(error))
        except ElfError:
            return _Damaged()
        except HostError as error:
            if isinstance(error, LinkLoop) or self.host.is_dir(path):
                return _Damaged()
            if self.host.is_live and isinstance(error.__cause__, PermissionError):
                return _PassedOver(f"cannot be opened: {error}")
            return _Unread(error.why)
        return found

    def _values(self, machine: str) -> Values:
        return Values(self._lib(machine), self._of(machine).platform)

    def _lib(self, machine: str) -> str:
        """What $LIB stands for: Debian's multiarch directory, else lib64 or, on Arch, lib."""
        folders = [one.path for one in value_or(self.facts.search, ()) if one.why is FoundBy.DEFAULT]
        for folder in folders:
            if folder.endswith("-linux-gnu"):
                return f"lib/{folder.rpartition('/')[2]}"
        return _LIB.get(machine, "lib") if any(one.endswith("64") for one in folders) else "lib"

    def _of(self, machine: str) -> Levels:
        if machine not in self._levels:
            self._levels[machine] = levels(self.host, machine)
        return self._levels[machine]


_Seen = Library | _Absent | _PassedOver | _Damaged | _Unread


def _passed_over(there: _Seen, machine: str) -> str:
    """Why the loader goes on: files that cannot be opened, and ELF files of another class or machine; else ""."""
    if isinstance(there, Library):
        return "" if there.machine == machine else f"made for {there.machine}"
    return there.why if isinstance(there, _PassedOver) else ""


def _is_damaged(there: _Seen) -> bool:
    return isinstance(there, _Damaged) or (isinstance(there, Library) and there.broken)


def _is_privileged(host: Host, program: str) -> bool:
    """Whether a program may run with other rights than those of who starts it: the loader then trusts no variable."""
    try:
        return bool(host.status(program).mode & _SET_ID_BITS)
    except HostError:
        return False
