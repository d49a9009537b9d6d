"""Questions drawn at random for the solver, and what a real resolver says of its answers.

`python -m tests.compat.resolver 300 --seed 1` prints every question on which the two disagree. A set that the solver
proposes must be one that the resolver takes, as it stands, from the user's own package index; where it says that there
is none, the resolver refuses too, or the reason is one that no resolver knows: files that overwrite each other, a card
without code, a driver.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from compat.cards import gpu_card_of
from compat.matrix import Matrix, Uncovered
from compat.solve.search import Problem, Solution, solve, solve_unsure
from compat.spec import parse_spec
from compat.target import TargetMachine
from compat.version import DriverRelease
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.listing import wheels_of
from doctor.commands.refresh.web import Web
from doctor.host.live import LiveHost
from installers.requirement import requirement_of

MATRIX = Matrix()
NAMES = {
    "torch": 6,
    "tensorflow": 4,
    "jax": 2,
    "jax[cuda12]": 2,
    "jax[cuda13]": 1,
    "cupy": 2,
    "cupy-cuda12x": 1,
    "onnxruntime-gpu": 3,
    "xformers": 2,
    "vllm": 2,
    "bitsandbytes": 1,
    "numba": 2,
    "triton": 1,
    "cudf-cu12": 1,
    "cudf-cu13": 1,
}
CARDS = ("", "RTX 4090", "GTX 1080 Ti", "RTX 5090", "H100", "T4", "A100", "V100")
DRIVERS = ("", "580.65.06", "550.54.14", "535.183.01", "570.86.10")
PYTHONS = ("", "3.10", "3.11", "3.12", "3.13")
# What is against a set and no resolver knows of; everything else a clash can be about is a distribution or "python".
BEYOND = re.compile(
    r"no code for|no longer builds|does not know|no longer drives|directory|overwrite|needs driver|older than|"
    r"is a CPU build|supports cards|takes CUDA .* from the system|brings only PTX|brings CUDA|is built for CUDA"
)


# A mirror may lack what a release asks for of packages that no row is about: "Because only certifi<=2026.10.18
# is available and vllm>=0.33.0 depends on certifi>=2026.10.19".
_LAGS = re.compile(
    r"Because only (?!nvidia-|cuda-|torch|jax|tensorflow|numpy|numba|triton|xformers)\S+ is available and"
    r"|vllm-nccl-cu12"  # of vLLM 0.4: what builds it fetches NCCL from a site that an index does not stand for
)


# What has no wheel at all pip builds: "hint: Wheels are required for `pyairports` because building from source is
# disabled". That of the packages which rows are about takes a compiler, CUDA and an hour: nothing to propose.
_WITHOUT_A_WHEEL = re.compile(
    r"Wheels are required for `(?!nvidia-|cuda-|torch|jax|tensorflow|numpy|numba|triton|xformers|vllm|cupy)([\w.-]+)`"
)
_BUILT_AT_MOST = 12

# A wheel that only keeps a name: with nothing else for the platform, a resolver takes "cudf-cu13==0.0.0a0".
_PLACEHOLDER = re.compile(r"(?m)^\S+==0\.0\.(?:0|\d+\.?(?:a|dev))\S*$")


class Question(NamedTuple):
    """What is asked of the solver."""

    seed: int
    specs: tuple[str, ...]
    card: str
    driver: str
    python: str


class Outcome(NamedTuple):
    """What the two said."""

    question: Question
    answer: str  # "yes", "no", "unknown"
    said: str  # the set, or why there is none
    agrees: bool | None  # None where the resolver was not asked: the index does not serve that build
    resolver: str


def draw(seed: int) -> Question:
    """One question; the same for the same seed."""
    chance = random.Random(seed)
    names = distinct(chance, lambda: chance.choice([1, 2, 2, 2, 3, 3]))
    specs = tuple(name + versions_of(name, chance) for name in names)
    return Question(seed, specs, chance.choice(CARDS), chance.choice(DRIVERS), chance.choice(PYTHONS))


def distinct(chance: random.Random, many: Callable[[], int]) -> list[str]:
    """Names of which no two are of one package, drawn until there are as many as are asked for."""
    names: list[str] = []
    while len(names) < many():
        name = chance.choices([*NAMES], [*NAMES.values()])[0]
        if parse_spec(name).name not in {parse_spec(one).name for one in names}:
            names.append(name)
    return names


def versions_of(name: str, chance: random.Random) -> str:
    """Mostly any release; else one that there is, or a range below it."""
    kind = chance.choice(["", "", "", "==", "<=", ">="])
    product = parse_spec(name).name
    rows = MATRIX.rows(product, "builds") if MATRIX.has(product) else ()
    releases = [row.versions[2:] for row in rows if re.fullmatch(r"==\d+(\.\d+){1,2}", row.versions)]
    return f"{kind}{chance.choice(releases)}" if kind and releases else ""


def ask(question: Question) -> Outcome:
    """Solve, and hold the answer against the resolver."""
    chips = gpu_card_of(question.card, MATRIX).capabilities if question.card else ()
    driver = DriverRelease.parse(question.driver) if question.driver else None
    where = TargetMachine(capabilities=chips, driver=driver, python=question.python)
    try:
        problem = Problem([parse_spec(one) for one in question.specs], where, MATRIX)
    except Uncovered as error:
        return Outcome(question, "unknown", str(error), None, "")
    sure = solve(problem)
    if sure:
        return _proposed(question, sure)
    doubtful = solve_unsure(problem)
    if doubtful or problem.uncovered:
        return Outcome(question, "unknown", doubtful.label if doubtful else "no row speaks of it", None, "")
    return _refused(question, problem)


def _proposed(question: Question, solution: Solution) -> Outcome:
    wanted = [requirement_of(one.row, one.versions) for one in solution.chosen]
    said = f"{', '.join(wanted)} {' '.join(solution.pins)} on Python {solution.python or question.python or '?'}"
    if any("+" in one for one in wanted):
        return Outcome(question, "yes", said, None, "a build that the index does not serve")
    answer = resolve([*wanted, *solution.pins], solution.python or question.python or "3.12")
    agrees = None if _LAGS.search(answer) else answer == ""
    return Outcome(question, "yes", said, agrees, answer)


def _refused(question: Question, problem: Problem) -> Outcome:
    from compat.solve.rejections import refusals

    reasons = [one.reason.what for one in refusals(problem, None)]
    answer = resolve([as_requirement(one) for one in question.specs], question.python or "3.12")
    beyond = any(BEYOND.search(one) for one in reasons)
    said = "; ".join(reasons[:3])
    return Outcome(question, "no", said, answer != "" or beyond, answer or "takes it")


def as_requirement(spec: str) -> str:
    """What a person would install for it."""
    name = parse_spec(spec).name
    return spec.replace("tensorflow", "tensorflow[and-cuda]") if name == "tensorflow" else spec


def resolve(requirements: list[str], python: str) -> str:
    """ "" where the resolver takes these together from wheels, else its complaint."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "compile", "-", "--quiet", "--no-header", "--only-binary", ":all:", "--no-annotate"]
    command += ["--python-version", python.rstrip("t"), "--python-platform", "x86_64-manylinux_2_40"]
    command += ["--no-python-downloads"]  # whichever is here builds what must be built
    for _ in range(_BUILT_AT_MOST):
        done = subprocess.run(command, input="\n".join(requirements), capture_output=True, text=True, timeout=600)
        said = " ".join(done.stderr.split())
        built = [name for name in _WITHOUT_A_WHEEL.findall(said) if _has_no_wheel(name, _range_of(name, said))]
        if done.returncode == 0 or not built:
            break
        command += [f"--no-binary={name}" for name in built]
    if done.returncode != 0:
        return " ".join(done.stderr.split())[-400:]
    placeholder = _PLACEHOLDER.search(done.stdout)
    if placeholder:
        return f"takes nothing but a placeholder: {placeholder[0]}"
    asked = {f"{one.name}-{extra}-plugin" for one in map(parse_spec, requirements) for extra in one.extras}
    lacking = [one for one in asked if one.startswith("jax") and f"{one}==" not in done.stdout]
    return f"takes a release that has no such extra: {', '.join(lacking)} is left out" if lacking else ""


def _range_of(name: str, said: str) -> str:
    """The releases that were asked for: "we can conclude that clang>=5.0,<6.dev0 cannot be used"."""
    found = re.search(rf"\b{re.escape(name)}([<>=!~]\S+) cannot be used", said)
    return found[1] if found else ""


@cache
def _has_no_wheel(name: str, versions: str) -> bool:
    """Whether these releases have no wheel for Python 3: clang 5.0, which TensorFlow 2.6 asks for."""
    connection = connection_of(LiveHost(), (), "")
    wheels = wheels_of(name, connection.indexes, Web(connection))[0]
    admitted = [one for one in wheels if SpecifierSet(versions).contains(one.version, prereleases=True)]
    return not any(tag.interpreter[2:3] == "3" for wheel in admitted for tag in wheel.tags)


def outcomes(count: int, first: int) -> Iterator[Outcome]:
    """The outcome of that many questions; their seeds count on from the first."""
    with ThreadPoolExecutor(min(8, 4 * (os.cpu_count() or 1))) as pool:  # they wait for the index
        yield from pool.map(ask, map(draw, range(first, first + count)))


def main() -> None:
    """Print the questions on which the two disagree, and how many there were of each kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts: Counter[tuple[str, bool | None]] = Counter()
    for one in outcomes(asked.count, asked.seed):
        counts[one.answer, one.agrees] += 1
        if one.agrees is False:
            print(f"{one.question}\n  solver: {one.answer}: {one.said}\n  resolver: {one.resolver}", flush=True)
    print(*(f"{answer} {agrees}: {count}" for (answer, agrees), count in sorted(counts.items(), key=str)), sep="\n")


if __name__ == "__main__":
    main()
