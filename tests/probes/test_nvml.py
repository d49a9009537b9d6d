"""NVML asked through the real nvidia-ml-py, with a stub library that says what each case wants."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compat.version import ComputeCapability, CudaVersion, DriverRelease
from doctor.host import progress
from doctor.host.live import LiveHost
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.loader import CacheEntry, FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import nvml
from tests.lab import stub
from tests.probes.pretend import PretendHost
from tests.probes.tree import offline

UNSEEN = object()


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stub.nvml(tmp_path_factory.mktemp("driver"))


def search(directory: Path | str | None) -> LoaderFacts:
    found = () if directory is None else (SearchDir(str(directory), FoundBy.LIBRARY_PATH, True),)
    return LoaderFacts(Seen(found, "test"), Seen((), "test"), Seen((), "test"), Seen((), "test"))


def ask(directory: Path, *cards: dict[str, str], timeout_s: float = 20.0, **options: Any) -> nvml.Told:
    host = LiveHost(stub.machine_env(*cards, directory=directory, **options))
    return nvml.start(host, search(directory), timeout_s).finish()


def one_gpu(directory: Path, **attributes: str | None) -> Gpu:
    gpus = ask(directory, stub.card(**attributes)).gpus.get()
    assert len(gpus) == 1
    return gpus[0]


def value(fact: Any) -> Any:
    return fact.value if isinstance(fact, Seen) else UNSEEN


def test_a_working_driver(directory: Path) -> None:
    told = ask(directory, stub.card(), driver="580.95.05", cuda="13.0", noise="from the library itself")
    assert told.nvml.get() == (str(directory / "libnvidia-ml.so.580.95.05"), "ok", "", 0)
    assert told.driver_release == Seen(DriverRelease.parse("580.95.05"), "NVML")
    assert told.cuda == Seen(CudaVersion(13, 0), "NVML")
    (gpu,) = told.gpus.get()
    assert (gpu.number, value(gpu.name), value(gpu.capability)) == (
        0,
        "NVIDIA GeForce RTX 4090",
        ComputeCapability(8, 9),
    )
    assert (value(gpu.memory_bytes), value(gpu.now.memory_used_bytes)) == (24564 << 20, 512 << 20)
    assert (value(gpu.pci_address), value(gpu.pci_device_id)) == ("0000:01:00.0", 0x2684)
    assert (value(gpu.now.power_w), value(gpu.now.power_limit_w)) == (30.5, 450.0)
    assert (value(gpu.link_width), value(gpu.now.link_generation), value(gpu.link_generation_max)) == (16, 1, 4)


def test_not_supported_keeps_its_words(directory: Path) -> None:
    gpu = one_gpu(directory, serial=None)
    assert gpu.serial == Unseen("NVML: NVMLError_NotSupported (3): Not Supported")


@pytest.mark.parametrize(
    ("attributes", "field", "expected"),
    [
        ({"ecc": "1"}, "ecc_enabled", True),
        ({"ecc": "0"}, "ecc_enabled", False),
        ({}, "ecc_enabled", False),
        ({"ecc": "1", "ecc_uncorrected": "3"}, "ecc_uncorrected", 3),
        ({"ecc": "1", "ecc_corrected": "70000000000"}, "ecc_corrected", 70_000_000_000),
        ({}, "ecc_corrected", UNSEEN),
        ({"remapped_rows": "2,1,0,0"}, "retired_pages_pending", False),
        ({"remapped_rows": "2,1,1,0"}, "retired_pages_pending", True),
        ({"remapped_rows": "2,1,0,1"}, "retired_pages_pending", False),
        ({"remapped_rows": "2,1,0,1"}, "remapping_failed", True),
        ({"remapped_rows": "2,1,1,0"}, "remapping_failed", False),
        ({}, "remapping_failed", UNSEEN),
        ({"retired_pages": "1"}, "retired_pages_pending", True),
        ({}, "retired_pages_pending", UNSEEN),
        ({"persistence": "0"}, "persistence", False),
        ({"compute_mode": "3"}, "compute_mode", "exclusive-process"),
        ({"compute_mode": "2"}, "compute_mode", "prohibited"),
        ({"compute_mode": "77"}, "compute_mode", UNSEEN),
        ({"mig": "1", "mig_uuids": "MIG-a,MIG-b"}, "mig_instances", ("MIG-a", "MIG-b")),
        ({"mig": "1"}, "mig_instances", ()),
        ({"mig": "1"}, "mig_enabled", True),
        ({"mig": "0"}, "mig_instances", ()),
        ({}, "mig_enabled", False),
        ({"fabric": "3"}, "has_fabric", True),
        ({"fabric": "1"}, "has_fabric", True),
        ({"fabric": "0"}, "has_fabric", False),
        ({"nvlink": "2,2"}, "has_fabric", True),
        ({}, "has_fabric", False),
        ({"name": ""}, "name", UNSEEN),
        ({"pci": "0001:C1:00.0"}, "pci_address", "0001:c1:00.0"),
        ({"pci": "10000:01:00.0"}, "pci_address", "10000:01:00.0"),
        ({"memory": None}, "memory_bytes", UNSEEN),
    ],
)
def test_a_card(directory: Path, attributes: dict[str, str | None], field: str, expected: Any) -> None:
    assert value(getattr(one_gpu(directory, **attributes), field)) == expected


@pytest.mark.parametrize(
    ("attributes", "field", "expected"),
    [
        ({"throttle": "0x1"}, "throttle_reasons", ()),
        ({"throttle": "0x2"}, "throttle_reasons", ()),
        ({"throttle": "0x44"}, "throttle_reasons", ("sw-power-cap", "hw-thermal-slowdown")),
        ({"throttle": "0x10000"}, "throttle_reasons", ("0x10000",)),
        ({"processes": "12,7"}, "processes", (7, 12)),
        ({"processes": ""}, "processes", ()),
        ({"processes": None}, "processes", UNSEEN),
        ({"temperature": "91"}, "temperature_c", 91),
        ({"utilisation": "98"}, "utilisation_percent", 98),
        ({"power": None}, "power_w", UNSEEN),
    ],
)
def test_a_card_now(directory: Path, attributes: dict[str, str | None], field: str, expected: Any) -> None:
    assert value(getattr(one_gpu(directory, **attributes).now, field)) == expected


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (9, "NVMLError_DriverNotLoaded (9): Driver Not Loaded"),
        (12, "NVMLError_LibraryNotFound (12): NVML Shared Library Not Found"),
        (15, "NVMLError_GpuIsLost (15): GPU is lost"),
        (18, "NVMLError_LibRmVersionMismatch (18): RM has detected an NVML/RM version mismatch."),
        (999, "NVMLError_Unknown (999): Unknown Error"),
    ],
)
def test_errors_of_nvml_are_kept(directory: Path, code: int, words: str) -> None:
    told = ask(directory, stub.card(), init=code)
    answer = told.nvml.get()
    assert (answer.state, answer.error, answer.code) == ("error", words, code)
    assert told.driver_release == told.cuda == told.gpus == Unseen(f"NVML: {words}")


def test_no_gpu_is_something_seen(directory: Path) -> None:
    told = ask(directory)
    assert (told.nvml.get().state, told.gpus) == ("ok", Seen((), "NVML"))


def test_one_lost_gpu_does_not_hide_the_others(directory: Path) -> None:
    told = ask(directory, stub.card(), stub.card(), errors={"nvmlDeviceGetHandleByIndex_v2#0": 15})
    lost, well = told.gpus.get()
    assert lost.name == lost.now.power_w == lost.has_fabric == Unseen("NVML: NVMLError_GpuIsLost (15): GPU is lost")
    assert (well.number, value(well.name)) == (1, "NVIDIA GeForce RTX 4090")


@pytest.mark.parametrize(("code", "words"), [(15, "GpuIsLost (15)"), (16, "ResetRequired (16)")])
@pytest.mark.parametrize(
    "call", ["nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetComputeRunningProcesses_v3"]
)
def test_a_gpu_that_is_lost_while_it_is_asked_is_lost(directory: Path, call: str, code: int, words: str) -> None:
    told = ask(directory, stub.card(), stub.card(), errors={f"{call}#1": code})
    well, lost = told.gpus.get()
    assert (well.refused, well.refused_code) == ("", 0)
    assert (words in lost.refused, lost.refused_code) == (True, code)
    assert isinstance(lost.uuid, Unseen)


def test_one_failing_call_does_not_hide_the_others(directory: Path) -> None:
    told = ask(directory, stub.card(), errors={"nvmlDeviceGetName": 999, "nvmlSystemGetDriverVersion": 4})
    (gpu,) = told.gpus.get()
    assert gpu.name == Unseen("NVML: NVMLError_Unknown (999): Unknown Error")
    assert value(gpu.capability) == ComputeCapability(8, 9)
    assert told.driver_release == Unseen("NVML: NVMLError_NoPermission (4): Insufficient Permissions")


@pytest.mark.parametrize(
    ("call", "knows_driver", "knows_gpus"),
    [
        ("nvmlInitWithFlags", False, False),
        ("nvmlDeviceGetCount_v2", True, False),
        ("nvmlDeviceGetHandleByIndex_v2", True, True),
        ("nvmlDeviceGetEccMode", True, True),
    ],
)
def test_a_crash_is_a_fact(directory: Path, call: str, knows_driver: bool, knows_gpus: bool) -> None:
    told = ask(directory, stub.card(), abort=call)
    answer = told.nvml.get()
    assert answer.state == "crashed"
    assert answer.error.startswith(f"killed by SIGABRT in {call.removesuffix('_v2')}")
    assert isinstance(told.driver_release, Seen) is knows_driver
    assert isinstance(told.gpus, Seen) is knows_gpus


def test_what_was_told_before_a_hang_is_kept(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr(progress, "_listener", heard.append)
    told = ask(directory, stub.card(), stub.card(uuid="GPU-1"), hang="nvmlDeviceGetTemperature", timeout_s=4.0)
    answer = told.nvml.get()
    assert (answer.state, answer.error) == ("hung", "nvmlDeviceGetTemperature did not answer within 4 s")
    assert value(told.driver_release) == DriverRelease.parse("580.95.05")
    first, second = told.gpus.get()
    assert (value(first.name), value(first.capability)) == ("NVIDIA GeForce RTX 4090", ComputeCapability(8, 9))
    unanswered = Unseen("NVML: nvmlDeviceGetTemperature did not answer within 4 s")
    assert first.now.temperature_c == first.now.throttle_reasons == second.name == second.capability == unanswered
    assert heard == [
        "waiting for the NVIDIA driver: nvmlDeviceGetTemperature has not answered for 2 s; it has 4 s (--timeout)"
    ]


def test_who_waits_for_a_driver_is_told(directory: Path) -> None:
    environ = stub.machine_env(stub.card(), hang="nvmlInitWithFlags", directory=directory)
    argv = [sys.executable, "-m", "gpudoctor", "check", "--timeout", "3", "--only", "driver-hang", "--format", "json"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert re.fullmatch(r"gpudoctor: waiting for the NVIDIA driver: .* \(--timeout\)\n", done.stderr)
    assert json.loads(done.stdout)["facts"]["driver"]["nvml"]["value"]["state"] == "hung"


def test_a_library_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"\x7fELF nonsense")
    told = ask(tmp_path, stub.card())
    assert (told.nvml.get().state, told.nvml.get().code) == ("error", 12)


def test_cuda_visible_devices_does_not_matter(directory: Path) -> None:
    environ = {**stub.machine_env(stub.card(), directory=directory), "CUDA_VISIBLE_DEVICES": "-1"}
    assert len(nvml.start(LiveHost(environ), search(directory)).finish().gpus.get()) == 1


def test_without_a_library_no_child_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    told = nvml.start(LiveHost({}), search(None)).finish()
    assert told.nvml.get() == ("", "not-found", "NVMLError_LibraryNotFound (12): NVML Shared Library Not Found", 12)
    assert told.gpus == Unseen("NVML: NVMLError_LibraryNotFound (12): NVML Shared Library Not Found")


def test_the_cache_leads_to_the_library(directory: Path) -> None:
    library = directory / "libnvidia-ml.so.1"
    cached = search(None)._replace(cache=Seen((CacheEntry("libnvidia-ml.so.1", str(library), "x86_64"),), "test"))
    told = nvml.start(LiveHost(stub.machine_env(stub.card(), directory=directory)), cached).finish()
    assert told.nvml.get().state == "ok"


def test_nothing_is_asked_on_a_root(tmp_path: Path) -> None:
    told = nvml.start(offline(tmp_path, {"/usr/lib/libnvidia-ml.so.1": b""}), search("/usr/lib")).finish()
    assert {type(fact) for fact in told} == {Unseen}


def test_a_library_that_must_not_be_loaded(tmp_path: Path) -> None:
    told = nvml.start(PretendHost(tmp_path, {"/opt/libnvidia-ml.so.1": b""}), search("/opt")).finish()
    assert told.nvml == Unseen("NVML was not asked: /opt/libnvidia-ml.so.1: only pretended")


@pytest.mark.gpu
def test_this_card() -> None:
    from doctor.probes import loader

    host = LiveHost()
    told = nvml.start(host, loader.look(host)).finish()
    assert told.nvml.get().state == "ok"
    assert all(isinstance(gpu.name, Seen) and isinstance(gpu.capability, Seen) for gpu in told.gpus.get())


@pytest.mark.parametrize(
    ("said", "action"), [("0", "none"), ("1", "reset"), ("2", "restart"), ("99", "action 99"), (None, UNSEEN)]
)
def test_what_the_driver_wants_done(said: str | None, action: object, directory: Path) -> None:
    attributes = {} if said is None else {"recovery": said}
    assert value(one_gpu(directory, **attributes).recovery) == action
