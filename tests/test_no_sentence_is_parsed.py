"""What is written for people is never read back: what the code decides by has a field of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("doctor", "compat", "installers")
FOR_PEOPLE = frozenset({"why", "detail", "note", "summary", "source", "text", "reason"})
SEVERAL_FOR_PEOPLE = frozenset({"remarks", "notes", "hints", "details", "summaries"})  # of which each is one
_CUTS = frozenset({"startswith", "endswith", "partition", "rpartition", "split", "rsplit", "find", "index"})
_CUTS |= {"removeprefix", "removesuffix", "splitlines", "replace"}
_COMPARES = (ast.In, ast.NotIn, ast.Eq, ast.NotEq)
_PATTERNS = frozenset({"match", "search", "fullmatch", "findall", "finditer", "split", "sub"})

# Folder or file, field, and why it is no sentence of ours. A file of a folder that is listed needs no entry of its own.
ALLOWED = {
    ("doctor/commands/dockerfile", "text"): "what a user wrote: words of a shell line, nodes of a YAML file",
    ("doctor/commands/what_if/request.py", "text"): "words of a command that a user typed",
    ("doctor/image/container_env_files.py", "text"): "words of a shell script",
    ("doctor/commands/explain", "text"): "lines that other programs printed",
    ("doctor/messages", "text"): "the same",
    ("doctor/script", "text"): "words of a shell line",
    ("doctor/rules/kernel_updated_dkms_missing.py", "why"): "a line of make.log",
    ("doctor/probes/cudnn.py", "text"): "the name of a file",
    ("doctor/commands/verify/findings.py", "text"): "the words of a loader, told twice by one worker, and their blanks",
    ("doctor/rules/ptxas_too_old.py", "why"): "a word for each step of a search, `Tool.why`, not yet an enum",
    ("doctor/model/facts/seen.py", "why"): "two values are equal",
    ("doctor/prescribe/corrected_line.py", "source"): "two places are equal",
    ("doctor/rules/container_requirement_unmet.py", "source"): "two places are equal",
    ("doctor/commands/check/text.py", "detail"): "what the summary says already is not printed again",
    ("doctor/commands/check/text.py", "summary"): "the same",
    ("doctor/output/page.py", "summary"): "the same",
    ("doctor/output/finding_views.py", "detail"): "the same",
    ("doctor/output/finding_views.py", "summary"): "the same",
    ("doctor/commands/install/fix.py", "summary"): "the same",
    ("doctor/commands/install/fix.py", "text"): "the same",
    ("installers/steps/by_hand.py", "text"): "the first of its lines is its title, the others are typed",
    (
        "doctor/commands/matrix/pages.py",
        "source",
    ): 'sources in a row of the matrix are joined by "; " (CONTRIBUTING.md)',
    ("compat/build.py", "source"): "the same",
    ("compat/solve/rejections.py", "source"): "the same",
    ("doctor/commands/refresh", "source"): "the same",
}


def _parsed(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Fields for people that a string test or a pattern is applied to, or to each of their texts."""
    yield from (one for one in _tested(tree) if isinstance(one, ast.Attribute) and one.attr in FOR_PEOPLE)
    for node in ast.walk(tree):
        loops = node.generators if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) else ()
        for loop in (node,) if isinstance(node, ast.For) else loops:
            texts = loop.iter
            if isinstance(texts, ast.Attribute) and texts.attr in SEVERAL_FOR_PEOPLE:
                each = ast.unparse(loop.target)
                yield from (texts for one in _tested(node) if isinstance(one, ast.Name) and one.id == each)


def _tested(tree: ast.AST) -> Iterator[ast.expr]:
    """What a string test or a pattern is applied to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _CUTS:
                yield node.func.value
            if node.func.attr in _PATTERNS:
                yield from node.args
        elif isinstance(node, ast.Compare) and _tests_text(node):
            yield from (node.left, *node.comparators)


def _tests_text(node: ast.Compare) -> bool:
    """Not whether there is any."""
    is_any = any(isinstance(one, ast.Constant) and one.value == "" for one in node.comparators)
    return not is_any and any(isinstance(one, _COMPARES) for one in node.ops)


def _found() -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            for one in _parsed(ast.parse(file.read_text(encoding="utf-8"))):
                found.setdefault((name, one.attr), []).append(one.lineno)
    return found


def _allowance(name: str, field: str) -> tuple[str, str] | None:
    return next((one for one in ALLOWED if one[1] == field and f"{name}/".startswith(f"{one[0]}/")), None)


def test_no_sentence_is_parsed() -> None:
    found = _found()
    assert {one: lines for one, lines in found.items() if _allowance(*one) is None} == {}
    assert {_allowance(*one) for one in found} == {*ALLOWED}, "an exception that nothing needs any more"


@pytest.mark.parametrize(
    "line",
    [
        "x.why.startswith('a')",
        "x.note == 'a'",
        "'a' in one.two.why",
        "x.detail not in KNOWN",
        "re.match('a', x.summary)",
        "PATTERN.sub('', x.source)",
        "x().reason.partition(' ')",
        "[one for one in x.remarks if 'a' in one]",
        "for one in x.notes: one.startswith('a')",
    ],
)
def test_what_is_refused(line: str) -> None:
    assert len([*_parsed(ast.parse(line))]) == 1


@pytest.mark.parametrize("line", ["x.why == ''", "x.why is NOT_SHOWN", "x.name.startswith('a')", "print(x.why)"])
def test_what_is_not_refused(line: str) -> None:
    assert not [*_parsed(ast.parse(line))]
