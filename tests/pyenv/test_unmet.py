"""What a framework requires beside a GPU stack and is not installed, from its METADATA."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.environment import Distribution
from doctor.probes import environment
from doctor.pyenv.metadata import required_wheels, unmet_of

# Lines of torch 2.9.1's METADATA, and two forms that others have.
METADATA = """Metadata-Version: 2.1
Name: torch
Version: 2.9.1
Requires-Dist: filelock
Requires-Dist: typing-extensions>=4.10.0
Requires-Dist: setuptools; python_version >= "3.12"
Requires-Dist: sympy>=1.13.3
Requires-Dist: nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"
Requires-Dist: triton==3.5.1; platform_system == "Linux"
Requires-Dist: optree>=0.13.0; extra == "optree"
Requires-Dist: Jinja2 (>=3)
Requires-Dist: mine @ https://example.com/mine-1.0-py3-none-any.whl
"""


@pytest.mark.parametrize(
    ("python", "there", "unmet"),
    [
        ("3.11", ("filelock", "sympy", "jinja2", "typing-extensions"), []),
        ("3.11", ("filelock", "sympy", "jinja2"), ["typing-extensions>=4.10.0"]),
        ("3.12", ("filelock", "sympy", "typing-extensions"), ["setuptools", "jinja2>=3"]),
    ],
)
def test_requirements(tmp_path: Path, python: str, there: tuple[str, ...], unmet: list[str]) -> None:
    site = f"/venv/lib/python{python}/site-packages"
    folder = tmp_path / site[1:] / "torch-2.9.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(METADATA, encoding="utf-8")
    torch = Distribution("torch", "2.9.1", site, f"{site}/torch-2.9.1.dist-info", "wheel", "")
    assert [one.wanted for one in unmet_of(RootHost(str(tmp_path)), torch, dict.fromkeys(there, ""))] == unmet


def test_a_marker_that_cannot_be_told_accuses_nothing(tmp_path: Path) -> None:
    """The directories of Windows do not name the release of Python."""
    folder = tmp_path / "site" / "torch-2.9.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text('Requires-Dist: setuptools; python_version >= "3.12"\n', encoding="utf-8")
    torch = Distribution("torch", "2.9.1", "/site", "/site/torch-2.9.1.dist-info", "wheel", "")
    assert not list(unmet_of(RootHost(str(tmp_path)), torch, {}))


def test_wheels_that_any_distribution_requires(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "nvidia_cutlass_dsl-4.8.0.dist-info"
    folder.mkdir(parents=True)
    asked = ("nvidia-cutlass-dsl-libs-base==4.8.0", "nvidia_cutlass_dsl_libs_cu12==4.8.0; extra == 'x'", "numpy")
    (folder / "METADATA").write_text("".join(f"Requires-Dist: {text}\n" for text in asked), encoding="utf-8")
    one = Distribution("nvidia-cutlass-dsl", "4.8.0", "/site", f"/site/{folder.name}", "wheel", "")
    host = RootHost(str(tmp_path))
    assert [*required_wheels(host, one)] == ["nvidia-cutlass-dsl-libs-base", "nvidia-cutlass-dsl-libs-cu12"]
    assert not [*required_wheels(host, one._replace(metadata="/site/none.dist-info"))]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import os\nfrom typing_extensions import ParamSpec\n", 2),
        ("import typing_extensions\n", 1),
        ("if TYPE_CHECKING:\n    from typing_extensions import Self\n", 0),
        ("try:\n    import typing_extensions\nexcept ImportError:\n    pass\n", 0),
        ("import typing_extensions_more\n", 0),
        ("", 0),
    ],
)
def test_what_an_import_imports_at_once(tmp_path: Path, source: str, line: int) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(source, encoding="utf-8")
    found = environment._imported_at(RootHost(str(tmp_path)), "/torch", "typing-extensions")
    assert (found.line if found else 0) == line


@pytest.mark.parametrize(
    ("version", "told"),
    [("4.9.0", ["typing-extensions>=4.10.0"]), ("4.10.0", []), ("99", []), ("unknown", []), ("4.10.0rc1", [])],
)
def test_what_is_older_than_asked_for(version: str, told: list[str], tmp_path: Path) -> None:
    site = "/venv/lib/python3.11/site-packages"
    folder = tmp_path / site[1:] / "torch-2.9.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(METADATA, encoding="utf-8")
    torch = Distribution("torch", "2.9.1", site, f"{site}/torch-2.9.1.dist-info", "wheel", "")
    there = {"filelock": "1", "sympy": "1.13.3", "jinja2": "3.1", "typing-extensions": version}
    found = list(unmet_of(RootHost(str(tmp_path)), torch, there))
    assert [one.wanted for one in found] == told
    assert all(one.there == version for one in found)
