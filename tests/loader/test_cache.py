"""ld.so.cache: what ldconfig writes is read as the loader of this machine reads it, in a mount namespace of its own."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.loader.cache import whole_cache
from doctor.loader.library import read_program
from doctor.loader.search import Found, Nowhere, Search
from doctor.model.facts.loader import CacheEntry, FoundBy, LoaderFacts, SearchDir, Way
from doctor.model.facts.seen import Seen
from doctor.probes import loader
from tests.lab.elf_file import elf_bytes
from tests.loader.test_against_the_loader import MACHINE, observed

_AS = 'mount --bind "$1" /etc/ld.so.cache && shift && exec "$@"'


def may_mount() -> bool:
    if not hasattr(os, "geteuid") or os.geteuid() or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@pytest.mark.system
@pytest.mark.skipif(not may_mount() or MACHINE != "x86_64", reason="needs root and mount namespaces on x86-64")
@pytest.mark.parametrize("written", ["new", "compat"])
@pytest.mark.parametrize(
    ("folders", "gone", "library_path"),
    [
        (("b",), "", ""),
        (("b", "c"), "", ""),
        (("b", "b/glibc-hwcaps/x86-64-v2"), "", ""),
        (("b", "b/glibc-hwcaps/x86-64-v2", "b/glibc-hwcaps/x86-64-v3", "b/glibc-hwcaps/x86-64-v4"), "", ""),
        (("b", "c"), "b", ""),  # only one entry is tried: a stale one hides the other
        (("b",), "", "d"),
    ],
)
def test_the_cache(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    folders: tuple[str, ...],
    gone: str,
    library_path: str,
    written: str,
) -> None:
    root = tmp_path.resolve()
    for folder in (*folders, *filter(None, [library_path])):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "libcudax.so.1").write_bytes(elf_bytes("libcudax.so.1"))
    (root / "etc").mkdir()
    (root / "conf").write_text("\n".join(str(root / one) for one in folders if "hwcaps" not in one) + "\n")
    cache = root / "etc/ld.so.cache"
    subprocess.run(["ldconfig", "-X", "-c", written, "-C", cache, "-f", root / "conf"], check=True, capture_output=True)
    if gone:
        (root / gone / "libcudax.so.1").unlink()
    environ = {"LD_LIBRARY_PATH": str(root / library_path)} if library_path else {}

    host = LiveHost({**environ, "PWD": str(root)})
    facts = loader.look(host)._replace(cache=whole_cache(RootHost(str(root))))
    program = read_program(host, sys.executable)
    found = Search(host, facts, program).find("libcudax.so.1", program, (), MACHINE)
    predicted = {found.value.path} if isinstance(found, Seen) else set()
    wrapper = ["unshare", "-m", "sh", "-c", _AS, "sh", str(cache)]
    real_run = subprocess.run
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda argv, **how: real_run([*wrapper, *argv], **{**how, "env": {"PATH": os.defpath, **how["env"]}}),
    )
    assert observed(root, ["libcudax.so.1"], environ) == predicted


LDCONFIG = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")


@pytest.mark.skipif(not LDCONFIG or MACHINE != "x86_64", reason="needs ldconfig on x86-64")
@pytest.mark.parametrize("written", ["new", "compat", "old"])
@pytest.mark.parametrize("how_many", [1, 2, 3])
def test_what_ldconfig_writes(tmp_path: Path, written: str, how_many: int) -> None:
    """Every format of glibc: the old table alone, the new one, and the new one aligned behind the old."""
    names = [f"libcudax.so.{number}" for number in range(how_many)]
    (tmp_path / "etc").mkdir()
    better_ones = names[:1]
    for folder, there in (("b", names), ("b/glibc-hwcaps/x86-64-v3", better_ones)):
        (tmp_path / folder).mkdir(parents=True)
        for name in there:
            (tmp_path / folder / name).write_bytes(elf_bytes(name))
    (tmp_path / "conf").write_text(f"{tmp_path}/b\n")
    cache = tmp_path / "etc/ld.so.cache"
    argv = [str(LDCONFIG), "-X", "-c", written, "-C", str(cache), "-f", str(tmp_path / "conf")]
    subprocess.run(argv, check=True, capture_output=True)
    found = whole_cache(RootHost(str(tmp_path)))
    assert isinstance(found, Seen)
    mine = {
        (one.soname, one.path.removeprefix(f"{tmp_path}/"), one.level) for one in found.value if one.soname in names
    }
    plain = {(name, f"b/{name}", "") for name in names}
    better = {(name, f"b/glibc-hwcaps/x86-64-v3/{name}", "x86-64-v3") for name in better_ones}
    if written == "new":
        assert mine == plain | better
        return
    # The old table has no place for a level; behind it the loader looks for the levels' names where they are not.
    assert {one[:2] for one in mine} == {one[:2] for one in plain | better}
    assert not any(one[2].startswith("x86-64") for one in mine)
    assert {bool(level) for _, path, level in mine if "hwcaps" in path} == {written == "compat"}
    assert {one.machine for one in found.value if one.soname in names} == {"x86_64"}


def test_the_new_table_is_aligned_behind_the_old(tmp_path: Path) -> None:
    """`sysdeps/generic/dl-cache.h`, ALIGN_CACHE: 64-bit numbers; ldconfig itself keeps the old entries even."""
    name, path = b"libx.so.1\0", b"/new/libx.so.1\0"
    entry = struct.pack("<iIIIQ", 0x303, 72, 72 + len(name), 0, 0)
    new = b"glibc-ld.so.cache1.1" + struct.pack("<II5I", 1, len(name + path), 2, 0, 0, 0, 0) + entry + name + path
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + struct.pack("<iII", 0x303, 0, 0)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.cache").write_bytes(old + bytes(-len(old) % 8) + new)
    assert len(old) % 8
    found = whole_cache(RootHost(str(tmp_path)))
    assert isinstance(found, Seen)
    assert found.value == (CacheEntry("libx.so.1", "/new/libx.so.1", "x86_64"),)


def facts_of(*entries: CacheEntry) -> LoaderFacts:
    default = (SearchDir("/lib64", FoundBy.DEFAULT, exists=True),)
    return LoaderFacts(Seen(default, "test"), Seen(entries, "test"), Seen((), "test"), Seen((), "test"))


def test_on_an_image_an_entry_for_some_processors_cannot_be_decided(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libx.so").write_bytes(elf_bytes("libx.so"))
    plain = CacheEntry("libx.so", "/a/libx.so", "x86_64")
    host = RootHost(str(tmp_path))
    assert isinstance(Search(host, facts_of(plain)).find("libx.so", None, (), "x86_64"), Seen)
    special = CacheEntry("libx.so", "/b/libx.so", "x86_64", "x86-64-v3")
    told = Search(host, facts_of(special, plain)).find("libx.so", None, (), "x86_64")
    assert not isinstance(told, (Seen, Nowhere))


def test_an_asker_without_default_directories(tmp_path: Path) -> None:
    """DF_1_NODEFLIB takes cache and default directories away."""
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64/libx.so").write_bytes(elf_bytes("libx.so"))
    host = RootHost(str(tmp_path))
    search = Search(host, facts_of())
    asker = read_program(host, "/lib64/libx.so")
    assert asker is not None
    found = search.find("libx.so", asker, (), "x86_64")
    assert isinstance(found, Seen)
    assert found.value == Found("/lib64/libx.so", Way(FoundBy.DEFAULT, folder="/lib64"))
    assert isinstance(search.find("libx.so", asker._replace(no_default=True), (), "x86_64"), Nowhere)
