"""The directories of a user beside platformdirs' own answers, on every system that it knows."""

from __future__ import annotations

import os
from itertools import product

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from compat.base.user_dirs import Kind, user_dir

KINDS: tuple[Kind, ...] = ("cache", "config", "data", "state")


@pytest.mark.skipif(os.name == "nt", reason="platformdirs answers for the system that it runs on")
@pytest.mark.parametrize(("kind", "system", "xdg"), tuple(product(KINDS, ("linux", "macos"), ("", " ", "/x"))))
def test_as_platformdirs(kind: Kind, system: str, xdg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", xdg)
    theirs = (MacOS if system == "macos" else Unix)("tool", appauthor=False)
    assert user_dir(os.environ, system, kind, "tool") == getattr(theirs, f"user_{kind}_dir")


@pytest.mark.parametrize(
    ("environ", "kind", "roaming", "said"),
    [
        ({"LOCALAPPDATA": "C:\\L"}, "cache", False, "C:/L/tool/Cache"),
        ({"LOCALAPPDATA": "C:\\L"}, "data", False, "C:/L/tool"),
        ({"LOCALAPPDATA": "C:\\L"}, "state", False, "C:/L/tool"),
        ({"LOCALAPPDATA": "C:\\L", "APPDATA": "C:\\R"}, "config", True, "C:/R/tool"),
        ({}, "config", True, ""),
    ],
)
def test_windows(environ: dict[str, str], kind: Kind, roaming: bool, said: str) -> None:
    assert user_dir(environ, "windows", kind, "tool", roaming=roaming) == said


def test_nowhere() -> None:
    assert user_dir({}, "linux", "cache", "tool") == ""
    assert user_dir({"XDG_CACHE_HOME": "relative", "HOME": "/home/u"}, "linux", "cache", "tool") == ""
