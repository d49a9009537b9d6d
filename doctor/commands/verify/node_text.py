"""Level node for people: one verdict, and a table with a line for each GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.commands.verify.node import link_gb_per_s
from doctor.commands.verify.verification import FAILED, PASSED, GpuTried, Verification
from doctor.output.page import Page

_COLOURS = {PASSED: "green", FAILED: "red"}
_WIDTHS = {"GPU": 24, "cuDNN": 7, "cuBLAS": 8, "NVRTC": 7, "GB/s to, from, link": 21, "peers": 7, "NCCL": 4}
_SLOW = 0.5  # of what the link carries


def node_page(page: Page, done: Verification) -> None:
    """What the answer is, then everything it rests on."""
    page.paragraph(_answer(page, done), colour=_COLOURS.get(done.verdict, "yellow"), hang=2)
    page.gap()
    page.line("  " + "".join(name.ljust(width) for name, width in _WIDTHS.items()).rstrip())
    for one in done.gpus:
        cells = zip(_cells(page, one, done), _WIDTHS.values(), strict=True)
        page.line("  " + "".join(text.ljust(width) for text, width in cells).rstrip())
    sign = page.symbol("·", "-")
    page.paragraph(f"  {sign} not tried; GB/s: copies of 64 MiB, and what the PCIe link carries one way", colour="dim")
    slow = [f"GPU {one.outcome.gpu}" for one in done.gpus if _is_slow(one, done)]
    if slow:
        page.paragraph(f"  {', '.join(slow)}: copies take less than half of the link; the verdict does not count it")


def _answer(page: Page, done: Verification) -> str:
    gpus = "1 GPU" if len(done.gpus) == 1 else f"{len(done.gpus)} GPUs"
    if done.verdict == PASSED:
        return f"{page.symbol('✓', 'ok')} this machine is ready to train on {gpus}"
    if done.verdict == FAILED:
        return f"{page.symbol('✗', 'x')} this machine is not ready to train on {gpus}"
    why = f": {'; '.join(done.missing)}" if done.missing else "; see below"
    return f"! whether this machine is ready to train on {gpus} is unknown{why}"


def _cells(page: Page, one: GpuTried, done: Verification) -> Iterator[str]:
    found = {stage.name: stage for stage in one.outcome.stages}
    name = str(found["device"].facts.get("gpu", "")) if "device" in found else ""
    yield f"{one.outcome.gpu} {name}"[: _WIDTHS["GPU"] - 2]
    yield _mark(page, _of_cudnn(one, done))
    for stage in ("cublas", "nvrtc"):
        yield _mark(page, _state(found.get(stage)))
    yield _speed(page, one, done)
    for stage in ("peers", "nccl"):
        yield _mark(page, _state(found.get(stage)))


def _state(stage: Any) -> str:
    if stage is None or stage.facts.get("not_asked") or stage.status == "missing" or stage.facts.get("pairs") == []:
        return "open"
    return PASSED if stage.status == "passed" else FAILED


def _of_cudnn(one: GpuTried, done: Verification) -> str:
    results = {copy.result for copy in done.copies if copy.outcome.gpu == one.outcome.gpu}
    return FAILED if FAILED in results else PASSED if results == {PASSED} else "open"


def _mark(page: Page, state: str) -> str:
    return {PASSED: page.symbol("✓", "ok"), FAILED: page.symbol("✗", "x")}.get(state, page.symbol("·", "-"))


def _speed(page: Page, one: GpuTried, done: Verification) -> str:
    stage = one.outcome.stage("copies")
    if _state(stage) != PASSED:
        return _mark(page, _state(stage))
    link = _link(one, done)
    return ", ".join([*(f"{speed:.1f}" for speed in _speeds(one)), f"{link:.1f}" if link else "?"])


def _speeds(one: GpuTried) -> tuple[float, ...]:
    stage = one.outcome.stage("copies")
    return tuple(stage.facts.get("gb_per_s", {}).values()) if stage else ()


def _link(one: GpuTried, done: Verification) -> float:
    device = one.outcome.stage("device")
    return link_gb_per_s(done.facts, str(device.facts.get("pci_bus_id", ""))) if device else 0.0


def _is_slow(one: GpuTried, done: Verification) -> bool:
    return any(speed < _SLOW * _link(one, done) for speed in _speeds(one))
