"""What `gpudoctor run` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from io import BytesIO
from typing import TypeVar

from compat.base.errors import GpudoctorError
from compat.base.process import command_line
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.check.text import in_short, render
from doctor.commands.explain.document import NOT_STACK, UNKNOWN, ExplainDocument
from doctor.commands.run.tail import KEPT_BYTES, Tail
from doctor.diagnose import EXIT_BAD, exit_status
from doctor.host import BadRequest
from doctor.messages.causes import causes_of
from doctor.messages.reading import Reading, read
from doctor.messages.torchelastic_errors import error_file_text, of_first_failing
from doctor.model.facts import Facts
from doctor.model.finding import Finding, Report, Severity
from doctor.output.document import TextStyle
from doctor.output.page import Page, clean

_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")
T = TypeVar("T")
# Ended by somebody who wanted it, or whose reader had read enough: there is nothing to explain.
_WANTED = frozenset(getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")) - {None}
_CONTROL_C = 0xC000013A - (1 << 32)  # STATUS_CONTROL_C_EXIT, ntstatus.h


class Ended(NamedTuple):
    """How the command ended."""

    status: int  # exit status; the number of a signal is negative
    output: bytes  # the end of what it wrote, b"" where that was not seen


class Checked(NamedTuple):
    """What the check before the start came to."""

    report: Report | None  # None where it could not be made
    why: str = ""  # then the reason


def check_first(argv: tuple[str, ...], pythons: tuple[str, ...]) -> Checked:
    """The fast check, of the environment that the command runs in; raises BadRequest for a --python that is none."""
    started = time.perf_counter()
    guessed = pythons or _python_of(argv)
    try:
        return Checked(report_of(CheckSubject(pythons=guessed), started))
    except GpudoctorError as error:
        if pythons and isinstance(error, BadRequest):
            raise
        return Checked(None, str(error))
    except Exception as error:  # noqa: BLE001 - a fault of ours never keeps the command from running
        return Checked(None, f"{type(error).__name__}: {error}")


def redacted(checked: Checked) -> Checked:
    """Without what names the user or the machine."""
    report = checked.report
    return Checked(report and _redact(report, report.facts), _redact(checked.why))


def _redact(value: T, facts: Facts | None = None) -> T:
    from doctor.host.choice import host_of  # late, as the patterns: only runs that ask for it pay for them
    from doctor.output.redact import redact

    return redact(value, host_of(None), facts)


def _python_of(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The interpreter of the command: itself, or the one beside a program of an environment (torchrun); () for none."""
    found = shutil.which(argv[0])
    if not found:
        return ()
    if _PYTHON.fullmatch(os.path.basename(found)):
        return (found,)
    folder = os.path.dirname(os.path.abspath(found))
    marks = ("pyvenv.cfg", "conda-meta")
    if not any(os.path.exists(os.path.join(os.path.dirname(folder), mark)) for mark in marks):
        return ()
    beside = (os.path.join(folder, name) for name in ("python", "python3", "python.exe"))
    return tuple(path for path in beside if os.path.exists(path))[:1]


def is_blocked(checked: Checked) -> bool:
    """Whether the check found an error, for --strict; a check that could not be made counts as one."""
    return checked.report is None or exit_status(checked.report, Severity.ERROR) == EXIT_BAD


def warning(checked: Checked, style: TextStyle, *, blocked: bool) -> str:
    """What the check says before the start, "" where there is nothing to say; all of it where it keeps us from it."""
    if checked.report is None:
        return f"gpudoctor: this machine could not be checked: {clean(checked.why)}\n"
    if blocked:
        return render(checked.report, style)
    roots = _roots(checked.report)
    if not roots:
        return ""
    page = Page(style)
    for one in roots:
        page.paragraph(f"gpudoctor: {one.summary} ({one.code})", colour="yellow", hang=2)
    page.paragraph("gpudoctor: for the fix: gpudoctor check", colour="dim", hang=2)
    return page.text()


def _roots(report: Report) -> list[Finding]:
    return [one for one in report.findings if not one.explained_by and one.severity is not Severity.INFO]


def carry_out(argv: tuple[str, ...], log: str | None) -> Ended:
    """Run the command, untouched; raises NotStarted. With `log`, a file that it writes is read as well."""
    tail = Tail()
    if os.name == "posix":
        from doctor.commands.run.watch import run  # late: POSIX only

        raw = run(argv, tail.add)
        status = -os.WTERMSIG(raw) if os.WIFSIGNALED(raw) else os.WEXITSTATUS(raw)
    else:
        from doctor.commands.run.inherited import run as run_inherited  # late: the other half

        status = run_inherited(argv)
    return Ended(status, tail.text() + (_end_of(log) if log and status else b""))


def _end_of(path: str) -> bytes:
    """The last of a file; raises BadRequest where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.stat(path).st_size - KEPT_BYTES))
            return stream.read(KEPT_BYTES)
    except (OSError, ValueError) as error:
        return f"\n{path}: {getattr(error, 'strerror', '') or error}\n".encode("utf-8", "replace")


def explanation(
    argv: tuple[str, ...], ended: Ended, checked: Checked, style: TextStyle, *, redacts: bool = False
) -> str:
    """Why it failed: what its output says, and what this machine shows, each by itself; "" where it was ended."""
    if ended.status in {0, _CONTROL_C} or -ended.status in _WANTED or ended.status - 128 in _WANTED:
        return ""
    try:
        text = of_first_failing(ended.output)
        error_file = error_file_text(ended.output, os.environ.get("TORCHELASTIC_ERROR_FILE", ""))
        reading = read(BytesIO(error_file + text))
        if redacts:
            argv, reading = _redact(argv), reading._replace(lines=_redact(reading.lines))
        return _explained(argv, ended, reading, checked, style)
    except Exception as error:  # noqa: BLE001 - a fault of ours never costs the command its exit status
        return f"gpudoctor: its output could not be explained: {clean(f'{type(error).__name__}: {error}')}\n"


def _explained(argv: tuple[str, ...], ended: Ended, reading: Reading, checked: Checked, style: TextStyle) -> str:
    document = ExplainDocument(reading, causes_of(reading, Matrix.of_user()))
    page = Page(style)
    page.line("")
    page.paragraph(f"gpudoctor: {command_line(argv)[:200]} {_how(ended.status)}", colour="bold", hang=2)
    report = checked.report
    if document.verdict == UNKNOWN and report and not _roots(report):
        seen = "nothing in its output is a message that gpudoctor knows"
        nothing = (
            "no fault was found on this machine" if report.verdict == "healthy" else f"the check: {report.verdict}"
        )
        page.paragraph(f"  {seen if ended.output else 'its output was not seen'}; {nothing}", hang=2)
        return page.text()
    said = document.text(style)
    if document.verdict == UNKNOWN:
        said = (
            "No message that gpudoctor knows.\n" if ended.output else "Not seen: name the log that it writes, --log.\n"
        )
    parts = [page.text(), _title("Its output says", style), said]
    if report and (_roots(report) or document.verdict != NOT_STACK):
        parts += ["\n", _title("This machine, checked before the start", style), in_short(report, style)]
    return "".join(parts)


def _title(text: str, style: TextStyle) -> str:
    page = Page(style)
    page.line(page.paint("bold", f"{page.symbol('—', '--')} {text} {page.symbol('—', '--')}"))
    return page.text()


def _how(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended with status {status & 0xFFFFFFFF:#x}"
