"""How easy the texts are to read: `python -m tests.readability` prints figures, with `--worst` the longest sentences.

Three kinds: "output" is every text in the code and in the messages of `explain`, with a value as one word; "help" is
every `--help`; "docs" is the prose of the documents. Code, paths, options and tables count as one word, or not at all.

A sentence has more than five words and a verb. These are labels, which need none: headings, table cells, lines of the
help about one option, sources, quoted messages of other programs, titles in italics, lists of names after a colon; and
in the code what names a thing (`_NAMES`: a method, a layout, what has no row, why a command is there, where evidence
was seen), the values of a table of constants, and the pieces that a sentence is made of (`_PIECES`).
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
    r"^(?: *New-Item|Expand-Archive|curl|unzip|dpkg-deb|sudo|lambda|if \(|Callable|tuple|C:|SOFTWARE|!\[|<p )"
    r"|^X, application/"
    r"|\(\?|\\[bdsSwn]|\$[({\w]|&&|\|\||[{}<>]{2}|==|^#!|^\S+\(|=\"|__|\|\S|^[A-Z]+ |%[sd(]|\n.*\n.*\n"
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
    r"|computes|compute|convolve|convolves|reads|links|depend|depends|include|includes|rise|become|becomes|lists"
    r"|installs|compares|offers|type|lets|states|measure|explains|matters|win|became|undoes|differ|slows|tries|registers|came|went|takes|meet|meets"
    r"|took|follow|follows|appears|passes|provides|asks|adds|differs|kept|held|died|sends|interprets|expects|removes"
    r"|chooses|ran|decides|stand|stands|evaluates|limits|accuse|lies|brings|raises|enumerates|warns|serves|rules"
    r"|arrive|lost|resolves|correct|reseat|leaves|owns|completes|walks|uses|bears|judges|replaces|wins|draw|ask"
    r"|speaks|tells|tell|mends|fetches|drives|drops|receives|refers|saw|sent|binds|owns|comes|bring|evaluate|cover)\b"
    r"|\w{3,}ed\b",
    re.IGNORECASE,
)


_NAMES = {
    *("Method", "Layout", "Dump", "Dialect", "Subjects", "Uncovered", "Command", "install", "Seen", "of", "at"),
    *("add_argument", "FrameworkRow", "replace", "get"),
}


_PIECES = frozenset(  # of a sentence, or a heading, that the code puts together
    {
        *("X, for any of its Pythons", "cuDNN X for CUDA X, X X", "with the other ABI of std::string"),
        *(
            "the devel variant of the same image",
            "an image with the CUDA toolkit",
            "cuBLAS and the libraries beside it",
        ),
        *("and its ABI of std::string (`torch.compiled_with_cxx11_abi()`)", "at most X of the greatest value"),
        *("the release and the requirements of X", "built with X, for the same CUDA", "OpenCL of the driver, no CUDA"),
        *("yes: the newest X that X on X", "no ext4 partition with a system", "the image's history, line X: X"),
        *("mode X, owner X, group X", "X: X, archives of X components", "X: X of X pictures, X classes"),
        *("Training networks on the CPU, on the GPU, and on the GPU with cuDNN", "the home directory of the user"),
        "uv.lock, pylock.toml, poetry.lock, pdm.lock, pixi.lock, conda-lock.yml, Pipfile.lock, requirements.txt",
        "On the host, not in this container: X.",
        *("avx2 bmi1 bmi2 abm movbe popcnt fma", "Python X in this environment: X"),
    }
)


class Sentence(NamedTuple):
    """A sentence with its place."""

    place: str
    text: str
    words: int
    is_label: bool = False


def sentences(kind: str) -> list[Sentence]:
    """Every different sentence of a kind."""
    found = {text: one for one in _TEXTS[kind]() for text in _END.split(one[1]) if text and text.strip()}
    counted = (
        Sentence(one[0], " ".join(text.split()), _words(text), one[2:] == (True,) or _is_list(text))
        for text, one in found.items()
    )
    return [one for one in counted if one.words > 2]


def mean(found: list[Sentence]) -> float:
    """Mean words a sentence."""
    return sum(one.words for one in found) / len(found)


def has_verb(one: Sentence) -> bool:
    """Whether a word of it is a verb, or it needs none."""
    return one.is_label or one.words <= 5 or bool(_VERBS.search(one.text))


def _is_list(text: str) -> bool:
    """Sources, a title in italics, the end of a quotation, names after a colon."""
    after = text.partition(":")[2]
    return (
        text.strip() in _PIECES
        or bool(re.match(r"Sources?:|, |#|<h2>", text))
        or text.endswith(("*", '"', ":"))
        or after.count(",") >= 2
    )


def _words(text: str) -> int:
    return len(_WORD.findall(_CODE.sub(" code ", text)))


def _of_code() -> Iterator[tuple[str, str, bool] | tuple[str, str]]:
    for package in ("compat", "installers", "doctor"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith("doctor/cli/"):  # the help has these
                tree = ast.parse(path.read_text("utf-8"))
                labels = {*_labels(tree)}
                yield from ((f"{place}:{line}", text, (line, text) in labels) for line, text in printed(tree))
    for path in sorted(_SIGNATURES.glob("*.json")):
        for text in _rows(json.loads(path.read_text("utf-8"))):
            yield path.name, text


def _labels(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts that name a thing, and those of a table of constants."""
    named = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).rpartition(".")[2] in _NAMES]
    tables = [n.value for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value]
    tables = [n for n in tables if isinstance(n, (ast.Dict, ast.Tuple, ast.Set, ast.Call))]
    for node in (*named, *tables):
        yield from printed(ast.Module([ast.Expr(ast.Tuple([node]))], []))


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


def _of_help() -> Iterator[tuple[str, str, bool]]:
    for words, page in _pages(()):
        name = " ".join(words) or "gpudoctor"
        blocks = re.split(r"\n\n|\n(?=\s{0,6}\S)", page)  # a line that goes on stands further in
        for block in blocks:
            text = " ".join(re.sub(r"^  ?(?:-|\S.*?) {2,}", "", block.strip("\n")).split())
            if text and not text.startswith(("Usage:", "gpudoctor ")):
                yield f"{name} --help", text, block.strip("\n").startswith((" ", "-"))  # a line about an option


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
        without = [one for one in found if not has_verb(one)]
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
