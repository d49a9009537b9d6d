"""Progress: a line on a terminal's standard error for what takes long, and nothing in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from doctor.cli._status_line import progress_of

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")


def on_a_terminal(*argv: str, **variables: str) -> tuple[str, str]:
    """Standard output, and what stood on the terminal that standard error was."""
    leader, follower = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GPUDOCTOR_CACHE": "", **variables}
    with subprocess.Popen(
        [sys.executable, *argv], stdout=subprocess.PIPE, stderr=follower, text=True, env=env
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # how Linux tells that the other side is closed
                break
            if not piece:
                break
            shown += piece
        output = process.stdout.read() if process.stdout else ""
    os.close(leader)
    return output, shown.decode()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A root tar that is packed, of which reading takes some steps."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\n")
    (tmp_path / "etc/much").write_bytes(os.urandom(8 << 20))
    path = tmp_path / "image.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        tar.add(tmp_path / "etc", "etc")
    return path


IMPATIENT = (
    "import sys; from doctor.cli import _status_line, main; _status_line._PATIENCE_S = _status_line._BLINK_S = 0; "
    "sys.argv = ['gpudoctor', 'check', '--image', sys.argv[1]]; main()"
)


def test_an_image_shows_how_far_it_is_and_leaves_no_trace(image: Path) -> None:
    output, shown = on_a_terminal("-c", IMPATIENT, str(image))
    assert "reading image.tar.gz: " in shown
    assert " % of 8 MiB" in shown
    assert shown.endswith("\r\x1b[K")
    assert "reading image" not in output


def test_what_is_quick_shows_nothing(image: Path) -> None:
    assert on_a_terminal("-m", "gpudoctor", "check", "--image", str(image))[1] == ""


def test_nothing_in_a_pipe(image: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GPUDOCTOR_CACHE": ""}
    argv = [sys.executable, "-c", IMPATIENT, str(image)]
    assert subprocess.run(argv, env=env, capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, None, ""),
        (50 << 20, 200 << 20, ": 25 % of 200 MiB, 10 MiB/s, 15 s left"),
        (50 << 20, None, ": 50 MiB, 10 MiB/s"),
        (50 << 20, 40 << 20, ": 50 MiB, 10 MiB/s"),
    ],
)
def test_how_far_it_is(done: int, total: int | None, text: str) -> None:
    assert progress_of(done, total, 5.0) == text
