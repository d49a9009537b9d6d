"""Who installs into an environment, from trees of files."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts.environment import Distribution
from doctor.pyenv import package_tools
from doctor.pyenv.prefixes import locate
from tests.lab.parts import files, together, venv, without

VENV = "/w/p/.venv"
PIP = Distribution("pip", "24.0", f"{VENV}/s", f"{VENV}/s/pip-24.0.dist-info", "wheel", "")
ENSUREPIP = {"/usr/lib/python3.12/ensurepip/__init__.py": ""}


class Live(RootHost):
    """A machine with this PATH."""

    is_live = True


@pytest.mark.parametrize(
    ("tree", "prefix", "pip", "expected"),
    [
        ({}, VENV, True, (("pip",), "", "")),
        ({"/bin2/uv": ""}, VENV, False, (("uv",), "", "")),
        ({"/home/ada/.local/bin/uv": ""}, VENV, False, (("uv",), "", "")),
        (ENSUREPIP, VENV, False, (("ensurepip",), "", "")),
        ({}, VENV, False, (("none",), "", "")),
        ({"/w/p/uv.lock": ""}, VENV, True, (("pip",), "uv", "/w/p")),
        ({"/w/p/poetry.lock": ""}, VENV, True, (("pip",), "poetry", "/w/p")),
        ({"/w/p/pdm.lock": ""}, VENV, True, (("pip",), "pdm", "/w/p")),
        ({"/w/p/Pipfile.lock": ""}, VENV, True, (("pip",), "pipenv", "/w/p")),
        ({"/v/p-x/.project": "/w/p", "/w/p/Pipfile": ""}, "/v/p-x", True, (("pip",), "pipenv", "/w/p")),
        ({"/v/p/.project": "/w/p"}, "/v/p", True, (("pip",), "", "")),
        ({}, "/w/p/.pixi/envs/default", True, (("pip",), "pixi", "/w/p")),
        ({}, "/h/.cache/pypoetry/virtualenvs/p-x-py3.12", True, (("pip",), "poetry", "")),
    ],
)
def test_tools(tree: dict[str, str], prefix: str, pip: bool, expected: tuple[object, ...], tmp_path: Path) -> None:
    together(venv(prefix), without("/usr/bin/uv"), files(tree))(tmp_path)
    host = Live(str(tmp_path), {"PATH": "/bin2:/usr/bin", "HOME": "/home/ada"})
    assert package_tools.look(host, locate(host, prefix), (PIP,) if pip else ()) == (*expected, "", ())


@pytest.mark.parametrize(
    ("tool", "path"), [("poetry", "pypoetry/virtualenvs/app-{}-py3.12"), ("hatch", "hatch/env/virtual/app/{}/app")]
)
def test_a_project_is_known_by_the_hash_of_its_directory(
    tool: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both keep environments far from the project: a directory around the working one must have the hash."""
    project, root = tmp_path / "app", tmp_path / "root"
    (project / "src").mkdir(parents=True)
    mark = urlsafe_b64encode(sha256(os.path.realpath(project).encode()).digest()).decode()[:8]
    prefix = f"/h/{path.format(mark)}"
    venv(prefix)(root)
    host = Live(str(root), {"PATH": "/bin2"})
    for folder, expected in ((project / "src", str(project)), (tmp_path, "")):
        monkeypatch.chdir(folder)
        tools = package_tools.look(host, locate(host, prefix), (PIP,))
        assert (tools.keeper, tools.project) == (tool, expected)


@pytest.mark.parametrize(
    ("tree", "environ", "program"),
    [
        ({}, {}, "conda"),
        ({"/bin2/micromamba": ""}, {}, "micromamba"),
        ({"/bin2/mamba": "", "/bin2/conda": ""}, {}, "conda"),
        ({}, {"MAMBA_EXE": "/home/ada/bin/micromamba"}, "micromamba"),
        ({}, {"MAMBA_EXE": "/opt/conda/bin/mamba", "CONDA_EXE": "/opt/conda/bin/conda"}, "conda"),
    ],
)
def test_what_changes_a_conda_environment(
    tree: dict[str, str], environ: dict[str, str], program: str, tmp_path: Path
) -> None:
    meta: dict[str, str | bytes] = {"/w/e/conda-meta/python-3.12.4-h1_0.json": "{}", "/w/e/bin/python3.12": b"\x7fELF"}
    files({**tree, **meta, "/w/e/bin/python": "-> python3.12", "/w/e/lib/python3.12/os.py": ""})(tmp_path)
    host = Live(str(tmp_path), {"PATH": "/bin2", **environ})
    assert package_tools.look(host, locate(host, "/w/e"), (PIP,)).conda == program


def test_an_image_has_its_own_path(tmp_path: Path) -> None:
    together(venv(VENV), without("/usr/bin/uv"), files({"/bin/uv": ""}))(tmp_path)
    host = RootHost(str(tmp_path), {"PATH": "/nowhere"})
    assert package_tools.look(host, locate(host, VENV), ()).installers == ("uv",)


PROJECT = """
[project]
name = "x"
dependencies = ["torch==2.9.1", "onnxruntime_gpu>=1"]
[project.optional-dependencies]
cuda = ["cupy-cuda12x"]
[dependency-groups]
dev = ["pytest", {include-group = "a"}]
[tool.ruff]
line-length = 120
"""
POETRY = """
[tool.poetry.dependencies]
python = "^3.11"
torch = "2.9.1"
[tool.poetry.group.dev.dependencies]
jax = {version = "0.7", extras = ["cuda12"]}
"""
PIPFILE = """
[packages]
torch = "*"
[dev-packages]
pytest = "*"
[requires]
python_version = "3"
"""
PIXI = """
[dependencies]
python = "3.12.*"
[pypi-dependencies]
torch = "==2.9.1"
"""


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        ("pyproject.toml", PROJECT, {"torch", "onnxruntime-gpu", "cupy-cuda12x", "pytest"}),
        ("pyproject.toml", POETRY, {"torch", "jax"}),
        ("Pipfile", PIPFILE, {"torch", "pytest"}),
        ("pixi.toml", PIXI, {"torch"}),
        ("pyproject.toml", "not toml [", set()),
    ],
)
def test_what_the_manifest_names(file: str, text: str, names: set[str], tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    assert {*package_tools._declared(LiveHost(), str(tmp_path))} == names
