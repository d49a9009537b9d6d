"""`gpudoctor matrix solve --write FILE`: every kind of file holds the set, and its tool takes it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # PyYAML

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.matrix.manifests.dockerfile import is_named
from doctor.output.write import NotWritten, write_new

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Of 2.9.1 only the cu126 build has code for Pascal, and an index of its own serves it.
ASKED = ("torch==2.9.1", "--gpu", "GTX 1080 Ti", "--driver", "580.95.05", "--python", "3.12")
WANTED = ["torch==2.9.1+cu126"]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"  # uv locks for an interpreter that is there
SERVED = ("torch==2.10.0", "tensorflow==2.20.0", "--gpu", "RTX 4090", "--python", PYTHON)
URL = Matrix().wheel_index("torch", "cu126", "2.9.1").url


def write(folder: Path, name: str, *words: str) -> str:
    """The text of a file that was written."""
    assert execute(["matrix", "solve", *(words or ASKED), "--write", str(folder / name)]) == 0
    return (folder / name).read_text(encoding="utf-8")


def test_requirements(tmp_path: Path) -> None:
    lines = write(tmp_path, "requirements-gpu.txt").splitlines()
    assert lines == ["# for Python 3.12", f"--extra-index-url {URL}", *WANTED]


def test_pyproject(tmp_path: Path) -> None:
    found = tomllib.loads(write(tmp_path, "pyproject.toml"))
    assert found["project"]["dependencies"] == WANTED
    assert found["project"]["requires-python"] == "==3.12.*"
    assert found["tool"]["uv"]["index"] == [{"name": "index-1", "url": URL, "explicit": True}]
    assert found["tool"]["uv"]["sources"] == {"torch": {"index": "index-1"}}


def test_pixi(tmp_path: Path) -> None:
    found = tomllib.loads(write(tmp_path, "pixi.toml"))
    assert "system-requirements" not in found
    assert found["workspace"]["platforms"] == [
        {"name": "linux-64-cuda", "platform": "linux-64", "cuda": {"driver": "13.0", "arch": "6.1"}}
    ]
    assert found["dependencies"] == {"python": "3.12.*"}
    assert found["pypi-dependencies"] == {"torch": {"version": "==2.9.1+cu126", "index": URL}}


def test_pixi_names_extras(tmp_path: Path) -> None:
    found = tomllib.loads(write(tmp_path, "pixi.toml", "jax[cuda12]==0.7.2", "--gpu", "sm_89", "--python", "3.12"))
    assert found["pypi-dependencies"] == {"jax": {"version": "==0.7.2", "extras": ["cuda12"]}}
    assert found["workspace"]["platforms"][0]["cuda"] == {"driver": "12.0", "arch": "8.9"}


def test_conda(tmp_path: Path) -> None:
    found: dict[str, Any] = yaml.safe_load(write(tmp_path, "environment.yml"))
    assert found["dependencies"] == ["python=3.12", "pip", {"pip": [f"--extra-index-url {URL}", *WANTED]}]


def test_dockerfile(tmp_path: Path) -> None:
    lines = write(tmp_path, "Dockerfile").splitlines()
    assert lines[0] == "FROM python:3.12-slim"
    assert [line.partition(" ")[0] for line in lines] == ["FROM", "ENV", "RUN"]
    assert shlex.split(lines[-1])[-1:] == WANTED


def test_a_container_holds_the_cuda_that_is_taken_from_the_system(tmp_path: Path) -> None:
    lines = write(tmp_path, "gpu.dockerfile", "cupy-cuda12x", "--gpu", "RTX 4090", "--python", "3.12").splitlines()
    assert re.match(r"FROM nvidia/cuda:12\.", lines[0])


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("packages.lst", ASKED, "the name must be one of Dockerfile, environment.yml"),
        ("", ASKED, "the name must be one of"),
        ("PYPROJECT.TOML", ASKED, "the name must be one of"),  # uv does not find it
        ("there/pixi.toml", ASKED, "No such file or directory"),
        ("Dockerfile", ("torch==2.4.1", "--os", "windows"), "a container with CUDA is a Linux one"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    name: str, words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", "solve", *words, "--write", name and str(tmp_path / name)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.splitlines()) == 1
    assert not any(tmp_path.iterdir())


def test_a_file_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "pyproject.toml"
    kept.write_text("mine", encoding="utf-8")
    assert execute(["matrix", "solve", *ASKED, "--write", str(kept)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"


def test_the_report_does_not_take_the_place_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    words = ("--write", str(tmp_path / "requirements.txt"), "--output", str(tmp_path / "link/requirements.txt"))
    assert execute(["matrix", "solve", *ASKED, *words]) == 2
    assert "cannot hold the report as well" in capsys.readouterr().err
    assert not (tmp_path / "requirements.txt").exists()


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """The solver takes a while: what has the name when the set is written is another program's."""
    there = tmp_path / "requirements.txt"
    there.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotWritten, match="File exists"):
        write_new(str(there), "set")
    assert not (tmp_path / "elsewhere").exists()


def test_names_of_dockerfiles() -> None:
    named = {name: is_named(name) for name in ("Dockerfile", "gpu.Dockerfile", "Dockerfile.gpu", "a.dockerfile.orig")}
    assert named == {"Dockerfile": True, "gpu.Dockerfile": True, "Dockerfile.gpu": True, "a.dockerfile.orig": False}


def test_what_is_not_known_to_work_is_not_written(tmp_path: Path) -> None:
    words = ["matrix", "solve", "tensorflow", "--gpu", "GT 640M", "--driver", "352.63"]
    assert execute([*words, "--write", str(tmp_path / "pixi.toml")]) == 4
    assert not (tmp_path / "pixi.toml").exists()


def uv(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("uv")), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_uv_locks_the_project(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", *SERVED)
    done = uv("lock", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    locked = tomllib.loads((tmp_path / "uv.lock").read_text(encoding="utf-8"))
    versions = {one["name"]: one["version"] for one in locked["package"] if "version" in one}
    assert (versions["torch"], versions["tensorflow"]) == ("2.10.0", "2.20.0")


@pytest.mark.slow
def test_uv_takes_a_build_from_the_index_that_is_named(tmp_path: Path) -> None:
    """The index is one of our own, with a wheel of nothing but its metadata: only its address is put in its place."""
    index = _index(tmp_path / "index", "torch", "2.9.1+cu126")
    text = write(tmp_path, "pyproject.toml", "torch==2.9.1", "--gpu", "GTX 1080 Ti", "--python", PYTHON)
    (tmp_path / "pyproject.toml").write_text(text.replace(URL, index.as_uri()), encoding="utf-8")
    done = uv("lock", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    locked = tomllib.loads((tmp_path / "uv.lock").read_text(encoding="utf-8"))
    assert "2.9.1+cu126" in {one["version"] for one in locked["package"] if one["name"] == "torch"}


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_requirements_are_taken(tool: str, tmp_path: Path) -> None:
    write(tmp_path, "requirements.txt", *SERVED)
    if tool == "uv":
        words = ("pip", "compile", "requirements.txt", "--quiet", "--python-version", PYTHON, "--only-binary", ":all:")
        done = uv(*words, "--python-platform", "x86_64-manylinux_2_40", folder=tmp_path)
    else:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed"]
        command += ["--only-binary=:all:", "--python-version", PYTHON, "--platform", "manylinux_2_28_x86_64"]
        command += ["--platform", "manylinux_2_17_x86_64", "--target", "target", "-r", "requirements.txt"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _index(folder: Path, name: str, version: str) -> Path:
    """A package index (PEP 503) of files, with one wheel in it."""
    import zipfile

    (folder / name).mkdir(parents=True)
    wheel = f"{name}-{version}-py3-none-manylinux_2_28_x86_64.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / name / wheel, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    (folder / name / "index.html").write_text(f'<a href="{wheel.replace("+", "%2B")}">{wheel}</a>', encoding="utf-8")
    return folder
