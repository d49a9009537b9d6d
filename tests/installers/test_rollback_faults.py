"""The system refuses a call of a rollback: one line, everything still recorded, and the next rollback ends it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import execute
from installers import journal, take_back
from installers.apply import apply
from installers.journal import State
from tests.installers import trees

CALLS = (
    (take_back, "exchange"),
    (take_back, "_copy"),
    (os, "rename"),
    (os, "unlink"),
    (os, "rmdir"),
    (os, "fsync"),
    (journal.Journal, "append"),
)


@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT", "EPERM", "EIO"])
@pytest.mark.parametrize("call", CALLS, ids=[name for _, name in CALLS])
def test_a_call_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    call: tuple[Any, str],
    number: str,
) -> None:
    cuda, packed = trees.toolkit(tmp_path), trees.archive(tmp_path)
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    before = trees.digest_of(cuda)
    apply(trees.plan(cuda, packed), State(str(tmp_path / "state")))
    capsys.readouterr()

    def refused(*_: object, **__: object) -> None:
        code = getattr(errno, number)
        raise OSError(code, os.strerror(code), str(cuda))

    with monkeypatch.context() as patch:
        patch.setattr(*call, refused)
        status = execute(["install", "rollback"])
    said = capsys.readouterr().err
    assert "a fault of gpudoctor itself" not in said
    assert said.count("\n") == (status != 0)
    assert status in {0, 1, 2}
    while execute(["install", "rollback"]) == 0 and trees.digest_of(cuda) != before:
        pass
    assert trees.digest_of(cuda) == before
