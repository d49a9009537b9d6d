"""Predictions of CUDA's own libraries, on trees."""

from __future__ import annotations

from pathlib import Path

from doctor.host import Host
from doctor.loader.predictions import predictions
from doctor.model.facts.environment import Environment
from doctor.model.facts.loader import FoundBy, Prediction, Way
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes.loader import look as search_of
from tests.lab.elf_file import elf_bytes
from tests.machine import SITE, environment, framework, seen, toolkit, toolkits
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, offline

ORT = framework("onnxruntime-gpu", "1.22.0", path=f"{SITE}/onnxruntime", requires=seen(()))
PROVIDER = f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so"
NEEDS = ("libcublasLt.so.12", "libcudart.so.12", "libcufft.so.11", "libcudnn.so.9")
LIB64 = "/usr/local/cuda-12.8/lib64"


def tree(*more: str, **changes: bytes) -> Tree:
    """ONNX Runtime's provider, and libraries at these paths."""
    names = {path: elf_bytes(path.rpartition("/")[2]) for path in more}
    return {PROVIDER: elf_bytes("libonnxruntime_providers_cuda.so", needed=NEEDS), **names, **changes}


def told(host: Host) -> dict[str, Prediction]:
    there: Environment = environment(ORT)._replace(interpreter="")
    found = predictions(host, search_of(host), seen((there,)), toolkits(toolkit()), seen(()))
    assert isinstance(found, Seen)
    return {one.soname: one for one in found.value}


def test_every_name_is_answered_not_only_the_first(tmp_path: Path) -> None:
    host = PretendHost(tmp_path, tree(f"{LIB64}/libcudart.so.12"), environ={"LD_LIBRARY_PATH": LIB64})
    found = told(host)
    assert {name for name, one in found.items() if one.missing} == {
        "libcublasLt.so.12",
        "libcufft.so.11",
        "libcudnn.so.9",
    }
    assert found["libcudart.so.12"].path.get() == f"{LIB64}/libcudart.so.12"
    assert found["libcudart.so.12"].way == Way(FoundBy.LIBRARY_PATH, "", LIB64, LIB64)
    assert found["libcudart.so.12"].library == PROVIDER


def test_a_wheel_that_is_out_of_reach_is_named(tmp_path: Path) -> None:
    wheel = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12"
    found = told(PretendHost(tmp_path, tree(wheel)))
    assert (found["libcublasLt.so.12"].missing, found["libcublasLt.so.12"].intended.get()) == (True, wheel)
    assert isinstance(found["libcufft.so.11"].intended, Unseen)


def test_on_an_image_a_file_in_a_toolkit_may_be_reached(tmp_path: Path) -> None:
    found = told(offline(tmp_path, tree(f"{LIB64}/libcudart.so.12")))
    assert not found["libcudart.so.12"].missing
    assert found["libcufft.so.11"].missing


def test_what_is_damaged_tells_nothing(tmp_path: Path) -> None:
    found = told(PretendHost(tmp_path, {PROVIDER: b"\x7fELF"}))
    assert {name: one.outcome for name, one in found.items()} == {}


def test_cpu_builds_and_others_ask_for_nothing(tmp_path: Path) -> None:
    host = PretendHost(tmp_path, {})
    cpu = environment(framework("torch", "2.9.1+cpu", build=seen("cpu")))
    assert predictions(host, search_of(host), seen((cpu,)), toolkits(), seen(())).get() == ()
