"""Where reports go."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from doctor.output import write
from doctor.output.write import NotWritten, style_of, write_file, write_new


def test_a_file_is_replaced_whole_and_leaves_no_part(tmp_path: Path) -> None:
    target = tmp_path / "report"
    target.write_text("old")
    write_file(str(target), "new\n")
    assert target.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    """root's umask may be 077, and the node exporter another user."""
    report = tmp_path / "gpu.prom"
    report.write_text("old")
    report.chmod(mode)
    before = os.umask(0o077)
    try:
        write_file(str(report), "new")
    finally:
        os.umask(before)
    assert (report.read_text(), report.stat().st_mode & 0o777) == ("new", mode)


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_READER_WITHIN_S", 0.06)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotWritten, match="pipe: no process reads from this pipe"):
        write_file(str(tmp_path / "pipe"), "text")


def read_late(pipe: Path) -> str:
    time.sleep(0.06)
    return pipe.read_text()


def test_a_reader_that_comes_late_gets_all_of_it(tmp_path: Path) -> None:
    """More than a pipe holds: what was opened without waiting is then written to with waiting."""
    pipe, text = tmp_path / "pipe", "x" * 200_000
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_late, pipe)
        write_file(str(pipe), text)
        assert reading.result() == text


def test_writers_at_the_same_time_leave_one_whole_text(tmp_path: Path) -> None:
    """Also where they have the same process id, as in containers that share a directory."""
    target, texts = tmp_path / "report.prom", [f"{one}" * 100_000 for one in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_file(str(target), text), texts))
    assert target.read_text() in texts
    assert os.listdir(tmp_path) == ["report.prom"]


@pytest.mark.skipif(os.name != "posix", reason="files of Windows have no number of a user")
def test_a_link_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In /tmp it would let anybody choose which file a report of root's replaces."""
    (tmp_path / "shadow").write_text("kept")
    (tmp_path / "report.json").symlink_to("shadow")
    if os.geteuid() == 0:
        os.lchown(tmp_path / "report.json", 4712, 4712)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(NotWritten, match="a link that another user made"):
        write_file(str(tmp_path / "report.json"), "text")
    assert (tmp_path / "shadow").read_text() == "kept"
    assert sorted(os.listdir(tmp_path)) == ["report.json", "shadow"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a link to another user")
@pytest.mark.parametrize("put", [write_file, write_new])
@pytest.mark.parametrize("named", ["theirs/r.json", "theirs/below/r.json", "own/theirs/r.json", "own.json"])
def test_root_writes_through_no_directory_link_of_another_user(
    tmp_path: Path, named: str, put: Callable[[str, str], None]
) -> None:
    (tmp_path / "etc" / "below").mkdir(parents=True)
    (tmp_path / "theirs").symlink_to("etc")
    (tmp_path / "own").symlink_to(".")
    (tmp_path / "own.json").symlink_to("theirs/r.json")
    put(str(tmp_path / "own" / "r.json"), "text")  # a link of root's own is followed
    os.lchown(tmp_path / "theirs", 4712, 4712)
    with pytest.raises(NotWritten, match="a link that another user made" if put is write_file else named):
        put(str(tmp_path / named), "text")
    assert [one.name for one in (tmp_path / "etc").rglob("*")] == ["below"]


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(NotWritten, match="link: "):
        write_file(str(tmp_path / "link"), "text")


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(str(pipe), "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="a system without /dev/fd")
def test_a_pipe_without_a_name_is_written_to() -> None:
    """What /dev/stdout is in a pipeline: a link to "pipe:[4711]", which is no path."""
    reader, writer = os.pipe()
    write_file(f"/dev/fd/{writer}", "text")
    os.close(writer)
    assert os.read(reader, 10) == b"text"
    os.close(reader)


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    for bad in (tmp_path, tmp_path / "missing" / "report"):
        with pytest.raises(NotWritten, match=str(bad)):
            write_file(str(bad), "text")


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("encoding", "environ", "colour", "symbols"),
    [
        ("utf-8", {}, True, True),
        ("utf-8", {"NO_COLOR": "1"}, False, True),
        ("utf-8", {"TERM": "dumb"}, False, True),
        ("ascii", {}, True, False),
    ],
)
def test_looks(encoding: str, environ: dict[str, str], colour: bool, symbols: bool) -> None:
    look = style_of(Terminal(encoding), environ)
    assert (look.colour, look.symbols) == (colour, symbols)


def test_no_colour_but_on_a_terminal() -> None:
    assert style_of(io.StringIO(), {}).colour is False


THEM = 4712


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_directory_that_becomes_a_link_while_root_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner exchanges it after it was looked at."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "theirs").mkdir()
    random = os.urandom

    def exchanging(size: int) -> bytes:
        (tmp_path / "theirs").rename(tmp_path / "moved")
        (tmp_path / "theirs").symlink_to("etc")
        os.lchown(tmp_path / "theirs", THEM, THEM)
        return random(size)

    monkeypatch.setattr(os, "urandom", exchanging)
    write_file(str(tmp_path / "theirs" / "report"), "text")
    assert (tmp_path / "moved" / "report").read_text() == "text"
    assert os.listdir(tmp_path / "etc") == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a link to another user")
@pytest.mark.parametrize("what", ["link", "file"])
def test_a_pipe_that_becomes_something_else_while_root_waits_for_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    shadow, pipe = tmp_path / "shadow", tmp_path / "pipe"
    shadow.write_text("kept")
    os.mkfifo(pipe)

    def exchanging(_: float) -> None:
        pipe.unlink(missing_ok=True)
        if what == "file":
            os.link(shadow, pipe)
        else:
            pipe.symlink_to("shadow")
            os.lchown(pipe, THEM, THEM)

    monkeypatch.setattr(time, "sleep", exchanging)
    monkeypatch.setattr(write, "_READER_WITHIN_S", 0.5)
    try:
        write_file(str(pipe), "text")
    except NotWritten:
        assert what == "link"
    assert shadow.read_text() == "kept"


def test_what_a_redirection_leads_to_is_appended_to(tmp_path: Path) -> None:
    """As `>>` of a shell: `--output /dev/stdout` must not cut what others wrote there."""
    with open(tmp_path / "log", "w") as log:
        log.write("before\n")
        log.flush()
        write_file(f"/dev/fd/{log.fileno()}", "text")
    assert (tmp_path / "log").read_text() == "before\ntext"
