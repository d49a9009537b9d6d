"""The mutants themselves: which faults a source is given, and that the tests of a small project are run on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.__main__ import ROOT
from tests.mutants.operators import changes_of, makes_another, members_of
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.run import KILLED, SURVIVED, FailsAlready, mutants_of, run

ENUM = b"class Kind(Enum):\n    OK = 1\n    BAD = 2\n"


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", ["a <= b"]),
        ("a >= b > c", ["a > b > c", "a >= b >= c"]),
        ("(a) == (b)", ["(a) != (b)"]),
        ("inner in b", ["inner not in b"]),
        ("a is  not b", ["a is b"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("x = not(a or b)", ["x = (a or b)", "x = not(a and b)"]),
        ("x = 'é', 5", ["x = (5,)", "x = ('é',)", "x = 'é', 6", "x = 'é', 4"]),
        ("return_ = False", ["return_ = True"]),
        ("f(a, b=x, c=y)", ["f(a, c=y)", "f(a, b=x, )"]),
        ("f(b=x)", ["f()"]),
        ("{a, b}", ["{b}", "{a, }"]),
        ("x = (a, b, c)", ["x = (b, c)", "x = (a, c)", "x = (a, b, )"]),
        ("Kind.OK", ["Kind.BAD"]),
        ("Kind.BAD is x", ["Kind.OK is x", "Kind.BAD is not x"]),
        ("Kind.other", []),
        ("(a, b) = c", []),
        ("x: dict[str, tuple[int, int]]", []),
        ("def f(a: Literal[1]) -> Literal[2]: pass", []),
        ("if TYPE_CHECKING:\n    x = 1", []),
        ("__all__ = ('a', 'b')", []),
        ("f'{1}'", []),
        ('"""1 < 2"""', []),
    ],
)
def test_the_faults_of_a_source(source: str, mutants: list[str]) -> None:
    content = source.encode()
    changes = [one for one in changes_of(content, members_of([ENUM])) if makes_another(one, content)]
    assert sorted(one.applied(content).decode() for one in changes) == sorted(mutants)


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_has_its_sources_and_tests(name: str) -> None:
    room = ROOMS[name]
    assert all(any(ROOT.glob(pattern)) for pattern in room.sources)
    assert all((ROOT / one).exists() for one in room.tests)
    assert 0 < room.floor_percent <= 100


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two borders, one of which a test holds."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/age.py").write_text(
        "def adult(age):\n    return age >= 18\n\n\ndef old(age):\n    return age > 70\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_age.py").write_text(
        "from shop.age import adult, old\n\n\ndef test_age():\n    assert adult(18)\n    assert old(80)\n"
    )
    return tmp_path


ROOM = Room(("shop/*.py",), ("tests",), 50)


def test_a_border_that_no_test_holds_survives(project: Path) -> None:
    before = (project / "shop/age.py").read_bytes()
    chosen = [one for one in mutants_of(project, ROOM, 99, 1) if one.change.operator == "border"]
    found = {str(one.mutant): one.outcome for one in run(project, ROOM, chosen, 1)}
    assert found == {"shop/age.py:2 border: >= -> >": KILLED, "shop/age.py:6 border: > -> >=": SURVIVED}
    assert (project / "shop/age.py").read_bytes() == before


def test_a_sample_is_the_same_for_a_seed_and_has_every_operator(project: Path) -> None:
    first, again, other = (mutants_of(project, ROOM, 4, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert {one.change.operator for one in first} == {"border", "number"}


def test_tests_that_fail_already_are_said(project: Path) -> None:
    (project / "shop/age.py").write_text("")
    with pytest.raises(FailsAlready, match="cannot import name"):
        list(run(project, ROOM, [], 1))
