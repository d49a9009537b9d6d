"""The configuration probe: variables, where they are set, Theano's and Keras' settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import Place
from doctor.probes import configuration
from tests.probes.test_toolkit import build

HOME = "/home/user"


def look(root: Path, environ: dict[str, str]) -> tuple[dict[str, str], list[Setting]]:
    facts = configuration.look(RootHost(str(root), {"HOME": HOME, **environ}))
    return {one.name: one.set_in for one in facts.variables.get()}, list(facts.settings.get())


def theano(root: Path, text: str, environ: dict[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    _, settings = look(build(root, {f"{HOME}/.theanorc": text}), environ or {})
    return [(one.source, one.name, one.value, one.problem) for one in settings]


def test_only_deciding_variables_and_no_secrets(tmp_path: Path) -> None:
    others = ("HOME", "TERM", "TF_VAR_password", "NVIDIA_API_KEY", "NGC_CLI_API_KEY", "TORCH_HUB_TOKEN", "NCCL_SECRET")
    deciding = ("CUDA_VISIBLE_DEVICES", "NCCL_P2P_DISABLE", "PYTORCH_CUDA_ALLOC_CONF", "TF_FORCE_GPU_ALLOW_GROWTH")
    variables, _ = look(tmp_path, dict.fromkeys((*others, *deciding), "1"))
    assert tuple(variables) == deciding


@pytest.mark.parametrize(
    ("files", "name", "value", "set_in"),
    [
        (
            {"~/.bashrc": "# export CUDA_HOME=/x\nexport CUDA_HOME=/usr/local/cuda-11\n"},
            "CUDA_HOME",
            "/usr/local/cuda-11",
            "~/.bashrc, line 2",
        ),
        (
            {"~/.bashrc": "export LD_LIBRARY_PATH=/opt/cudnn/lib:$LD_LIBRARY_PATH\n"},
            "LD_LIBRARY_PATH",
            "/opt/cudnn/lib:/other",
            "~/.bashrc, line 1",
        ),
        ({"~/.bashrc": 'export CUDA_HOME="$HOME/cuda"\n'}, "CUDA_HOME", f"{HOME}/cuda", "~/.bashrc, line 1"),
        ({"~/.bashrc": "export CUDA_HOME=/usr/local/cuda-12\n"}, "CUDA_HOME", "/usr/local/cuda-11", ""),
        ({"~/.bashrc": "export CUDA_HOME_OLD=/opt\n"}, "CUDA_HOME", "/opt", ""),
        ({"~/.bashrc": "export LD_LIBRARY_PATH=$HOME/lib\n"}, "LD_LIBRARY_PATH", "/opt/cudnn/lib", ""),
        (
            {"~/.bashrc": "export LD_LIBRARY_PATH=/opt/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}\n"},
            "LD_LIBRARY_PATH",
            "/opt/lib64:/other",
            "~/.bashrc, line 1",
        ),
        ({"~/.bashrc": "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH\n"}, "LD_LIBRARY_PATH", "/opt/lib64", ""),
        ({"/etc/environment": 'CUDA_VISIBLE_DEVICES="1"\n'}, "CUDA_VISIBLE_DEVICES", "1", "/etc/environment, line 1"),
        (
            {"/etc/profile.d/cuda.sh": "export CUDA_PATH=/opt/cuda\n"},
            "CUDA_PATH",
            "/opt/cuda",
            "/etc/profile.d/cuda.sh, line 1",
        ),
        (
            {"/etc/environment": "CUDA_HOME=/opt/cuda\n", "~/.profile": "CUDA_HOME=/opt/cuda; export CUDA_HOME\n"},
            "CUDA_HOME",
            "/opt/cuda",
            "~/.profile, line 1",
        ),
        ({}, "CUDA_HOME", "/opt/cuda", ""),
    ],
)
def test_where_a_variable_is_set(tmp_path: Path, files: dict[str, str], name: str, value: str, set_in: str) -> None:
    build(tmp_path, {path.replace("~", HOME): text for path, text in files.items()})
    assert look(tmp_path, {name: value})[0] == {name: set_in}


def test_conda_activation_script(tmp_path: Path) -> None:
    script = "/opt/env/etc/conda/activate.d/env_vars.sh"
    build(tmp_path, {script: "#!/bin/sh\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib/:$LD_LIBRARY_PATH\n"})
    variables, _ = look(tmp_path, {"CONDA_PREFIX": "/opt/env", "LD_LIBRARY_PATH": "/opt/env/lib/"})
    assert variables["LD_LIBRARY_PATH"] == f"{script}, line 2"


def test_each_entry_has_the_line_that_names_it(tmp_path: Path) -> None:
    text = "export LD_LIBRARY_PATH=/opt/a/lib/\nexport LD_LIBRARY_PATH=$B/lib:$LD_LIBRARY_PATH:/opt/c\n"
    build(tmp_path, {f"{HOME}/.bashrc": text})
    entries = ["/opt/b/lib", "/opt/a/lib/", "/opt/c", "/opt/d"]
    host = RootHost(str(tmp_path), {"HOME": HOME, "B": "/opt/b", "LD_LIBRARY_PATH": ":".join(entries)})
    assert configuration.entries_in(host, "LD_LIBRARY_PATH", entries) == {
        "/opt/b/lib": ("~/.bashrc, line 2, by $B/lib", Place("~/.bashrc", 2)),
        "/opt/a/lib": ("~/.bashrc, line 1", Place("~/.bashrc", 1)),
        "/opt/c": ("~/.bashrc, line 2", Place("~/.bashrc", 2)),
    }


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (
            "[global]\nfloatx = float32\ndevice=gpu0\n\n[lib]\ncnmem: 0.8 ; share\n",
            [("line 2", "floatX", "float32", ""), ("line 3", "device", "gpu0", ""), ("line 6", "lib.cnmem", "0.8", "")],
        ),
        (
            "[nvcc]\nflags=-arch=sm_30\nflags = -I/x\n",
            [("line 2", "nvcc.flags", "-arch=sm_30", ""), ("line 3", "nvcc.flags", "-I/x", "set twice in one section")],
        ),
        (
            "[nvcc]\nflags=-a\n\n[nvcc]\nfastmath=True\n",
            [
                ("line 2", "nvcc.flags", "-a", ""),
                ("line 4", "[nvcc]", "", "this section is there twice"),
                ("line 5", "nvcc.fastmath", "True", ""),
            ],
        ),
        ("device = gpu\n", [("line 1", "device", "gpu", "is above the first [section]")]),
        ("[global]\ndevice\n", [("line 2", "device", "", "has no value")]),
        ("[blas]\nldflags = -lopenblas\n  -lgfortran\n", [("line 2", "blas.ldflags", "-lopenblas -lgfortran", "")]),
        (
            "[global]\nlib.cnmem = 1\n",
            [("line 2", "global.lib.cnmem", "1", "is ignored here: its place is under [lib]")],
        ),
        (
            "[dnn]\ninclude_path = /opt/cudnn/include\n",
            [("line 2", "dnn.include_path", "/opt/cudnn/include", "names a directory that does not exist")],
        ),
        ("# a comment\n; another\n\n[global]\n", []),
        ("", []),
        ("\0\0[", [("line 1", "\0\0[", "", "is above the first [section]")]),
    ],
)
def test_theanorc(tmp_path: Path, text: str, settings: list[tuple[str, str, str, str]]) -> None:
    assert theano(tmp_path, text) == [(f"~/.theanorc, {line}", *rest) for line, *rest in settings]


def test_theano_flags_come_last(tmp_path: Path) -> None:
    found = theano(tmp_path, "[global]\ndevice=cpu\n", {"THEANO_FLAGS": "device=cuda0,lib.cnmem=1,broken,"})
    assert found[1:] == [
        ("THEANO_FLAGS", "device", "cuda0", ""),
        ("THEANO_FLAGS", "lib.cnmem", "1", ""),
        ("THEANO_FLAGS", "broken", "", "has no value and is ignored"),
    ]


def test_theanorc_variable_names_files_from_left_to_right(tmp_path: Path) -> None:
    build(tmp_path, {"/etc/theanorc": "[global]\ndevice=gpu\n", f"{HOME}/mine": "[global]\ndevice=cpu\n"})
    _, settings = look(tmp_path, {"THEANORC": "/etc/theanorc:~/mine:/not/there"})
    assert [(one.source, one.value) for one in settings] == [
        ("/etc/theanorc, line 2", "gpu"),
        ("~/mine, line 2", "cpu"),
    ]


def test_windows_also_reads_the_txt(tmp_path: Path) -> None:
    build(tmp_path, {"Windows/x": "", "Users/me/.theanorc.txt": "[global]\r\ndevice = gpu\r\n"})
    facts = configuration.look(RootHost(str(tmp_path), {"USERPROFILE": "C:\\Users\\me"}))
    assert [(one.source, one.value) for one in facts.settings.get()] == [("~/.theanorc.txt, line 2", "gpu")]


def test_offline_root_reads_every_home(tmp_path: Path) -> None:
    build(tmp_path, {"/home/a/.theanorc": "[global]\ndevice=cpu\n", "/root/.keras/keras.json": '{"backend": "theano"}'})
    facts = configuration.look(RootHost(str(tmp_path)))
    assert [one.program for one in facts.settings.get()] == ["theano", "keras"]


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('{"floatx": "float32", "backend": "theano"}', [("backend", "theano", ""), ("floatx", "float32", "")]),
        ("[]", []),
        ("[" * 5000, None),
        ("{", None),
    ],
)
def test_keras(tmp_path: Path, text: str, settings: list[tuple[str, str, str]] | None) -> None:
    _, found = look(build(tmp_path, {f"{HOME}/.keras/keras.json": text}), {})
    if settings is None:
        assert found[0].problem.startswith("is not valid JSON:")
    else:
        assert [(one.name, one.value, one.problem) for one in found] == settings
