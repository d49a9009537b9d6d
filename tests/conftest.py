"""No test reads or writes what belongs to the user who runs it, and none runs for ever."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.built import BUILT
from tests.rules.shown import ShownAnswers

_SECONDS = {"slow": 1800, "system": 900, "gpu": 900}  # instead of pyproject.toml's


def pytest_configure(config: pytest.Config) -> None:
    """Every rule's answers are counted; what tests start is stopped by SIGINT, also of a suite in the background.

    The compiler of the tests keeps its own files with what it made. Machines are laid with the umask of a distribution,
    whatever that of the user; a test that is about another one sets it.
    """
    os.umask(0o022)
    config.pluginmanager.register(ShownAnswers())
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(BUILT / "zig"))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a script's `&` sets it, and children inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Thousands of collected tests stay: Python's garbage collector needs not walk them time and again."""
    _parse_once()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Where pytest-cov is to trace nothing of a test, nothing of what it starts from is traced either."""
    with _untraced(item.config) if item.get_closest_marker("no_cover") else contextlib.nullcontext():
        return (yield)


@contextlib.contextmanager
def _untraced(config: pytest.Config) -> Iterator[None]:
    controller = getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if controller is None:
        yield
        return
    controller.pause()
    try:
        yield
    finally:
        controller.resume()


@pytest.fixture
def untraced(request: pytest.FixtureRequest) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Return what keeps pytest-cov from tracing a part of a test: one that runs the same lines many times."""
    return lambda: _untraced(request.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker of pytest-xdist takes a long run of tests, so that what a module lays is laid once."""
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


def _parse_once() -> None:
    """A file of the matrix that has not changed is parsed once a process; imported when coverage measures already."""
    from compat import load, matrix

    @functools.lru_cache(maxsize=256)
    def of_state(product: str, data: str, *_: int) -> dict[str, Any]:
        return load.load_file(product, data)

    def load_file(product: str, data: str = load.DATA) -> dict[str, Any]:
        try:
            status = os.stat(os.path.join(data, f"{product}.json"))
        except OSError:
            return load.load_file(product, data)  # which says so
        return of_state(product, data, status.st_ino, status.st_size, status.st_mtime_ns)

    matrix.load_file = load_file  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A time limit for those that download, install or compute; a test's own `timeout` stays. The longest is first."""
    items.sort(key=lambda item: item.name != "test_types")
    for item in items:
        longest = max((_SECONDS[mark.name] for mark in item.iter_markers() if mark.name in _SECONDS), default=0)
        if longest and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(longest))


@pytest.fixture(autouse=True)
def _nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere: Path = tmp_path_factory.getbasetemp() / "nowhere"
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(nowhere / "matrix"))
    monkeypatch.setenv("GPUDOCTOR_CACHE", "")


@pytest.fixture(autouse=True)
def day_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is old in a test: an answer is the same on every day."""
    from compat.matrix import Matrix
    from doctor.commands.matrix import dates

    monkeypatch.setattr(dates, "today", lambda: date.fromisoformat(Matrix().as_of()))
