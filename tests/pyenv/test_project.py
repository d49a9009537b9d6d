"""Where the environment of a project is: uv, pixi, poetry and hatch, each with its own configuration."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.pyenv.interpreters import candidates
from doctor.pyenv.project import _hash, project_environments

POETRY = '[tool.poetry]\nname = "Demo_Thing"\n'
HATCH = '[project]\nname = "demo"\n[tool.hatch.envs.default]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and, in it, a project that is the working directory."""
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home" / "project")
    return tmp_path / "home"


def environment(prefix: Path) -> Path:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    (prefix / "bin" / "python").symlink_to("/usr/bin/python3.12")
    return prefix


def conda(prefix: Path) -> Path:
    environment(prefix)
    (prefix / "pyvenv.cfg").unlink()
    (prefix / "conda-meta").mkdir()
    (prefix / "lib" / "python3.12").mkdir(parents=True)
    return prefix


def chosen(home: Path, **variables: str) -> tuple[str, str]:
    host = LiveHost({"HOME": str(home), "PATH": "", **variables})
    found = candidates(host, ())
    return (found[0].located.prefix, found[0].asked_by) if found else ("", "")


def test_dot_venv_needs_no_project(home: Path) -> None:
    assert chosen(home) == ("", "")
    place = environment(home / "project" / ".venv")
    assert chosen(home) == (str(place), "the project's .venv")


def test_in_a_folder_of_a_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = environment(home / "project" / ".venv")
    (home / "project" / "src").mkdir()
    monkeypatch.chdir(home / "project" / "src")
    assert chosen(home) == ("", "")  # whose .venv is it?
    (home / "project" / "pyproject.toml").write_text("")
    assert chosen(home)[0] == str(place)


def test_the_active_one_comes_first_but_conda_base_does_not(home: Path) -> None:
    own = environment(home / "project" / ".venv")
    active, base = environment(home / "active"), conda(home / "conda")
    assert chosen(home, VIRTUAL_ENV=str(active)) == (str(active), "VIRTUAL_ENV")
    assert chosen(home, CONDA_PREFIX=str(base), CONDA_DEFAULT_ENV="train") == (str(base), "CONDA_PREFIX")
    assert chosen(home, CONDA_PREFIX=str(base), CONDA_DEFAULT_ENV="base")[0] == str(own)
    shutil.rmtree(own)
    assert chosen(home, CONDA_PREFIX=str(base), CONDA_DEFAULT_ENV="base") == (str(base), "CONDA_PREFIX")


@pytest.mark.parametrize("place", ["envs/of-uv", "/ABSOLUTE"])
def test_uv_is_told_of_another_place(home: Path, place: str) -> None:
    (home / "project" / "pyproject.toml").write_text("")
    environment(home / "project" / ".venv")
    named = place.replace("/ABSOLUTE", str(home / "elsewhere"))
    wanted = environment(home / "project" / named)
    assert chosen(home, UV_PROJECT_ENVIRONMENT=named) == (str(wanted), "UV_PROJECT_ENVIRONMENT")


def test_pixi(home: Path) -> None:
    place = conda(home / "project" / ".pixi" / "envs" / "default")
    (home / "project" / "pixi.toml").write_text("")
    assert chosen(home) == (str(place), "pixi's for the project")


def of_poetry(home: Path, folder: Path, minor: str) -> Path:
    return environment(folder / f"demo-thing-{_hash(str(home / 'project'))}-py{minor}")


def test_poetry_keeps_them_in_its_cache(home: Path) -> None:
    (home / "project" / "pyproject.toml").write_text(POETRY)
    folder = home / ".cache" / "pypoetry" / "virtualenvs"
    environment(folder / "demo-thing-AAAAAAAA-py3.13")  # of a project of that name elsewhere
    old, new = of_poetry(home, folder, "3.9"), of_poetry(home, folder, "3.12")
    assert chosen(home) == (str(new), "poetry's for the project")
    (folder / "envs.toml").write_text(f'[demo-thing-{_hash(str(home / "project"))}]\nminor = "3.9"\npatch = "3.9.1"\n')
    assert chosen(home)[0] == str(old)
    own = environment(home / "project" / ".venv")
    assert chosen(home)[0] == str(own)
    assert chosen(home, POETRY_VIRTUALENVS_IN_PROJECT="false")[0] == str(old)
    (home / "project" / "poetry.toml").write_text("[virtualenvs]\nin-project = false\n")
    assert chosen(home)[0] == str(old)


@pytest.mark.parametrize("way", ["variable", "cache variable", "local", "global", "global cache"])
def test_poetry_is_told_of_another_place(home: Path, way: str) -> None:
    (home / "project" / "pyproject.toml").write_text(POETRY)
    folder = home / "envs" / "virtualenvs"
    place = of_poetry(home, folder, "3.12")
    (home / ".config" / "pypoetry").mkdir(parents=True)
    files = {
        "local": (home / "project" / "poetry.toml", f'[virtualenvs]\npath = "{folder}"\n'),
        "global": (home / ".config" / "pypoetry" / "config.toml", f'[virtualenvs]\npath = "{folder}"\n'),
        "global cache": (home / ".config" / "pypoetry" / "config.toml", f'cache-dir = "{folder.parent}"\n'),
    }
    if way in files:
        files[way][0].write_text(files[way][1])
    variables = {
        "variable": {"POETRY_VIRTUALENVS_PATH": str(folder)},
        "cache variable": {"POETRY_CACHE_DIR": str(folder.parent)},
    }
    assert chosen(home, **variables.get(way, {}))[0] == str(place)


def test_hatch(home: Path) -> None:
    (home / "project" / "pyproject.toml").write_text(HATCH)
    mark = _hash(str(home / "project"))
    place = environment(home / ".local" / "share" / "hatch" / "env" / "virtual" / "demo" / mark / "demo")
    assert chosen(home) == (str(place), "hatch's for the project")
    (home / "project" / "pyproject.toml").write_text(HATCH + 'path = "here"\n')
    own = environment(home / "project" / "here")
    assert chosen(home)[0] == str(own)
    named = environment(home / "named")
    assert chosen(home, HATCH_ENV_TYPE_VIRTUAL_PATH=str(named))[0] == str(named)


def test_hatch_is_told_of_another_place(home: Path) -> None:
    (home / "project" / "hatch.toml").write_text("")
    (home / ".config" / "hatch").mkdir(parents=True)
    (home / ".config" / "hatch" / "config.toml").write_text('[dirs.env]\nvirtual = ".hatch"\n')
    place = environment(home / "project" / ".hatch" / "demo")
    assert chosen(home)[0] == str(place)


@pytest.mark.parametrize("content", ["[tool.poetry", "[tool.poetry]\nname = 3\n[tool.hatch]\nenvs = 7\n", "\xff" * 9])
def test_what_is_damaged_is_no_project(home: Path, content: str) -> None:
    (home / "project" / "pyproject.toml").write_text(content, encoding="latin-1")
    (home / "project" / "poetry.toml").write_text("virtualenvs = 4\n[")
    assert chosen(home) == ("", "")


def test_a_directory_that_is_gone(home: Path) -> None:
    (home / "project").rmdir()
    assert chosen(home) == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["poetry", "hatch"])
def test_the_real_tool_agrees(tool: str, home: Path) -> None:
    """The newest release makes its environment; it is where it says, and is found."""
    tools = home / "tools"
    subprocess.run([sys.executable, "-m", "venv", tools], check=True)
    subprocess.run([tools / "bin" / "pip", "install", "-q", tool], check=True)
    (home / "project" / "pyproject.toml").write_text(
        '[project]\nname = "Demo_Thing"\nversion = "1"\nrequires-python = ">=3.9"\n'
        "[tool.poetry]\npackage-mode = false\n[tool.hatch.envs.default]\nskip-install = true\n"
    )
    made = {"poetry": ["env", "use", sys.executable], "hatch": ["env", "create"]}[tool]
    told = {"poetry": ["env", "info", "--path"], "hatch": ["env", "find"]}[tool]
    variables = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    subprocess.run([tools / "bin" / tool, *made], check=True, env=variables, cwd=home / "project")
    said = subprocess.run(
        [tools / "bin" / tool, *told], check=True, env=variables, cwd=home / "project", capture_output=True, text=True
    )
    place = said.stdout.strip().splitlines()[-1]
    assert place in [one.prefix for one in project_environments(LiveHost(variables), str(home / "project"))]
    assert chosen(home)[0] == place


def test_the_environment_that_pipenv_keeps(home: Path) -> None:
    """By the file .project: the hash in the name is of the Pipfile's path."""
    project = home / "project"
    data = home / ".local/share/virtualenvs"
    other = environment(data / "project-AAAAAAAA")
    (other / ".project").write_text(str(home / "elsewhere"))
    mine = environment(data / "project-b3Kd_9xY")
    (mine / ".project").write_text(f"{project}\n")
    assert chosen(home) == ("", "")  # without a Pipfile it is nobody's
    (project / "Pipfile").write_text("[packages]\ntorch = '*'\n")
    assert chosen(home) == (str(mine), "pipenv's for the project")
    moved = data.rename(home / "envs")
    assert chosen(home) == ("", "")
    assert chosen(home, WORKON_HOME=str(moved)) == (str(moved / mine.name), "pipenv's for the project")
    own = environment(project / ".venv")
    assert chosen(home, WORKON_HOME=str(moved)) == (str(own), "the project's .venv")
