"""The journal: what it says after a crash, and where it lies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from installers.file_identity import Stamp, copy_as_it_is, stamp_of
from installers.journal import (
    Busy,
    Change,
    ForeignState,
    Journal,
    JournalError,
    State,
    history,
    record_of,
    state_directory,
)
from installers.undo import NoSuchRun, rollback

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(str(tmp_path / "state"))


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path))
    assert state_directory() == str(tmp_path)
    monkeypatch.delenv("GPUDOCTOR_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    if sys.platform == "linux":
        assert state_directory() == str(tmp_path / "home/gpudoctor")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (("begin",), "killed"),
        (("begin", "change"), "killed"),
        (("begin", "commit"), "done"),
        (("begin", "commit", "undo"), "killed"),
        (("begin", "commit", "undo", "undone"), "undone"),
        (("begin", "undone"), "undone"),
        ((), "undone"),
    ],
)
def test_the_state_of_a_run(tmp_path: Path, records: tuple[str, ...], expected: str) -> None:
    journal = Journal(str(tmp_path))
    for what in records:
        journal.append({"what": what})
    assert journal.state() == expected


@pytest.mark.parametrize("torn", [b"", b"{", b'{"what": "commit"}'])
def test_a_torn_line_is_dropped(tmp_path: Path, torn: bytes) -> None:
    journal = Journal(str(tmp_path))
    journal.append({"what": "begin"})
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(torn)
    assert journal.state() == "killed"
    journal.append({"what": "undone"})
    assert [record["what"] for record in journal.records()] == ["begin", "undone"]


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("nonsense\n")
    with pytest.raises(JournalError, match="damaged"):
        Journal(str(tmp_path)).records()


def test_changes_come_back_as_they_were_written(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    changes = (
        Change("put", "/a/\udc80b", None, Stamp("link", 0o777, 5, 0, "to \n there")),
        Change("put", "/a", Stamp("file", 0o644, 5, 7), Stamp("file", 0o600, 6, 8), "3"),
    )
    journal.append(*map(record_of, changes))
    assert journal.changes() == changes


def test_runs_of_one_second_have_ids_of_their_own(state: State) -> None:
    with state.lock():
        ids = [state.begin(f"run {number}").id for number in range(3)]
    assert len(set(ids)) == 3
    assert [entry.id for entry in history(state)] == ids[::-1]


def test_no_history(state: State) -> None:
    assert history(state) == ()
    with pytest.raises(NoSuchRun, match="no finished run is there"):
        rollback(state)
    with pytest.raises(NoSuchRun, match="run 2026 is"):
        rollback(state, "2026")


def test_the_lock_goes_with_its_process(state: State) -> None:
    script = (
        "import sys, time; from installers.journal import State\n"
        "with State(sys.argv[1]).lock():\n  print('held', flush=True); time.sleep(60)"
    )
    arguments = [sys.executable, "-c", script, state.directory]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(Busy), state.lock():
            pass
        child.kill()
    with state.lock():
        pass


@pytest.mark.skipif(os.name != "posix", reason="modes and owners")
@pytest.mark.parametrize("mode", [0o777, 0o707, 0o1777])
def test_records_that_others_can_change_are_not_kept(mode: int, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(mode)
    with pytest.raises(ForeignState, match="another user can change"), State(str(tmp_path / "state")).lock():
        pass
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a directory away")
def test_records_of_another_user_are_not_believed(tmp_path: Path) -> None:
    """By sudo with the user's HOME, what lies there could name the commands that root runs."""
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 1000, 1000)
    with pytest.raises(ForeignState, match="another user"), State(str(tmp_path / "theirs/state")).lock():
        pass
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    with pytest.raises(ForeignState), State(str(tmp_path / "link")).lock():
        pass


def test_records_are_for_their_user_alone(state: State) -> None:
    with state.lock():
        state.begin("x")
    assert {oct(Path(state.path(name)).stat().st_mode & 0o777) for name in ("", "journal")} == {"0o700"}


def test_stamps(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    copy_as_it_is(str(tmp_path / "file"), str(tmp_path / "copy"))
    copy_as_it_is(str(tmp_path / "link"), str(tmp_path / "copied link"))
    kinds = {path.name: stamp.kind for path in tmp_path.iterdir() if (stamp := stamp_of(str(path)))}
    assert kinds == {"file": "file", "link": "link", "pipe": "other", "copy": "file", "copied link": "link"}
    assert stamp_of(str(tmp_path / "copy")) == stamp_of(str(tmp_path / "file"))
    assert stamp_of(str(tmp_path / "copied link")) == stamp_of(str(tmp_path / "link"))
    assert stamp_of(str(tmp_path / "missing")) is None
    assert stamp_of(str(tmp_path / "file/below")) is None
