"""What is said where there is no copy of cuDNN to try."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.commands.verify.static_findings import answers_around
from doctor.commands.verify.subject import Chosen, Known
from doctor.host.live import LiveHost
from doctor.model.facts import Facts
from doctor.model.finding import Answer, Status
from tests.machine import environment, framework, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import MATRIX

CPU = framework("torch", "2.9.1+cpu", build=seen("cpu"), cuda=unseen("a CPU build"))
NO_GPU: dict[str, Any] = {"gpus": seen(()), "pci": seen(())}


def said(facts: Facts) -> list[Answer]:
    known = Known(LiveHost({}), facts._replace(cudnn=seen(())), MATRIX)
    return [*answers_around(Chosen((), (), ()), known, "conv", (), ())]


@pytest.mark.parametrize(
    ("facts", "code", "kind", "products"),
    [
        (machine(environments=seen(())), "cudnn-missing", Status.BAD, ["cudnn"]),
        (
            machine(environments=seen((environment(),))),
            "cudnn-missing",
            Status.BAD,
            ["nvidia-cudnn-cu12", "cudnn"],  # of the toolkit's CUDA
        ),
        (
            machine(environments=seen((environment(),)), toolkit=toolkits(toolkit("13.0.1"))),
            "cudnn-missing",
            Status.BAD,
            ["nvidia-cudnn-cu13", "cudnn"],
        ),
        (machine(environments=seen((environment(CPU),))), "cpu-only-wheel", Status.BAD, ["torch"]),
        (machine(environments=seen((environment(CPU),)), **NO_GPU), "cudnn-missing", Status.UNKNOWN, []),
    ],
    ids=["no environment", "nothing in it", "CUDA 13", "a CPU build beside a GPU", "a CPU build, and no GPU"],
)
def test_no_copy_at_all(facts: Facts, code: str, kind: Status, products: list[str]) -> None:
    (answer,) = said(facts)
    assert (answer.code, answer.kind) == (code, kind)
    assert list(dict.fromkeys(as_json(one).product for one in answer.needs)) == products
