"""The rules of the house: the flow is one-way, every rule has its page and its tests, lint and types are clean."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("compat", "installers", "doctor")
MAY_IMPORT = {"compat": {"compat"}, "installers": {"installers", "compat"}, "doctor": set(PACKAGES)}
PRINTING = ROOT / "doctor" / "cli"
LONGEST_FUNCTION = 50


def modules() -> Iterator[tuple[str, Path, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield package, path, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_the_flow_is_one_way() -> None:
    for package, path, tree in modules():
        ours = {name.split(".")[0] for name in imported(tree)} & set(PACKAGES)
        assert ours <= MAY_IMPORT[package], f"{path} imports {ours - MAY_IMPORT[package]}"


def test_rules_read_nothing_and_probes_judge_nothing() -> None:
    for _, path, tree in modules():
        name = module_name(path)
        names = set(imported(tree))
        if name.startswith("doctor.rules."):
            assert not any(one.startswith(("doctor.host", "doctor.probes", "os", "subprocess")) for one in names), name
        if name.startswith("doctor.probes."):
            assert not any(one.startswith(("doctor.rules", "doctor.report", "compat.matrix")) for one in names), name


def test_only_the_command_line_prints() -> None:
    for _, path, tree in modules():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        prints = any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
        assert not prints or PRINTING in path.parents or path.name.endswith("_worker.py"), path


def test_no_circular_imports() -> None:
    """Late imports count; those for types alone do not."""
    graph: dict[str, set[str]] = {}
    known = {module_name(path) for _, path, _ in modules()}
    for _, path, tree in modules():
        graph[module_name(path)] = {one for one in runtime_imports(tree, known) if one != module_name(path)}
    done: set[str] = set()
    for start in graph:
        walk(start, graph, (), done)


def runtime_imports(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(without_type_checking(tree)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            below = {f"{node.module}.{name.name}" for name in node.names} & known
            yield from below or {node.module}


def without_type_checking(tree: ast.Module) -> ast.Module:
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    ]
    return ast.Module(body, [])


def walk(name: str, graph: dict[str, set[str]], path: tuple[str, ...], done: set[str]) -> None:
    assert name not in path, " -> ".join((*path, name))
    if name in done:
        return
    for below in graph.get(name, ()):
        walk(below, graph, (*path, name), done)
    done.add(name)


def test_no_function_is_too_long() -> None:
    for _, path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{path}:{node.lineno} {node.name} has {length} lines"


def rule_names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "doctor" / "rules").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", rule_names())
def test_every_rule_has_its_page_and_its_tests(name: str) -> None:
    code = name.replace("_", "-")
    page = ROOT / "docs" / "rules" / f"{code}.md"
    assert page.is_file(), f"{page} is missing"
    assert page.read_text(encoding="utf-8").startswith(f"# {code}\n")
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "rules").glob("test_*.py")]
    kinds = {kind for text in tests if f'"{code}"' in text for kind in re.findall(r"Kind\.(\w+)", text)}
    assert {"OK", "BAD"} <= kinds, f"{code} is tested for {sorted(kinds)} only"


def test_every_page_has_its_rule_or_is_what_a_trial_finds() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "rules").glob("*.md")}
    of_trials = {code for code, seen, rule in rows_of_codes() if "verify" in seen and rule == "no"}
    assert pages == {name.replace("_", "-") for name in rule_names()} | of_trials


def tool(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *argv], cwd=ROOT, capture_output=True, text=True, check=False)


def test_lint() -> None:
    done = tool("ruff", "check", ".")
    assert done.returncode == 0, done.stdout


def test_format() -> None:
    done = tool("ruff", "format", "--check", ".")
    assert done.returncode == 0, done.stdout


def test_types() -> None:
    done = tool("mypy")
    assert done.returncode == 0, done.stdout


def rows_of_codes() -> list[tuple[str, str, str]]:
    """Code, who sees it, and whether it has a rule."""
    table = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    rows: list[tuple[str, str, str]] = re.findall(
        r"^\| \[?`([\w-]+)`\S* \| ([\w, ]+) \| (yes|no) \|", table, re.MULTILINE
    )
    assert len(rows) == table.count("\n| ") - 2
    return rows


def test_the_table_of_codes_knows_every_rule() -> None:
    rows = rows_of_codes()
    assert [code for code, _, _ in rows] == sorted(code for code, _, _ in rows)
    with_rule = {code for code, _, rule in rows if rule == "yes"}
    assert with_rule == {name.replace("_", "-") for name in rule_names()}
    assert all("check" in seen for code, seen, rule in rows if rule == "yes")
