"""Wrapping and aligning for a terminal."""

from __future__ import annotations

import pytest

from doctor.output.document import USUAL_WIDTH as WIDTH
from doctor.output.document import TextStyle
from doctor.output.page import Page, as_windows_writes, clean_page, wrap


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


def test_plain_terminals_get_plain_signs_and_whole_paths() -> None:
    page = Page(TextStyle(symbols=False))
    page.line(page.symbol("✗", "x") + " C:\\Users\\Jürgen · x")
    assert page.text() == "x C:\\Users\\Jürgen - x\n"


def test_paths_of_windows_are_written_as_windows_writes_them() -> None:
    page = Page(TextStyle())
    page.paragraph("C:/Program Files/CUDA/bin: see https://example.com/a, docs/b and d:/x/y")
    assert page.text() == "C:\\Program Files\\CUDA\\bin: see https://example.com/a, docs/b and d:\\x\\y\n"


def test_each_of_several_paths_is() -> None:
    """A path may hold blanks: where it ends is not known, but another one begins with its drive."""
    text = "it is C:/Program Files/a.dll  [D:/b c/d.dll] and e:/f"
    assert as_windows_writes(text) == r"it is C:\Program Files\a.dll  [D:\b c\d.dll] and e:\f"


def test_shares_are_written_so_on_windows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "//server/my share/env: see https://example.com/a"
    monkeypatch.setattr("doctor.output.page._ON_WINDOWS", False)
    assert as_windows_writes(text) == text
    monkeypatch.setattr("doctor.output.page._ON_WINDOWS", True)
    assert as_windows_writes(text) == "\\\\server\\my share\\env: see https://example.com/a"


def test_colour_only_where_wanted() -> None:
    assert Page(TextStyle(colour=True)).paint("red", "x") == "\x1b[31mx\x1b[0m"
    assert Page(TextStyle()).paint("red", "x") == "x"


def test_a_whole_page_steers_no_terminal() -> None:
    """Of every document: what it quotes may hold any sign."""
    page = "\x1b[31mred\x1b[0m\n\ttab \x1b]0;title\x07 \x1b[2J \u202ex \x9b1m \r over\n"
    assert clean_page(page) == "\x1b[31mred\x1b[0m\n\ttab ?]0;title? ?[2J ?x ?1m ? over\n"
