"""The names of cuDNN's status codes. cuDNN 9 renumbered them, in ranges of a thousand.

Read from cudnn.h of 5.1.5 and 7.6.5, cudnn_ops_infer.h of 8.9.7, cudnn_graph.h of 9.10.2 and 9.13.0.
"""

from __future__ import annotations

import json

from compat.base.paths import text_beside

_HEADERS = json.loads(text_beside(__file__, "cudnn_h.json"))
# A thousand of codes to each from 9 on: what a newer release adds is still named by its range.
_RANGES = {2: "BAD_PARAM", 3: "NOT_SUPPORTED", 4: "INTERNAL_ERROR", 5: "EXECUTION_FAILED"}

# They say NOT_SUPPORTED, and mean that something of the installation is missing or of another release.
_BROKEN_INSTALLATION = {
    "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER",
    "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART",
    "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
    "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
}


def status_name(status: int, major: int) -> str:
    """The name in cudnn.h of that major: 9 of cuDNN 8 and 3000 of cuDNN 9 are CUDNN_STATUS_NOT_SUPPORTED.

    A code that no header read here has is named by its range with its number behind it.
    """
    known = _HEADERS["status_from_9" if major >= 9 else "status_before_9"].get(str(status))
    if known:
        return f"CUDNN_STATUS_{known}"
    kind = _RANGES.get(status // 1000, "UNKNOWN") if major >= 9 else "UNKNOWN"
    return f"CUDNN_STATUS_{kind} ({status})"


def says_unsupported(name: str) -> bool:
    """Tell whether a status says that this GPU or this release has nothing for what was asked.

    NOT_SUPPORTED and ARCH_MISMATCH. Not those of 9's that are of a broken installation: a sub-library, NVRTC or
    a driver that is missing or too old.
    """
    begins = name.startswith(("CUDNN_STATUS_NOT_SUPPORTED", "CUDNN_STATUS_ARCH_MISMATCH"))
    return begins and name not in _BROKEN_INSTALLATION


def says_bad_parameter(name: str) -> bool:
    """Whether it blames an argument, which algorithms also do for a shape that they do not take."""
    return name.startswith(("CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_INVALID_VALUE"))
