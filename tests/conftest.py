"""No test reads or writes what belongs to the user who runs it, and none runs for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.shown import ShownAnswers

_SECONDS = {"slow": 1800, "system": 900, "gpu": 900}  # instead of pyproject.toml's


def pytest_configure(config: pytest.Config) -> None:
    """Every rule's answers are counted."""
    config.pluginmanager.register(ShownAnswers())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A time limit for those that download, install or compute; a test's own `timeout` stays."""
    for item in items:
        longest = max((_SECONDS[mark.name] for mark in item.iter_markers() if mark.name in _SECONDS), default=0)
        if longest and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(longest))


@pytest.fixture(autouse=True)
def _nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere: Path = tmp_path_factory.getbasetemp() / "nowhere"
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(nowhere / "matrix"))
    monkeypatch.setenv("GPUDOCTOR_CACHE", "")
