"""What changed on a machine that can matter for its GPU stack, newest first."""

from __future__ import annotations

import time

from compat.base.duration import moment
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.changes import history_of
from doctor.commands.changed.document import ChangedDocument
from doctor.commands.check.command import CheckSubject, host_for, report_of
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for


class ChangedRequest(NamedTuple):
    """What was asked; the defaults are those of the command line."""

    since: str = "14 days"
    pythons: tuple[str, ...] = ()
    root: str | None = None
    style: str = "text"
    output: str | None = None
    redact: bool = False


def changed(asked: ChangedRequest, terminal: TextStyle) -> str:
    """Return the text to print, "" where it went to a file.

    Raises BadDuration, NoSuchName, BadRequest and NotWritten for what the user got wrong.
    """
    chosen = format_for(asked.style, ChangedDocument)
    since_s = moment(asked.since, "--since", time.time())
    subject = CheckSubject(root=asked.root, pythons=asked.pythons)
    host, matrix = host_for(subject), Matrix.of_user()
    report = report_of(subject, time.perf_counter(), host, matrix)
    history = history_of(host, report, since_s, matrix)
    if asked.redact:
        from doctor.output.redact import redact  # late: only runs that ask for it pay for its patterns

        history = redact(history, host, report.facts)
    return deliver(ChangedDocument(history), chosen, asked.output, terminal)
