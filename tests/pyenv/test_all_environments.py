"""`check --all-environments`: what tools keep below the home, besides the environment in use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.cli import execute


def made(prefix: Path, torch: str = "") -> Path:
    """A virtual environment, with that torch."""
    site = prefix / "lib/python3.12/site-packages"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").symlink_to("/usr/bin/env")
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
    if torch:
        info = site / f"torch-{torch}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {torch}\n")
    return prefix


@pytest.mark.parametrize(
    "folder",
    [
        *(".virtualenvs/a", ".local/share/pipx/venvs/a", ".local/share/uv/tools/a", ".cache/pypoetry/virtualenvs/a"),
        *("project/.venv", "miniforge3/envs/a"),
    ],
)
def test_environments_of_tools(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made(tmp_path / folder, "2.9.1")
    if folder.startswith("miniforge3"):
        made(tmp_path / "miniforge3")
        (tmp_path / "miniforge3/conda-meta").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(made(tmp_path / "active")))
    found = {}
    for option in ((), ("--all-environments",)):
        execute(["check", *option, "--json"])
        told = json.loads(capsys.readouterr().out)["facts"]["environments"]
        found[option] = {one["prefix"]: [each["version"] for each in one["frameworks"]["value"]] for one in told}
    assert [*found[()]] == [str(tmp_path / "active")]
    assert found["--all-environments",][str(other)] == ["2.9.1"]


def test_one_of_two_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--python", "python3", "--all-environments"]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert execute(["check", "--root", "/", "--all-environments"]) == 2
    assert "all are checked anyway" in capsys.readouterr().err


def test_a_policy_that_names_environments_does_not_stand_against_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the policy checks by default is no option that the user gave."""
    policy = tmp_path / "gpudoctor.toml"
    policy.write_text(f"[environments]\npython = ['{made(tmp_path / 'named')}']\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert execute(["check", "--all-environments", "--policy", str(policy), "--json"]) != 2
    assert str(tmp_path / "named") in {
        one["prefix"] for one in json.loads(capsys.readouterr().out)["facts"]["environments"]
    }
