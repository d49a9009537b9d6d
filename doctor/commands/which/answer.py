"""What one framework of one environment gets for a library, with the reasons, and every copy that lost."""

from __future__ import annotations

from compat.base.record import NamedTuple
from doctor.commands.which.copies import Copy, known_names, losers
from doctor.commands.which.product import Product
from doctor.host import Host
from doctor.host.optional_reads import real_path_of
from doctor.loader.cards import loading_of, opens_cuda
from doctor.loader.process import CannotOpen, LoadRequest, Mapped, Process
from doctor.loader.simulate import Simulated, simulate, start
from doctor.loader.steps import CTYPES
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import LoaderFacts, Outcome, Way
from doctor.model.facts.seen import UnseenError, value_or


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
    way: Way | None  # by what, None for none
    failure: str  # why nothing is found, "" where something is
    chain: tuple[str, ...]  # who asks, who loaded that, and so on, nearest first
    when: str
    copies: tuple[Copy, ...]  # the others, in the order of the search, then those it never comes to
    optional: bool = False  # whoever asks goes on without it
    undone: str = ""  # it is found, and unmapped again: what asked for it fails for another reason
    outcome: Outcome = Outcome.FOUND

    @property
    def is_lost(self) -> bool:
        """Whether it is known that nothing usable answers."""
        return self.outcome in {Outcome.MISSING, Outcome.DAMAGED}


class WhichAnswer(NamedTuple):
    """All libraries of a product, for one subject."""

    subject: Subject
    items: tuple[Item, ...] = ()
    failure: str = ""  # why the framework's own loading fails, "" where it does not
    unknown: str = ""  # what is unknown
    note: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether something that must be there is not found, damaged or not kept."""
        return any((one.is_lost or one.undone) and not one.optional for one in self.items)

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown."""
        return bool(self.unknown) or any(one.outcome is Outcome.UNREAD for one in self.items)


def subjects_of(environment: Environment, framework: str) -> list[Subject]:
    """The frameworks of an environment that open CUDA's libraries: also those that are not known, with a note.

    Where one is named, just those of that name; of these all, where none of them is known to open any by itself.
    """
    every = value_or(environment.frameworks, ())
    named = [one for one in every if not framework or _is_named(one, framework)]
    opening = [one for one in named if opens_cuda(one.package) and not one.is_cpu_build]
    return [Subject(environment, one) for one in (opening or (named if framework else ()))]


def _is_named(framework: Framework, name: str) -> bool:
    package = framework.package
    return package == name or package.startswith(f"{name}-")


def of_cpu_build(subject: Subject, framework: Framework, product: Product) -> WhichAnswer:
    """Of a framework that has nothing of CUDA to load; what else it loads is not followed."""
    if product.exact and not product.is_cuda:
        why = f"{framework.label} is a CPU build: only what opens CUDA's libraries is followed, not {product.exact}"
        return WhichAnswer(subject, unknown=why)
    return WhichAnswer(subject, failure=f"{framework.label} is a CPU build, which loads none of CUDA's libraries")


def about(host: Host, search: LoaderFacts, subject: Subject, product: Product) -> WhichAnswer:
    """Simulate the framework's process, and pick what concerns the product."""
    framework = subject.framework
    if framework and framework.is_cpu_build:
        return of_cpu_build(subject, framework, product)
    if framework and not loading_of(framework.package):
        return WhichAnswer(
            subject, unknown=(f"how {framework.package} opens CUDA's libraries is not known to gpudoctor")
        )
    try:
        simulated = simulate(host, search, subject.environment, subject.framework)
    except UnseenError as unknown:
        return WhichAnswer(subject, unknown=str(unknown))
    return _answer(host, subject, simulated, product)


def _answer(host: Host, subject: Subject, simulated: Simulated, product: Product) -> WhichAnswer:
    process = simulated.process
    asked = [one for one in process.requests() if product.matches(one.name)]
    items = tuple(_item(host, subject, process, one) for one in asked)
    note = _mixed(items) if product.name == "cudnn" else ""
    return WhichAnswer(
        subject=subject, items=items, failure=simulated.failure, unknown=simulated.unknown, note=note or simulated.note
    )


def _mixed(items: tuple[Item, ...]) -> str:
    """cuDNN's parts belong together: those of two directories are mostly of two releases."""
    places = dict.fromkeys(one.path.rpartition("/")[0] for one in items if one.path)
    return f"the parts come from {len(places)} directories: {', '.join(places)}" if len(places) > 1 else ""


def _item(host: Host, subject: Subject, process: Process, question: LoadRequest) -> Item:
    mapped = question.mapped
    return Item(
        name=question.name.rpartition("/")[2],
        path=real_path_of(host, mapped.library.path) if mapped else "",
        opened=mapped.library.path if mapped else "",
        way=question.way,
        failure=question.failure,
        chain=_chain(question.by),
        when=question.phase,
        copies=losers(host, process, question, subject.environment),
        optional=question.optional,
        undone=question.undone,
        outcome=question.outcome,
    )


def _chain(by: Mapped | None) -> tuple[str, ...]:
    found = []
    while by:
        found.append(by.library.path)
        by = by.loader
    return tuple(found)


def without_framework(host: Host, search: LoaderFacts, environment: Environment, product: Product) -> WhichAnswer:
    """What a program of this environment gets that asks by ctypes for each name of which there is a copy."""
    subject = Subject(environment, None)
    try:
        process = start(host, search, environment)
    except UnseenError as unknown:
        return WhichAnswer(subject, unknown=str(unknown))
    process.phase = "if a program needs it"
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
    asked = [one for one in process.requests() if product.matches(one.name)]
    items = tuple(_item(host, subject, process, one) for one in asked)
    nothing = "" if items else f"{product.name} not found in any directory that the loader searches"
    return WhichAnswer(subject, items, failure=nothing, unknown="; ".join(unknown_names))
