"""One refresh from the question to the printed answer."""

from __future__ import annotations

import os
from datetime import date

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.overlay import folder
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.nvidia import require_manifest
from doctor.commands.refresh.run import NVIDIA, Outcome, Progress, Source, chosen, refresh, silent
from doctor.commands.refresh.show import RefreshDocument, Result
from doctor.commands.refresh.web import Web
from doctor.host import BadRequest, Host
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for

EXIT_FINE, EXIT_UNKNOWN = 0, 4


class RefreshRequest(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    products: tuple[str, ...] = ()
    releases: int | None = None
    pythons: tuple[str, ...] = ()
    dry_run: bool = False
    style: str = "text"
    output: str | None = None
    manifests: str = ""  # file or directory with NVIDIA's manifests, "" for NVIDIA's own server
    channels: bool = False  # also the makers' own indexes
    seconds: float = 60.0  # for everything together


def answer(asked: RefreshRequest, host: Host, terminal: TextStyle, progress: Progress = silent) -> tuple[str, int]:
    """The text to print, and the exit status: 0, or 4 where something could not be read.

    Raises NoSuchName, BadRequest, NoIndex, NoSuchInterpreter, BadIndex and NotWritten for what cannot begin or end.
    """
    chosen_format = format_for(asked.style, RefreshDocument)
    if asked.releases is not None and asked.releases < 1:
        raise BadRequest("--releases needs a number from 1 on")
    if not 0 < asked.seconds < float("inf"):  # which "nan" is neither
        raise BadRequest("--timeout needs seconds, more than 0")
    if asked.manifests and not (os.path.isfile(asked.manifests) or os.path.isdir(asked.manifests)):
        raise BadRequest(f"--manifests {asked.manifests}: it does not exist")
    names = chosen(asked.products or (NVIDIA if asked.manifests else ()))
    connection = connection_of(host, asked.pythons, os.getcwd())
    web = Web(connection, asked.seconds)
    if asked.manifests:
        require_manifest(asked.manifests, web)
    source = Source(
        connection=connection,
        web=web,
        shipped=Matrix(),
        today=date.today().isoformat(),
        manifests=asked.manifests,
        channels=asked.channels,
    )
    overlay = folder()
    outcomes = refresh(names, source, overlay, newest=asked.releases, dry_run=asked.dry_run, progress=progress)
    result = Result(outcomes=outcomes, connection=connection, folder=overlay, today=source.today, dry_run=asked.dry_run)
    return deliver(RefreshDocument(result), chosen_format, asked.output, terminal), _status(outcomes, asked)


def _status(outcomes: tuple[Outcome, ...], asked: RefreshRequest) -> int:
    """Behind a mirror NVIDIA's manifests cannot be read: that counts only for who asked for their product.

    Of those that were given with --manifests one that nothing could be read of counts, too.
    """
    unread = {
        outcome.product for outcome in outcomes if not outcome.is_read and (outcome.problems or not asked.manifests)
    }
    return EXIT_UNKNOWN if unread - set(() if asked.products or asked.manifests else NVIDIA) else EXIT_FINE
