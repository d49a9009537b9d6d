"""What unpacks zstd: the system's libzstd, Python 3.14's module, or its backport, all in the way of the second.

The module gathers what it unpacks in small blocks and copies them into one, for which no other thread of Python's may
run; the library writes where it is told.

Sources: Python's documentation, "compression.zstd" and, of its C API, "Bytes Objects" (PyBytes_FromStringAndSize);
zstd.h of zstd 1.5 (ZSTD_decompressStream and its buffers, ZSTD_DCtx_setParameter), which are stable since 1.4.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Callable
from typing import Any

from compat.record import NamedTuple

_LIBRARIES = ("libzstd.so.1", "libzstd.1.dylib")
_WINDOW_LOG_MAX = 100  # ZSTD_d_windowLogMax


class Zstd(NamedTuple):
    """How zstd is unpacked here."""

    begin: Callable[[], Any]  # an unpacker of one frame: decompress, needs_input, eof, unused_data
    error: type[Exception]  # that it raises for what is damaged, or needs a larger window


def zstd_of(window_log: int) -> Zstd | None:
    """For windows up to 2 to that power in bytes; None where nothing unpacks zstd."""
    library = _library()
    if library:
        return Zstd(lambda: _Frame(library, window_log), _LibraryError)
    module = zstd_module()
    if module is None:
        return None
    options = {module.DecompressionParameter.window_log_max: window_log}
    return Zstd(lambda: module.ZstdDecompressor(options=options), module.ZstdError)


def zstd_module() -> Any:
    """None where Python has none."""
    for name in ("compression.zstd", "backports.zstd"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return None


class _LibraryError(Exception):
    """In the library's words."""


class _In(ctypes.Structure):
    _fields_ = (("content", ctypes.c_char_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t))


class _Out(ctypes.Structure):
    _fields_ = (("content", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t))


def _library() -> Any:
    for name in _LIBRARIES:
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(name)
            library.ZSTD_createDCtx.restype = ctypes.c_void_p
            library.ZSTD_freeDCtx.argtypes = (ctypes.c_void_p,)
            library.ZSTD_DCtx_setParameter.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
            library.ZSTD_DCtx_setParameter.restype = ctypes.c_size_t
            library.ZSTD_decompressStream.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Out), ctypes.POINTER(_In))
            library.ZSTD_decompressStream.restype = ctypes.c_size_t
            library.ZSTD_isError.argtypes = (ctypes.c_size_t,)
            library.ZSTD_getErrorName.argtypes = (ctypes.c_size_t,)
            library.ZSTD_getErrorName.restype = ctypes.c_char_p
            return library
    return None


_new_bytes: Any = ctypes.pythonapi.PyBytes_FromStringAndSize  # which may be written to until others see them
_new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_char_p, ctypes.c_ssize_t)
_address_of: Any = ctypes.pythonapi.PyBytes_AsString
_address_of.restype, _address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)


class _Frame:
    """As compression.zstd.ZstdDecompressor."""

    def __init__(self, library: Any, window_log: int) -> None:
        self.eof, self.needs_input = False, True
        self._library = library
        self._content, self._in = b"", _In(b"", 0, 0)
        self._context = library.ZSTD_createDCtx()
        if not self._context:  # the calls below do not look
            raise _LibraryError("not enough memory")
        self._checked(library.ZSTD_DCtx_setParameter(self._context, _WINDOW_LOG_MAX, window_log))

    def __del__(self) -> None:
        self._library.ZSTD_freeDCtx(self._context)

    @property
    def unused_data(self) -> bytes:
        """What stands behind the frame."""
        return self._content[self._in.at :] if self.eof else b""

    def decompress(self, content: bytes, max_length: int) -> bytes:
        """At most so many bytes of the frame; `needs_input` says whether no more comes of what was given."""
        if content:
            self._content = self._content[self._in.at :] + content
            self._in = _In(self._content, len(self._content), 0)
        room: bytes = _new_bytes(None, max_length)
        out = _Out(_address_of(room), max_length, 0)
        unpack = self._library.ZSTD_decompressStream
        left = self._checked(unpack(self._context, ctypes.byref(out), ctypes.byref(self._in)))
        self.eof = left == 0
        self.needs_input = not self.eof and out.at < max_length
        return room if out.at == max_length else room[: out.at]

    def _checked(self, said: int) -> int:
        if self._library.ZSTD_isError(said):
            raise _LibraryError(self._library.ZSTD_getErrorName(said).decode())
        return said
