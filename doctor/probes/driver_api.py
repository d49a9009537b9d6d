"""The driver's own library, asked before CuPy is: what it says needs nothing of ours to be installed."""

from __future__ import annotations

import ctypes
import sys

from compat.base.record import NamedTuple

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE


class DriverAnswer(NamedTuple):
    """What cuInit came to, and what the driver says of itself."""

    why_not_opened: str  # the loader's words; "" where it was opened
    status: int  # of cuInit (CUresult); 0 is success
    name: str  # "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    text: str  # the driver's own words
    driver_cuda: int  # the newest CUDA that it runs, as cuDriverGetVersion answers: 13000 for 13.0; 0 for no answer
    gpus: int  # that this process may use

    @classmethod
    def absent(cls, why: str) -> DriverAnswer:
        """There is none."""
        return cls(why_not_opened=why, status=0, name="", text="", driver_cuda=0, gpus=0)


def ask_driver() -> DriverAnswer:
    """Open the driver's library and start it. It may crash or hang: only for a child."""
    try:
        library = ctypes.CDLL(_LIBRARY)
        started = int(library.cuInit(0))
    except (OSError, AttributeError) as refused:
        return DriverAnswer.absent(str(refused))
    return DriverAnswer(
        why_not_opened="",
        status=started,
        name=_words(library, "cuGetErrorName", started),
        text=_words(library, "cuGetErrorString", started),
        driver_cuda=_number(library, "cuDriverGetVersion"),
        gpus=0 if started else _number(library, "cuDeviceGetCount"),
    )


def _number(library: ctypes.CDLL, function: str) -> int:
    answer = ctypes.c_int()
    ask = getattr(library, function, None)
    return answer.value if ask is not None and ask(ctypes.byref(answer)) == 0 else 0


def _words(library: ctypes.CDLL, function: str, status: int) -> str:
    answer = ctypes.c_char_p()
    ask = getattr(library, function, None)
    if not status or ask is None or ask(status, ctypes.byref(answer)) != 0:
        return ""
    return (answer.value or b"").decode(errors="replace")
