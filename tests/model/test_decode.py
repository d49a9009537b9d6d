"""A report that is read again: facts that nobody looked at stay so, and those of a newer kind come back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from doctor.model.decode import facts_of_report
from doctor.model.encode import encode_report
from doctor.model.facts.environment import CannotStart, InterpreterStart, NativeFault, NearName, Unloadable
from doctor.probes import independent_probes
from tests.machine import configuration, environment, machine, report_on, seen

START = InterpreterStart("/usr/bin/python3.12", "x86_64", "2.34", CannotStart.LOADER, "/lib/ld-musl-x86_64.so.1")
FAULT = NativeFault(
    distribution="numpy", version="2.2.6", path="/x.so", why=Unloadable.PYTHON, what="3.9", required_by=("torch",)
)
NEAR = NearName("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES")


@pytest.mark.parametrize(
    ("start", "faults", "near"),
    [
        (None, None, None),
        (seen(START), seen((FAULT,)), seen((NEAR,))),
        (seen(START._replace(fault=None)), seen(()), seen(())),
    ],
)
def test_there_and_back(start: Any, faults: Any, near: Any) -> None:
    here = environment(start=start, native_faults=faults)
    facts = machine(environments=seen((here,)), configuration=configuration(near=near))
    text = json.dumps(encode_report(report_on(facts)))
    kinds = {name: one.kind for name, one in independent_probes().items()}
    read = facts_of_report(json.loads(text), kinds)
    one = read.environments.get()[0]
    assert (one.start, one.native_faults, read.configuration.near) == (start, faults, near)
