"""cudnn-for-other-cuda: by the package that owns the copy which is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import PutOnPath, as_json
from doctor.model.facts.loader import FoundBy, Outcome, Way
from doctor.model.finding import Status
from tests.machine import cudnn_copy, environment, framework, loader, machine, prediction, seen, unseen
from tests.rules.case import answer

CODE = "cudnn-for-other-cuda"
STRAY = Way(FoundBy.LIBRARY_PATH, "libtorch_cuda.so", "/opt/x", "/opt/x")


def owned(cuda: Any, **changes: Any) -> Any:
    return machine(cudnn=seen((cudnn_copy(cuda_major=cuda),)), **changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (owned(seen(13)), Status.BAD),
        (owned(seen(11)), Status.BAD),
        (owned(unseen("no package owns it")), Status.UNKNOWN),
        (
            owned(
                seen(13), loader=loader(predictions=seen((prediction(way=STRAY)._replace(intended=seen("/other")),)))
            ),
            Status.NOT_APPLICABLE,
        ),
        (
            owned(
                seen(13),
                loader=loader(predictions=seen((prediction(outcome=Outcome.MISSING)._replace(path=unseen()),))),
            ),
            Status.NOT_APPLICABLE,
        ),
        (owned(seen(13), environments=seen((environment(framework(build=seen("cpu"))),))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_wheel_that_the_framework_asks_for() -> None:
    found = answer(CODE, owned(seen(13)))
    assert [as_json(one).product for one in found.needs] == ["nvidia-cudnn-cu12"]
    assert "CUDA 13" in found.why


def test_on_windows_path_is_no_stray_variable() -> None:
    """Every copy of cuDNN is found by it there; a right one that lies beside comes first."""
    way = Way(FoundBy.PATH, "provider.dll", "C:/cudnn/bin/11.8", "C:/cudnn/bin/11.8")
    led = prediction(way=way)._replace(intended=seen("C:/cudnn/bin/12.9/cudnn64_9.dll"))
    right = cudnn_copy(path="C:/cudnn/bin/12.9", origin="windows", cuda_major=seen(12), parts=seen(()))
    copies = seen((cudnn_copy(cuda_major=seen(11)), right))
    found = answer(CODE, machine(cudnn=copies, loader=loader(predictions=seen((led,)))))
    assert found.kind is Status.BAD
    assert found.needs[0] == PutOnPath(("C:/cudnn/bin/12.9",))
