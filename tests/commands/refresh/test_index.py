"""Indexes are listed, wheels are read in parts, and what is damaged or foreign is one clear reason."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from doctor.commands.refresh.index import Connection, Index
from doctor.commands.refresh.listing import Wheel, links_of, wheels_of
from doctor.commands.refresh.web import Unreachable, Web
from doctor.commands.refresh.wheel_host import WheelHost
from doctor.host import Missing, NotRunnable, Unreadable
from doctor.loader.cards import read_all
from doctor.model.facts.seen import Seen
from tests.commands.refresh.server import Manners, serving, torch_wheel, wheel

QUICK = 5.0


def web_of(*indexes: Index) -> Web:
    return Web(Connection(indexes, has_default=True, timeout_s=QUICK))


def listed(project: str, *indexes: Index) -> tuple[dict[str, Wheel], tuple[str, ...]]:
    found, problems = wheels_of(project, indexes, web_of(*indexes))
    return {one.name: one for one in found}, problems


@pytest.mark.parametrize("manners", [Manners(), Manners(has_json=True), Manners(has_json=True, has_metadata=True)])
def test_a_simple_index(tmp_path: Path, manners: Manners) -> None:
    names = {torch_wheel(tmp_path / "files", version).name for version in ("98.0.0", "99.0.0")}
    (tmp_path / "files" / "torch-98.0.0.tar.gz").write_bytes(b"")
    (tmp_path / "files" / "torch-not-a-wheel.whl").write_bytes(b"")
    with serving(tmp_path, manners) as server:
        found, problems = listed("Torch", Index.of(f"{server.url}/simple", "test"))
    assert set(found) == names
    assert not problems
    assert {one.has_metadata for one in found.values()} == {manners.has_metadata}
    assert all(one.url == f"{server.url}/files/{one.name}" for one in found.values())


def test_html_in_its_corners(tmp_path: Path) -> None:
    name = "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl"
    page = f"""<!doctype html><base href="https://files.test/a/"><a>no address</a>
    <a href="b/{name}?token=x#sha256=1" data-yanked="broken" data-dist-info-metadata="sha256=2">other text</a>
    <a href="file:///srv/torch-99.0.0-cp311-cp311-win_amd64.whl">of this machine</a>
    <a href="torch-99.0.0%2Bcu128-cp312-cp312-win_amd64.whl">local version</a><a href="http://[bad">bad</a>"""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "index.html").write_text(page)
    found, _ = listed("torch", Index.of(str(tmp_path), "test"))
    assert list(found) == [name, "torch-99.0.0+cu128-cp312-cp312-win_amd64.whl"]
    assert found[name].url == f"https://files.test/a/b/{name}?token=x"
    assert (found[name].is_yanked, found[name].has_metadata) == (True, True)


@pytest.mark.parametrize("kind", ["file: index", "file: index of directories", "find-links", "find-links page"])
def test_local_places(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "torch" if kind.startswith("file:") else tmp_path
    made = torch_wheel(folder, "99.0.0")
    wheel(folder, "other-1.0-py3-none-any.whl", {})
    if kind in {"file: index", "find-links page"}:
        (folder / "index.html").write_text(f'<a href="{made.name}">x</a><a href="other-1.0-py3-none-any.whl">y</a>')
    url = str(folder / "index.html") if kind == "find-links page" else tmp_path.as_uri()
    found, problems = listed("torch", Index.of(url, "test", is_flat=kind.startswith("find")))
    assert [one.url for one in found.values()] == [made.as_uri()]
    assert not problems


@pytest.mark.parametrize(
    ("page", "kind", "why"),
    [
        (b"{}", "application/vnd.pypi.simple.v1+json", "not a simple index in JSON"),
        (b"[" * 100_000, "application/vnd.pypi.simple.v1+json", "not a simple index in JSON"),
        (b'{"files": [{"url": "x"}]}', "application/vnd.pypi.simple.v1+json", "not a simple index in JSON"),
        (b"PDF", "application/pdf", "not a page of a package index"),
    ],
)
def test_what_is_no_index(page: bytes, kind: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.commands.refresh import listing
    from doctor.commands.refresh.web import Page

    with pytest.raises(Unreachable, match=why):
        listing._files(Page("https://a.test/simple/torch/", kind, page))


def test_absent_places(tmp_path: Path) -> None:
    assert listed("torch", Index.of(str(tmp_path), "test")) == ({}, ())
    _, problems = listed("torch", Index.of(str(tmp_path / "none"), "PIP_FIND_LINKS", is_flat=True))
    assert "no such file or directory (named by PIP_FIND_LINKS)" in problems[0]
    _, problems = listed("torch", Index.of("http://127.0.0.1:9/simple", "test"))
    assert problems == ("http://127.0.0.1:9/simple/torch/: no connection",)


def test_a_dead_host_is_asked_once() -> None:
    web = web_of(Index.of("http://127.0.0.1:9/simple", "test"))
    for _ in range(2):
        with pytest.raises(Unreachable, match="no connection"):
            web.page("http://127.0.0.1:9/x")
    assert web._dead == {"127.0.0.1:9": "no connection"}


def test_the_first_index_wins(tmp_path: Path) -> None:
    for name in ("a", "b"):
        torch_wheel(tmp_path / name, "99.0.0")
    places = [Index.of(str(tmp_path / name), "test", is_flat=True) for name in ("b", "a")]
    [found] = listed("torch", *places)[0].values()
    assert found.url.startswith((tmp_path / "b").as_uri())


@pytest.mark.parametrize("said_in", ["url", "netrc"])
def test_credentials(tmp_path: Path, said_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = torch_wheel(tmp_path / "files", "99.0.0")
    with serving(tmp_path, Manners(credentials="me:secret")) as server:
        bare = f"{server.url}/simple"
        assert (
            ": it needs a user and password (in the URL, or in netrc)" in listed("torch", Index.of(bare, "test"))[1][0]
        )
        if said_in == "netrc":
            (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
            monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        index = Index.of(bare if said_in == "netrc" else bare.replace("//", "//me:secret@"), "test")
        found, problems = listed("torch", index)
        host = WheelHost(found[made.name], web_of(index), "linux", "x86_64", "3.12")
        assert host.names(host.site) == ("torch", "torch-99.0.0.dist-info")
        assert not problems
        assert "secret" not in repr(found)


@pytest.mark.parametrize("has_metadata", [True, False])
def test_a_wheel_is_read_in_parts(tmp_path: Path, has_metadata: bool) -> None:
    members: dict[str, str | bytes] = {"torch/version.py": "cuda = '12.8'\n", "torch/big.bin": os.urandom(3_000_000)}
    made = wheel(tmp_path / "files", "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", members)
    with serving(tmp_path, Manners(has_metadata=has_metadata)) as server:
        index = Index.of(f"{server.url}/simple", "test")
        found, _ = listed("torch", index)
        host = WheelHost(found[made.name], web_of(index), "linux", "x86_64", "3.12")
        assert "Name: torch" in host.read_text(f"{host.distribution.metadata}/METADATA")
        assert host.read_text(f"{host.site}/torch/version.py") == members["torch/version.py"]
        asked = [line for line in server.requests if "/files/" in line]
        host.close()
    assert any(line.endswith(".whl.metadata") for line in asked) is has_metadata
    assert all("bytes=" in line for line in asked if line.split()[1].endswith(".whl"))
    assert len(asked) <= 4
    assert host.members_read == ["METADATA" if has_metadata else "torch-99.0.0.dist-info/METADATA", "torch/version.py"]


def test_metadata_alone_needs_no_wheel(tmp_path: Path) -> None:
    made = wheel(tmp_path / "files", "numba-99.0-cp312-cp312-manylinux_2_28_x86_64.whl", {})
    with serving(tmp_path, Manners(has_metadata=True, has_ranges=False)) as server:
        index = Index.of(f"{server.url}/simple", "test")
        host = WheelHost(listed("numba", index)[0][made.name], web_of(index), "linux", "x86_64", "3.12")
        [framework] = read_all(host, [host.distribution], "/usr")
    assert isinstance(framework.requires, Seen)
    assert not [line for line in server.requests if line.split()[1].endswith(".whl")]


def test_without_ranges_small_wheels_alone_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = torch_wheel(tmp_path / "files", "99.0.0")
    with serving(tmp_path, Manners(has_ranges=False)) as server:
        index = Index.of(f"{server.url}/simple", "test")
        found = listed("torch", index)[0][made.name]
        host = WheelHost(found, web_of(index), "linux", "x86_64", "3.12")
        assert host.is_file(f"{host.site}/torch/version.py")
        monkeypatch.setattr("doctor.commands.refresh.web._WHOLE_FILE_BYTES", 100)
        with pytest.raises(
            Unreadable, match="the server supports no byte ranges, and gpudoctor does not download the whole file"
        ):
            WheelHost(found, web_of(index), "linux", "x86_64", "3.12").names("/")


@contextmanager
def local_host(path: Path) -> Iterator[WheelHost]:
    index = Index.of(str(path.parent), "test", is_flat=True)
    [found] = wheels_of(path.name.partition("-")[0], [index], web_of(index))[0]
    host = WheelHost(found, web_of(index), "linux", "x86_64", "3.12")
    with closing(host):
        yield host


def test_a_wheel_as_a_machine(tmp_path: Path) -> None:
    members = {"torch-99.0.0.data/purelib/torch/a.py": "x = 1", "torch/lib/b.so": "", "/etc/passwd": "", "../up": ""}
    with local_host(wheel(tmp_path, "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", members)) as host:
        assert host.names(f"{host.site}/torch") == ("a.py", "lib")
        assert host.read_text(f"{host.site}/torch/a.py") == "x = 1"
        assert (host.status(f"{host.site}/torch/a.py").size_bytes, host.is_dir(f"{host.site}/torch/lib")) == (5, True)
        assert host.exists("/lib64/ld-linux-x86-64.so.2")
        assert not host.exists("/etc/passwd")
        assert host.real_path(f"{host.site}/torch") == f"{host.site}/torch"
        assert not host.may_access("/", "r")
        with pytest.raises(Missing):
            host.read_bytes(f"{host.site}/none")
        with pytest.raises(Unreadable, match="larger than 3 bytes"):
            host.read_bytes(f"{host.site}/torch/a.py", 3)
        with pytest.raises(NotRunnable):
            host.run(("ls",))
        for question in (host.link_target, host.space_bytes, host.drain):
            with pytest.raises(Unreadable):
                question("/")
        for nameless in (host.kernel_machine, host.libc_version):
            with pytest.raises(Unreadable):
                nameless()


def damaged(path: Path, kind: str) -> None:
    content = bytearray(path.read_bytes())
    if kind == "truncated":
        del content[len(content) // 2 :]
    elif kind == "not a zip file":
        content[:] = b"hello" * 100
    elif kind == "empty":
        content.clear()
    else:
        at = content.index(b"torch/version.py") + len("torch/version.py")
        content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["truncated", "not a zip file", "empty", "damaged member"])
def test_damaged_wheels_are_a_reason(tmp_path: Path, kind: str) -> None:
    made = torch_wheel(tmp_path, "99.0.0")
    damaged(made, kind)
    with local_host(made) as host:
        [framework] = read_all(host, [host.distribution], "/usr")
        assert not isinstance(framework.build, Seen)


def test_a_wheel_of_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.commands.refresh.wheel_host._MEMBERS_AT_MOST", 2)
    with local_host(torch_wheel(tmp_path, "99.0.0")) as host, pytest.raises(Unreadable, match="more than 2 members"):
        host.names("/")


def test_links_of_a_page(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<a href="redistrib_9.9.0.json">redistrib_9.9.0.json</a>')
    with serving(tmp_path) as server:
        web = web_of()
        assert links_of(f"{server.url}/other/", web) == (
            ("redistrib_9.9.0.json", f"{server.url}/other/redistrib_9.9.0.json"),
        )
        with pytest.raises(Unreachable, match="no such page"):
            links_of(f"{server.url}/none/", web)


def test_a_bomb_is_read_in_part(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("torch/version.py", b"a" * 50_000_000)
        archive.writestr("torch-99.0.0.dist-info/METADATA", "Name: torch\n")
    made = tmp_path / "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl"
    made.write_bytes(buffer.getvalue())
    with local_host(made) as host:
        [framework] = read_all(host, [host.distribution], "/usr")
        assert not isinstance(framework.build, Seen)
