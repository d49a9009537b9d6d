"""The command with pipes for its streams: what it writes, how it ends, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DRIVER = (sys.executable, "-m", "tests.commands.run.driver")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals and signals are POSIX's")


def driven(*argv: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run((*DRIVER, *argv), cwd=ROOT, capture_output=True, check=False, timeout=50, **more)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    ("command", "status"),
    [("exit 0", 0), ("exit 1", 1), ("exit 255", 255), ("kill -SEGV $$", -signal.SIGSEGV), ("kill -9 $$", -9)],
)
def test_the_status_is_the_commands_own(command: str, status: int) -> None:
    assert driven("sh", "-c", command).returncode == status


def test_a_script_without_an_interpreter_is_one_for_sh(tmp_path: Path) -> None:
    """As under a shell, env or nohup; what is no text is refused."""
    program = tmp_path / "train"
    program.write_bytes(b'exit "$1"\n')
    program.chmod(0o755)
    assert driven(str(program), "6").returncode == 6
    program.write_bytes(b"\x7fELF\0")
    assert b"exec format error" in driven(str(program), "6").stderr


def test_binary_output_and_both_streams_stay_what_they_are(tmp_path: Path) -> None:
    program = "import os; os.write(1, bytes(range(256)) * 4096); os.write(2, bytes(range(255, -1, -1)))"
    done = driven(sys.executable, "-c", program, env={**os.environ, "KEPT": str(tmp_path / "kept")})
    assert done.stdout == bytes(range(256)) * 4096
    assert done.stderr == bytes(range(255, -1, -1))
    kept = (tmp_path / "kept").read_bytes()
    assert len(kept) == 1 << 20  # and not a byte more
    assert kept.endswith((done.stderr, done.stdout[-1000:]))


def test_one_pipe_for_both_keeps_their_order() -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
    done = subprocess.run(
        (*DRIVER, "sh", "-c", script), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    assert done.stdout == b"".join(b"out %d\nerr %d\n" % (one, one) for one in range(1, 10))


def test_standard_input_is_the_commands() -> None:
    assert driven("cat", input=b"\x00 as it is").stdout == b"\x00 as it is"


def test_a_reader_that_is_gone_ends_the_command_as_ever() -> None:
    line = f"{' '.join(DRIVER)} yes | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(("bash", "-c", line), cwd=ROOT, capture_output=True, check=True, timeout=50)
    assert done.stdout == b"y\n141\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_closed_for_the_command(closed: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = f"""
import os
def is_open(one):
    try:
        os.fstat(one)
    except OSError:
        return '-'
    return '+'
said = ''.join(is_open(one) for one in range(3))
with open({str(told)!r}, 'w') as file:
    file.write(said)
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    line = f"{' '.join(DRIVER)} {sys.executable} -S {script} {closed}"
    subprocess.run(("bash", "-c", line), cwd=ROOT, check=False, timeout=50, capture_output=True)
    expected = {"<&-": "-++", ">&-": "+-+", "2>&-": "++-"}.get(closed, "---")
    assert told.read_text() == expected


def test_a_signal_to_us_is_one_to_the_command() -> None:
    script = "trap 'echo got it; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen((*DRIVER, "bash", "-c", script), cwd=ROOT, stdout=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.stdout.read() == b"got it\n"
    assert running.returncode == 7


def test_what_was_ignored_stays_ignored() -> None:
    """As nohup does it."""
    line = f"trap '' HUP; {' '.join(DRIVER)} {sys.executable} -c 'import signal; print(signal.getsignal(1).name)'"
    done = subprocess.run(("bash", "-c", line), cwd=ROOT, capture_output=True, check=True, timeout=50)
    assert done.stdout == b"SIG_IGN\n"


@pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals")
def test_the_command_does_not_outlive_us() -> None:
    """What kills a program that hangs (`timeout -s KILL`, a CI) must free the GPU that the command holds."""
    with subprocess.Popen((*DRIVER, "sh", "-c", "echo $$; sleep 60"), cwd=ROOT, stdout=subprocess.PIPE) as running:
        assert running.stdout
        stat = Path(f"/proc/{int(running.stdout.readline())}/stat")
        running.kill()
        for _ in range(200):
            if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.02)
    pytest.fail("it lived on")


def test_a_command_that_stops_stops_us() -> None:
    with subprocess.Popen((*DRIVER, "sh", "-c", "kill -STOP $$; exit 5"), cwd=ROOT, start_new_session=True) as running:
        _, status = os.waitpid(running.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        os.kill(running.pid, signal.SIGCONT)
        assert running.wait(20) == 5


def test_what_it_leaves_behind_keeps_its_output(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    with subprocess.Popen(
        (*DRIVER, "sh", "-c", f"(read x < {tmp_path}/go; echo late) & echo now"), cwd=ROOT, stdout=subprocess.PIPE
    ) as running:
        assert running.wait(20) == 0
        (tmp_path / "go").write_text("\n")  # which nobody waited for
        assert running.stdout
        assert running.stdout.read() == b"now\nlate\n"


def test_lines_that_follow_one_another_are_passed_on_together() -> None:
    """Each piece costs a wake-up; that of a large one is no matter, and none waits behind a pause."""
    from doctor.commands.run.pty_streams import Pump, Stream

    (read, write), (echoed, ours) = os.pipe(), os.pipe()
    pieces: list[bytes] = []
    pump = Pump(Stream(ours, 1, read), pieces.append)
    began = time.monotonic()
    pump.start()
    for _ in range(300):
        os.write(write, b"a line\n")
        time.sleep(0.0005)
    os.close(write)
    pump.wait()
    took = time.monotonic() - began
    assert b"".join(pieces) == b"a line\n" * 300 == os.read(echoed, 1 << 16)
    assert len(pieces) <= took / 0.02 + 2  # the first one, and the end
    os.close(ours)
    os.close(echoed)
