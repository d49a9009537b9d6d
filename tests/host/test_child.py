"""Children: they end in time, whatever they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doctor.host import NotRunnable, Ran, TooSlow
from doctor.host.child import Child, run_child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX processes")
ENVIRON = {"PATH": os.defpath}


def shell(script: str, timeout_s: float = 10.0) -> Ran:
    return run_child(("/bin/sh", "-c", script), timeout_s, ENVIRON)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo out; echo err >&2; exit 3", Ran(3, "out\n", "err\n")),
        ("kill -SEGV $$", Ran(-signal.SIGSEGV, "", "")),
        ("cat", Ran(0, "", "")),
        ("printf '\\377'", Ran(0, "\ufffd", "")),
        ("printf 'a\\000b'; head -c 3000001 /dev/zero; echo end", Ran(0, f"a\0b{chr(0) * 3000001}end\n", "")),
        ("printf é; head -c 4097 /dev/zero", Ran(0, "é", "")),
        ("echo $PATH", Ran(0, f"{os.defpath}\n", "")),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_how_it_ended(script: str, expected: Ran) -> None:
    assert shell(script) == expected


def test_too_slow_keeps_what_was_said(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(TooSlow, match=r"did not end within 0\.5 s") as caught:
        shell(f"echo so far; sleep 30; touch {tmp_path}/lived", 0.5)
    assert time.monotonic() - started < 25
    assert caught.value.stdout == "so far\n"


def test_a_grandchild_that_keeps_the_pipes_holds_nobody(tmp_path: Path) -> None:
    started = time.monotonic()
    assert shell("sleep 60 & echo done").stdout == "done\n"
    assert time.monotonic() - started < 25


def test_a_grandchild_is_killed_with_its_group(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(TooSlow):
        shell(f"sleep 60 & echo $! > {pid_file}; sleep 60", 0.5)
    pid = int(pid_file.read_text(encoding="utf-8"))
    for _ in range(100):
        if not _runs(pid):
            return
        time.sleep(0.02)
    pytest.fail("the grandchild lived on")


@pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals")
@pytest.mark.parametrize("started", ["Child(argv, {}, is_long=True).wait(60)", "run_child(argv, 60, {})"])
def test_a_long_one_ends_with_gpudoctor(started: str, tmp_path: Path) -> None:
    """Nobody would be left to end it when its time is over."""
    script = "trap '' TERM HUP INT; echo $$ > pid; mv pid whole; sleep 60"
    program = f"from doctor.host.child import *\nargv = ('/bin/sh', '-c', {f'cd {tmp_path}; {script}'!r})\n{started}"
    parent = subprocess.Popen([sys.executable, "-c", program])
    for _ in range(500):
        if (tmp_path / "whole").exists():
            break
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    pid = int((tmp_path / "whole").read_text(encoding="utf-8"))
    for _ in range(100):
        if not _runs(pid):
            return
        time.sleep(0.02)
    pytest.fail("it lived on")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def test_one_that_ignores_signals_is_killed() -> None:
    started = time.monotonic()
    with pytest.raises(TooSlow):
        shell("trap '' TERM INT HUP; while :; do sleep 1; done", 0.5)
    assert time.monotonic() - started < 25


def test_one_that_cannot_be_killed_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(("/bin/sleep", "60"), ENVIRON)
    monkeypatch.setattr(os, "killpg", lambda pid, number: None)  # as if it were stuck in the kernel
    started = time.monotonic()
    with pytest.raises(TooSlow):
        child.finish(0.1)
    assert time.monotonic() - started < 25
    monkeypatch.undo()
    os.killpg(child._process.pid, signal.SIGKILL)
    os.waitpid(child._process.pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="sealed memory")
def test_a_flood_of_output_is_cut() -> None:
    started = time.monotonic()
    with pytest.raises(TooSlow) as caught:
        shell("trap '' PIPE; while :; do head -c 1000000 /dev/zero | tr '\\0' x; done 2>&-", 2.0)
    assert time.monotonic() - started < 25
    assert len(caught.value.stdout) <= 4 << 20


@pytest.mark.parametrize(
    ("argv", "environ"),
    [
        (("/no/such/program",), {}),
        (("/",), {}),
        (("/bin/echo", "a\0b"), {}),
        (("/bin/echo",), {"A": "b\0"}),
        (("/bin/echo", "x" * (1 << 22)), {}),
    ],
)
def test_what_cannot_be_started(argv: tuple[str, ...], environ: dict[str, str]) -> None:
    with pytest.raises(NotRunnable):
        run_child(argv, 5.0, environ)


def test_another_file_under_the_first_name() -> None:
    ran = run_child(("/no/such/name", "-c", "echo $0"), 5.0, ENVIRON, "/bin/sh")
    assert ran == Ran(0, "/no/such/name\n", "")
