"""Ask NVML everything, in a process of its own: a driver library may crash, hang or abort.

Run as a script by `doctor.probes.nvml`, with the interpreter's isolation flags: it imports nothing of gpudoctor.
Arguments: the directory of pynvml, and after how many seconds to give up. It writes one line an event: "?name"
before each call, so that the caller knows where it died, and JSON with answers. An answer is {"value": ...} or
{"error": [number, NVML's name for it, words]}.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a tenth of this process's time to load
    from collections.abc import Callable
    from typing import Any

    Answer = dict[str, Any]

_FUNCTION_NOT_FOUND = 13  # NVML_ERROR_FUNCTION_NOT_FOUND
_UNCORRECTED, _CORRECTED = 1, 0  # nvmlMemoryErrorType_t
_AGGREGATE = 1  # nvmlEccCounterType_t: over the card's life
_GPU_SENSOR = 0  # nvmlTemperatureSensors_t
_SM_CLOCK = 1  # nvmlClockType_t
_SWITCH = 2  # nvmlIntNvLinkDeviceType_t: NVML_NVLINK_DEVICE_TYPE_SWITCH
_LINKS_AT_MOST = 18  # NVML_NVLINK_MAX_LINKS
_RECOVERY_ACTION = 230  # NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
_SERIES = "ABCQ"  # how the names of virtual GPUs end, "GRID T4-16Q"
_GPUS_AT_MOST = 256
_MIG_INSTANCES_AT_MOST = 64

# What is asked of every GPU: key, function names of which the first that the driver has is called, more arguments.
_QUESTIONS: tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...] = (
    ("name", ("nvmlDeviceGetName",), ()),
    ("uuid", ("nvmlDeviceGetUUID",), ()),
    ("serial", ("nvmlDeviceGetSerial",), ()),
    ("capability", ("nvmlDeviceGetCudaComputeCapability",), ()),
    ("memory", ("nvmlDeviceGetMemoryInfo",), ()),
    ("pci", ("nvmlDeviceGetPciInfo_v3",), ()),
    ("link_width", ("nvmlDeviceGetCurrPcieLinkWidth",), ()),
    ("link_width_max", ("nvmlDeviceGetMaxPcieLinkWidth",), ()),
    ("link_generation", ("nvmlDeviceGetCurrPcieLinkGeneration",), ()),
    ("link_generation_max", ("nvmlDeviceGetMaxPcieLinkGeneration",), ()),
    ("ecc", ("nvmlDeviceGetEccMode",), ()),
    ("ecc_uncorrected", ("nvmlDeviceGetTotalEccErrors",), (_UNCORRECTED, _AGGREGATE)),
    ("ecc_corrected", ("nvmlDeviceGetTotalEccErrors",), (_CORRECTED, _AGGREGATE)),
    ("retired_pages", ("nvmlDeviceGetRetiredPagesPendingStatus",), ()),
    ("remapped_rows", ("nvmlDeviceGetRemappedRows",), ()),
    ("persistence", ("nvmlDeviceGetPersistenceMode",), ()),
    ("compute_mode", ("nvmlDeviceGetComputeMode",), ()),
    ("mig", ("nvmlDeviceGetMigMode",), ()),
    ("temperature", ("nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV"), (_GPU_SENSOR,)),
    ("power", ("nvmlDeviceGetPowerUsage",), ()),
    ("power_limit", ("nvmlDeviceGetEnforcedPowerLimit",), ()),
    ("sm_clock", ("nvmlDeviceGetClockInfo",), (_SM_CLOCK,)),
    (
        "throttle_reasons",
        ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
        (),
    ),
    ("utilisation", ("nvmlDeviceGetUtilizationRates",), ()),
    ("processes", ("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"), ()),
)


class Worker:
    """Asks, and writes down every answer as soon as it is there."""

    def __init__(self, nvml: Any, output: int) -> None:
        """`nvml` is the module pynvml; `output` a file descriptor."""
        self._nvml = nvml
        self._output = output

    def ask_all(self) -> None:
        """The whole conversation."""
        started = self._ask(self._nvml.nvmlInit)
        self._write({"init": started, "library": _loaded_library()})
        if "value" in started:
            self._write({"driver": self._call(("nvmlSystemGetDriverVersion",))})
            self._write({"cuda": self._call(("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"))})
            count = self._call(("nvmlDeviceGetCount",))
            self._write({"count": count})
            for number in range(min(count.get("value", 0), _GPUS_AT_MOST)):
                self._ask_gpu(number)
        self._write({"end": True})

    def _ask_gpu(self, number: int) -> None:
        """Each answer is written at once: what comes after it may hang or crash."""

        def tell(key: str, answer: Answer) -> Answer:
            self._write({"gpu": number, "said": {key: answer}})
            return answer

        asked = _Handle()
        found = self._ask(
            lambda: asked.keep(self._nvml.nvmlDeviceGetHandleByIndex(number)), "nvmlDeviceGetHandleByIndex"
        )
        if "error" in found:
            tell("handle", found)
            return
        answers = {key: tell(key, self._call(names, asked.handle, *more)) for key, names, more in _QUESTIONS}
        tell("fabric", self._ask(lambda: self._fabric(asked.handle), "nvmlDeviceGetGpuFabricInfo"))
        end = str(answers["name"].get("value", "")).rpartition("-")[2]
        if end[:-1].isdigit() and end[-1] in _SERIES:
            tell("licence", self._ask(lambda: self._licence(asked.handle), "nvmlDeviceGetGridLicensableFeatures"))
        tell("recovery", self._ask(lambda: self._recovery(asked.handle), "nvmlDeviceGetFieldValues"))
        if answers["mig"].get("value", [0])[0]:
            tell("mig_instances", self._ask(lambda: self._instances(asked.handle), "nvmlDeviceGetMaxMigDeviceCount"))

    def _call(self, names: tuple[str, ...], *arguments: Any) -> Answer:
        """The answer of the first of these functions that pynvml and the driver both have."""
        answer: Answer = {"error": [_FUNCTION_NOT_FOUND, "NVMLError_FunctionNotFound", "Function Not Found"]}
        for name in names:
            function = getattr(self._nvml, name, None)
            if function is None:
                continue
            answer = self._ask(lambda: function(*arguments), name)  # noqa: B023 - called at once
            if answer.get("error", [0])[0] != _FUNCTION_NOT_FOUND:
                break
        return answer

    def _ask(self, call: Callable[[], Any], name: str = "nvmlInitWithFlags") -> Answer:
        os.write(self._output, f"?{name}\n".encode())
        try:
            return {"value": _plain(call())}
        except self._nvml.NVMLError as error:
            return {"error": [error.value, type(error).__name__, str(error)]}
        except Exception as error:  # noqa: BLE001 - an answer that the binding cannot read is an answer too
            return {"error": [0, type(error).__name__, str(error)]}

    def _fabric(self, handle: Any) -> bool | None:
        """Whether an NVSwitch joins this GPU to others; None: it has NVLinks, and none says where it leads."""
        try:
            info = self._nvml.c_nvmlGpuFabricInfo_t()
            self._nvml.nvmlDeviceGetGpuFabricInfo(handle, ctypes.byref(info))
            if info.state != self._nvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED:
                return True
        except (AttributeError, self._nvml.NVMLError):
            pass  # older drivers and cards do not tell: the links do
        return self._leads_to_switch(handle)

    def _leads_to_switch(self, handle: Any) -> bool | None:
        has_links = False
        for link in range(_LINKS_AT_MOST):
            try:
                if self._nvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, link) == _SWITCH:
                    return True
                has_links = True
            except self._nvml.NVMLError:
                break
        return None if has_links else False

    def _licence(self, handle: Any) -> bool | None:
        """Whether this virtual GPU has a licence; None where it needs none."""
        said = self._nvml.nvmlDeviceGetGridLicensableFeatures(handle)
        features = said.gridLicensableFeatures[: said.licensableFeaturesCount]
        return any(one.featureState for one in features) if said.isGridLicenseSupported else None

    def _recovery(self, handle: Any) -> int:
        """What the driver wants done with the GPU (nvmlDeviceGpuRecoveryAction_t); older drivers do not tell."""
        (answer,) = self._nvml.nvmlDeviceGetFieldValues(handle, [_RECOVERY_ACTION])
        if answer.nvmlReturn:
            raise self._nvml.NVMLError(answer.nvmlReturn)
        return int(answer.value.uiVal)

    def _instances(self, handle: Any) -> list[str]:
        """UUIDs of the GPU's MIG devices."""
        found = []
        for number in range(min(self._nvml.nvmlDeviceGetMaxMigDeviceCount(handle), _MIG_INSTANCES_AT_MOST)):
            try:
                instance = self._nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            except self._nvml.NVMLError_NotFound:
                continue  # numbers of devices that were not created
            found.append(_plain(self._nvml.nvmlDeviceGetUUID(instance)))
        return found

    def _write(self, event: dict[str, Any]) -> None:
        os.write(self._output, json.dumps(event).encode() + b"\n")


class _Handle:
    """Keeps what NVML uses to name a GPU: not something that can be written down."""

    handle: Any = None

    def keep(self, handle: Any) -> bool:
        """Keep it."""
        self.handle = handle
        return True


def _plain(value: Any) -> Any:
    """What JSON can say: structures become objects, bytes text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, ctypes.Structure):
        return {field[0]: _plain(getattr(value, field[0])) for field in value._fields_}
    if hasattr(value, "pid"):
        return {"pid": value.pid}
    return value


def _loaded_library() -> str:
    """The NVML that this process has loaded, "" where the system does not say."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
            return next((line.split(None, 5)[5].strip() for line in stream if "/libnvidia-ml.so" in line), "")
    except OSError:
        return ""


class _LazyCtypesUtil(types.ModuleType):
    """`ctypes.util`, loaded when it is used: pynvml imports `find_library`, which loads subprocess and shutil."""

    @staticmethod
    def find_library(name: str) -> str | None:
        """The real one."""
        del sys.modules["ctypes.util"]
        import ctypes.util

        return ctypes.util.find_library(name)


def main(folder: str, seconds: str) -> None:
    """Ask, with pynvml from this folder."""
    output = os.dup(1)
    os.dup2(2, 1)  # what the library itself prints must not stand among the answers
    if hasattr(signal, "alarm"):
        signal.alarm(int(float(seconds)) + 1)  # should the caller be gone
    sys.modules["ctypes.util"] = _LazyCtypesUtil("ctypes.util")
    sys.path.append(folder)
    import pynvml

    Worker(pynvml, output).ask_all()


if __name__ == "__main__":
    main(*sys.argv[1:3])
