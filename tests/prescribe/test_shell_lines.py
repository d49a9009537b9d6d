"""Lines of a user's own script: what becomes of them, in words, by --fix, and back; real bash reads the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Place
from doctor.prescribe.shell_lines import with_edited_lines, with_value
from installers.apply import apply
from installers.errors import CannotChange
from installers.journal import State
from installers.plan import Plan
from installers.render import commands
from installers.step import Step
from installers.steps.edit_line import EditLine, edited
from installers.steps.remove_from_path import RemoveFromPath
from installers.steps.set_variable import SetVariable
from installers.steps.unset_variable import UnsetVariable
from installers.undo import rollback
from tests.installers.target import UBUNTU
from tests.machine import machine, seen

NAME = "LD_LIBRARY_PATH"
ENTRY = "/opt/cudnn/lib"


def facts_of(line: int, name: str = NAME, value: str = ENTRY, file: str = "~/.bashrc") -> Facts:
    place = Place(file, line)
    facts = machine()
    told = seen((Variable(name, value, place.in_words, place),))
    return facts._replace(configuration=facts.configuration._replace(variables=told))


def plan_for(step: Step, home: Path, line: int, name: str = NAME, value: str = ENTRY) -> Plan:
    host = LiveHost({"HOME": str(home), name: value, "CUDNN_HOME": "/opt/cudnn"})
    return with_edited_lines(Plan("x", (step,), ()), facts_of(line, name, value), host, UBUNTU)


def value_of(name: str, script: Path) -> str:
    """What the variable holds after the script, begun with /old."""
    text = f'{name}=/old; CUDNN_HOME=/opt/cudnn; . "{script}" && printf %s "${name}"'
    done = subprocess.run(
        ["bash", "-ec", text], check=True, capture_output=True, env={"HOME": "/home/ada", "PATH": "/usr/bin:/bin"}
    )
    return done.stdout.decode()


def carried_out(plan: Plan, script: Path) -> str:
    for step in plan.steps:
        if isinstance(step, EditLine):
            script.write_text(edited(script.read_text(), step))
    return script.read_text()


@pytest.mark.parametrize(
    ("line", "kept", "left"),
    [
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib", "/old", ""),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib/", "/old", ""),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib:$LD_LIBRARY_PATH", "/old", ""),
        ("export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/cudnn/lib", "/old", ""),
        ('export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:/opt/cudnn/lib"  # cuDNN', "/old", ""),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", "/old", ""),
        ("export LD_LIBRARY_PATH=$CUDNN_HOME/lib:$LD_LIBRARY_PATH", "/old", ""),
        (
            "LD_LIBRARY_PATH='/a:/opt/cudnn/lib:/b'; export LD_LIBRARY_PATH",
            "/a:/b",
            "LD_LIBRARY_PATH='/a:/b'; export LD_LIBRARY_PATH",
        ),
        (
            "export LD_LIBRARY_PATH=/opt/cudnn/lib64:/opt/cudnn/lib:$LD_LIBRARY_PATH",
            "/opt/cudnn/lib64:/old",
            "export LD_LIBRARY_PATH=/opt/cudnn/lib64:$LD_LIBRARY_PATH",
        ),
        (
            "export LD_LIBRARY_PATH=$CUDNN_HOME/lib:/b:$LD_LIBRARY_PATH",
            "/b:/old",
            "export LD_LIBRARY_PATH=/b:$LD_LIBRARY_PATH",
        ),
        (
            "if true; then\n  export LD_LIBRARY_PATH=$CUDNN_HOME/lib\nfi",
            "/old",
            "if true; then\n  : # export LD_LIBRARY_PATH=$CUDNN_HOME/lib\nfi",
        ),
    ],
)
def test_an_entry_leaves_the_line_and_the_rest_stays(line: str, kept: str, left: str, tmp_path: Path) -> None:
    script = tmp_path / ".bashrc"
    script.write_text(f"# mine\n{line}\nalias ll='ls -l'\n")
    number = 3 if line.startswith("if") else 2
    plan = plan_for(RemoveFromPath(NAME, ENTRY, "why", f"~/.bashrc, line {number}"), tmp_path, number)
    assert carried_out(plan, script) == f"# mine\n{left}{chr(10) * bool(left)}alias ll='ls -l'\n"
    assert value_of(NAME, script) == kept
    with pytest.raises(CannotChange, match="has changed since"):
        carried_out(plan, script)


@pytest.mark.parametrize(
    "line",
    [
        "export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH",
        "export LD_LIBRARY_PATH=/opt/cudnn/library",
        "export LD_LIBRARY_PATH=/opt/cudnn/lib:\\",
        "export OTHER=/opt/cudnn/lib",
    ],
)
def test_what_is_not_understood_is_left_to_a_person(line: str, tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text(f"{line}\n/b\n")
    step = RemoveFromPath(NAME, ENTRY, "why", "~/.bashrc, line 1")
    assert commands(plan_for(step, tmp_path, 1), UBUNTU) == (
        "# in ~/.bashrc, line 1: remove /opt/cudnn/lib from LD_LIBRARY_PATH, then in this shell:",
        "unset LD_LIBRARY_PATH",
    )


def test_what_is_printed_is_two_lines(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export LD_LIBRARY_PATH=/opt/cudnn/lib\n")
    step = RemoveFromPath(NAME, ENTRY, "why", "~/.bashrc, line 1")
    edit = "# In ~/.bashrc, line 1, delete `export LD_LIBRARY_PATH=/opt/cudnn/lib`. Then, in this shell:"
    assert commands(plan_for(step, tmp_path, 1), UBUNTU) == (edit, "unset LD_LIBRARY_PATH")
    more = plan_for(step, tmp_path, 1, value=f"/a b:{ENTRY}/:/c")
    assert commands(more, UBUNTU) == (edit, "export LD_LIBRARY_PATH='/a b:/c'")


@pytest.mark.parametrize(
    ("line", "value", "rest"),
    [
        ("export CUDA_HOME=/usr/local/cuda-11.8", "/a b/it's#&\\1", ""),
        ('export CUDA_HOME="/usr/local/cuda-11.8"; export B=1', "/usr/local/cuda-12.8", "; export B=1"),
    ],
)
def test_a_value_takes_the_place_of_another(line: str, value: str, rest: str, tmp_path: Path) -> None:
    script = tmp_path / ".bashrc"
    script.write_text(f"{line}\n")
    step = SetVariable("CUDA_HOME", value, "why", "~/.bashrc, line 1")
    plan = plan_for(step, tmp_path, 1, "CUDA_HOME", "/usr/local/cuda-11.8")
    assert carried_out(plan, script) == f"{with_value(line, 'CUDA_HOME', value)}\n"
    assert value_of("CUDA_HOME", script) == value
    assert script.read_text().endswith(f"{rest}\n")


def test_two_lines_of_a_file_go_from_the_end(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export A=1\n# mine\nexport B=1\n")
    told = tuple(
        Variable(name, "1", f"~/.bashrc, line {at}", Place("~/.bashrc", at)) for name, at in (("A", 1), ("B", 3))
    )
    facts = machine()
    facts = facts._replace(configuration=facts.configuration._replace(variables=seen(told)))
    steps = tuple(UnsetVariable(one.name, "why", one.set_in) for one in told)
    plan = with_edited_lines(Plan("x", steps, ()), facts, LiveHost({"HOME": str(tmp_path)}), UBUNTU)
    assert [getattr(step, "line", 0) for step in plan.steps] == [3, 1, 0, 0]
    assert carried_out(plan, tmp_path / ".bashrc") == "# mine\n"


def test_a_rollback_restores_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    script = tmp_path / ".bashrc"
    script.write_text("# mine\r\nexport CUDA_VISIBLE_DEVICES=-1\r\n")
    script.chmod(0o640)
    plan = plan_for(
        UnsetVariable("CUDA_VISIBLE_DEVICES", "why", "~/.bashrc, line 2"), tmp_path, 2, "CUDA_VISIBLE_DEVICES"
    )
    state = State(str(tmp_path / "state"))
    done = apply(plan, state)
    assert script.read_bytes() == b"# mine\r\n"
    assert [type(step) for step in done.left] == [UnsetVariable]
    rollback(state, done.id)
    assert script.read_bytes() == b"# mine\r\nexport CUDA_VISIBLE_DEVICES=-1\r\n"
    assert script.stat().st_mode & 0o777 == 0o640


def test_files_of_the_system_are_for_root() -> None:
    edit = EditLine("/etc/environment", 3, "CUDA_HOME=/x", None, "why", by_root=True)
    assert commands(Plan("x", (edit,)), UBUNTU._replace(live=False)) == (
        "# As root: In /etc/environment, line 3, delete `CUDA_HOME=/x`",
    )


@pytest.mark.parametrize("shell", ["/bin/bash", "/usr/bin/fish"])
def test_a_variable_that_no_file_sets_is_told(shell: str) -> None:
    """A shell has it from what started it: the command helps that shell alone."""
    host = LiveHost({"HOME": "/nowhere", NAME: ENTRY, "SHELL": shell})
    facts = facts_of(1)
    told = seen((Variable(NAME, ENTRY, ""),))
    facts = facts._replace(configuration=facts.configuration._replace(variables=told))
    first, *others = commands(
        with_edited_lines(Plan("x", (UnsetVariable(NAME, "y"),), ()), facts, host, UBUNTU), UBUNTU
    )
    assert first.startswith(f"# No file that gpudoctor reads sets {NAME}")
    assert "systemctl --user show-environment" in first
    fish = [f"# In fish, type `set -e {NAME}` instead of unset"] if shell.endswith("fish") else []
    assert others == [*fish, f"unset {NAME}"]
