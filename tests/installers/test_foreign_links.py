"""What root changes in a directory of another user stays there, whatever he exchanges while it is done."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installers import file_identity, transaction
from installers.apply import apply
from installers.errors import CannotChange, InstallError
from installers.journal import State
from installers.plan import Plan
from installers.step import Step
from installers.steps.change_mode import ChangeMode
from installers.steps.edit_text import EditText
from installers.steps.make_link import MakeLink
from installers.steps.write_file import WriteFile
from installers.undo import rollback

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give links to others")

THEM = 12345
EDIT = EditText(path="", section="global", settings=(("device", "cuda"),), lines=(), why="use the GPU")


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(str(tmp_path / "state"))


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of another user, beside one that only root may change."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "rc").write_text("kept\n")
    (tmp_path / "secret" / "rc").chmod(0o600)
    (tmp_path / "theirs").mkdir()
    return tmp_path / "theirs"


def give(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, THEM, THEM)


def untouched(theirs: Path) -> bool:
    secret = theirs.parent / "secret"
    there = {path.name: (path.read_text(), path.stat().st_mode & 0o777) for path in secret.iterdir()}
    return there == {"rc": ("kept\n", 0o600)}


def exchange_folder(theirs: Path) -> None:
    """As the other user: his directory becomes a link to that of root."""
    theirs.rename(theirs.parent / "moved")
    theirs.symlink_to("secret")
    os.lchown(theirs, THEM, THEM)


@pytest.mark.parametrize(
    "step",
    [
        lambda path: EDIT._replace(path=path),
        lambda path: WriteFile(path, ("text",), "why"),
    ],
    ids=["edit", "write"],
)
@pytest.mark.parametrize("link", ["file", "folder", "hop", "missing"])
def test_no_link_of_his_is_followed(theirs: Path, state: State, link: str, step: Callable[[str], Any]) -> None:
    own = theirs.parent / "own"
    if link == "folder":
        (theirs / "config").symlink_to("../secret")
    (theirs / "rc").symlink_to("../secret/new" if link == "missing" else "../secret/rc")
    give(theirs)
    own.symlink_to("theirs/rc")
    name = {"folder": theirs / "config" / "rc", "hop": own}.get(link, theirs / "rc")
    with pytest.raises(InstallError, match="is a link that another user made"):
        apply(Plan("edit", (step(str(name)),)), state)
    assert untouched(theirs)


def test_a_link_of_roots_own_is_followed(theirs: Path, state: State) -> None:
    (theirs / "rc").symlink_to("../secret/rc")
    apply(Plan("edit", (WriteFile(str(theirs / "rc"), ("text",), "why"),)), state)
    assert (theirs / "rc").is_symlink()
    assert (theirs.parent / "secret" / "rc").read_text() == "text\n"
    assert rollback(state).restored == 1
    assert untouched(theirs)


def test_a_file_of_his_is_edited_and_stays_his(theirs: Path, state: State) -> None:
    (theirs / "rc").write_text("[global]\n")
    give(theirs)
    apply(Plan("edit", (EDIT._replace(path=str(theirs / "rc")),)), state)
    assert (theirs / "rc").read_text() == "[global]\ndevice = cuda\n"
    assert (theirs / "rc").stat().st_uid == THEM
    assert sorted(os.listdir(theirs)) == ["rc"]


@pytest.mark.parametrize(
    ("hook", "at"), [(hook, at) for hook in ("stamp_of", "sync", "link_or_copy") for at in (1, 2, 3)]
)
@pytest.mark.parametrize("kind", ["write", "link", "mode"])
def test_his_directory_becomes_a_link_meanwhile(theirs: Path, state: State, hook: str, at: int, kind: str) -> None:
    (theirs / "rc").write_text("his\n")
    give(theirs)
    path = str(theirs / "rc")
    steps: dict[str, Step] = {
        "write": WriteFile(path, ("text",), "why"),
        "link": MakeLink(path, "to", "why"),
        "mode": ChangeMode((path,), "a+r", "why"),
    }
    if kind == "mode":
        (theirs / "rc").chmod(0o600)
    calls = []
    real = getattr(file_identity, hook)

    def exchanging(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == at:
            exchange_folder(theirs)
        return real(*given)

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(InstallError, OSError):
        patch.setattr(transaction, hook, exchanging)
        if hook == "stamp_of":
            patch.setattr(file_identity, hook, exchanging)
        apply(Plan("x", (steps[kind],)), state)
    assert untouched(theirs), calls


def test_his_directory_becomes_a_link_before_a_rollback(theirs: Path, state: State) -> None:
    """Files that look like those that the run made lie behind it."""
    (theirs / "rc").write_text("his\n")
    (theirs / "mode").write_text("his\n")
    (theirs / "mode").chmod(0o600)
    give(theirs)
    steps = (
        WriteFile(str(theirs / "rc"), ("text",), "why"),
        WriteFile(str(theirs / "new"), ("text",), "why"),
        ChangeMode((str(theirs / "mode"),), "a+r", "why"),
    )
    apply(Plan("x", steps), state)
    secret = theirs.parent / "secret"
    for name in ("rc", "new", "mode"):
        shutil.copy2(theirs / name, secret / name)

    def seen() -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mode) for path in secret.iterdir()}

    before = seen()
    exchange_folder(theirs)
    with pytest.raises((InstallError, OSError)):
        rollback(state)
    assert seen() == before


def test_a_file_that_is_put_back_is_written_through_no_link(
    theirs: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no hard link can be made, a copy is: at a name that he can guess."""
    (theirs / "rc").write_text("his\n")
    give(theirs)
    apply(Plan("x", (WriteFile(str(theirs / "rc"), ("text",), "why"),)), state)

    def no_link(_: object, to: str, **__: object) -> None:
        os.symlink(theirs.parent / "secret" / "rc", f"{to}.part")
        os.lchown(f"{to}.part", THEM, THEM)
        raise OSError

    monkeypatch.setattr(os, "link", no_link)
    with pytest.raises(InstallError, match="File exists"):
        rollback(state)
    assert untouched(theirs)


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_what_is_no_file_is_not_waited_for(theirs: Path, state: State, kind: str) -> None:
    os.mkfifo(theirs / "rc") if kind == "pipe" else (theirs / "rc").mkdir()
    with pytest.raises(CannotChange, match="is not a text file"):
        apply(Plan("edit", (EDIT._replace(path=str(theirs / "rc")),)), state)
