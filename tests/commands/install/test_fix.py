"""`gpudoctor check --fix` on this machine: a virtual environment with a broken cuDNN, mended, left, and not mended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.need import Advice, RestartMachine
from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, ReportOptions
from doctor.commands.install.fix import Setting, Talk, fix, walk
from doctor.model.finding import Answer, Finding, Remedy, Report, Severity, unknown
from doctor.output.document import TextStyle
from installers.at_work import Watch
from installers.plan import Plan
from installers.run import ExecutionOptions
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.set_variable import SetVariable
from installers.steps.write_file import WriteFile
from tests.installers.trees import digest_of
from tests.lab.cudnn_tree import wheel_of
from tests.machine import machine, seen, system

CODE = "cudnn-link-broken"


class Person:
    """Answers from a script, then "q"; keeps what was told."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.told: list[str] = []
        self.questions: list[str] = []

    @property
    def talk(self) -> Talk:
        return Talk(self.told.append, self._ask)

    @property
    def text(self) -> str:
        return " ".join("".join(self.told).split())

    def _ask(self, question: str) -> str:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else "q"


class Venv(NamedTuple):
    """An environment whose libcudnn_ops.so.9 leads nowhere, though the library lies beside it."""

    folder: Path
    link: Path

    @property
    def subject(self) -> CheckSubject:
        return CheckSubject(pythons=(str(self.folder),), only=(CODE,))


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))


@pytest.fixture
def venv(tmp_path: Path) -> Venv:
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [site] = folder.glob("lib/python3.*/site-packages")
    link = wheel_of(site) / "libcudnn_ops.so.9"
    link.rename(link.with_name("libcudnn_ops.so.9.10.2"))
    link.symlink_to("libcudnn_ops.so.9.9.9")
    return Venv(folder, link)


def test_a_real_command_mends_it(venv: Venv) -> None:
    person = Person("y")
    assert fix(venv.subject, ReportOptions(), TextStyle(), person.talk) == 0
    assert os.readlink(venv.link) == "libcudnn_ops.so.9.10.2"
    assert person.questions == ["Apply way 1? [y/N, 2 = way 2] "]
    assert "1. the symlink points to the right file ln -sfn -- libcudnn_ops.so.9.10.2" in person.text
    assert f"Checked again: {CODE} is fixed. · The Python environment has no GPU framework" in person.text


def test_a_line_of_the_users_is_deleted_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / ".bashrc"
    script.write_text("# mine\nexport CUDNN_PATH=/opt/nowhere\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CUDNN_PATH", "/opt/nowhere")
    person = Person("y")
    subject = CheckSubject(only=("variable-leads-astray",))
    assert fix(subject, ReportOptions(fail_on="warning"), TextStyle(), person.talk) == 0
    assert script.read_text() == "# mine\n"
    assert "1. edit ~/.bashrc, line 2" in person.text
    assert "- export CUDNN_PATH=/opt/nowhere" in person.text
    assert "In this shell, also run this (new shells do not need it): unset CUDNN_PATH" in person.text
    assert "variable-leads-astray is fixed" in person.text
    assert execute(["install", "rollback"]) == 0
    assert capsys.readouterr().out
    assert script.read_text() == "# mine\nexport CUDNN_PATH=/opt/nowhere\n"


@pytest.mark.parametrize("answers", [(), ("",), ("n",), ("No",), ("q",), ("perhaps", "7", "")])
def test_declining_changes_nothing(answers: Iterable[str], venv: Venv) -> None:
    before = digest_of(venv.folder)
    person = Person(*answers)
    assert fix(venv.subject, ReportOptions(fail_on="warning"), TextStyle(), person.talk) == 1
    assert digest_of(venv.folder) == before
    assert "Checked again:" not in person.text
    assert not os.path.exists(os.environ["GPUDOCTOR_STATE"])


def test_another_way_whose_command_fails(venv: Venv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin/uv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    before = digest_of(venv.folder)
    person = Person("2")
    assert fix(venv.subject, ReportOptions(fail_on="warning"), TextStyle(), person.talk) == 1
    assert digest_of(venv.folder) == before
    assert "Failed: `uv pip install" in person.text
    assert "failed with exit status 3. Run the command alone" in person.text
    assert f"Checked again: {CODE} remains" in person.text


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--root", "/"), "--fix changes this machine or a Dockerfile: omit --root"),
        (("--framework", "torch==2.9.1"), "omit --framework"),
        (("--format", "json", "--redact"), "omit --format, --redact"),
        (("--output", "report.txt", "--list"), "omit --list, --output"),
        ((), "run it in a terminal"),
    ],
)
def test_what_is_refused_is_one_line(argv: Iterable[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--fix", *argv]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")
def test_in_a_terminal(venv: Venv) -> None:
    """The command itself, with a terminal for its standard input."""
    ours, theirs = os.openpty()
    argv = [sys.executable, "-c", "from doctor.cli import main; main()"]
    argv += ["check", "--fix", "--python", str(venv.folder), "--only", CODE]
    with os.fdopen(ours, "wb", buffering=0) as typed:
        typed.write(b"y\n")
        done = subprocess.run(argv, stdin=theirs, capture_output=True, text=True, timeout=60)
        os.close(theirs)
    shown = f"as root: ln -sfn -- libcudnn_ops.so.9.10.2 {venv.link}\n" if os.geteuid() == 0 else ""
    assert (done.returncode, done.stderr) == (0, shown)
    assert f"Checked again: {CODE} is fixed." in done.stdout
    assert os.readlink(venv.link) == "libcudnn_ops.so.9.10.2"


BY_ROOT = Command(("mend-it",), "it is mended", needs_root=True)
BY_USER = Command(("mend-it",), "it is mended")
BY_HAND = ByHand("turn the switch")
CMDLET = Command(("New-Item", "-Force"), "the symlink points to the right file")
ELSEWHERE = Command(("mend-it",), "it is mended", place="Windows")


class Bench:
    """A made-up finding with plans for it; commands are noted rather than run, and mend it."""

    def __init__(self, *plans: tuple[Step, ...]) -> None:
        self.ran: list[tuple[str, ...]] = []
        self.answers: tuple[Answer, ...] = ()
        remedies = tuple(Remedy("mend it", Advice(""), Plan("mend it", steps), ()) for steps in plans)
        self.facts = machine(system=system(is_root=seen(False)))
        why = Finding("made-up", Severity.ERROR, "this", "it is broken", (), (), "", remedies, "")
        self.before = Report(
            self.facts, (), (why, why._replace(code="symptom", explained_by="made-up")), "broken", "", 0
        )

    def walk(self, *answers: str) -> Person:
        person = Person(*answers)
        self.last = walk(
            self.before, Setting(self._again, person.talk, ExecutionOptions(run=self._run), TextStyle(), failed=[])
        )
        return person

    def _run(self, command: Command, _: Watch) -> None:
        self.ran.append(command.argv)

    def _again(self) -> Report:
        return self.before._replace(findings=(), answers=self.answers)


@pytest.mark.parametrize(
    ("steps", "answers", "ran", "said"),
    [
        ((BY_USER,), ("yes",), [("mend-it",)], "made-up is fixed"),
        ((BY_ROOT,), ("y", ""), [], "Nothing was changed: run these commands yourself, or run gpudoctor as root."),
        ((BY_ROOT,), ("y", "q"), [], "Nothing was changed: run these commands yourself, or run gpudoctor as root."),
        ((BY_ROOT,), ("y", "y"), [("sudo", "mend-it")], "made-up is fixed"),
        ((BY_HAND,), (), [], "gpudoctor cannot do this for you"),
        ((ELSEWHERE,), (), [], "gpudoctor cannot do this for you"),
        ((CMDLET,), (), [], "gpudoctor cannot do this for you"),
        ((SetVariable("CUDA_HOME", "/x", "why"),), (), [], "gpudoctor cannot do this for you"),
        ((BY_USER, BY_HAND), ("y",), [("mend-it",)], "To do by hand: step 2"),
        ((BY_USER, BY_HAND, BY_ROOT), ("y",), [("mend-it",)], "To do by hand: step 2 To do by hand: step 3"),
        ((BY_HAND, BY_USER), ("y",), [("mend-it",)], "made-up is fixed"),
    ],
)
def test_who_does_which_step(
    steps: tuple[Step, ...], answers: Iterable[str], ran: list[tuple[str, ...]], said: str
) -> None:
    bench = Bench(steps)
    person = bench.walk(*answers)
    assert bench.ran == ran
    assert said in person.text
    assert (bench.last is bench.before) == (not ran)


@pytest.mark.parametrize(
    ("plans", "question"),
    [
        (((BY_USER,),), "Apply it? [y/N] "),
        (((BY_USER,), (BY_HAND,), (BY_ROOT,)), "Apply way 1? [y/N, 3 = way 3] "),
        (((BY_HAND,), (BY_USER,)), "Apply way 2? [y/N] "),
        (((BY_HAND, BY_USER),), "First do step 1 yourself. Apply it? [y/N] "),
    ],
)
def test_what_is_asked(plans: tuple[tuple[Step, ...], ...], question: str) -> None:
    assert Bench(*plans).walk("").questions == [question]


def test_a_single_thing_to_do_is_said_once() -> None:
    assert Bench((ByHand("mend it"),)).walk().text.count("mend it") == 1


def test_root_is_asked_for_by_the_command() -> None:
    assert Bench((BY_ROOT,)).walk("y").questions[1] == "These need root: sudo mend-it. Run them with sudo? [y/N] "


def test_a_restart_is_left_to_the_person() -> None:
    bench = Bench((BY_ROOT,))
    [remedy] = bench.before.findings[0].remedies
    restart = bench.before.findings[0]._replace(remedies=(remedy._replace(need=RestartMachine()),))
    bench.before = bench.before._replace(findings=(restart,))
    assert "gpudoctor cannot do this for you" in bench.walk("y", "y").text
    assert bench.ran == []


def test_not_knowing_is_not_gone() -> None:
    bench = Bench((BY_USER,))
    bench.answers = (unknown("no longer readable")._replace(code="made-up", subject="this"),)
    assert "made-up is unknown now" in bench.walk("y").text


def test_files_are_written_whole_and_can_be_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "setting"
    person = Bench((WriteFile(str(file), ("1",), "why"),)).walk("y")
    assert file.read_text() == "1\n"
    assert "To undo: gpudoctor install rollback" in person.text
    assert execute(["install", "rollback"]) == 0
    assert not file.exists()


def test_a_variable_that_no_file_sets_is_not_there_in_a_new_shell(tmp_path: Path) -> None:
    """Only an edit of the user's script keeps it: no line of theirs named it before."""
    steps = (WriteFile(str(tmp_path / "setting"), ("1",), "why"), SetVariable("LD_LIBRARY_PATH", "/opt/x", "why"))
    told = Bench(steps).walk("y").text
    assert "In this shell, also run this. To keep it, add it to the start-up file of your shell" in told
    assert "new shells do not need it" not in told


def test_commands_are_taken_back_by_others() -> None:
    back = Command(("mend-it",), "why", inverse=Inverse((("undo-it",),)))
    assert "gpudoctor install rollback" in (text := Bench((back,)).walk("y").text)
    assert text.count("--commands") == 1
    assert "gpudoctor install rollback" not in Bench((BY_USER,)).walk("y").text


def test_quitting_leaves_the_rest_unasked() -> None:
    bench = Bench((BY_USER,))
    first = bench.before.findings[0]
    bench.before = bench.before._replace(findings=(first, first._replace(code="another")))
    assert len(bench.walk("q").questions) == 1
    assert len(bench.walk("n", "n").questions) == 2
