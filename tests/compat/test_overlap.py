"""Common versions of specifiers, by hand and against every version of a grid."""

from __future__ import annotations

import itertools
import random

import pytest
from packaging.specifiers import SpecifierSet

from compat.overlap import inside, overlap


@pytest.mark.parametrize(
    ("specifiers", "answer"),
    [
        ([], "yes"),
        ([""], "yes"),
        (["==9.1.0.70", "==9.1.0.70"], "yes"),
        (["==9.1.0.70", "==8.9.7.29"], "no"),
        (["==9.10.2.21", "<10.0,>=9.3.0.75"], "yes"),
        (["==9.1.0.70", "<10.0,>=9.3.0.75"], "no"),
        (["==2.27.5", "<3.0,>=2.27.7"], "no"),
        (["<13.0,>=12.5.3.2", ">=12.1.3.1"], "yes"),
        (["~=9.0", "==9.10.2.21"], "yes"),
        (["~=9.0", "==10.0.0"], "no"),
        (["~=9.1.2", "==9.2.0"], "no"),
        (["==12.*", ">=12.9.2,<13"], "yes"),
        (["==12.*", ">=13"], "no"),
        (["==12.8", "==12.8.0"], "yes"),
        (["==8.6.1.post1", "!=8.6.1.post1"], "no"),
        (["==8.6.1.post1", "==8.6.1"], "no"),
        (["<1.24", "<2"], "yes"),
        ([">1.0", "<2"], "unknown"),
        ([">1.0,<1.3", "!=1.1,!=1.2"], "unknown"),
        ([">=1.3", "!=1.3.*", "<1.4"], "no"),
        (["!=1.3.*,>=1.3", "<1.5"], "unknown"),
        ([">=2", "<2"], "no"),
    ],
)
def test_by_hand(specifiers: list[str], answer: str) -> None:
    assert overlap(specifiers) == answer


@pytest.mark.parametrize(
    ("specifiers", "outer", "answer"),
    [
        (["==9.10.2.21"], ">=9", "yes"),
        (["==8.9.7.29"], ">=9", "no"),
        (["<10,>=8.9"], ">=9", "unknown"),
        (["<10,>=9.3"], ">=9", "yes"),
        (["==1.27.*"], "==1.27.0", "unknown"),
        (["==1.27.1"], "==1.27.0", "no"),
        ([""], "", "yes"),
        (["==8.5.3.1"], "!=8.5.3.1", "no"),
    ],
)
def test_inside(specifiers: list[str], outer: str, answer: str) -> None:
    assert inside(specifiers, outer) == answer


VERSIONS = [".".join(map(str, parts)) for parts in itertools.product(range(4), range(4), range(4))]


@pytest.mark.no_cover  # a sweep over lines that others cover
def test_against_every_version_of_a_grid() -> None:
    """ "no" is never said where a version exists, and "yes" or "unknown" never where none could."""
    chance = random.Random(7)
    for _ in range(1500):
        specifiers = [",".join(clause(chance) for _ in range(chance.randint(1, 2))) for _ in range(2)]
        sets = [SpecifierSet(one) for one in specifiers]
        fine = [f"{version}.{last}" for version in VERSIONS for last in (0, 5)]
        exists = any(all(one.contains(version) for one in sets) for version in fine)
        assert (overlap(specifiers) != "no") is exists, specifiers


def clause(chance: random.Random) -> str:
    version = ".".join(str(chance.randint(0, 2)) for _ in range(chance.randint(1, 3)))
    sign = chance.choice([">=", "<=", "<", ">", "==", "!=", "==*", "!=*", "~="])
    if sign.endswith("*"):
        return f"{sign[:-1]}{version}.*"
    return f"~={version}.1" if sign == "~=" else f"{sign}{version}"
