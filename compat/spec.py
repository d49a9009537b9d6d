"""What a user asks for: a product, which of its releases, which build, which extras."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.specifier import clauses

_SPEC = r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(.*?)\s*"
_BUILD = r"(.*?)\+([A-Za-z0-9][A-Za-z0-9.]*)(\s*,.*)?"

_BARE_NAME = r"[\w.-]*[A-Za-z][\w.-]*(\[.*\])?"
_RELEASE = r"[=v]*\d+(\.\d+)*(\+\w+)?"
_LONGEST = 300  # characters; a longer one is a slip or an attack, and Python reads no number of 4300 digits


class BadSpec(GpudoctorError):
    """A text names no product and releases."""

    hint = 'Write a name, with a PEP 440 specifier if needed: torch, "torch>=2.4", torch==2.6.0+cu124'

    def __init__(self, text: str) -> None:
        shown = text if len(text) <= _LONGEST else f"{text[:40]}..."
        meant = _meant(text) if len(text) <= _LONGEST else ""
        super().__init__(
            f"{shown!r} is not a package with a version specifier" + (f"; did you mean {meant}?" if meant else "")
        )
        self.hint = "" if meant else self.hint


def _meant(text: str) -> str:
    """The specifier of somebody who wrote conda's "torch=2.6", npm's "torch@2.6", or "torch=>2.6"."""
    found = re.fullmatch(r"\s*([A-Za-z][\w.-]*(?:\[[\w,-]*\])?)\s*(=>|=<|[=@:])\s*v?(\d+(?:\.\d+)*(?:\+\w+)?)\s*", text)
    if not found:
        return ""
    return found[1] + {"=>": ">=", "=<": "<="}.get(found[2], "==") + found[3]


class Spec(NamedTuple):
    """One product that was asked for."""

    name: str  # normalised (PEP 503): "jax-cuda12-plugin"
    versions: str  # PEP 440 specifier without a local part, "" for any
    build: str  # "cu124", "" for any
    extras: tuple[str, ...]  # "cuda12" of jax[cuda12]

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}{self.versions}" + (f"+{self.build}" if self.build else "")


def parse_spec(text: str) -> Spec:
    """Read "torch", "torch>=2.4,<2.8", "torch==2.6.0+cu124", "jax[cuda12]==0.7.0"; raises BadSpec."""
    found = re.fullmatch(_SPEC, text) if len(text) <= _LONGEST else None
    if not found or not text.isascii():  # PEP 508 and PEP 440 know no other digits
        raise BadSpec(text)
    apart = re.sub(r"^v?(?=\d[\d.]*(\+\w+)?$)", "==", found[3])  # "torch 2.9.1"
    versions, build = re.sub(r"(?<=\d)\.x(?=$|[,\s])", ".*", apart), ""  # "==4.x" as people write it
    local = re.fullmatch(_BUILD, versions)
    if local:
        versions, build = local[1] + (local[3] or ""), local[2]
    versions = re.sub(r"(?<=[^,\s])\s*,$", "", versions)  # pip takes one comma at the end
    versions = re.sub(r"===\s*(?=\d)", "==", versions)  # the same for every release that has a row
    versions = re.sub(r"(?<=[=<>])\s*[vV](?=\d)", "", versions)  # PEP 440: v2.9 is 2.9
    _refuse_unreadable(text, versions)
    extras = tuple(sorted(normal(part) for part in (found[2] or "").split(",") if part.strip()))
    return Spec(normal(found[1]), versions.replace(" ", ""), build, extras)


def parse_specs(texts: Sequence[str]) -> tuple[Spec, ...]:
    """Read each, also a release that stands apart from its name: torch 2.9.1; raises BadSpec."""
    joined: list[str] = []
    for text in texts:
        if joined and re.fullmatch(_RELEASE, text) and re.fullmatch(_BARE_NAME, joined[-1]):
            joined[-1] += " " + text
        else:
            joined.append(text)
    return tuple(map(parse_spec, joined))


def _refuse_unreadable(text: str, versions: str) -> None:
    if versions and not all(one.strip() for one in versions.split(",")):
        raise BadSpec(text)
    try:
        clauses(versions)
    except ValueError as error:
        raise BadSpec(text) from error


def normal(name: str) -> str:
    """A distribution's name in its one spelling (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
