"""A message is the same message behind a launcher's prefix, and after a terminal broke its lines."""

from __future__ import annotations

import io
import re

import pytest

from compat.matrix import Matrix
from doctor.explain.causes import Cause, causes_of
from doctor.explain.reading import Line, read
from doctor.explain.unwrapped import readings

MATRIX = Matrix()
# One message that goes over lines, and whose card and build decide.
TOO_NEW = (
    "torch 2.5.1+cu124\n"
    "UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch\n"
    "installation.\n"
    "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90."
)
PREFIXES = (
    "[rank0]: ",
    "[default3]:",
    "[1,0]<stderr>:",
    "(EngineCore pid=1) ",
    "(EngineCore_DP0 pid=41819) ERROR 12-08 20:46:48 [v1/engine/core.py:708] ",
    "\x1b[36m(RayWorker pid=1, ip=10.0.0.1)\x1b[0m ",
    "trainer-1  | ",
    "face_1             | [rank1]: ",
    "2026-01-02T03:04:05.123456789Z ",
    "2026-01-02T03:04:05.123456789Z stderr F ",
    "Nov 23 11:50:56 host python[1234]: ",
    "2025-11-01 12:00:00.123 | ERROR    | ",
    "> ",
)


def causes(text: str) -> tuple[Cause, ...]:
    return causes_of(read(io.BytesIO(text.encode())), MATRIX)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_on_every_line_is_passed_over(prefix: str) -> None:
    told = causes("\n".join(prefix + line for line in TOO_NEW.split("\n")))[0]
    assert told.code == "gpu-too-new-for-cuda"
    assert [one.line for one in told.matched] == [2]
    assert told.matched[0].text.startswith(re.sub(r"\x1b\[\d+m", "", prefix).strip())


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


def test_what_is_no_prefix_stays() -> None:
    for text in ("[0] NCCL INFO", "(a) b", "a | b", "2026-01-02 ok", "| 0  Tesla T4 |", "[rank0] a"):
        assert readings((Line(1, text),)) == ((f"{text}\n",),)


def test_entities_of_a_web_page_are_letters() -> None:
    assert causes("could not select device driver &quot;&quot; with capabilities: [[gpu]].")


def test_an_entity_does_not_steer_the_terminal() -> None:
    told = causes("Could not load dynamic library 'libcublas.so&#x202e;&#27;&#x9b;.11'; dlerror: no")[0]
    assert "libcublas.so&#x202e;&#27;&#x9b;.11" in told.summary
