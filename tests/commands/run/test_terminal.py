"""The command on a terminal, in a real interactive bash: size, keys, signals, stopped jobs."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DRIVER = f"{sys.executable} -m tests.commands.run.driver"
PROMPT = "READY> "

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")


class Shell:
    """An interactive bash on a terminal of its own."""

    def __init__(self) -> None:
        import pty

        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(PS1=PROMPT, TERM="dumb", HISTFILE="/dev/null", BASH_SILENCE_DEPRECATION_WARNING="1")
            os.execvp("bash", ("bash", "--norc", "--noprofile", "--noediting", "-i"))
        self.resize(31, 99)
        self.expect(PROMPT)
        self.type("stty -echo\n")
        self.expect(PROMPT)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def expect(self, text: str, timeout_s: float = 20.0) -> str:
        """What is shown up to this text."""
        shown, end = "", time.monotonic() + timeout_s
        while text not in shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{text!r} is not in {shown!r}"
            shown += os.read(self.terminal, 1).decode("utf-8", "replace")  # no more than is asked for
        return shown

    def run(self, line: str) -> str:
        """A line and what it shows, up to the next prompt."""
        self.type(f"{line}\n")
        return self.expect(PROMPT).removesuffix(PROMPT)


@pytest.fixture
def shell() -> Iterator[Shell]:
    if not shutil.which("bash"):
        pytest.skip("there is no bash")
    one = Shell()
    yield one
    one.type("\x03\nexit\nexit\n")
    os.close(one.terminal)
    os.waitpid(one.pid, 0)


def test_terminal_size_and_keys(shell: Shell) -> None:
    program = "import os, sys; print([os.isatty(i) for i in range(3)], *os.get_terminal_size()); print(input()[::-1])"
    shell.type(f'{DRIVER} {sys.executable} -uc "{program}"\n')
    shell.expect("[True, True, True] 99 31")
    shell.type("abc\n")
    shell.expect("cba")
    shell.expect(PROMPT)
    assert shell.run("echo $?").strip() == "0"


def test_a_new_size_is_passed_on(shell: Shell) -> None:
    program = (
        "import os, signal; signal.signal(signal.SIGWINCH, lambda *_: print(*os.get_terminal_size()));"
        "print('up'); [signal.pause()]"
    )
    shell.type(f'{DRIVER} {sys.executable} -uc "{program}"\n')
    shell.expect("up")
    shell.resize(40, 120)
    shell.expect("120 40")


def test_ctrl_c_reaches_the_command_once(shell: Shell) -> None:
    script = "trap 'echo int; exit 9' INT; echo up; while :; do sleep 0.1; done"
    shell.type(f'{DRIVER} bash -c "{script}"\n')
    shell.expect("up")
    shell.type("\x03")
    assert shell.expect(PROMPT).count("int") == 1
    assert shell.run("echo $?").strip() == "9"


def test_a_stopped_job_goes_on(shell: Shell) -> None:
    before = shell.run("stty -a")
    shell.type(f"{DRIVER} sh -c 'echo up; read line; echo got $line; exit 6'\n")
    shell.expect("up")
    shell.type("\x1a")
    assert "Stopped" in shell.expect(PROMPT)
    assert shell.run("stty -a") == before
    assert "Stopped" in shell.run("jobs")
    shell.type("fg\n")
    time.sleep(0.3)
    shell.type("word\n")
    shell.expect("got word")
    shell.expect(PROMPT)
    assert shell.run("echo $?").strip() == "6"
    assert shell.run("stty -a") == before


def test_a_job_in_the_background_writes(shell: Shell) -> None:
    shell.type(f"{DRIVER} sh -c 'sleep 0.3; echo from behind' & wait; echo status $?\n")
    assert "from behind" in shell.expect("status 0")


def test_raw_mode_of_the_command(shell: Shell) -> None:
    """A full-screen program sets its terminal, and gets each key as it is typed."""
    program = "import os, sys, tty; tty.setraw(0); os.write(1, b'up'); os.write(1, repr(os.read(0, 1)).encode())"
    shell.type(f'{DRIVER} {sys.executable} -uc "{program}"\n')
    shell.expect("up")
    shell.type("\x03")
    shell.expect(r"b'\x03'")


def test_only_some_streams_are_a_terminal(shell: Shell) -> None:
    program = "import os, sys; print(*(os.isatty(i) for i in range(3))); print(*os.get_terminal_size(2))"
    said = shell.run(f'{DRIVER} {sys.executable} -c "{program}" | cat')
    assert re.sub(r"\s+", " ", said).strip() == "True False True 99 31"
    shell.type(f"{DRIVER} sh -c 'echo up >&2; sleep 20' | cat; echo ended ${{PIPESTATUS[0]}}\n")
    shell.expect("up")
    shell.type("\x03")
    shell.expect("\n")


def test_what_it_leaves_behind_keeps_its_terminal(shell: Shell) -> None:
    assert "now" in shell.run(f"{DRIVER} sh -c '(sleep 1; echo late) & echo now'")
    shell.expect("late")
