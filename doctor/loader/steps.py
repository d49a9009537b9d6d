"""What a framework's package opens, as data: which file or name, by which library, when; and a process that does it.

The steps themselves are the cards' (`doctor/loader/cards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of, text_of
from doctor.loader.process import CannotOpen, Mapped, Process
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import value_or

CTYPES = "_ctypes"  # the asker of a ctypes.CDLL("name")
_TEXT_BYTES = 1 << 20
_DIGIT = "[0-9]"
_IMPORT, _USE = "when it is imported", "when it uses a GPU"


class Step(NamedTuple):
    """One dlopen of a package."""

    opens: tuple[str, ...]  # paths, or names without a slash, tried in turn until one opens
    why: str  # the sentence for a report
    asker: str = ""  # beginning of the file name of the library that calls dlopen; a path needs none
    use: bool = False  # only when a GPU is used, or the program asks for that part of the package
    if_mapped: str = ""  # only where a loaded file has this in its path
    on_failure: bool = False  # only where a `repaired` step has failed
    unless_repaired: bool = False  # not where a `repaired` step has failed
    repaired: bool = False  # where it fails, the steps `on_failure` are taken, and then it again
    needed: bool = False  # the import fails with it
    optional: bool = False  # whoever asks goes on without it, and asks for something else
    unless_mapped: tuple[str, ...] = ()  # not where a library of one of these names is there already


class Taken(NamedTuple):
    """How a step ended."""

    step: Step
    mapped: Mapped | None
    failure: str


class Package:
    """A framework's files, as its steps need them."""

    def __init__(self, host: Host, framework: Framework, environment: Environment) -> None:
        self.host = host
        self.framework = framework
        self.environment = environment
        self.path = framework.path
        self.site = framework.path.rpartition("/")[0]
        self.sites = value_or(environment.sites, ()) or (self.site,)

    def beside(self, name: str) -> Package | None:
        """The package of another framework of the same environment."""
        for one in value_or(self.environment.frameworks, ()):
            if one.package == name:
                return Package(self.host, one, self.environment)
        return None

    def text(self, path: str) -> str:
        """A file below the site directory, "" where it cannot be read."""
        return text_of(self.host, f"{self.site}/{path}", _TEXT_BYTES)

    def files(self, pattern: str) -> tuple[str, ...]:
        """The files below the site directory that a pattern names; wildcards in its last part only."""
        return tuple(_matching(self.host, f"{self.site}/{pattern}"))

    def anywhere(self, *patterns: str) -> tuple[str, ...]:
        """The first file on sys.path that one of the patterns names, or nothing: directory by directory."""
        for site in self.sites:
            for pattern in patterns:
                for path in _matching(self.host, f"{site}/{pattern}"):
                    return (path,)
        return ()


def _matching(host: Host, pattern: str) -> Iterator[str]:
    folder, _, last = pattern.rpartition("/")
    if "*" not in last:
        if host.is_file(pattern):
            yield pattern
        return
    for name in names_of(host, folder):
        if _is_like(name, last):
            yield f"{folder}/{name}"


def _is_like(name: str, pattern: str) -> bool:
    """Whether a shell's pattern stands for a name: "libcudnn.so.*[0-9]", "_C.*.so", with one star at most.

    fnmatch would compile an expression for each pattern, of which an import has twenty.
    """
    start, _, end = pattern.partition("*")
    if end == _DIGIT:
        return name.startswith(start) and len(name) > len(start) and name[-1] in "0123456789"
    return name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)


def run(process: Process, steps: Iterable[Step]) -> tuple[Taken, ...]:
    """Take the steps of the import, then those of the use; a needed step that fails ends it. Raises UnseenError."""
    steps = tuple(steps)
    repairs = tuple(step for step in steps if step.on_failure)
    found: list[Taken] = []
    has_failed = False
    for phase in (False, True):
        process.phase = _USE if phase else _IMPORT
        for step in (one for one in steps if one.use is phase and not one.on_failure):
            if step.unless_repaired and has_failed:
                continue
            outcome = _take(process, step)
            if outcome and outcome.failure and step.repaired and repairs:
                found += [outcome, *filter(None, (_take(process, repair) for repair in repairs))]
                outcome, has_failed = _take(process, step), True
            if outcome:
                found.append(outcome)
            if outcome and outcome.failure and step.needed:
                return tuple(found)
    return tuple(found)


def _take(process: Process, step: Step) -> Taken | None:
    """Take one step; None for one that does not apply."""
    if step.if_mapped and not _is_mapped(process, step.if_mapped):
        return None
    if any(map(process.has, step.unless_mapped)):
        return None
    asker = process.of_name(step.asker) if step.asker else None
    if step.asker and asker is None:
        if step.asker != CTYPES:
            return None
        asker = process.mapped[0] if process.mapped else None  # compiled into the interpreter
    failure, before = "", len(process.asked)
    for name in step.opens:
        try:
            return Taken(step, process.open(name, asker), "")
        except CannotOpen as error:
            failure = str(error)
            for question in process.asked[before:]:
                question.optional = step.optional or name != step.opens[-1]
    return Taken(step, None, failure) if step.opens else None


def _is_mapped(process: Process, text: str) -> bool:
    """Whether a loaded file has this in its path, as /proc/self/maps shows it: links resolved."""
    for one in process.mapped:
        try:
            if text in process.host.real_path(one.library.path):
                return True
        except HostError:
            continue
    return False
