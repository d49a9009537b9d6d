"""Lines of a user's own script, edited by the very command that is printed; real bash and sed do it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from installers.render import lasting
from installers.steps.remove_from_path import KIND, RemoveFromPath
from tests.installers.target import UBUNTU

NAME = "LD_LIBRARY_PATH"
ENTRY = "/opt/cudnn/lib"


def pasted(lines: tuple[str, ...], home: Path) -> None:
    subprocess.run(["bash", "-ec", "\n".join(lines)], check=True, env={"HOME": str(home), "PATH": "/usr/bin:/bin"})


def place_of(line: str, number: int) -> str:
    """As the probe says it, which knows what a line means by a variable of its own."""
    by = ", by $CUDNN_HOME/lib" if "$CUDNN_HOME" in line else ""
    return f"~/.bashrc, line {number}{by}"


def value_of(name: str, script: Path) -> str:
    """What the variable holds after the script, begun with /old."""
    text = f'{name}=/old; . "{script}" && printf %s "${name}"'
    done = subprocess.run(
        ["bash", "-ec", text], check=True, capture_output=True, env={"HOME": "/home/ada", "PATH": "/usr/bin:/bin"}
    )
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib", ""),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib/", ""),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib:$LD_LIBRARY_PATH", "/old"),
        ("export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/cudnn/lib", "/old"),
        ('export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:/opt/cudnn/lib"  # cuDNN', "/old"),
        ("LD_LIBRARY_PATH='/a:/opt/cudnn/lib:/b'; export LD_LIBRARY_PATH", "/a:/b"),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", "/old"),
        ("export LD_LIBRARY_PATH=/opt/cudnn/lib64:/opt/cudnn/lib:$LD_LIBRARY_PATH", "/opt/cudnn/lib64:/old"),
        (
            "export LD_LIBRARY_PATH=$CUDNN_HOME/lib:$LD_LIBRARY_PATH",
            "/old",
        ),  # all of it: whose directory that is, is not known
        ("if true; then\n  export LD_LIBRARY_PATH=$CUDNN_HOME/lib\nfi", "/old"),
    ],
)
def test_an_entry_leaves_the_line_and_the_rest_stays(line: str, kept: str, tmp_path: Path) -> None:
    script = tmp_path / ".bashrc"
    script.write_text(f"# mine\n{line}\nalias ll='ls -l'\n")
    number = 3 if line.startswith("if") else 2
    step = RemoveFromPath(NAME, ENTRY, "why", place_of(line, number))
    pasted(KIND.bash.typed(step, UBUNTU), tmp_path)
    assert value_of(NAME, script) == kept
    assert script.read_text().startswith("# mine\n")
    assert script.read_text().endswith("\nalias ll='ls -l'\n")
    assert (tmp_path / ".bashrc.bak").read_text() == f"# mine\n{line}\nalias ll='ls -l'\n"


@pytest.mark.parametrize(
    "line", ["export LD_LIBRARY_PATH=/a:/opt/cudnn/lib:$LD_LIBRARY_PATH", "export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH"]
)
def test_what_is_pasted_twice_changes_nothing_more(line: str, tmp_path: Path) -> None:
    """Nor a line that does not name the directory, where the file has been edited since."""
    script = tmp_path / ".bashrc"
    script.write_text(f"{line}\n")
    step = RemoveFromPath(NAME, ENTRY, "why", "~/.bashrc, line 1")
    for _ in range(2):
        pasted(KIND.bash.typed(step, UBUNTU), tmp_path)
        assert script.read_text() == "export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH\n"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("export CUDA_HOME=/usr/local/cuda-11.8", "/a b/it's#&\\1"),
        ('export CUDA_HOME="/usr/local/cuda-11.8"; export B=1', "/usr/local/cuda-12.8"),
    ],
)
def test_a_value_takes_the_place_of_another(line: str, value: str, tmp_path: Path) -> None:
    script = tmp_path / ".bashrc"
    script.write_text(f"{line}\n")
    pasted(lasting.with_value("CUDA_HOME", value, "~/.bashrc, line 1", UBUNTU), tmp_path)
    assert value_of("CUDA_HOME", script) == value
    assert ("B=1" in script.read_text()) == ("B=1" in line)


def test_a_line_does_nothing_any_more(tmp_path: Path) -> None:
    script = tmp_path / ".bashrc"
    script.write_text("if true; then\n    export CUDA_VISIBLE_DEVICES=1\nfi\n")
    pasted(lasting.put_out("~/.bashrc, line 2", UBUNTU), tmp_path)
    assert value_of("CUDA_VISIBLE_DEVICES", script) == "/old"


@pytest.mark.parametrize("place", ["", "/etc/ld.so.preload"])
def test_without_a_line_there_is_nothing_to_edit(place: str) -> None:
    assert lasting.put_out(place, UBUNTU) == ()


def test_files_of_the_system_are_edited_by_root(tmp_path: Path) -> None:
    (line,) = lasting.put_out("/etc/environment, line 3", UBUNTU)
    assert line == "sudo sed -i.bak -E '3s/^/# /' /etc/environment"
    (line,) = lasting.put_out("/etc/profile.d/cuda.sh, line 3", UBUNTU._replace(is_root=True))
    assert line == "sed -i.bak -E '3s/^/: # /' /etc/profile.d/cuda.sh"
