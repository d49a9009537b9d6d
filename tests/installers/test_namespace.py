"""Bash scripts as they are printed, for /usr/local/cuda and with ldconfig, run as root in a private mount namespace."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from installers.render import script_bash
from tests.installers.archives import LINUX, Era, pack, plan_of, served
from tests.installers.namespace import CUDA, run

ERAS = [era for era in LINUX if era.target.arch == "x86_64" and era.version != "2"]


@pytest.mark.system
@pytest.mark.parametrize("era", ERAS, ids=lambda era: era.name)
def test_a_script_leaves_what_apply_leaves(era: Era, tmp_path: Path) -> None:
    """The same files, links and modes, and the same libraries in the loader's cache; this machine keeps its own."""
    before = os.path.lexists(CUDA), Path("/etc/ld.so.cache").stat().st_mtime_ns
    (tmp_path / "served").mkdir()
    archive = pack(era, tmp_path / "served")
    major, _, minor = era.cuda.partition(".")
    with served(archive.parent) as url:
        script = tmp_path / "script.sh"
        script.write_text(script_bash.script(plan_of(era, "", archive, url), era.target))
        words = (str(script), era.name, str(archive), url)
        cuda = 1000 * int(major) + 10 * int(minor or 0)
        seen = [
            json.loads(run(tmp_path / how, cuda, sys.executable, "-m", "tests.installers.namespace", how, *words))
            for how in ("script", "apply")
        ]
    assert seen[0] == seen[1]
    release = era.version.partition(".")[0]
    assert f"{CUDA}/lib64/libcudnn.so.{release}" in seen[0]["tree"]
    assert any(line.startswith(f"libcudnn.so.{release} ") for line in seen[0]["listed"])
    assert (os.path.lexists(CUDA), Path("/etc/ld.so.cache").stat().st_mtime_ns) == before
