"""squashfs and SIF say what `--root` says of the unpacked tree; damaged ones end with one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.commands.check.command import CheckSubject
from doctor.image import ImageError
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from doctor.model.facts.seen import Place
from tests.image.pack import sif, squashfs
from tests.image.test_agreement import OFFLINE, said
from tests.lab.case import Case


def opened(path: Path) -> ImageHost:
    return ImageHost(open_image(ImageRequest(str(path))))


@pytest.mark.system
@pytest.mark.parametrize("case", OFFLINE[::4], ids=lambda case: case.name)
@pytest.mark.parametrize("options", [("-comp", "gzip"), ("-comp", "lzo", "-noD"), ("-comp", "zstd", "-b", "1M")])
def test_the_findings_are_those_of_the_tree(case: Case, options: tuple[str, ...], tmp_path: Path) -> None:
    tree = case.build(tmp_path / "tree")
    expected = said(CheckSubject(root=str(tree)), str(tree))
    file = squashfs(tree, tmp_path / "image.sqsh", *options)
    assert said(CheckSubject(image=str(file)), str(file)) == expected
    file.write_bytes(sif(file.read_bytes()))
    assert said(CheckSubject(image=str(file)), str(file)) == expected


@pytest.mark.system
def test_names_and_links_are_those_of_the_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    names = [
        "a b",
        "new\nline",
        "x R 1 644 0 0 3 0",
        "back\\slash",
        'quo"te',
        "tab\t",
        os.fsdecode(b"\xff\x01"),
        "end\\",
    ]
    (tree / "deep" / "er").mkdir(parents=True)
    for number, name in enumerate(names):
        (tree / "deep" / name).write_bytes(b"%d" % number)
        if "\n" not in name:  # squashfs-tools 4.5 does not escape it
            os.link(tree / "deep" / name, tree / "deep" / "er" / f"{name}+")
    (tree / "link").symlink_to("../deep/a b\\")
    os.mkfifo(tree / "pipe")
    os.truncate(os.open(tree / "sparse", os.O_CREAT | os.O_RDWR), 1 << 20)
    host = opened(squashfs(tree, tmp_path / "image"))
    assert sorted(host.names("/deep")) == sorted([*names, "er"])
    for number, name in enumerate(names):
        assert host.read_bytes(f"/deep/{name}") == b"%d" % number
        assert "\n" in name or host.read_bytes(f"/deep/er/{name}+") == b"%d" % number
    assert host.link_target("/link") == "../deep/a b\\"
    assert host.status("/pipe").kind == "other"
    assert host.status("/sparse").size_bytes == 1 << 20
    host = opened(squashfs(tree / "deep" / "er", tmp_path / "none"))
    assert host.status(f"/{names[0]}+").kind == "file"


@pytest.mark.system
def test_the_variables_of_a_container_lie_in_its_files(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    scripts = {
        "10-docker2singularity.sh": 'export PATH="/opt/venv/bin:/usr/bin"\n'
        'export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-"/opt/old libs"}"\nexport A="${A:-"a\\$b"}"\n',
        "90-environment.sh": "# custom\nexport LD_LIBRARY_PATH=/opt/new:$LD_LIBRARY_PATH B='$A'\n"
        "if true; then export C=1; fi\nexport D=$(uname) E=${NOBODY}x\n",
        "99-base.sh": 'if [ -z "${LD_LIBRARY_PATH:-}" ]; then\n    LD_LIBRARY_PATH="/.singularity.d/libs"\nfi\n',
    }
    (tree / ".singularity.d" / "env").mkdir(parents=True)
    for name, text in scripts.items():
        (tree / ".singularity.d" / "env" / name).write_text(f"#!/bin/sh\n{text}")
    file = squashfs(tree, tmp_path / "image")
    file.write_bytes(sif(file.read_bytes()))
    host = opened(file)
    assert host.image.format == "SIF"
    assert host.environ == {
        "PATH": "/opt/venv/bin:/usr/bin",
        "LD_LIBRARY_PATH": "/opt/new:/opt/old libs:/.singularity.d/libs",
        "A": "a$b",
        "B": "$A",
        "E": "x",
    }
    assert host.set_by
    assert host.set_by("LD_LIBRARY_PATH") == Place("/.singularity.d/env/90-environment.sh", 3)
    enroot = tmp_path / "enroot"
    (enroot / "etc").mkdir(parents=True)
    (enroot / "etc" / "environment").write_text("PATH=/opt/bin\n# no\nLD_LIBRARY_PATH=/opt/lib=x\n")
    assert opened(squashfs(enroot, tmp_path / "other")).set_by is None
    (enroot / "etc" / "rc").write_text('exec "$@"\n')
    host = opened(squashfs(enroot, tmp_path / "enroot.sqsh"))
    assert host.environ == {"PATH": "/opt/bin", "LD_LIBRARY_PATH": "/opt/lib=x"}


@pytest.mark.system
def test_a_damaged_one_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "big").write_bytes(bytes(range(256)) * 4000)
    good = squashfs(tmp_path / "tree", tmp_path / "good").read_bytes()
    zeros = bytes(len(good) // 2)
    for content in (good[:96], good[: len(good) // 2], good[:100] + zeros, zeros.join([good[:300], good[-200:]])):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(ImageError) as failed:
            opened(tmp_path / "bad")
        assert "\n" not in str(failed.value)
    assert Path("/dev/stdout").is_symlink()  # unsquashfs removes what it failed to write


@pytest.mark.system
def test_a_file_of_much_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.image.stream.BOMB_BYTES", 1 << 20)
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "huge").open("wb") as file:
        file.truncate(64 << 20)
    image = squashfs(tmp_path / "tree", tmp_path / "image")
    with pytest.raises(ImageError, match=": that is not an image"):
        opened(image)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (sif(b"hsqs", kind=5), "encrypted squashfs: apptainer build --sandbox root"),
        (sif(b"hsqs", kind=9), "unknown file system"),
        (sif(b"hsqs", size=1 << 40), "ends before the file system"),
        (sif(b"hsqs", size=-1), "ends before the file system"),
        (sif(b"no"), "no file system begins"),
        (sif(b"hsqs", total=1), "names no main partition"),
        (sif(b"hsqs", total=1 << 40), "lists 1099511627776 objects"),
        (sif(b"hsqs")[:60], "cut short"),
    ],
)
def test_a_sif_that_is_none(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "image.sif").write_bytes(content)
    with pytest.raises(ImageError, match=says):
        opened(tmp_path / "image.sif")


def test_without_unsquashfs_or_with_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "image.sqsh").write_bytes(b"hsqs".ljust(200, b"\0"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="squashfs-tools"):
        opened(tmp_path / "image.sqsh")
    old = tmp_path / "unsquashfs"
    old.write_text("#!/bin/sh\necho 'unsquashfs: -pf is an invalid option' >&2\nexit 1\n")
    old.chmod(0o755)
    with pytest.raises(ImageError, match=r"older than 4\.5\. Unpack it: unsquashfs -d root "):
        opened(tmp_path / "image.sqsh")
    old.write_text('#!/bin/sh\necho "FATAL: bad $*" >&2\nexit 1\n')
    with pytest.raises(ImageError, match=r"FATAL: bad.* -pf /proc/self/fd/1 "):  # which root cannot remove
        opened(tmp_path / "image.sqsh")
