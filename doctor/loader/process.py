"""What a process has loaded, and what it loads next: names that are there already, dependencies, failures undone.

Sources: glibc's `elf/dl-load.c` (_dl_map_object), `elf/dl-deps.c` (breadth first), `elf/dl-open.c` (a dlopen that fails
leaves nothing behind), `elf/rtld.c` (LD_PRELOAD).
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.host import Host, HostError
from doctor.loader.library import Library
from doctor.loader.search import Found, Nowhere, Search
from doctor.model.facts.driver import LINKED_TO
from doctor.model.facts.loader import PRELOAD_FILE, FoundBy, Outcome, Way
from doctor.model.facts.seen import Place, Unseen, UnseenError

_LIBRARIES_AT_MOST = 2000  # a process with torch, TensorFlow and JAX has 300
_QUESTIONS_AT_MOST = 50_000  # each library's NEEDED, again and again: the same has 4,000
_OF_GLIBC = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1")
_LOADER_ITSELF = ("ld-linux", "ld64.so", "ld.so.1", "linux-vdso")


class CannotOpen(Exception):
    """A dlopen fails: `name`, which `asker` needs, is missing or damaged."""

    def __init__(self, name: str, asker: str, why: str, outcome: Outcome) -> None:
        what = "was not found" if outcome is Outcome.MISSING else f"cannot be opened: {why}"
        super().__init__(f"{name} (needed by {asker}) {what}")
        self.name = name
        self.asker = asker
        self.why = why
        self.outcome = outcome


class Mapped:
    """A library in the process."""

    __slots__ = ("asked_as", "file", "file_name", "found", "library", "loader", "names", "phase")

    def __init__(self, library: Library, loader: Mapped | None, found: Found, asked_as: str) -> None:
        self.library = library
        self.file_name = library.name
        self.loader = loader  # that asked for it; None where a path was opened, and for the program
        self.found = found
        self.asked_as = asked_as
        self.names = {asked_as}
        self.file: tuple[int, int] = (0, 0)
        self.phase = ""  # of the steps, in which it came

    @property
    def name(self) -> str:
        """Its SONAME, else its file name: what others ask for."""
        return self.library.soname or self.file_name

    @property
    def loaded_by(self) -> tuple[Library, ...]:
        """Those that loaded the library that asked for this one, the nearest first."""
        chain = []
        one = self.loader
        while one:
            chain.append(one.library)
            one = one.loader
        return tuple(chain)


class LoadRequest:
    """A name that was asked for the first time by a library, and what came of it."""

    __slots__ = ("by", "damaged", "failure", "mapped", "name", "optional", "outcome", "phase", "undone", "way")

    def __init__(self, name: str, by: Mapped | None, phase: str) -> None:
        self.name = name
        self.by = by
        self.phase = phase
        self.mapped: Mapped | None = None
        self.way: Way | None = None  # how the search came to the file
        self.outcome = Outcome.FOUND
        self.failure = ""  # why nothing was found, or is unknown
        self.undone = ""  # why what was found was unmapped again: the dlopen failed as a whole
        self.optional = False  # whoever asks goes on without it
        self.damaged = ""  # the file that the search came to and that cannot be used


class Process:
    """A process as its loader knows it."""

    def __init__(self, host: Host, search: Search, machine: str) -> None:
        """`machine` is that of the program, which every library must be made for."""
        self.host = host
        self.search = search
        self.machine = machine
        self.mapped: list[Mapped] = []
        self.phase = ""
        self.asked: list[LoadRequest] = []
        self._by_name: dict[str, Mapped] = {}
        self._questions = 0

    def start(self, preload: Iterable[str]) -> None:
        """The program itself, LD_PRELOAD, and what both need; a program that cannot start raises CannotOpen."""
        program = self.search.program
        if program:
            self._add(Mapped(program, None, Found(program.path, Way(FoundBy.PROGRAM)), program.path))
        main = self.mapped[0] if self.mapped else None
        for name in preload:
            try:
                self._map(name, main, self._preloaded(name))
            except CannotOpen:
                continue  # the loader warns and goes on
        self._with_dependencies(list(self.mapped))

    def _preloaded(self, name: str) -> Way:
        """By the variable, else by the file that lists it."""
        if name in self.host.environ.get("LD_PRELOAD", "").replace(":", " ").split():
            return Way(FoundBy.PRELOAD, entry=name)
        return Way(FoundBy.PRELOAD, entry=name, set_in=PRELOAD_FILE, set_at=Place(PRELOAD_FILE))

    def open(self, name: str, by: Mapped | None, way: Way | None = None) -> Mapped | None:
        """What dlopen gives, None for the loader itself; raises CannotOpen, UnseenError.

        `by` is the library whose code calls dlopen; it counts only for a name without a slash. `way` is by what a
        package comes to a path, where that is a rule of its own.
        """
        before = len(self.mapped)
        try:
            first = self._map(name, None if "/" in name else by, way)
            self._with_dependencies([first] if first else [])
        except CannotOpen as failed:
            self._forget(before, str(failed))
            raise
        return first

    def requests(self) -> tuple[LoadRequest, ...]:
        """What was asked for, each name once: the request that was answered, else the first.

        Left out is what whoever asked goes on without, and that nothing answers: some releases ask for a name that
        others lack.
        """
        found: dict[str, LoadRequest] = {}
        for one in self.asked:
            if one.optional and one.outcome is Outcome.MISSING:
                continue
            name = one.name.rpartition("/")[2]
            known = found.get(name)
            if known is None or ((known.mapped is None or known.undone) and one.mapped and not one.undone):
                found[name] = one
        return tuple(found.values())

    def has(self, name: str) -> bool:
        """Whether a library of this name is there, so that a dlopen of it opens no file."""
        return name in self._by_name

    def of_name(self, start: str) -> Mapped | None:
        """The first library whose file name begins so."""
        for one in self.mapped:
            if one.file_name.startswith(start):
                return one
        return None

    def _with_dependencies(self, queue: list[Mapped]) -> None:
        known = {id(one) for one in queue}
        for one in queue:  # grows while it is walked: breadth first
            for name in one.library.needed:
                needed = self._map(name, one)
                if needed and id(needed) not in known:
                    known.add(id(needed))
                    queue.append(needed)

    def _map(self, name: str, by: Mapped | None, way: Way | None = None) -> Mapped | None:
        """The library of this name: one that is there, else what the search finds."""
        self._questions += 1
        if self._questions > _QUESTIONS_AT_MOST or len(self.mapped) > _LIBRARIES_AT_MOST:
            raise UnseenError("too many libraries need others (no real process has as many)")
        there = self._by_name.get(name)
        if there:
            return there
        if name.startswith(_LOADER_ITSELF):
            return None
        question = LoadRequest(name, by, self.phase)
        self.asked.append(question)
        try:
            self._answer(question, way)
        except CannotOpen as failed:
            question.failure, question.outcome = failed.why, failed.outcome
            if not self.host.is_live and name in (*LINKED_TO, *_OF_GLIBC):
                question.failure = "the image has none; the driver's come from the machine that runs it"
                question.optional = True
                return None
            raise
        except UnseenError as unknown:
            question.failure, question.outcome = str(unknown), Outcome.UNREAD
            raise
        return question.mapped

    def _answer(self, question: LoadRequest, way: Way | None) -> None:
        """Search, and enter what is found; raises CannotOpen, UnseenError."""
        name, by = question.name, question.by
        asker, chain = (by.library, by.loaded_by) if by else (None, ())
        found = self.search.find(name, asker, chain, self.machine)
        who = asker.name if asker else "the program"
        if isinstance(found, Nowhere):
            raise CannotOpen(name, who, "no such file" if "/" in name else found.why, Outcome.MISSING)
        if isinstance(found, Unseen):
            raise UnseenError(found.why)
        if found.value.is_damaged:
            question.damaged, question.way = found.value.path, found.value.way
            raise CannotOpen(name, who, f"{found.value.path} is damaged, or no library", Outcome.DAMAGED)
        question.way = way or found.value.way
        question.mapped = self._take(name, by, found.value._replace(way=question.way))
        if question.mapped.found.path != found.value.path:
            question.way = Way(FoundBy.LOADED, entry=question.mapped.library.path)

    def _take(self, name: str, by: Mapped | None, found: Found) -> Mapped:
        """Enter a file that was found, unless it is there under another name."""
        try:
            status = self.host.status(found.path)
        except HostError as error:
            raise UnseenError(str(error)) from error
        file = (status.device, status.inode)
        for one in self.mapped:
            if one.file == file:
                one.names.add(name)
                self._by_name.setdefault(name, one)
                return one
        library = self.search.library(found.path)
        if library is None:
            raise UnseenError(f"{found.path} changed while it was read")
        mapped = Mapped(library, by, found, name)
        mapped.file = file
        self._add(mapped)
        return mapped

    def _add(self, mapped: Mapped) -> None:
        mapped.phase = self.phase
        self.mapped.append(mapped)
        for name in (mapped.asked_as, mapped.library.path, mapped.library.soname):
            if name:
                self._by_name.setdefault(name, mapped)

    def _forget(self, before: int, why: str) -> None:
        """Unmap what a failed dlopen brought."""
        gone = {id(one) for one in self.mapped[before:]}
        if not gone:
            return
        for question in self.asked:
            if id(question.mapped) in gone:
                question.undone = why
        del self.mapped[before:]
        self._by_name = {name: one for name, one in self._by_name.items() if id(one) not in gone}
