"""How many reports of the samples `explain` answers rightly: `python -m tests.commands.explain.score [SAMPLE ...]`."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable

from compat.matrix import Matrix
from doctor.commands.explain.command import explained
from doctor.commands.explain.document import STACK, ExplainDocument
from doctor.messages import pages
from doctor.messages.reading import read
from tests.commands.explain.fresh import FRESH
from tests.commands.explain.held_out import NOT_THE_STACK, REPORTS
from tests.commands.explain.texts import texts
from tests.commands.explain.unseen import UNSEEN

Sample = Iterable[tuple[str, tuple[str, ...]]]
FILES = (
    *("fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth"),
    "stumbles",
)


def samples() -> dict[str, Sample]:
    """Return each sample by its name."""
    return {
        "held_out": [one[1:] for one in REPORTS],
        "fresh": FRESH,
        "unseen": UNSEEN,
        **{name: texts(f"{name}.txt") for name in FILES},
    }


def verdict(document: ExplainDocument, codes: tuple[str, ...]) -> str:
    """Return how one report was answered."""
    named = [one["code"] for one in document.plain()["causes"]]
    if NOT_THE_STACK in codes:
        return "blamed" if document.verdict == STACK and named[0] not in codes else "not blamed"
    if not named:
        return "unknown"
    return "right" if named[0] in codes else "second" if set(named) & set(codes) else "wrong"


def has_command(document: ExplainDocument) -> bool:
    """Whether the first cause comes with something to type."""
    first = document.plain()["causes"][0]
    fix = first["mends"] or pages.mends(first["code"])
    return bool(first["remedies"]) or "`" in fix.split("\n\n", maxsplit=1)[0]


def main(names: list[str]) -> None:
    """Print a line for each sample, and the reports that were not answered rightly."""
    matrix = Matrix()
    for name, sample in samples().items():
        if names and name not in names:
            continue
        found: Counter[str] = Counter()
        for text, codes in sample:
            document = explained(read(io.BytesIO(text.encode())), "the text's machine", matrix)
            kind = verdict(document, codes)
            found[kind] += 1
            found["with a command"] += kind == "right" and has_command(document)
            if kind not in {"right", "not blamed"}:
                told = [(one["code"], one["confidence"]) for one in document.plain()["causes"][:2]]
                sys.stdout.write(f"  {kind}: {codes} {told} {text[:80]!r}\n")
        sys.stdout.write(f"{name}: {dict(found)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
