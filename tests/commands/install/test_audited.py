"""150 plans beside what the vendors' instructions and public recipes say of them: audited.txt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.cli import execute

TEXT = Path(__file__).with_name("audited.txt").read_text().splitlines()
ROWS = [tuple(map(str.strip, line.split(" | "))) for line in TEXT if line and not line.startswith("#")]
SOURCES = {line[2:].partition(":")[0] for line in TEXT if line.startswith("# ") and ": " in line}


def printed(order: str, capsys: pytest.CaptureFixture[str]) -> str:
    status = execute(["install", *order.split()])
    told = capsys.readouterr()
    return f"refused: {told.err}" if status == 2 else re.sub(r"\n(?=To undo it by hand)[\s\S]*", "", told.out)


def faults(order: str, said: str, text: str) -> list[str]:
    """What a plan lacks, or says out of order; and with "!" what it must not say."""
    wanted, _, wrong = said.partition(" ; ")
    at, found = 0, [f"!{one}" for one in re.findall(r"!([^;]+?)(?=$| ;)", wrong) if one.strip() in text]
    flat = re.sub(r"\s+", " ", text)
    if wanted.startswith("refused: ") or text.startswith("refused: "):
        is_so = wanted.startswith("refused: ") and text.startswith("refused: ") and wanted[9:] in flat
        return found if is_so else [f"!{text[:200]}"]
    for one in wanted.split(" > "):
        place = flat.find(one, at)
        if place < 0:
            found.append(one)
        else:
            at = place + len(one)
    return found


@pytest.mark.parametrize(("order", "said", "source"), ROWS, ids=[one[0] for one in ROWS])
def test_a_plan_is_what_its_vendor_says(order: str, said: str, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert faults(order, said, printed(order, capsys)) == []
    assert {*source.split(", ")} <= SOURCES


def test_there_are_enough_of_them() -> None:
    assert len({order for order, *_ in ROWS}) >= 150
