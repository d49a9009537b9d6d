"""What `matrix solve` of four packages takes: seeded questions, each asked of a new process.

`python -m tests.compat.four 100 --seed 1` prints the seconds of CPU in the middle, at the 95th percentile and at most,
and the questions that took longest. The bytecode is there, as an installer leaves it: where PYTHONDONTWRITEBYTECODE
is set, every process would compile our sources anew. `--answers FILE` keeps every answer, to hold two versions of the
solver together.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.compat.resolver import CARDS, DRIVERS, PYTHONS, Question, distinct, versions_of

_MANY = 4
_SHOWN = 5


def draw(seed: int) -> Question:
    """One question of four packages; the same for the same seed."""
    chance = random.Random(seed)
    names = distinct(chance, lambda: _MANY)
    specs = tuple(name + versions_of(name, chance) for name in names)
    return Question(seed, specs, chance.choice(CARDS), chance.choice(DRIVERS), chance.choice(PYTHONS))


def ask(question: Question, bytecode: str) -> tuple[float, str]:
    """Seconds of CPU of the whole command, its start included, and what it answered."""
    command = [sys.executable, "-m", "gpudoctor", "matrix", "solve", *question.specs, "--os", "linux"]
    given = {"--gpu": question.card, "--driver": question.driver, "--python": question.python}
    command += [part for option, value in given.items() if value for part in (option, value)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return took, f"{question} {done.returncode}\n{done.stdout}{done.stderr}"


def main() -> None:
    """Print how long they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=Path)
    asked = parser.parse_args()
    questions = [draw(seed) for seed in range(asked.seed, asked.seed + asked.count)]
    with tempfile.TemporaryDirectory() as bytecode:
        ask(questions[0], bytecode)  # which leaves the bytecode
        found = [ask(one, bytecode) for one in questions]
    if asked.answers:
        asked.answers.write_text("\n".join(text for _, text in found))
    times = sorted(took for took, _ in found)
    print(f"p50 {_at(times, 50):.2f} s, p95 {_at(times, 95):.2f} s, most {times[-1]:.2f} s of CPU")
    longest = sorted(zip((took for took, _ in found), questions, strict=True), reverse=True)[:_SHOWN]
    print(*(f"{took:.2f} s {question}" for took, question in longest), sep="\n")


def _at(times: list[float], percent: int) -> float:
    return times[min(len(times) - 1, len(times) * percent // 100)]


if __name__ == "__main__":
    main()
