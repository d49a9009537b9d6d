"""What runs as root is shown first, and sees nothing of a user's environment that says what is executed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from installers.apply import apply
from installers.command import CommandFailed, as_root, environment_of, run_command, settled
from installers.journal import State
from installers.plan import Plan
from installers.steps.command import Command, Inverse

HOSTILE = dict.fromkeys(
    (
        *(
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PIP_INDEX_URL",
            "HOME",
        ),
        *("APT_CONFIG", "PERL5LIB", "GIT_SSH", "SUDO_ASKPASS", "XDG_CONFIG_HOME", "DPKG_ROOT", "LC_ALL", "http_proxy"),
    ),
    "/tmp/x",
) | {"LC_ALL": "C.UTF-8"}
PIP = ("pip", "list")
KEPT = {"PATH", "HOME", "USER", "LOGNAME", "LC_ALL", "http_proxy"}


@pytest.fixture(autouse=True)
def _hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("LC_") or name in {"LANG", "LANGUAGE", "TERM", "TZ", "SUDO_UID"} or "proxy" in name.lower():
            monkeypatch.delenv(name)
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("uid", "through_sudo", "command", "is_minimal"),
    [
        (1000, False, as_root(Command(PIP, "", needs_root=True), ("sudo",)), True),
        (1000, False, as_root(Command(PIP, "", needs_root=False), ("sudo",)), False),  # nothing of it runs as root
        (1000, False, as_root(Command(PIP, "", needs_root=True), ()), False),
        (0, False, as_root(Command(PIP, "", needs_root=True), ()), True),
        (
            0,
            False,
            as_root(Command(PIP, "", needs_root=False), ()),
            False,
        ),  # root's own environment, for what root would run itself
        (0, True, as_root(Command(PIP, "", needs_root=False), ()), True),
    ],
)
def test_environment(
    uid: int, through_sudo: bool, command: Command, is_minimal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    if through_sudo:
        monkeypatch.setenv("SUDO_UID", "1000")
    environ = environment_of(command)
    assert (environ is not None) is is_minimal
    if environ is not None:
        assert set(environ) == KEPT
        assert "/tmp" not in environ["PATH"] + environ["HOME"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root runs what is root's")
def test_as_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    evil = tmp_path / "env"
    evil.write_text("#!/bin/sh\necho EVIL\n")
    evil.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run_command(Command(("env",), "", needs_root=True))
    shown = capfd.readouterr()
    assert shown.err == "as root: env\n"
    assert {line.partition("=")[0] for line in shown.out.splitlines()} <= {*KEPT, "_", "PWD", "SHLVL"}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root runs what is root's")
@pytest.mark.parametrize("needs_root", [True, False])
@pytest.mark.parametrize("through_sudo", [True, False])
def test_no_module_of_the_working_directory_is_roots(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    needs_root: bool,
    through_sudo: bool,
) -> None:
    """`python -m` looks there first: a pip.py in /tmp would be run by root."""
    for name in ("pip", "json", "venv", "encodings"):
        (tmp_path / f"{name}.py").write_text("print('EVIL')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.delenv("PYTHONSTARTUP")
    if through_sudo:
        monkeypatch.setenv("SUDO_UID", "1000")
    run_command(Command((sys.executable, "-m", "json.tool", "--help"), "", needs_root=needs_root))
    shown = capfd.readouterr()
    assert "EVIL" not in shown.out
    assert shown.err.startswith(f"as root: {sys.executable} -m json.tool --help\n")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("needs_root", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ("{env}/bin/python", "-m", "pip", "list"),
        (".venv/bin/python", "-m", "pip", "list"),
        ("true", "--python", "{env}/bin/python"),  # as uv is told which one to start
        ("true", "--python={env}/bin/python"),
        ("true", "-p", "{env}"),  # as conda is
        ("true", "{env}"),
    ],
)
def test_no_python_of_another_user_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], needs_root: bool
) -> None:
    environment = tmp_path / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {tmp_path}/home\n")
    (environment / "bin" / "python").symlink_to("/bin/true")
    monkeypatch.chdir(tmp_path)
    command = Command(tuple(word.format(env=environment) for word in words), "", needs_root=needs_root)
    run_command(command)
    os.chown(environment / "pyvenv.cfg", 12345, 12345)
    with pytest.raises(CommandFailed, match=r"was not started: .*pyvenv\.cfg can be changed by another user"):
        run_command(command)
    early = Command(("touch", str(tmp_path / "done")), "")  # nor what stands before it in the plan
    with pytest.raises(CommandFailed, match="was not started"):
        apply(Plan("a plan", (early, command)), State(str(tmp_path / "state")))
    assert not (tmp_path / "done").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others")
def test_who_cannot_be_asked_counts_as_there(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\necho ran > {tmp_path}/ran\nexit 1\n")
    tool.chmod(0o755)
    inverse = Inverse((("remove", "x"),), names=("x",), present=(str(tool),))
    assert settled(Command(("add", "x"), "", inverse=inverse)).inverse == inverse
    (tmp_path / "ran").unlink()
    os.chown(tool, 12345, 12345)
    kept = settled(Command(("add", "x"), "", inverse=inverse)).inverse
    assert kept is not None
    assert kept.commands == ()
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others")
def test_a_home_of_another_user_gives_root_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`su` without a dash leaves it, and tells nobody."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert environment_of(Command(PIP, "")) is None
    os.chown(tmp_path, 12345, 12345)
    environ = environment_of(Command(PIP, ""))
    assert environ is not None
    assert environ["HOME"] != str(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root runs what is root's")
def test_a_path_from_here_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_command(Command(("mkdir", ".venv"), ""))
    run_command(Command(("mkdir", "a/../b", "-p"), "", needs_root=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "a", "b"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root runs what is root's")
def test_no_name_hides_what_root_runs(capfd: pytest.CaptureFixture[str]) -> None:
    run_command(Command(("true", "\x1b[2K\r\u202e"), "", needs_root=True))
    assert capfd.readouterr().err == "as root: true '\\x1b[2K\\r\\u202e'\n"


@pytest.mark.parametrize(
    ("name", "value", "is_kept"),
    [
        ("LC_ALL", "C.UTF-8", True),
        ("LC_CTYPE", "x.//tmp/evil", False),
        ("LANGUAGE", "%s", False),
        ("TERM", "../evil", False),
        ("TZ", "Europe/Berlin", True),
        ("TZ", ":/tmp/evil", False),
        ("TZ", "../../tmp/evil", False),
        ("https_proxy", "http://proxy:3128/", True),
        ("FTP_PROXY", "http://proxy:3128/", False),
    ],
)
def test_languages_and_terminals_name_no_files(
    name: str, value: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    environ = environment_of(Command(("sudo", "true"), "", needs_root=True))
    assert environ is not None
    assert (name in environ) is is_kept
