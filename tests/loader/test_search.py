"""What a search tells where the real loader of this machine cannot be asked: other machines, bounds of ours, rights."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.binaries import NotRead, elf
from doctor.host import Missing
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.loader import tokens
from doctor.loader.hwcaps import levels
from doctor.loader.library import library_at, plain_name, read_program
from doctor.loader.process import CannotOpen, Process
from doctor.loader.search import Nowhere, Search
from doctor.model.facts.loader import CacheEntry, FoundBy, LoaderFacts, Outcome, SearchDir, Way
from doctor.model.facts.seen import Seen, Unseen, UnseenError
from doctor.model.resolution import describe_resolution
from tests.lab.elf_file import elf_bytes

V3 = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"
GAP = V4.replace("f16c ", "")  # the fourth level's abilities without all of the third's
OLD_OF_OTHERS = ("tls/x86_64/x86_64", "tls/x86_64", "tls", "x86_64/x86_64", "x86_64")  # as LD_DEBUG shows them
OLD_OF_HASWELL = ("tls/haswell/x86_64", "tls/haswell", "tls/x86_64", "tls", "haswell/x86_64", "haswell", "x86_64")

NOBODY = 65534  # the kernel's overflow UID, an account without rights on every distribution


class OldHost(RootHost):
    """A root with a processor and a C library to ask."""

    def __init__(self, root: Path, release: str) -> None:
        super().__init__(str(root))
        self._release = release

    def libc_version(self) -> str:
        """As it is said."""
        if not self._release:
            raise Missing("libc")
        return f"glibc {self._release}"


@pytest.mark.parametrize(
    ("release", "flags", "new", "old"),
    [
        ("2.39", V4, ("x86-64-v4", "x86-64-v3", "x86-64-v2"), ()),
        ("2.39", V3, ("x86-64-v3", "x86-64-v2"), ()),
        ("2.39", GAP, ("x86-64-v2",), ()),
        ("2.39", "fpu", (), ()),
        ("2.36", V3, ("x86-64-v3", "x86-64-v2"), OLD_OF_HASWELL),
        ("2.33", "fpu", (), OLD_OF_OTHERS),
        ("2.31", V3, (), OLD_OF_HASWELL),
    ],
)
def test_levels_by_processor_and_release(
    tmp_path: Path, release: str, flags: str, new: tuple[str, ...], old: tuple[str, ...]
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(f"vendor_id\t: GenuineIntel\nflags\t: {flags}\n")
    found = levels(OldHost(tmp_path, release), "x86_64")
    assert (found.new, set(found.old), found.sure) == (new, set(old), True)
    assert found.old[:1] == old[:1]
    assert found.folders[: len(new)] == tuple(f"glibc-hwcaps/{one}" for one in new)


def test_what_no_processor_says_is_not_sure(tmp_path: Path) -> None:
    assert not levels(OldHost(tmp_path, "2.39"), "x86_64").sure
    assert levels(OldHost(tmp_path, ""), "aarch64").sure


def facts(root: Path | None = None, *directories: str, written: str = "") -> LoaderFacts:
    listed = tuple(SearchDir(f"{root or ''}{one}", FoundBy.LIBRARY_PATH, True, written, "~/x") for one in directories)
    return LoaderFacts(Seen(listed, "test"), Seen((), "test"), Seen((), "test"), Seen((), "test"))


def lay(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content or elf_bytes(path.name))
    return path


def test_a_variable_of_a_program_with_other_rights_is_not_trusted(tmp_path: Path) -> None:
    lay(tmp_path / "opt/libx.so")
    program = lay(tmp_path / "bin/python")
    host = RootHost(str(tmp_path))
    for mode, known in ((0o755, True), (0o4755, False), (0o2755, False)):
        program.chmod(mode)
        search = Search(host, facts(None, "/opt"), read_program(host, "/bin/python"))
        found = search.find("libx.so", None, (), "x86_64")
        assert isinstance(found, Seen) is known
        assert not isinstance(found, Nowhere)


def test_the_entry_is_told_as_it_is_written(tmp_path: Path) -> None:
    lay(tmp_path / "opt/libx.so")
    lay(tmp_path / "a/libq.so", elf_bytes("libq.so", runpath="/nowhere"))
    host = RootHost(str(tmp_path))
    asker = read_program(host, "/a/libq.so")
    found = Search(host, facts(None, "/opt", written="/opt//")).find("libx.so", asker, (), "x86_64")
    assert isinstance(found, Seen)
    assert found.value.way == Way(FoundBy.LIBRARY_PATH, "/a/libq.so", "/opt//", "/opt", "~/x")
    assert (
        describe_resolution(found.value.way)
        == "LD_LIBRARY_PATH names /opt and is searched before the RUNPATH of libq.so"
    )


def test_the_first_spelling_of_a_directory_is_told(tmp_path: Path) -> None:
    lay(tmp_path / "a/libx.so")
    lay(tmp_path / "a/libq.so", elf_bytes("libq.so", runpath="$ORIGIN:/a"))
    host = RootHost(str(tmp_path))
    found = Search(host, facts()).find("libx.so", read_program(host, "/a/libq.so"), (), "x86_64")
    assert isinstance(found, Seen)
    assert found.value.way == Way(FoundBy.RUNPATH, "/a/libq.so", "$ORIGIN", "/a")


@pytest.fixture
def unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RootHost:
    """A library in the search whose RUNPATH is longer than what is read."""
    monkeypatch.setattr(elf, "_NAME_AT_MOST_BYTES", 1000)
    lay(tmp_path / "opt/libx.so", elf_bytes("libx.so", runpath="/a" * 5000))
    lay(tmp_path / "later/libx.so")
    return RootHost(str(tmp_path))


def test_a_bound_of_ours_is_no_damage(unread: RootHost) -> None:
    with pytest.raises(NotRead):
        library_at(unread, "/opt/libx.so")
    found = Search(unread, facts(None, "/opt", "/later")).find("libx.so", None, (), "x86_64")
    assert isinstance(found, Unseen)
    assert not isinstance(found, Nowhere)
    process = Process(unread, Search(unread, facts(None, "/opt", "/later")), "x86_64")
    with pytest.raises(UnseenError):
        process.open("libx.so", None)
    assert [one.outcome for one in process.requests()] == [Outcome.UNREAD]


def test_too_many_directories_are_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_DIRECTORIES_AT_MOST", 2)
    values = tokens.Values("lib64", "")
    assert [one for one, _ in tokens.directories("/a:/b", "/o", values, "/here")] == ["/a", "/b"]
    with pytest.raises(UnseenError):
        list(tokens.directories("/a:/b:/c", "/o", values, "/here"))


@pytest.fixture
def as_user() -> Iterator[Path]:
    """A directory of an ordinary user's, and this process as that user: root may read everything."""
    folder = Path(tempfile.mkdtemp())
    was_root = os.geteuid() == 0
    if was_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="no such permissions on Windows")
def test_what_this_user_may_not_read_is_passed_over_by_the_loader_too(as_user: Path) -> None:
    lay(as_user / "opt/libx.so").chmod(0)
    lay(as_user / "later/libx.so")
    search = Search(LiveHost({}), facts(as_user, "/opt", "/later"))
    found = search.find("libx.so", None, (), "x86_64")
    assert isinstance(found, Seen)
    assert found.value.path == f"{as_user}/later/libx.so"
    image = Search(RootHost(str(as_user)), facts(None, "/opt", "/later")).find("libx.so", None, (), "x86_64")
    assert isinstance(image, Unseen)


class Forbidding(LiveHost):
    """A live machine that refuses one file, as the kernel refuses it to a user."""

    def open(self, path: str):  # type: ignore[no-untyped-def]
        """Raise as LiveHost does."""
        if "/opt/" in path:
            from doctor.host import Unreadable

            raise Unreadable(path, "permission denied") from PermissionError()
        return super().open(path)


@pytest.mark.parametrize(("live", "told"), [(True, "/later/libx.so"), (False, "")])
def test_a_refused_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: bool, told: str) -> None:
    """A live loader goes on behind what its user may not read; of an image that says nothing."""
    lay(tmp_path / "opt/libx.so")
    lay(tmp_path / "later/libx.so")
    host = Forbidding({})
    monkeypatch.setattr(Forbidding, "is_live", property(lambda _: live), raising=False)
    found = Search(host, facts(tmp_path, "/opt", "/later")).find("libx.so", None, (), "x86_64")
    assert (found.value.path if isinstance(found, Seen) else "") == (f"{tmp_path}{told}" if told else "")
    assert not isinstance(found, Nowhere)


@pytest.mark.parametrize("content", [b"", b"no library" * 50, b"\x7fELF" + b"\xff" * 200])
def test_damage_is_told_apart_from_absence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt/libx.so").write_bytes(content)
    process = Process(RootHost(str(tmp_path)), Search(RootHost(str(tmp_path)), facts(None, "/opt")), "x86_64")
    for name, outcome in (("libx.so", Outcome.DAMAGED), ("libgone.so", Outcome.MISSING)):
        with pytest.raises(CannotOpen) as raised:
            process.open(name, None)
        assert raised.value.outcome is outcome
    assert [one.outcome for one in process.requests()] == [Outcome.DAMAGED, Outcome.MISSING]


def test_a_file_that_is_loaded_under_another_name(tmp_path: Path) -> None:
    lay(tmp_path / "opt/libx.so.1")
    (tmp_path / "opt/liby.so").symlink_to("libx.so.1")
    host = RootHost(str(tmp_path))
    process = Process(host, Search(host, facts(None, "/opt")), "x86_64")
    assert process.open("libx.so.1", None) is process.open("liby.so", None)
    assert process.requests()[1].way == Way(FoundBy.LOADED, entry="/opt/libx.so.1")


@pytest.mark.parametrize(("variable", "words"), [("/opt/libx.so", "LD_PRELOAD"), ("", "/etc/ld.so.preload")])
def test_who_preloads(tmp_path: Path, variable: str, words: str) -> None:
    lay(tmp_path / "opt/libx.so")
    host = RootHost(str(tmp_path), {"LD_PRELOAD": variable})
    process = Process(host, Search(host, facts()), "x86_64")
    process.start(("/opt/libx.so",))
    (request,) = process.requests()
    assert describe_resolution(request.way) == f"{words} names it"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("libcudart-e409450e.so.11.0", "libcudart.so.11.0"),
        ("libcusparseLt-f80c68d1.so.0", "libcusparseLt.so.0"),
        ("libnvrtc-builtins.so.12.8", "libnvrtc-builtins.so.12.8"),
        ("libcudart.so.12", "libcudart.so.12"),
    ],
)
def test_names_of_repaired_wheels(name: str, plain: str) -> None:
    assert plain_name(name) == plain


_OF_LEVEL = {level: (f"/v{level}/libx.so", "x86_64", f"x86-64-v{level}") for level in (2, 3, 4)}
_PLAIN = ("/a/libx.so", "x86_64", "")


@pytest.mark.parametrize(
    ("flags", "levels", "told"),
    [
        ("fpu", (2, 3, 4), "/a/libx.so"),
        (V3, (2, 3, 4), "/v3/libx.so"),
        (V3, (4, 3, 2), "/v3/libx.so"),
        (V3, (2, 4), "/v2/libx.so"),
        (V3, (4,), "/a/libx.so"),
        (V3, (), "/a/libx.so"),
        (V4, (2, 3, 4), "/v4/libx.so"),
        (GAP, (2, 3, 4), "/v2/libx.so"),
    ],
)
def test_the_cache_has_the_entry_for_the_best_level(
    tmp_path: Path, flags: str, levels: tuple[int, ...], told: str
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(f"vendor_id\t: GenuineIntel\nflags\t: {flags}\n")
    of_levels = [_OF_LEVEL[level] for level in levels]
    for rows in ([*of_levels, _PLAIN], [_PLAIN, *of_levels]):
        for path, _, _ in rows:
            lay(tmp_path / path[1:])
        cache = Seen(tuple(CacheEntry("libx.so", *row) for row in rows), "test")
        found = Search(OldHost(tmp_path, "2.39"), facts()._replace(cache=cache)).find("libx.so", None, (), "x86_64")
        assert isinstance(found, Seen)
        assert found.value.path == told


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (("/arm/libx.so", "aarch64", ""), None),
        (("/arm/libx.so", "aarch64", "", "/a/libx.so", "x86_64", ""), "/a/libx.so"),
        (("/v3/libx.so", "x86_64", "x86-64-v3"), None),
        (("/v3/libx.so", "x86_64", "x86-64-v3", "/a/libx.so", "x86_64", ""), "/a/libx.so"),
    ],
)
def test_entries_of_the_cache(tmp_path: Path, entries: tuple[str, ...], told: str | None) -> None:
    """Those of another machine, and those for a better processor than this one, are no entries."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("vendor_id\t: GenuineIntel\nflags\t: fpu\n")
    rows = [entries[place : place + 3] for place in range(0, len(entries), 3)]
    for path, _, _ in rows:
        lay(tmp_path / path[1:])
    cache = Seen(tuple(CacheEntry("libx.so", *row) for row in rows), "test")
    search = Search(OldHost(tmp_path, "2.39"), facts()._replace(cache=cache))
    found = search.find("libx.so", None, (), "x86_64")
    assert (found.value.path if isinstance(found, Seen) else None) == told


def test_a_directory_for_better_processors_on_an_image(tmp_path: Path) -> None:
    lay(tmp_path / "opt/glibc-hwcaps/x86-64-v3/libx.so")
    lay(tmp_path / "opt/libx.so")
    found = Search(RootHost(str(tmp_path)), facts(None, "/opt")).find("libx.so", None, (), "x86_64")
    assert isinstance(found, Unseen)
    assert not isinstance(found, Nowhere)


def test_a_library_whose_search_cannot_be_read_ends_the_search(tmp_path: Path) -> None:
    """Its headers are right, and its string table is not."""
    whole = elf_bytes("libx.so", needed=("libc.so.6",))
    place = whole.index(b"libc.so.6\0")
    lay(tmp_path / "opt/libx.so", whole[:place] + b"x" * (len(whole) - place))
    found = Search(RootHost(str(tmp_path)), facts(None, "/opt")).find("libx.so", None, (), "x86_64")
    assert isinstance(found, Seen)
    assert found.value.is_damaged


def test_a_program_without_default_directories(tmp_path: Path) -> None:
    lay(tmp_path / "lib64/libx.so")
    default = Seen((SearchDir("/lib64", FoundBy.DEFAULT, True),), "test")
    for flags, told in ((0, True), (0x800, False)):
        lay(tmp_path / "bin/python", elf_bytes("python", flags_1=flags))
        host = RootHost(str(tmp_path))
        search = Search(host, facts()._replace(search=default), read_program(host, "/bin/python"))
        assert isinstance(search.find("libx.so", None, (), "x86_64"), Seen) is told
