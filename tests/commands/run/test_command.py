"""The whole of `gpudoctor run`: what is said before and after, and what is explained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from doctor.commands.run.command import Checked, Ended, explanation
from doctor.commands.run.tail import Tail
from doctor.messages.torchelastic_errors import error_file_text, message_of, of_first_failing
from doctor.output.document import TextStyle

ROOT = Path(__file__).resolve().parents[3]
TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."
RANKS = """\
[rank1]: Traceback (most recent call last):
[rank0]: Traceback (most recent call last):
[rank1]: RuntimeError: CUDA error: no kernel image is available for execution on the device
[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error
plain
"""
SUMMARY = """\
Root Cause (first observed failure):
[0]:
  time      : 2026-01-01_00:00:00
  host      : node
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 7)
  error_file: {file}
"""


def gpudoctor(*argv: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "gpudoctor", "run", *argv)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)


def test_a_failure_is_explained_apart_from_the_machine() -> None:
    done = gpudoctor("--", sys.executable, "-c", f"raise SystemExit({TOO_OLD!r})")
    assert (done.returncode, done.stdout) == (1, "")
    before, _, said = done.stderr.partition("Its output says")
    said, _, machine = said.partition("This machine, checked before the start")
    assert TOO_OLD in before
    assert "driver-too-old-for-runtime" in said
    assert "The whole of it: gpudoctor check" in machine
    assert "The stack" not in machine


def test_options_after_the_command_are_its_own() -> None:
    done = gpudoctor("sh", "-c", 'echo "$@"', "sh", "--strict", "--log", "x")
    assert (done.returncode, done.stdout) == (0, "--strict --log x\n")


@pytest.mark.parametrize(("name", "status"), [("no-such-command", 127), ("", 127), ("/", 126)])
def test_what_cannot_be_started(name: str, status: int) -> None:
    done = gpudoctor("--", name)
    assert done.returncode == status
    assert f"gpudoctor: {name}: " in done.stderr


def test_strict_does_not_start_it(tmp_path: Path) -> None:
    """In an environment where an interrupted pip left half of torch, which is an error on any machine."""
    venv.create(tmp_path / "venv", with_pip=False)
    site = next((tmp_path / "venv").glob("[lL]ib*/**/site-packages"))
    (site / "torch" / "lib").mkdir(parents=True)
    done = gpudoctor("--strict", "--python", str(tmp_path / "venv"), "--", "touch", str(tmp_path / "touched"))
    assert done.returncode == 1
    assert "The stack" in done.stderr
    assert not (tmp_path / "touched").exists()


def test_no_python_is_bad_input() -> None:
    done = gpudoctor("--python", "/no/such/python", "--", "true")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("status", [0, -2, -13, -15, 130, 141, 143])
def test_what_somebody_ended_is_not_explained(status: int) -> None:
    assert explanation(("x",), Ended(status, TOO_OLD.encode()), Checked(None, "why"), TextStyle()) == ""


def test_a_fault_of_ours_costs_no_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.commands.run.command.causes_of", lambda *_: 1 / 0)
    said = explanation(("x",), Ended(7, TOO_OLD.encode()), Checked(None, "why"), TextStyle())
    assert said == "gpudoctor: its output could not be explained: ZeroDivisionError: division by zero\n"


def test_a_machine_that_could_not_be_checked_costs_no_explanation() -> None:
    said = explanation(("x",), Ended(1, TOO_OLD.encode()), Checked(None, "why"), TextStyle())
    assert "driver-too-old-for-runtime" in said
    assert "This machine" not in said


def test_the_first_rank_that_failed() -> None:
    """By the order of the tracebacks, unless torchrun's summary says another."""
    assert b"no kernel image" in of_first_failing(RANKS.encode())
    assert b"NCCL" not in of_first_failing(RANKS.encode())
    told = of_first_failing((RANKS + SUMMARY).encode())
    assert b"NCCL" in told
    assert b"no kernel image" not in told
    assert b"\nplain\n" in told
    assert of_first_failing(b"[default3]:a\n[default1]:b\n") == b"a\nb\n"


def test_the_error_file_of_torchelastic(tmp_path: Path) -> None:
    """As torch/distributed/elastic/multiprocessing/errors/error_handler.py writes it."""
    stack = {"py_callstack": "Traceback ...", "timestamp": "1760000000"}
    file = tmp_path / "error.json"
    file.write_text(json.dumps({"message": {"message": TOO_OLD, "extraInfo": stack}}))
    assert TOO_OLD.encode() in error_file_text(SUMMARY.format(file=file).encode(), "")
    assert TOO_OLD.encode() in error_file_text(b"", str(file))
    assert error_file_text(SUMMARY.format(file="<N/A>").encode(), "") == b""
    assert error_file_text(b"", str(tmp_path)) == b""


@pytest.mark.parametrize("content", [b"", b"[]", b'{"message": 3}', b"{}", b"\xff", b"[" * 100_000, b'{"message": {}}'])
def test_what_is_no_error_file(content: bytes) -> None:
    assert message_of(content).strip() == b""


def test_the_tail_is_bounded() -> None:
    tail = Tail(10)
    for _ in range(100):
        tail.add(b"abc")
    tail.add(b"0123456789ABC")
    assert tail.text() == b"3456789ABC"


@pytest.mark.skipif(os.name != "posix", reason="the interpreter beside a program is named otherwise on Windows")
def test_the_environment_of_the_command_is_looked_at(tmp_path: Path) -> None:
    from doctor.commands.run.command import _python_of

    (tmp_path / "bin").mkdir()
    for name in ("torchrun", "python", "python3.12"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    beside = str(tmp_path / "bin" / "python")
    assert _python_of((str(tmp_path / "bin" / "torchrun"),)) == ()
    (tmp_path / "pyvenv.cfg").touch()
    assert _python_of((str(tmp_path / "bin" / "torchrun"),)) == (beside,)
    assert _python_of((str(tmp_path / "bin" / "python3.12"),)) == (f"{beside}3.12",)
    assert _python_of(("no-such-command",)) == ()


def test_with_redact_nothing_private_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command's own output passes as it is."""
    monkeypatch.setenv("SLURM_JOB_USER", "mmuster")
    program = f"import sys; sys.exit('{TOO_OLD} /data/mmuster/x token=hunter2')"
    done = gpudoctor("--redact", "--", sys.executable, "-c", program, "--password", "hunter3")
    _, output, said = done.stderr.partition("/data/mmuster/x token=hunter2\n")
    assert output
    assert "driver-too-old-for-runtime" in said
    assert not [one for one in ("mmuster", "hunter2", "hunter3") if one in said]


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
@pytest.mark.parametrize("most", [7, 9, 12, 16, 20, 30])
@pytest.mark.parametrize(("words", "status"), [("echo hello", 0), ("sh -c 'echo hello; exit 7'", 7)])
def test_with_few_descriptors_the_command_starts_all_the_same(most: int, words: str, status: int) -> None:
    call = f"ulimit -n {most}; exec {sys.executable} -m gpudoctor run -- {words}"
    done = subprocess.run(["sh", "-c", call], cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)
    assert (done.returncode, done.stdout) == (status, "hello\n"), done.stderr
    assert "fault" not in done.stderr
