"""Everything that is printed or documented is easy to read: `python -m tests.readability` shows the figures."""

from __future__ import annotations

import ast

import pytest

from tests.readability import MEAN_AT_MOST, WORDS_AT_MOST, Sentence, has_verb, mean, printed, sentences

pytestmark = pytest.mark.no_cover  # it reads, and runs only `--help`


@pytest.mark.parametrize("kind", ["output", "help", "docs"])
def test_sentences_are_short(kind: str) -> None:
    found = sentences(kind)
    assert len(found) > 300
    assert mean(found) <= MEAN_AT_MOST
    assert [f"{one.place}: {one.text}" for one in found if one.words > WORDS_AT_MOST] == []
    assert [f"{one.place}: {one.text}" for one in found if not has_verb(one)] == []


def test_a_value_in_a_text_is_one_word() -> None:
    tree = ast.parse(
        '"""Not read."""\nsay(f"driver {release} is too old for {name}", "one two three", r"(?i)a b c d")\n'
    )
    assert list(printed(tree)) == [(2, "driver X is too old for X")]


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("the driver is older than the CUDA runtime needs", True),
        ("pip refused to change this environment of yours", True),
        ("a card of another maker in this machine", False),
        ("a label needs none", True),
    ],
)
def test_a_sentence_has_a_verb(text: str, verb: bool) -> None:
    assert has_verb(Sentence("", text, len(text.split()))) == verb
