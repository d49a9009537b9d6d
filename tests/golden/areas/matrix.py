"""Questions to the matrix: those of tests/commands/matrix, and others that the rows give."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.commands.matrix.forum_questions import FORUM_QUESTIONS
from tests.commands.matrix.test_agree import CARDS, DRIVERS, PYTHONS
from tests.commands.matrix.test_questions import QUESTIONS
from tests.golden.area import Area, Outputs
from tests.golden.areas import number_of
from tests.golden.product import rows, run

SYSTEMS = ("linux", "linux", "linux", "windows", "wsl", "macos")
BESIDE = ("torch", "tensorflow", "jax", "onnxruntime-gpu", "cupy", "vllm", "xformers", "bitsandbytes", "numba", "keras")
FORMATS = ("text", "json", "markdown", "csv")
JOBS = 60


@cache
def _questions() -> dict[str, list[str]]:
    """By job, the words after `gpudoctor matrix`."""
    found: dict[str, list[str]] = {}
    for question in dict.fromkeys(_asked()):
        found.setdefault(f"{number_of(question) % JOBS:02}", []).append(question)
    return found


def _asked() -> Iterator[str]:
    for ask in (*(one.ask for one in QUESTIONS), *(one.ask for one in FORUM_QUESTIONS)):
        yield f"can {ask}"
        if "--gpu" in ask and "cuda==" not in ask and "cudnn==" not in ask:
            yield f"solve {ask}"
    for product, row in rows():
        yield f"show {product}"
        versions = row.get("versions")
        exact = versions.removeprefix("==") if isinstance(versions, str) and versions.startswith("==") else ""
        number = number_of(f"{product} {row['id']}")
        if number % 25 == 0:
            yield shlex.join(("show", product, exact or str(row.get("name") or row["id"])))
        if "package" in row and exact and number % 12 == 1:
            yield f"can {row['package']}=={exact} {_machine(number // 12)}"
            yield f"solve {row['package']} {BESIDE[number // 12 % len(BESIDE)]} {_machine(number // 12)}"


def _machine(number: int) -> str:
    """Return options for a machine that a number decides."""
    chosen = []
    for option, values in (("gpu", CARDS), ("driver", DRIVERS), ("python", PYTHONS), ("os", SYSTEMS)):
        number, at = divmod(number, len(values) + 1)
        if at or option == "gpu":  # without --gpu and the like it would be about the machine of the tests
            chosen += [f"--{option}", values[at - 1]]
    return shlex.join(chosen)


def jobs() -> Sequence[str]:
    """Portions that the digests of the questions decide."""
    return sorted(_questions())


def outputs(job: str, folder: Path) -> Outputs:
    """The answer as text, then as JSON; of a whole product in each format."""
    found = {}
    for question in _questions()[job]:
        words = shlex.split(question)
        styles = FORMATS if words[0] == "show" and len(words) == 2 else FORMATS[:2]
        ran = [run("matrix", *words, "--format", style, folder=folder).text() for style in styles]
        found[question.replace("/", ":")] = "\n".join(ran)
    return found


AREA = Area(jobs, outputs, 60)
