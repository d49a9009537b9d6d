"""The entry point runs our own packages, whatever else has their names."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "import pathlib; pathlib.Path('ran').write_text('hostile')\n"


def run(*argv: str, cwd: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "GPUDOCTOR_CACHE": ""}
    return subprocess.run([sys.executable, *argv], cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation: our packages in a directory of sys.path."""
    folder = tmp_path_factory.mktemp("installed") / "site"
    for name in ("compat", "doctor", "installers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs/rules", folder / "doctor/messages/pages")  # as the wheel has them
    shutil.copy(ROOT / "gpudoctor.py", folder)
    return folder


@pytest.mark.parametrize("name", ["compat.py", "doctor/__init__.py", "installers.py"])
def test_a_project_with_our_names_is_not_run(site: Path, tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    (project / name).parent.mkdir(parents=True)
    (project / name).write_text(HOSTILE)
    started = "import sys; sys.argv[1:] = ['--version']; import gpudoctor; gpudoctor.main()"
    for argv in (("-c", started), ("-m", "gpudoctor", "--version"), ("-m", "gpudoctor", "check", "--list")):
        done = run(*argv, cwd=project, path=f".:{site}")
        assert (done.returncode, done.stderr) == (0, ""), argv
        assert not (project / "ran").exists()


@pytest.fixture
def spoilt(site: Path, tmp_path: Path) -> Path:
    """One that may be changed."""
    return Path(shutil.copytree(site, tmp_path / "site"))


def test_another_distribution_that_overwrote_a_package_is_named(spoilt: Path, tmp_path: Path) -> None:
    (spoilt / "doctor" / "__init__.py").write_text("VERSION = 3\n")
    info = spoilt / "house_calls-3.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-calls\nVersion: 3.0\n")
    (info / "top_level.txt").write_text("doctor\n")
    (info / "RECORD").write_text("doctor/__init__.py,,\n")
    done = run("-m", "gpudoctor", "check", cwd=tmp_path, path=str(spoilt))
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert f"{spoilt}/doctor/__init__.py was overwritten by house-calls" in done.stderr


def test_a_package_that_is_gone_is_named(spoilt: Path, tmp_path: Path) -> None:
    shutil.rmtree(spoilt / "installers")
    done = run("-m", "gpudoctor", "check", cwd=tmp_path, path=str(spoilt))
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert f"{spoilt}/installers is missing" in done.stderr


def test_a_module_of_that_name_that_is_loaded_already_is_named(site: Path, tmp_path: Path) -> None:
    (tmp_path / "compat.py").write_text("")
    code = "import compat, gpudoctor; gpudoctor.main()"
    done = run("-c", code, cwd=tmp_path, path=f"{tmp_path}:{site}")
    assert done.returncode == 3
    assert "compat.py is in the way" in done.stderr
