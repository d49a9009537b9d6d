"""A page of text for a terminal: wrapped at its width, aligned, with colours and links if the terminal has them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from doctor.model.finding import Remedy, parts
from doctor.output.document import TextStyle

_LABEL_WIDTH = 10
_ALTERNATIVE_LINES = 2  # of a remedy that is not the first; a longer one is shown by `check --fix`
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
# Our own signs beyond ASCII, of which not every encoding has all; a path's letters stay what they are.
_PLAIN = str.maketrans(
    {"✗": "x", "✓": "+", "·": "-", "×": "x", "–": "-", "—": "-", "…": "...", "→": "->", "←": "<-", "≥": ">=", "≤": "<="}
)
_WINDOWS_PATH = r'(?<![A-Za-z0-9])[A-Za-z]:/(?:(?!\b[A-Za-z]:/)[^:*?"<>|,;])*'
_ON_WINDOWS = os.name == "nt"
_SHARE = r'(?<![\w:/])//[\w.$-]+/[^:*?"<>|,;]*'


class Page:
    """Lines of text under construction."""

    def __init__(self, terminal: TextStyle) -> None:
        self._look = terminal
        self.width = terminal.width
        self._lines: list[str] = []

    def text(self) -> str:
        """The page as it is to be printed, ending with a line feed."""
        text = "\n".join(self._lines) + "\n"
        return text if self._look.symbols else text.translate(_PLAIN)

    def symbol(self, fancy: str, plain: str) -> str:
        """A character, or its stand-in where only ASCII can be shown."""
        return fancy if self._look.symbols else plain

    def paint(self, colour: str, text: str) -> str:
        """The text in this colour, where colours are wanted."""
        text = clean(text)
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._look.colour and colour else text

    def gap(self) -> None:
        """An empty line, but not at the top and never two."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def line(self, text: str) -> None:
        """One line as it is."""
        self._lines.append(text)

    def verbatim(self, text: str, *, indent: int) -> None:
        """Lines to copy and paste: never wrapped."""
        self._lines.extend(" " * indent + clean(line) for line in text.splitlines())

    def paragraph(self, text: str, *, colour: str = "", hang: int = 0) -> None:
        """Wrapped text whose following lines are indented by `hang`; its own leading blanks stay."""
        lead = text[: len(text) - len(text.lstrip())]
        for number, line in enumerate(wrap(text.strip(), self.width - max(len(lead), hang))):
            self._lines.append(self.paint(colour, (lead if number == 0 else " " * hang) + line))

    def references(self, title: str, found: Mapping[str, str]) -> None:
        """A list of names and what each stands for, under a title; nothing where there is none."""
        if not found:
            return
        self.gap()
        self.paragraph(title, colour="bold")
        for name, text in found.items():
            self.paragraph(f"  {name}: {text}", hang=4)

    def row(self, label: str, text: str, *, indent: int = 2) -> None:
        """A label and its text beside it; a label that is too long gets a line of its own."""
        hang = indent + _LABEL_WIDTH
        lines = wrap(text, self.width - hang)
        if len(label) >= _LABEL_WIDTH:
            self._lines.extend([" " * indent + clean(label), *(" " * (indent + 2) + line for line in lines)])
            return
        for number, line in enumerate(lines):
            self._lines.append((" " * indent + label.ljust(_LABEL_WIDTH) if number == 0 else " " * hang) + line)


def show_remedies(page: Page, remedies: tuple[Remedy, ...], where: str = "") -> None:
    """Add what to do, and what else would do; `where` names the machine if it is not this one."""
    for number, remedy in enumerate(remedies):
        page.paragraph(f"  {remedy.lead(first=number == 0, where=where)}: {remedy.summary}", colour="bold", hang=4)
        lines = remedy.commands
        if number and remedy.by_fix and len(lines) > _ALTERNATIVE_LINES:
            lines = ("# every step of it: gpudoctor check --fix",)
        for is_command, part in parts(lines):
            for line in part:
                if is_command:
                    page.verbatim(line, indent=6)
                elif line != remedy.summary:  # a single thing to do by hand is its own summary
                    page.paragraph(f"    {line}", hang=4)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, broken at blanks only; a longer word stands alone and whole."""
    lines: list[str] = []
    for word in as_windows_writes(clean(text)).split(" "):
        if lines and (not word or len(lines[-1]) + 1 + len(word) <= width):
            lines[-1] += " " + word
        else:
            lines.append(word)
    return [line.rstrip() for line in lines] or [""]


def as_windows_writes(text: str) -> str:
    """The text with backslashes in the paths of Windows that it names; inside, every path has slashes."""
    if ":/" in text:
        text = re.sub(_WINDOWS_PATH, lambda match: match[0].replace("/", "\\"), text)
    if _ON_WINDOWS and "//" in text:  # elsewhere it may be a path as any other
        text = re.sub(_SHARE, lambda match: match[0].replace("/", "\\"), text)
    return text


def clean(text: str) -> str:
    """The text without control characters and undecodable bytes: a file's name must not drive the terminal."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "?" for sign in text)


def clean_page(text: str) -> str:
    """A whole page cleaned line by line; only our own colours stay."""
    parts = re.split(r"(\n|\t|\x1b\[(?:31|32|33|0|1|2)m)", text)
    return "".join(part if number % 2 else clean(part) for number, part in enumerate(parts))
