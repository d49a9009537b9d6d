"""What is remembered of files: only as long as they are the same, only where it may be, and never at any cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.host import FileStatus
from doctor.host.cache import Cache, cache_directory, cache_for
from doctor.host.live import LiveHost
from doctor.host.root import RootHost

STATUS = FileStatus("file", 10, 0o644, 0, 0, 1234.5678, 1, 2)


def filled(directory: Path) -> Path:
    """A cache with one record; its file."""
    cache = Cache(str(directory))
    cache.put("code", STATUS, {"a": [1]})
    cache.save()
    return directory / "files.json"


def test_a_record_lasts_until_the_next_run(tmp_path: Path) -> None:
    path = filled(tmp_path / "a" / "b")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["files.json"]
    later = Cache(str(path.parent))
    assert later.get("code", STATUS) == {"a": [1]}
    later.save()
    assert Cache("").get("code", STATUS) is None


@pytest.mark.parametrize(
    "other",
    [
        STATUS._replace(device=3),
        STATUS._replace(inode=3),
        STATUS._replace(size_bytes=11),
        STATUS._replace(mtime=1234.5679),
    ],
)
def test_another_file_is_another_record(tmp_path: Path, other: FileStatus) -> None:
    filled(tmp_path)
    cache = Cache(str(tmp_path))
    assert cache.get("code", other) is None
    assert cache.get("package", STATUS) is None


def test_records_that_were_not_asked_for_stay(tmp_path: Path) -> None:
    filled(tmp_path)
    cache = Cache(str(tmp_path))
    assert cache.get("code", STATUS._replace(inode=9)) is None
    cache.put("code", STATUS._replace(inode=9), 1)
    cache.save()
    assert Cache(str(tmp_path)).get("code", STATUS) == {"a": [1]}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"records": 1}', b"\xff\xfe", b"[" * 100_000, b'{"gpudoctor": "0", "records": {}}'],
)
def test_a_damaged_cache_is_no_cache(tmp_path: Path, content: bytes) -> None:
    path = filled(tmp_path)
    path.write_bytes(content)
    assert Cache(str(tmp_path)).get("code", STATUS) is None
    filled(tmp_path)
    assert Cache(str(tmp_path)).get("code", STATUS)


def test_records_of_another_release_do_not_count(tmp_path: Path) -> None:
    path = filled(tmp_path)
    said = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(said | {"gpudoctor": "0.0.0"}), encoding="utf-8")
    assert Cache(str(tmp_path)).get("code", STATUS) is None


@pytest.mark.parametrize("kind", ["link", "fifo", "directory"])
def test_what_lies_in_its_place_is_not_followed(tmp_path: Path, kind: str) -> None:
    real = filled(tmp_path / "real")
    place = tmp_path / "mine" / "files.json"
    place.parent.mkdir()
    if kind == "link":
        place.symlink_to(real)
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    assert Cache(str(place.parent)).get("code", STATUS) is None


def test_where_it_cannot_be_written_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = Cache(str(tmp_path / "file" / "below"))
    cache.put("code", STATUS, 1)
    cache.save()
    assert cache.get("code", STATUS) == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_directory_is_left_alone(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)
    cache = Cache(str(tmp_path / ".cache" / "gpudoctor"))
    cache.put("code", STATUS, 1)
    cache.save()
    assert list(tmp_path.iterdir()) == []
    path = filled(Path("/tmp") / f"gpudoctor-{os.getpid()}")
    try:
        os.chown(path, 12345, 12345)
        assert Cache(str(path.parent)).get("code", STATUS) is None
    finally:
        path.unlink()
        path.parent.rmdir()


PLANTED = ("link", "link to a directory of root's", "directory of theirs", "writable for all", "writable for a group")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("planted", PLANTED)
def test_root_writes_nowhere_that_another_user_can_turn(tmp_path: Path, planted: str) -> None:
    """HOME of another user, as sudo often leaves it: ~/.cache/gpudoctor may lead anywhere."""
    target = tmp_path / "etc"
    target.mkdir()
    home = tmp_path / "home"
    cache = home / ".cache" / "gpudoctor"
    (home / ".cache").mkdir(parents=True)
    if planted == "link":
        cache.symlink_to(target)
        for place in (home, home / ".cache"):
            os.chown(place, 12345, 12345)
        os.lchown(cache, 12345, 12345)
        os.chown(target, 12345, 12345)
    elif planted == "link to a directory of root's":  # they can turn it after it was looked at
        (home / ".cache").rmdir()
        (home / ".cache").symlink_to(target)
        os.chown(home, 12345, 12345)
        os.lchown(home / ".cache", 12345, 12345)
    elif planted == "directory of theirs":
        os.chown(home, 12345, 12345)
    else:
        (home / ".cache").chmod(0o777 if planted == "writable for all" else 0o775)
        if planted == "writable for a group":
            os.chown(home / ".cache", 0, 12345)
    before = sorted(tmp_path.rglob("*"))
    one = Cache(str(cache))
    one.put("code", STATUS, 1)
    one.save()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_of_root_and_the_users_own_are_enough(tmp_path: Path) -> None:
    path = filled(tmp_path / "link-leads-here" / "gpudoctor")
    (tmp_path / "link").symlink_to("link-leads-here")
    assert Cache(str(tmp_path / "link" / "gpudoctor")).get("code", STATUS) == {"a": [1]}
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("environ", "os_family", "directory"),
    [
        ({"HOME": "/home/u"}, "linux", "/home/u/.cache/gpudoctor"),
        ({"HOME": "/home/u", "XDG_CACHE_HOME": "/x"}, "linux", "/x/gpudoctor"),
        ({"HOME": "/home/u", "XDG_CACHE_HOME": "relative"}, "linux", ""),
        ({"HOME": "/Users/u"}, "macos", "/Users/u/Library/Caches/gpudoctor"),
        ({"LOCALAPPDATA": "C:\\Users\\u\\AppData\\Local"}, "windows", "C:/Users/u/AppData/Local/gpudoctor/Cache"),
        ({"HOME": "/home/u", "GPUDOCTOR_CACHE": "/else"}, "linux", "/else"),
        ({"HOME": "/home/u", "GPUDOCTOR_CACHE": ""}, "linux", ""),
        ({}, "linux", ""),
        ({}, "windows", ""),
    ],
)
def test_where_it_lies(environ: dict[str, str], os_family: str, directory: str) -> None:
    assert cache_directory(environ, os_family) == directory


def test_it_lies_where_platformdirs_says(tmp_path: Path) -> None:
    """Without HOME it lies nowhere, and platformdirs asks the accounts."""
    environ = {name: value for name, value in os.environ.items() if name != "GPUDOCTOR_CACHE"}
    environ.setdefault("HOME", str(tmp_path))
    code = 'import platformdirs; print(platformdirs.user_cache_dir("gpudoctor", appauthor=False))'
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert os.path.normpath(cache_directory(environ, LiveHost().os_family)) == done.stdout.strip()


def test_a_root_has_none(tmp_path: Path) -> None:
    cache = cache_for(RootHost(str(tmp_path), {"GPUDOCTOR_CACHE": str(tmp_path)}))
    cache.put("code", STATUS, 1)
    cache.save()
    assert list(tmp_path.iterdir()) == []
