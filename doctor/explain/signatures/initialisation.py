"""CUDA cannot start, or sees no card."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import BOXED

_VISIBLE, _PERMISSIONS, _CONTAINER = (
    "cuda-visible-devices-empty-or-invalid",
    "device-permissions",
    "container-without-gpu-runtime",
)
_MIG = r"\bMIG\b|MIG-[0-9a-f]{8}|\bmig\.|\d+g\.\d+gb"
_SUSPEND = r"suspend|resum(?:e|ing)|hibernat|sleep mode|woke|wake"
_UNPRIVILEGED = r"non-root|non root|unprivileged|(?:--)?user root|as root|with sudo|group video|chmod|permission"

FAMILY = Family(
    Signature(
        r"CUDA driver initialization failed, you might not have a CUDA gpu"
        r"|failed call to cuInit: CUDA_ERROR_NOT_INITIALIZED|failed to initialize CUDA: initialization error"
        r"|cudaErrorInitializationError",
        Means("no-device-nodes", "the driver is there and does not start: device nodes may be missing or closed", 0.5),
        Means(_VISIBLE, "CUDA sees no card: CUDA_VISIBLE_DEVICES may hide it", 0.4),
        asks="What do `ls -l /dev/nvidia*` and nvidia-smi -L say?",
        source="pytorch/pytorch: c10/cuda/CUDAFunctions.cpp",
    ),
    Signature(
        r"no CUDA-capable device is detected|cudaErrorNoDevice\b|CUDA_ERROR_NO_DEVICE"
        r"|No CUDA GPUs are available|no CUDA devices found"
        r"|cudaGetDeviceCount returned 100|Invalid device id|invalid device ordinal|cudaErrorInvalidDevice\b"
        r"|CUDA_ERROR_INVALID_DEVICE|You requested gpu: \[[\d, ]+\]\s+But your machine only has: \[\d",
        Means(
            _VISIBLE,
            "CUDA_VISIBLE_DEVICES hides every GPU, or names one that is not there",
            0.9,
            given=r"CUDA_VISIBLE_DEVICES",
        ),
        Means("mig-misconfigured", "the card is divided (MIG), and no instance is named", 0.8, given=_MIG),
        Means(_PERMISSIONS, "the card is there for root and not for this user", 0.85, given=_UNPRIVILEGED),
        Means(
            _CONTAINER,
            "the container was not given the GPU",
            0.6,
            given=BOXED,
            unless=_UNPRIVILEGED + "|CUDA_VISIBLE_DEVICES",
        ),
        Means(
            _VISIBLE,
            "CUDA sees no card: CUDA_VISIBLE_DEVICES may hide it",
            0.45,
            unless=BOXED + "|CUDA_VISIBLE_DEVICES",
        ),
        asks="Does nvidia-smi list the card as this user, and what does `echo $CUDA_VISIBLE_DEVICES` say?",
        source="NVIDIA CUDA Runtime API, errors 100 and 101; pytorch/pytorch: torch/csrc/cuda/Module.cpp",
    ),
    Signature(
        r"device >= 0 && device < num_gpus[^\n]{0,20}(?:INTERNAL )?ASSERT FAILED|device_count\(\)\)?[\s\S]{0,20}: 0\b",
        Means("mig-misconfigured", "the card is divided (MIG), and torch counts no instance", 0.88, given=_MIG),
        Means(_VISIBLE, "CUDA_VISIBLE_DEVICES hides every GPU, or names one that is not there", 0.7, unless=_MIG),
        source="pytorch/pytorch: aten/src/ATen/cuda/CUDAContext.cpp",
    ),
    Signature(
        r"CUDA (?:unknown error|error: unknown error)|failed to initialize CUDA: unknown error"
        r"|unknown error - this may be due to an incorrectly set up environment"
        r"|cudaErrorUnknown|CUDA_ERROR_UNKNOWN|UNKNOWN_ERROR ?\(99\)|\berror=?:? ?999\b"
        r"|cudaGetDeviceCount[^\n]{0,60} (?:30|999)\b",
        Means("uvm-broken-after-suspend", "nvidia_uvm does not answer after suspend", 0.93, given=_SUSPEND),
        Means("ecc-xid-hardware-fault", "the card failed while it computed", 0.6, given=r"\bXid\b|fallen off|AER:|ECC"),
        Means(
            "uvm-broken-after-suspend",
            "CUDA cannot start; after suspend nvidia_uvm does not answer",
            0.5,
            unless=_SUSPEND + r"|\bXid\b|AER:",
        ),
        asks="Did the machine sleep since it was booted? Does it work after a reboot?",
        source="NVIDIA CUDA Runtime API, error 999; pytorch/pytorch: c10/cuda/CUDAFunctions.cpp",
    ),
    Signature(
        r"unspecified launch failure|cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED",
        Means("uvm-broken-after-suspend", "nvidia_uvm does not answer after suspend", 0.9, given=_SUSPEND),
        Means("not-a-stack-problem", "a kernel of the program failed on the GPU", 0.6, unless=_SUSPEND + r"|\bXid\b"),
        source="NVIDIA CUDA Runtime API, error 719",
    ),
    Signature(
        r"all CUDA-capable devices are busy or unavailable|cudaErrorDevicesUnavailable|CUDA_ERROR_DEVICE_UNAVAILABLE",
        Means("gpu-compute-mode", "another process holds the GPU, or its compute mode keeps others out", 0.85),
        source="NVIDIA CUDA Runtime API, error 46",
    ),
    Signature(
        r"MPS (?:client|server)[^\n]{0,60}(?:failed|error|terminated)|cudaErrorMps\w+|CUDA_ERROR_MPS_\w+",
        Means("mps-server-unreachable", "the MPS server does not serve", 0.85),
        source="NVIDIA CUDA Runtime API, errors 805 to 810",
    ),
    Signature(
        r"MIG[^\n]{0,60}(?:only one|single|one) (?:MIG )?(?:instance|device)|CUDA can only enumerate one MIG"
        r"|multiple MIG[^\n]{0,30}not supported",
        Means("mig-single-instance", "a process gets one MIG instance: that is as it should be", 0.85),
        source="NVIDIA Multi-Instance GPU user guide",
    ),
    Signature(
        r"\bin (?:cu|nvml)[A-Z]\w* \(.{0,80}\) from \S*lib(?:cuda|nvidia-ml)\.so"
        r"|segfault at [^\n]{0,80} in lib(?:cuda|nvidia-ml)\.so"
        r"|(?:ACCESS_VIOLATION|Faulting module name:)[^\n]{0,80}\bnvcuda(?:64)?\.dll",
        Means("driver-library-crash", "the driver's own library crashes", 0.85),
        source="GDB's backtrace; Linux: arch/x86/mm/fault.c, show_signal_msg",
    ),
    Signature(
        r"\.nv/ComputeCache|CUDA_CACHE_(?:PATH|DISABLE)",
        Means("stale-compute-cache", "the driver's cache of compiled kernels holds what no longer fits", 0.6),
        source="NVIDIA CUDA C++ Programming Guide, CUDA_CACHE_PATH",
    ),
)
