"""The driver and the cards as NVML shows them, asked through nvidia-ml-py in a child with a time-out.

NVML's own errors are kept with name and number. CUDA_VISIBLE_DEVICES does not concern NVML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from compat.base.record import NamedTuple
from compat.version import ComputeCapability, CudaVersion, DriverRelease
from doctor.host import Host, HostError, Ran, TooSlow
from doctor.host.progress import DRIVER_TIMEOUT_S, SLOW_S
from doctor.model.facts.driver import Nvml
from doctor.model.facts.gpu import Gpu, GpuNow
from doctor.model.facts.loader import FoundBy, LoaderFacts
from doctor.model.facts.seen import Fact, Seen, Unseen, WhyNot

T = TypeVar("T")

SONAME = "libnvidia-ml.so.1"
_WHY_NOT = {3: WhyNot.NOT_SUPPORTED, 15: WhyNot.LOST}  # NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_GPU_IS_LOST, nvml.h
_LIBRARY_NOT_FOUND = 12  # NVML_ERROR_LIBRARY_NOT_FOUND
_NOT_FOUND_WORDS = "NVMLError_LibraryNotFound (12): NVML Shared Library Not Found"
_NOT_SUPPORTED = 3  # NVML_ERROR_NOT_SUPPORTED
_OUT_OF_REACH = frozenset({15, 16})  # NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED
_HOW = "NVML"
GPUS_AT_MOST = 256  # as the child asks of

# Where a loader without a readable cache looks, and where WSL keeps the Windows driver's libraries.
_USUAL_DIRECTORIES = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/lib/wsl/lib",
)


class Told(NamedTuple):
    """What NVML said."""

    nvml: Fact[Nvml]
    driver_release: Fact[DriverRelease]
    cuda: Fact[CudaVersion]
    gpus: Fact[tuple[Gpu, ...]]


def nothing(why: str) -> Told:
    """NVML was not asked."""
    return Told(Unseen(why), Unseen(why), Unseen(why), Unseen(why))


def _failed(library: str, state: str, error: str, code: int = 0) -> Told:
    """NVML told nothing."""
    why = Unseen(f"NVML: {error}")
    return Told(Seen(Nvml(library, state, error, code), _HOW), why, why, why)


def _broken_off(host: Host, library: str, state: str, error: str, events: list[dict[str, Any]]) -> Told:
    """NVML told something, and then hung or crashed: what it told is kept."""
    said = _merged(events)
    nothing_else = _failed(library, state, error)
    driver = _fact(said, "driver", DriverRelease.parse)
    cuda = _fact(said, "cuda", CudaVersion.from_encoded)
    gpus = _gpus(host, said, events, f"NVML: {error}")
    return nothing_else._replace(
        driver_release=driver if isinstance(driver, Seen) else nothing_else.driver_release,
        cuda=cuda if isinstance(cuda, Seen) else nothing_else.cuda,
        gpus=gpus if isinstance(gpus, Seen) else nothing_else.gpus,
    )


class NvmlChild:
    """A conversation with NVML that is under way, or over."""

    def __init__(self, finish: Callable[[], Told]) -> None:
        self.finish = finish


def start(host: Host, search: LoaderFacts, timeout_s: float = DRIVER_TIMEOUT_S) -> NvmlChild:
    """Start asking; no child is started where the loader would not find NVML."""
    if not host.is_live:
        return _over(nothing("an offline root shows no running driver"))
    library = _library(host, search)
    if not library:
        return _over(_failed("", "not-found", _NOT_FOUND_WORDS, _LIBRARY_NOT_FOUND))
    try:
        host.refuse_unsafe(library)
        return _start_child(host, library, timeout_s)
    except HostError as error:
        return _over(nothing(f"NVML was not asked: {error}"))


def _over(told: Told) -> NvmlChild:
    return NvmlChild(lambda: told)


def _start_child(host: Host, library: str, timeout_s: float) -> NvmlChild:
    import os  # late, as all of this: only machines with a driver need it
    import sys
    import time

    from doctor.host import progress
    from doctor.host.child import Child

    folder = _folder_of_pynvml()
    if not folder or not sys.executable:
        return _over(nothing("NVML was not asked: nvidia-ml-py is not installed beside gpudoctor"))
    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvml_worker.py")
    child = Child((sys.executable, "-I", "-S", worker, folder, str(timeout_s)), host.environ)
    started = time.monotonic()

    def left(seconds: float) -> float:
        return max(0.0, started + seconds - time.monotonic())

    def finish() -> Told:
        if timeout_s > SLOW_S and child.wait(left(SLOW_S)) is None:
            stage = _events(child.said())[1]
            progress.tell(
                f"waiting for the NVIDIA driver: {stage} has not answered for {SLOW_S:g} s; "
                f"it has {timeout_s:g} s (--timeout)"
            )
        try:
            ran = child.finish(max(0.1, left(timeout_s)))
        except TooSlow as slow:
            events, stage = _events(slow.stdout)
            return _broken_off(host, library, "hung", f"{stage} did not answer within {timeout_s:g} s", events)
        return _told(host, library, ran)

    return NvmlChild(finish)


def _folder_of_pynvml() -> str:
    """The directory to import pynvml from, found without importing it: that is for the child to do."""
    import sys

    for finder in sys.meta_path:
        spec = finder.find_spec("pynvml", None)
        if spec is not None and spec.origin:
            levels = 2 if spec.submodule_search_locations else 1
            return spec.origin.replace("\\", "/").rsplit("/", levels)[0]
    return ""


# Where NVML lies


def _library(host: Host, search: LoaderFacts) -> str:
    """The path of the NVML that the loader would find, "" for none."""
    return next((path for path in _candidates(host, search) if host.is_file(path)), "")


def _candidates(host: Host, search: LoaderFacts) -> Iterator[str]:
    if host.os_family == "windows":
        # Source: pynvml, _LoadNvmlLibrary.
        yield host.environ.get("WINDIR", "C:/Windows") + "/System32/nvml.dll"
        yield host.environ.get("ProgramFiles", "C:/Program Files") + "/NVIDIA Corporation/NVSMI/nvml.dll"
        return
    directories = search.search.value if isinstance(search.search, Seen) else ()
    for directory in directories:
        if directory.why is FoundBy.LIBRARY_PATH:
            yield f"{directory.path}/{SONAME}"
    if isinstance(search.cache, Seen):
        yield from (entry.path for entry in search.cache.value if entry.soname == SONAME)
    for directory in directories:
        yield f"{directory.path}/{SONAME}"
    if isinstance(search.cache, Unseen) or isinstance(search.search, Unseen):
        yield from (f"{folder}/{SONAME}" for folder in _USUAL_DIRECTORIES)


# What it said


def _events(stdout: str) -> tuple[list[dict[str, Any]], str]:
    """The child's answers, and the name of the last call that it made."""
    import json  # late: only machines with a driver need it

    found = []
    stage = "the start of the child"
    for line in stdout.splitlines():
        if line.startswith("?"):
            stage = line[1:]
        elif line.startswith("{"):
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                break  # the child died while it wrote, or the driver wrote between its lines
    return found, stage


def _merged(events: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for event in events:
        said.update(event)
    return said


def _told(host: Host, library: str, ran: Ran) -> Told:
    events, stage = _events(ran.stdout)
    said = _merged(events)
    if "end" not in said:
        return _broken_off(host, library, "crashed", f"{_how_it_died(ran)} in {stage}", events)
    library = said["library"] or library
    for first in ("init", "count"):  # whoever cannot count the cards has none
        if "error" in said.get(first, ()):
            error = said[first]["error"]
            told = _broken_off(host, library, "error", _words(error), events)
            return told._replace(nvml=Seen(Nvml(library, "error", _words(error), error[0]), _HOW))
    return Told(
        nvml=Seen(Nvml(library, "ok", "", 0), _HOW),
        driver_release=_fact(said, "driver", DriverRelease.parse),
        cuda=_fact(said, "cuda", CudaVersion.from_encoded),
        gpus=_gpus(host, said, events),
    )


def _how_it_died(ran: Ran) -> str:
    import signal

    if ran.status < 0:
        try:
            return f"killed by {signal.Signals(-ran.status).name}"
        except ValueError:
            return f"killed by signal {-ran.status}"
    last = ran.stderr.strip().rpartition("\n")[2]
    return f"ended with status {ran.status}" + (f" ({last[:200]})" if last else "")


def _words(error: list[Any]) -> str:
    """NVML's own words: "NVMLError_DriverNotLoaded (9): Driver Not Loaded"."""
    code, name, text = error
    return f"{name} ({code}): {text}"


def _fact(said: Mapping[str, Any], key: str, convert: Callable[[Any], T]) -> Fact[T]:
    """One answer as a fact."""
    if key not in said:
        return Unseen("NVML was not asked")
    if "error" in said[key]:
        error = said[key]["error"]
        return Unseen(f"NVML: {_words(error)}", _WHY_NOT.get(error[0], WhyNot.ANY))
    if "why" in said[key]:
        return Unseen(said[key]["why"])
    value = said[key]["value"]
    try:
        return Seen(convert(value), _HOW)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        return Unseen(f"NVML gave a value that says nothing: {value!r:.80}")


def _gpus(host: Host, said: dict[str, Any], events: list[dict[str, Any]], why: str = "") -> Fact[tuple[Gpu, ...]]:
    """Every card with its answers; `why` stands for those that did not come any more."""
    count = _fact(said, "count", int)
    if isinstance(count, Unseen):
        return count
    answers: list[dict[str, Any]] = [
        {key: {"why": why} for key in _EVERY_KEY} if why else {} for _ in range(min(count.value, GPUS_AT_MOST))
    ]
    for event in events:
        if "gpu" in event:
            answers[event["gpu"]].update(event["said"])
    return Seen(tuple(_gpu(host, number, answer) for number, answer in enumerate(answers)), _HOW)


def _gpu(host: Host, number: int, said: dict[str, Any]) -> Gpu:
    refused, code = "", 0
    if "handle" in said:  # NVML would not even name it: that error stands for every answer
        refused, code = _words(said["handle"]["error"]), int(said["handle"]["error"][0])
        said = dict.fromkeys(_EVERY_KEY, said["handle"])
    elif (lost := _lost(said)) is not None:  # it fell off while it was asked
        refused, code = _words(lost["error"]), int(lost["error"][0])
        said = dict.fromkeys(_EVERY_KEY, lost)
    return Gpu(
        number=number,
        name=_fact(said, "name", _text),
        uuid=_fact(said, "uuid", _text),
        serial=_fact(said, "serial", _text),
        capability=_fact(said, "capability", lambda pair: ComputeCapability(*map(int, pair))),
        memory_bytes=_fact(said, "memory", lambda memory: int(memory["total"])),
        pci_address=_fact(said, "pci", lambda pci: _address(pci["busId"])),
        pci_device_id=_fact(said, "pci", lambda pci: int(pci["pciDeviceId"]) >> 16),
        link_width=_fact(said, "link_width", int),
        link_width_max=_fact(said, "link_width_max", int),
        link_generation_max=_fact(said, "link_generation_max", int),
        ecc_enabled=_switch(said, "ecc"),
        ecc_uncorrected=_fact(said, "ecc_uncorrected", int),
        ecc_corrected=_fact(said, "ecc_corrected", int),
        retired_pages_pending=_pending(said),
        persistence=_fact(said, "persistence", bool),
        compute_mode=_fact(said, "compute_mode", _COMPUTE_MODES.__getitem__),
        mig_enabled=_switch(said, "mig"),
        mig_instances=_instances(said),
        has_fabric=_fabric(host, said),
        now=_now(said),
        refused=refused,
        refused_code=code,
        remapping_failed=_fact(said, "remapped_rows", lambda row: bool(row[3])),
        licensed=_fact(said, "licence", lambda has: None if has is None else bool(has))
        if "licence" in said
        else Unseen("it is no virtual GPU"),
        recovery=_fact(said, "recovery", lambda number: _RECOVERY.get(number, f"action {number}")),
    )


def _lost(said: dict[str, Any]) -> dict[str, Any] | None:
    """The first answer that says that the card is out of reach, whatever it was asked; None where none does."""
    return next((one for one in said.values() if one.get("error", [0])[0] in _OUT_OF_REACH), None)


def _now(said: dict[str, Any]) -> GpuNow:
    return GpuNow(
        temperature_c=_fact(said, "temperature", int),
        power_w=_fact(said, "power", lambda milliwatts: int(milliwatts) / 1000),
        power_limit_w=_fact(said, "power_limit", lambda milliwatts: int(milliwatts) / 1000),
        sm_clock_mhz=_fact(said, "sm_clock", int),
        throttle_reasons=_fact(said, "throttle_reasons", _throttle_reasons),
        memory_used_bytes=_fact(said, "memory", lambda memory: int(memory["used"])),
        utilisation_percent=_fact(said, "utilisation", lambda rates: int(rates["gpu"])),
        link_generation=_fact(said, "link_generation", int),
        processes=_fact(said, "processes", lambda found: tuple(sorted(int(one["pid"]) for one in found))),
    )


_EVERY_KEY = (
    *("name", "uuid", "serial", "capability", "memory", "pci", "link_width", "link_width_max", "link_generation"),
    *("link_generation_max", "ecc", "ecc_uncorrected", "ecc_corrected", "retired_pages", "remapped_rows"),
    *("persistence", "compute_mode", "mig", "mig_instances", "temperature", "power", "power_limit", "sm_clock"),
    *("throttle_reasons", "utilisation", "processes", "fabric", "recovery"),
)
# nvmlDeviceGpuRecoveryAction_t, nvml.h
_RECOVERY = {
    0: "none",
    1: "reset",
    2: "restart",
    3: "drain of peer-to-peer traffic",
    4: "drain and reset",
    5: "recovery of the IMEX domain",
    6: "reset of the bus",
    7: "restart of the system",
}
# nvmlComputeMode_t; 1, exclusive to one thread, is what CUDA before 8 called the same as 3.
_COMPUTE_MODES = {0: "default", 1: "exclusive-process", 2: "prohibited", 3: "exclusive-process"}
# nvmlClocksEventReason*, nvml.h; idle (1) and clocks that the user set (2) are no throttling.
_THROTTLE_REASONS = {
    0x4: "sw-power-cap",
    0x8: "hw-slowdown",
    0x10: "sync-boost",
    0x20: "sw-thermal-slowdown",
    0x40: "hw-thermal-slowdown",
    0x80: "hw-power-brake-slowdown",
    0x100: "display-clock-setting",
    0x200: "board-limit",
    0x400: "reliability",
}
_NO_THROTTLING = 0x1 | 0x2


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value.strip()


def _address(bus_id: str) -> str:
    """NVML's "00000000:01:00.0" as sysfs writes it, "0000:01:00.0"."""
    domain, _, rest = bus_id.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def _throttle_reasons(bits: int) -> tuple[str, ...]:
    active = int(bits) & ~_NO_THROTTLING
    flags = [1 << place for place in range(active.bit_length()) if active >> place & 1]
    return tuple(_THROTTLE_REASONS.get(flag, f"0x{flag:x}") for flag in flags)


def _switch(said: dict[str, Any], key: str) -> Fact[bool]:
    """A mode that is on or off now; a card that does not know it at all has it off."""
    if said.get(key, {}).get("error", [0])[0] == _NOT_SUPPORTED:
        return Seen(False, "NVML: not supported by this card")
    return _fact(said, key, lambda modes: bool(modes[0]))


def _instances(said: dict[str, Any]) -> Fact[tuple[str, ...]]:
    enabled = _switch(said, "mig")
    if isinstance(enabled, Unseen):
        return enabled
    return (
        _fact(said, "mig_instances", lambda uuids: tuple(map(str, uuids))) if enabled.value else Seen((), enabled.how)
    )


def _pending(said: dict[str, Any]) -> Fact[bool]:
    """Memory that waits to be taken out of use: rows (Ampere on) or pages (before)."""
    rows = _fact(said, "remapped_rows", lambda row: bool(row[2]))
    return rows if isinstance(rows, Seen) else _fact(said, "retired_pages", bool)


def _fabric(host: Host, said: dict[str, Any]) -> Fact[bool]:
    found = _fact(said, "fabric", lambda answer: answer)
    if isinstance(found, Unseen) or found.value is not None:
        return found if isinstance(found, Unseen) else Seen(bool(found.value), _HOW)
    from doctor.probes import pci  # late: only cards with NVLink need it

    return pci.has_nvswitch(host)
