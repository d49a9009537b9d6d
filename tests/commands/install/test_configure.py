"""`gpudoctor install config`: files are merged, a script leaves what --apply leaves, and rollback takes it back."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.install.config_paths import loader
from doctor.commands.install.config_target import Machine
from doctor.commands.install.configure import TheanoAsked, theano_of
from doctor.host.root import RootHost
from doctor.probes import ProbeRequest, look
from installers.apply import apply
from installers.configuration import Line, TheanoOrder, keras_plan, theano_plan
from installers.edit import merged
from installers.journal import State
from installers.run import ExecutionOptions
from installers.steps.command import Command
from installers.steps.edit_text import EditText
from installers.undo import rollback
from tests.installers.test_methods import shellcheck
from tests.installers.trees import digest_of

Shown = pytest.CaptureFixture[str]
SHARE = "# for the display, too\n[global]\ndevice = gpu\nfloatX = float32\n\n[lib]\ncnmem = 0.8\n"
TWICE = (
    "[global]\nfloatX = float32\ndevice = gpu\noptimizer_including=cudnn\n\n"
    "[nvcc]\nflags=-LC:\\Python27\\libs\ncompiler_bindir=C:\\VC\\bin\nflags=-arch=sm_30\n"
)
BASE = "[dnn]\nlibrary_path = /opt/cudnn/lib64\nbin_path = /opt/cudnn/lib64\nbase_path = /opt/cudnn\n"
DNN = "[dnn]\nenabled = True\ninclude_path = /opt/cudnn/include\nlibrary_path = /opt/cudnn/lib64\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("THEANORC", "THEANO_FLAGS", "KERAS_HOME", "KERAS_BACKEND", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    return folder


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        (None, "--theano 0.8.2", "[global]\ndevice = gpu\nfloatX = float32\noptimizer_including = cudnn\n"),
        (None, "--theano 1.0.5", "[global]\ndevice = cuda\nfloatX = float32\n\n[dnn]\nenabled = True\n"),
        (
            None,
            "--theano 0.9.0 --device 0 --cnmem 0.5 --no-cudnn",
            "[global]\ndevice = cuda0\nfloatX = float32\n\n[gpuarray]\npreallocate = 0.5\n",
        ),
        (None, "--device cpu --cnmem 1", "[global]\ndevice = cpu\nfloatX = float32\n"),
        (SHARE, "--theano 0.8.2 --no-cudnn", SHARE),
        (SHARE, "--theano 0.8.2 --no-cudnn --cnmem 0", SHARE.replace("0.8", "0")),
        (
            SHARE,
            "--theano 0.8.2 --no-cudnn --cnmem 1.0 --device gpu1",
            SHARE.replace("0.8", "1").replace("gpu", "gpu1"),
        ),
        (
            TWICE,
            "--theano 0.8.2",
            TWICE.replace("=cudnn", " = cudnn")
            .replace("flags=-LC:\\Python27\\libs\n", "")
            .replace("flags=-arch=sm_30", "flags = -LC:\\Python27\\libs -arch=sm_30"),
        ),
        (
            "[nvcc]\nflags = -O3 -arch=sm_20 ; old\n",
            "--theano 0.8.2 --no-cudnn --nvcc-flags=-arch=sm_30",
            "[nvcc]\nflags = -O3 -arch=sm_30\n\n[global]\ndevice = gpu\nfloatX = float32\n",
        ),
        (
            "[global]\nfloatx = float64\ndevice = gpu1\ndevice = gpu2\n[blas]\nldflags = a\nldflags = b\n",
            "--theano 1.0.5 --no-cudnn",
            "[global]\nfloatX = float32\ndevice = cuda2\n[blas]\nldflags = b\n",
        ),
        (
            None,
            "--theano 1.0 --cudnn-home /opt/cudnn",
            "[global]\ndevice = cuda\nfloatX = float32\n\n[dnn]\nenabled = True\nbase_path = /opt/cudnn\n",
        ),
        (
            "[dnn]\nlibrary_path = /old/lib\nbin_path = /old/lib\n",
            "--theano 1.0.5 --cudnn-home /opt/cudnn --no-cudnn",
            f"{BASE}\n[global]\ndevice = cuda\nfloatX = float32\n",
        ),
        (
            None,
            "--theano 0.9.0 --cudnn-home /opt/cudnn",
            "[global]\ndevice = cuda\nfloatX = float32\n\n" + DNN,
        ),
        (
            "[global]\noptimizer_including = fusion:inplace\n",
            "--theano 0.9.0 --device gpu",
            "[global]\noptimizer_including = fusion:inplace:cudnn\ndevice = gpu\nfloatX = float32\n",
        ),
    ],
)
def test_theano(before: str | None, words: str, after: str, home: Path, capsys: Shown) -> None:
    """By --apply and by script; Python 3 reads the file, and a second time changes nothing."""
    path = home / ".theanorc"
    if before is not None:
        path.write_bytes(before.encode())
    untouched = digest_of(home)
    argv = ["install", "config", "theano", *words.split()]
    assert execute([*argv, "--script", "bash"]) == 0
    script = home.parent / "script.sh"
    script.write_text(capsys.readouterr().out)
    assert subprocess.run([shellcheck(), str(script)], capture_output=True, text=True).stdout == ""
    assert execute([*argv, "--apply"]) == 0
    assert path.read_bytes().decode() == after
    reader = configparser.RawConfigParser()
    reader.read_string(after)
    assert execute(["install", "rollback"]) == 0
    assert digest_of(home) == untouched
    for _ in range(2):
        assert subprocess.run(["bash", str(script)], capture_output=True, text=True).stderr == ""
        assert path.read_bytes().decode() == after
    assert execute([*argv, "--apply"]) == 0
    assert path.read_bytes().decode() == after


def test_the_articles_plan_is_printed(home: Path, capsys: Shown) -> None:
    (home / ".theanorc").write_text(TWICE)
    assert execute(["install", "config", "theano", "--theano", "0.8.2", "--cnmem", "0.8"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"1. edit {home}/.theanorc device: the device that Theano uses" in told
    assert "cnmem: 80% of the memory is reserved at the start [lib] cnmem = 0.8" in told
    assert "flags: appears 2 times" in told
    assert "[nvcc] flags = -LC:\\Python27\\libs -arch=sm_30" in told
    assert (home / ".theanorc").read_text() == TWICE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "delete device=cpu from THEANO_FLAGS"),
        ("[nvcc]\nx = 1\n[nvcc]\ny = 1\n", "[nvcc]: this section is there twice"),
        ("device = gpu\n", "device: is above the first [section]"),
    ],
)
def test_what_is_left_to_a_person(
    text: str, said: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    (home / ".theanorc").write_text(text)
    monkeypatch.setenv("THEANO_FLAGS", "device=cpu,mode=FAST_RUN")
    assert execute(["install", "config", "theano", "--theano", "0.8.2"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_windows(tmp_path: Path) -> None:
    """The file has another name there, its line ends stay, and the article's two flags become one."""
    (tmp_path / "Windows").mkdir()
    (tmp_path / "Users/me").mkdir(parents=True)
    text = TWICE.replace("\n", "\r\n")
    (tmp_path / "Users/me/.theanorc.txt").write_bytes(text.encode())
    host = RootHost(str(tmp_path), {"USERPROFILE": "C:\\Users\\me"})
    asked = TheanoAsked(version="0.8.2", cudnn_home="C:\\cudnn\\")
    plan = theano_of(asked, Matrix(), Machine(host.os_family, host, look(host, ProbeRequest()))).plan
    edits = [step for step in plan.steps if isinstance(step, EditText)]
    assert {step.path for step in edits} == {"C:/Users/me/.theanorc.txt"}
    for step in edits:
        text = merged(text, step)
    assert "flags = -LC:\\Python27\\libs -arch=sm_30\r\n" in text
    assert text.endswith("[dnn]\r\ninclude_path = C:\\cudnn\\include\r\nlibrary_path = C:\\cudnn\\lib\\x64\r\n")
    assert text.count("\n") == text.count("\r\n")


def test_a_pool_of_the_old_back_end_is_named(home: Path, capsys: Shown) -> None:
    (home / ".theanorc").write_text(SHARE)
    assert execute(["install", "config", "theano", "--theano", "1.0.5"]) == 0
    assert "delete `cnmem` from [lib] in the file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("0.8.2 --cnmem 0", "cnmem: no pool: each block"),
        ("0.8.2 --cnmem 0.5", "cnmem: 50% of the memory is reserved at the start [lib]"),
        ("0.8.2 --cnmem 1", "cnmem: 95% of the memory is reserved at the start, Theano's maximum"),
        ("1.0.5 --cnmem 0", "preallocate: no memory is reserved at the start; freed memory is kept"),
        ("1.0.5 --cnmem 1", "preallocate: 95% of the memory is reserved at the start, Theano's maximum"),
    ],
)
def test_what_a_share_of_the_memory_means(words: str, said: str, home: Path, capsys: Shown) -> None:
    assert execute(["install", "config", "theano", "--theano", *words.split(), "--no-cudnn"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_mode_for_looking_for_faults_is_named(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("THEANO_FLAGS", "mode=DebugMode")
    assert execute(["install", "config", "theano"]) == 0
    assert "delete mode=DebugMode from THEANO_FLAGS" in " ".join(capsys.readouterr().out.split())


def test_keras_leaves_what_is_no_utf_8(home: Path, capsys: Shown) -> None:
    (home / ".keras").mkdir()
    (home / ".keras/keras.json").write_bytes(b'{"a": "\xff"}')
    assert execute(["install", "config", "keras", "jax", "--apply"]) == 2
    assert "is not UTF-8 text and is not changed" in capsys.readouterr().err


def test_the_file_that_theanorc_names_last(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANORC", f"/etc/theanorc:{home}/mine")
    (home / "mine").write_text("[global]\ndevice = cuda1\n")
    assert execute(["install", "config", "theano", "--no-cudnn", "--apply"]) == 0
    assert (home / "mine").read_text() == "[global]\ndevice = cuda1\nfloatX = float32\n"


def test_a_link_stays_and_the_mode_of_the_file(home: Path) -> None:
    (home / "kept").write_text(SHARE)
    (home / "kept").chmod(0o600)
    (home / ".theanorc").symlink_to("kept")
    before = digest_of(home)
    assert execute(["install", "config", "theano", "--theano", "0.8.2", "--apply"]) == 0
    assert os.readlink(home / ".theanorc") == "kept"
    assert (home / "kept").stat().st_mode & 0o777 == 0o600
    assert execute(["install", "rollback"]) == 0
    assert digest_of(home) == before


def test_flags_words_stand_once() -> None:
    order = TheanoOrder("/x", "gpu", "gpu", flags="-O3 -arch=sm_61")
    plan = theano_plan(order, (Line("nvcc", "flags", "-arch=sm_30 -g"), Line("nvcc", "flags", "-g -O3")))
    edits = [step for step in plan.steps if isinstance(step, EditText) and step.section == "nvcc"]
    assert [(step.settings, step.once) for step in edits] == [((("flags", "-g -O3 -arch=sm_61"),), ("flags",))]


@pytest.mark.parametrize(
    ("before", "back_end", "after"),
    [
        ("", "theano", '{\n    "backend": "theano"\n}\n'),
        (
            '{\n  "floatx": "float32",\n  "backend" : "tensorflow"\n}\n',
            "theano",
            '{\n  "floatx": "float32",\n  "backend" : "theano"\n}\n',
        ),
        ('{"floatx": "float32"}', "jax", '{\n    "floatx": "float32",\n    "backend": "jax"\n}\n'),
        ('{"a": {"backend": "x"}}', "jax", '{\n    "a": {\n        "backend": "x"\n    },\n    "backend": "jax"\n}\n'),
    ],
)
def test_keras(before: str, back_end: str, after: str, home: Path) -> None:
    path = home / ".keras/keras.json"
    if before:
        path.parent.mkdir()
        path.write_text(before)
    untouched = digest_of(home)
    assert execute(["install", "config", "keras", back_end, "--apply"]) == 0
    assert path.read_text() == after
    assert json.loads(after)["backend"] == back_end
    assert execute(["install", "rollback"]) == 0
    assert digest_of(home) == untouched
    assert keras_plan("x", after, back_end).steps == keras_plan("x", before, back_end).steps


def test_keras_tells_of_the_variable_that_wins(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    assert execute(["install", "config", "keras", "jax"]) == 0
    assert "unset this variable: KERAS_BACKEND=" in capsys.readouterr().out


@pytest.mark.parametrize(("shell", "name"), [("/bin/bash", ".bashrc"), ("/usr/bin/zsh", ".zshrc"), ("", ".profile")])
def test_tensorflow(shell: str, name: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("SHELL", shell)
    (home / name).write_text("alias x=y")
    for _ in range(2):
        assert execute(["install", "config", "tensorflow", "--apply"]) == 0
        assert (home / name).read_text() == "alias x=y\nexport TF_FORCE_GPU_ALLOW_GROWTH=true\n"
    assert "To do by hand: set TF_FORCE_GPU_ALLOW_GROWTH" in capsys.readouterr().out


def test_loader(home: Path, tmp_path: Path) -> None:
    """With a directory of the test's own in place of /etc/ld.so.conf.d, and no ldconfig of this machine."""
    (home / "conf").mkdir()
    (home / "conf/cuda.conf").write_text("# mine\n/opt/lib\n")
    before = digest_of(home)
    ran: list[Command] = []
    prepared = loader(f"{home}/", "cuda", below=str(home / "conf"))
    state = State(str(tmp_path / "state"))
    applied = apply(prepared.plan, state, ExecutionOptions(run=lambda command, _: ran.append(command)))
    assert (home / "conf/cuda.conf").read_text() == f"# mine\n/opt/lib\n{home}\n"
    assert [command.argv for command in ran] == [("ldconfig",)]
    rollback(state, applied.id)
    assert digest_of(home) == before


def test_loader_is_printed_and_scripted(home: Path, tmp_path: Path, capsys: Shown) -> None:
    assert execute(["install", "config", "loader", "/usr/lib", "--name", "x"]) == 0
    assert "1. edit /etc/ld.so.conf.d/x.conf" in capsys.readouterr().out
    assert execute(["install", "config", "loader", "/usr/lib", "--script", "bash"]) == 0
    script = tmp_path / "script.sh"
    script.write_text(capsys.readouterr().out)
    assert subprocess.run([shellcheck(), str(script)], capture_output=True, text=True).stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("theano", "--cnmem", "80"), "is not a share of the memory: 0 is off, 1 is all, 0.8 is 80%"),
        (("theano", "--cnmem", "nan"), "is not a share of the memory: 0 is off, 1 is all, 0.8 is 80%"),
        (("theano", "--cnmem", "much"), "is not a share of the memory: 0 is off, 1 is all, 0.8 is 80%"),
        (("theano", "--theano", "9.9"), "Theano 9.9 is unknown: give --theano a version such as 1.0.5"),
        (("theano", "--theano", "new"), "new"),
        (("theano", "--device", "GPU0"), "is not a device:"),
        (("theano", "--device", "gpu0", "--theano", "1.0.5"), "belongs to the other back end; this Theano uses"),
        (("theano", "--nvcc-flags", "a\nb"), "one line"),
        (
            ("theano", "--nvcc-flags=-O3"),
            "Theano calls nvcc only up to version 0.9; for such a version add --theano 0.9.0",
        ),
        (("theano", "--nvcc-flags=-arch sm_30", "--theano", "0.8.2"), "one word"),
        (("theano", "--script", "zsh"), "no kind of script 'zsh'"),
        (
            ("theano", "--script", "bash", "--apply"),
            "not both",
        ),
        (("theano", "--format", "xml"), "no format 'xml'"),
        (("keras", "thenao"), "did you mean theano"),
        (("keras", "theano"), "is not valid JSON and is not changed:"),
        (("loader", "lib"), "cannot be a list entry: give an absolute path without blanks and ':'"),
        (("loader", "/no/such"), "does not exist"),
        (("loader", "/usr/lib", "--name", "../x"), "is not a valid file name: use letters, digits,"),
        (("caffe",), "caffe"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, home: Path, capsys: Shown) -> None:
    (home / ".keras").mkdir()
    (home / ".keras/keras.json").write_text("{")
    before = digest_of(home)
    assert execute(["install", "config", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1
    assert digest_of(home) == before
