"""What a page shows besides findings: the layers of a stack, and tables."""

from __future__ import annotations

from typing import Protocol, TypeGuard

from compat.base.record import NamedTuple
from doctor.output.finding_views import Judged


class Layer(NamedTuple):
    """One layer of a stack, and how it is."""

    name: str
    lines: tuple[str, ...]
    mark: str  # "ok", "error", "warning", "unknown"; "" for nothing to judge
    codes: tuple[str, ...] = ()  # of the findings that are fixed in this layer


class Cell(NamedTuple):
    """A cell that is coloured by its answer."""

    text: str
    mark: str = ""  # "ok", "error", "unknown"


class Table(NamedTuple):
    """A table under its title."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    is_open: bool = False  # shown at once; else its title opens it


class Sectioned(Judged, Protocol):
    """A document that is drawn as a page; `html` asks for it."""

    def title(self) -> str:
        """Whose report it is, and its verdict."""

    def about(self) -> tuple[str, ...]:
        """When and by what it was made; counts."""

    def layers(self) -> tuple[Layer, ...]:
        """The stack from the card up; () for none."""

    def tables(self) -> tuple[Table, ...]:
        """Tables, the most important first."""


def is_sectioned(document: Judged) -> TypeGuard[Sectioned]:
    """Return whether a document is more than findings and text."""
    return hasattr(document, "layers")
