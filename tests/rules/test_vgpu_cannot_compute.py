"""vgpu-cannot-compute, and what NVML's worker asks for it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from doctor.model.finding import Severity, Status
from doctor.probes.nvml_worker import Worker
from tests.machine import gpu, machine, seen, unseen
from tests.rules.case import answer


@pytest.mark.parametrize(
    ("name", "licensed", "kind", "severity"),
    [
        ("NVIDIA GeForce RTX 4090", unseen(), Status.NOT_APPLICABLE, None),
        ("NVIDIA A100-SXM4-40GB", unseen(), Status.NOT_APPLICABLE, None),
        ("NVIDIA A40-8C", seen(True), Status.OK, None),
        ("GRID T4-16Q", seen(None), Status.OK, None),
        ("GRID T4-16Q", seen(False), Status.BAD, Severity.ERROR),
        ("GRID A40-8B", seen(True), Status.BAD, Severity.WARNING),
        ("GRID T4-16Q", unseen("NVML: Not Supported"), Status.UNKNOWN, None),
    ],
)
def test_kinds(name: str, licensed: Any, kind: Status, severity: Severity | None) -> None:
    found = answer("vgpu-cannot-compute", machine(gpus=seen((gpu(name, licensed=licensed),))))
    assert found.kind is kind
    assert severity in {None, found.severity}


class _Feature:
    def __init__(self, state: int) -> None:
        self.featureState = state


class _Features:
    def __init__(self, *states: int, supported: int = 1) -> None:
        self.isGridLicenseSupported, self.licensableFeaturesCount = supported, len(states)
        self.gridLicensableFeatures = [*map(_Feature, states), _Feature(1), _Feature(1)]


class _Nvml:
    class NVMLError(Exception):
        value = 3

    def __init__(self, name: str, features: _Features) -> None:
        self._name, self._features = name, features

    def nvmlDeviceGetHandleByIndex(self, number: int) -> int:  # noqa: N802 - NVML's names
        return number

    def nvmlDeviceGetName(self, _: int) -> str:  # noqa: N802
        return self._name

    def nvmlDeviceGetGridLicensableFeatures(self, _: int) -> _Features:  # noqa: N802
        return self._features


@pytest.mark.parametrize(
    ("name", "features", "said"),
    [
        ("GRID T4-16Q", _Features(0, 1), {"value": True}),
        ("GRID T4-16Q", _Features(0), {"value": False}),
        ("GRID T4-16Q", _Features(supported=0), {"value": None}),
        ("NVIDIA A100-SXM4-40GB", _Features(0), None),
        ("Tesla T4", _Features(0), None),
    ],
)
def test_only_a_virtual_gpu_is_asked(name: str, features: _Features, said: Any) -> None:
    reading, writing = os.pipe()
    Worker(_Nvml(name, features), writing)._ask_gpu(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as stream:
        events = [json.loads(line) for line in stream if line.startswith("{")]
    found = {key: value for event in events for key, value in event["said"].items()}
    assert found.get("licence") == said
