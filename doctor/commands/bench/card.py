"""What NVML says of the card before, while and after it is timed: clocks held back are a reader's business."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.gpu import Gpu, GpuNow
from doctor.model.facts.seen import Seen, value_or
from doctor.probes import loader, nvml
from doctor.probes.nvml import NvmlChild, Told


class Card:
    """The cards of one machine, asked in children; nothing is asked twice at once."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._search = loader.look(host)
        self._before: Told | None = None
        self._after: Told | None = None
        self._asked: NvmlChild | None = None
        self._seen: list[str] = []
        self.busy_percent: int | None = None  # of the last measurement, once `seen_while_busy` was asked

    def look_before(self) -> None:
        """While it is idle; waits."""
        self._before = self._start().finish()

    def look_after(self) -> None:
        """When all is done; waits."""
        self._after = self._start().finish()

    def _start(self) -> NvmlChild:
        return nvml.start(self._host, self._search)

    def listen(self, doing: str) -> None:
        """Once in the middle of the timed steps ("step 5 of 10"), start asking: it is busy then."""
        word, _, rest = doing.partition(" ")
        number, _, total = rest.partition(" of ")
        if word == "step" and self._asked is None and 2 * int(number) > int(total):
            self._asked = self._start()

    def seen_while_busy(self, pci: str) -> str:
        """What held its clocks back in the middle of the last measurement, as a sentence; "" for nothing."""
        asked, self._asked = self._asked, None
        now = _now(asked.finish(), pci) if asked else None
        self.busy_percent = value_or(now.utilisation_percent, None) if now else None
        if now is None:
            return ""
        reasons = value_or(now.throttle_reasons, ())
        if not reasons:
            return ""
        said = f"the GPU held its clocks back: {', '.join(reasons)}{_reading(now)}"
        self._seen.append(said)
        return said

    def notes(self) -> Iterator[str]:
        """Of the whole run."""
        if self._seen:
            yield f"the GPU held its clocks back during {len(self._seen)} measurements; the timings say which"
        if self._before is not None and not isinstance(self._before.gpus, Seen):
            yield f"whether the GPU held its clocks back was not seen: {self._before.gpus.why}"

    @property
    def driver(self) -> str:
        """Its release, "" where NVML does not say."""
        found = self._before.driver_release if self._before else None
        return str(found.value) if isinstance(found, Seen) else ""

    def before(self, pci: str) -> GpuNow | None:
        """Its readings then; None where there are none."""
        return _now(self._before, pci)

    def after(self, pci: str) -> GpuNow | None:
        """Its readings then; None where there are none."""
        return _now(self._after, pci)


def _now(told: Told | None, pci: str) -> GpuNow | None:
    """The readings of the card at that address ("0000:01:00.0"): CUDA numbers cards in another order than NVML."""
    if told is None or not isinstance(told.gpus, Seen):
        return None
    return next((gpu.now for gpu in told.gpus.value if _is_at(gpu, pci)), None)


def _is_at(gpu: Gpu, pci: str) -> bool:
    return isinstance(gpu.pci_address, Seen) and gpu.pci_address.value == pci


def _reading(now: GpuNow) -> str:
    parts = []
    if isinstance(now.sm_clock_mhz, Seen):
        parts.append(f"{now.sm_clock_mhz.value} MHz")
    if isinstance(now.temperature_c, Seen):
        parts.append(f"{now.temperature_c.value} °C")
    return f" ({', '.join(parts)})" if parts else ""
