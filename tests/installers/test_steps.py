"""A kind of step is one file: a made-up one is printed, scripted, applied and taken back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.base.errors import DataError
from doctor.model.encode import encode_plan
from installers import steps
from installers.apply import apply
from installers.command import CommandFailed
from installers.journal import State, history
from installers.plan import Plan
from installers.render import commands, script_bash, script_powershell
from installers.step import every_kind, kind_of
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command
from installers.undo import rollback
from tests.examples import example
from tests.installers import target as machines

MADE_UP = example("installers/steps/make_fifo.py")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files are kinds of step, too."""
    found = tmp_path / "more"
    found.mkdir()
    monkeypatch.setattr(steps, "__path__", [*steps.__path__, str(found)])
    yield found
    for name in [name for name in sys.modules if name in {f"installers.steps.{one.stem}" for one in found.iterdir()}]:
        del sys.modules[name]


@pytest.fixture
def mark(folder: Path) -> Any:
    (folder / "make_fifo.py").write_text(MADE_UP)
    import importlib

    return importlib.import_module("installers.steps.make_fifo").MakeFifo


def test_it_is_printed(mark: Any) -> None:
    plan = Plan("mark it", (mark("/a b", "it is tried"),))
    assert commands(plan, machines.LINUX["ubuntu"]) == ("mkfifo '/a b'",)
    assert commands(plan, machines.WINDOWS) == ("New-Item -ItemType File '/a b'",)
    assert encode_plan(plan)["steps"] == [{"kind": "MakeFifo", "path": "/a b", "why": "it is tried"}]


def test_it_is_in_scripts(mark: Any, tmp_path: Path) -> None:
    plan = Plan("mark it", (mark(str(tmp_path / "it's"), "it is tried"),))
    text = script_bash.script(plan, machines.LINUX["ubuntu"])
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"1. make the pipe {tmp_path}/it's" in done.stdout
    assert (tmp_path / "it's").is_fifo()
    assert "New-Item -ItemType File" in script_powershell.script(plan, machines.WINDOWS)


def test_it_is_applied_and_taken_back(mark: Any, tmp_path: Path) -> None:
    state, path = State(str(tmp_path / "state")), tmp_path / "marked"
    done = apply(Plan("mark it", (mark(str(path), "it is tried"),)), state)
    assert path.is_fifo()
    assert [one.state for one in history(state)] == ["done"]
    assert rollback(state).id == done.id
    assert not path.exists()


def test_it_is_taken_back_where_a_later_step_fails(mark: Any, tmp_path: Path) -> None:
    state, path = State(str(tmp_path / "state")), tmp_path / "marked"
    fails = Command(("false",), "it fails", inverse=NOTHING_TO_TAKE_BACK)
    with pytest.raises(CommandFailed):
        apply(Plan("mark it", (mark(str(path), "it is tried"), fails)), state)
    assert not path.exists()
    records = (tmp_path / "state/journal").glob("*/journal.jsonl")
    assert "own" in {json.loads(line)["what"] for one in records for line in one.read_text().splitlines()}


def test_every_kind_says_what_it_does() -> None:
    kinds = every_kind()
    assert len(kinds) >= 15
    for kind in kinds:
        assert kind.step.__doc__
        assert "why" in kind.step._fields  # type: ignore[attr-defined]
        assert kind_of(kind.step(**dict.fromkeys(kind.step._fields, ""))) is kind  # type: ignore[attr-defined]


def test_a_file_without_a_kind_is_an_error(folder: Path) -> None:
    (folder / "empty.py").write_text("")
    with pytest.raises(DataError, match=r"empty\.py must define KIND"):
        every_kind()


def test_an_empty_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "__path__", [str(tmp_path)])
    with pytest.raises(DataError, match="has no modules"):
        every_kind()
