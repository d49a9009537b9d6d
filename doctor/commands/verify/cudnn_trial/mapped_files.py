"""The library files that this process has mapped."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable

_DELETED = " (deleted)"  # the file was replaced while it is in use
_MOST_MODULES = 4096
_LONGEST_PATH = 32768
# cuDNN, and what it or a framework calls: cuBLAS, NVRTC, the CUDA runtime, NCCL
_CUDNN = re.compile(r"(lib)?cudnn[\w.-]*(\.so[\d.]*|\.dll)$", re.IGNORECASE)
_CALLED = re.compile(r"(lib)?(cublas|cublasLt|nvrtc|cudart|nccl)[\w.-]*(\.so[\d.]*|\.dll)$", re.IGNORECASE)


def mapped_libraries() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths of the mapped files of cuDNN, and of what it calls. Raises OSError where the system does not show them."""
    files = sorted(set(_mapped()))
    return _named(files, _CUDNN), _named(files, _CALLED)


def _named(files: Iterable[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    return tuple(one for one in files if pattern.match(os.path.basename(one)))


if sys.platform == "win32":

    def _mapped() -> list[str]:
        """Source: K32EnumProcessModules and GetModuleFileNameW in Microsoft's documentation."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        process, needed = ctypes.c_void_p(-1), ctypes.c_ulong()  # -1: this process
        modules = (ctypes.c_void_p * _MOST_MODULES)()
        if not kernel.K32EnumProcessModules(process, modules, ctypes.sizeof(modules), ctypes.byref(needed)):
            raise ctypes.WinError(ctypes.get_last_error())
        some = modules[: needed.value // ctypes.sizeof(ctypes.c_void_p)]
        return [_module_name(kernel, ctypes.c_void_p(one)) for one in some]

    def _module_name(kernel: ctypes.WinDLL, module: ctypes.c_void_p) -> str:
        room = ctypes.create_unicode_buffer(_LONGEST_PATH)
        kernel.GetModuleFileNameW(module, room, _LONGEST_PATH)
        return room.value

else:

    def _mapped() -> list[str]:
        """A line is: addresses, permissions, offset, device, inode, path, which may have blanks in it."""
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as stream:
            fields = (line.rstrip("\n").split(maxsplit=5) for line in stream)
            return [one[5].removesuffix(_DELETED) for one in fields if len(one) == 6 and one[5].startswith("/")]


def strangers(mapped: Iterable[str], library: str) -> tuple[str, ...]:
    """Those mapped files that are not of the copy whose main library is given.

    A copy's are the files in its directory, in the one that its main library is linked from, and those linked there.
    """
    directories = {os.path.realpath(os.path.dirname(library)), os.path.dirname(os.path.realpath(library))}
    linked = {os.path.realpath(entry.path) for entry in os.scandir(os.path.dirname(library) or ".")}
    return tuple(one for one in mapped if _is_stranger(os.path.realpath(one), directories, linked))


def _is_stranger(real_path: str, directories: set[str], linked: set[str]) -> bool:
    return os.path.dirname(real_path) not in directories and real_path not in linked
