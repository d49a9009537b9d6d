"""What CUDA itself answers when it starts, in a child: NVML says that all is well where cuInit fails with 999 or 802.

Starting CUDA takes longer than all the rest of a check, so it is done only where something speaks for it
(docs/decisions/0010-when-cuda-is-started.md).
"""

from __future__ import annotations

from doctor.host import Host, HostError, TooSlow
from doctor.host.optional_reads import text_of
from doctor.model.facts.driver import CudaStart, DriverFacts
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or

SLEPT = "/sys/power/suspend_stats/success"
NOT_ASKED = CudaStart(state="not-asked", code=0, error="", why="nothing speaks for it (--deep starts it)")
_HMM_IS_OFF = "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm"
_NUMBER_BYTES = 32
_HIDES = "CUDA_VISIBLE_DEVICES"  # has a rule of its own


def look(host: Host, driver: DriverFacts, timeout_s: float, *, deep: bool) -> Fact[CudaStart]:
    """Start CUDA where it was asked for, or where the machine has slept; only a driver whose NVML works is asked."""
    nvml = value_or(driver.nvml, None)
    why = "--deep" if deep else _slept(host)
    if not host.is_live or not why or nvml is None or nvml.state != "ok":
        return Seen(NOT_ASKED, "")
    path = next((one.path for one in value_or(driver.libraries, ()) if one.stem == "libcuda" and one.loads), "")
    if not path:  # what the loader takes instead was not looked at, and may be anybody's
        return Seen(NOT_ASKED._replace(why="no libcuda of a known release is what the loader takes"), "")
    try:
        host.refuse_unsafe(path)
        return Seen(_start(host, why, timeout_s), "cuInit")
    except HostError as error:
        return Unseen(f"CUDA was not started: {error}")


def _slept(host: Host) -> str:
    """How often the machine was suspended since it was started; the kernel counts what succeeded. "" for never."""
    said = text_of(host, SLEPT, _NUMBER_BYTES).strip()
    slept = said.isascii() and said.isdigit() and int(said) > 0
    return f"the machine was suspended {said} times since it was started" if slept else ""


def _start(host: Host, why: str, timeout_s: float) -> CudaStart:
    import json  # late, as all of this: few machines have slept
    import os
    import sys

    from doctor.host.child import Child

    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda_worker.py")
    environ = {name: value for name, value in dict(host.environ).items() if name != _HIDES}
    try:
        ran = Child((sys.executable, "-I", "-S", worker), environ, is_long=True).finish(timeout_s)
    except TooSlow:
        return CudaStart(state="hung", code=0, error=f"cuInit did not answer within {timeout_s:g} s", why=why)
    try:
        refused, code, name, text = json.loads(ran.stdout.strip().rpartition("\n")[2])
    except (ValueError, LookupError, TypeError):
        return CudaStart(state="crashed", code=0, error=f"cuInit ended the process (status {ran.status})", why=why)
    state = "not-opened" if refused else "error" if code else "ok"
    has_hmm = state == "error" and text_of(host, _HMM_IS_OFF, _NUMBER_BYTES).strip() in {"N", "0"}
    said = refused or " ".join(filter(None, (name, text)))
    return CudaStart(state=state, code=code, error=said, why=why, has_hmm=has_hmm)
