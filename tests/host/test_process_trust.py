"""The one door to the operating system starts nothing that another user could change, whoever calls it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from compat.base.process import Launch, run_process
from compat.base.trust import NotTrusted

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others")

THEM = 12345


def script(path: Path, first: str = "#!/bin/sh") -> Path:
    path.write_text(f"{first}\ntouch {path.parent}/ran\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("named", ["argv", "program", "relative", "PATH"])
@pytest.mark.parametrize("how", ["owner", "mode", "link", "folder", "interpreter", "env"])
def test_nothing_of_another_user_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, how: str
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    path = script(folder / "tool")
    environ = {"PATH": f"{folder}:/usr/bin:/bin"}
    if how == "owner":
        os.chown(path, THEM, THEM)
    elif how == "mode":
        path.chmod(path.stat().st_mode | stat.S_IWOTH)
    elif how == "link":
        path.rename(tmp_path / "real")
        path.symlink_to("../real")
        os.lchown(path, THEM, THEM)
    elif how == "folder":
        os.chown(folder, THEM, THEM)
    else:
        os.chown(script(folder / "theirs"), THEM, THEM)
        script(path, f"#!{folder}/theirs" if how == "interpreter" else "#!/usr/bin/env theirs")
    launch = {
        "argv": Launch((str(path),), environ),
        "program": Launch(("another name",), environ, str(path)),
        "relative": Launch(("./tool",), environ, folder=str(folder)),
        "PATH": Launch(("tool",), environ),
    }[named]
    monkeypatch.setenv("PATH", environ["PATH"])
    with pytest.raises(NotTrusted):
        run_process(launch, 10)
    assert not list(tmp_path.rglob("ran"))


def test_what_is_roots_is_started(tmp_path: Path) -> None:
    assert run_process(Launch((str(script(tmp_path / "tool")),)), 10).status == 0
    assert (tmp_path / "ran").exists()
