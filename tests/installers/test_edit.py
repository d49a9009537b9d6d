"""Settings are merged into a file without disturbing what stands there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from installers.edit import merged
from installers.plan import Plan
from installers.render import script_bash
from installers.steps.edit_text import EditText
from tests.installers import target as machines

THEANORC = "# mine\n[global]\nfloatX = float32\ndevice=gpu\n\n[nvcc]\nflags=-D_FORCE_INLINES\nflags = -arch=sm_61\n"


def step(section: str, *settings: tuple[str, str], lines: tuple[str, ...] = (), once: bool = False) -> EditText:
    return EditText("/x", section, settings, lines, "", once=tuple(key for key, _ in settings) if once else ())


def by_script(text: str, edit: EditText, folder: Path) -> str:
    """What the bash script of such an edit leaves."""
    path = folder / "it's a file"
    path.write_bytes(text.encode())
    plan = Plan("edit", (edit._replace(path=str(path)),))
    script = script_bash.script(plan, machines.LINUX["ubuntu"])
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("", step("", lines=("/usr/local/cuda/lib64",)), "/usr/local/cuda/lib64\n"),
        ("a", step("", lines=("a", "b")), "a\nb\n"),
        ("a\nb\n", step("", lines=("b",)), "a\nb\n"),
        ("", step("global", ("device", "cuda")), "[global]\ndevice = cuda\n"),
        ("x = 1\n", step("global", ("device", "cuda")), "x = 1\n\n[global]\ndevice = cuda\n"),
        ("[a]\nx=1\n\n[b]\nx=1\n", step("a", ("x", "2")), "[a]\nx = 2\n\n[b]\nx=1\n"),
        ("[a]\nx=1\n\n[b]\nx=1\n", step("a", ("y", "2")), "[a]\nx=1\ny = 2\n\n[b]\nx=1\n"),
        ("[a]\nx=1\n\n[b]\ny=1\n", step("b", ("x", "2")), "[a]\nx=1\n\n[b]\ny=1\nx = 2\n"),
        ("x=1\n[a]\nx=1\n", step("", ("x", "2")), "x = 2\n[a]\nx=1\n"),
        ("[a] # one\r\nx: 1\r\n", step("a", ("x", "2"), lines=("z",)), "[a] # one\r\nx = 2\r\nz\r\n"),
        ("# x = 1\n", step("", ("x", "2")), "# x = 1\nx = 2\n"),
        ("xx = 1\n", step("", ("x", "2")), "xx = 1\nx = 2\n"),
        (THEANORC, step("global", ("device", "cuda")), THEANORC.replace("device=gpu", "device = cuda")),
        (THEANORC, step("dnn", ("enabled", "True")), THEANORC + "\n[dnn]\nenabled = True\n"),
        (THEANORC, step("nvcc", ("flags", "-O3")), THEANORC.replace("flags = -arch=sm_61", "flags = -O3")),
        (
            THEANORC,
            step("nvcc", ("flags", "-O3"), once=True),
            THEANORC.replace("flags = -arch=sm_61", "flags = -O3").replace("flags=-D_FORCE_INLINES\n", ""),
        ),
        ("[a]\nx = 1\n  2\n\ty\nz = 1\n", step("a", ("x", "3")), "[a]\nx = 3\nz = 1\n"),
        ("[a]\nx=1\n  2\n# c\nX: 3\n 4\n", step("a", ("x", "5"), once=True), "[a]\n# c\nx = 5\n"),
        ("[a]\n  x = 1\n  y = 2\n", step("a", ("x", "3")), "[a]\n  x = 3\n  y = 2\n"),
        ("[a]\nFLOATX=float64\n", step("a", ("floatX", "float32")), "[a]\nfloatX = float32\n"),
        ("[a]\n\n\n[b]\n", step("a", ("x", "a\\n'b'")), "[a]\nx = a\\n'b'\n\n\n[b]\n"),
    ],
)
def test_merged(text: str, edit: EditText, expected: str, tmp_path: Path) -> None:
    assert merged(text, edit) == expected
    assert by_script(text, edit, tmp_path) == expected
    assert by_script(expected, edit, tmp_path) == expected
    assert merged(expected, edit) == expected, "a second time changes nothing"
