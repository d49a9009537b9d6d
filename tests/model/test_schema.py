"""The committed JSON Schema is the generated one, and real reports satisfy it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.commands.check.schema import report_schema
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.encode import encode_report
from doctor.model.facts import Facts
from doctor.model.schema import as_text
from doctor.probes import ProbeRequest, look
from tests.machine import driver, gpu, machine, report_on, seen, unseen

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "report.schema.json"


def validate(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(json.loads(COMMITTED.read_text(encoding="utf-8"))).validate(report)


def test_the_committed_schema_is_current() -> None:
    current = as_text(report_schema())
    assert COMMITTED.read_text(encoding="utf-8") == current, (
        "run: python -m doctor.commands.check.schema > docs/report.schema.json"
    )


@pytest.mark.parametrize(
    "facts",
    [
        machine(),
        machine(gpus=unseen(), pci=unseen(), cudnn=unseen(), environments=unseen()),
        machine(driver=driver("470.82", "11.4"), gpus=seen((gpu(), gpu("Tesla K80", "3.7", number=1)))),
    ],
)
def test_judged_facts_satisfy_it(facts: Facts) -> None:
    validate(encode_report(report_on(facts)))


def test_this_machine_and_an_empty_root_satisfy_it(tmp_path: Path) -> None:
    for host in (LiveHost(), RootHost(str(tmp_path))):
        validate(encode_report(report_on(look(host, ProbeRequest()))))


def test_a_later_release_may_add_and_not_take_away() -> None:
    report = encode_report(report_on(machine()))
    report["facts"]["os"]["surprise"] = 1
    validate(report)
    del report["facts"]["os"]["kernel"]
    with pytest.raises(jsonschema.ValidationError):
        validate(report)


def test_no_fact_is_without_its_schema() -> None:
    """What the types say is what is written: the schema alone would let anything be added."""
    report = encode_report(report_on(machine()))
    properties = report_schema()["$defs"]["SystemFacts"]["properties"]
    assert report["facts"]["os"].keys() == properties.keys()
