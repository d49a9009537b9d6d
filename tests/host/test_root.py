"""A root directory: nothing leaves it, nothing in it hangs or exhausts the reader."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.host import HostError, Missing, NotRunnable, Unreadable
from doctor.host import root as root_module
from doctor.host.root import NotADirectory, RootHost
from tests.hostile.guard import guard_of
from tests.probes.tree import offline


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A secret beside the root."""
    secret = tmp_path / "secret"
    secret.write_text("outside", encoding="utf-8")
    return secret


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("/etc/leak", "{secret}"),
        ("/etc/leak", "../../../../../../{secret}"),
        ("/etc/leak", "../../secret"),
        ("/etc/leak", "/../secret"),
        ("/leak", "../secret"),
    ],
)
def test_no_link_leaves_the_root(tmp_path: Path, outside: Path, link: str, target: str) -> None:
    host = offline(tmp_path / "root", {"/etc/": "", link: f"-> {target.format(secret=outside)}"})
    for ask in (host.read_bytes, host.open, host.names, host.status, host.real_path):
        with pytest.raises(HostError):
            ask(link)
    assert not host.exists(link)


@pytest.mark.parametrize("path", ["/../secret", "../secret", "/etc/../../secret", "/etc/./.././../secret"])
def test_dots_stop_at_the_root(tmp_path: Path, outside: Path, path: str) -> None:
    host = offline(tmp_path / "root", {"/secret": "inside", "/etc/": ""})
    assert host.read_text(path) == "inside"


@pytest.mark.parametrize(
    ("tree", "path", "real"),
    [
        ({"/opt/cuda/f": "x", "/usr/cuda": "-> /opt/cuda"}, "/usr/cuda/f", "/opt/cuda/f"),
        ({"/opt/cuda/f": "x", "/usr/cuda": "-> ../opt/cuda"}, "/usr/cuda/f", "/opt/cuda/f"),
        ({"/opt/cuda/f": "x", "/a": "-> /b", "/b": "-> /c", "/c": "-> opt//cuda/./"}, "/a/f", "/opt/cuda/f"),
        ({"/usr/lib/f": "x", "/lib": "-> usr/lib"}, "/lib/../lib/f", "/usr/lib/f"),
        ({"/x/y/f": "x", "/l": "-> /x/y"}, "/l/../y/f", "/x/y/f"),
    ],
)
def test_links_lead_inside(tmp_path: Path, tree: dict[str, str], path: str, real: str) -> None:
    host = offline(tmp_path, tree)
    assert (host.read_text(path), host.real_path(path)) == ("x", real)


@pytest.mark.parametrize(
    "tree",
    [
        {"/a": "-> a"},
        {"/a": "-> /b", "/b": "-> /a"},
        {"/a": "-> a/a/a/a/a/a/a/a"},
        {"/a": "-> ./x/../a", "/x/": ""},
        {f"/{number}": f"-> /{number + 1}/{number + 1}" for number in range(39)} | {"/a": "-> /0/0/0/0/0/0"},
    ],
)
def test_loops_end(tmp_path: Path, tree: dict[str, str]) -> None:
    host = offline(tmp_path, tree)
    started = time.thread_time()
    with pytest.raises(HostError):
        host.read_bytes("/a")
    assert time.thread_time() - started < 1
    assert not host.exists("/a")


def test_links_of_many_steps_are_bounded_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty links of two thousand components in each of thousands of paths would take hours."""
    monkeypatch.setattr(root_module, "_LINKS_PARTS_AT_MOST", 50)
    host = offline(tmp_path, {"/x/f": "here", "/near": "-> /x", "/far": "-> " + "/x/.." * 10 + "/x"})
    assert host.read_text("/far/f") == "here"
    assert host.read_text("/far/f") == "here"
    with pytest.raises(Unreadable, match="50 components"):
        host.read_text("/far/f")
    assert host.read_text("/x/f") == "here"  # what no link leads to is still there


def test_a_chain_as_long_as_the_kernel_allows(tmp_path: Path) -> None:
    tree = {f"/{number}": f"-> {number + 1}" for number in range(40)} | {"/40": "end"}
    assert offline(tmp_path, tree).read_text("/0") == "end"
    (tmp_path / "start").symlink_to("0")
    with pytest.raises(Unreadable, match="loop"):
        RootHost(str(tmp_path)).read_text("/start")


def test_links_are_told_apart(tmp_path: Path) -> None:
    host = offline(tmp_path, {"/f": "x", "/l": "-> /f", "/dangling": "-> /no"})
    assert (host.status("/l").kind, host.link_status("/l").kind, host.link_target("/l")) == ("file", "link", "/f")
    assert (host.link_status("/dangling").kind, host.exists("/dangling")) == ("link", False)
    with pytest.raises(Missing):
        host.real_path("/dangling")
    with pytest.raises(HostError):
        host.link_target("/f")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    host = offline(tmp_path, {"/link": "-> fifo"})
    for path in ("/fifo", "/link"):
        for ask in (host.read_bytes, host.open):
            with pytest.raises(Unreadable, match="not a regular file"):
                ask(path)
    assert (host.status("/link").kind, host.is_file("/fifo")) == ("other", False)


def test_a_sparse_giant_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "version.json").open("wb") as stream:
        stream.truncate(2 << 30)
    host = RootHost(str(tmp_path))
    started = time.thread_time()
    with pytest.raises(Unreadable, match="larger than"):
        host.read_bytes("/version.json")
    assert time.thread_time() - started < 1
    with host.open("/version.json") as stream:
        assert stream.read(4) == b"\0\0\0\0"


def test_directories_and_files_in_each_others_place(tmp_path: Path) -> None:
    host = offline(tmp_path, {"/file": "x", "/dir/": ""})
    for ask in (host.read_bytes, host.open):
        with pytest.raises(Unreadable):
            ask("/dir")
    with pytest.raises(HostError):
        host.names("/file")
    with pytest.raises(Missing):
        host.read_bytes("/file/below")
    assert host.names("/") == ("dir", "file")


@pytest.mark.parametrize("path", ["/a\0b", "\0", "/" + "x" * 300, "/" + "d/" * 3000 + "f", ""])
def test_impossible_paths(tmp_path: Path, path: str) -> None:
    host = offline(tmp_path, {"/etc/": ""})
    for ask in (host.read_bytes, host.open, host.link_target):
        with pytest.raises(HostError):
            ask(path)
    assert not host.is_file(path)


def test_a_link_to_an_impossible_path(tmp_path: Path) -> None:
    host = offline(tmp_path, {"/long": f"-> /{'y' * 255}/{'z' * 3000}"})
    with pytest.raises(HostError):
        host.read_bytes("/long")


def test_a_deep_tree_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path / "d"
    deep.mkdir()
    for _ in range(300):
        deep /= "d"
        deep.mkdir()
    (tmp_path / "l").symlink_to("d/" * 300)
    started = time.thread_time()
    host = RootHost(str(tmp_path))
    assert host.is_dir("/l")
    with pytest.raises(HostError):
        host.read_bytes("/l" + "/x" * 1000)
    assert time.thread_time() - started < 2


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    host = RootHost(str(tmp_path))
    (name,) = host.names("/")
    assert host.read_text(f"/{name}") == "x"


def test_too_many_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.host.files.LISTING_LIMIT", 10)
    host = offline(tmp_path, {f"/d/{number}": "" for number in range(11)})
    with pytest.raises(Unreadable, match="more than 10 entries"):
        host.names("/d")


def test_nothing_is_run(tmp_path: Path) -> None:
    host = offline(tmp_path, {"/bin/true": "#!/bin/sh\n"})
    (tmp_path / "bin/true").chmod(0o755)
    for ask in (lambda: host.run(("/bin/true",)), lambda: host.refuse_unsafe("/bin/true")):
        with pytest.raises(NotRunnable):
            ask()
    for look in (
        host.kernel_machine,
        host.libc_version,
        lambda: host.space_bytes("/"),
        lambda: host.drain("/dev/kmsg"),
    ):
        with pytest.raises(Unreadable):
            look()
    assert (host.is_live, dict(host.environ), host.may_access("/bin/true", "x")) == (False, {}, False)


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_what_is_no_root(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("x", encoding="utf-8")
    with pytest.raises(NotADirectory, match="not a directory"):
        RootHost(str(place))


WINDOWS = {"/Windows/System32/nvcuda.dll": "dll", "/Program Files/NVIDIA/CuDNN/Bin/x.dll": "x"}


@pytest.mark.parametrize(
    "path",
    [
        "C:/Windows/System32/nvcuda.dll",
        "c:\\windows\\SYSTEM32\\NVCUDA.DLL",
        "/WINDOWS/system32/nvcuda.dll",
        "D:/Windows/System32/../System32/nvcuda.dll",
    ],
)
def test_a_windows_disk_in_any_case(tmp_path: Path, path: str) -> None:
    host = offline(tmp_path, WINDOWS)
    assert (host.os_family, host.read_text(path)) == ("windows", "dll")
    assert host.real_path(path) == "C:/Windows/System32/nvcuda.dll"


def test_a_windows_link_in_any_case(tmp_path: Path) -> None:
    host = offline(tmp_path, {**WINDOWS, "/Users/link": "-> C:\\program files\\nvidia"})
    assert host.read_text("c:/users/LINK/cudnn/bin/X.dll") == "x"


@pytest.mark.parametrize(
    ("tree", "family"),
    [
        ({"/Windows/": "", "/etc/": ""}, "linux"),
        ({"/WINDOWS/": ""}, "windows"),
        ({"/System/": "", "/Applications/": ""}, "macos"),
        ({}, "linux"),
    ],
)
def test_family(tmp_path: Path, tree: dict[str, str], family: str) -> None:
    assert offline(tmp_path, tree).os_family == family


def test_linux_names_keep_their_case(tmp_path: Path) -> None:
    assert not offline(tmp_path, {"/etc/passwd": "x"}).exists("/ETC/passwd")


def test_a_directory_that_is_exchanged_for_a_link_does_not_lead_outside(tmp_path: Path) -> None:
    """Somebody in the running container swaps a directory while it is scanned: every answer is the image's own."""
    secret = tmp_path / "outside"
    (secret / "lib").mkdir(parents=True)
    (secret / "lib" / "secret").write_text("outside")
    offline(tmp_path / "root", {"/opt/cuda/lib/inside": "inside", "/spare": f"-> {secret}"})
    stop = threading.Event()

    def exchange() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        names = [os.fsencode(tmp_path / "root" / name) for name in ("opt/cuda", "spare")]
        while not stop.is_set():
            libc.renameat2(-100, names[0], -100, names[1], 2)  # AT_FDCWD, RENAME_EXCHANGE

    swapping = threading.Thread(target=exchange)
    swapping.start()
    try:
        seen = {one for _ in range(400) for one in looked_at(tmp_path / "root")}
    finally:
        stop.set()
        swapping.join()
    assert "inside" in seen  # the swap lets the tree through now and then
    assert not seen & {"secret", "outside"}


def looked_at(root: Path) -> Iterator[str]:
    host = RootHost(str(root))
    for _ in range(5):
        with contextlib.suppress(HostError):
            yield from host.names("/opt/cuda/lib")
        for path in ("/opt/cuda/lib/secret", "/opt/cuda/lib/inside"):
            with contextlib.suppress(HostError):
                yield host.read_text(path)


@pytest.mark.skipif(not os.path.exists("/proc/self/root"), reason="no /proc here")
def test_the_root_of_a_running_process(tmp_path: Path) -> None:
    """/proc/PID/root reads as a link to "/", and is the directory that the process has for its root."""
    done = subprocess.run(
        [sys.executable, "-c", CHROOTED, str(tmp_path)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode == 77:
        pytest.skip("chroot needs root")
    assert done.stdout == "('marker',)\n", done.stderr


ROOT = Path(__file__).resolve().parents[2]
CHROOTED = """
import os, sys, time
from doctor.host.root import RootHost
open(os.path.join(sys.argv[1], "marker"), "w").close()
started, ready = os.pipe()
child = os.fork()
if not child:
    try:
        os.chroot(sys.argv[1])
    except PermissionError:
        os._exit(77)
    os.write(ready, b"x")
    time.sleep(60)
os.close(ready)
if not os.read(started, 1):
    os._exit(77)
print(RootHost(f"/proc/{child}/root").names("/"))
os.kill(child, 9)
"""


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    host = offline(tmp_path, {f"/{number}/a/b/c": "x" for number in range(200)})
    for number in range(200):
        host.read_text(f"/{number}/a/b/c")
    assert len(os.listdir("/proc/self/fd")) < before + 140
    del host
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_empty_name_is_not_the_working_directory() -> None:
    with pytest.raises(NotADirectory, match="empty"):
        RootHost("")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="by the kernel's own account")
def test_what_is_no_regular_file_is_not_even_opened(tmp_path: Path) -> None:
    """An image may hold the node of a watchdog: opening it would restart the machine."""
    os.mkfifo(tmp_path / "watchdog")
    (tmp_path / "file").write_text("x")
    guard = guard_of([os.fsencode(tmp_path)])
    host = RootHost(str(tmp_path))
    guard.opened()
    with pytest.raises(Unreadable, match="not a regular file"):
        host.read_bytes("/watchdog")
    assert guard.opened() == []
    assert host.read_bytes("/file") == b"x"
    assert guard.opened() != []
