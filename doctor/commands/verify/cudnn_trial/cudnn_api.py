"""cuDNN 5 to 9 by its C API, through ctypes: one copy opened, asked, and its answers decoded.

Only for a process that may die: a damaged copy aborts, raises SIGBUS or never returns, in `Cudnn(...)` or in any call.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from compat.version import CudnnVersion
from doctor.commands.verify.cudnn_trial.cudnn_parts import open_library, parts_of
from doctor.commands.verify.cudnn_trial.cudnn_prototypes import CHECKED_PARTS, PROTOTYPES, version_check
from doctor.commands.verify.cudnn_trial.status import says_bad_parameter, says_unsupported, status_name

_LAST_ERROR_BYTES = 2048
_JIT_EDITION = {"graph", "engines_runtime_compiled"}
NOT_EXPORTED = "NOT_EXPORTED"  # stands where a status' name stands, for a function that this release does not have


class CudnnError(Exception):
    """A function that answered with another status than success."""

    def __init__(self, function: str, status: int, name: str, text: str) -> None:
        super().__init__(f"{function}: {name} ({status})" + (f": {text}" if text else ""))
        self.function = function
        self.status = status
        self.name = name
        self.text = text  # the library's own words

    @property
    def is_declined(self) -> bool:
        """Whether, said of an algorithm, it means that this one is not for this problem on this GPU.

        NOT_SUPPORTED and ARCH_MISMATCH; and BAD_PARAM, which some algorithms answer for a shape that they do not take.
        Not where a sub-library, NVRTC or the driver is what is missing.
        """
        return says_unsupported(self.name) or says_bad_parameter(self.name)


def _quiet(doing: str) -> None:
    """For a caller that does not want to know what is about to be done."""


class Cudnn:
    """One copy of cuDNN, opened with its own parts.

    `note` is told what is about to be done (the name of a file or of a function), since the process may not survive
    it. Raises OSError, in the loader's words, where the main library cannot be opened. What of the parts could not be
    opened stands in `preload_errors`: the engines may need a driver's libcuda.so.1, and a copy works without them
    until it needs them, so nothing is judged here.
    """

    def __init__(self, path: str, note: Callable[[str], None] = _quiet) -> None:
        self.path = os.path.abspath(path)
        self.handle = 0  # as cudnnCreate gave it; 0 before
        self._note = note
        self._open_parts: dict[str, ctypes.CDLL] = {}
        self.preload_errors: dict[str, str] = {}
        self.preload()
        note(os.path.basename(self.path))
        self._library = open_library(self.path)
        self._functions = dict(_bound(self._library))

    def preload(self) -> None:
        """Open the parts that are not open yet; again, where what they lack has come since."""
        for part in parts_of(self.path):
            if part.path in self._open_parts:
                continue
            self._note(os.path.basename(part.path))
            self.preload_errors.pop(part.kind, None)
            try:
                self._open_parts[part.path] = open_library(part.path)
            except OSError as failed:
                self.preload_errors[part.kind] = str(failed)

    @property
    def preloaded(self) -> tuple[str, ...]:
        """Paths of the parts that were opened, in that order."""
        return tuple(self._open_parts)

    @cached_property
    def raw_version(self) -> int:
        """What cudnnGetVersion answers: 7605, 8907, 91002. The first call of 9, which aborts without its graph part."""
        self._note("cudnnGetVersion")
        return int(self._functions["cudnnGetVersion"]())

    @property
    def version(self) -> str:
        """The release: "9.10.2"."""
        return str(CudnnVersion.from_encoded(self.raw_version))

    @property
    def major(self) -> int:
        """The release's first number."""
        return CudnnVersion.from_encoded(self.raw_version).major

    @property
    def cudart_version(self) -> int | None:
        """The CUDA runtime that it was built with: 12090 for 12.9. None for cuDNN 5, which does not say."""
        return self._number("cudnnGetCudartVersion")

    @property
    def max_device_version(self) -> int | None:
        """The newest compute capability that it has code for: 1210 for 12.1. None before cuDNN 8."""
        return self._number("cudnnGetMaxDeviceVersion")

    def _number(self, function: str) -> int | None:
        return int(self._functions[function]()) if self.has(function) else None

    def has(self, function: str) -> bool:
        """Whether this release exports it."""
        return function in self._functions

    def call(self, function: str, *args: Any) -> None:
        """Call what answers with a status; raises CudnnError for any but success."""
        if not self.has(function):
            raise CudnnError(function, -1, NOT_EXPORTED, f"{os.path.basename(self.path)} has no such function")
        status = self._functions[function](*args)
        if status:
            name = status_name(status, self.major)
            raise CudnnError(function, status, name, self._words(status, name))

    def create(self, function: str) -> int:
        """Call what puts a new handle or descriptor at its argument, and return that; raises CudnnError."""
        made = ctypes.c_void_p()
        self.call(function, ctypes.byref(made))
        return made.value or 0

    def _words(self, status: int, name: str) -> str:
        """cudnnGetErrorString where it is more than the name, and the last error."""
        said = self._functions["cudnnGetErrorString"](status) or b""
        words = (said.decode(errors="replace"), self.last_error())
        return " - ".join(one for one in words if one and one != name)

    def last_error(self) -> str:
        """What cuDNN 9 says of the last failure in this thread; "" before 9, and where there was none."""
        if not self.has("cudnnGetLastErrorString"):
            return ""
        room = ctypes.create_string_buffer(_LAST_ERROR_BYTES)
        self._functions["cudnnGetLastErrorString"](room, _LAST_ERROR_BYTES)
        return room.value.decode(errors="replace").strip()

    def create_handle(self, stream: int = 0) -> None:
        """cudnnCreate on the current device, then cudnnSetStream; raises CudnnError.

        Without a GPU it is NOT_INITIALIZED: 1 before cuDNN 9, 1001 from it on.
        """
        self._note("cudnnCreate")
        self.handle = self.create("cudnnCreate")
        self.call("cudnnSetStream", self.handle, stream)

    def destroy_handle(self) -> None:
        """cudnnDestroy; raises CudnnError. Nothing where there is no handle."""
        handle, self.handle = self.handle, 0
        if handle:
            self.call("cudnnDestroy", handle)

    def check_parts(self) -> dict[str, str]:
        """By part, "" where its release is that of the others, else the status' name. Empty before cuDNN 8.

        Each check opens its part; 8 aborts where that is missing, 9 answers SUBLIBRARY_UNAVAILABLE.
        """
        checked = ("graph",) if self.is_jit_edition else CHECKED_PARTS.get(self.major, ())
        return {part: self._check(version_check(part)) for part in checked}

    @property
    def is_jit_edition(self) -> bool:
        """Whether it is NVIDIA's JIT edition, which has the graph API and one kind of engines, and nothing classic.

        Source: the files of nvidia-cudnn-jit-cu12 9.27.0.42.
        """
        return {part.kind for part in parts_of(self.path)} == _JIT_EDITION

    def _check(self, function: str) -> str:
        self._note(function)
        try:
            self.call(function)
        except CudnnError as failed:
            return failed.name
        return ""


def _bound(library: ctypes.CDLL) -> Mapping[str, Any]:
    """The known functions that a library exports, with the types of their arguments and answers."""
    found: dict[str, Any] = {}
    for name, prototype in PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes, function.restype = prototype.arguments, prototype.result
            found[name] = function
    return found
