"""What pip leaves when it is killed: renamed directories, and directories that no distribution owns."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.environment import Distribution
from doctor.pyenv.half_installed import half_installed
from tests.probes.tree import plant

SITE = "/venv/lib/python3.12/site-packages"
VERSION = "__version__ = '2.9.1+cu128'\n"


@pytest.mark.parametrize(
    ("files", "installed", "found"),
    [
        ({"torch/__init__.py": "", "torch/version.py": VERSION}, ("torch",), []),
        (  # somebody's own copy can be imported
            {"torch/__init__.py": "", "torch/version.py": VERSION, "torch/lib/libtorch_python.so": ""},
            (),
            [],
        ),
        ({"torch/__init__.py": "", "torch/lib/libc10.so": ""}, (), [("torch", ("torch",), "")]),  # its first install
        ({"torch/__init__.py": "", "torch/version.py": VERSION}, (), [("torch", ("torch",), "2.9.1+cu128")]),
        ({"torch/lib/libc10.so": ""}, (), [("torch", ("torch",), "")]),
        (
            {"torch/__init__.py": "", "torch/version.py": VERSION, "~orch/a": "", "~orch-2.8.0.dist-info/RECORD": ""},
            (),
            [("torch", ("torch", "~orch"), "2.9.1+cu128")],
        ),
        ({"~orch/a": "", "~orch-2.8.0.dist-info/RECORD": ""}, (), [("torch", ("~orch",), "2.8.0")]),
        ({"~orch/a": "", "torch/__init__.py": ""}, ("torch",), []),  # the new one is whole
        (
            {"torch/__init__.py": "", "torch/version.py": VERSION, "~orch-2.9.1.dist-info/RECORD": ""},
            (),
            [("torch", ("torch",), "2.9.1+cu128")],
        ),
        ({"onnxruntime/capi/a.so": ""}, ("onnxruntime-gpu",), []),  # another distribution has the directory
        ({"nvidia/cudnn/lib/a.so": "", "mine/a": "", "~ine/a": ""}, (), []),
    ],
)
def test_what_is_left(
    tmp_path: Path, files: dict[str, str], installed: tuple[str, ...], found: list[tuple[str, tuple[str, ...], str]]
) -> None:
    plant(tmp_path, {f"{SITE}/{name}": content for name, content in files.items()})
    host = RootHost(str(tmp_path))
    there = tuple(Distribution(name, "1", SITE, f"{SITE}/{name}-1.dist-info", "wheel", "") for name in installed)
    told = half_installed(host, there, {SITE: host.names(SITE)})
    assert [(one.distribution, one.paths, one.version) for one in told] == [
        (name, tuple(f"{SITE}/{path}" for path in paths), version) for name, paths, version in found
    ]


def test_sources_are_not_an_installation(tmp_path: Path) -> None:
    plant(tmp_path, {"/src/pytorch/torch/csrc/a.cpp": ""})
    assert not list(half_installed(RootHost(str(tmp_path)), (), {"/src/pytorch": ("torch",)}))
