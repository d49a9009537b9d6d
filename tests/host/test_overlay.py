"""A machine as it would be: changed variables, links, removed and foreseen files, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host import Missing, Unreadable
from doctor.host.overlay import Changes, Overlay
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot, remembered


@pytest.fixture
def root(tmp_path: Path) -> RootHost:
    (tmp_path / "opt/a").mkdir(parents=True)
    (tmp_path / "opt/a/file").write_text("a")
    (tmp_path / "opt/b").mkdir()
    (tmp_path / "opt/b/other").write_text("b")
    (tmp_path / "opt/current").symlink_to("a")
    return RootHost(str(tmp_path), {"NAME": "said"})


def test_without_changes_it_is_the_machine_itself(root: RootHost) -> None:
    overlay = Overlay(Snapshot(root), Changes())
    assert overlay.names("/opt/current") == ("file",)
    assert overlay.environ["NAME"] == "said"
    assert overlay.real_path("/opt/current/file") == "/opt/a/file"


def test_a_link_leads_elsewhere(root: RootHost) -> None:
    overlay = Overlay(Snapshot(root), Changes(links={"/opt/current": "b"}))
    assert overlay.real_path("/opt/current/other") == "/opt/b/other"
    assert overlay.read_text("/opt/current/other") == "b"
    assert overlay.link_target("/opt/current") == "b"
    assert not overlay.exists("/opt/current/file")
    assert root.read_text("/opt/current/file") == "a"


def test_a_new_absolute_link_and_one_that_loops(root: RootHost) -> None:
    overlay = Overlay(Snapshot(root), Changes(links={"/opt/new": "/opt/b", "/opt/loop": "loop"}))
    assert overlay.names("/opt/new") == ("other",)
    assert "new" in overlay.names("/opt")
    with pytest.raises(Unreadable, match="loop"):
        overlay.status("/opt/loop/x")


def test_what_is_removed_is_missing_with_all_below_it(root: RootHost) -> None:
    overlay = Overlay(Snapshot(root), Changes(removed=frozenset({"/opt/a"})))
    assert overlay.names("/opt") == ("b", "current")
    with pytest.raises(Missing):
        overlay.read_bytes("/opt/a/file")
    assert not overlay.is_dir("/opt/current")


def test_files_and_foreseen_libraries(root: RootHost) -> None:
    changes = Changes(files={"/opt/a/text": b"new"}, foreseen={"/opt/lib/libx.so.1": {"kind": ["libx.so.1"]}})
    overlay = Overlay(Snapshot(root), changes)
    assert overlay.names("/opt/a") == ("file", "text")
    assert overlay.read_text("/opt/current/text") == "new"
    assert overlay.names("/opt/lib") == ("libx.so.1",)
    assert overlay.is_file("/opt/lib/libx.so.1")
    assert remembered(overlay, "/opt/lib/libx.so.1", "kind", list, bool) == ["libx.so.1"]
    with pytest.raises(Unreadable, match="it does not exist yet: the fix would create it"):
        overlay.open("/opt/lib/libx.so.1")


def test_each_file_that_is_made_is_one_of_its_own(root: RootHost) -> None:
    """The loader takes names of one inode for one library: the second one would count as loaded."""
    made = {f"/opt/lib/lib{name}.so": {"kind": [name]} for name in "ab"}
    overlay = Overlay(root, Changes(files={"/opt/a/text": b"1", "/opt/b/text": b"2"}, foreseen=made))
    paths = (*made, "/opt/a/text", "/opt/b/text", "/opt/a/file")
    found = {(status.device, status.inode) for status in map(overlay.status, paths)}
    assert len(found) == len(paths)
    again = Overlay(root, Changes(files={"/opt/a/text": b"2"}))
    assert again.status("/opt/a/text").inode != overlay.status("/opt/a/text").inode


def test_what_is_brought_after_a_removal_is_there() -> None:
    changes = Changes(files={"/a": b"1"}, links={"/b": "a"}).without(("/a", "/c"))
    assert (changes.files, changes.links) == ({}, {"/b": "a"})
    assert changes.removed == frozenset({"/a", "/c"})
