"""Killed runs, users' edits in between, damaged journals: no byte of a user's is lost, and messages say where it is.

A sample runs always; GPUDOCTOR_KILLS and GPUDOCTOR_DAMAGED say how many of each the slow tests take. docs/install.md
has the figures of 1,000 and 300.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from compat.base.errors import GpudoctorError
from doctor.commands.install.history import listed, pruned, taken_back
from installers.apply import apply
from installers.digest import DigestMismatch, copy_verified
from installers.journal import DamagedJournal, Journal, State, history
from installers.plan import Plan
from installers.render import script_bash
from installers.steps.use_file import UseFile
from installers.steps.write_file import WriteFile
from installers.undo import recover, rollback
from tests.installers import trees
from tests.installers.target import ROOT
from tests.installers.test_apply import Killing

KILLS = int(os.environ.get("GPUDOCTOR_KILLS", "60"))
DAMAGED = int(os.environ.get("GPUDOCTOR_DAMAGED", "40"))
MINE = "mine, and nobody else's\n"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    return State(str(tmp_path / "state"))


def files_below(root: Path) -> list[Path]:
    """Without those of ours that wait beside their place."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if ".gpudoctor-" not in str(path))


def contents(*roots: Path) -> set[bytes]:
    """Every content that lies below the directories, wherever."""
    files = (
        path
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and ".gpudoctor-" not in str(path)
    )
    return {path.read_bytes() for path in files if path.name not in {"lock", "journal.jsonl"}}


def uncommitted(state: State) -> Path:
    """The last run as if it had been killed before its end."""
    path = Path(state.path("journal", history(state)[0].id, "journal.jsonl"))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    return path


def test_an_original_outlives_an_edit_of_what_replaced_it(cuda: Path, packed: Path, state: State) -> None:
    header = cuda / "include/cudnn.h"
    original = header.read_bytes()
    apply(trees.plan(cuda, packed), state)
    uncommitted(state)
    header.write_text(MINE)
    (undone,) = apply(Plan("another run", (WriteFile(str(cuda / "x"), ("x",), "x"),)), state).recovered
    assert header.read_text() == MINE
    ((path, backup),) = undone.kept
    assert path == str(header)
    assert Path(backup).read_bytes() == original
    assert f"not changed: {header}; its original is {backup}" in listed("text")
    pruned(lambda _: True)
    assert Path(backup).read_bytes() == original, "pruning took the only copy"


def test_the_killed_run_that_was_named_is_no_other_run(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    killed = uncommitted(state).parent.name
    text, status = taken_back(killed)
    assert killed in text
    assert "No other run" not in text
    assert status == 0


def test_rollback_after_a_kill_takes_back_that_run_alone(cuda: Path, packed: Path, state: State) -> None:
    done = apply(Plan("first", (WriteFile(str(cuda / "first"), ("x",), "x"),)), state)
    before = trees.digest_of(cuda)
    apply(trees.plan(cuda, packed), state)
    killed = uncommitted(state).parent.name
    assert f"gpudoctor install rollback {killed}" in listed("text")
    text, status = taken_back("")
    assert killed in text
    assert "No other run was undone. To undo one, give its number." in text
    assert status == 0
    assert trees.digest_of(cuda) == before
    assert (cuda / "first").exists()
    assert rollback(state).id == done.id
    assert not (cuda / "first").exists()


def test_a_killed_run_is_taken_back_by_its_id(cuda: Path, packed: Path, state: State) -> None:
    before = trees.digest_of(cuda)
    apply(trees.plan(cuda, packed), state)
    killed = uncommitted(state).parent.name
    assert taken_back(killed)[1] == 0
    assert trees.digest_of(cuda) == before


def test_what_is_left_is_no_success(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    uncommitted(state)
    (cuda / "include/cudnn.h").write_text(MINE)
    text, status = taken_back("")
    assert status == 1
    assert f"{cuda}/include/cudnn.h" in text
    assert str(state.path("journal")) in text


def test_a_clock_that_was_set_back_changes_no_order(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for seconds in (0, -3600, -86400, 5, -10):
        monkeypatch.setattr(time, "gmtime", lambda s=seconds: time.localtime(now + s))
        with state.lock():
            state.begin(str(seconds)).append({"what": "commit"})
    assert [one.summary for one in history(state)] == ["-10", "5", "-86400", "-3600", "0"]


def test_a_hundred_runs_of_one_second_keep_their_order(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    then = time.gmtime(1_700_000_000)
    monkeypatch.setattr(time, "gmtime", lambda: then)
    with state.lock():
        for number in range(120):
            state.begin(str(number)).append({"what": "commit"})
    assert [one.summary for one in history(state)] == [str(number) for number in reversed(range(120))]


def test_a_damaged_journal_is_in_nobodys_way(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    damaged = Path(state.path("journal", history(state)[0].id, "journal.jsonl"))
    damaged.write_bytes(damaged.read_bytes().replace(b'"put"', b'"pit"', 1))
    with pytest.raises(DamagedJournal, match="was changed"):
        Journal(str(damaged.parent)).records()
    done = apply(Plan("another", (WriteFile(str(cuda / "x"), ("x",), "x"),)), state)
    assert {one.state for one in history(state)} == {"damaged", "done"}
    assert str(damaged.parent) in listed("text")
    assert json.loads(listed("json"))["runs"]
    assert rollback(state).id == done.id


def test_a_backup_that_is_gone_is_said(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    shutil.rmtree(Path(state.path("journal", history(state)[0].id, "backup")))
    text, status = taken_back("")
    assert status == 1
    assert f"{cuda}/include/cudnn.h" in text
    assert (cuda / "include/cudnn.h").is_file()


@pytest.mark.parametrize("seed", range(12))
def test_some_journals_damaged_at_random(seed: int, cuda: Path, packed: Path, state: State) -> None:
    damaged_at_random(random.Random(seed), cuda, packed, state)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_journals_damaged_at_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(DAMAGED):
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.setenv("GPUDOCTOR_STATE", str(folder / "state"))
        damaged_at_random(
            random.Random(1000 + seed), trees.toolkit(folder), trees.archive(folder), State(str(folder / "state"))
        )
        shutil.rmtree(folder)


def damaged_at_random(chance: random.Random, cuda: Path, packed: Path, state: State) -> None:
    """Whatever became of its record: every content that was there is still somewhere, and no run stands in the way."""
    before = contents(cuda)
    apply(trees.plan(cuda, packed), state)
    path = Path(state.path("journal", history(state)[0].id, "journal.jsonl"))
    path.write_bytes(damage(path.read_bytes(), chance))
    for attempt in (lambda: taken_back(""), lambda: listed("text"), lambda: taken_back(path.parent.name)):
        with contextlib.suppress(GpudoctorError):  # one of ours, which the command line says in one line
            attempt()
    apply(Plan("another", (WriteFile(str(cuda / "x"), ("x",), "x"),)), state)
    assert before <= contents(cuda, Path(state.directory))


def damage(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    kind = chance.randrange(5)
    if kind == 0:  # a byte
        at = chance.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if kind == 1:  # a line is lost
        del lines[chance.randrange(len(lines))]
    elif kind == 2:  # two lines change their places
        first, second = chance.sample(range(len(lines)), 2)
        lines[first], lines[second] = lines[second], lines[first]
    elif kind == 3:  # its end is lost
        return data[: chance.randrange(len(data))]
    else:  # noise
        at = chance.randrange(len(data))
        return data[:at] + chance.randbytes(40) + data[at + 40 :]
    return b"".join(lines)


def killed_with_an_edit(killing: Killing, chance: random.Random, event: int) -> None:
    """A run is killed, a user edits a file, another run comes: all contents of the user's are somewhere."""
    cuda, state = killing.fresh()
    before = contents(cuda)
    killing.child(cuda, state, "apply", event).ended()
    files = sorted(
        path for path in cuda.rglob("*") if path.is_file() and not path.is_symlink() and ".gpudoctor-" not in str(path)
    )
    edited = chance.choice(files)
    edited.chmod(0o644)
    overwritten = edited.read_bytes()  # by the user, who may do so
    edited.write_text(MINE)
    with state.lock():
        recover(state)
    assert edited.read_text() == MINE
    there = contents(cuda, Path(state.directory))
    missing = before - there - {overwritten}
    assert not missing, (event, edited)


def test_kills_with_edits_in_between(tmp_path: Path) -> None:
    chance = random.Random(3)
    with Killing(tmp_path) as killing:
        for event in chance.sample(range(20, 160), 20):
            killed_with_an_edit(killing, chance, event)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_many_kills_with_edits_in_between(tmp_path: Path) -> None:
    chance = random.Random(11)
    with Killing(tmp_path) as killing:
        for _ in range(KILLS):
            killed_with_an_edit(killing, chance, chance.randrange(1, 400))


def test_an_archive_that_is_swapped_after_it_was_judged(tmp_path: Path, packed: Path, state: State) -> None:
    """What is unpacked is what was hashed: the bytes are copied while they are read."""
    good = packed.read_bytes()
    bad = trees.archive(tmp_path, b"evil" * 80_000).read_bytes()
    packed.write_bytes(good)
    staged = tmp_path / "copy"
    copy_verified(str(packed), str(staged), (hashlib.sha256(good).hexdigest(),))
    packed.write_bytes(bad)
    assert staged.read_bytes() == good
    with pytest.raises(DigestMismatch):
        apply(Plan("x", (UseFile(str(packed), "a.tar.xz", (hashlib.sha256(good).hexdigest(),), "x"),)), state)


@pytest.mark.parametrize("kind", ["pipe", "device", "directory"])
def test_an_archive_that_is_no_file(kind: str, tmp_path: Path, state: State) -> None:
    """A pipe is waited for without an end, and a device is read without one."""
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises((GpudoctorError, OSError), match="it is not a file"):
        apply(Plan("x", (UseFile(str(path), "a.tar.xz", ("0" * 64,), "x"),)), state)


def test_an_archive_that_is_swapped_while_a_script_takes_it(tmp_path: Path, packed: Path) -> None:
    """`cp` stands for a stranger who is quick: it brings other bytes than those that were hashed."""
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    plan = Plan("x", (UseFile(str(packed), "a.tar.xz", (digest,), "x"),))
    text = script_bash.script(plan, ROOT)
    (tmp_path / "bin").mkdir()
    for name, body, status in (("cp", 'exec /bin/cp "$@"', 0), ("cp", 'for to; do :; done; echo evil >"$to"', 1)):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
        environ = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60, env=environ)
        assert (done.returncode, "another digest" in done.stderr) == (status, status == 1), done.stderr
