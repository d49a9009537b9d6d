"""Wrapping and aligning for a terminal."""

from __future__ import annotations

import pytest

from doctor.formats import TextStyle
from doctor.output.page import WIDTH, Page, wrap


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 8, ["one two", "three"]),
        ("/a/very/long/path/that/is/whole x", 10, ["/a/very/long/path/that/is/whole", "x"]),
    ],
)
def test_wrap(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_rows_align_and_fit() -> None:
    page = Page(TextStyle())
    page.row("GPU", "word " * 30)
    page.row("a long label of its own", "text")
    lines = page.text().splitlines()
    assert lines[0].startswith("  GPU       word")
    assert lines[1].startswith(" " * 12 + "word")
    assert max(map(len, lines)) <= WIDTH
    assert lines[-2:] == ["  a long label of its own", "    text"]


def test_gaps_never_double_and_never_lead() -> None:
    page = Page(TextStyle())
    page.gap()
    page.line("a")
    page.gap()
    page.gap()
    page.line("b")
    assert page.text() == "a\n\nb\n"


def test_plain_terminals_get_ascii() -> None:
    page = Page(TextStyle(symbols=False))
    page.line(page.symbol("✗", "x") + " naïve")
    assert page.text() == "x na?ve\n"


def test_colour_only_where_wanted() -> None:
    assert Page(TextStyle(colour=True)).paint("red", "x") == "\x1b[31mx\x1b[0m"
    assert Page(TextStyle()).paint("red", "x") == "x"
