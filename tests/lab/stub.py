"""Stand-ins for the driver's libraries, compiled on the spot: NVML that says what a test wants.

directory = stub.nvml(tmp_path)                     # for LD_LIBRARY_PATH
environ = stub.machine_env(stub.card(cc="9.0"), directory=directory)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.built import built

_SOURCE = Path(__file__).with_name("stub_nvml.c")

# An RTX 4090 at rest; power in milliwatts, memory as total and used bytes, as NVML says them.
_CARD = {
    "name": "NVIDIA GeForce RTX 4090",
    "uuid": "GPU-00000000-0000-0000-0000-000000000000",
    "cc": "8.9",
    "memory": f"{24564 << 20},{512 << 20}",
    "pci": "0000:01:00.0",
    "pci_id": "0x268410de",
    "link_width": "16",
    "link_width_max": "16",
    "link_generation": "1",
    "link_generation_max": "4",
    "persistence": "1",
    "compute_mode": "0",
    "temperature": "40",
    "power": "30500",
    "power_limit": "450000",
    "sm_clock": "210",
    "throttle": "1",
    "utilisation": "0",
    "processes": "",
}


_WINDOWS = ("-target", "x86_64-windows-gnu")


def compiled(source: Path, *options: str, suffix: str = ".so") -> Path:
    """The library or program made of a C file by zig's compiler (a wheel), once for each state of the file.

    `suffix` says what: ".so" for this machine, ".dll" or ".exe" for Windows.
    """
    digest = hashlib.sha256(source.read_bytes() + "".join(options).encode()).hexdigest()[:16]
    library = built(f"{source.stem}-{digest}{suffix}")
    if library.exists():
        return library
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest-xdist: one worker compiles, the others wait
        if not library.exists():
            unfinished = library.with_suffix(".tmp")
            command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-fno-sanitize=undefined", "-Wall", "-Wextra"]
            command += [] if suffix == ".exe" else ["-shared"]
            command += ["-fPIC", "-fvisibility=hidden"] if suffix == ".so" else list(_WINDOWS)
            command += [*options, "-o", str(unfinished), str(source)]
            subprocess.run(command, check=True)
            unfinished.replace(library)
    return library


def nvml(directory: Path, release: str = "580.95.05") -> Path:
    """Put the stub there as a driver of this release would; returns the directory, for LD_LIBRARY_PATH."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(compiled(_SOURCE), directory / f"libnvidia-ml.so.{release}")
    link = directory / "libnvidia-ml.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(f"libnvidia-ml.so.{release}")
    return directory


def nvml_dll() -> Path:
    """The stub as nvml.dll of the Windows driver."""
    return compiled(_SOURCE, suffix=".dll")


def card(**attributes: str | None) -> dict[str, str]:
    """A card as the stub describes it: an RTX 4090 with these differences; None is "not supported".

    More attributes than the 4090 has: serial, ecc, ecc_corrected, ecc_uncorrected, retired_pages,
    remapped_rows ("0,0,0,0": corrected, uncorrected, pending, failed), mig, mig_uuids ("MIG-a,MIG-b"),
    fabric (state, 0 to 3), nvlink ("2,2": a switch at the end of both links).
    """
    changed = {**_CARD, **attributes}
    return {key: value for key, value in changed.items() if value is not None}


def machine_env(
    *cards: Mapping[str, str],
    driver: str = "580.95.05",
    cuda: str = "13.0",
    init: int = 0,
    errors: Mapping[str, int] | None = None,
    hang: str = "",
    abort: str = "",
    noise: str = "",
    directory: Path | None = None,
) -> dict[str, str]:
    """The variables under which the stub is a machine with these cards.

    `init` is what nvmlInit returns (9 driver not loaded, 12 library not found, 15 GPU lost, 18 mismatch); `errors`
    maps calls ("nvmlDeviceGetName", "nvmlDeviceGetHandleByIndex_v2#1" for GPU 1 only) to codes; `hang` and `abort`
    name a call; `directory` is where `nvml` put the stub, for LD_LIBRARY_PATH.
    """
    major, minor = map(int, cuda.split("."))
    environ = {
        "STUB_NVML_INIT": str(init),
        "STUB_NVML_DRIVER": driver,
        "STUB_NVML_CUDA": str(1000 * major + 10 * minor),
        "STUB_NVML_GPUS": str(len(cards)),
        "STUB_NVML_ERRORS": ",".join(f"{call}={code}" for call, code in (errors or {}).items()),
        "STUB_NVML_HANG": hang,
        "STUB_NVML_ABORT": abort,
        "STUB_NVML_NOISE": noise,
        "PATH": os.defpath,
    }
    for number, one in enumerate(cards):
        environ[f"STUB_NVML_GPU{number}"] = "|".join(f"{key}={value}" for key, value in one.items())
    if directory is not None:
        environ["LD_LIBRARY_PATH"] = str(directory)
    return environ
