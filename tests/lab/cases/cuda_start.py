"""NVML works, and CUDA does not start: after suspend, and for reasons that no rule of its own sees.

The kernel counts suspends that succeeded in /sys/power/suspend_stats/success (Documentation/ABI/testing/sysfs-power).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab import stub
from tests.lab.case import Case, fault
from tests.lab.parts import LIB, WORKSTATION, Part, files, together

SOURCE = Path(stub.__file__).with_name("stub_cuda.c")


def slept(times: int) -> Part:
    """A machine that was suspended so often, and a libcuda that can be started."""

    def lay(root: Path) -> None:
        library = root / LIB.lstrip("/") / "libcuda.so.580.95.05"
        library.unlink(missing_ok=True)
        shutil.copyfile(stub.compiled(SOURCE), library)

    return together(files({"/sys/power/suspend_stats/success": f"{times}\n"}), lay)


CASES = (
    fault(
        "uvm-after-suspend",
        "a laptop that was suspended: nvidia-smi works, CUDA answers 999",
        slept(4),
        environ={"STUB_CUDA_INIT": "999"},
        codes=("uvm-broken-after-suspend",),
        first="uvm-broken-after-suspend",
    ),
    fault(
        "cuda-does-not-start",
        "NVML works, CUDA answers 304 after a resume",
        slept(1),
        environ={"STUB_CUDA_INIT": "304"},
        codes=("cuda-call-failed",),
        first="cuda-call-failed",
    ),
    Case("resumed", "a laptop that was suspended, and whose CUDA starts", together(WORKSTATION, slept(4))),
    Case(
        "never-suspended",
        "a machine that never slept: CUDA is not started, whatever it would say",
        together(WORKSTATION, slept(0)),
        environ={"STUB_CUDA_INIT": "999"},
    ),
)
