"""What ten findings cost beside the first look, in what can be counted exactly: a clock tells another time each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat.matrix import Matrix
from doctor.diagnose import make_report, verifier_for
from doctor.host.snapshot import Snapshot
from doctor.loader import predictions
from doctor.prescribe import remedy_verifier
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import judge, load_rules
from tests.lab import cudnn_tree
from tests.lab.case import LabHost, fault, host_of
from tests.lab.cases.surroundings import HALF_DONE
from tests.lab.parts import at

if TYPE_CHECKING:
    import pytest

TEN = fault(
    "ten-findings",
    "old libraries, headers and variables of years, on a machine that works otherwise",
    at("/", cudnn_tree.debian_of),
    at("/usr/local/cuda-12.8/include", cudnn_tree.header_of, "8.9.7"),
    at("/opt/old/lib", cudnn_tree.copy_of, "9.1.0", parts=("graph", "ops"), chain=True),
    HALF_DONE,
    codes=("cudnn-sublibrary-mixed",),
    environ={
        "LD_LIBRARY_PATH": "/opt/old/lib",
        "CUDA_HOME": "/usr/local/cuda-11.8",
        "CUDNN_PATH": "/opt/cudnn",
        "CUDA_VISIBLE_DEVICES": "1",
    },
)


def test_ten_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, rules, host = Matrix(), load_rules(), Snapshot(host_of(TEN, TEN.build(tmp_path)))
    facts = look(host, ProbeRequest())
    answers = judge(facts, matrix, rules)
    done: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def counted(*given: Any, **more: Any) -> Any:
            done[name] += 1
            return real(*given, **more)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in ((remedy_verifier, "judge"), (remedy_verifier, "reprobe"), (predictions, "simulate")):
        count(owner, name)
    for name in ("status", "link_status", "names", "read_bytes", "open"):
        count(LabHost, name)
    court = verifier_for(facts, answers, matrix, rules, host)
    findings = make_report(facts, answers, matrix, 0.0, court).findings
    assert len([one for one in findings if not one.explained_by]) == 10
    assert all(one.remedies for one in findings)
    assert done.pop("reprobe") == 9  # candidates
    assert done <= Counter(judge=9, simulate=9, status=150, read_bytes=10, names=5)
