"""`gpudoctor install config loader` and `... path`: hooks of a conda environment really sourced, and PATH."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from doctor.cli import execute
from installers.hooks import Found, hooks_plan
from installers.steps.write_file import WriteFile
from tests.installers.test_methods import shellcheck
from tests.installers.test_scripts import mistakes
from tests.installers.trees import digest_of

Shown = pytest.CaptureFixture[str]
SHELLS = ["bash", "sh", *(pytest.param(one, marks=pytest.mark.system) for one in ("dash", "zsh"))]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    return folder


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "it's an env"
    (folder / "conda-meta").mkdir(parents=True)
    (folder / "etc/conda/activate.d").mkdir(parents=True)
    (folder / "etc/conda/activate.d/other.sh").write_text("export OTHER=1\n")
    return folder


def after(
    shell: str, prefix: Path, before: str | None, inside: str = ":", variable: str = "LD_LIBRARY_PATH"
) -> list[str]:
    """The variable while the environment is active, and when it is left: "" unset, "=" and the value else."""
    told = f'printf "%s\\n" "${{{variable}+=${variable}}}"'
    folder = shlex.quote(f"{prefix}/etc/conda")
    activate = f'for hook in {folder}/activate.d/*.sh; do . "$hook"; done'
    leave = f'for hook in {folder}/deactivate.d/*.sh; do . "$hook"; done'
    kept = "" if before is None else f"{variable}={shlex.quote(before)}; export {variable}; "
    unset = f"unset {variable}; " if before is None else ""
    script = f"set -eu; {unset}{kept}{activate}; {told}; {inside}; {leave}; {told}; set | grep -c '^_gpudoctor' || :"
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    *values, left = done.stdout.splitlines()
    assert left == "0"  # no variable of the hooks' own stays
    return values


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "case",
    [
        (None, ":", ["={}", ""]),
        ("/a", ":", ["={}:/a", "=/a"]),
        ("/a:/b:", ":", ["={}:/a:/b:", "=/a:/b:"]),
        ("{}:/a", ":", ["={}:{}:/a", "={}:/a"]),
        ("/a", "export LD_LIBRARY_PATH=/new:$LD_LIBRARY_PATH", ["={}:/a", "=/new:/a"]),
        ("/a", "export LD_LIBRARY_PATH=/gone", ["={}:/a", "=/gone"]),
        (None, "unset LD_LIBRARY_PATH", ["={}", ""]),
    ],
)
def test_hooks_add_one_directory_and_take_it_out(
    shell: str, case: tuple[str | None, str, list[str]], home: Path, prefix: Path
) -> None:
    """What was set before and what is set in between stays, whatever the directory is called."""
    before, inside, expected = case
    directory = home / "it's [a] $library*"
    directory.mkdir()
    untouched = digest_of(home.parent / prefix.name)
    # The command takes no such name; the hooks must stand it all the same.
    plan = hooks_plan(Found("LD_LIBRARY_PATH", str(directory)), str(prefix), "x", windows=False)
    for step in plan.steps:
        assert isinstance(step, WriteFile)
        path = Path(step.path)
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in step.lines))
    found = after(shell, prefix, before.replace("{}", str(directory)) if before else before, inside)
    assert found == [one.replace("{}", str(directory)) for one in expected]
    assert digest_of(prefix) != untouched


@pytest.mark.parametrize(
    "case",
    [("loader", "LD_LIBRARY_PATH", "gpudoctor-cuda-libraries"), ("path", "PATH", "gpudoctor-cuda-path")],
)
def test_apply_script_and_rollback(
    case: tuple[str, str, str], home: Path, prefix: Path, tmp_path: Path, capsys: Shown
) -> None:
    command, variable, name = case
    (home / "cuda").mkdir()
    untouched = digest_of(prefix)
    argv = ["install", "config", command, str(home / "cuda"), "--conda", str(prefix)]
    assert execute([*argv, "--script", "bash"]) == 0
    script = tmp_path / "script.sh"
    script.write_text(capsys.readouterr().out)
    assert subprocess.run([shellcheck(), str(script)], capture_output=True, text=True).stdout == ""
    assert execute([*argv, "--apply"]) == 0
    hooks = [prefix / f"etc/conda/{one}/{name}.sh" for one in ("activate.d", "deactivate.d")]
    written = [hook.read_text() for hook in hooks]
    begin, end = after("bash", prefix, "/usr/bin:/bin", variable=variable)
    assert (begin, end) == (f"={home}/cuda:/usr/bin:/bin", "=/usr/bin:/bin")
    assert subprocess.run([shellcheck(), "--shell=sh", *map(str, hooks)], capture_output=True, text=True).stdout == ""
    assert execute(["install", "rollback"]) == 0
    assert digest_of(prefix) == untouched
    for _ in range(2):
        assert subprocess.run(["bash", str(script)], capture_output=True, text=True).stderr == ""
        assert [hook.read_text() for hook in hooks] == written


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_path_for_new_shells(shell: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    file = home / {"bash": ".bashrc", "zsh": ".zshrc"}.get(shell, ".profile")
    file.write_text("alias x=y\n")
    (home / "bin").mkdir()
    for _ in range(2):
        assert execute(["install", "config", "path", str(home / "bin"), "--apply"]) == 0
    line = f"export PATH={home}/bin${{PATH:+:$PATH}}"
    assert file.read_text() == f"alias x=y\n{line}\n"
    assert "To do by hand: open a new shell" in capsys.readouterr().out
    told = subprocess.run(
        ["sh", "-c", f'. {file}; echo "$PATH"'], env={"PATH": "/usr/bin"}, capture_output=True, text=True
    )
    assert told.stdout == f"{home}/bin:/usr/bin\n"


def test_hooks_for_windows_parse(capsys: Shown) -> None:
    """Their .bat are run by tests/installers/test_wine.py."""
    words = ["--conda", "D:\\it's\\env", "--os", "windows", "--format", "json"]
    assert execute(["install", "config", "loader", "C:\\cuda\\v12.8\\bin", *words]) == 0
    assert "gpudoctor-cuda-path.bat" in capsys.readouterr().out
    plan = hooks_plan(Found("PATH", "C:\\it's a\\bin"), "D:/env", "x", windows=True)
    for step in plan.steps:
        assert isinstance(step, WriteFile)
        if step.path.endswith(".ps1"):
            assert mistakes("\n".join(step.lines) + "\n") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("theano --os linux --theano 0.8.2", "1. edit ~/.theanorc"),
        ("theano --os windows --theano 0.8.2 --cudnn-home C:\\cuda", "library_path = C:\\cuda\\lib\\x64"),
        ("theano --os windows", "1. edit ~/.theanorc.txt"),
        ("keras theano --os windows", '{"backend": "theano"}'),
        ("tensorflow --os windows", "$env:TF_FORCE_GPU_ALLOW_GROWTH = 'true'"),
        ("tensorflow --os linux", "1. edit ~/.bashrc"),
        ("loader /opt/nowhere/lib --os linux", "1. edit /etc/ld.so.conf.d/gpudoctor-cuda.conf"),
        ("loader /opt/nowhere/lib --os linux --conda /opt/env", "write /opt/env/etc/conda/activate.d/"),
        ("path --os linux", "export PATH=/usr/local/cuda/bin${PATH:+:$PATH}"),
        ("path C:\\cuda\\bin --os windows", "add C:\\cuda\\bin to your Path"),
    ],
)
def test_another_machine(words: str, said: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    """Nothing of this one shows, and --apply is refused."""
    (home / ".theanorc").write_text("[lib]\ncnmem = 0.8\n[lib]\n")
    monkeypatch.setenv("THEANO_FLAGS", "device=cpu")
    monkeypatch.setenv("KERAS_HOME", str(home))
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert execute(["install", "config", *words.split()]) == 0
    told = capsys.readouterr().out
    assert said in " ".join(told.split())
    assert str(home) not in told
    assert "THEANO_FLAGS" not in told
    assert execute(["install", "config", *words.split(), "--apply"]) == 2
    assert "--apply changes this machine: omit --os, --arch and --distribution" in capsys.readouterr().err


def test_a_script_for_another_machine_finds_that_users_home(home: Path, tmp_path: Path, capsys: Shown) -> None:
    assert execute(["install", "config", "theano", "--os", "linux", "--theano", "0.8.2", "--script", "bash"]) == 0
    script = tmp_path / "script.sh"
    script.write_text(capsys.readouterr().out)
    assert subprocess.run([shellcheck(), str(script)], capture_output=True, text=True).stdout == ""
    done = subprocess.run(["bash", str(script)], env={"PATH": "/usr/bin:/bin", "HOME": str(home)}, cwd=tmp_path)
    assert done.returncode == 0
    assert (home / ".theanorc").read_text().startswith("[global]\ndevice = gpu\n")
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("loader", "/usr/lib", "--conda", "/usr"), "is not a conda environment: it has no conda-meta"),
        (("loader", "/usr/lib", "--conda", "/"), "is not a directory"),
        (("loader", "C:\\x", "--os", "windows"), "install config path"),
        (
            ("loader", "--conda", "D:\\e", "--os", "windows"),
            "give the directory: on Windows each CUDA version has its own",
        ),
        (
            ("path", "C:\\a%b", "--os", "windows"),
            "cannot be a list entry: give an absolute path without blanks and ':'",
        ),
        (("path", "/no/such"), "does not exist"),
        (("path", "/a:b", "--os", "linux"), "cannot be a list entry: give an absolute path without blanks and ':'"),
        (("path", "--os", "beos"), "no operating system 'beos'"),
        (
            ("path", "/usr/bin", "--conda", "/opt/e", "--os", "linux", "--name", "../x"),
            "is not a valid file name: use letters, digits,",
        ),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, home: Path, capsys: Shown) -> None:
    assert execute(["install", "config", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1
