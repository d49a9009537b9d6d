"""Whatever a file is that an option names: one line, status 2, no hang and no fault of ours."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from doctor.cli import EXIT_USAGE, execute
from doctor.host import files

COMMANDS = (
    "check --from",
    "check --policy",
    "check --root",
    "check --dockerfile",
    "check --lock",
    "check --image",
    "explain",
    "bench --from",
    "gate --policy",
    "matrix refresh --from",
)
KINDS = ("pipe", "device", "noise", "missing", "directory", "empty", "no permission to read", "link to itself")
# What such a file is to these commands: a text in which nothing is known, a machine without anything, a place without
# manifests.
ANSWERED = {
    *(("explain", kind) for kind in ("noise",)),
    *(("matrix refresh --from", kind) for kind in ("noise", "directory", "empty", "no permission to read")),
    *((command, "empty") for command in ("check --policy", "gate --policy", "check --dockerfile")),
    ("check --root", "directory"),
}


def laid(kind: str, folder: Path) -> Path:
    path = folder / "given"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        return Path("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    elif kind == "link to itself":
        path.symlink_to("given")
    elif kind != "missing":
        path.write_bytes(b"" if kind == "empty" else bytes(range(256)) * 400)
        path.chmod(0 if kind.startswith("no permission") else 0o600)
    return path


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are POSIX's")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.timeout(60)
def test_any_file(
    command: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind.startswith("no permission") and os.geteuid() == 0:
        pytest.skip("root may read it")
    monkeypatch.setattr(files, "_WRITER_WITHIN_S", 0.05)
    monkeypatch.chdir(tmp_path)
    path = laid(kind, tmp_path)
    status = execute([*command.split(), path.name if path.parent == tmp_path else str(path)])
    printed = capsys.readouterr()
    said = printed.err or printed.out
    assert "a fault of gpudoctor itself" not in said
    if (command, kind) in ANSWERED:
        assert status in {0, 1, EXIT_USAGE, 4}, said
    else:
        assert status == (4 if command.startswith("gate") else EXIT_USAGE), said
        assert said.count("\n") == 1 or command.startswith("gate")


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are POSIX's")
def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 200_000,))
    writer.start()
    with files.open_named(str(tmp_path / "pipe")) as stream:
        assert len(stream.read()) == 200_000
    writer.join()
