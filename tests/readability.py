"""How easy the texts are to read: `python -m tests.readability` prints figures, with `--worst` the longest sentences.

Three kinds: "output" is every text in the code and in the messages of `explain`, with a value as one word; "help" is
every `--help`; "docs" is the prose of the documents. Code, paths, options and tables count as one word, or not at all.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.golden.product import run

ROOT = Path(__file__).resolve().parent.parent
MEAN_AT_MOST, WORDS_AT_MOST, LONG = 14, 28, 20  # words a sentence
_SIGNATURES = ROOT / "doctor" / "messages" / "signatures"
_NO_PROSE = re.compile(
    r"\(\?|\\[bdsSwn]|\$[({\w]|&&|\|\||[{}<>]{2}|==|^#!|^\S+\(|=\"|__|\|\S|^[A-Z]+ |%[sd(]|\n.*\n.*\n"
)
_CODE = re.compile(
    r"`[^`]*`|\([^()]*[/`=][^()]*\)|'[^' ]+( [^']*)?'(?=[\s,.:;)]|$)|\"[^\"]*\"|https?://\S+|(?<!\w)--?\w[\w-]*"
)
_END = re.compile(r"(?<=[^.\s][.!?])(?<!e\.g\.)(?<!i\.e\.)[)\"']?\s+|\n+")
_NOT_READ = re.compile(r"^(`{3,})[\s\S]*?^\1|^[|#][^\n]*|^Sources?:[\s\S]*?(?:\n\n|\Z)", re.MULTILINE)
_WORD = re.compile(r"[\w/~.$*@+'’%_-]*[A-Za-z0-9][\w/~.$*@+'’%_-]*")
# Common verbs of these texts, in the forms that they have there; and endings that few other words have.
_VERBS = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|cannot|may|must|will|would|should|could|need|needs|use"
    r"|uses|run|runs|see|give|gives|add|set|sets|get|gets|find|finds|found|make|makes|take|takes|keep|keeps|read"
    r"|reads|write|writes|show|shows|list|lists|load|loads|print|prints|install|start|starts|stop|stops|end|ends|fail"
    r"|fails|work|works|fit|fits|reboot|restart|reset|remove|delete|choose|check|checks|test|tests|try|open|opens|look"
    r"|looks|wait|waits|report|reports|compare|put|leave|omit|create|build|builds|let|lets|turn|enable|download|unpack"
    r"|copy|move|point|points|come|comes|go|goes|say|says|contain|contains|require|requires|support|supports|allow"
    r"|allows|refuse|refuses|crash|crashes|hang|hangs|lack|lacks|log|undo|skip|update|upgrade|pass|change|changes|call"
    r"|calls|answer|answers|return|returns|belong|belongs|enrol|sign|register|verify|configure|replace|reinstall|save"
    r"|expect|accept|accepts|pin|pins|hide|hides|block|blocks|count|counts|compile|compiles|disagree|own|match|matches"
    r"|limit|apply|describe|reload|request|requests|mount|unset|wait|exit|ask|name|names|exist|exists|stay|stays|disable|restore|restores|rebuild|search|searches|unpacks|reserves"
    r"|extends|know|knows|gave|sees|carry|carries|import|imports|leads|form|forms|mean|means|conflict|overwrote|lower"
    r"|begin|begins|hold|holds|claims|puts|clear|covers|holds|helps|help|draws|join|grow|split|prove|proves|turns|kills"
    r"|computes|compute|convolve|convolves|reads|links|depend|depends|include|includes|rise|become|becomes|lists)\b"
    r"|\w{3,}ed\b",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A sentence with its place."""

    place: str
    text: str
    words: int


def sentences(kind: str) -> list[Sentence]:
    """Every different sentence of a kind."""
    found = {text: place for place, whole in _TEXTS[kind]() for text in _END.split(whole) if text and text.strip()}
    counted = (Sentence(place, " ".join(text.split()), _words(text)) for text, place in found.items())
    return [one for one in counted if one.words > 2]


def mean(found: list[Sentence]) -> float:
    """Mean words a sentence."""
    return sum(one.words for one in found) / len(found)


def has_verb(one: Sentence) -> bool:
    """Whether a word of it is a verb. Titles and labels of up to five words need none."""
    return one.words <= 5 or bool(_VERBS.search(one.text))


def _words(text: str) -> int:
    return len(_WORD.findall(_CODE.sub(" code ", text)))


def _of_code() -> Iterator[tuple[str, str]]:
    for package in ("compat", "installers", "doctor"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith("doctor/cli/"):  # the help has these
                yield from ((f"{place}:{line}", text) for line, text in printed(ast.parse(path.read_text("utf-8"))))
    for path in sorted(_SIGNATURES.glob("*.json")):
        for text in _rows(json.loads(path.read_text("utf-8"))):
            yield path.name, text


def printed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a module that look like prose, a value in them as X; no docstrings."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        if isinstance(node, ast.expr) and len(text.split()) > 3 and not _NO_PROSE.search(text):
            yield node.lineno, text


def _rows(node: object) -> Iterator[str]:
    """What `explain` says: causes, fixes and questions of a family of messages."""
    if isinstance(node, list):
        for one in node:
            yield from _rows(one)
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"says", "fix", "asks"} and isinstance(value, str):
                yield re.sub(r"\{\w+\}", "X", value)
            else:
                yield from _rows(value)


def _of_help() -> Iterator[tuple[str, str]]:
    for words, page in _pages(()):
        name = " ".join(words) or "gpudoctor"
        blocks = re.split(r"\n\n|\n(?=\s{0,6}\S)", page)  # a line that goes on stands further in
        for block in blocks:
            text = " ".join(re.sub(r"^  ?(?:-|\S.*?) {2,}", "", block.strip("\n")).split())
            if text and not text.startswith(("Usage:", "gpudoctor ")):
                yield f"{name} --help", text


def _pages(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    page = run(*words, "--help", folder=Path(tempfile.gettempdir())).output
    yield words, page
    for name in re.findall(r"^  ([\w-]+)  ", page.partition("\nCommands:\n")[2], re.MULTILINE):
        yield from _pages((*words, name))


def _of_docs() -> Iterator[tuple[str, str]]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "rules").glob("*.md")]
    for path in sorted(pages):
        text = _NOT_READ.sub("", path.read_text("utf-8"))
        bare = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("**", "")
        for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", bare):
            yield path.relative_to(ROOT).as_posix(), " ".join(block.split()).lstrip("-* ")


_TEXTS = {"output": _of_code, "help": _of_help, "docs": _of_docs}


def main() -> None:
    """Print a line for each kind; with --worst also its sentences that are too long or have no verb."""
    for kind in _TEXTS:
        found = sentences(kind)
        longest = max(found, key=lambda one: one.words)
        long = sum(one.words > LONG for one in found)
        without = [one for one in found if kind != "help" and not has_verb(one)]  # an option's line is a label
        print(
            f"{kind}: {len(found)} sentences, {mean(found):.1f} words each, {long / len(found):.0%} over {LONG} words, "
            f"longest {longest.words}, {sum(one.words > WORDS_AT_MOST for one in found)} over {WORDS_AT_MOST}, "
            f"{len(without)} without a verb"
        )
        if "--worst" in sys.argv:
            too_long = sorted((one for one in found if one.words > WORDS_AT_MOST), key=lambda one: -one.words)
            for one in (*too_long, *without):
                print(f"  {one.words:3} {one.place}: {one.text}")


if __name__ == "__main__":
    main()
