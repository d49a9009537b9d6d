"""Facts about the cards: as PCI shows them, and as NVML does."""

from compat.base.record import NamedTuple
from compat.version import ComputeCapability
from doctor.model.facts.seen import Fact, Unseen


class PciDevice(NamedTuple):
    """An NVIDIA display or 3D controller on the PCI bus."""

    address: str  # "0000:01:00.0"
    vendor_id: int  # 0x10de
    device_id: int
    driver: str  # kernel driver bound to it, "" for none

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"PCI {self.address} [{self.vendor_id:04x}:{self.device_id:04x}]"


class GpuNow(NamedTuple):
    """Momentary readings; outside the promise of equal reports."""

    temperature_c: Fact[int]
    power_w: Fact[float]
    power_limit_w: Fact[float]
    sm_clock_mhz: Fact[int]
    throttle_reasons: Fact[tuple[str, ...]]  # active ones other than idle and applications' own clocks
    memory_used_bytes: Fact[int]
    utilisation_percent: Fact[int]
    link_generation: Fact[int]  # PCIe generation in use: an idle card lowers it
    processes: Fact[tuple[int, ...]]  # pids


class Gpu(NamedTuple):
    """One GPU as NVML shows it."""

    number: int  # NVML index
    name: Fact[str]
    uuid: Fact[str]
    serial: Fact[str]
    capability: Fact[ComputeCapability]
    memory_bytes: Fact[int]
    pci_address: Fact[str]  # "0000:01:00.0"
    pci_device_id: Fact[int]
    link_width: Fact[int]  # lanes in use
    link_width_max: Fact[int]
    link_generation_max: Fact[int]
    ecc_enabled: Fact[bool]
    ecc_uncorrected: Fact[int]  # aggregate count over the card's life
    ecc_corrected: Fact[int]
    retired_pages_pending: Fact[bool]  # or row remapping pending
    persistence: Fact[bool]
    compute_mode: Fact[str]  # "default", "exclusive-process", "prohibited"
    mig_enabled: Fact[bool]
    mig_instances: Fact[tuple[str, ...]]  # UUIDs
    has_fabric: Fact[bool]  # part of an NVSwitch fabric
    now: GpuNow
    refused: str = ""  # NVML's words, with their number, where it gives no handle, or the card is lost; else ""
    refused_code: int = 0  # its return code then
    remapping_failed: Fact[bool] = Unseen("it was not checked")  # there are no spare rows of memory left
    licensed: Fact[bool | None] = Unseen("it is no virtual GPU")  # of a virtual GPU; None where it needs no licence
    recovery: Fact[str] = Unseen("it was not checked")  # what the driver wants done: "none", "reset", "restart", ...

    @property
    def label(self) -> str:
        """How findings name it."""
        name = getattr(self.name, "value", "")
        return f"GPU {self.number}" + (f" ({name})" if name else "")
