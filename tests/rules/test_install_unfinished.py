from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import as_json
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts.seen import Fact
from doctor.model.finding import Status
from doctor.probes.independent import install_runs
from doctor.probes.independent.install_runs import InstallRun
from doctor.rules.shared.engine import judge, load_rules
from installers.apply import apply
from installers.journal import State
from installers.plan import Plan
from installers.steps.write_file import WriteFile
from tests.machine import machine, seen, unseen

CODE = "install-unfinished"


def run(state: str, number: int = 0) -> InstallRun:
    return InstallRun(f"2026-{number}", "install cuDNN", f"/state/journal/2026-{number}", state)


@pytest.mark.parametrize(
    ("runs", "kind", "said"),
    [
        (seen(()), Status.OK, "gpudoctor has no unfinished installation"),
        (seen((run("at work"),)), Status.OK, "gpudoctor has no unfinished installation"),
        (seen((run("killed"),)), Status.BAD, "installation 2026-0 (install cuDNN)"),
        (seen((run("killed"), run("killed", 1))), Status.BAD, "2 installations"),
        (seen((run("damaged"), run("killed", 1))), Status.BAD, "2026-1"),
        (seen((run("damaged"),)), Status.UNKNOWN, "/state/journal/2026-0"),
        (seen((run("unclear"),)), Status.UNKNOWN, "was killed or is still running: its lock cannot be read here"),
        (unseen("/home/user/.local/state: permission denied"), Status.UNKNOWN, "permission denied"),
    ],
)
def test_install_unfinished(runs: Fact[tuple[InstallRun, ...]], kind: Status, said: str) -> None:
    [answer] = judge(machine(independent={"install_runs": runs}), Matrix(), load_rules([CODE]))
    assert (answer.kind, said in answer.why) == (kind, True), answer.why
    if kind is Status.BAD:
        assert {as_json(one).spec.rpartition(" ")[2] for one in answer.needs} >= {"2026-1"} or len(answer.needs) == 1


class Written:
    """Real journals, as `install --apply` writes them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, State(str(folder / "state"))

    def apply(self) -> Path:
        done = apply(Plan('say "x"', (WriteFile(str(self.folder / "x"), ("x",), "x"),)), self.state)
        return Path(self.state.path("journal", done.id, "journal.jsonl"))

    def look(self) -> tuple[InstallRun, ...]:
        return install_runs.look(LiveHost({"GPUDOCTOR_STATE": self.state.directory})).get()


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def test_no_journal_at_all(written: Written) -> None:
    assert written.look() == ()


def test_a_run_that_ended_and_one_that_was_killed(written: Written) -> None:
    path = written.apply()
    assert written.look() == ()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    [found] = written.look()
    assert (found.id, found.state, found.directory) == (path.parent.name, "killed", str(path.parent))
    assert found.summary == 'say \\"x\\"'
    with open(written.state.path("lock"), "a+b") as lock:  # somebody is at work
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert [one.state for one in written.look()] == ["at work"]
    written.apply()  # which takes back the other first
    assert written.look() == ()


@pytest.mark.parametrize("text", ["nonsense\n", "\x00" * 40, '{"what": "change"}\n'])
def test_a_record_that_is_none(written: Written, text: str) -> None:
    path = written.apply()
    path.write_text(text)
    assert [one.state for one in written.look()] == ["damaged"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look as somebody else")
def test_a_folder_that_nobody_lets_us_read(written: Written) -> None:
    written.apply()
    journal = written.folder / "state/journal"
    for folder in (written.folder / "state", written.folder, *list(written.folder.parents)[:3]):
        folder.chmod(0o755)  # pytest's own are nobody else's
    journal.chmod(0)
    script = (
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "from doctor.probes.independent import install_runs; from doctor.host.live import LiveHost\n"
        "host = LiveHost({'GPUDOCTOR_STATE': sys.argv[1]}); install_runs.look(host)\n"
        "os.setresuid(65534, 65534, 65534)\n"
        "print(type(install_runs.look(LiveHost({'GPUDOCTOR_STATE': sys.argv[1]}))).__name__)"
    )
    argv = [sys.executable, "-c", script, written.state.directory]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert told == "Unseen\n"


def test_a_disk_is_not_asked(tmp_path: Path) -> None:
    assert install_runs.look(RootHost(str(tmp_path))).get() == ()
