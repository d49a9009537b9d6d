"""Layers that were read before are read from the cache, which is this user's alone and never trusted when damaged."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.diagnose import EXIT_UNKNOWN, exit_status
from doctor.image import Damaged
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from doctor.model.finding import Severity, Status
from tests.image.pack import config_of, in_folder, oci, tar_of, tar_with
from tests.image.test_agreement import OFFLINE, said

ODD = os.fsdecode(b"odd\xff\n")
FILES = tar_with({"etc/a": b"one", ODD: b"two", "bin": None, "bin/sh": "../etc/a", "big": b"x" * 99_999})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUDOCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("doctor.image.disk._SETTLED_S", 3600.0)  # no marks, unless a test wants them
    return tmp_path / "cache" / "layers"


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    top = tar_with({"etc/b": b"above"})
    return in_folder(oci([FILES, top], config_of([FILES, top])), tmp_path / "layout")


def opened(layout: Path, *, uses_cache: bool = True) -> ImageHost:
    host = ImageHost(open_image(ImageRequest(str(layout), uses_cache=uses_cache)))
    assert host.read_bytes("/bin/sh") == b"one"
    assert host.read_bytes("/etc/b") == b"above"
    assert host.read_bytes(f"/{ODD}") == b"two"
    assert host.status("/big").size_bytes == 99_999
    return host


def is_cached(layout: Path) -> bool:
    return opened(layout).image.tally.unpacked_bytes == 0


def test_the_second_time_nothing_is_unpacked(layout: Path, cache: Path) -> None:
    assert opened(layout, uses_cache=False).image.tally.unpacked_bytes > 99_999
    assert not cache.exists()
    assert not is_cached(layout)
    assert is_cached(layout)
    assert opened(layout, uses_cache=False).image.tally.unpacked_bytes > 99_999
    assert {oct(one.stat().st_mode & 0o777) for one in cache.iterdir()} == {"0o600"}


def test_the_findings_are_the_same(tmp_path: Path, cache: Path) -> None:
    whole = tar_of(next(case for case in OFFLINE if case.name == "mixed-on-disk").build(tmp_path / "tree"))
    folder = in_folder(oci([whole], config_of([whole])), tmp_path / "layout")
    first = said(CheckSubject(image=str(folder)), str(folder))
    assert first["findings"]
    assert (
        first
        == said(CheckSubject(image=str(folder)), str(folder))
        == said(CheckSubject(image=str(folder), no_cache=True), str(folder))
    )
    assert len(list(cache.glob("*.layer"))) == 1


def test_what_there_was_no_room_for_is_said(layout: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was "healthy" where the files of all environments came behind those that filled the room."""
    assert not opened(layout).unread
    shutil.rmtree(cache)
    monkeypatch.setattr("doctor.image.opened.KEPT_AT_MOST_BYTES", 6)  # of "one", "two" and "above"
    report = report_of(CheckSubject(image=str(layout)), time.perf_counter())
    assert [one.code for one in report.answers if one.kind is Status.UNKNOWN and one.blocks_verdict] == [
        "evidence-incomplete"
    ]
    assert exit_status(report, Severity.ERROR) == EXIT_UNKNOWN


@pytest.mark.parametrize("place", [0, 30, 150, 200, -20, -1])
def test_a_record_that_was_changed_is_none(layout: Path, cache: Path, place: int) -> None:
    opened(layout)
    for one in cache.glob("*.layer"):
        content = bytearray(one.read_bytes())
        content[place] ^= 1
        one.write_bytes(content)
    assert not is_cached(layout)
    assert is_cached(layout)


def test_a_record_that_another_could_change_is_none(layout: Path, cache: Path) -> None:
    opened(layout)
    for one in cache.iterdir():
        one.chmod(0o666)
    assert not is_cached(layout)
    cache.chmod(0o777)
    assert not is_cached(layout)
    cache.chmod(0o700)
    for one in [*cache.iterdir()]:
        one.rename(cache.parent / one.name)
        one.symlink_to(cache.parent / one.name)
    assert not is_cached(layout)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_record_is_none(layout: Path, cache: Path) -> None:
    opened(layout)
    for one in cache.iterdir():
        os.chown(one, 12345, 12345)
    assert not is_cached(layout)
    os.chown(cache, 12345, 12345)
    assert not is_cached(layout)


def test_what_was_not_used_for_long_makes_room(layout: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(layout)
    old = [one.name for one in cache.iterdir()]
    for one in cache.iterdir():
        os.utime(one, (1, 1))
    (cache / "sha256-1.layer.77").write_bytes(bytes(300))
    os.utime(cache / "sha256-1.layer.77", (2, 2))
    monkeypatch.setattr("doctor.image.cache._ALL_AT_MOST_BYTES", 1000)
    third = tar_with({"etc/a": os.urandom(600)})
    open_image(ImageRequest(str(in_folder(oci([third], config_of([third])), layout.parent / "other"))))
    assert len(list(cache.glob("*.layer"))) == 1
    assert not {one.name for one in cache.iterdir()} & {*old}


def test_no_room_no_record_and_no_fault(layout: Path, cache: Path) -> None:
    cache.parent.write_bytes(b"a file")
    assert not is_cached(layout)
    assert not is_cached(layout)


def test_a_blob_that_is_as_it_was_is_not_read_again(layout: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(folder: Path) -> int:
        return opened(folder).image.tally.read_bytes

    whole = read(layout)
    assert read(layout) == whole, "just written: it may change without a trace"
    monkeypatch.setattr("doctor.image.disk._SETTLED_S", 0.0)
    assert read(layout) == whole > read(layout)
    copy = Path(shutil.copytree(layout, layout.parent / "copy"))
    assert read(copy) == whole > read(copy)
    assert read(layout) < whole


def test_another_blob_in_its_place_is_damage(layout: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.image.disk._SETTLED_S", 0.0)
    opened(layout)
    assert is_cached(layout)
    blob = max((layout / "blobs" / "sha256").iterdir(), key=lambda one: one.stat().st_size)
    content, status = blob.read_bytes(), blob.stat()
    blob.write_bytes(content[:-9] + b"\0" * 9)  # of the same size, in the same file
    os.utime(blob, ns=(status.st_atime_ns, status.st_mtime_ns))
    for _ in range(2):
        with pytest.raises(Damaged, match="another digest"):
            opened(layout)
    blob.write_bytes(content)
    assert is_cached(layout)


def test_a_layer_that_is_damaged_is_never_remembered(layout: Path, cache: Path) -> None:
    blob = max((layout / "blobs" / "sha256").iterdir(), key=lambda one: one.stat().st_size)
    blob.write_bytes(blob.read_bytes()[:-9] + b"\0" * 9)
    for _ in range(2):
        with pytest.raises(Damaged):
            opened(layout)
    assert len(list(cache.glob("*.layer")) if cache.exists() else []) <= 1
