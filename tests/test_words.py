"""Words that do not appear any more: in texts, docstrings and comments of the code, and in the documents.

Each has a plain word that everybody knows: fix, again, unknown, "is in". Code between backquotes and in fences of the
documents is quoted from programs, and not read.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it reads, and runs nothing of ours
ROOT = Path(__file__).resolve().parent.parent
GONE = re.compile(
    r"\bmend(?:s|ed|ing|able)?\b|\banew\b|\bnobody knows\b|\bis not whole\b|\b(?:could not|cannot) be told\b"
    r"|\b(?:is|are) said\b|\btold apart\b|\bto be had\b|\bcannot be had\b|\bat hand\b|\bin words\b|\blies? in\b"
    r"|\bcome into use\b|\bby which name\b|\bholds? nothing up\b|\bnobody stood between\b|\bwhereof\b|\bthereof\b"
    r"|\bfor want of\b|\bhas not got\b|\bleft to chance\b|\bmakes? known\b",
    re.IGNORECASE,
)
CODE = sorted(path for package in ("compat", "installers", "doctor") for path in (ROOT / package).rglob("*.py"))
GENERATED = ROOT / "docs" / "matrix"  # made of the rows, and not in git
PAGES = sorted(one for one in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if not one.is_relative_to(GENERATED))


def texts_of(path: Path) -> Iterator[str]:
    """Every text and comment of a module, but for single words, which are keys; prose of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield re.sub(r"^(`{3,}).*?^\1|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
        return
    yield from (
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    )
    yield from (
        one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.COMMENT
    )


def found_in(path: Path) -> list[str]:
    return [found[0] for text in texts_of(path) for found in GONE.finditer(" ".join(text.split()))]


def test_no_such_word() -> None:
    found = {str(path.relative_to(ROOT)): found_in(path) for path in (*CODE, *PAGES)}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("to mend it", True),
        ("installed anew", True),
        ("it lies in /opt", True),
        ("for word in sentences", False),
        ("amend", False),
    ],
)
def test_the_pattern(text: str, found: bool) -> None:
    assert bool(GONE.search(text)) == found
