"""Each entry of the list of wrong answers that explain once gave is a case: the number stands after its causes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.commands.explain.dump import all_dumps
from doctor.output.document import TextStyle
from tests.commands.explain.test_dumps import document

HERE = Path(__file__).parent
_ELSEWHERE = {13, 15, 16}  # the formats and the words below; a place in brackets in test_messages.py
_FORMATS = {
    *("sglang.check_env", "python -m bitsandbytes", "detectron2.utils.collect_env", "ComfyUI's log", "Ollama's log"),
    *("package list", "collect_env", "numba -s", "xformers.info"),
}


def test_each_entry_has_a_case() -> None:
    marks = re.findall(r"^== .*\| .*?\b7\.(\d+)$", (HERE / "stumbles.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(number) for number in marks} == set(range(1, 18)) - _ELSEWHERE


def test_each_format_of_the_list_is_read() -> None:
    assert {one.title for one in all_dumps().values()} >= _FORMATS


@pytest.mark.parametrize("text", ["ncclSystemError: System call failed", "cuDNN error: CUDNN_STATUS_BAD_PARAM"])
def test_a_cause_that_is_not_sure_does_not_say_that_nothing_is_to_be_installed(text: str) -> None:
    shown = document(text)
    assert shown.plain()["causes"][0]["confidence"] < 0.8
    assert "do not need to reinstall" not in shown.text(TextStyle())
