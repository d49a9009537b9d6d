"""CUDA is started where something speaks for it, in a child that may fail in every way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from doctor.host import Unreadable
from doctor.host.live import LiveHost
from doctor.model.facts.driver import CudaStart
from doctor.model.facts.seen import Unseen
from doctor.probes import cuda_start
from tests.lab import stub
from tests.machine import driver, driver_library, nvml, seen

SOURCE = Path(stub.__file__).with_name("stub_cuda.c")


class Pretended(LiveHost):
    """This machine, with another count of how often it slept."""

    def __init__(self, directory: Path | None, slept: str, **environ: str) -> None:
        where = {"LD_LIBRARY_PATH": str(directory)} if directory else {}
        super().__init__({**where, **environ})
        self._slept = slept

    def read_text(self, path: str, limit_bytes: int = 1 << 20) -> str:
        """The count alone."""
        if path != cuda_start.SLEPT or not self._slept:
            raise Unreadable(path, "not there")
        return self._slept

    def refuse_unsafe(self, path: str) -> None:
        """The stub is ours."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("cuda")
    shutil.copyfile(stub.compiled(SOURCE), found / "libcuda.so.1")
    return found


def started(host: Any, *, deep: bool = False, timeout_s: float = 20.0, **changes: Any) -> CudaStart:
    told = cuda_start.look(host, driver(**changes), timeout_s, deep=deep).get()
    assert isinstance(told, CudaStart)
    return told


@pytest.mark.parametrize(
    ("slept", "deep", "asked"), [("3\n", False, True), ("0\n", False, False), ("", False, False), ("", True, True)]
)
def test_only_where_something_speaks_for_it(directory: Path, slept: str, deep: bool, asked: bool) -> None:
    told = started(Pretended(directory, slept), deep=deep)
    assert told.state == ("ok" if asked else "not-asked")
    assert not asked or ("suspended 3 times" in told.why) is bool(slept)


@pytest.mark.parametrize(
    ("environ", "state", "code", "words"),
    [
        ({}, "ok", 0, ""),
        ({"CUDA_VISIBLE_DEVICES": ""}, "ok", 0, ""),
        ({"STUB_CUDA_INIT": "999"}, "error", 999, "CUDA_ERROR_UNKNOWN stub"),
        ({"STUB_CUDA_INIT": "802"}, "error", 802, "CUDA_ERROR stub"),
        ({"STUB_CUDA_ACT": "abort"}, "crashed", 0, "cuInit ended the process (status -6)"),
    ],
)
def test_what_it_answers(directory: Path, environ: dict[str, str], state: str, code: int, words: str) -> None:
    told = started(Pretended(directory, "1", **environ))
    assert told[:3] == (state, code, words)


def test_one_that_hangs(directory: Path) -> None:
    told = started(Pretended(directory, "1", STUB_CUDA_ACT="hang"), timeout_s=1.0)
    assert (told.state, told.error) == ("hung", "cuInit did not answer within 1 s")


def test_without_a_library_nothing_is_said_of_cuda(tmp_path: Path) -> None:
    assert started(Pretended(tmp_path, "1")).state in {"not-opened", "ok", "error"}  # a real driver may be there


def test_nvml_that_fails_is_enough(directory: Path) -> None:
    assert started(Pretended(directory, "1"), nvml=seen(nvml(state="error", code=9))).state == "not-asked"


def test_what_others_may_write_is_not_started(directory: Path) -> None:
    class Unsafe(Pretended):
        def refuse_unsafe(self, path: str) -> None:
            raise Unreadable(path, "another user may write it")

    told = cuda_start.look(Unsafe(directory, "1"), driver(libraries=seen((driver_library(),))), 20.0, deep=False)
    assert isinstance(told, Unseen)
    assert "another user" in told.why


def test_a_libcuda_that_was_not_looked_at_is_not_started(directory: Path) -> None:
    """One without a release in its name, first in LD_LIBRARY_PATH: anybody may have put it there."""
    aside = driver_library(loads=False)
    assert started(Pretended(directory, "1", STUB_CUDA_INIT="999"), libraries=seen((aside,))).state == "not-asked"
    assert started(Pretended(directory, "1"), libraries=seen(())).state == "not-asked"
