"""A fresh Windows for every test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.windows.machine import Windows, made


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Windows:
    """The Windows that the others are copies of, one for all workers of pytest-xdist."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if shared.name.startswith("popen-") else shared
    return made(shared / "windows")


@pytest.fixture
def windows(base: Windows, tmp_path: Path) -> Iterator[Windows]:
    """A copy, running."""
    machine = Windows(base.copy(tmp_path / "windows").folder)
    machine.start()
    try:
        yield machine
    finally:
        machine.close()
