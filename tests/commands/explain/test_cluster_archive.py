"""An archive of several nodes: each is judged apart, by its own name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.explain.cluster_archive import Member, nodes_of, places_of, text_of
from doctor.model.encode import encode_report
from doctor.model.facts.seen import Place, Unseen
from doctor.model.finding import Report, Status
from tests.commands.explain.test_from_file import BUG_REPORT, packed, written

if TYPE_CHECKING:
    import pytest

FALLEN = "".join(line for line in BUG_REPORT.splitlines(keepends=True) if "open kernel modules" not in line)
FINE = "".join(line for line in FALLEN.splitlines(keepends=True) if "NVRM: Xid" not in line)
OPEN = FINE.replace("x86_64 Kernel Module  570.86.15", "Open Kernel Module for x86_64  580.95.05")
ROOT = "nvidia-gpu-operator_20260101_1200"
POD = f"{ROOT}/gpu_operand_pod_nvidia-device-plugin-daemonset-x7"


def gathered(**nodes: str) -> dict[str, bytes]:
    """As the operator's must-gather names its files."""
    named = {f"{ROOT}/nvidia-bug-report_{node}.log.gz": gzip.compress(text.encode()) for node, text in nodes.items()}
    return {f"{ROOT}/gpu_operator_pod.log": b"reconciling\n", f"{ROOT}/cluster_policy.yaml": b"kind: x\n", **named}


def report(folder: Path, members: dict[str, bytes]) -> Report:
    return report_of(CheckSubject(source=written(folder, "must-gather.tar.gz", packed(members))), 0.0)


def found(report: Report) -> set[tuple[str, str]]:
    return {(one.subject.partition(":")[0], one.code) for one in report.findings}


def test_nodes_are_judged_apart(tmp_path: Path) -> None:
    judged = report(tmp_path, gathered(**{"gpu-a": BUG_REPORT, "gpu-b.example.org": OPEN, "gpu-c": FALLEN}))
    assert ("gpu-a", "open-kernel-module-required") in found(judged)
    assert ("gpu-c", "ecc-xid-hardware-fault") in found(judged)
    assert ("gpu-c", "open-kernel-module-required") not in found(judged)
    assert "gpu-b.example.org" not in {node for node, _ in found(judged)}
    assert {one.subject.partition(":")[0] for one in judged.answers} > {"gpu-a", "gpu-b.example.org", "gpu-c"}
    assert judged.verdict == "broken"
    # no fact is of all: not even what two of them agree on
    assert isinstance(judged.facts.driver.release, Unseen)
    assert judged.facts.machine.name == "the nodes of must-gather.tar.gz"


def test_evidence_names_the_file_and_its_line(tmp_path: Path) -> None:
    judged = report(tmp_path, gathered(**{"gpu-a": OPEN, "gpu-c": FALLEN}))
    sources = {one.source for each in judged.findings for one in each.evidence}
    number = next(n for n, line in enumerate(FALLEN.splitlines(), 1) if "Xid" in line)
    assert any(one.endswith(f"nvidia-bug-report_gpu-c.log.gz, line {number}") for one in sources)
    members = (Member("d/a", b"1\n2"), Member("d/b", b"1\n"), Member("d/c", b"1"))
    lines = text_of(members).split(b"\n")
    place = places_of(members)
    assert str(place(lines.index(b"2") + 1)) == "a, line 2"
    assert place(len(lines) - 1) == Place("c", 1, "c, line 1")


def test_a_node_that_says_nothing_is_unknown(tmp_path: Path) -> None:
    judged = report(tmp_path, gathered(**{"gpu-a": "nothing at all\n", "gpu-b": OPEN}))
    assert found(judged) == set()
    assert judged.verdict == "unknown"
    assert {one.kind for one in judged.answers if one.subject.startswith("gpu-a")} <= {
        Status.UNKNOWN,
        Status.NOT_APPLICABLE,
    }


def test_pods_are_of_their_nodes(tmp_path: Path) -> None:
    """By the description of the pod; what no description names is of no node, and its dumps of nobody."""
    log = b"Failed to initialize NVML: Driver/library version mismatch\n"
    smi = b"| NVIDIA-SMI 470.256.02   Driver Version: 470.256.02   CUDA Version: 11.4 |\n"
    pods = {f"{POD}.descr": b"Name: x\nNode:                 gpu-b/10.0.0.7\n", f"{POD}.log": log}
    judged = report(tmp_path, {**gathered(**{"gpu-a": OPEN, "gpu-b": OPEN}), **pods})
    assert found(judged) == {("gpu-b", "driver-library-mismatch")}
    judged = report(tmp_path, {**gathered(**{"gpu-a": OPEN, "gpu-b": OPEN}), f"{POD}.log": log + smi})
    assert found(judged) == {("files without a node", "driver-library-mismatch")}


def test_folders_are_nodes(tmp_path: Path) -> None:
    members = {"x/one/nvidia-bug-report.log": OPEN.encode(), "x/two/nvidia-bug-report.log": FALLEN.encode()}
    assert found(report(tmp_path, members)) == {("two", "ecc-xid-hardware-fault")}


def test_one_node_is_the_machine(tmp_path: Path) -> None:
    judged = report(tmp_path, gathered(**{"gpu-a": FALLEN}))
    assert judged.facts.machine.name == "the machine of must-gather.tar.gz"
    assert str(judged.facts.driver.module_release.get()) == "570.86.15"


def test_names_of_an_archive_are_no_more_than_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = {"$(reboot)\x1b]0;x\x07\u202e": FALLEN, "`id`; rm -rf ~": FALLEN}
    path = written(tmp_path, "m.tar.gz", packed(gathered(**nodes)))
    assert execute(["check", "--from", path]) == 1
    out = capsys.readouterr().out
    assert "$(" not in out
    assert "`id`" not in out
    assert "\x1b]" not in out
    assert "\u202e" not in out


def test_too_many_nodes_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "m.tar.gz", packed(gathered(**{f"n{number}": "x" for number in range(300)})))
    assert execute(["check", "--from", path]) == 2
    assert "reads at most 200" in capsys.readouterr().err


def test_json_is_of_the_same_form(tmp_path: Path) -> None:
    judged = report(tmp_path, gathered(**{"gpu-a": BUG_REPORT, "gpu-b": OPEN}))
    document = json.loads(json.dumps(encode_report(judged)))
    assert {one["subject"].partition(":")[0] for one in document["findings"]} == {"gpu-a"}
    assert nodes_of(()) == {}
