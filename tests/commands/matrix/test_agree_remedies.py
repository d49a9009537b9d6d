"""`check`, `matrix can` and `matrix solve` are asked of one machine: remedies install what both say works there."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from compat.build import is_cuda_row
from compat.cards import gpu_cards_of
from compat.matrix import Matrix
from compat.row import FrameworkRow
from compat.spec import Spec, parse_spec
from compat.specifier import first_release
from compat.version import DriverRelease
from doctor.diagnose import Observation, diagnose
from doctor.model.facts import Facts
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.model.finding import Remedy, Status
from doctor.planned.planned import planned
from doctor.rules.shared.engine import load_rules
from installers.effect import DistributionsInstalled, DriverInstalled
from tests import machine
from tests.commands.matrix.test_agree import MATRIX, NAMES, PYTHONS, SEEDS, UNKNOWN, YES, answer_of

GROUPS = (  # a driver, and cards that it drives
    ("470.82.01", "Tesla K80", "GTX 980", "GTX 1080 Ti", "T4", "A100"),
    ("535.183.01", "GTX 1080 Ti", "V100", "GTX 1650", "A100", "RTX 4090", "H100"),
    ("550.54.14", "GTX 980", "V100", "T4", "RTX 3090", "H100", "GH200"),
    ("580.95.05", "GTX 1080 Ti", "V100", "T4", "RTX 4090", "GH200", "RTX 5090", "RTX PRO 6000", "B300", "GB10"),
)
SYSTEMS = (("linux", "x86_64"), ("linux", "x86_64"), ("linux", "aarch64"), ("windows", "x86_64"))
Question = tuple[str, ...]


@pytest.fixture(autouse=True)
def one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all questions: the tables are read once."""
    monkeypatch.setattr(Matrix, "of_user", lambda: MATRIX)


OLD_TRITON = pytest.mark.xfail(
    reason="for Python 3.8, Triton 3.1.0 is offered on a GB10; whether it has code for that is unknown", strict=True
)


@pytest.mark.parametrize(
    ("seed", "many"),
    [
        (7, 30),
        *(pytest.param(seed, 100, marks=[pytest.mark.slow, *([OLD_TRITON] if seed == 4 else [])]) for seed in SEEDS),
    ],
)
def test_what_a_remedy_installs_works(seed: int, many: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = {str(spec): list(_refuted(str(spec), facts, where, capsys)) for spec, facts, where in _drawn(seed, many)}
    assert {question: what for question, what in found.items() if what} == {}


def _drawn(seed: int, many: int) -> Iterator[tuple[Spec, Facts, Question]]:
    """Machines that hold one build, whose card, driver, Python and platform were drawn beside it."""
    draw = random.Random(seed)
    names = [name for name in NAMES if any(map(is_cuda_row, MATRIX.rows(name, "builds")))]
    named = [(name, [card for one in cards for card in gpu_cards_of((one,), MATRIX)]) for name, *cards in GROUPS]
    for _ in range(many):
        spec = _spec(draw.choice(MATRIX.rows(draw.choice(names), "builds")))
        driver, cards = draw.choice(named)
        card, python = draw.choice(cards), draw.choice(PYTHONS)
        family, arch = draw.choice(SYSTEMS)
        facts = machine.machine(
            system=machine.system(family=machine.seen(family), machine=machine.seen(arch)),
            driver=machine.driver(driver, str(MATRIX.branch(DriverRelease.parse(driver)).cuda_max)),
            gpus=machine.seen((machine.gpu(card.name, str(card.capabilities[0])),)),
            toolkit=ToolkitFacts(machine.seen(()), machine.seen(())),
            environments=machine.seen((machine.environment(python=machine.seen(f"{python}.1")),)),
        )
        where = ("--gpu", card.name, "--python", python, "--os", family, "--arch", arch, "--driver", driver)
        yield spec, planned(facts, (spec,), MATRIX), where


def _spec(row: FrameworkRow) -> Spec:
    return Spec(row.package, f"=={first_release(row.versions)}", row.build if row.build.startswith("cu") else "", ())


def _refuted(spec: str, facts: Facts, where: Question, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    """What proven remedies install there though the matrix says no, or "unknown" where nothing is in doubt before.

    In doubt is what `check` is, and what the matrix is of the release that is there, whatever its Python.
    """
    at = where.index("--python")
    is_unsure = answer_of("can", (spec, *where[:at], *where[at + 2 :]), capsys)[0] == UNKNOWN
    report = diagnose(Observation(facts), MATRIX, load_rules(), time.perf_counter())
    open_ones = {one.subject for one in report.answers if one.kind is Status.UNKNOWN}
    for finding in report.findings:
        admitted = {YES, UNKNOWN} if is_unsure or finding.subject in open_ones else {YES}
        for remedy in filter(lambda one: one.proven, finding.remedies):
            for asked in _questions(remedy, where):
                said = {command: answer_of(command, asked, capsys)[0] for command in ("can", "solve")}
                if not set(said.values()) <= admitted:
                    yield f"{' '.join(where)}: {finding.code} installs {asked[0]}: {said}"


def _questions(remedy: Remedy, where: Question) -> Iterator[Question]:
    """Each framework that a remedy installs, as a question; after a new driver the driver is none of it."""
    effects = remedy.plan.effects or ()
    where = where[:-2] if any(isinstance(one, DriverInstalled) for one in effects) else where
    for effect in effects:
        if isinstance(effect, DistributionsInstalled):
            yield from ((one, *where) for one in effect.requirements if parse_spec(one).name in NAMES)
