"""How deep the calls go from the command line to the last read of a remedy that is proven."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from tests.golden.product import run
from tests.lab.cases import CASES

ROOMS = tuple(str(Path(__file__).parents[2] / room) for room in ("doctor", "compat", "installers"))
AT_MOST = 47  # frames of ours; it only shrinks

[MIXED] = [one for one in CASES if one.name == "mixed-on-disk"]


def test_the_deepest_stack_of_a_proven_remedy(tmp_path: Path) -> None:
    MIXED.build(tmp_path / "tree")
    depth = deepest = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        if event in {"call", "return"} and frame.f_code.co_filename.startswith(ROOMS):
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)

    sys.setprofile(count)
    try:
        said = run("check", folder=tmp_path, machine=MIXED).output
    finally:
        sys.setprofile(None)
    assert "cudnn-sublibrary-mixed" in said
    assert deepest <= AT_MOST
