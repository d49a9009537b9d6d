"""`matrix can`, `matrix solve` and `install` are asked the same question of one package: they never disagree.

`python -m pytest -m slow tests/commands/matrix/test_agree.py` draws five hundred questions; the seed stands in the
test's name. `install package` plans by the same solver: it is asked, too.
"""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from compat.build import whole_release
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.spec import parse_spec
from doctor.cli import execute
from doctor.commands.install.package_solve import NotSolved, solved
from doctor.commands.matrix.solve import SolveRequest, place_of
from doctor.rules.shared.products import known_product

MATRIX = Matrix()
CARDS = (
    *("Tesla K80", "GTX 980", "GTX 1080 Ti", "V100", "T4", "GTX 1650", "RTX 3090", "A100", "RTX 4090", "H100", "GH200"),
    *("RTX 5090", "RTX PRO 6000", "B200", "B300", "GB10", "Jetson Orin Nano", "Jetson AGX Thor"),
)
DRIVERS = (
    "450.80.02",
    "470.82.01",
    "525.60.13",
    "535.183.01",
    "550.54.14",
    "570.86.10",
    "575.57.08",
    "580.95.05",
    "590",
)
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = (
    *(("--os", "linux"),) * 4,
    *(("--os", "windows"),) * 2,
    ("--os", "wsl"),
    ("--os", "macos"),
    ("--os", "linux", "--arch", "aarch64"),
)
NAMES = tuple(sorted(name for name in products() if is_framework(name)))
YES, NO, UNKNOWN = 0, 1, 4
SEEDS = (1, 2, 3, 4, 5)

# Each was answered in two ways: the words of the question, and the one right answer.
ONE_ANSWER = (
    ("jax-cuda13-plugin==0.8.1 --gpu H100 --os windows", NO),  # jax-ml/jax:docs/installation.md: none for Windows
    ("vllm==0.33.0 --gpu 'RTX 4090' --os windows", NO),  # vllm-project/vllm:docs: Linux
    ("cudf-cu12 --gpu 'RTX 4090' --os windows", NO),  # docs.rapids.ai/install: WSL 2
    ("torch==1.0.0 --gpu GB10 --python 3.9", NO),  # pytorch/pytorch#134790: none with CUDA for ARM that early
    ("torch==2.9.1 --gpu 'Jetson Orin Nano'", UNKNOWN),  # what NVIDIA's index for JetPack 6 has of it is not recorded
    ("torch==2.7.1+cu128 --gpu 'RTX 5090' --os windows", YES),
    ("torch==2.14.1+cu126 --gpu GH200", UNKNOWN),  # a row of low confidence
    ("onnxruntime==1.32.0 --gpu 'RTX 5090'", NO),  # a build for the CPU
    ("tensorflow-cpu==1.15.0 --gpu B300", NO),  # who names it means it
    ("jaxlib==0.4.18 --gpu A100", YES),  # jax-ml/jax:docs/installation.md@jax-v0.4.17: CUDA inside, no plugin yet
    # TensorFlow 2.12 requires jax, which pip installs without its CUDA plugin: METADATA of tensorflow 2.12.1
    ("'tensorflow==2.12.*' --gpu A100 --driver 525.60.13", YES),
)


@pytest.fixture(autouse=True)
def one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all questions: the tables are read once."""
    monkeypatch.setattr(Matrix, "of_user", lambda: MATRIX)


@pytest.mark.parametrize(("ask", "right"), ONE_ANSWER)
@pytest.mark.parametrize("command", ["can", "solve"])
def test_one_question_has_oneanswer_of(command: str, ask: str, right: int) -> None:
    assert execute(["matrix", command, *shlex.split(ask)]) == right


def test_what_is_refused_is_told_why(capsys: pytest.CaptureFixture[str]) -> None:
    execute(["matrix", "solve", "vllm==0.33.0", "--gpu", "RTX 4090", "--os", "windows"])
    assert "vLLM has no wheels for native Windows; use WSL 2" in " ".join(capsys.readouterr().out.split())
    execute(["matrix", "solve", "onnxruntime==1.32.0", "--gpu", "RTX 5090"])
    assert "is a CPU build" in " ".join(capsys.readouterr().out.split())


def test_a_package_is_asked_for_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """pip refuses two releases of one package; what both admit is the answer."""
    assert execute(["matrix", "solve", "torch==2.9.1", "torch==2.8.0", "--gpu", "RTX 4090"]) == NO
    capsys.readouterr()
    assert execute(["matrix", "solve", "torch>=2.8", "torch<2.10", "--gpu", "RTX 4090"]) == YES
    assert "torch==2.9.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seed", "many"), [(7, 40), *(pytest.param(seed, 100, marks=pytest.mark.slow) for seed in SEEDS)]
)
@pytest.mark.no_cover  # other tests run the same lines
def test_a_random_question_has_one_answer(seed: int, many: int, capsys: pytest.CaptureFixture[str]) -> None:
    """`can`, `solve` and `install` give one verdict, and the builds that they name are right for each other."""
    found = {shlex.join(ask): _disagreement(ask, capsys) for ask in _drawn(seed, many)}
    assert {ask: what for ask, what in found.items() if what} == {}


def _disagreement(ask: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    (can, said), (solve, found) = (answer_of(command, ask, capsys) for command in ("can", "solve"))
    if can != solve:
        return f"can {can}, solve {solve}"
    if _installs(ask) != (solve == YES):
        return f"solve {solve}, install differs"
    if can != YES:
        return ""
    named = [one["build"] for case in said["cases"] for one in case["answers"]]
    chosen = [f"{one['package']} {one['release']}" + f" ({one['build']})" for one in found["solution"]["builds"]]
    asks = [("solve", _spec(one)) for one in named] + [("can", _spec(one)) for one in chosen]
    again = ((command, spec, answer_of(command, (spec, *ask[1:]), capsys)[0]) for command, spec in asks if spec)
    return "; ".join(f"{command} {spec} {status}" for command, spec, status in again if status != YES)


def answer_of(command: str, ask: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    status = execute(["matrix", command, *ask, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def _installs(ask: tuple[str, ...]) -> bool:
    """Whether `install package` plans on that machine without a doubt."""
    options = dict(zip(ask[1::2], ask[2::2], strict=True))
    asked = SolveRequest((ask[0],), tuple(filter(None, (options.get("--gpu"),))), options.get("--driver", ""),
                         options.get("--python", ""), options.get("--os", ""), options.get("--arch", ""))  # fmt: skip
    spec = whole_release(known_product(parse_spec(ask[0])), MATRIX)
    try:
        return not solved(spec, place_of(asked, MATRIX).circumstances, (), MATRIX).doubts
    except NotSolved:
        return False


def _spec(label: str) -> str:
    """The requirement for a build by its name, "torch 2.9.1 (cu128)"; "" for a CPU build, and for many releases."""
    found = re.fullmatch(r"(\S+) (\d[\w.]*)(?: \((\w*)\))?", label)
    if not found or found[3] == "cpu":
        return ""
    return f"{found[1]}=={found[2]}" + (f"+{found[3]}" if found[3] else "")


def _drawn(seed: int, many: int) -> Iterator[tuple[str, ...]]:
    """Packages of every kind (riders and followers among them), releases, cards, drivers, Pythons and platforms.

    A card or a driver is always named: without, `can` is content with a CPU build, and `solve` is not.
    """
    draw = random.Random(seed)
    names = sorted(name for name in products() if is_framework(name))
    for _ in range(many):
        name = draw.choice(names)
        exact = [row.versions for row in MATRIX.rows(name, "builds") if row.versions.startswith("==")]
        words = [name + (draw.choice(exact) if exact and draw.random() < 0.6 else "")]
        words += draw.choice(PLATFORMS)
        named = draw.choice(({"--gpu": CARDS}, {"--driver": DRIVERS}, {"--gpu": CARDS, "--driver": DRIVERS}))
        words += [word for option, values in named.items() for word in (option, draw.choice(values))]
        words += ["--python", draw.choice(PYTHONS)] if draw.random() < 0.5 else []
        yield tuple(words)
