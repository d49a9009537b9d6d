"""Small faults that a program can have: which ones a source file can be given, each as a change of its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

_COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Lt: ("border", "<", "<="),
    ast.LtE: ("border", "<=", "<"),
    ast.Gt: ("border", ">", ">="),
    ast.GtE: ("border", ">=", ">"),
    ast.Eq: ("comparison", "==", "!="),
    ast.NotEq: ("comparison", "!=", "=="),
    ast.In: ("comparison", "in", "not in"),
    ast.NotIn: ("comparison", r"not\s+in", "in"),
    ast.Is: ("comparison", "is", "is not"),
    ast.IsNot: ("comparison", r"is\s+not", "is"),
}
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum"})
Members = Mapping[str, tuple[str, ...]]  # of enums, by their names


class Change(NamedTuple):
    """One fault: the bytes of a source from `start` to `end` become `new`."""

    line: int
    operator: str  # the kind of fault
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault in it."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def members_of(sources: Iterable[bytes]) -> dict[str, tuple[str, ...]]:
    """List the members of every enum that these sources define."""
    found = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id in _ENUMS for b in node.bases):
                assigned = (one.targets[0] for one in node.body if isinstance(one, ast.Assign))
                found[node.name] = tuple(one.id for one in assigned if isinstance(one, ast.Name))
    return found


def changes_of(source: bytes, enums: Members) -> tuple[Change, ...]:
    """List the faults that this source can be given."""
    finder = _Finder(source, enums)
    finder.visit(ast.parse(source))
    return tuple(finder.found)


def makes_another(change: Change, source: bytes) -> bool:
    """Whether the source with the fault in it is a program, and another one than before."""
    try:
        return ast.dump(ast.parse(change.applied(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


class _Finder(ast.NodeVisitor):
    """Collects the changes; what is only for readers and type checkers is left out."""

    def __init__(self, source: bytes, enums: Members) -> None:
        self.found: list[Change] = []
        self._source, self._enums = source, enums
        self._lines = [0, *(match.end() for match in re.finditer(rb"\n", source))]

    # what is passed over

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave a text out: Python before 3.12 does not say where its parts are."""

    def visit_arg(self, node: ast.arg) -> None:
        """Leave the annotation of an argument out."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value, not the annotation."""
        if node.value:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit defaults and body, not the annotations."""
        for one in (*node.decorator_list, node.args, *node.body):
            self.visit(one)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Leave the parameters of a generic type out."""
        self.visit(node.value)
        if not isinstance(node.slice, ast.Tuple):
            self.visit(node.slice)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Leave `__slots__` and `__all__` out."""
        if not any(isinstance(one, ast.Name) and one.id.startswith("__") for one in node.targets):
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Leave out what no test runs: imports for types, and the start as a script."""
        if ast.unparse(node.test) not in {"TYPE_CHECKING", "__name__ == '__main__'"}:
            self.generic_visit(node)

    # what is changed

    def visit_Compare(self, node: ast.Compare) -> None:
        """Move a border by one, or turn the question round."""
        for (before, after), kind in zip(pairwise((node.left, *node.comparators)), node.ops, strict=True):
            operator, old, new = _COMPARISONS[type(kind)]
            self._between(operator, before, after, old, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap `and` and `or`."""
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for before, after in pairwise(node.values):
            self._between("and-or", before, after, old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Delete `not`."""
        if isinstance(node.op, ast.Not):
            start, end = self._span(node)
            self._add(node, "not", start, end, re.sub(r"^not\s*", "", self._text(start, end)))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Turn a truth value round, count one more or one less."""
        if isinstance(node.value, bool):
            self._add(node, "truth", *self._span(node), str(not node.value))
        elif isinstance(node.value, int):
            for value in (node.value + 1, node.value - 1):
                self._add(node, "number", *self._span(node), str(value))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Take the next member of an enum."""
        members = self._enums.get(node.value.id, ()) if isinstance(node.value, ast.Name) else ()
        if node.attr in members:
            other = members[(members.index(node.attr) + 1) % len(members)]
            start, end = self._span(node)
            self._add(node, "member", start, end, self._text(start, end).replace(f".{node.attr}", f".{other}"))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Drop a keyword."""
        for one in node.keywords:
            if one.arg:
                self._drop(one, "keyword")
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Drop an element."""
        if len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
            for one in node.elts:
                self._add(node, "element", *self._span(node), f"({self._text(*self._span(one))},)")
        else:
            self._drop_elements(node)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        """Drop an element."""
        self._drop_elements(node)
        self.generic_visit(node)

    def _drop_elements(self, node: ast.Tuple | ast.Set) -> None:
        if len(node.elts) > 1 and not (isinstance(node, ast.Tuple) and not isinstance(node.ctx, ast.Load)):
            for one in node.elts:
                self._drop(one, "element")

    def _drop(self, node: ast.expr | ast.keyword, operator: str) -> None:
        start, end = self._span(node)
        comma = re.compile(rb"\s*,\s*").match(self._source, end)
        self._add(node, operator, start, comma.end() if comma else end, "")

    def _between(self, operator: str, before: ast.expr, after: ast.expr, old: str, new: str) -> None:
        """Change the sign between two operands."""
        start, end = self._span(before)[1], self._span(after)[0]
        found = re.search(rf"(?<!\w){old}(?!\w)", self._text(start, end))
        if found:
            start += len(self._text(start, end)[: found.start()].encode())
            self._add(before, operator, start, start + len(found[0].encode()), new)

    def _add(self, node: ast.expr | ast.keyword, operator: str, start: int, end: int, new: str) -> None:
        line = self._source.count(b"\n", 0, start) + 1
        self.found.append(Change(line, operator, start, end, self._text(start, end), new))

    def _span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode()
