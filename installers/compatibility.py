"""Whether what a plan copies suits the place: the processor of a library, the CUDA major of a directory."""

from __future__ import annotations

import re

from installers.errors import InstallError

_ARM = "64-bit ARM"
_ELF_MACHINES = {3: "32-bit x86", 21: "ppc64le", 62: "x86_64", 183: _ARM}  # e_machine of the ELF specification
_PE_MACHINES = {0x14C: "32-bit x86", 0x8664: "x86_64", 0xAA64: _ARM}  # Machine of the PE format's COFF header
_MACHINES = {"x86_64": "x86_64", "sbsa": _ARM, "jetson": _ARM, "aarch64": _ARM, "arm64": _ARM, "ppc64le": "ppc64le"}
_CUDA_VERSION = re.compile(rb"^\s*#\s*define\s+CUDA_VERSION\s+(\d+)", re.MULTILINE)


class WrongMachine(InstallError):
    """A library for another processor."""

    hint = "Download the archive for this processor (see --arch)."


class WrongToolkit(InstallError):
    """A CUDA directory of another major than the archive is for."""

    hint = "Give the directory of that CUDA with --cuda-home, or the archive for this CUDA (see --cuda-version)."


def require_machine(path: str, arch: str) -> None:
    """Raise WrongMachine for a library or program that no such processor runs; other files suit every one."""
    machine, wanted = machine_of(path), _MACHINES.get(arch, "")
    if machine and wanted and machine != wanted:
        raise WrongMachine(f"{path.replace(chr(92), '/').rpartition('/')[2]} is for {machine}, not for {arch}")


def machine_of(path: str) -> str:
    """The processor that an ELF or PE file is for, "" for every other file; raises OSError."""
    with open(path, "rb") as file:
        start = file.read(4096)
    if start.startswith(b"\x7fELF"):
        order = "big" if start[5:6] == b"\x02" else "little"
        code = int.from_bytes(start[18:20], order)  # type: ignore[arg-type]
        return _ELF_MACHINES.get(code, f"processor {code}")
    at = int.from_bytes(start[0x3C:0x40], "little") if start.startswith(b"MZ") else len(start)
    if start[at : at + 4] != b"PE\0\0":
        return ""
    code = int.from_bytes(start[at + 4 : at + 6], "little")
    return _PE_MACHINES.get(code, f"processor {code:#x}")


def require_cuda(include: str, major: int) -> None:
    """Raise WrongToolkit where the headers of a directory are of another CUDA major; without them, it suits."""
    try:
        with open(f"{include}/cuda.h", "rb") as file:
            found = _CUDA_VERSION.search(file.read(1 << 20))
    except OSError:
        return
    if found and int(found[1]) // 1000 != major:
        there = f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}"
        raise WrongToolkit(f"{include} has the headers of CUDA {there}, but the archive is for CUDA {major}")
