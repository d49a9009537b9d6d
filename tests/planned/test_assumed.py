"""GPUs that a person assumes: the names that `matrix` reads, and what is near a name that it does not."""

from __future__ import annotations

import pytest

from compat.base.choice import NoSuchName
from compat.matrix import Matrix
from compat.version import ComputeCapability
from doctor.host import BadRequest
from doctor.model.facts.seen import Unseen, value_or
from doctor.planned.assumed import with_assumed
from tests.machine import driver, machine, unseen

MATRIX = Matrix()
NO_DRIVER = machine(driver=driver()._replace(release=unseen("none")))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("4090",), ["NVIDIA GeForce RTX 4090"]),
        (("rtx4090",), ["NVIDIA GeForce RTX 4090"]),
        (("8xH100",), ["NVIDIA H100 80GB HBM3"]),
        (("h100, 4090",), ["NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090"]),
        (("h100", "4090"), ["NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090"]),
    ],
)
def test_names_as_people_write_them(names: tuple[str, ...], expected: list[str]) -> None:
    cards = with_assumed(NO_DRIVER, MATRIX, "", names).gpus.get()
    assert [value_or(card.name, "") for card in cards] == expected
    assert [card.number for card in cards] == [*range(len(expected))]


def test_a_compute_capability_has_no_name() -> None:
    (card,) = with_assumed(NO_DRIVER, MATRIX, "", ("sm_89",)).gpus.get()
    assert card.capability.get() == ComputeCapability(8, 9)
    assert isinstance(card.name, Unseen)


@pytest.mark.parametrize(
    ("name", "said"), [("RTX4909", "did you mean RTX 4090"), ("geforce rtx 4009", "RTX 4090"), ("0", "none of the")]
)
def test_a_name_that_no_card_has(name: str, said: str) -> None:
    with pytest.raises(NoSuchName, match=said):
        with_assumed(NO_DRIVER, MATRIX, "", (name,))


def test_a_card_of_another_maker() -> None:
    with pytest.raises(BadRequest, match="is not an NVIDIA GPU"):
        with_assumed(NO_DRIVER, MATRIX, "", ("Radeon RX 7900",))
