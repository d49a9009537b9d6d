"""The tools of the tests and of a release are fixed by checksum."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


def locked() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=\w)", (ROOT / "tests" / "requirements.lock").read_text()):
        if pinned := re.match(r"([\w.-]+)==([\w.]+)", entry):
            found.setdefault(canonicalize_name(pinned[1]), []).append(pinned[2])
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), pinned[0]
    return found


def test_it_serves_what_is_declared() -> None:
    """In a version that is asked for: of the product, of its tests, and of a release."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*declared["dependencies"], *declared["optional-dependencies"]["test"]]
    wanted += (ROOT / "tests" / "release.in").read_text().splitlines()
    versions = locked()
    for one in map(Requirement, wanted):
        if one.marker and not one.marker.evaluate({"python_version": "3.11", "python_full_version": "3.11.9"}):
            continue  # the lock file begins with Python 3.11, as the tests' own tools do
        assert any(one.specifier.contains(version) for version in versions[canonicalize_name(one.name)]), one


def test_ci_installs_from_it() -> None:
    assert "--require-hashes -r tests/requirements.lock" in (ROOT / ".ci" / "run").read_text()
