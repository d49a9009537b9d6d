"""cudnn-for-other-cuda: by the package that owns the copy which is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.check.finding import Kind
from doctor.facts.loader import FoundBy, Outcome, Way
from tests.machine import cudnn_copy, environment, framework, loader, machine, prediction, seen, unseen
from tests.rules.case import answer

CODE = "cudnn-for-other-cuda"
STRAY = Way(FoundBy.LIBRARY_PATH, "libtorch_cuda.so", "/opt/x", "/opt/x")


def owned(cuda: Any, **changes: Any) -> Any:
    return machine(cudnn=seen((cudnn_copy(cuda_major=cuda),)), **changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Kind.OK),
        (owned(seen(13)), Kind.BAD),
        (owned(seen(11)), Kind.BAD),
        (owned(unseen("no package owns it")), Kind.UNKNOWN),
        (
            owned(
                seen(13), loader=loader(predictions=seen((prediction(way=STRAY)._replace(intended=seen("/other")),)))
            ),
            Kind.NOT_APPLICABLE,
        ),
        (
            owned(
                seen(13),
                loader=loader(predictions=seen((prediction(outcome=Outcome.MISSING)._replace(path=unseen()),))),
            ),
            Kind.NOT_APPLICABLE,
        ),
        (owned(seen(13), environments=seen((environment(framework(build=seen("cpu"))),))), Kind.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Any, kind: Kind) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_wheel_that_the_framework_asks_for() -> None:
    found = answer(CODE, owned(seen(13)))
    assert [one.product for one in found.needs] == ["nvidia-cudnn-cu12"]
    assert "CUDA 13" in found.why
