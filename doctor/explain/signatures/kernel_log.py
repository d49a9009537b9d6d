"""The kernel's log: Xid numbers, the bus, and tasks that hang."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.rules.shared.xids import ANNOUNCES, APPLICATION, NOTHING, RESET, RESTART, action_of, recovery_of

_HARDWARE, _HANG, _USER = "ecc-xid-hardware-fault", "driver-hang", "not-a-stack-problem"
_RECOVERY = "gpu-recovery-needed"
_AGAIN = "If it comes back, test the GPU (`dcgmi diag -r 3`); if the test fails, have the GPU replaced."
_RESETS = (
    "Stop the programs that use this GPU, then reset it: `sudo nvidia-smi --gpu-reset -i N`. If that fails, reboot."
)
_DO = {
    NOTHING: "Nothing for this line. If a program failed, look for another error before it.",
    APPLICATION: f"Restart the program. {_AGAIN}",
    RESET: f"{_RESETS} {_AGAIN}",
    RESTART: f"Stop the programs, then reboot this machine. {_AGAIN}",
}
# NVIDIA, "GPU Memory Error Management": the program goes on, and a reset completes the remapping.
_REMAPPED = 63
_REMAPS = (
    "Reset the GPU when convenient: `sudo nvidia-smi --gpu-reset -i N`, or reboot. Until then the row or page is not "
    "replaced; programs may go on. `nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT` shows what is pending."
)
# nvmlDeviceGpuRecoveryAction_t, nvml.h
_RECOVERS = {
    1: _RESETS,
    2: "Stop the programs, then reboot this machine.",
    3: "Stop the programs that copy between GPUs on this machine, then look at `nvidia-smi -q` again.",
    4: "Take no new work on this GPU and let its programs end, then reset it: `sudo nvidia-smi --gpu-reset -i N`.",
    7: "Stop the programs, then reboot this machine.",
}
_OF_RECOVERY = r"NVRM:\s+Xid\s+\((?P<card>[^)\n]{1,40})\):\s+154\b(?P<text>[^\n]{0,160})"


def _of_xid(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By NVIDIA's catalogue of Xid errors, as `gpudoctor gate` reads it."""
    number = int(found["xid"])
    try:
        row = clues.matrix.xid(number)
    except Uncovered:
        return
    says, action = f"Xid {number}: {row.description}", action_of(row, found["text"])
    if row.resolution == ANNOUNCES:
        yield _of_recovery(says, found, clues)
    elif number == _REMAPPED:
        yield Means(_HARDWARE, f"{says}: a memory row is to be replaced, or a page retired", 0.8, mends=_REMAPS)
    elif row.fault == "event":
        yield Means(_USER, f"{says}: an event, not a fault", 0.4, mends=_DO[NOTHING])
    elif row.fault in {"gone", "hardware"}:
        yield Means(_HARDWARE, says, 0.93, mends=_DO[RESET] if action == RESET else "")
    elif row.fault == "either" and action != NOTHING:
        yield Means(_HARDWARE, f"{says}, of hardware or of a program", 0.6, mends=_DO.get(action, ""))
    elif action == NOTHING:
        yield Means(_USER, f"{says}: NVIDIA's catalogue says to ignore it", 0.45, mends=_DO[NOTHING])
    else:
        yield Means(_USER, f"{says}: the program's fault by NVIDIA's catalogue", 0.6)


def _of_recovery(says: str, found: re.Match[str], clues: Clues) -> Means:
    """Of Xid 154, the action that its text names: of a card's lines the last one counts."""
    texts = [one["text"] for one in re.finditer(_OF_RECOVERY, clues.text) if one["card"] == found["card"]]
    named = [one for one in map(recovery_of, (found["text"], *texts)) if one]
    if not named:
        return Means(_RECOVERY, says, 0.8)
    number, name = named[-1]
    if number == 0:
        return Means(_USER, f"{says} to {name}: the GPU needs nothing now", 0.45, mends=_DO[NOTHING])
    mends = _RECOVERS.get(number, f"Do what the driver names: {name}.")
    return Means(_RECOVERY, f"{says} to {name}", 0.95, mends=mends)


FAMILY = Family(
    Signature(
        r"NV_WARN_NOTHING_TO_DO",
        Means(_USER, "this machine has no NVSwitch: the fabric manager has nothing to do there", 0.94),
        source="NVIDIA Fabric Manager",
    ),
    Signature(
        r"NVRM: Xid \((?P<card>[^)\n]{1,40})\): (?P<xid>\d{1,3})\b(?P<text>[^\n]{0,160})",
        decide=_of_xid,
        source="NVIDIA/open-gpu-kernel-modules: 'NVRM: Xid'; NVIDIA Xid Errors",
    ),
    Signature(
        r"fallen off the bus|Unable to determine the device handle for (?:GPU ?)?\S+ ?: (?:Unknown Error"
        r"|GPU is lost)|GPU is lost|NVML_ERROR_GPU_IS_LOST",
        Means(_HARDWARE, "the GPU has fallen off the bus: power, seat, riser or the card itself", 0.93),
        source="NVIDIA Xid Errors, 79; NVML, nvmlErrorString(15)",
    ),
    Signature(
        r"NVRM: [^\n]{0,80}(?:rpcSendMessage failed|GspRm\w+ failed|NV_ERR_GPU_IN_FULLCHIP_RESET|NV_ERR_GPU_IS_LOST"
        r"|Cannot attach gpu|waiting for RPC response)",
        Means(_HARDWARE, "the card, or the firmware on it (GSP), no longer answers the driver", 0.75),
        source="NVIDIA/open-gpu-kernel-modules: src/nvidia/src/kernel/vgpu/rpc.c, arch/nvalloc/unix/src/osinit.c",
    ),
    Signature(
        r"(?:BUG: unable to handle|general protection fault|Oops:)(?:[^\n]{0,160}\n){0,12}?[^\n]{0,80}\[nvidia\w*\]",
        Means(
            _HANG,
            "the driver's module crashed in the kernel: nothing of it answers until the machine is rebooted",
            0.75,
        ),
        source="Linux: arch/x86/mm/fault.c, arch/x86/kernel/dumpstack.c",
    ),
    Signature(
        r"AER: Uncorrected \(Fatal\) error|PCIe Bus Error: severity=Uncorrected",
        Means(_HARDWARE, "the PCIe link to the card has uncorrectable errors", 0.7, given=r"nvidia|NVRM|cuda|GPU"),
        source="Linux: drivers/pci/pcie/aer.c",
    ),
    Signature(
        r"uncorrectable ECC error|cudaErrorECCUncorrectable|CUDA_ERROR_ECC_UNCORRECTABLE"
        r"|row remapping failure|Uncorrectable +: +[1-9]",
        Means(_HARDWARE, "the GPU's memory has an error that cannot be corrected", 0.92),
        source="NVIDIA CUDA Runtime API, error 214",
    ),
    Signature(
        r"INFO: task \S+ blocked for more than \d+ seconds",
        Means(_HANG, "tasks hang in the driver", 0.95, given=r"NVRM|nvidia|\bXid\b"),
        source="Linux: kernel/hung_task.c",
    ),
    Signature(
        r"nvidia-smi[^\n]{0,60}(?:hangs|hanging|stuck|D state|uninterruptible)",
        Means(_HANG, "nvidia-smi hangs in the driver", 0.85),
        source="as people describe it",
    ),
    Signature(
        r"(?:HW|SW) (?:Thermal|Power Brake) Slowdown +: +Active|power cable|Clocks are throttl"
        r"|thermal (?:slowdown|throttl)|power cap",
        Means("power-thermal", "the card slows down or stops for want of power or cooling", 0.6),
        source="nvidia-smi -q -d PERFORMANCE",
    ),
    Signature(
        r"CUDA error DRIVER: '999' in func",
        Means("power-thermal", "the card stops under load: power, riser, cooling or overclocking", 0.6),
        Means(_HARDWARE, "the card stops under load", 0.5),
        source="nicehash/excavator#190",
    ),
)
