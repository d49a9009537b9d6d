"""variable-leads-astray: what variables name, and values that CUDA knows."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.check.finding import Kind
from doctor.facts.environment import NamedFile, Variable
from tests.machine import configuration, gpu, machine, seen, unseen
from tests.rules.case import answer

CODE = "variable-leads-astray"


def with_variable(name: str, value: str, *named: NamedFile, **changes: Any) -> Any:
    said = configuration(variables=seen((Variable(name, value, ""),)), named=seen(named))
    return machine(configuration=said, **changes)


def preload(problem: str = "", left: str = "") -> Any:
    return with_variable("LD_PRELOAD", "/opt/x.so", NamedFile("LD_PRELOAD", "/opt/x.so", problem, left))


TWO = seen((gpu(), gpu(number=1)))
ORDER, ARCHES = "CUDA_DEVICE_ORDER", "TORCH_CUDA_ARCH_LIST"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (preload(), Kind.OK),
        (preload("is not there"), Kind.BAD),
        (with_variable("LD_PRELOAD", "libx.so"), Kind.NOT_APPLICABLE),
        (with_variable("LD_PRELOAD", " "), Kind.NOT_APPLICABLE),
        (machine(configuration=preload().configuration._replace(named=unseen())), Kind.UNKNOWN),
        (machine(configuration=configuration(variables=unseen())), Kind.UNKNOWN),
        (with_variable(ORDER, "PCI_BUS_ID", gpus=TWO), Kind.OK),
        (with_variable(ORDER, "PCI_BUS", gpus=TWO), Kind.BAD),
        (with_variable(ORDER, "PCI_BUS"), Kind.OK),  # one card
        (with_variable("CUDA_MODULE_LOADING", "LAZY"), Kind.OK),
        (with_variable("CUDA_MODULE_LOADING", "ON_DEMAND"), Kind.BAD),
        (with_variable(ARCHES, "8.0;8.6"), Kind.OK),  # code for 8.6 runs on 8.9
        (with_variable(ARCHES, "7.5 8.0+PTX"), Kind.OK),
        (with_variable(ARCHES, "9.0"), Kind.BAD),
        (with_variable(ARCHES, "7.5"), Kind.BAD),
        (with_variable(ARCHES, "Ampere"), Kind.NOT_APPLICABLE),
        (with_variable(ARCHES, "9.0", gpus=seen(())), Kind.NOT_APPLICABLE),
        (with_variable(ARCHES, "9.0", gpus=unseen()), Kind.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Kind) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (preload("is not there"), ""),
        (preload("is not there", "/opt/y.so"), "=/opt/y.so"),
        (with_variable(ORDER, "PCI_BUS", gpus=TWO), "=PCI_BUS_ID"),
        (with_variable("CUDA_MODULE_LOADING", "ON_DEMAND"), ""),
    ],
)
def test_what_is_left_of_it(facts: Any, wanted: str) -> None:
    found = answer(CODE, facts)
    assert [one.spec for one in found.needs] == [wanted]
