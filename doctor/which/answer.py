"""What one framework of one environment gets for a library, with the reasons, and every copy that lost."""

from __future__ import annotations

from compat.record import NamedTuple
from doctor.facts.environment import Environment, Framework
from doctor.facts.loader import LoaderFacts
from doctor.facts.seen import UnseenError, value_or
from doctor.host import Host
from doctor.host.lenient import real_path_of
from doctor.probes.loading import CTYPES, loading_of
from doctor.probes.simulate import Simulated, simulate, start
from doctor.resolve.process import Asked, CannotOpen, Mapped, Process
from doctor.which.copies import Copy, known_names, losers
from doctor.which.product import Product


class Subject(NamedTuple):
    """Whose process it is."""

    environment: Environment
    framework: Framework | None

    @property
    def label(self) -> str:
        """How the answer names it."""
        name = self.framework.label if self.framework else "ctypes.CDLL"
        return f"{name} in {self.environment.label}"


class Item(NamedTuple):
    """One library that is asked for."""

    name: str  # as it is asked for
    path: str  # real path of the file that is loaded, "" for none
    opened: str  # the path as the loader opens it
    because: str  # the rule, or why nothing is found
    chain: tuple[str, ...]  # who asks, who loaded that, and so on, nearest first
    when: str
    copies: tuple[Copy, ...]  # the others, in the order of the search, then those it never comes to
    optional: bool = False  # whoever asks goes on without it
    undone: str = ""  # it is found, and unmapped again: what asked for it fails for another reason


class Answer(NamedTuple):
    """All libraries of a product, for one subject."""

    subject: Subject
    items: tuple[Item, ...]
    failure: str  # why the framework's own loading fails, "" where it does not
    unknown: str  # what could not be told
    note: str

    @property
    def is_missing(self) -> bool:
        """Whether something that must be there is not found, or not kept."""
        return any((not one.path or one.undone) and not one.optional for one in self.items)


def subjects_of(environment: Environment, framework: str) -> list[Subject]:
    """The frameworks of an environment whose way of loading is known; where one is named, just those of that name."""
    return [
        Subject(environment, one)
        for one in value_or(environment.frameworks, ())
        if (_is_named(one, framework) if framework else loading_of(one.package) and not one.is_cpu_build)
    ]


def _is_named(framework: Framework, name: str) -> bool:
    package = framework.package
    return package == name or package.startswith(f"{name}-")


def about(host: Host, search: LoaderFacts, subject: Subject, product: Product) -> Answer:
    """Simulate the framework's process, and pick what concerns the product."""
    framework = subject.framework
    if framework and framework.is_cpu_build:
        return Answer(subject, (), f"{framework.label} is a CPU build, which loads none of CUDA's libraries", "", "")
    if framework and not loading_of(framework.package):
        return Answer(subject, (), "", f"how {framework.package} opens CUDA's libraries is not known to gpudoctor", "")
    try:
        simulated = simulate(host, search, subject.environment, subject.framework)
    except UnseenError as unknown:
        return Answer(subject, (), "", str(unknown), "")
    return _answer(host, subject, simulated, product)


def _answer(host: Host, subject: Subject, simulated: Simulated, product: Product) -> Answer:
    process = simulated.process
    asked = [one for one in process.asked if product.matches(one.name) and _counts(one)]
    items = tuple(_item(host, subject, process, one) for one in _each_once(asked))
    note = _mixed(items) if product.name == "cudnn" else ""
    return Answer(subject, items, simulated.failure, simulated.unknown, note or simulated.note)


def _mixed(items: tuple[Item, ...]) -> str:
    """cuDNN's parts belong together: those of two directories are mostly of two releases."""
    places = dict.fromkeys(one.path.rpartition("/")[0] for one in items if one.path)
    return f"the parts come from {len(places)} directories: {', '.join(places)}" if len(places) > 1 else ""


def _counts(question: Asked) -> bool:
    """A name that some releases ask for, and nothing has, is no news where a shorter one was found."""
    return not (question.optional and question.mapped is None)


def _each_once(asked: list[Asked]) -> list[Asked]:
    """One question a name: the one that was answered, else the first."""
    found: dict[str, Asked] = {}
    for question in asked:
        name = question.name.rpartition("/")[2]
        known = found.get(name)
        if known is None or ((known.mapped is None or known.undone) and question.mapped and not question.undone):
            found[name] = question
    return list(found.values())


def _item(host: Host, subject: Subject, process: Process, question: Asked) -> Item:
    mapped = question.mapped
    return Item(
        name=question.name.rpartition("/")[2],
        path=real_path_of(host, mapped.library.path) if mapped else "",
        opened=mapped.library.path if mapped else "",
        because=mapped.found.because if mapped else question.failure,
        chain=_chain(question.by),
        when=question.phase,
        copies=losers(host, process, question, subject.environment),
        optional=question.optional,
        undone=question.undone,
    )


def _chain(by: Mapped | None) -> tuple[str, ...]:
    found = []
    while by:
        found.append(by.library.path)
        by = by.loader
    return tuple(found)


def without_framework(host: Host, search: LoaderFacts, environment: Environment, product: Product) -> Answer:
    """What a program of this environment gets that asks by ctypes for each name of which there is a copy."""
    subject = Subject(environment, None)
    try:
        process = start(host, search, environment)
    except UnseenError as unknown:
        return Answer(subject, (), "", str(unknown), "")
    process.phase = "when a program asks for it"
    names = (product.exact,) if product.exact else known_names(host, process, environment, product)
    asker = process.of_name(CTYPES) or (process.mapped[0] if process.mapped else None)
    unknown_names = []
    for name in names:
        try:
            process.open(name, asker)
        except CannotOpen:
            continue
        except UnseenError as unknown:
            unknown_names.append(str(unknown))
    asked = [one for one in process.asked if product.matches(one.name)]
    items = tuple(_item(host, subject, process, one) for one in _each_once(asked))
    nothing = "" if items else f"no copy of {product.name} lies where one is looked for: nothing would be found"
    return Answer(subject, items, nothing, "; ".join(unknown_names), "")
