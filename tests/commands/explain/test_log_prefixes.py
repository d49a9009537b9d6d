"""A message is the same behind a launcher's prefix, in a log's JSON, in a box, and after a terminal broke it."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.commands.explain.dump import Told, tell
from doctor.messages.causes import Cause, causes_of
from doctor.messages.log_prefixes import unwrapped
from doctor.messages.reading import read
from tests.commands.explain.messages import MESSAGES
from tests.commands.explain.wrappers import WRAPPERS

MATRIX = Matrix()
DUMPS = sorted((Path(__file__).parent / "dumps").glob("*.txt"))
# One message that goes over lines, and whose card and build decide.
TOO_NEW = (
    "torch 2.5.1+cu124\n"
    "UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch\n"
    "installation.\n"
    "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90."
)
TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."
_STEP = 5  # of the messages of one line, those that a wrapper is tried with
_CUT_SHORT = {"box", "exception group", "repr", "progress behind it"}  # of dumps: long and empty lines, tables, the end


def causes(text: str) -> tuple[Cause, ...]:
    return causes_of(read(io.BytesIO(text.encode())), MATRIX)


@cache
def plain(text: str) -> str:
    return causes(text)[0].code


@pytest.mark.no_cover  # the messages that tests/commands/explain/test_messages.py reads, again
@pytest.mark.parametrize("name", WRAPPERS)
def test_what_is_wrapped_has_the_same_cause(name: str) -> None:
    turn = list(WRAPPERS).index(name) % _STEP
    chosen = [text for at, (text, _) in enumerate(MESSAGES) if "\n" in text or at % _STEP == turn]
    other = [(text, causes(WRAPPERS[name](text))) for text in (TOO_NEW, *chosen)]
    assert [(text, found[:1]) for text, found in other if not found or found[0].code != plain(text)] == []


@pytest.mark.no_cover
@pytest.mark.parametrize("name", [name for name in WRAPPERS if name not in _CUT_SHORT])
def test_a_dump_that_is_wrapped_is_the_same_dump(name: str) -> None:
    for path in DUMPS:
        text = path.read_text(encoding="utf-8").rstrip("\n")
        assert _told(WRAPPERS[name](text)) == _told(text), path.stem


def _told(text: str) -> set[tuple[object, str]]:
    told: Told = tell(read(io.BytesIO(text.encode())))
    return {(one.field, one.value) for one in told.said}


def test_the_line_is_that_of_the_file() -> None:
    text = json.dumps({"message": f"starts\n\n{TOO_OLD}"})
    assert [one.line for one in causes(f"a\nb\n{text}\n")[0].matched] == [3]
    assert causes(text)[0].matched[0].text == TOO_OLD


def test_a_long_line_of_json_is_read_to_its_end() -> None:
    """In a large log, too, of which a line is cut."""
    frames = "".join(f'  File "/app/a{number}.py", line {number}, in call\n    step()\n' for number in range(150))
    said = json.dumps({"level": "error", "msg": f"Traceback (most recent call last):\n{frames}{TOO_OLD}"})
    step = '{"level": "info", "msg": "step 1"}\n' * 20_000
    for text in (said, step + said + "\n" + step):
        assert causes(text)[0].code == "driver-too-old-for-runtime"


@pytest.mark.parametrize("width", [80, 100, 120, 132])
def test_lines_that_a_terminal_broke_within_a_word_go_on(width: int) -> None:
    said = "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain, " + "x" * 400
    for before in range(0, width, 19):
        text = "." * before + said
        broken = "\n".join(text[at : at + width] for at in range(0, len(text), width))
        assert causes(broken)[0].code == "driver-too-old-for-runtime", before


def test_lines_that_were_broken_between_words_keep_their_blank() -> None:
    """The longest happens to fill the terminal."""
    said = "RuntimeError: CUDA error: the provided PTX was"
    assert causes("." * (80 - len(said)) + said + "\ncompiled with an unsupported toolchain")


@pytest.mark.parametrize(
    "text",
    [
        *("[0] NCCL INFO", "(a) b", "a | b", "2026-01-02 ok", "| 0  Tesla T4 |", "[rank0] a", "a[0][1] = b[2m]"),
        *('"C:\\torch\\lib\\fbgemm.dll"', "C:\\new\\users\\u001\\x", "vector<int> x", "<pip>", 'a = {"b": 1}'),
        *("std::error: x", "12 packages: a", 'file "x.log": not there', "rate(x[5m])"),
    ],
)
def test_what_is_no_wrapper_stays(text: str) -> None:
    assert unwrapped(text).texts == (text,)


def test_entities_of_a_web_page_are_letters() -> None:
    assert causes("could not select device driver &quot;&quot; with capabilities: [[gpu]].")


@pytest.mark.parametrize(
    "wrapped",
    ["{}", '{{"msg": "{}"}}', '{{"msg": "\\u001b]0;t\\u0007\\u202e{}\\u009b\\r"}}', 'level=error msg="\\e[2J{}"'],
)
def test_what_was_escaped_does_not_steer_the_terminal(wrapped: str) -> None:
    text = wrapped.format("Could not load dynamic library 'libcublas.so&#x202e;&#27;&#x9b;.11'; dlerror: no")
    told = causes(text)[0]
    assert "libcublas.so&#x202e;&#27;&#x9b;.11" in told.summary
    assert not set(f"{told.summary}{told.matched}") & set("\x1b\x07\x9b\u202e\r\n")


@pytest.mark.parametrize(
    "piece", ['{"msg":', '{"msg":"\\', "a=", "> ", "[1,0]<stderr>:", '"\\n",', "\\u00", "[0m", "<br>"]
)
def test_many_wrappers_cost_no_more(piece: str) -> None:
    assert len(unwrapped(piece * (40_000 // len(piece))).texts) <= 40_000
