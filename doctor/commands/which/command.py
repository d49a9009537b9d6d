"""Which file a process of an environment loads for a library, and why: what `gpudoctor which` answers."""

from __future__ import annotations

from compat.base.choice import NoSuchName
from compat.base.record import NamedTuple
from doctor.commands.which.answer import Subject, WhichAnswer, about, subjects_of, without_framework
from doctor.commands.which.document import WhichDocument
from doctor.commands.which.live import Running, compared, running
from doctor.commands.which.product import PRODUCTS, Product, product_of
from doctor.host import BadRequest, Host
from doctor.host.choice import host_of
from doctor.host.snapshot import Snapshot
from doctor.model.facts.environment import Environment
from doctor.model.facts.failure import Unread
from doctor.model.facts.loader import LoaderFacts
from doctor.model.facts.seen import Unseen, value_or
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for

FOUND, NOT_FOUND, CANNOT_BE_TOLD = 0, 1, 4


class Question(NamedTuple):
    """What the user asked; the defaults are those of the command line."""

    library: str
    pythons: tuple[str, ...] = ()
    framework: str = ""
    root: str | None = None
    style: str = "text"
    pid: int | None = None
    output: str | None = None
    redact: bool = False


def which(question: Question, terminal: TextStyle) -> tuple[str, int]:
    """The text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    chosen = format_for(question.style, WhichDocument)
    product = product_of(question.library)
    if question.pid is not None and question.root is not None:
        raise BadRequest("--live looks at this machine, --root at another: give one of them")
    process = running(question.pid) if question.pid is not None else None
    host = Snapshot(process.host if process else host_of(question.root))
    unknown = _unknown_loader(host)
    if unknown:
        status, document = CANNOT_BE_TOLD, WhichDocument(question.library, unknown=unknown)
    else:
        answers = _answers(host, product, question, process)
        checked = compared(answers, process, product) if process else None
        status = checked.status if checked else _status(answers)
        if host.unread and not process:
            status, answers = CANNOT_BE_TOLD, _with_unread(answers, host.unread)
        if question.redact:
            from doctor.output.redact import redact  # late: only runs that ask for it pay for its patterns

            answers, checked = redact((answers, checked), host)
        document = WhichDocument(question.library, answers, checked, status)
    return deliver(document, chosen, question.output, terminal), status


def _unknown_loader(host: Host) -> str:
    """Why the loader of this machine is not one whose rules are known, "" where it is."""
    from doctor.probes import loader  # late: bad usage answers at once

    if host.os_family == "windows":
        return ""
    if host.os_family == "macos":
        return "there is no CUDA for macOS: no process loads its libraries"
    if host.os_family != "linux":
        return f"what is loaded on {host.os_family} is not predicted; only Linux and Windows are known"
    if loader.is_musl(host):
        return "the C library is musl, whose loader is not known; CUDA's wheels need glibc"
    return ""


def _answers(host: Host, product: Product, question: Question, process: Running | None) -> tuple[WhichAnswer, ...]:
    """One answer for every framework of every environment that asks for the library."""
    from doctor.loader.cache import whole_cache
    from doctor.probes import environment, loader

    search = loader.look(host)._replace(cache=whole_cache(host))
    pythons = question.pythons or ((process.python,) if process else ())
    found: list[WhichAnswer] = []
    environments = environment.look(host, pythons).get()
    for one in environments:
        subjects = _subjects(one, question, process)
        if subjects or not question.framework:
            found += _told(host, search, one, product, subjects)
    if not found:
        where = ", ".join(one.label for one in environments) or "no Python environment was found"
        wanted = f"no {question.framework} whose loading is known in " if question.framework else ""
        raise BadRequest(f"{wanted}{where}; name one with --python")
    return tuple(found)


def _subjects(environment: Environment, question: Question, process: Running | None) -> list[Subject]:
    """Whose processes are meant: the frameworks, of a running process those that it uses; raises NoSuchName."""
    subjects = subjects_of(environment, question.framework)
    known = [one.package for one in value_or(environment.frameworks, ())]
    if question.framework and not subjects and known:
        raise NoSuchName("framework that loads CUDA's libraries", question.framework, known)
    if process:
        subjects = [one for one in subjects if one.framework and process.uses(one.framework.path)]
    return subjects


def _told(
    host: Host, search: LoaderFacts, environment: Environment, product: Product, subjects: list[Subject]
) -> list[WhichAnswer]:
    """What those tell that ask for the library; where none does, what a program gets that asks for it itself."""
    if host.os_family == "windows":
        return _told_of_dlls(host, search, environment, product, subjects)
    told = [about(host, search, one, product) for one in subjects]
    asking = [one for one in told if one.items or one.unknown or one.failure]
    if asking:
        return asking
    answer = without_framework(host, search, environment, product)
    if isinstance(environment.frameworks, Unseen):
        answer = answer._replace(unknown=f"which frameworks it has: {environment.frameworks.why}")
    return [answer]


def _told_of_dlls(
    host: Host, search: LoaderFacts, environment: Environment, product: Product, subjects: list[Subject]
) -> list[WhichAnswer]:
    from doctor.commands.which.windows import about_dlls  # late: only a Windows disk has DLLs

    told = [about_dlls(host, search, one, product) for one in subjects]
    asking = [one for one in told if one.items or one.unknown or one.failure]
    program = about_dlls(host, search, Subject(environment, None), product)
    if subjects and not program.items:  # their libraries may be unreadable
        why = f"no readable library of a framework needs {product.name}"
        program = program._replace(failure="", unknown=why)
    return asking or [program]


def _with_unread(answers: tuple[WhichAnswer, ...], unread: tuple[Unread, ...]) -> tuple[WhichAnswer, ...]:
    """Say with each answer what was not read: it may hold another environment, or another copy."""
    whys = [f"{one.label}: {one.why}" for one in unread]
    return tuple(one._replace(unknown="; ".join((*filter(None, (one.unknown,)), *whys))) for one in answers)


def _status(answers: tuple[WhichAnswer, ...]) -> int:
    """Exit 1 where what is asked for would not be found, or nothing is; 4 if that is unknown; otherwise 0."""
    if any(one.is_missing for one in answers):
        return NOT_FOUND
    if any(one.is_unknown for one in answers):
        return CANNOT_BE_TOLD
    return FOUND if all(one.items for one in answers) else NOT_FOUND


__all__ = ["CANNOT_BE_TOLD", "FOUND", "NOT_FOUND", "PRODUCTS", "Question", "which"]
