"""A plan is carried out whole, or nothing of it: also when the process is killed at any instant."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from installers.apply import apply
from installers.command import CommandFailed
from installers.digest import DigestMismatch, NoDigest
from installers.errors import CannotChange
from installers.journal import Busy, State, history
from installers.plan import Plan
from installers.run import ExecutionOptions
from installers.steps.by_hand import ByHand
from installers.steps.change_mode import ChangeMode
from installers.steps.command import Command
from installers.steps.copy_tree import CopyTree, NotInArchive
from installers.steps.extract import Extract
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.use_file import UseFile
from installers.steps.write_file import WriteFile
from installers.transaction import InTheWay, Item, Transaction
from installers.undo import ChangedSince, NoSuchRun, Part, recover, rollback
from tests.installers import trees

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(str(tmp_path / "state"))


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_plan_is_carried_out(cuda: Path, packed: Path, state: State) -> None:
    applied = apply(trees.plan(cuda, packed), state)
    assert (cuda / "lib64").is_symlink()
    assert os.readlink(cuda / "lib64/libcudnn.so.9") == "libcudnn.so.9.10.2"
    assert (cuda / "lib64/libcudnn.so").read_bytes() == b"new" * 80_000
    assert (cuda / "lib64/libcudnn.so.9.1.0").exists(), "files that the archive does not hold stay"
    assert mode_of(cuda / "include/cudnn.h") == 0o644
    assert (cuda / "include/cudnn.h").stat().st_mtime == trees.NOON + 5
    assert (cuda / "current/lib/libcudnn_ops.so.9.10.2").exists()
    assert (cuda / "settings.ini").read_text() == "[global]\ndevice = cuda\n\n[nvcc]\nflags = a\n"
    assert mode_of(cuda / "settings.ini") == 0o604
    assert not list(cuda.rglob(".gpudoctor-*"))
    assert not Path(state.path("staging")).exists()
    (entry,) = history(state)
    assert (entry.id, entry.state, entry.summary) == (applied.id, "done", "install cuDNN 9.10.2")
    assert f"{cuda}/include/cudnn.h" in entry.paths


@pytest.mark.parametrize("umask", [0o077, 0o000])
def test_what_is_installed_is_for_all_to_read_and_for_none_to_change(umask: int, tmp_path: Path, state: State) -> None:
    before = os.umask(umask)
    try:
        apply(Plan("x", (WriteFile(str(tmp_path / "ld.so.conf.d/cuda.conf"), ("/opt/cuda",), "found"),)), state)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "ld.so.conf.d") == 0o755
    assert mode_of(tmp_path / "ld.so.conf.d/cuda.conf") == 0o644


def test_rollback_restores_everything(cuda: Path, packed: Path, state: State) -> None:
    before = trees.digest_of(cuda)
    apply(trees.plan(cuda, packed), state)
    assert trees.digest_of(cuda) != before
    undone = rollback(state)
    assert undone.left == ()
    assert trees.digest_of(cuda) == before
    assert (cuda / "lib64/libcudart.so.12").samefile(cuda / "lib64/libcudart.so.12.other")
    assert [entry.state for entry in history(state)] == ["undone"]
    with pytest.raises(NoSuchRun):
        rollback(state)


def test_rollback_across_file_systems(cuda: Path, packed: Path) -> None:
    shared_memory = Path("/dev/shm")
    if not os.access(shared_memory, os.W_OK) or shared_memory.stat().st_dev == cuda.stat().st_dev:
        pytest.skip("no second file system to write to")
    directory = shared_memory / f"gpudoctor-test-{os.getpid()}"
    try:
        before = trees.digest_of(cuda)
        state = State(str(directory))
        apply(trees.plan(cuda, packed), state)
        rollback(state)
        assert trees.digest_of(cuda) == before
    finally:
        shutil.rmtree(directory)


def test_runs_are_taken_back_in_turn(cuda: Path, packed: Path, state: State) -> None:
    before = trees.digest_of(cuda)
    first = apply(trees.plan(cuda, packed), state)
    between = trees.digest_of(cuda)
    second = apply(trees.plan(cuda, packed), state)
    with pytest.raises(ChangedSince, match=first.id):
        rollback(state, first.id)
    rollback(state, second.id)
    assert trees.digest_of(cuda) == between
    rollback(state, first.id)
    assert trees.digest_of(cuda) == before


def test_what_a_later_run_put_there_again_is_not_taken_back(cuda: Path, packed: Path, state: State) -> None:
    """The same file of an archive, with the same times: by its stamp nobody could tell whose it is."""
    plan = trees.plan(cuda, packed)
    copies = plan._replace(steps=tuple(step for step in plan.steps if isinstance(step, (UseFile, Extract, CopyTree))))
    before = trees.digest_of(cuda)
    first = apply(copies, state)
    between = trees.digest_of(cuda, new_times=False)
    second = apply(copies, state)
    elsewhere = apply(Plan("x", (WriteFile(str(cuda.parent / "other"), ("x",), ""),)), state)
    assert trees.digest_of(cuda, new_times=False) == between
    with pytest.raises(ChangedSince, match=first.id):
        rollback(state, first.id)
    assert trees.digest_of(cuda, new_times=False) == between
    rollback(state, second.id)
    rollback(state, first.id)  # the run elsewhere is newer, and not in the way
    assert trees.digest_of(cuda) == before
    assert {one.id: one.state for one in history(state)}[elsewhere.id] == "done"


def test_what_the_user_changed_since_is_not_taken_back(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    (cuda / "include/cudnn.h").write_text("mine")
    now = trees.digest_of(cuda)
    with pytest.raises(ChangedSince, match=r"include/cudnn\.h"):
        rollback(state)
    assert trees.digest_of(cuda) == now


def texts_below(root: Path) -> dict[str, bytes]:
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()}


def test_the_others_are_taken_back_where_a_change_is_to_stay(cuda: Path, packed: Path, state: State) -> None:
    before = texts_below(cuda)
    apply(trees.plan(cuda, packed), state)
    header = cuda / "include/cudnn.h"
    header.write_text("mine")
    undone = rollback(state, part=Part(keep_changed=True))
    assert undone.left == (str(header),)
    assert texts_below(cuda) == {**before, "include/cudnn.h": b"mine"}
    [(path, original)] = undone.kept
    os.replace(original, path)
    assert texts_below(cuda) == before


def test_a_part_is_taken_back_and_the_rest_later(cuda: Path, packed: Path, state: State) -> None:
    before = texts_below(cuda)
    run = apply(trees.plan(cuda, packed), state)
    other = next(one for one in (cuda / "targets/x86_64-linux/lib").rglob("libcudnn*") if not one.is_symlink())
    other.write_text("mine")  # what is not asked for is not looked at
    with pytest.raises(NoSuchRun, match="changed no file at"):
        rollback(state, part=Part(only=(str(cuda / "nothing"),)))
    undone = rollback(state, part=Part(only=(str(cuda / "include"),)))
    assert undone.restored
    assert undone.left == ()
    now = texts_below(cuda)
    assert {name for name in {*now, *before} if now.get(name) != before.get(name)}.isdisjoint(
        name for name in {*now, *before} if name.startswith("include/")
    )
    assert {one.id: one.state for one in history(state)}[run.id] == "done"
    with pytest.raises(ChangedSince):
        rollback(state)
    assert len(rollback(state, part=Part(keep_changed=True)).left) == 1
    now = texts_below(cuda)
    assert {name for name in {*now, *before} if now.get(name) != before.get(name)} <= {
        name for name, text in now.items() if text == b"mine"
    }


def test_a_run_has_a_log(cuda: Path, packed: Path, state: State) -> None:
    plan = trees.plan(cuda, packed)
    run = apply(plan, state)
    lines = Path(run.log).read_text().splitlines()
    assert lines[0].endswith(plan.summary)
    assert lines[-1].endswith("done")
    rollback(state)
    assert Path(run.log).read_text().splitlines()[-1].endswith("undone")
    with pytest.raises(CommandFailed) as failed:
        apply(Plan("x", (Command(("false",), "y"),)), state)
    log = Path(failed.value.hint.rpartition("Log: ")[2])
    assert [line.partition("  ")[2] for line in log.read_text().splitlines()][:3] == ["x", "y", "run: false"]


@pytest.mark.parametrize(
    ("steps", "error", "says"),
    [
        ((CopyTree(trees.STEM, "{cuda}", ("lib/nothing*",), ""),), NotInArchive, "nothing"),
        ((CopyTree(f"{trees.STEM}/lib", "{cuda}/version.json", ("**",), ""),), CannotChange, "is not a directory"),
        ((CopyTree(f"{trees.STEM}/lib", "{cuda}/blocked", ("libcudnn.so",), ""),), InTheWay, "a directory"),
        ((WriteFile("{cuda}/version.json", ("x",), ""), Command(("false",), "")), CommandFailed, "exit status 1"),
        ((WriteFile("{cuda}/new", ("x",), ""), Command(("no-such-program",), "")), CommandFailed, "cannot be run"),
        ((WriteFile("{cuda}/new", ("x",), ""), Command(("sleep", "9"), "", timeout_s=0)), CommandFailed, "within 0 s"),
        (
            (ChangeMode(("{cuda}/include/*",), "a+r", ""), ChangeMode(("{cuda}/include/*",), "a=r", "")),
            CannotChange,
            "a=r",
        ),
        ((UseFile("{cuda}/version.json", "x", ("0" * 64,), ""),), DigestMismatch, "SHA-256"),
        ((UseFile("{cuda}/version.json", "x", (), ""),), NoDigest, "the SHA-256 of this file is unknown"),
        ((UseFile("{cuda}/missing", "x", ("0" * 64,), ""),), CannotChange, "missing: No such file"),
    ],
)
def test_what_fails_changes_nothing(
    cuda: Path, state: State, *, steps: tuple[tuple[str, ...], ...], error: type[Exception], says: str
) -> None:
    (cuda / "blocked/libcudnn.so").mkdir(parents=True)
    before = trees.digest_of(cuda)
    plan = trees.plan(cuda, trees.archive(cuda.parent))
    with pytest.raises(error, match=says) as caught:
        apply(plan._replace(steps=(*plan.steps, *(placed(step, cuda) for step in steps))), state)
    assert trees.digest_of(cuda) == before
    assert "\n" not in str(caught.value)
    assert all(entry.state == "undone" for entry in history(state))


def placed(step: Any, cuda: Path) -> Any:
    """A step of the table with the CUDA directory in its paths."""

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{cuda}", str(cuda))
        return tuple(map(put, value)) if isinstance(value, tuple) else value

    return type(step)(*map(put, step))


def test_the_user_gets_what_only_they_can_do(state: State, tmp_path: Path) -> None:
    ran: list[Command] = []
    steps = (Command(("wsl", "--shutdown"), "", place="Windows"), ByHand("restart"), RefreshLoader("new libraries"))
    applied = apply(
        Plan("x", steps), state, ExecutionOptions(run=lambda command, _: ran.append(command), as_root=("sudo",))
    )
    assert applied.left == steps[:2]
    assert [command.argv for command in ran] == [("sudo", "ldconfig")]


def test_one_run_at_a_time(state: State) -> None:
    with State(state.directory).lock(), pytest.raises(Busy), state.lock():
        pass


REFUSED = """
import sys
from pathlib import Path
from installers.apply import apply
from installers.errors import CannotChange
from installers.journal import State
from tests.installers import trees
cuda, packed, state = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
before = trees.digest_of(cuda)
try:
    apply(trees.plan(cuda, packed), State(state))
except CannotChange as error:
    assert trees.digest_of(cuda) == before
    print(error, "|", error.hint)
"""


@pytest.mark.system
@pytest.mark.parametrize(
    ("prepare", "where", "says"),
    [
        ("chmod 555 {cuda}/include", "unshare -U", "include: permission denied | Run the same command as root"),
        ("chmod 555 {cuda}/targets/x86_64-linux/lib", "unshare -U", "lib64: permission denied | Run"),
        ("mount -t tmpfs -o ro none {cuda}/include", "unshare -Urm", "include: the file system is read-only | Mount"),
    ],
)
def test_what_may_not_be_written_is_refused_early(
    cuda: Path, packed: Path, prepare: str, where: str, says: str
) -> None:
    """In a user namespace, where even root's child obeys the permission bits."""
    state = cuda.parent / "state"
    line = f"{prepare.format(cuda=cuda)} && {sys.executable} -c '{REFUSED}' {cuda} {packed} {state}"
    if where == "unshare -U":
        (cuda.parent / "child").write_text(line.partition(" && ")[2])
        line = f"{line.partition(' && ')[0]} && unshare -U sh {cuda.parent}/child"
        where = "env"
    done = subprocess.run([*where.split(), "sh", "-c", line], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert [*(state / "journal").iterdir()] == [], "refused before anything began"


# One interpreter forks a child for each order, which counts the system's calls and kills itself at one of them.
CHILDREN = """
import json, os, signal, sys
from pathlib import Path
from installers import apply, journal, plan, file_identity as stamp, transaction, undo
from tests.installers import trees
CALLS = ("fsync", "replace", "link", "symlink", "mkdir", "chmod", "unlink", "rmdir", "utime", "ftruncate")
seen = 0
def counted(function, kill_at):
    def call(*arguments, **named):
        global seen
        for when in (0, 1):
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if when == 0:
                answer = function(*arguments, **named)
        return answer
    return call
def work(cuda, packed, state, kill_at, what):
    for name in CALLS:
        function = getattr(os, name)
        setattr(os, name, counted(function, kill_at))
        for able in (os.supports_follow_symlinks, os.supports_fd, os.supports_dir_fd):
            if function in able:
                able.add(getattr(os, name))
    if what == "apply":
        apply.apply(trees.plan(Path(cuda), Path(packed)), journal.State(state))
    else:
        undo.rollback(journal.State(state))
    return str(seen)
for line in sys.stdin:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = "failed"
        try:
            told = work(*json.loads(line))
        except BaseException as error:
            told = repr(error)
        finally:
            os.write(write, told.encode())
            os._exit(0)
    print(pid, flush=True)
    sys.stdin.readline()
    status = os.waitpid(pid, 0)[1]
    os.close(write)
    print(json.dumps([os.waitstatus_to_exitcode(status), os.read(read, 4096).decode()]), flush=True)
    os.close(read)
"""


class Child:
    """One run in a process of its own."""

    def __init__(self, children: subprocess.Popen[str], arguments: tuple[str | int, ...]) -> None:
        assert children.stdin is not None
        assert children.stdout is not None
        self._asked, self._told = children.stdin, children.stdout
        children.stdin.write(json.dumps(arguments) + "\n")
        children.stdin.flush()
        self._pid = int(self._told.readline())

    def kill(self) -> None:
        """It may have ended; its parent waits for it no sooner than `ended`, so that nobody else has its number."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def ended(self) -> tuple[int, str]:
        """Its exit status, and what it counted."""
        self._asked.write("\n")
        self._asked.flush()
        status, told = json.loads(self._told.readline())
        return status, told


class Killing:
    """A tree, its states before and after, and children that are killed while they change it."""

    def __init__(self, root: Path, state: Path | None = None) -> None:
        self.root = root
        self._state = state or root / "place/state"
        self.packed = trees.archive(root)
        self.outcomes = {"before": 0, "after": 0}
        self._children = subprocess.Popen(
            [sys.executable, "-c", CHILDREN], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Killing:
        return self

    def __exit__(self, *_: object) -> None:
        self._children.communicate(timeout=60)

    def fresh(self) -> tuple[Path, State]:
        place = self.root / "place"
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(self._state, ignore_errors=True)
        place.mkdir()
        return trees.toolkit(place), State(str(self._state))

    def child(self, cuda: Path, state: State, what: str, kill_at: int = 0) -> Child:
        return Child(self._children, (str(cuda), str(self.packed), state.directory, kill_at, what))

    def after(self) -> str:
        cuda, state = self.fresh()
        apply(trees.plan(cuda, self.packed), state)
        return trees.digest_of(cuda, new_times=False)

    def judge(self, cuda: Path, state: State, before: str, after: str) -> None:
        """The next run finishes or undoes it: the tree is as before, to the last time stamp, or as after."""
        with state.lock():
            recover(state)
        if trees.digest_of(cuda) == before:
            self.outcomes["before"] += 1
        else:
            assert trees.digest_of(cuda, new_times=False) == after
            self.outcomes["after"] += 1
            rollback(state)
            assert trees.digest_of(cuda) == before
        assert not list(cuda.rglob(".gpudoctor-*"))


def events_of(killing: Killing, what: str) -> int:
    cuda, state = killing.fresh()
    if what == "rollback":
        apply(trees.plan(cuda, killing.packed), state)
    status, told = killing.child(cuda, state, what).ended()
    assert status == 0
    return int(told)


def kill_at_event(killing: Killing, what: str, event: int, after: str) -> None:
    cuda, state = killing.fresh()
    before = trees.digest_of(cuda)
    if what == "rollback":
        apply(trees.plan(cuda, killing.packed), state)
    assert killing.child(cuda, state, what, event).ended()[0] == -signal.SIGKILL
    killing.judge(cuda, state, before, after)


@pytest.mark.parametrize("what", ["apply", "rollback"])
def test_killed_at_some_steps(tmp_path: Path, what: str) -> None:
    with Killing(tmp_path) as killing:
        after, events = killing.after(), events_of(killing, what)
        assert events > 40
        for event in random.Random(5).sample(range(1, events + 1), 10):
            kill_at_event(killing, what, event, after)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["apply", "rollback"])
def test_killed_at_every_step(tmp_path: Path, what: str) -> None:
    with Killing(tmp_path) as killing:
        after, events = killing.after(), events_of(killing, what)
        for event in range(1, events + 1):
            kill_at_event(killing, what, event, after)
        print(what, events, killing.outcomes)  # noqa: T201 - the counts are the result


@pytest.mark.slow
@pytest.mark.parametrize("what", ["apply", "rollback"])
def test_killed_at_every_step_across_file_systems(tmp_path: Path, what: str) -> None:
    """The backups lie on another file system, so they are copies."""
    shared_memory = Path("/dev/shm")
    if not os.access(shared_memory, os.W_OK) or shared_memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system to write to")
    state = shared_memory / f"gpudoctor-test-{os.getpid()}"
    try:
        with Killing(tmp_path, state) as killing:
            after, events = killing.after(), events_of(killing, what)
            for event in range(1, events + 1):
                kill_at_event(killing, what, event, after)
    finally:
        shutil.rmtree(state, ignore_errors=True)
    print(what, events, killing.outcomes)  # noqa: T201 - the counts are the result


@pytest.mark.slow
def test_killed_at_random_instants(tmp_path: Path) -> None:
    with Killing(tmp_path) as killing:
        after = killing.after()
        chance = random.Random(7)
        began = time.monotonic()
        events_of(killing, "apply")
        longest_s = time.monotonic() - began
        for _ in range(200):
            cuda, state = killing.fresh()
            before = trees.digest_of(cuda)
            child = killing.child(cuda, state, "apply")
            time.sleep(chance.uniform(0.3 * longest_s, longest_s))
            child.kill()
            child.ended()
            killing.judge(cuda, state, before, after)
        print(killing.outcomes)  # noqa: T201 - the counts are the result


def test_a_torn_journal_line_never_took_effect(cuda: Path, packed: Path, state: State) -> None:
    before = trees.digest_of(cuda)
    apply(trees.plan(cuda, packed), state)
    path = Path(state.path("journal", history(state)[0].id, "journal.jsonl"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-4])  # the commit was not written to its end
    with state.lock():
        (undone,) = recover(state)
    assert undone.left == ()
    assert trees.digest_of(cuda) == before
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_runs_that_were_killed_are_taken_back_newest_first(tmp_path: Path, state: State) -> None:
    path = tmp_path / "file"
    path.write_text("first\n")
    runs = [apply(Plan("x", (WriteFile(str(path), (text,), ""),)), state).id for text in ("second", "third", "fourth")]
    for run in runs[1:]:
        journal = Path(state.path("journal", run, "journal.jsonl"))
        journal.write_bytes(journal.read_bytes()[:-4])  # as if the commit was not written to its end
    with state.lock():
        undone = recover(state)
    assert [one.id for one in undone] == [runs[2], runs[1]]
    assert [(one.restored, one.left) for one in undone] == [(1, ())] * 2
    assert path.read_text() == "second\n"


@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [("old", "old"), ("old", "mine"), ("old", None), (None, None), (None, "mine")],
)
def test_what_others_change_while_it_is_replaced_stays_theirs(
    before: str | None, meanwhile: str | None, tmp_path: Path, state: State
) -> None:
    """Between the look at what is there and the rename over it, which is the time that a large file takes."""
    first, second = tmp_path / "first", tmp_path / "second"

    def make(temporary: str) -> None:
        Path(temporary).write_text("new")

    def make_second(temporary: str) -> None:
        make(temporary)
        if meanwhile != before:
            laid(first, meanwhile)

    laid(first, before)
    with state.lock():
        transaction = Transaction(state.begin("x"))
        if meanwhile == before:
            transaction.put([Item(str(first), make), Item(str(second), make_second)])
            assert text_of(first) == text_of(second) == "new"
        else:
            with pytest.raises(InTheWay, match="was changed by another program during the replacement"):
                transaction.put([Item(str(first), make), Item(str(second), make_second)])
            assert (text_of(first), text_of(second)) == (meanwhile, None)
        recover(state)
    assert (text_of(first), text_of(second)) == (meanwhile, None)


def laid(path: Path, text: str | None) -> None:
    path.unlink(missing_ok=True) if text is None else path.write_text(text)


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def test_what_others_changed_meanwhile_is_left(cuda: Path, packed: Path, state: State) -> None:
    apply(trees.plan(cuda, packed), state)
    path = Path(state.path("journal", history(state)[0].id, "journal.jsonl"))
    path.write_bytes(path.read_bytes()[:-4])
    (cuda / "include/cudnn.h").write_text("mine")
    with state.lock():
        (undone,) = recover(state)
    assert undone.left == (f"{cuda}/include/cudnn.h",)
    assert (cuda / "include/cudnn.h").read_text() == "mine"


@pytest.mark.system
def test_a_full_disk(tmp_path: Path) -> None:
    """A small tmpfs in a mount namespace of its own; sizes at which each phase runs out of room."""
    script = """
import sys
from pathlib import Path
from installers.apply import apply
from installers.errors import CannotChange
from installers.journal import State
from tests.installers import trees
root, packed, state = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
cuda = trees.toolkit(root)
before = trees.digest_of(cuda)
try:
    apply(trees.plan(cuda, packed), State(state))
except CannotChange as error:
    assert str(error).endswith(": no space is left") and str(error).startswith("/"), error
    assert trees.digest_of(cuda) == before
    print("refused")
"""
    packed = trees.archive(tmp_path)
    (tmp_path / "small").mkdir()
    answers = set()
    for size in (300, 500, 700, 900, 1100, 4000):
        for state in (tmp_path / f"state{size}", tmp_path / "small/state"):
            arguments = f"{tmp_path}/small {packed} {state}"
            line = f"mount -t tmpfs -o size={size}k none {tmp_path}/small && {sys.executable} -c '{script}' {arguments}"
            done = subprocess.run(
                ["unshare", "-Urm", "sh", "-c", line.replace("'refused'", '"refused"')],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            answers.add((size, done.stdout.strip()))
    assert (300, "refused") in answers
    assert (4000, "") in answers
