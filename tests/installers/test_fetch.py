"""A download arrives whole and verified, or is refused with one line; every fault is a real server's."""

from __future__ import annotations

import gc
import hashlib
import random
import re
import socket
import time
from pathlib import Path

import pytest

from installers.apply import apply
from installers.digest import DigestMismatch, LoginPage, NoDigest, verify_file
from installers.errors import InstallError
from installers.fetch import BadAnswer, BrokenOff, FetchError, Limits, TooLarge, TooSlow, _session, fetch
from installers.journal import State
from installers.plan import Plan
from installers.progress import Progress
from installers.steps.copy_tree import CopyTree, NotInArchive
from installers.steps.download import Download
from tests.installers import trees
from tests.installers.server import answering, serving

CONTENT = random.Random(3).randbytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HASTY = Limits(connect_s=2, stall_s=0.3, tries=3, pause_s=0.01)


def download(url: str, sha256: tuple[str, ...] = (SHA256,), size_bytes: int | None = len(CONTENT)) -> Download:
    return Download(url, "cudnn.tgz", sha256, size_bytes, "manifest", "the archive")


@pytest.mark.parametrize(
    "faults",
    [
        ("",),
        ("redirect", ""),
        ("no length",),
        ("encoded",),
        ("cut", ""),
        ("cut", "cut", "cut", "cut", "cut", ""),
        ("cut", "whole"),
        ("cut", "other range", ""),
        ("cut", "redirect", ""),
        ("stall", ""),
        ("status 503", ""),
        ("status 500", "cut", "status 429", ""),
    ],
)
@pytest.mark.parametrize("size_bytes", [len(CONTENT), None])
def test_it_arrives(tmp_path: Path, faults: tuple[str, ...], size_bytes: int | None) -> None:
    with serving(CONTENT, *faults) as server:
        fetch(download(server.url, size_bytes=size_bytes), str(tmp_path / "x"), limits=HASTY)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("faults", "error", "says"),
    [
        (("flip",), DigestMismatch, "SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}"),
        (("more",), TooLarge, ": the file is larger than the expected 3000000 bytes"),
        (("page",), LoginPage, "web page"),
        (("unnamed page",), LoginPage, "web page"),
        (("cut", "page"), LoginPage, "web page"),
        (("redirect", "page"), LoginPage, "elsewhere"),
        (("loop",), BadAnswer, "more than 10 redirects"),
        (("status 404",), BadAnswer, "404"),
        (("status 403",), BadAnswer, "403"),
        (("status 503",), BrokenOff, "503"),
        (("stall", "status 503"), BrokenOff, "503"),
    ],
)
def test_it_is_refused(tmp_path: Path, faults: tuple[str, ...], error: type[InstallError], says: str) -> None:
    with serving(CONTENT, *faults) as server, pytest.raises(error, match=says) as caught:
        fetch(download(server.url), str(tmp_path / "x"), limits=HASTY)
    assert not (tmp_path / "x").exists()
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def _answer(*headers: bytes, status: bytes = b"200 OK", body: bytes = b"") -> bytes:
    return b"\r\n".join((b"HTTP/1.1 " + status, *headers, b"", body))


@pytest.mark.parametrize(
    "said",
    [
        _answer(b"Content-Length: " + b"9" * 5000),  # more digits than Python takes for a number
        _answer(b"Content-Range: bytes " + b"9" * 5000 + b"-1/1", status=b"206 Partial"),
        _answer(b"Content-Range: bytes */" + b"9" * 5000, status=b"416 Beyond"),
        _answer(b"Transfer-Encoding: chunked", body=b"-5\r\nabc"),
        _answer(b"Location: http://[::1", status=b"302 Found"),
        _answer(b"Location: \xff\xfe", status=b"302 Found"),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_no_http_is_refused(tmp_path: Path, said: bytes) -> None:
    with answering(said) as url, pytest.raises(FetchError) as caught:
        fetch(download(url), str(tmp_path / "x"), limits=HASTY)
    assert "\n" not in str(caught.value)
    del caught
    gc.collect()  # requests drops a connection whose redirect it cannot read: its warning belongs to this test


def test_a_byte_now_and_then_is_not_waited_for(tmp_path: Path) -> None:
    def drip(client: socket.socket, _: bytes) -> None:
        client.sendall(_answer(b"Content-Length: 3000000"))
        while True:
            client.sendall(b"x")
            time.sleep(0.02)

    limits = HASTY._replace(stall_s=10, slow_s=0.4, slow_bytes=1000)
    with answering(drip) as url, pytest.raises(TooSlow, match=r"bytes in 0\.4 s is too slow"):
        fetch(download(url), str(tmp_path / "x"), limits=limits)


def test_one_try_after_the_other_is_no_faster(tmp_path: Path) -> None:
    def two_bytes(client: socket.socket, asked: bytes) -> None:
        start = int((re.search(rb"bytes=(\d+)-", asked) or [b"", b"0"])[1])
        place = f"Content-Range: bytes {start}-2999999/3000000".encode()
        status = b"206 Partial" if start else b"200 OK"
        client.sendall(_answer(place, b"Content-Length: %d" % (3_000_000 - start), status=status, body=b"xy"))

    limits = HASTY._replace(stall_s=10, slow_s=0.4, slow_bytes=1000)
    with answering(two_bytes) as url, pytest.raises(TooSlow):
        fetch(download(url), str(tmp_path / "x"), limits=limits)


def test_nobody_is_sent_to_this_machine(tmp_path: Path) -> None:
    """A mirror must not have us ask a service that only this machine can reach."""
    with serving(CONTENT) as server:
        away = download("https://mirror.example/x")
        with _session(away) as session, pytest.raises(BadAnswer, match="not encrypted"):
            session.get(server.url)
        assert server.seen == []


def test_a_server_that_stalls_for_ever(tmp_path: Path) -> None:
    limits = HASTY._replace(tries=1)
    with serving(CONTENT, "stall") as server, pytest.raises(BrokenOff, match=r"stopped sending after 1\d{6} bytes"):
        fetch(download(server.url), str(tmp_path / "x"), limits=limits)
    with serving(CONTENT, "") as server:
        fetch(download(server.url), str(tmp_path / "x"))
        ((_, wanted),) = server.seen
    assert re.fullmatch(r"bytes=1\d{6}-", wanted), "what had arrived was not fetched again"


def test_nobody_answers(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(BrokenOff) as failed:
            fetch(download(url), str(tmp_path / "x"), limits=HASTY)
    assert str(failed.value) == f"{url}: no connection (connection refused)"


def test_a_name_that_no_server_has(tmp_path: Path) -> None:
    url = "https://no-such-server.invalid/x"  # RFC 2606
    with pytest.raises(BrokenOff) as failed:
        fetch(download(url), str(tmp_path / "x"), limits=HASTY)
    assert re.fullmatch(re.escape(f"{url}: no connection (") + r"[a-z0-9 ,()-]{5,60}\)", str(failed.value))


@pytest.mark.parametrize("url", ["http://", "ftp://127.0.0.1/x", "nonsense"])
def test_odd_addresses(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadAnswer):
        fetch(download(url), str(tmp_path / "x"), limits=HASTY)


@pytest.mark.parametrize(
    ("part", "requests"),
    [
        (CONTENT[:1000], 1),
        (b"other" * 1000, 2),  # of another file: thrown away once
        (CONTENT + b"x", 1),  # more than the file has
        (CONTENT, 0),
        (bytes(len(CONTENT)), 1),
    ],
)
def test_parts_that_lie_there(tmp_path: Path, part: bytes, requests: int) -> None:
    (tmp_path / "x.part").write_bytes(part)
    with serving(CONTENT) as server:
        fetch(download(server.url), str(tmp_path / "x"), limits=HASTY)
        assert len(server.seen) == requests
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_whole_part_of_unknown_size(tmp_path: Path) -> None:
    (tmp_path / "x.part").write_bytes(CONTENT)
    with serving(CONTENT) as server:
        fetch(download(server.url, size_bytes=None), str(tmp_path / "x"), limits=HASTY)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_the_cap_holds_for_files_of_unknown_size(tmp_path: Path) -> None:
    limits = HASTY._replace(cap_bytes=1_000_000)
    with serving(CONTENT, "no length") as server, pytest.raises(TooLarge):
        fetch(download(server.url, size_bytes=None), str(tmp_path / "x"), limits=limits)
    assert (tmp_path / "x.part").stat().st_size == 0


def test_without_a_digest_nothing_is_fetched(tmp_path: Path) -> None:
    with serving(CONTENT) as server:
        with pytest.raises(NoDigest):
            fetch(download(server.url, ()), str(tmp_path / "x"))
        assert server.seen == []


def test_any_of_several_digests(tmp_path: Path) -> None:
    with serving(CONTENT) as server:
        fetch(download(server.url, ("0" * 64, SHA256.upper())), str(tmp_path / "x"))
    assert (tmp_path / "x").exists()


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    with serving(CONTENT) as server:
        fetch(download(server.url), str(tmp_path / "x"), told.append)
    assert told[-1] == Progress("download", "cudnn.tgz", len(CONTENT), len(CONTENT))


def test_a_file_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "page.tgz").write_bytes(b"<!doctype html>\n<title>Log in</title>")
    with pytest.raises(LoginPage, match="login page"):
        verify_file(str(tmp_path / "page.tgz"), (SHA256,))
    (tmp_path / "good.tgz").write_bytes(CONTENT)
    verify_file(str(tmp_path / "good.tgz"), (SHA256,))


def test_downloaded_unpacked_and_copied(tmp_path: Path) -> None:
    """The whole way, over a connection that breaks; what a failed run fetched is not fetched again."""
    cuda, content = trees.toolkit(tmp_path), trees.archive(tmp_path).read_bytes()
    state = State(str(tmp_path / "state"))
    with serving(content, "cut", "") as server:
        first = download(server.url, (hashlib.sha256(content).hexdigest(),), len(content))
        steps = trees.plan(cuda, tmp_path / f"{trees.STEM}.tar.xz").steps
        plan = Plan("install", (first._replace(to="cudnn.tar.xz"), *steps[1:]))
        with pytest.raises(NotInArchive):
            apply(plan._replace(steps=(*plan.steps, CopyTree("", str(cuda), ("missing",), ""))), state)
        apply(plan, state)
        assert [wanted for _, wanted in server.seen] == ["", f"bytes={len(content) // 2}-"]
    assert (cuda / "lib64/libcudnn.so").read_bytes() == b"new" * 80_000
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["journal", "lock"]
