"""Each message has its cause, each signature has a message, and what is known ahead of the text holds for all."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.commands.explain.command import explained
from doctor.commands.explain.document import STACK
from doctor.messages import pages
from doctor.messages.causes import Cause, causes_of
from doctor.messages.reading import WORDS, read
from doctor.messages.signature import families
from tests.commands.explain.held_out import NOT_THE_STACK
from tests.commands.explain.messages import FIXES, MESSAGES
from tests.commands.explain.prefilter import literals
from tests.commands.explain.score import samples
from tests.commands.explain.texts import texts

MATRIX = Matrix()
ROOT = Path(__file__).resolve().parents[3]


def causes(text: str) -> tuple[Cause, ...]:
    return causes_of(read(io.BytesIO(text.encode())), MATRIX)


@pytest.mark.parametrize(("text", "code"), MESSAGES, ids=[text[:40] for text, _ in MESSAGES])
def test_a_message_has_its_cause(text: str, code: str) -> None:
    assert causes(text)[0].code == code


SAMPLES = tuple(case for sample in samples().values() for case in sample)
INVENTORY = texts("inventory.txt")


@pytest.mark.parametrize(("text", "codes"), SAMPLES, ids=[one[0][:40] for one in SAMPLES])
def test_a_report_that_was_held_out(text: str, codes: tuple[str, ...]) -> None:
    document = explained(read(io.BytesIO(text.encode())), "the text's machine", MATRIX)
    if NOT_THE_STACK in codes and document.verdict != STACK:
        return
    assert document.plain()["causes"][0]["code"] in codes


def test_what_many_programs_print_has_its_cause() -> None:
    """The strings of their sources, many of them known by words that any program may use (in_any_words.py)."""
    told = {text: next(iter(causes(text)), None) for text, _ in INVENTORY}
    assert [(text, one) for text, codes in INVENTORY if (one := told[text]) is None or one.code not in codes] == []


@pytest.mark.parametrize("family", families())
def test_every_signature_has_a_message(family: str) -> None:
    known = [
        *(text for text, _ in MESSAGES),
        *(text for text, *_ in FIXES),
        *(text for text, _ in SAMPLES),
        *(text for text, _ in INVENTORY),
    ]
    for signature in families()[family].signatures:
        assert any(signature.compiled.search(text) for text in known), signature.pattern
        assert signature.means or signature.decide, signature.pattern
        assert signature.source, signature.pattern


def test_a_message_holds_the_words_by_which_its_pattern_is_looked_for() -> None:
    signatures = [(one, one.words) for family in families().values() for one in family.signatures]
    assert [one.pattern for one, words in signatures if not words] == []
    for text in (text.lower() for text, _ in (*MESSAGES, *SAMPLES, *INVENTORY)):
        passed = (one for one, words in signatures if not any(word in text for word in words))
        assert [one.pattern for one in passed if one.compiled.search(text)] == [], text


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("abc|def ghij", {"abc", "ghij"}),
        ("ab(?:cde|fghi)j?kl", {"cde", "fghi"}),
        ("a(?:bcdef)?ghi", {"ghi"}),
        (r"\bX{2}yz\.so[.\d]*", {"yz.so"}),
        ("(?!no)(?P<name>One) +or(?: two|)", {"one"}),
        (r"[^\n]{0,9}?abc", {"abc"}),
        (r"\d+|word", set()),
        ("(?:word|)", set()),
    ],
)
def test_words_of_a_pattern(pattern: str, words: set[str]) -> None:
    assert literals(pattern) == words


def test_every_message_is_found_in_a_large_log() -> None:
    """Its lines hold a word by which lines are picked."""
    known = (text for text, _ in (*MESSAGES, *INVENTORY))
    missed = [text for text in known if not any(word in text.lower().encode() for word in WORDS)]
    assert [text for text in missed if not text.startswith(("KeyError", "OSError: [WinError 193]"))] == []


def test_every_cause_has_a_page() -> None:
    named = {one.code for text, _ in MESSAGES for one in causes(text)}
    assert named <= set(pages.codes())
    for code in named:
        assert pages.mends(code), code


def test_every_code_that_a_text_can_show_has_a_message() -> None:
    table = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    seen = {
        code
        for code, who in re.findall(r"^\| \[?`([\w-]+)`\S* \| ([\w, ]+) \|", table, re.MULTILINE)
        if "explain" in who
    }
    aliases = {
        "host-compiler-unsupported": "gcc-too-new-for-nvcc",
        "ptx-newer-than-driver": "driver-too-old-for-runtime",
    }
    told = {one.code for text, _ in MESSAGES for one in causes(text)}
    assert {aliases.get(code, code) for code in seen} - told == set()


HARMLESS = (
    "2026-01-01 12:00:00 INFO connection from 10.0.0.1 accepted, 3 rows in 0.2 s",
    "make[2]: *** [CMakeFiles/app.dir/build.make:76: main.o] Error 1",
    "main.c:12:5: error: expected ';' before 'return'",
    "FATAL:  password authentication failed for user \"web\"",
    "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
    "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
    ("Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    "
    "print(1/0)\nZeroDivisionError: division by zero"),
    "E: Unable to locate package foo",
    "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"s\" is null",
    "error[E0382]: borrow of moved value: `x`",
    "kernel: usb 1-1: new high-speed USB device number 4 using xhci_hcd",
    "systemd[1]: Failed to start Apache HTTP Server.",
    "git: fatal: not a git repository (or any of the parent directories): .git",
    "The quick brown fox jumps over the lazy dog. Nothing failed, and nobody was unable to sleep.",
)  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS, ids=[text[:30] for text in HARMLESS])
def test_what_is_not_the_stack_is_not_blamed_on_it(text: str) -> None:
    assert [one for one in causes(text) if one.confidence > 0.3 or one.blames_stack] == []


@pytest.mark.parametrize(("text", "code", "does"), FIXES, ids=[text[:40] for text, *_ in FIXES])
def test_what_to_do_is_said_with_the_cause(text: str, code: str, does: str) -> None:
    first = causes(text)[0]
    assert (first.code, does in first.mends) == (code, True), first


@pytest.mark.parametrize(
    "shows",
    [
        "Driver Version: 565.57.01",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86",
        "Nvidia driver version: 550.54",
    ],
)
def test_a_text_that_names_a_running_driver_is_not_told_to_install_one(shows: str) -> None:
    failed = "CudaSupportError: Error at driver init:\nCUDA driver library cannot be found.\nEnsure that"
    assert "no-kernel-module" in {one.code for one in causes(failed)}
    assert not {"no-kernel-module", "windows-driver-missing"} & {one.code for one in causes(f"{shows}\n{failed}")}


@pytest.mark.parametrize(
    ("shows", "message", "refuted"),
    [
        ("|   0  NVIDIA GeForce RTX 3090        Off |", "NVRM: No NVIDIA GPU found.", "no-nvidia-gpu"),
        ("GPU 0: Tesla T4 (UUID: GPU-1)", "NVRM: No NVIDIA GPU found.", "no-nvidia-gpu"),
        ("ggml_cuda_init: found 1 CUDA devices:", "NVRM: No NVIDIA GPU found.", "no-nvidia-gpu"),
        ("CUDA available: True", "AssertionError: Torch not compiled with CUDA enabled", "cpu-only-wheel"),
    ],
)
def test_what_the_text_shows_refutes_a_cause(shows: str, message: str, refuted: str) -> None:
    assert refuted in {one.code for one in causes(message)}
    assert refuted not in {one.code for one in causes(f"log\n{shows}\n{message}")}


@pytest.mark.parametrize("place", ["[multiproc_executor.py:694]", "[model_runner.py:1]", "[mm.cc:12]"])
def test_the_name_of_a_file_in_brackets_is_no_colour(place: str) -> None:
    line = f"ERROR {place} CUDA error: no kernel image is available for execution on the device"
    assert place in causes(line)[0].matched[0].text
