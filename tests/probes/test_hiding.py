"""Modules of somebody's own that are named as a framework, and files that are closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.facts.environment import HidingModule
from doctor.probes import environment
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree

SITE = "v/lib/python3.12/site-packages"
TREE: Tree = {
    "v/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
    "v/bin/python": "-> /usr/bin/python3.12",
    "usr/bin/python3.12": "#!/bin/sh\n",
    f"{SITE}/torch-2.9.1.dist-info/RECORD": "",
    f"{SITE}/torch-2.9.1.dist-info/METADATA": "Name: torch\n",
    f"{SITE}/torch/__init__.py": "",
    f"{SITE}/torch/version.py": "__version__ = '2.9.1'\n",
    "other": "-> v/lib/python3.12/site-packages",
}


@pytest.mark.parametrize(
    ("files", "variable", "found"),
    [
        ({"own/torch.py": ""}, "/own", "/own/torch.py"),
        ({"own/torch/__init__.py": ""}, "/none:/own/", "/own/torch/__init__.py"),
        ({"own/torch/data": ""}, "/own", ""),  # Python goes on behind a directory that is no package
        ({"own/torch.py": ""}, "", ""),
        ({}, "/other", ""),  # the same package by another name
    ],
)
def test_hiding(tmp_path: Path, files: Tree, variable: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    host = PretendHost(tmp_path, {**TREE, **files}, environ={"PYTHONPATH": variable})
    hiding = environment.look(host, ("/v",)).get()[0].hiding
    assert hiding == ((HidingModule("torch", found, "PYTHONPATH"),) if found else ())


def test_closed_files(tmp_path: Path) -> None:
    closed = PretendHost(tmp_path, TREE, openable=False)
    assert f"/{SITE}/torch/version.py" in environment.look(closed, ("/v",)).get()[0].not_read
    assert environment.look(PretendHost(tmp_path / "open", TREE), ("/v",)).get()[0].not_read == ()
