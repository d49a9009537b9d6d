"""A run that a signal ends: nothing that it started changes the machine after it was taken back."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from compat.base.process import delayed_signals
from installers.apply import apply
from installers.at_work import AtWork, require_ended, watch
from installers.command import CommandFailed, run_command
from installers.journal import Journal, history
from installers.undo import Reversal, recover, rollback
from tests.installers.script_run import SHORT_S, ScriptRun, until
from tests.installers.trees import digest_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc, and shell scripts in place of pip")
# It writes when the test lets it: after the run was taken back, if it is there still.
WRITE = 'until [ -e $ROOT/go ]; do sleep 0.02; done; for name in 1 2 3; do echo x > "$SITE/new-$name"; done'
EARLY = f"touch $ROOT/started; {WRITE}; touch $ROOT/written"
HALFWAY = f"rm -r $SITE/old; echo x > $SITE/half; {EARLY}"
STUBBORN = "trap '' TERM INT HUP"
GRANDCHILD = f"({STUBBORN}; {EARLY}) & wait"  # which goes on when the script is gone


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptRun:
    monkeypatch.setattr("installers.command._END_S", SHORT_S)
    monkeypatch.setattr("installers.at_work._DYING_S", SHORT_S)
    return ScriptRun(tmp_path)


def goes_on(run: ScriptRun) -> bool:
    """Whether the script writes after all."""
    (run.root / "go").touch()
    time.sleep(0.15)
    return (run.root / "written").exists()


@pytest.mark.parametrize(
    ("number", "script"),
    [(signal.SIGTERM, EARLY), (signal.SIGTERM, HALFWAY), (signal.SIGHUP, HALFWAY), (signal.SIGINT, HALFWAY)],
    ids=["early", "SIGTERM", "SIGHUP", "SIGINT"],
)
def test_a_signal_ends_the_command_and_the_run_is_taken_back(number: int, script: str, run: ScriptRun) -> None:
    run.make(script)
    before = digest_of(run.prefix)
    parent = run.start()
    for _ in range(2 if number == signal.SIGTERM else 1):  # `timeout` sends it twice
        parent.send_signal(number)
    assert parent.wait(30) == 128 + number
    assert (run.root / "out").read_text() == "interrupted: the files are as before\n"
    assert not goes_on(run)
    assert digest_of(run.prefix) == before
    assert history(run.state)[0].state == "undone"


@pytest.mark.parametrize("script", [EARLY, HALFWAY, f"{STUBBORN}; {HALFWAY}"], ids=["early", "halfway", "stubborn"])
def test_a_run_that_is_killed_takes_its_command_with_it(script: str, run: ScriptRun) -> None:
    run.make(script)
    before = digest_of(run.prefix)
    parent = run.start()
    parent.kill()
    parent.wait(30)
    with run.state.lock():
        [undone] = recover(run.state)
    assert undone.killed
    assert not goes_on(run)
    assert digest_of(run.prefix) == before


@pytest.mark.parametrize("again", ["rollback", "apply"])
def test_while_what_the_command_started_is_running_nothing_is_taken_back(again: str, run: ScriptRun) -> None:
    run.make(GRANDCHILD)
    before = digest_of(run.prefix)
    parent = run.start()
    parent.kill()
    parent.wait(30)
    with pytest.raises(AtWork, match=r"`/bin/bash .*/uv pip install new` \(process \d+\).* still running") as refused:
        rollback(run.state) if again == "rollback" else apply(run.plan(), run.state)
    assert re.search(r"end it with `kill \d+", refused.value.hint)
    assert history(run.state)[0].state == "killed"
    (run.root / "go").touch()
    run.await_file("written")
    assert digest_of(run.prefix) != before
    assert rollback(run.state).killed
    assert digest_of(run.prefix) == before


def test_a_signal_ends_what_the_command_started_too(run: ScriptRun) -> None:
    run.make(GRANDCHILD)
    before = digest_of(run.prefix)
    parent = run.start()
    parent.terminate()
    assert parent.wait(30) == 143
    assert not goes_on(run)
    assert digest_of(run.prefix) == before


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("wait", "did not finish within 1 s"),
        ("until [ -e $ROOT/started ]; do sleep 0.01; done; exit 3", "exit status 3"),
    ],
    ids=["late", "failed"],
)
def test_what_a_command_leaves_behind_is_ended_before_the_run_is_taken_back(end: str, why: str, run: ScriptRun) -> None:
    run.make(GRANDCHILD.replace("wait", end))
    before = digest_of(run.prefix)
    with pytest.raises(CommandFailed, match=why):
        apply(run.plan(timeout_s=1), run.state)
    assert not goes_on(run)
    assert digest_of(run.prefix) == before


def test_what_needs_root_is_asked_to_end_and_never_killed(run: ScriptRun) -> None:
    """As a package manager does it that is installing: Ctrl-C has no effect."""
    run.make(f"{STUBBORN}; {HALFWAY}")
    parent = run.start("root")
    parent.terminate()
    assert parent.wait(30) == 143
    told = (run.root / "out").read_text()
    assert re.match(r"run \S+ cannot be undone yet: `.*/uv pip install new` \(process \d+\) is still running", told)
    assert history(run.state)[0].state == "killed"
    with pytest.raises(AtWork):
        apply(run.plan(), run.state)
    assert goes_on(run)
    until(lambda: _has_ended(run))
    assert rollback(run.state).killed


def _has_ended(run: ScriptRun) -> bool:
    try:
        require_ended(run.state.journals()[-1])
    except AtWork:
        return False
    return True


def test_what_needs_root_ends_as_by_ctrl_c(run: ScriptRun) -> None:
    run.make(f"trap 'rm $SITE/half; exit 1' INT; {HALFWAY}")
    parent = run.start("root")
    parent.terminate()
    assert parent.wait(30) == 143
    assert (run.root / "out").read_text() == "interrupted: the files are as before\n"
    assert not goes_on(run)


def test_what_needs_root_outlives_a_run_that_is_killed_and_is_known(run: ScriptRun) -> None:
    run.make(f'[ -z "$GPUDOCTOR_RUN" ] || exit 9; {HALFWAY}')  # services that it starts must not inherit it
    parent = run.start("root")
    parent.kill()
    parent.wait(30)
    with pytest.raises(AtWork, match=r"\(process \d+\) is still running"):
        rollback(run.state)
    assert goes_on(run)
    until(lambda: _has_ended(run))
    assert rollback(run.state).killed


@pytest.fixture
def journal(run: ScriptRun) -> Journal:
    """Of a run whose command is this very process."""
    journal = run.state.begin("x")
    watch(journal, 1, needs_root=True).before()
    return journal


def test_a_process_id_that_is_used_again_is_another_process(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AtWork):
        require_ended(journal)
    [record] = [one for one in journal.records() if one["what"] == "started"]
    for name in ("start", "boot"):
        other = Journal(f"{journal.directory}-{name}")
        os.mkdir(other.directory)
        other.append({**record, name: "1"})
        require_ended(other)


def test_a_process_that_proc_does_not_show_counts(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidepid=2 another user's process has no directory there; kill(2) tells that it is running."""
    monkeypatch.setattr("installers.at_work._start", lambda _: "")

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    with pytest.raises(AtWork):
        require_ended(journal)


def test_a_reversal_that_outlived_its_rollback_is_known(run: ScriptRun, journal: Journal) -> None:
    journal.append({"what": "commit"})
    with pytest.raises(AtWork):
        rollback(run.state, reversal=Reversal(run_command))


def test_what_cannot_be_written_down_is_not_run(run: ScriptRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run.make(EARLY)

    def full(pid: int) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("installers.at_work._start", full)
    with pytest.raises(CommandFailed, match="was not run: the journal cannot be written"):
        apply(run.plan(), run.state)
    assert not (run.root / "started").exists()


def test_signals_wait_until_a_process_is_known(request: pytest.FixtureRequest) -> None:
    """Python's handler would raise in the middle of Popen, which has started a process by then."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a command line of another test left its own
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    done = []

    def block() -> None:
        with delayed_signals():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
