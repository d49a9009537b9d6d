"""Where a report goes: the terminal or a file, and how it may look there."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from compat.base.anchored import anchored, is_of_kernel, is_regular, resolved
from compat.base.choice import NoSuchName
from compat.base.discover import code_of, load_one, names_in
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from doctor.output import formats
from doctor.output.document import NARROWEST, USUAL_WIDTH, WIDEST, Document, Format, TextStyle

_PROGRAMS_WITH_LINKS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"}
_TERMINALS_WITH_LINKS = {"xterm-kitty", "alacritty", "foot", "xterm-ghostty"}
_FIRST_VTE_WITH_LINKS = 5000
_READER_WITHIN_S = 5.0


class NotWritten(GpudoctorError):
    """The output file could not be written."""


class Delivery(NamedTuple):
    """One form of a document, and the file that it goes to; None: it is printed."""

    chosen: Format
    output: str | None


def format_names(*views: str) -> tuple[str, ...]:
    """The formats of documents that have these views: text first, then by name."""
    served = [code_of(name) for name in names_in(formats) if _load(name).needs in {"", *views}]
    return tuple(sorted(served, key=lambda name: (name != "text", name)))


def format_for(name: str, document: type[Document]) -> Format:
    """The format of this name for documents of this kind; raises NoSuchName."""
    known, name = tuple(map(code_of, names_in(formats))), name.casefold()
    if name in known and _serves(name, document):
        return _load(name)
    raise NoSuchName("format", name, [one for one in known if _serves(one, document)])


def _serves(name: str, document: type[Document]) -> bool:
    return hasattr(document, _load(name).needs or "text")


def _load(name: str) -> Format:
    return load_one(formats, name.replace("-", "_"), "FORMAT", Format)


def deliveries(style: str, outputs: Sequence[str], document: type[Document]) -> tuple[Delivery, ...]:
    """Where a document goes, and how; raises NoSuchName.

    `style` is the format that was asked for, "" for none. It holds for what is printed (also by "-"), for a single
    file, and for files whose suffix belongs to no format; where none was asked for, it is text.
    """
    asked = format_for(style or "text", document)
    if style and len(outputs) == 1:
        return (Delivery(asked, _file(outputs[0])),)
    return tuple(Delivery(_by_suffix(one, document) or asked, _file(one)) for one in outputs) or (
        Delivery(asked, None),
    )


def deliver_all(document: Document, asked: Sequence[Delivery], terminal: TextStyle) -> str:
    """The text to print, after the files were written, each wholly or not at all; raises NotWritten."""
    return "".join(deliver(document, one.chosen, one.output, terminal) for one in asked)


def _file(output: str) -> str | None:
    return None if output == "-" else output


def _by_suffix(path: str, document: type[Document]) -> Format | None:
    """The format whose files are called so, if it serves such documents."""
    suffix = os.path.splitext(path)[1].lower()
    served = (_load(name) for name in map(code_of, names_in(formats)) if _serves(name, document))
    return next((one for one in served if suffix and one.suffix == suffix), None)


def deliver(document: Document, chosen: Format, output: str | None, terminal: TextStyle) -> str:
    """The text to print: "" where it went to the file `output`, its chart beside it; raises NotWritten."""
    if output is None:
        return chosen.render(document, terminal)
    picture = _load(chosen.picture) if chosen.picture else None
    beside = f"{os.path.splitext(output)[0]}.{chosen.picture}"
    if picture is None or not hasattr(document, picture.needs):
        write_file(output, chosen.render(document, TextStyle()))
        return ""
    write_file(beside, picture.render(document, TextStyle()))
    write_file(output, chosen.render(document, TextStyle(picture=os.path.basename(beside))))
    return ""


def style_of(stream: TextIO, environ: Mapping[str, str]) -> TextStyle:
    """Return colours and links for a terminal, symbols if the encoding has them, and the width.

    NO_COLOR (no-color.org), FORCE_COLOR (force-color.org) and TERM=dumb are respected.
    """
    is_terminal = stream.isatty()
    columns = _columns_of(stream, environ) if is_terminal or environ.get("COLUMNS") else 0
    is_plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    forced = environ.get("FORCE_COLOR", "") not in {"", "0"} and not environ.get("NO_COLOR")
    try:
        "✗·✓".encode(stream.encoding or "ascii")
        symbols = True
    except UnicodeEncodeError:
        symbols = False
    return TextStyle(
        colour=forced or (is_terminal and not is_plain),
        symbols=symbols,
        width=max(NARROWEST, min(columns, WIDEST)) if columns else USUAL_WIDTH,
        table_width=max(NARROWEST, columns) if is_terminal and columns else 0,
        links=is_terminal and not is_plain and _has_links(environ),
    )


def _columns_of(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Return COLUMNS, otherwise the width of the terminal; 0 if neither is known."""
    if environ.get("COLUMNS", "").isdecimal():
        return int(environ["COLUMNS"])
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def _has_links(environ: Mapping[str, str]) -> bool:
    """Tell whether the terminal shows hyperlinks (OSC 8), by the variables that it sets.

    Source: github.com/Alhadis/OSC8-Adoption. VTE has links since 0.50.
    """
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _PROGRAMS_WITH_LINKS
        or environ.get("TERM", "") in _TERMINALS_WITH_LINKS
        or "WT_SESSION" in environ
        or (vte.isdecimal() and int(vte) >= _FIRST_VTE_WITH_LINKS)
    )


def terminal_style() -> TextStyle:
    """How a text may look on standard output."""
    return style_of(sys.stdout, os.environ)


def write_file(path: str, text: str) -> None:
    """Write a text as UTF-8, wholly or not at all; raises NotWritten.

    A link is followed, but for one of another user; a device or a pipe is written to, never replaced.
    """
    try:
        if os.name != "posix":
            replace(os.path.realpath(path), text)
        elif (file := _opened(real := resolved(path))) is None:
            with anchored(real) as there:
                replace(there, text)
        else:
            with open(file, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}") from error


def write_new(path: str, text: str) -> None:
    """Write a file that is not there yet as UTF-8, wholly or not at all; raises NotWritten.

    What came to that name meanwhile is left alone: a link, too, also one that leads nowhere (O_EXCL, open(2)).
    """
    try:
        folder = os.path.dirname(os.path.abspath(path))
        folder = resolved(folder) if os.name == "posix" else folder
        with anchored(os.path.join(folder, os.path.basename(path))) as there:
            _write_new(there, text)
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}") from error


def _write_new(path: str, text: str) -> None:
    with open(path, "x", encoding="utf-8", newline="\n") as stream:
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            os.unlink(path)
            raise


def _opened(path: str) -> int | None:
    """The descriptor of a device or pipe; None for a file, and where nothing is yet.

    A pipe is waited for no longer than a program takes to begin reading it.
    """
    until = time.monotonic() + _READER_WITHIN_S
    while True:
        try:
            descriptor = _open_special(path)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise OSError(error.errno, "no process reads from this pipe") from error
            time.sleep(0.05)
        else:
            if descriptor is not None:
                os.set_blocking(descriptor, True)
            return descriptor


def _open_special(path: str) -> int | None:
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
    if is_of_kernel(path):
        return os.open(path, flags | os.O_APPEND)
    with anchored(path) as there:
        if not os.path.lexists(there) or stat.S_ISREG(os.lstat(there).st_mode):
            return None
        descriptor = os.open(there, flags | os.O_NOFOLLOW)
    if is_regular(descriptor):  # it was exchanged meanwhile
        os.close(descriptor)
        return None
    return descriptor


def replace(path: str, text: str) -> None:
    """Write a text in place of what has this name, a link too; raises OSError.

    On the disk before it takes the name: after a power cut there is the old text or the new one, never none.
    """
    part = f"{path}.part-{os.urandom(6).hex()}"  # containers that share a directory share process ids, too
    try:
        with open(part, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            if os.name == "posix" and os.path.exists(path) and not os.path.islink(path):
                os.fchmod(stream.fileno(), stat.S_IMODE(os.stat(path).st_mode) & 0o777)  # who reads it shall go on
            os.fsync(stream.fileno())
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)
