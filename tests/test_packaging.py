"""The wheel and the source distribution, each installed into an empty environment, run and hold their data."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
DATA = sorted(path.name for path in (ROOT / "compat" / "data").glob("*.json"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--quiet", "--outdir", str(folder), str(ROOT)], check=True)
    return folder


def install(archive: Path, prefix: Path) -> Path:
    venv.create(prefix, with_pip=True)
    python = prefix / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(archive)], check=True)
    return prefix / "bin" / "gpudoctor"


@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
def test_installed_it_checks(built: Path, tmp_path: Path, pattern: str) -> None:
    [archive] = built.glob(pattern)
    command = install(archive, tmp_path / "env")
    empty = tmp_path / "root"
    empty.mkdir()
    done = subprocess.run(
        [command, "check", "--root", str(empty), "--format", "json"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode in {0, 4}, done.stderr
    assert json.loads(done.stdout)["schema"] == "gpudoctor.report/1"
    listed = subprocess.run([command, "check", "--list"], capture_output=True, text=True, cwd=tmp_path, check=True)
    rules = [path for path in (ROOT / "doctor" / "rules").glob("*.py") if path.stem != "__init__"]
    assert len(listed.stdout.splitlines()) == len(rules)


def test_beside_a_project_with_our_names(built: Path, tmp_path: Path) -> None:
    """`import gpudoctor` brings no other module of ours, and takes none of the project's."""
    [archive] = built.glob("*.whl")
    command = install(archive, tmp_path / "env")
    for name in ("doctor", "compat", "installers"):
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    program = (
        "import sys; sys.path.insert(0, '.'); import doctor, compat, gpudoctor; assert doctor.mine and compat.mine; "
        "report = gpudoctor.check(); assert report.raw['schema'] == 'gpudoctor.report/1'; "
        "assert not any(name.startswith(('doctor.', 'compat.', 'installers.')) for name in sys.modules)"
    )
    subprocess.run([command.parent / "python", "-c", program], cwd=tmp_path, check=True)
    subprocess.run([command.parent / "python", "-m", "gpudoctor", "--version"], cwd=tmp_path, check=True)


def test_the_wheel_holds_data_types_and_licence(built: Path) -> None:
    [archive] = built.glob("*.whl")
    names = zipfile.ZipFile(archive).namelist()
    assert [name.rpartition("/")[2] for name in sorted(names) if name.startswith("gpudoctor/compat/data/")] == DATA
    assert {"gpudoctor/py.typed", "gpudoctor/__main__.py"} <= set(names)
    pages = {name.rpartition("/")[2] for name in names if name.startswith("gpudoctor/doctor/messages/pages/")}
    assert pages == {path.name for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"gpudoctor"}


def test_the_source_distribution_holds_tests_and_docs(built: Path) -> None:
    [archive] = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert {"README.md", "tests/test_packaging.py", "docs/rules/driver-too-old-for-runtime.md"} <= names


# What `bench` opens or compiles with, by the wheels that hold it.
BROUGHT = {
    "cuda12": {"nvidia-cublas-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12", "nvidia-cudnn-cu12"},
    "cuda13": {"nvidia-cublas", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cudnn-cu13"},
}


@pytest.mark.parametrize("extra", BROUGHT)
def test_an_extra_brings_what_the_benchmark_needs_beside_a_driver(extra: str, tmp_path: Path) -> None:
    """As pip's resolver chooses from the index, for Linux; nothing is installed."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    report = tmp_path / "report.json"
    argv = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary=:all:"]
    for platform in ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"):
        argv += ["--platform", platform]
    argv += ["--python-version", "3.12", "--target", str(tmp_path / "none"), "--report", str(report), *told[extra]]
    subprocess.run(argv, check=True, capture_output=True)
    chosen = {one["metadata"]["name"]: one["metadata"] for one in json.loads(report.read_text())["install"]}
    assert set(chosen) >= BROUGHT[extra] | {"numpy", "pillow"}
    cupy = next(metadata for name, metadata in chosen.items() if name.startswith("cupy-"))
    assert "ctk" in cupy["provides_extra"]
    major = extra.removeprefix("cuda")
    assert all(chosen[one]["version"].split(".")[0] in {major, "9"} for one in BROUGHT[extra])
    assert told["bench"] == [one for one in told[extra] if one.startswith(("numpy", "pillow"))]
