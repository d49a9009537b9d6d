"""How a text may look: by the stream, the terminal and the variables of the user."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping

import pytest

from compat.matrix import Matrix
from doctor.commands.matrix.show import view
from doctor.commands.matrix.shown import Shown
from doctor.commands.matrix.view_document import ViewDocument
from doctor.commands.matrix.view_text import fitted
from doctor.output.document import TextStyle
from doctor.output.formats.text import render
from doctor.output.write import style_of


class Stream(io.TextIOWrapper):
    """A stream that is a terminal, or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8")
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "variables", "colour", "width", "table_width"),
    [
        (False, {}, False, 80, 0),
        (True, {}, True, 80, 0),  # a terminal that tells no width
        (True, {"COLUMNS": "60"}, True, 60, 60),
        (True, {"COLUMNS": "200"}, True, 100, 200),
        (True, {"COLUMNS": "10"}, True, 40, 40),
        (True, {"COLUMNS": "wide"}, True, 80, 0),
        (False, {"COLUMNS": "120"}, False, 100, 0),  # in a pipe a table stays a table
        (True, {"NO_COLOR": "1"}, False, 80, 0),
        (True, {"TERM": "dumb"}, False, 80, 0),
        (False, {"FORCE_COLOR": "1"}, True, 80, 0),
        (False, {"FORCE_COLOR": "0"}, False, 80, 0),
        (True, {"FORCE_COLOR": "1", "TERM": "dumb"}, True, 80, 0),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, 80, 0),
    ],
)
def test_colour_and_width(
    is_terminal: bool, variables: Mapping[str, str], colour: bool, width: int, table_width: int
) -> None:
    found = style_of(Stream(is_terminal=is_terminal), variables)
    assert (found.colour, found.width, found.table_width) == (colour, width, table_width)


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize(("columns", "width"), [(60, 60), (80, 80), (200, 100)])
def test_the_width_of_a_real_terminal(columns: int, width: int) -> None:
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(follower, "w", encoding="utf-8") as stream:
        found = style_of(stream, {})
    os.close(leader)
    assert (found.width, found.table_width) == (width, columns)


@pytest.mark.parametrize(
    ("variables", "links"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "4200"}, False),
        ({"WT_SESSION": "0"}, True),
        ({"WT_SESSION": "0", "NO_COLOR": "1"}, False),
    ],
)
def test_links(variables: Mapping[str, str], links: bool) -> None:
    assert style_of(Stream(is_terminal=True), variables).links == links
    assert not style_of(Stream(is_terminal=False), variables).links


def test_an_address_is_a_link_and_reads_the_same() -> None:
    document = ViewDocument(Shown.of(view("gpu", "RTX 5090", Matrix.of_user())))
    plain, linked = render(document, TextStyle()), render(document, TextStyle(links=True))
    assert (
        "\x1b]8;;https://developer.nvidia.com/cuda-gpus\x1b\\https://developer.nvidia.com/cuda-gpus\x1b]8;;\x1b\\"
        in linked
    )
    assert re.sub(r"\x1b\]8;;[^\x1b]*\x1b\\", "", linked) == plain


def test_a_table_that_does_not_fit() -> None:
    rows: list[tuple[str, ...]] = [
        ("name", "of", "note"),
        ("torch", "2026", "one two three four five six seven eight nine ten"),
    ]
    assert fitted(rows, 0) == fitted(rows, 200)
    assert fitted(rows, 40) == [
        "name   of    note",
        "torch  2026  one two three four five six",
        "             seven eight nine ten",
    ]
    assert fitted(rows, 30) == ["torch", "  of: 2026; note: one two", "  three four five six seven", "  eight nine ten"]
