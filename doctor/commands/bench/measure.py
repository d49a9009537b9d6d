"""One child a measurement: a crash, a hang or want of memory costs that measurement, and our process loads nothing."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Callable, Iterator
from typing import Any

from doctor.commands.bench import child, timing
from doctor.commands.bench.card import Card
from doctor.commands.bench.job import Job, jobs
from doctor.commands.bench.outcome import TORCH, Bench, Choice, Lack, Machine, Order, Progress, Timing
from doctor.host import Host
from doctor.host.supervised_child import Event

# What one child misses, every other child of the same kind will miss.
_ALIKE = ("numpy", "torch", "cupy", "driver", "gpu")
_BUSY = 0.25  # of its cores, by what else runs


def run(order: Order, report: Callable[[Progress], None] = lambda _: None, host: Host | None = None) -> Bench:
    """Measure everything that was ordered; what could not be measured stands in `Bench.lacks`.

    Raises ValueError for an order that makes no sense, KeyboardInterrupt when the user ends it (the child is killed).
    """
    if order.batch < 0 or order.steps < 0 or order.seconds <= 0:
        raise ValueError("batch and steps may not be negative, and seconds must be more than 0")
    return _Run(order, report, host or _this_machine()).measured()


def _this_machine() -> Host:
    from doctor.host.live import LiveHost  # late: tests bring their own

    return LiveHost()


class _Run:
    """One order's work."""

    def __init__(self, order: Order, report: Callable[[Progress], None], host: Host) -> None:
        self._order = order
        self._report = report
        self._host = host
        self._threads = order.threads or cores()
        self._busy = busy()
        uses_gpu = self._order.memory != "host" and any(path != "cpu" for path in self._order.paths)
        self._card = Card(host) if uses_gpu else None
        self._told: dict[str, str] = {}
        self._timings: list[Timing] = []
        self._choices: list[Choice] = []
        self._lacks: list[Lack] = []

    def measured(self) -> Bench:
        """Job after job."""
        if self._card:
            self._card.look_before()
        waiting = jobs(self._order)
        for done, told in enumerate(waiting):
            lack = self._missing(told)
            if lack:
                self._lacks.append(lack)
            else:
                self._measure(told, done, len(waiting))
        if self._card:
            self._card.look_after()
        return Bench(
            measured_on=dt.date.today().isoformat(),
            machine=self._machine(),
            timings=tuple(self._timings),
            choices=tuple(self._choices),
            lacks=tuple(one for one in dict.fromkeys(self._lacks) if one.path != TORCH),
            notes=tuple(filter(None, (self._busy, *(self._card.notes() if self._card else ()), *self._of_torch()))),
        )

    def _of_torch(self) -> Iterator[str]:
        """Why its time is not there: nobody asked for it, so that nothing is lacking."""
        for one in dict.fromkeys(self._lacks):
            if one.path == TORCH:
                yield f"{one.network or 'every network'} was not measured with torch: {one.why}"

    def _missing(self, told: Job) -> Lack | None:
        """What is known to be missing, without a child to find out."""
        if told.path == "gpu+cudnn" and not told.order.library:
            return Lack("", "gpu+cudnn", "cudnn", "no copy of cuDNN was found or named")
        alike = [one for one in self._lacks if one.needs in _ALIKE and _is_alike(one.path, told.path)]
        return alike[0] if alike else None

    def _measure(self, told: Job, done: int, total: int) -> None:
        lacks: list[Lack] = []
        card = self._card if told.path.startswith("gpu") else None  # idle while a processor computes

        def hear(event: Event) -> None:
            if event["event"] == "doing":
                self._report(
                    Progress(
                        done=done,
                        total=total,
                        network=told.network.name,
                        path=told.path,
                        pool=told.pool,
                        doing=event["what"],
                    )
                )
                if card:
                    card.listen(event["what"])
            else:
                self._keep(event["event"], event["value"], told, lacks)

        ended = child.run(told, self._threads, hear, self._host)
        if ended.why:
            lacks.append(Lack(told.network.name, told.what, ended.needs, ended.why))
        if told.path == TORCH and "torch" not in self._told:  # it could not even be imported
            lacks = [one._replace(network="", needs="torch") for one in lacks]
        self._lacks += lacks
        if card:
            self._note(told, card)

    def _keep(self, kind: str, value: Any, told: Job, lacks: list[Lack]) -> None:
        if kind == "machine":
            self._told.update(value)
        if kind == "timing":
            first, last = value["losses"]
            self._timings.append(Timing(**{**value, "losses": (first, last), "notes": tuple(value["notes"])}))
        if kind == "samples":
            self._timings.append(_of_samples(told, value))
        if kind == "choice":
            self._choices.append(Choice(**{**value, "strategies": tuple(value["strategies"])}))
        if kind == "lack":
            needs, why = value["needs"], value["why"]
            network = "" if needs in _ALIKE else told.network.name
            lacks.append(Lack(network, told.path if needs in _ALIKE else told.what, needs, why))

    def _note(self, told: Job, card: Card) -> None:
        """What the card said while this was timed."""
        seen = card.seen_while_busy(self._told.get("pci", ""))
        last = self._timings[-1] if self._timings else None
        if last and (last.network, last.path, last.pool) == (told.network.name, told.path, told.pool):
            notes = (*last.notes, seen) if seen and not told.is_table else last.notes
            busy = last.gpu_busy_percent if told.is_table else card.busy_percent
            self._timings[-1] = last._replace(notes=notes, gpu_busy_percent=busy)

    def _machine(self) -> Machine:
        told, card = self._told, self._card
        pci = told.get("pci", "")
        return Machine(
            cpu=cpu_name(self._host),
            cores=cores(),
            threads=self._threads,
            system=f"{platform.system()} {platform.release()}",
            python=told.get("python", ""),
            numpy=told.get("numpy", ""),
            blas=told.get("blas", ""),
            cupy=told.get("cupy", ""),
            gpu=told.get("gpu", ""),
            capability=told.get("capability", ""),
            driver=card.driver if card else "",
            cuda_runtime=told.get("cuda_runtime", ""),
            cudnn=told.get("cudnn", ""),
            cudnn_path=told.get("cudnn_path", ""),
            gpu_before=card.before(pci) if card else None,
            gpu_after=card.after(pci) if card else None,
            torch=told.get("torch", ""),
        )


def _is_alike(lacking: str, path: str) -> bool:
    """Whether what one path lacks, the other lacks too: the CPU needs no CuPy, and torch is the user's own."""
    return lacking == path or not {lacking, path} & {"cpu", TORCH}


def _of_samples(told: Job, said: dict[str, Any]) -> Timing:
    """What torch's program said: it knows nothing of ours."""
    first, last = said["losses"]
    return timing.timing(
        told,
        timing.Samples(said["warmup_steps"], tuple(said["seconds"])),
        told.network.images_per_epoch,
        dtype="fp32",
        clock="perf_counter",
        data="synthetic",
        losses=(first, last),
        peak_bytes=0,
        algorithms={},
        notes=(),
    )


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy() -> str:
    """That others compute here too, as a sentence; "" where nobody does, or where the system does not tell."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load < _BUSY * cores():
        return ""
    return f"the machine was busy before anything was measured: a load of {load:.1f} on {cores()} cores"


def cpu_name(host: Host) -> str:
    """As the kernel calls it; "" where it does not say."""
    from doctor.host import HostError

    try:
        lines = host.read_text("/proc/cpuinfo").splitlines()
    except HostError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
