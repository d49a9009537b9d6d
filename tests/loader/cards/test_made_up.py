"""A framework that does not exist, added by one card and one data file: all works on it, nothing else is edited."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.base.errors import DataError
from compat.can import can
from compat.cards import gpu_card_of
from compat.load import DATA
from compat.matrix import Matrix
from compat.spec import parse_spec
from compat.target import TargetMachine
from doctor.host.root import RootHost
from doctor.loader import cards as frameworks
from doctor.model.finding import Status
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import judge, load_rules
from tests.commands.which.test_which import SITE, image, write
from tests.examples import example
from tests.lab.cudnn_tree import wheel_of
from tests.lab.elf_file import elf_bytes


@pytest.fixture
def matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Matrix]:
    """The two files in folders of their own: a card beside the shipped ones, a product beside the shipped ones."""
    cards, data = tmp_path / "cards", tmp_path / "data"
    cards.mkdir()
    (cards / "zeta.py").write_text(example("doctor/loader/cards/zeta.py"))
    monkeypatch.setattr(frameworks, "__path__", [*frameworks.__path__, str(cards)])
    importlib.invalidate_caches()
    data.mkdir()
    for file in Path(DATA).glob("*.json"):
        (data / file.name).symlink_to(file)
    (data / "zeta.json").write_text(example("compat/data/zeta.json"))
    yield Matrix(str(data))
    sys.modules.pop("doctor.loader.cards.zeta", None)


def machine(root: Path, *, wheel: bool) -> Path:
    """An image with zeta, and cuDNN's wheel where its library finds it."""
    image(root, wheel=False)
    write(root / "bin/sh", elf_bytes(needed=("libc.so.6",)))
    site = root / SITE
    requires = "Requires-Dist: nvidia-cudnn-cu12>=9\n"
    write(site / "zeta-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: zeta\nVersion: 1.0\n{requires}")
    write(site / "zeta/libzeta.so", elf_bytes("libzeta.so", runpath="$ORIGIN/../nvidia/cudnn/lib"))
    if wheel:
        wheel_of(site)
    return root


def test_detection_and_the_rules_of_cudnn(tmp_path: Path, matrix: Matrix) -> None:
    kinds = []
    for wheel in (True, False):
        root = machine(tmp_path / str(wheel), wheel=wheel)
        facts = look(RootHost(str(root)), ProbeRequest((), deep=False))
        (environment,) = facts.environments.get()
        assert "zeta 1.0" in {one.label for one in environment.frameworks.get()}
        answers = judge(facts, matrix, load_rules(["cudnn-missing", "cudnn-wrong-major"]))
        kinds.append({one.code: one.kind for one in answers if one.subject.startswith("zeta")})
    assert kinds[0] == {"cudnn-missing": Status.OK, "cudnn-wrong-major": Status.OK}
    assert kinds[1]["cudnn-missing"] is Status.BAD


@pytest.mark.parametrize(("gpu", "verdict"), [("RTX 4090", "yes"), ("GTX 1080 Ti", "no")])
def test_can(matrix: Matrix, gpu: str, verdict: str) -> None:
    card = gpu_card_of(gpu, matrix)
    reply = can((parse_spec("zeta==1.0"),), (card,), TargetMachine(), matrix)
    assert reply.verdict == verdict


@pytest.mark.parametrize(
    "card",
    [
        "",
        "CARD = None",
        "from doctor.loader.cards import Card\nCARD = Card((), module='zeta')",
        "from doctor.loader.cards import Card\nCARD = Card(('zeta',))",
    ],
)
def test_a_card_without_its_constant_or_with_an_empty_one_is_an_error(
    tmp_path: Path, matrix: Matrix, card: str
) -> None:
    (tmp_path / "cards" / "zeta.py").write_text(card)
    importlib.invalidate_caches()
    with pytest.raises(DataError, match=r"must define CARD|a card names"):
        frameworks.card_of("zeta")
