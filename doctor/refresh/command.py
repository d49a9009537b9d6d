"""One refresh from the question to the printed answer."""

from __future__ import annotations

import os
from datetime import date

from compat.matrix import Matrix
from compat.overlay import folder
from compat.record import NamedTuple
from doctor.choice import one_of
from doctor.formats import Look
from doctor.host import BadRequest, Host
from doctor.refresh.configuration import connection_of
from doctor.refresh.run import NVIDIA, Outcome, Progress, Source, chosen, refresh, silent
from doctor.refresh.show import Result, as_json, as_text
from doctor.refresh.web import Web

EXIT_FINE, EXIT_UNKNOWN = 0, 4


class Asked(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    products: tuple[str, ...] = ()
    releases: int | None = None
    pythons: tuple[str, ...] = ()
    dry_run: bool = False
    style: str = "text"


def answer(asked: Asked, host: Host, look: Look, progress: Progress = silent) -> tuple[str, int]:
    """The text to print, and the exit status: 0, or 4 where something could not be read.

    Raises NoSuchName, BadRequest, NoIndex, NoSuchInterpreter, BadIndex and NotWritten for what cannot begin or end.
    """
    one_of("format", asked.style, ("text", "json"))
    if asked.releases is not None and asked.releases < 1:
        raise BadRequest("--releases takes a number from 1 on")
    names = chosen(asked.products)
    connection = connection_of(host, asked.pythons, os.getcwd())
    source = Source(connection, Web(connection), Matrix(), date.today().isoformat())
    overlay = folder()
    outcomes = refresh(names, source, overlay, newest=asked.releases, dry_run=asked.dry_run, progress=progress)
    result = Result(outcomes, connection, overlay, source.today, asked.dry_run)
    return as_json(result) if asked.style == "json" else as_text(result, look), _status(outcomes, asked)


def _status(outcomes: tuple[Outcome, ...], asked: Asked) -> int:
    """Behind a mirror NVIDIA's manifests cannot be read: that counts only for who asked for their product."""
    unread = {outcome.product for outcome in outcomes if not outcome.is_read}
    return EXIT_UNKNOWN if unread - set(() if asked.products else NVIDIA) else EXIT_FINE
