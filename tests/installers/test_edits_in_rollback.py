"""What a user saves while a run is taken back is never lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installers import take_back
from installers.apply import apply
from installers.journal import State
from installers.undo import rollback
from tests.installers import trees

MINE = "mine, and nobody else's\n"
FILES = (
    "include/cudnn.h",
    "targets/x86_64-linux/lib/libcudnn.so.9.10.2",
    "settings.ini",
    "ld.so.conf.d/cudnn.conf",
)


def save_in_place(path: Path) -> None:
    path.chmod(0o644)
    path.write_text(MINE)


def save_by_rename(path: Path) -> None:
    """As editors do."""
    (path.parent / "edited~").write_text(MINE)
    (path.parent / "edited~").rename(path)


class User:
    """Saves a file right before the given call of ours; a file that is gone by then is not edited any more."""

    def __init__(self, path: Path, save: Callable[[Path], None], at: int) -> None:
        self._path, self._save, self._at = path, save, at
        self._calls = 0
        self.saved = False

    def before(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self._calls += 1
            if self._calls == self._at and self._path.exists():
                self.saved = True  # what it calls itself is not counted
                self._save(self._path)
            return real(*given, **named)

        return call


def taken_back(root: Path, name: str, save: Callable[[Path], None], at: int, functions: tuple[Any, ...]) -> User:
    """Take back a run while a user saves one of its files: what he saved lies there afterwards."""
    root.mkdir()
    cuda, packed, state = trees.toolkit(root), trees.archive(root), State(str(root / "state"))
    apply(trees.plan(cuda, packed), state)
    user = User(cuda / name, save, at)
    with pytest.MonkeyPatch.context() as patch:
        for module, function in functions:
            patch.setattr(module, function, user.before(getattr(module, function)))
        undone = rollback(state)
    if user.saved:
        texts = [path.read_text(errors="replace") for path in cuda.rglob("*") if path.is_file()]
        assert MINE in texts, f"the edit of {name} before call {at} is lost; left: {undone.left}"
    assert not [path for path in cuda.rglob("*") if ".gpudoctor-" in path.name]
    return user


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
@pytest.mark.parametrize("name", FILES)
def test_no_edit_is_lost_where_files_can_be_exchanged(tmp_path: Path, name: str, save: Callable[[Path], None]) -> None:
    functions = ((os, "rename"), (os, "replace"), (os, "unlink"), (os, "link"), (take_back, "exchange"))
    users = [taken_back(tmp_path / str(at), name, save, at, functions) for at in (1, 3, 11)]
    assert any(one.saved for one in users)


@pytest.mark.parametrize("name", FILES)
def test_nor_where_they_cannot(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file system than Linux's own: what lies there is compared immediately before it is replaced."""
    monkeypatch.setattr(take_back, "_rename", lambda *_: False)
    users = [taken_back(tmp_path / str(at), name, save_by_rename, at, ((take_back, "stamp_of"),)) for at in (1, 3, 11)]
    assert any(one.saved for one in users)
