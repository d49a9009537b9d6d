"""The small set of the loader table that every full run repeats; `python -m tests.loader_oracle` does the rest."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.host.live import LiveHost
from doctor.loader.cache import whole_cache
from doctor.loader.library import read_program
from doctor.loader.process import CannotOpen, Process
from doctor.loader.search import Search
from doctor.loader.simulate import Simulated, follow_habits
from doctor.probes import loader
from tests.loader_oracle.compare import compare
from tests.loader_oracle.observe import observe
from tests.loader_oracle.replay import PROGRAM, replays
from tests.wheels import fetch, unpack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="wheels for x86-64"),
]


@pytest.fixture(scope="module")
def cudnn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two real releases: 9.10.2 for CUDA 12 and 9.13.0 for CUDA 13, and NCCL; about 2 GB."""
    root = tmp_path_factory.mktemp("cudnn")
    for name in ("nvidia-cudnn-cu12==9.10.2.21", "nvidia-cudnn-cu13==9.13.0.50", "nvidia-nccl-cu12==2.27.5"):
        unpack(fetch(name), root / name.partition("=")[0], ["nvidia/cudnn/lib", "nvidia/nccl/lib"])
    unpack(fetch("cupy-cuda12x==13.6.0"), root / "cupy", ["cupy_backends/cuda/libs/nccl"])
    yield root
    shutil.rmtree(root)


def opened(program: str, library: Path, environ: dict[str, str]) -> Simulated:
    host = LiveHost({**environ, "PWD": "/"})
    facts = loader.look(host)._replace(cache=whole_cache(host))
    interpreter = read_program(host, program)
    assert interpreter is not None
    process = Process(host, Search(host, facts, interpreter), interpreter.machine)
    process.start(facts.preload.get())
    try:
        process.open(str(library), None)
    except CannotOpen as failed:
        return Simulated(process, str(failed), "", "")
    follow_habits(process)
    return Simulated(process, "", "", "")


def rows(library: Path, environ: dict[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """By library: whether it is as predicted, and where it lies; every row must be equal."""
    simulated = opened(sys.executable, library, environ)
    program = f"import ctypes\ntry:\n    ctypes.CDLL({str(library)!r})\nexcept OSError as error:\n    print(error)\n"
    observed = observe(sys.executable, program, environ, folder / "open")
    calls = {"LOADER_ORACLE_REPLAY": replays(simulated.process, folder)}
    again = observe(sys.executable, program + PROGRAM, {**environ, **calls}, folder / "replay")
    found = {row.name: (row.equal, row.observed) for row in compare(simulated, observed, again)}
    assert {equal for equal, _ in found.values()} <= {"yes", "replayed", "refused"}, found
    return found


def test_a_real_cudnn_and_its_parts(cudnn: Path, tmp_path: Path) -> None:
    library = cudnn / "nvidia-cudnn-cu12/nvidia/cudnn/lib/libcudnn.so.9"
    found = rows(library, {}, tmp_path)
    assert found["libcudnn_graph.so.9"] == ("yes", f"{os.path.realpath(library.parent)}/libcudnn_graph.so.9")
    assert found["libcudnn_heuristic.so.9"][0] == "replayed"


def test_another_release_on_the_library_path_takes_the_parts(cudnn: Path, tmp_path: Path) -> None:
    """The shell is opened by its path, and still gets the parts of the other release."""
    library = cudnn / "nvidia-cudnn-cu12/nvidia/cudnn/lib/libcudnn.so.9"
    other = os.path.realpath(cudnn / "nvidia-cudnn-cu13/nvidia/cudnn/lib")
    found = rows(library, {"LD_LIBRARY_PATH": other}, tmp_path)
    assert found["libcudnn.so.9"] == ("yes", os.path.realpath(library))
    assert found["libcudnn_graph.so.9"] == ("yes", f"{other}/libcudnn_graph.so.9")


@pytest.mark.parametrize("within_reach", [True, False])
def test_a_real_extension_module_of_cupy(cudnn: Path, tmp_path: Path, within_reach: bool) -> None:
    (library,) = (cudnn / "cupy/cupy_backends/cuda/libs").glob("nccl.cpython-311-*.so")
    folder = os.path.realpath(cudnn / "nvidia-nccl-cu12/nvidia/nccl/lib")
    found = rows(library, {"LD_LIBRARY_PATH": folder} if within_reach else {}, tmp_path)
    assert found["libnccl.so.2"] == ("yes", f"{folder}/libnccl.so.2" if within_reach else "nothing")
