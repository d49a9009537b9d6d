"""No pattern that is tried on somebody else's text takes more than linear time, whatever that text repeats.

For every repeated part of every pattern a text is made that reaches it, repeats what it takes, and ends where the
pattern cannot go on.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.commands.explain.dump import all_dumps
from doctor.messages.clues import flexible
from doctor.messages.signature import families

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("doctor/commands/explain", "doctor/probes", "doctor/commands/policy")
SIGNS = " aA0_.-/:,;=\"'([{<>)]}\\\t#@+*|x\n"
LENGTH = 3_000
SECONDS = 0.12  # linear ones take a thousandth
ENDS = ("\x00", "\n\x00")


class Used(NamedTuple):
    """A pattern, and how it is tried."""

    pattern: re.Pattern[str]
    method: str
    place: str


def used() -> list[Used]:
    found = {}
    for name, family in families().items():
        for signature in family.signatures:
            conditions = (one for means in signature.means for one in (means.given, means.unless) if one)
            for text in (signature.pattern, *conditions):
                found[flexible(text).pattern] = Used(flexible(text), "search", f"signatures/{name}")
    for name, dump in all_dumps().items():
        found[dump.mark] = Used(re.compile(dump.mark), "search", f"dumps/{name}, mark")
        for pattern, _ in dump.tell.args[1] if isinstance(dump.tell, partial) else ():
            found[pattern] = Used(re.compile(pattern), "search", f"dumps/{name}")
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            found.update({one.pattern.pattern: one for one in of_module(file)})
    return list(found.values())


def of_module(file: Path) -> Iterator[Used]:
    place = str(file.relative_to(ROOT))
    yield from _in_calls(file)
    methods = {(ast.unparse(one.value), one.attr) for one in _called(file)}
    module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            anchored = {method for owner, method in methods if owner == name} <= {"match", "fullmatch"}
            of_both = any(owner == name for owner, _ in methods) and anchored
            yield Used(value, "match" if of_both else "search", f"{place}, {name}")


def _in_calls(file: Path) -> Iterator[Used]:
    """The patterns that stand in calls of `re` itself: re.search("...", text)."""
    for call in ast.walk(ast.parse(file.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
            text = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
            if (
                ast.unparse(call.func.value) == "re"
                and isinstance(text, str)
                and call.func.attr not in {"compile", "escape"}
            ):
                flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(call) else 0
                yield Used(re.compile(text, flags), call.func.attr, f"{file.relative_to(ROOT)}:{call.lineno}")


def _called(file: Path) -> Iterator[ast.Attribute]:
    for call in ast.walk(ast.parse(file.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            yield call.func


def hostile(pattern: re.Pattern[str]) -> set[str]:
    tree = list(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    found = set()
    for before, piece in _repeats(tree, ""):
        for start in {before, ""}:
            found |= {f"{start}{piece * (LENGTH // len(piece))}{end}" for end in ENDS}
    return found


def _repeats(items: Any, before: str) -> Iterator[tuple[str, str]]:
    """Each repeated part: what leads to it, and what it takes again and again."""
    for op, value in items:
        kind = str(op)
        if kind in {"MAX_REPEAT", "MIN_REPEAT"}:
            if value[1] >= 30:
                yield from ((before, piece) for piece in _pieces(value[2]))
            yield from _repeats(value[2], before)
        elif kind == "SUBPATTERN":
            yield from _repeats(value[3], before)
        elif kind == "BRANCH":
            yield from (one for branch in value[1] for one in _repeats(branch, before))
        before += _least([(op, value)])


def _pieces(body: Any) -> set[str]:
    signs = {sign for sign in SIGNS if len(body) == 1 and _takes(body[0], sign)}
    return {*sorted(signs)[:6], *(signs & set(" .a:")), _least(body) or "a"}


def _takes(item: Any, sign: str) -> bool:
    return re.fullmatch(_class(item), sign) is not None if _class(item) else False


def _class(item: Any) -> str:
    """A class of characters, written again; "" for anything else."""
    kind, value = str(item[0]), item[1]
    if kind == "ANY":
        return "."
    if kind in {"LITERAL", "NOT_LITERAL"}:
        return f"[{'^' * (kind == 'NOT_LITERAL')}\\x{value:02x}]" if value < 256 else ""
    if kind != "IN":
        return ""
    names = {"SPACE": "s", "DIGIT": "d", "WORD": "w"}
    text = ""
    for what, one in ((str(what), one) for what, one in value):
        if what == "NEGATE":
            text += "^"
        elif what == "LITERAL":
            text += f"\\U{one:08x}"
        elif what == "RANGE":
            text += f"\\U{one[0]:08x}-\\U{one[1]:08x}"
        else:
            name = str(one).removeprefix("CATEGORY_")
            letter = names[name.removeprefix("NOT_")]
            text += f"\\{letter.upper() if name.startswith('NOT_') else letter}"
    return f"[{text}]"


def _least(items: Any) -> str:
    """A short text that these parts take."""
    text = ""
    for op, value in items:
        kind = str(op)
        if kind == "LITERAL":
            text += chr(value)
        elif kind in {"ANY", "IN", "NOT_LITERAL"}:
            text += next((sign for sign in "a0 " + SIGNS if _takes((op, value), sign)), "a")
        elif kind in {"MAX_REPEAT", "MIN_REPEAT"}:
            text += _least(value[2]) * min(value[0], 3)
        elif kind == "SUBPATTERN":
            text += _least(value[3])
        elif kind == "BRANCH":
            text += _least(value[1][0])
    return text


BLANKS = (" ", "\t", "\n", " \t", "\n ", "x ", "a\n")
SHORT, LONG = 5_000, 16_000
BLANKS_S = 0.05
LINE, LINE_S = 8_192, 0.3  # of a line of a log, which is cut there: doctor/messages/reading.py
SUSPECT_S = 0.004  # for the short text: linear ones take a fifth, quadratic ones four times as long


def slow_blanks(one: Used, length: int = LONG) -> tuple[float, str]:
    """The seconds of the slowest run of blanks behind what leads to a repeated part, and that text."""
    tree = list(parser.parse(one.pattern.pattern, one.pattern.flags & ~re.DEBUG))
    tried = getattr(one.pattern, one.method if one.method in {"match", "fullmatch"} else "search")
    worst = (0.0, "")
    for before in sorted({"", *(before for before, _ in _repeats(tree, ""))}):
        for text in (f"{before}{blank * length}" for blank in BLANKS):
            for end in ("", ENDS[0]):
                if _seconds(tried, text[:SHORT] + end) > SUSPECT_S:
                    worst = max(worst, (_seconds(tried, text[:length] + end), text))
    return worst


def _seconds(tried: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    tried(text)
    return time.thread_time() - started


def slow_text(one: Used) -> tuple[float, str]:
    """The seconds of the text that takes longest, and that text."""
    worst = (0.0, "")
    for text in sorted(hostile(one.pattern)):
        started = time.thread_time()
        if one.method in {"match", "fullmatch"}:
            getattr(one.pattern, one.method)(text)
        else:
            one.pattern.search(text)
        worst = max(worst, (time.thread_time() - started, text))
        if worst[0] > SECONDS:
            break
    return worst


@pytest.mark.no_cover  # other tests run the same lines
def test_the_makers_of_hostile_texts_find_what_they_are_made_for() -> None:
    # The second takes the cube of the text's length if it is looked for everywhere: 18 seconds.
    for bad, method in ((r"x: *v? *\d", "search"), (r"\d+x?\d+:", "match"), (r"\S+\.so", "search")):
        taken, text = slow_text(Used(re.compile(bad), method, ""))
        assert taken > 0.004, (bad, text[:40])
    assert slow_blanks(Used(re.compile(r"x\s*$"), "search", ""))[0] == 0
    assert slow_blanks(Used(re.compile(r"\s*GiB\s*$"), "search", ""))[0] > BLANKS_S


@pytest.mark.slow
def test_every_pattern_takes_linear_time() -> None:
    """600 patterns with 30 texts each."""
    every = used()
    assert len(every) > 500
    slow = [(one.place, one.pattern.pattern[:120], *slow_text(one)) for one in every]
    blank = [(one.place, one.pattern.pattern[:120], *slow_blanks(one, LINE)) for one in every]
    assert [(where, what, taken, text[:40]) for where, what, taken, text in blank if taken > LINE_S] == []
    assert [(where, what, taken, text[:40]) for where, what, taken, text in slow if taken > SECONDS] == []
