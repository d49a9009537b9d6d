"""What a project says beside its lock file, and what the lock file has no file for."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Severity, Status
from tests.commands.dockerfile.judged import report
from tests.commands.lock.test_lock import ARM, MAC, WHL, WINDOWS, X86, checked
from tests.rules.case import answer

BAD, OK, NONE = Status.BAD, Status.OK, Status.NOT_APPLICABLE
LOCK = f"""version = 1
requires-python = ">=3.12"

[[package]]
name = "mine"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch" }}]

[[package]]
name = "torch"
version = "2.8.0+cu128"
source = {{ registry = "{WHL}/cu128" }}
wheels = [
    {{ url = "{WHL}/cu128/torch-2.8.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl" }},
    {{ url = "{WHL}/cu128/torch-2.8.0%2Bcu128-cp312-cp312-win_amd64.whl" }},
]
"""
INDEX = f'[[tool.uv.index]]\nname = "whl"\nurl = "{WHL}/cu128"\nexplicit = true\n'
SOURCE = '[tool.uv.sources]\ntorch = { index = "whl" }\n'


def project(*asks: str) -> str:
    return f'[project]\nname = "mine"\nversion = "0.1.0"\ndependencies = [{", ".join(map(repr, asks))}]\n'


FITS = project("torch==2.8.0") + SOURCE + INDEX


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("lock-stale", FITS, OK),
        ("lock-stale", project("torch>=2.9"), BAD),
        ("lock-stale", project("torch", "numpy"), BAD),
        ("lock-stale", project("torch", "numpy ; sys_platform == 'linux' and platform_machine == 'arm64'"), OK),
        ("lock-stale", project("torch>=2.9") + '[tool.uv]\noverride-dependencies = ["torch==2.8.0"]\n', NONE),
        ("lock-stale", FITS.replace("cu128", "cu126"), BAD),
        ("lock-stale", project("torch @ https://example.org/torch-2.8.0.tar.gz", "./here"), NONE),
        ("lock-stale", "[project", NONE),
        ("lock-source-without-effect", FITS, OK),
        ("lock-source-without-effect", project("lightning") + SOURCE + INDEX, BAD),
        ("lock-source-without-effect", project("torch") + INDEX, BAD),
        ("lock-source-without-effect", project("lightning") + SOURCE + "[tool.uv.workspace]\nmembers = []\n", NONE),
        ("lock-source-without-effect", project("torch"), NONE),
        ("lock-marker-never-true", project("torch ; platform_machine == 'arm64' and sys_platform == 'linux'"), BAD),
        ("lock-marker-never-true", project("torch ; platform_machine == 'arm64' or sys_platform == 'linux'"), OK),
        ("lock-marker-never-true", project("torch ; extra == 'x'"), OK),
        ("lock-marker-never-true",
         FITS.replace('"whl" }', '"whl", marker = "sys_platform == \'win32\' and platform_machine == \'x86_64\'" }'),
         BAD),
        ("lock-marker-never-true", FITS, NONE),
    ],
)  # fmt: skip
def test_kinds(code: str, text: str, kind: Status, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    said = checked(tmp_path, "uv.lock", LOCK)
    found = answer(code, said.facts)
    assert found.kind is kind, found
    if kind is BAD:
        assert found.severity is Severity.WARNING
        assert found.evidence[0].file.endswith("pyproject.toml")
        assert found.evidence[0].line > 1


WHEELS = LOCK.partition("wheels")[2]
POETRY = (
    '[[package]]\nname = "triton"\nversion = "3.1.0"\ngroups = ["main"]\nfiles = [\n'
    '    {file = "triton-3.1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", hash = "sha256:0"},\n]\n'
)
PYLOCK = f'lock-version = "1.0"\n[[packages]]\nname = "torch"\nversion = "2.8.0"\nwheels{WHEELS}'
SDIST = LOCK.replace("wheels", 'sdist = { url = "https://example.org/torch-2.8.0.tar.gz" }\nwheels')


@pytest.mark.parametrize(
    "case",
    [
        ("uv.lock", LOCK, X86, "3.12", OK),
        ("uv.lock", LOCK, WINDOWS, "3.12", OK),
        ("uv.lock", LOCK, ARM, "3.12", BAD),
        ("uv.lock", LOCK, MAC, "3.12", BAD),
        ("uv.lock", LOCK, X86, "3.13", BAD),
        ("uv.lock", LOCK.replace("cp312-cp312", "cp39-abi3"), X86, "3.13", OK),
        ("uv.lock", SDIST, ARM, "3.12", OK),
        ("poetry.lock", POETRY, X86, "3.12", OK),
        ("poetry.lock", POETRY, ARM, "3.12", BAD),
        ("pdm.lock", POETRY.replace("main", "default"), ARM, "3.12", BAD),
        ("pylock.toml", PYLOCK, X86, "3.12", OK),
        ("pylock.toml", PYLOCK, ARM, "3.12", BAD),
        ("requirements.txt", "torch==2.8.0\n", ARM, "3.12", OK),
    ],
)
def test_wheels(case: tuple[str, str, str, str, Status], tmp_path: Path) -> None:
    name, text, platform, python, kind = case
    said = checked(tmp_path, name, text, platform, python_version=python)
    found = answer("lock-no-wheel", said.facts)
    assert found.kind is kind, found
    assert kind is OK or found.evidence[0].line > 0


def test_a_dockerfile_reads_the_same(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(project("torch>=2.9"))
    (tmp_path / "uv.lock").write_text(LOCK)
    text = "FROM ghcr.io/astral-sh/uv:python3.12-bookworm\nWORKDIR /a\nCOPY . .\nRUN uv sync\n"
    said = report(tmp_path, text, platform="linux/arm64")
    assert {"lock-stale", "lock-no-wheel"} <= {one.code for one in said.findings}
