"""Processes: what they are given, what they leave, and that a full file or a failed preparation stops nobody."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from compat.base.process import OUTPUT_AT_MOST_BYTES, Launch, NotPrepared, Process, run_process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX processes")


def shell(script: str) -> Launch:
    return Launch(("/bin/sh", "-c", script))


def test_bytes_come_as_they_were_given() -> None:
    given = bytes(range(256)) * 40_000 + bytes(5000)  # more than a pipe holds, and NUL bytes at the end
    assert run_process(Launch(("cat",), given=given[-100_000:]), 10).stdout == given[-100_000:]
    done = run_process(Launch(("wc", "-c"), given=given), 10)
    assert int(done.stdout) == len(given)


@pytest.mark.skipif(sys.platform != "linux", reason="sealed memory")
def test_output_is_bounded() -> None:
    done = run_process(shell(f"head -c {2 * OUTPUT_AT_MOST_BYTES} /dev/zero"), 10)
    assert done.status
    assert len(done.stdout) <= OUTPUT_AT_MOST_BYTES


def test_one_in_the_foreground_has_our_session_and_streams(tmp_path: Path) -> None:
    code = "import os; print(os.getsid(0), os.getcwd())"
    with (tmp_path / "out").open("w+b") as out:
        launch = Launch((sys.executable, "-c", code), {}, folder="/", is_foreground=True, output=out.fileno())
        with Process(launch) as process:
            assert process.wait(None) == 0
        assert (tmp_path / "out").read_text().split() == [str(os.getsid(0)), "/"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_one_that_is_left_is_killed_with_its_group() -> None:
    with Process(shell("sleep 60 & printf '%9d' $!; wait")._replace(is_piped=True)) as process:
        grandchild = int(next(process.chunks(9)))
    until = time.monotonic() + 10
    while _runs(grandchild) and time.monotonic() < until:
        time.sleep(0.01)
    assert process.wait(0) == -signal.SIGKILL
    assert not _runs(grandchild)


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def test_a_preparation_that_fails_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotPrepared):
        run_process(shell(f"touch {tmp_path}/started")._replace(before=lambda: 1 // 0), 10)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("argv", [("/no/such/program",), ("/bin/echo", "a\0b")])
def test_what_the_system_does_not_start_is_an_oserror(argv: tuple[str, ...]) -> None:
    with pytest.raises(OSError, match=r"No such file|null byte") as refused:
        run_process(Launch(argv), 10)
    assert refused.value.strerror
