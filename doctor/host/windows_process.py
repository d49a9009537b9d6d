"""A running process of Windows, by its process id: its program, variables, directory and mapped files.

Sources: Microsoft, OpenProcess, K32EnumProcessModulesEx, K32GetModuleFileNameExW, ReadProcessMemory; winternl.h for
NtQueryInformationProcess, PROCESS_BASIC_INFORMATION and the place of the process parameters in the PEB; psutil's
psutil/arch/windows/proc_info.c for what follows in them. The layouts are those of a 64-bit process.
"""

from __future__ import annotations

import ctypes
from typing import Any

from compat.base.record import NamedTuple

_QUERY_AND_READ = 0x0400 | 0x0010  # PROCESS_QUERY_INFORMATION, PROCESS_VM_READ
_EVERY_MODULE = 3  # LIST_MODULES_ALL
_MOST_MODULES, _LONGEST_PATH = 4096, 32768
_PARAMETERS, _DIRECTORY, _ENVIRONMENT = 0x20, 0x38, 0x80
_PAGE, _MOST_PAGES = 4096, 256  # of the variables


class ProcessView(NamedTuple):
    """What Windows shows of a process; paths with slashes."""

    program: str
    started_by: str  # the program of its parent, "" where that has ended
    environ: dict[str, str]
    directory: str
    mapped: tuple[str, ...]  # DLLs, in the order in which they were loaded


def view(pid: int) -> ProcessView:
    """Raises OSError for a process that is not there, not ours to read, or of 32 bits."""
    process = _Process(pid)
    try:
        return process.view()
    finally:
        process.close()


class _Process:
    """An open handle."""

    def __init__(self, pid: int) -> None:
        load: Any = getattr(ctypes, "WinDLL")  # noqa: B009 - no such name outside Windows
        self._kernel = load("kernel32", use_last_error=True)
        self._nt = load("ntdll")
        self._kernel.OpenProcess.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.OpenProcess(_QUERY_AND_READ, False, pid))
        if not self._handle:
            raise self._failed()

    def close(self) -> None:
        self._kernel.CloseHandle(self._handle)

    def _failed(self) -> OSError:
        error: OSError = getattr(ctypes, "WinError")(getattr(ctypes, "get_last_error")())  # noqa: B009
        return error

    def view(self) -> ProcessView:
        emulated = ctypes.c_int()
        self._kernel.IsWow64Process(self._handle, ctypes.byref(emulated))
        if emulated.value:
            raise OSError("it is a 32-bit program, and CUDA's libraries have 64")
        peb, parent = self._basic()
        parameters = self._pointer(peb + _PARAMETERS)
        variables = (one.partition("=") for one in self._variables(self._pointer(parameters + _ENVIRONMENT)))
        program, *mapped = self._modules() or [""]
        return ProcessView(
            program=program,
            started_by=self._program_of(parent),
            environ={name.upper(): value for name, _, value in variables if name},
            directory=self._text(parameters + _DIRECTORY),
            mapped=tuple(mapped),
        )

    def _basic(self) -> tuple[int, int]:
        """The address of the process environment block, and the parent's id."""
        found = (ctypes.c_void_p * 6)()
        status = self._nt.NtQueryInformationProcess(self._handle, 0, found, ctypes.sizeof(found), None)
        if status or not found[1]:
            raise OSError(f"NtQueryInformationProcess gives {status & 0xFFFFFFFF:#x}")
        return int(found[1]), int(found[5] or 0)

    def _modules(self) -> list[str]:
        handles, needed = (ctypes.c_void_p * _MOST_MODULES)(), ctypes.c_ulong()
        enumerate_ = self._kernel.K32EnumProcessModulesEx
        if not enumerate_(self._handle, handles, ctypes.sizeof(handles), ctypes.byref(needed), _EVERY_MODULE):
            raise self._failed()
        return [self._file_of(one) for one in handles[: needed.value // ctypes.sizeof(ctypes.c_void_p)]]

    def _file_of(self, module: int | None) -> str:
        room = ctypes.create_unicode_buffer(_LONGEST_PATH)
        self._kernel.K32GetModuleFileNameExW(self._handle, ctypes.c_void_p(module), room, _LONGEST_PATH)
        return room.value.replace("\\", "/")

    def _program_of(self, pid: int) -> str:
        try:
            parent = _Process(pid)
        except OSError:
            return ""
        try:
            return parent._file_of(None)
        finally:
            parent.close()

    def _read(self, address: int, size: int) -> bytes:
        room, got = ctypes.create_string_buffer(size), ctypes.c_size_t()
        where = (self._handle, ctypes.c_void_p(address), room, ctypes.c_size_t(size), ctypes.byref(got))
        if not self._kernel.ReadProcessMemory(*where):
            raise self._failed()
        return room.raw[: got.value]

    def _pointer(self, address: int) -> int:
        return int.from_bytes(self._read(address, 8), "little")

    def _text(self, address: int) -> str:
        """A UNICODE_STRING: length in bytes, room, address."""
        length = int.from_bytes(self._read(address, 2), "little")
        return self._read(self._pointer(address + 8), length).decode("utf-16-le", "replace").replace("\\", "/")

    def _variables(self, address: int) -> list[str]:
        """NAME=value, each with a NUL at its end and one more at the end of all; read up to the end of a page."""
        found = b""
        for _ in range(_MOST_PAGES):
            found += self._read(address + len(found), _PAGE - (address + len(found)) % _PAGE)
            texts, end, _ = found.decode("utf-16-le", "replace").partition("\0\0")
            if end:
                return texts.split("\0")
        raise OSError("its variables do not end")
