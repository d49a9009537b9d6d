"""The loader's search path, cache and preloads."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.loader import cache as loader_cache
from doctor.model.facts.loader import CacheEntry, FoundBy
from doctor.model.facts.seen import Place, Seen, Unseen
from doctor.probes import loader

_LIBRARIES = (
    ("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", 0x0303),
    ("libcudnn.so.9", "/opt/cudnn/lib/libcudnn.so.9", 0x0303),
    ("libcudnn.so.9", "/opt/arm/lib/libcudnn.so.9", 0x0A03),
    ("libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1", 0x0003),
    ("libcurl.so.4", "/lib/x86_64-linux-gnu/libcurl.so.4", 0x0303),
    ("libnccl.so.2", "/usr/lib/x86_64-linux-gnu/libnccl.so.2", 0x0303),
)
_ENTRIES = (
    CacheEntry("libcudnn.so.9", "/opt/cudnn/lib/libcudnn.so.9", "x86_64"),
    CacheEntry("libcudnn.so.9", "/opt/arm/lib/libcudnn.so.9", "aarch64"),
    CacheEntry("libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1", "i386"),
    CacheEntry("libnccl.so.2", "/usr/lib/x86_64-linux-gnu/libnccl.so.2", "x86_64"),
)


def _new_cache(order: str = "<") -> bytes:
    strings, places = _strings(48 + 24 * len(_LIBRARIES))
    table = b"".join(
        struct.pack(f"{order}iIIIQ", flags, places[name], places[path], 0, 0) for name, path, flags in _LIBRARIES
    )
    endian = 2 if order == "<" else 3
    head = b"glibc-ld.so.cache1.1" + struct.pack(f"{order}II4B4I", len(_LIBRARIES), len(strings), endian, *[0] * 7)
    return head + table + strings


def _old_cache() -> bytes:
    strings, places = _strings(0)
    table = b"".join(struct.pack("<iII", flags, places[name], places[path]) for name, path, flags in _LIBRARIES)
    return b"ld.so-1.7.0\0" + struct.pack("<I", len(_LIBRARIES)) + table + strings


def _both_caches() -> bytes:
    """As ldconfig wrote by default until glibc 2.32: the old table, its strings are those of the new one."""
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + struct.pack("<iII", 0x0303, 0, 0)
    return old.ljust((len(old) + 7) & ~7, b"\0") + _new_cache()


def _strings(start: int) -> tuple[bytes, dict[str, int]]:
    content, places = b"", {}
    for text in dict.fromkeys(one for name, path, _ in _LIBRARIES for one in (name, path)):
        places[text] = start + len(content)
        content += text.encode() + b"\0"
    return content, places


def _write(path: Path, content: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("content", [_new_cache(), _new_cache(">"), _old_cache(), _both_caches()])
def test_every_format_of_the_cache_is_read(tmp_path: Path, content: bytes) -> None:
    _write(tmp_path / "etc/ld.so.cache", content)
    assert loader.look(RootHost(str(tmp_path))).cache == Seen(_ENTRIES, Place("/etc/ld.so.cache"))


@pytest.mark.parametrize("content", [_new_cache(), _old_cache(), _both_caches()])
def test_a_damaged_cache_is_unseen_or_shorter(tmp_path: Path, content: bytes) -> None:
    for size in range(0, len(content), 7):
        _write(tmp_path / "etc/ld.so.cache", content[:size] + b"\xff" * (size % 5))
        cache = loader.look(RootHost(str(tmp_path))).cache
        assert isinstance(cache, Unseen) or set(cache.value) <= set(_ENTRIES)


def test_no_cache_is_something_seen(tmp_path: Path) -> None:
    assert loader.look(RootHost(str(tmp_path))).cache == Seen((), "there is no /etc/ld.so.cache")


@pytest.mark.skipif(shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin") is None, reason="no ldconfig to compare with")
def test_the_live_cache_is_what_ldconfig_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader_cache, "_OF_INTEREST", (b"",))
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin")
    printed = subprocess.run([str(program), "-p"], capture_output=True, text=True, check=True).stdout
    expected = {(line.split()[0], line.split()[-1]) for line in printed.splitlines() if " => " in line}
    cache = loader.look(LiveHost({})).cache
    assert {(one.soname, one.path) for one in cache.get()} == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            ("lib64/ld-linux-x86-64.so.2", "usr/lib/x86_64-linux-gnu/libc.so.6"),
            ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"),
        ),
        (("lib64/ld-linux-x86-64.so.2", "lib64/libc.so.6"), ("/lib64", "/usr/lib64")),
        (("lib64/ld-linux-x86-64.so.2", "usr/lib/libc.so.6"), ("/lib", "/usr/lib")),
        (
            ("lib/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu/libc.so.6"),
            ("/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib", "/usr/lib"),
        ),
        (("lib/ld-musl-x86_64.so.1",), ("/lib", "/usr/local/lib", "/usr/lib")),
        (("usr/lib64/libz.so",), ("/usr/lib64",)),
        ((), ()),
    ],
)
def test_default_directories(tmp_path: Path, files: tuple[str, ...], expected: tuple[str, ...]) -> None:
    for name in files:
        _write(tmp_path / name)
    assert tuple(one.path for one in loader.look(RootHost(str(tmp_path))).search.get()) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/a:/b/", [("/a", True), ("/b", False)]),
        ("/a;/b", [("/a", True), ("/b", False)]),
        ("/a::", [("/a", True), ("/work", False), ("/work", False)]),
        ("", []),
        ("/", [("/", True)]),
    ],
)
def test_library_path(tmp_path: Path, value: str, expected: list[tuple[str, bool]]) -> None:
    (tmp_path / "a").mkdir()
    host = RootHost(str(tmp_path), {"LD_LIBRARY_PATH": value, "PWD": "/work"})
    found = [one for one in loader.look(host).search.get() if one.why is FoundBy.LIBRARY_PATH]
    assert [(one.path, one.exists) for one in found] == expected


def test_windows_searches_path(tmp_path: Path) -> None:
    (tmp_path / "Windows/System32").mkdir(parents=True)
    host = RootHost(str(tmp_path), {"PATH": 'C:\\Windows\\System32;"C:\\Program Files\\NVIDIA";'})
    found = loader.look(host)
    assert [(one.path, one.why, one.exists) for one in found.search.get()] == [
        ("C:/Windows/System32", FoundBy.PATH, True),
        ("C:/Program Files/NVIDIA", FoundBy.PATH, False),
    ]
    assert found.cache.get() == ()


def test_preloads(tmp_path: Path) -> None:
    _write(tmp_path / "etc/ld.so.preload", b"/lib/a.so /lib/b.so\n")
    host = RootHost(str(tmp_path), {"LD_PRELOAD": "x.so:y.so"})
    assert loader.look(host).preload.get() == ("x.so", "y.so", "/lib/a.so", "/lib/b.so")
