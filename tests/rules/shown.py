"""Which answers each rule really gave while its tests ran: one that never was OK, BAD or UNKNOWN fails the run.

It is judged where tests of every file of this folder ran and all passed, in one process or in several (pytest-xdist).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
_SENT = "shown"  # what a worker of pytest-xdist tells its controller under


class ShownAnswers:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self.kinds: set[tuple[str, str]] = set()  # code and kind
        self.files: set[str] = set()
        self.faults: list[str] = []
        self._in_test = False

    def pytest_collection(self) -> None:
        """Before any test is imported: what they import as `judge` is recorded."""
        from doctor.rules.shared import engine

        real = engine.judge

        def judge(facts: Any, matrix: Any, rules: Any) -> tuple[Any, ...]:
            answers = real(facts, matrix, rules)
            if self._in_test:
                self.kinds |= {(one.code, one.kind.value) for one in answers if one.code in rules}
            return answers

        engine.judge = judge

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Only what this folder's tests ask counts."""
        self._in_test = _HERE in item.path.parents
        self.files |= {item.path.name} if self._in_test else set()
        try:
            return (yield)
        finally:
            self._in_test = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        kinds, files = getattr(node, "workeroutput", {}).get(_SENT, ((), ()))
        self.kinds |= {(code, kind) for code, kind in kinds}
        self.files |= set(files)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A worker tells; who is none judges."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_SENT] = (sorted(self.kinds), sorted(self.files))
        elif exitstatus == 0 and not session.config.option.keyword and self.files >= _test_files():
            self.faults = faults_of(self.kinds)
            session.exitstatus = 1 if self.faults else 0

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line for each rule that did not show what it must."""
        for line in self.faults:
            terminalreporter.write_line(f"FAILED tests/rules: {line}", red=True)


def _test_files() -> set[str]:
    return {path.name for path in _HERE.glob("test_*.py")}


def faults_of(kinds: set[tuple[str, str]]) -> list[str]:
    """A line for each rule that never gave an answer that it must show, or gave one that it says it never gives."""
    from doctor.model.finding import Status
    from doctor.rules.shared.engine import load_rules

    lines = []
    for code, rule in load_rules().items():
        needed = [kind.value for kind in (Status.OK, Status.BAD, Status.UNKNOWN) if kind not in rule.never]
        missing = [kind for kind in needed if (code, kind) not in kinds]
        if missing:
            lines.append(f"{code} never answered {', never '.join(missing)}")
        lines += [
            f"{code} answered {kind.value}, but says that it never does: {why}"
            for kind, why in rule.never.items()
            if (code, kind.value) in kinds
        ]
    return lines
