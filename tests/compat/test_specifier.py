"""Specifiers answer as `packaging` does."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from packaging.specifiers import SpecifierSet

from compat.specifier import accepts, clauses
from tests.each import each

SPECIFIERS = (
    "",
    "==2.9.1",
    "==2.9",
    "==2.*",
    "==2.9.*",
    "!=2.9.*",
    "!=2.9.1",
    ">=2.9",
    ">=2.9,<3",
    "<=2.9.1",
    ">2.9.1",
    "<2.9.1",
    " >= 2.9 , < 3 ",
    "<13.0,>=12.5.3.2",
    "~=2.9",
    "~=2.9.0",
    "==2.9.1.post1",
    "!=2.22.0rc0",
    "==2.22.0rc0",
    ">=2.22.0rc0",
    "<2.22.0",
    ">2.22.0rc0",
    "<2.22.0rc1",
    "==2.22.*",
    "<2.22.0dev",
    ">2.9.1.post0",
    "<2.9.1.post2",
)
VERSIONS = (
    "2",
    "2.9",
    "2.9.0",
    "2.9.1",
    "2.9.1.0",
    "2.9.10",
    "2.10.0",
    "3.0",
    "12.8",
    "12.5.3.2",
    "2.9.1.post1",
    "2.22.0rc0",
    "2.22.0",
    "2.22.0.post1",
    "2.22.0b1",
    "2.22.0.dev1",
)


@each(("specifier", "version"), list(itertools.product(SPECIFIERS, VERSIONS)))
def test_as_packaging(specifier: str, version: str) -> None:
    assert accepts(specifier, version) is SpecifierSet(specifier).contains(version, prereleases=True)


@pytest.mark.parametrize(
    ("specifier", "version", "answer"),
    [("==2.9.1", "2.9.1+cu128", True), (">=2.9", "2.9.1+cu128", True), ("==2.9.1+cu128", "2.9.1+cu128", True)],
)
def test_local_builds_count_as_the_release(specifier: str, version: str, answer: bool) -> None:
    assert accepts(specifier, version) is answer


@pytest.mark.parametrize("specifier", [*SPECIFIERS, "===2.9", "==2.9.1+cu128", "== 2.9.*,!=2.9.3", "~= 2.9.0"])
def test_clauses_are_those_of_packaging(specifier: str) -> None:
    assert {*clauses(specifier)} == {(one.operator, one.version) for one in SpecifierSet(specifier)}


@pytest.mark.parametrize("specifier", ["~=2", ">=2.*", "=2", "2.9", "==", "=>2", "~=2.9.*", "==two"])
def test_what_is_no_specifier_is_refused(specifier: str) -> None:
    with pytest.raises(ValueError, match="Invalid specifier"):
        clauses(specifier)


def test_plain_numbers_need_no_packaging() -> None:
    code = "import sys; from compat.specifier import accepts, clauses; accepts('>=12.1,<13,!=12.7,==12.*', '12.8'); "
    code += "accepts('>0.0.22,<=0.0.32.post1,==0.0.*', '0.0.22.post7'); accepts('<=2.18.1', '2.18.0rc1'); "
    code += "clauses('~=12.1,<13,!=12.7.*,==12.*,>=11'); "
    code += "sys.exit('packaging' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
