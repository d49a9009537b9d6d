"""What the C library and the shell print in the user's language, in English, so that no message needs a row for each.

Programs pass these words on: the loader's "cannot open shared object file" stands in tracebacks of every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from doctor.messages.signatures import table


def in_english(texts: Sequence[str]) -> Sequence[str]:
    """The lines with every known phrase of another language in English; the same lines where there is none."""
    together = "\n".join(texts)
    there = [(foreign, english) for foreign, english in _phrases() if foreign in together]
    for foreign, english in there:
        texts = [text.replace(foreign, english) for text in texts]
    return texts


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[str, str], ...]:
    """Each phrase with its English, the longest first: some are the beginning of others."""
    rows: dict[str, list[str]] = table("_translated")["phrases"]
    pairs = ((foreign, english) for english, each in rows.items() for foreign in each)
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))
