"""Which release a row speaks of."""

from __future__ import annotations

import pytest

from compat.build import covers
from compat.matrix import Matrix
from tests.compat.test_fit import ROW


@pytest.mark.parametrize(
    ("versions", "version", "so"),
    [
        ("==0.0.33", "0.0.33", True),
        ("==0.0.33", "0.0.33+cu128", True),
        ("==0.0.33", "0.0.33.post2", False),
        ("==0.0.33.post2", "0.0.33", False),
        ("==0.0.33.post2", "0.0.33.post1", False),
        ("==0.0.33.post2", "0.0.33.post2+cu128", True),
        ("==2.9.0", "2.9", True),
        ("==2.9.0", "2.9.0a0+git1234", True),  # a build of one's own stands for its release
        ("==2.9.*", "2.9.1.post1", True),
        (">=2.9,<3", "2.9.1.post1", True),
    ],
)
def test_covers(versions: str, version: str, so: bool) -> None:
    assert covers(ROW._replace(versions=versions), version) is so


def test_every_row_covers_what_it_names() -> None:
    rows = Matrix().rows("xformers", "builds")
    assert any(".post" in row.versions for row in rows)
    for row in rows:
        named = row.versions.removeprefix("==")
        assert {other.versions for other in rows if covers(other, named)} == {row.versions}
