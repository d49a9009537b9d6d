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


def test_the_wheel_holds_data_types_and_licence(built: Path) -> None:
    [archive] = built.glob("*.whl")
    names = zipfile.ZipFile(archive).namelist()
    assert [name.rpartition("/")[2] for name in sorted(names) if name.startswith("compat/data/")] == DATA
    assert {"compat/py.typed", "doctor/py.typed", "installers/py.typed"} <= set(names)
    pages = {name.rpartition("/")[2] for name in names if name.startswith("doctor/explain/pages/")}
    assert pages == {path.name for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith("tests/") for name in names)


def test_the_source_distribution_holds_tests_and_docs(built: Path) -> None:
    [archive] = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert {"README.md", "tests/test_packaging.py", "docs/rules/driver-too-old-for-runtime.md"} <= names
