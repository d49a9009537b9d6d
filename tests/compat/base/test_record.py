"""Our NamedTuple is the one of typing in all that anybody uses, only sooner defined."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from compat.base import record
from compat.base.record import NamedTuple


class Ours(NamedTuple):
    """A value."""

    a: int
    b: tuple[str, ...] = ("x",)

    @property
    def doubled(self) -> int:
        """Twice a."""
        return 2 * self.a

    @classmethod
    def parse(cls, text: str) -> Ours:
        """From text."""
        return cls(int(text))

    def __str__(self) -> str:
        return f"<{self.a}>"


class Theirs(typing.NamedTuple):
    """A value."""

    a: int
    b: tuple[str, ...] = ("x",)


def test_a_value_is_what_typing_makes() -> None:
    ours, theirs = Ours(1), Theirs(1)
    assert tuple(ours) == tuple(theirs)
    assert ours == Ours(a=1, b=("x",)) != Ours(2)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._replace(b=()) == (1, ())
    assert ours._asdict() == theirs._asdict()
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert (ours.doubled, str(ours), Ours.parse("3").a) == (2, "<1>", 3)
    with pytest.raises(AttributeError):
        ours.a = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ours.c = 2  # type: ignore[attr-defined]


def test_a_class_is_what_typing_makes() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert Ours.__mro__[1:] == Theirs.__mro__[1:]
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)


def test_a_default_before_none_is_refused() -> None:
    with pytest.raises(TypeError, match="default"):
        exec("class Wrong(NamedTuple):\n a: int = 1\n b: int\n", vars(record) | {"__name__": "test"})


def test_what_a_check_loads_uses_it(tmp_path: Path) -> None:
    code = (
        "import sys; from doctor.cli import execute; "
        f"execute(['check', '--root', {str(tmp_path)!r}, '--format', 'json', '--output', '/dev/null']); "
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in ('compat', 'doctor', 'installers')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    files = [path for path in done.stdout.split() if path.endswith(".py") and not path.endswith("record.py")]
    assert len(files) > 150
    slow = [path for path in files if "NamedTuple" in _from_typing(Path(path))]
    assert slow == []


def _from_typing(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = (one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and one.module == "typing")
    return {name.name for one in taken for name in one.names}
