"""The command as a user meets it: files, pipes, codes, large and hostile texts."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import shlex
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.explain.evidence import unpacked
from doctor.commands.explain.schema import explanation_schema
from doctor.messages import pages
from doctor.messages.causes import causes_of
from doctor.messages.reading import FEW_WORDS, WHOLE_BYTES, read
from doctor.model.schema import as_text
from tests.commands.explain.messages import MESSAGES

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "explanation.schema.json"
TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."


def explained(tmp_path: Path, text: str | bytes) -> dict[str, object]:
    log, told = tmp_path / "a.log", tmp_path / "told.json"
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    execute(["explain", str(log), "--format", "json", "--output", str(told)])
    document: dict[str, object] = json.loads(told.read_text(encoding="utf-8"))
    jsonschema.validate(document, explanation_schema())
    return document


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [
        (TOO_OLD, 1, "stack-fault"),
        ("RuntimeError: CUDA error: device-side assert triggered", 0, "not-a-stack-fault"),
        ("nothing of note", 4, "unknown"),
    ],
)
def test_verdict_and_status(tmp_path: Path, text: str, status: int, verdict: str) -> None:
    log = tmp_path / "a.log"
    log.write_text(text)
    assert execute(["explain", str(log)]) == status
    assert explained(tmp_path, text)["verdict"] == verdict


def test_text_names_the_line_and_what_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"epoch 1\n{TOO_OLD}\n")
    execute(["explain", str(log)])
    out = capsys.readouterr().out
    assert "line 2: RuntimeError: The NVIDIA driver" in out
    assert "Fix: Install a newer driver" in out
    assert "gpudoctor explain driver-too-old-for-runtime" in out


def test_the_program_is_told_from_the_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text("torch.cuda.OutOfMemoryError: CUDA out of memory.")
    assert execute(["explain", str(log)]) == 0
    assert "do not need to reinstall" in capsys.readouterr().out


def test_a_pipe_is_read() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor", "explain"], input=TOO_OLD, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "CUDA up to 11.4" in done.stdout


@pytest.mark.parametrize("code", pages.codes())
def test_every_page_prints(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", code]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{code}\n")
    assert "**" not in out
    assert "](" not in out
    assert f"\n{pages.title(code)}.\n" in out


@pytest.mark.parametrize("words", [("driver-too-old-for-runtime",), ("--list",), ("--search", "libcudnn")])
def test_a_page_goes_to_the_file_that_is_named(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(("explain", *words)) == 0
    printed = capsys.readouterr().out
    assert execute(("explain", *words, "--output", str(tmp_path / "page"))) == 0
    assert (capsys.readouterr().out, (tmp_path / "page").read_text()) == ("", printed)


def test_pages_are_listed_and_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(pages.codes())
    assert execute(["explain", "--search", "Secure Boot"]) == 0
    assert "secure-boot-unsigned-module" in capsys.readouterr().out
    assert execute(["explain", "--search", "no such words anywhere"]) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [("cudnn-mising", "did you mean cudnn-missing"), ("/nowhere/a.log", "No such file"), ("/", "Is a directory")],
)
def test_what_is_neither_is_one_line(given: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", given]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_large_text_without_a_word_is_not_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("step done\n" * 20_000)
    assert execute(["explain", str(tmp_path / "log"), "--redact"]) == 4
    assert "step done" in capsys.readouterr().out


def test_an_empty_text_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(" \n\n")
    assert execute(["explain", str(tmp_path / "a.log")]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mRuntimeError:\x1b[0m The NVIDIA driver on your \x1b[1msystem\x1b[0m is too old (found version 11040)",
        "RuntimeError: The NVIDIA driver on your\r\nsystem is too old (found\r\n  version 11040)\r\n",
        "Zum Fehler:\n" + TOO_OLD + "\nBitte helfen Sie.",
        ("epoch 3: 10%\r" * 500) + TOO_OLD,
        "\ufeff" + TOO_OLD,
    ],
)
def test_however_it_was_pasted(tmp_path: Path, text: str) -> None:
    assert explained(tmp_path, text)["verdict"] == "stack-fault"


def test_what_powershell_wrote_is_read(tmp_path: Path) -> None:
    assert explained(tmp_path, TOO_OLD.encode("utf-16"))["verdict"] == "stack-fault"


def test_a_message_is_found_anywhere_in_a_large_log(tmp_path: Path) -> None:
    step = "".join(f"2026-01-01 12:00:{i % 60:02d} INFO step {i} loss 0.{i} took 1.2 s\n" for i in range(40_000))
    for log in (TOO_OLD + "\n" + step * 6, step * 6 + TOO_OLD, step * 3 + TOO_OLD + "\n" + step * 3):
        document = explained(tmp_path, log)
        assert document["verdict"] == "stack-fault", log[:40]
        line = log[: log.index(TOO_OLD)].count("\n") + 1
        assert document["causes"][0]["matched"][0]["line"] == line  # type: ignore[index]


def test_the_few_words_are_among_all() -> None:
    """The middle of a large log is searched for these alone."""
    errors = [text for text, _ in MESSAGES if "error" in text.lower()]
    assert all(any(word in text.lower().encode() for word in FEW_WORDS) for text in errors)


FILLER = "step 1 loss 0.5\n" * 100_000  # more than a chunk of the search


@pytest.mark.parametrize(
    "text",
    [
        "libcudnn.so.9: cannot open shared object file",
        "libnvrtc.so not found",
        "ptxas fatal   : Value 'sm_120' is not defined",
        "nouveau is in use",
    ],
)
def test_the_end_of_a_large_log_is_searched_with_all_words(text: str) -> None:
    """Not only with those few by which its middle is searched."""
    reading = read(io.BytesIO(f"{FILLER}{text}\n{FILLER}".encode()))
    assert text in {line.text for line in reading.lines}


def test_of_many_hits_the_last_are_kept() -> None:
    letters = str.maketrans("0123456789", "abcdefghij")  # lines that differ in digits only are kept a few times
    text = "".join(f"error of {number:06}".translate(letters) + "." * 80 + "\n" for number in range(3000))
    reading = read(io.BytesIO(f"{text}{TOO_OLD}\n".encode()))
    numbers = [line.number for line in reading.lines]
    assert numbers == list(range(numbers[0], 3002))
    assert 500 < numbers[0] < 2500
    assert reading.lines[-1].text == TOO_OLD or reading.lines[-2].text == TOO_OLD


HOSTILE = {
    "one line of a megabyte": b"x" * 500_000 + b"CUDA error: out of memory" + b"y" * 500_000,
    "blanks": b"CUDA" + b" " * 1_000_000 + b"error",
    "a message over and over": b"undefined symbol: " * 60_000,
    "names without end": (b"undefined symbol: " + b"a" * 3000 + b"\n") * 300,
    "a driver of no release": b"PyTorch version: 2.9.1+cu128\nCUDA used to build PyTorch: 12.8\nOS: Debian\n"
    b"Is CUDA available: False\nNvidia driver version: 470.299999999999999999999999999999902\n",
    "packages": b"onnxruntime-gpu=onnxruntime=" * 40_000,
    "no text": bytes(range(256)) * 4000,
    "every line is of interest": b"CUDA\n" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_costs_no_more_than_others(name: str) -> None:
    """Linear, and bounded in what is kept; a quadratic search of these takes minutes."""
    started = time.process_time()
    reading = read(io.BytesIO(HOSTILE[name]))
    causes_of(reading, Matrix())
    assert sum(len(line.text) for line in reading.lines) <= 2 * WHOLE_BYTES + 8192
    assert time.process_time() - started < 30


def test_nothing_steers_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text("\x1b]0;title\x07" + TOO_OLD.replace("driver on", "driver\u202e\x9b31m on") + "\x1b[2J\u0007")
    execute(["explain", str(log)])
    log.write_text("\x1b]0;t\x07CUDA error: no kernel image is available \u202efor\x07 execution on the device")
    execute(["explain", str(log)])
    assert not set(capsys.readouterr().out) & set("\x1b\x07\x9b\u202e")


def test_braces_in_a_name_are_a_name(tmp_path: Path) -> None:
    document = explained(tmp_path, "Could not load dynamic library 'libcublas.so{0}{x.y}'; dlerror: no")
    assert "libcublas.so{0}{x.y}" in document["causes"][0]["summary"]  # type: ignore[index]


@pytest.mark.no_cover  # a sweep over lines that others cover
def test_mutants_raise_nothing() -> None:
    """Each message cut, doubled, and with letters exchanged; 1,000 of them, by a seed."""
    rng = random.Random(17)
    for _ in range(1000):
        raw = bytearray(rng.choice(MESSAGES)[0].encode())
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(raw) + 1)
            raw[at : at + rng.randrange(4)] = rng.choice(
                (b"", b"\n", b"\xff", b"{x}", b"%s", b"9" * 30, b"\x1b[", b"(")
            )
        causes_of(read(io.BytesIO(bytes(raw))), Matrix())


def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == as_text(explanation_schema()), (
        "run: python -m doctor.commands.explain.schema > docs/explanation.schema.json"
    )


def test_a_text_to_post_names_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text("File /home/zoe/train.py\nToken hf_abcdefghijklmnopqrstuvwxyz ```\nValueError: what is this\n")
    assert execute(["explain", "--redact", str(log)]) == 4
    out = capsys.readouterr().out
    assert "### Last lines of output" in out
    assert "### Ruled out" in out
    assert "ValueError: what is this" in out
    assert "zoe" not in out
    assert "hf_abc" not in out
    assert out.count("```") == 2


def test_what_is_known_is_redacted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"/home/zoe/x.py: {TOO_OLD}\n")
    assert execute(["explain", "--redact", str(log)]) == 1
    out = capsys.readouterr().out
    assert "zoe" not in out
    assert "### Last lines of output" not in out


@pytest.mark.parametrize("repeats", [0, 40_000], ids=["short", "long"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "appended", "gzip", "xz", "bz2"])
def test_a_log_of_windows_or_packed(repeats: int, encoding: str) -> None:
    """The message stands at its end, however long it is."""
    said = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\r\n"
    text = "step 1 loss 0.5\r\n" * repeats + said
    packers: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
    if encoding in packers:
        raw = packers[encoding](text.encode())
    elif encoding == "appended":
        raw = text.removesuffix(said).encode() + said.encode("utf-16-le")
    else:
        raw = text.encode(encoding)
    reading = read(unpacked(io.BytesIO(raw)))
    assert [one.code for one in causes_of(reading, Matrix())] == ["driver-too-old-for-runtime"]
    assert repeats + 1 in {line.number for line in reading.lines if "found version" in line.text}


def test_other_letters_of_utf_16_stay() -> None:
    assert read(io.BytesIO("не найден\r\n".encode("utf-16"))).lines[0].text == "не найден"


@pytest.mark.parametrize("name", ["a report.zip", "a.tar", "a.tgz"])
def test_of_an_archive_it_says_who_reads_it(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    (tmp_path / "a.log").write_text(f"{TOO_OLD}\n")
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w") as packed:
            packed.write(tmp_path / "a.log", "a.log")
    else:
        with tarfile.open(path, "w:gz" if name.endswith("tgz") else "w") as archive:
            archive.add(tmp_path / "a.log", "a.log")
    assert execute(["explain", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"it is an archive: gpudoctor check --from {shlex.quote(str(path))} reads its files" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        f"TensorFlow version:{' ' * 4_000}x",
        f"TensorFlow version:{'** ' * 2_600}x",
        f"*** /etc/issue\nUbuntu{' ' * 8_000}\\x",
        f"torch version {'.' * 8_000}\x01",
        f"GPU 0 (CUDA order):{' ' * 8_000}x",
        "CUDA Version:" + "\t " * 20_000,
        "THCudaCheck FAIL" + "\n" * 40_000 + "x",
        "TensorFlow version: 2.15.0 " + "v" * 40_000,
    ],
    ids=lambda text: text[:16],
)
def test_no_text_holds_explain_up(tmp_path: Path, text: str) -> None:
    """The first one took hours."""
    started = time.thread_time()
    explained(tmp_path, text)
    assert time.thread_time() - started < 3


def test_the_last_line_of_a_log_is_read_although_every_line_has_a_word(tmp_path: Path) -> None:
    lines = "".join(
        f"{number} INFO the cuda error rate is {number % 7}, the gpu has memory\n" for number in range(200_000)
    )
    assert len(lines) > 9 << 20
    assert "driver-too-old-for-runtime" in str(explained(tmp_path, f"{lines}{TOO_OLD}\n")["causes"])
