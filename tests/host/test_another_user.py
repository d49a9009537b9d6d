"""In a directory of another user, as root and as a user: nothing of his is started, and his files are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from doctor.commands.refresh.configuration import _built_in
from doctor.host.live import LiveHost

pytestmark = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others, and be another user"
)

THEM, ANOTHER = 12345, 12346
NONE: Mapping[str, str] = MappingProxyType({})
PYTHON = os.path.realpath(sys.executable)
TAG = f"python{sys.version_info.major}.{sys.version_info.minor}"
COMMANDS = {
    "check": ("check",),
    "gate": ("gate", "--python", ".venv"),
    "run": ("run", "--", "true"),
    "which": ("which", "cudnn", "--framework", "torch"),
    "verify": ("verify", "--framework", "torch"),
    "install": ("install", "cudnn", "9.10.2"),
    "policy": ("policy", "init", "--force"),
    "deep": ("check", "--deep"),
    "refresh": ("matrix", "refresh", "torch", "--python", ".venv"),
}


class Theirs:
    """A directory of another user, and what was run of the code in it."""

    def __init__(self, root: Path) -> None:
        self.folder, self._ran = root / "theirs", root / "ran"
        self.folder.mkdir()
        self._ran.mkdir(mode=0o777)
        self._ran.chmod(0o777)
        self.payload = (
            "import posix\n"
            f"posix.close(posix.open({str(self._ran)!r} + '/%d' % posix.getuid(), posix.O_WRONLY | posix.O_CREAT))\n"
        )

    def write(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name: str, target: Path | str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def lay_python(self, prefix: str = "home") -> None:
        """A standard library that says who runs it."""
        self.write(f"{prefix}/lib/{TAG}/os.py")
        self.write(f"{prefix}/lib/{TAG}/encodings/__init__.py", self.payload)
        self.write(f"{prefix}/bin/python3")

    def lay_bare_environment(self, name: str = ".venv") -> None:
        """A virtual environment that names no version of Python."""
        self.lay_python()
        self.link(f"{name}/bin/python", PYTHON)
        self.write(f"{name}/pyvenv.cfg", f"home = {self.folder}/home/bin\n")

    def lay_environment(self, name: str = ".venv") -> None:
        """A virtual environment with torch."""
        self.lay_bare_environment(name)
        self.write(f"{name}/lib/{TAG}/site-packages/torch/__init__.py", self.payload)
        self.write(f"{name}/lib/{TAG}/site-packages/torch/version.py", "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n")
        self.write(f"{name}/lib/{TAG}/site-packages/torch-2.9.1.dist-info/METADATA", "Name: torch\nVersion: 2.9.1\n")

    def give(self, owner: int = THEM) -> None:
        """Let all of it be theirs."""
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)

    def call(
        self, *words: str, environ: Mapping[str, str] = NONE, uid: int = 0, owner: int = THEM
    ) -> subprocess.CompletedProcess[str]:
        """Run gpudoctor there."""
        self.give(owner)
        code = f"import sys; sys.path[:0] = {sys.path!r}; import gpudoctor; gpudoctor.main()"
        clean = {"PATH": "/usr/bin:/bin", "HOME": "/root" if not uid else "/nonexistent", "GPUDOCTOR_CACHE": ""}
        return subprocess.run(
            [sys.executable, "-I", "-c", code, *words],
            cwd=self.folder,
            env=clean | dict(environ),
            user=uid,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def ran(self) -> list[str]:
        """The users who ran it."""
        return [path.name for path in self._ran.iterdir()]


@pytest.fixture
def theirs() -> Iterator[Theirs]:
    """Not below pytest's own directory, which only root may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Theirs(Path(folder))


def test_the_code_would_run(theirs: Theirs) -> None:
    """Nothing below passes because the trap is none."""
    theirs.lay_environment()
    subprocess.run([theirs.folder / ".venv" / "bin" / "python", "-I", "-S", "-c", ""], check=False, capture_output=True)
    assert theirs.ran == ["0"]


@pytest.mark.parametrize("is_bare", [True, False])
@pytest.mark.parametrize("command", COMMANDS)
def test_root_starts_no_environment_of_another_user(theirs: Theirs, command: str, is_bare: bool) -> None:
    (theirs.lay_bare_environment if is_bare else theirs.lay_environment)()
    done = theirs.call(*COMMANDS[command])
    assert theirs.ran == []
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 1, 2, 4}, done.stderr


@pytest.mark.parametrize("how", ["VIRTUAL_ENV", "PATH", "--python", "kernel"])
def test_nor_by_any_other_way_to_it(theirs: Theirs, how: str) -> None:
    theirs.lay_environment("env")
    python = f"{theirs.folder}/env/bin/python"
    theirs.link("env/bin/python3", PYTHON)
    theirs.write("env/share/jupyter/kernels/k/kernel.json", json.dumps({"argv": [python]}))
    environ = {"VIRTUAL_ENV": f"{theirs.folder}/env"} if how in {"VIRTUAL_ENV", "kernel"} else {}
    environ |= {"PATH": f"{theirs.folder}/env/bin:/usr/bin:/bin"} if how == "PATH" else {}
    done = theirs.call(
        "check", *(("--python", python) if how == "--python" else ()), "--format", "json", environ=environ
    )
    assert theirs.ran == []
    [environment] = json.loads(done.stdout)["facts"]["environments"]
    assert environment["prefix"] == f"{theirs.folder}/env"
    assert environment["owner"] == str(THEM)
    assert [one["package"] for one in environment["frameworks"]["value"]] == ["torch"]  # which was read


@pytest.mark.parametrize("laid", ["bare", "wrapper", "with torch"])
@pytest.mark.parametrize("command", ["check", "gate", "which", "install", "policy"])
def test_of_ones_own_environment_nothing_is_started_either(theirs: Theirs, command: str, laid: str) -> None:
    (theirs.lay_environment if laid == "with torch" else theirs.lay_bare_environment)()
    wrapper = theirs.write("bin/python3", f'#!/bin/sh\nP={theirs.folder}/.venv/bin/python\n"$P" "$@"\n')
    wrapper.chmod(0o755)
    if laid == "wrapper":
        (theirs.folder / ".venv" / "pyvenv.cfg").rename(theirs.folder / ".venv" / "no.cfg")
    words = ("gate",) if command == "gate" else COMMANDS[command]
    done = theirs.call(*words, owner=0, environ={"PATH": f"{theirs.folder}/bin:/usr/bin:/bin"})
    assert theirs.ran == []
    assert "Traceback" not in done.stderr
    if (command, laid) == ("check", "wrapper"):
        assert "a script that does not show its Python: give the Python with --python" in " ".join(done.stdout.split())
        assert done.returncode in {1, 4}


@pytest.mark.parametrize("kind", ["link to python", "script of python", "link to a link"])
@pytest.mark.parametrize("name", ["nvidia-smi", "gcc", "clang", "python3"])
def test_root_starts_no_program_on_path_that_is_theirs(theirs: Theirs, name: str, kind: str) -> None:
    theirs.lay_environment("env")
    if kind == "script of python":
        theirs.write(f"env/bin/{name}", f"#!{theirs.folder}/env/bin/python\n").chmod(0o755)
    elif kind == "link to a link":
        theirs.link(f"env/bin/{name}", "python")
    else:
        theirs.link(f"env/bin/{name}", PYTHON)
    theirs.call(
        "check", environ={"PATH": f"{theirs.folder}/env/bin:/usr/bin:/bin", "CXX": f"{theirs.folder}/env/bin/{name}"}
    )
    assert theirs.ran == []


def test_deep_imports_nothing_by_what_is_theirs(theirs: Theirs) -> None:
    """torch itself, and the interpreter, are root's; the directory with the link to it, and its .pth, are not."""
    package = theirs.folder.parent / "own" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    theirs.lay_environment()
    site = f".venv/lib/{TAG}/site-packages"
    for path in (theirs.folder / site / "torch").iterdir():
        path.unlink()
    (theirs.folder / site / "torch").rmdir()
    theirs.link(f"{site}/torch", package)
    theirs.write(f"{site}/more.pth", f"import posix; exec({theirs.payload!r})\n")
    theirs.write(".venv/pyvenv.cfg", f"home = {os.path.dirname(PYTHON)}\n")
    done = theirs.call("check", "--deep", "--format", "json")
    assert theirs.ran == []
    assert "can be changed by another user" in str(json.loads(done.stdout)["facts"]["imports"])


@pytest.mark.parametrize("trap", ["pip.py", "pip/__main__.py", "runpy.py", "HOME"])
def test_refresh_asks_no_pip_of_theirs(theirs: Theirs, trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python of root's own, in their directory, or with a HOME of theirs."""
    if trap == "HOME":
        theirs.write(f".local/lib/{TAG}/site-packages/usercustomize.py", theirs.payload)
        theirs.write(f".local/lib/{TAG}/site-packages/more.pth", f"import posix; exec({theirs.payload!r})\n")
    else:
        theirs.write(trap, theirs.payload)
    theirs.give()
    monkeypatch.chdir(theirs.folder)
    home = str(theirs.folder) if trap == "HOME" else "/root"
    assert _built_in(LiveHost({"HOME": home, "PATH": "/usr/bin:/bin"}), PYTHON)  # pip's default is found all the same
    assert theirs.ran == []


ALLOWED = '[[findings.allow]]\ncode = "no-nvidia-gpu"\nreason = "none"\nexpires = 2999-01-31\n'
DEMANDED = '[require]\ncuda = "==99.9"\n'


@pytest.mark.parametrize("is_named", [False, True])
def test_their_policy_demands_and_allows_nothing(theirs: Theirs, is_named: bool) -> None:
    theirs.write("gpudoctor.toml", f'{DEMANDED}{ALLOWED}[environments]\npython = ["elsewhere"]\n')
    words = ("check", "--only", "no-nvidia-gpu", "--only", "policy-not-met")
    done = theirs.call(*words, *(("--policy", "gpudoctor.toml", "--python", PYTHON) if is_named else ()))
    assert "elsewhere" not in done.stderr
    assert "policy-not-met" in done.stdout
    assert ("allows nothing" in done.stdout) is not is_named
    assert ("1 exception" in done.stdout) is is_named


@pytest.mark.parametrize("program", ["docker", "unsquashfs"])
def test_no_tool_for_images_of_theirs(theirs: Theirs, program: str) -> None:
    theirs.lay_environment("env")
    theirs.link(f"env/bin/{program}", PYTHON)
    image = "docker:app"
    if program == "unsquashfs":
        image = "app.sqsh"
        theirs.write(image, "hsqs" + "\0" * 1000)
    done = theirs.call("check", "--image", image, environ={"PATH": f"{theirs.folder}/env/bin:/usr/bin:/bin"})
    assert theirs.ran == []
    assert done.returncode == 2
    assert f"{program} was not started" in done.stderr


def test_a_user_starts_nothing_of_another_user(theirs: Theirs) -> None:
    theirs.lay_environment()
    for words in (("check",), ("check", "--deep"), ("verify", "--framework", "torch")):
        try:
            done = theirs.call(*words, uid=ANOTHER)
        except PermissionError:
            pytest.skip("another user cannot reach this Python")
        assert theirs.ran == []
        assert "Traceback" not in done.stderr
    assert f"belongs to {THEM}" in theirs.call("check", uid=ANOTHER).stdout
