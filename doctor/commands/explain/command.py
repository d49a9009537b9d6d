"""What `gpudoctor explain` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TypeVar

from compat.base.choice import one_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.explain import advice, prose
from doctor.commands.explain.document import STATUS, ExplainDocument
from doctor.commands.explain.dump import Told, tell
from doctor.commands.explain.evidence import files_of, unpacked
from doctor.host import BadRequest
from doctor.host.files import open_named
from doctor.messages import pages
from doctor.messages.causes import Cause, causes_of
from doctor.messages.reading import ByteSource, Reading, read
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for, write_file

T = TypeVar("T")
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_STANDARD_INPUT = "-"
_THE_TEXTS = "the text's machine"


class Question(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    subject: str = ""  # a file, "-" or a code
    list_codes: bool = False
    search: str = ""
    style: str = "text"
    output: str | None = None
    redact: bool = False  # take out what names a user or a machine, and offer a text to post


def explain(question: Question, terminal: TextStyle) -> tuple[str, int]:
    """The text to print ("" when it went to a file) and the exit status.

    Raises NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    if question.list_codes or question.search:
        wanted = pages.found(question.search) if question.search else pages.codes()
        if not wanted:
            raise BadRequest(f"no page contains {question.search!r}; for all pages: gpudoctor explain --list")
        return _put(pages.listing(wanted), question.output), 0
    if _is_code(question.subject):
        return _put(pages.text(question.subject), question.output), 0
    chosen = format_for(question.style, ExplainDocument)
    reading = _reading(question.subject)
    if not any(line.text.strip() for line in reading.lines):
        if reading.problem:
            raise BadRequest(f"{reading.problem}; no part of it can be read")
        raise BadRequest("the text is empty; give a file with a message or a log, or pipe one in")
    name = _name(question.subject)
    if question.redact:
        lines, name = _redacted((reading.lines, name))
        reading = reading._replace(lines=lines)
    document = explained(reading, name, Matrix.of_user())
    document.offers_post = question.redact
    return deliver(document, chosen, question.output, terminal), STATUS[document.verdict]


def _put(text: str, output: str | None) -> str:
    """Return the text to print: "" where it went to a file; raises NotWritten."""
    if output in {None, "-"}:
        return text
    write_file(str(output), text)
    return ""


def _redacted(value: T) -> T:
    """Without what names the user or a machine, so that what is shown of it can be shown to others."""
    from doctor.host.choice import host_of  # late: only runs that ask for it pay for its patterns
    from doctor.output.redact import redact

    return redact(value, host_of(None))


def explained(reading: Reading, name: str, matrix: Matrix) -> ExplainDocument:
    """Messages by their signatures, dumps by the rules, both as one; `name`: of the machine that the text is about."""
    by_message = causes_of(reading, matrix)
    told = tell(reading)
    causes, facts = by_message, None
    if told.titles:
        # Late: only a text that shows a machine needs the rules.
        from doctor.commands.explain.report_from_text import causes_of_report, merged, report_of

        report = report_of(told, name, matrix)
        causes, facts = merged(causes, causes_of_report(report, reading)), report.facts
    if advice.can_help(causes):
        causes = _with_commands(causes, told, reading, name, matrix)
    return ExplainDocument(reading, causes, facts)


def _with_commands(
    causes: tuple[Cause, ...], told: Told, reading: Reading, name: str, matrix: Matrix
) -> tuple[Cause, ...]:
    """Add commands to the first cause: by the rules, if the words beside the dumps let them confirm it."""
    words = prose.beside(told, reading)
    if words.titles and prose.can_help(causes):
        from doctor.commands.explain.report_from_text import agreed, causes_of_report, report_of  # late: as above

        causes = agreed(causes, causes_of_report(report_of(words, name, matrix), reading))
    return advice.added(causes, words.said, "\n".join(line.text for line in reading.lines), matrix)


def _name(subject: str) -> str:
    return f"the machine of {os.path.basename(subject)}" if subject not in ("", _STANDARD_INPUT) else _THE_TEXTS


def _is_code(subject: str) -> bool:
    """Whether it is a code and no file; raises NoSuchName for what looks like a code and is neither."""
    if os.path.exists(subject) or not _CODE.fullmatch(subject.casefold()):
        return False
    return bool(one_of("file or code", subject, pages.codes()))


def _reading(subject: str) -> Reading:
    if subject in ("", _STANDARD_INPUT):
        if subject == "" and sys.stdin.isatty():
            raise BadRequest("give a file, a finding's code, or '-' to paste a message (end with Ctrl-D)")
        return _read(sys.stdin.buffer, _STANDARD_INPUT)
    try:
        with open_named(subject) as stream:
            return _read(stream, subject)
    except BadRequest as error:
        raise BadRequest(f"{subject}: {error}") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadRequest(f"{subject}: {why}") from error


def _read(stream: ByteSource, subject: str) -> Reading:
    source = unpacked(stream)
    if files_of(source):
        raise BadRequest(f"it is an archive: gpudoctor check --from {shlex.quote(subject)} reads its files")
    reading = read(source)
    return reading._replace(problem=f"the file {source.why}" if source.why else "")
