"""Requests drawn at random: what the install model says that an installer brings, and what uv and pip say.

`python -m tests.commands.lock.requests 200 --seed 1` prints every request on which they differ, and the figures.
`--pip` asks pip's own report (`pip install --dry-run --report`), which is slower. An answer is unknown if a package
that was asked for has no release in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from compat.matrix import Matrix
from compat.spec import normal, parse_spec
from doctor.commands.check.command import CheckSubject, report_of
from doctor.model.finding import Severity
from doctor.rules.shared.pins import pin

MATRIX = Matrix()
NAMES = (
    "torch", "torch", "torch", "torchvision", "torchaudio", "triton", "xformers", "vllm", "bitsandbytes", "accelerate",
    "tensorflow", "tensorflow[and-cuda]", "jax[cuda12]", "jax[cuda13]", "jaxlib", "cupy-cuda12x", "cupy-cuda13x",
    "onnxruntime", "onnxruntime-gpu", "numba", "nvidia-cudnn-cu12", "nvidia-cublas-cu12", "nvidia-nccl-cu12",
    "nvidia-cudnn-cu13", "nvidia-cuda-runtime-cu12", "xgboost", "lightgbm", "transformers",
)  # fmt: skip
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
_CODES = frozenset(
    {
        "companion-version-mismatch", "framework-not-published", "python-version-no-wheel",
        "pip-nvidia-wheels-conflict",
        "numpy-abi-mismatch", "jax-plugin-version-mismatch", "framework-wants-other-cuda", "plan-incomplete",
    }
)  # fmt: skip


class Request(NamedTuple):
    specs: tuple[str, ...]
    python: str


class Outcome(NamedTuple):
    request: Request
    kind: str  # "equal", "unknown", "different"
    why: str


def draw(seed: int) -> Request:
    """Draw one request; the same for the same seed."""
    chance = random.Random(seed)
    names = chance.sample(sorted(set(NAMES)), chance.choice((1, 1, 2, 2, 3)))
    if chance.random() < 0.3:
        names = ["torch", *(one for one in names if one != "torch")][:3]
    return Request(tuple(name + _versions(name, chance) for name in names), chance.choice(PYTHONS))


def _versions(name: str, chance: random.Random) -> str:
    """Mostly any release, otherwise one of the rows, or a range below one."""
    package = parse_spec(name).name
    if package.startswith("nvidia-"):  # mostly a release that a build of torch pins
        pins = {row.pins[package] for row in MATRIX.rows("torch", "builds") if package in (row.pins or {})}
        pins = {one for one in pins if "*" not in one and one.startswith("==")}
        return chance.choice(sorted(pins)) if pins and chance.random() < 0.75 else ""
    kind = chance.choice(("", "", "==", "==", "<=", ">="))
    rows = MATRIX.rows(package, "builds") if MATRIX.has(package) else ()
    releases = sorted({row.versions[2:] for row in rows if row.versions.startswith("==") and "*" not in row.versions})
    return f"{kind}{chance.choice(releases)}" if kind and releases else ""


def by_model(request: Request, folder: Path) -> tuple[dict[str, str], bool]:
    """Return the releases that the model tells, and whether it says that something does not fit."""
    file = folder / "requirements.txt"
    file.write_text("".join(f"{one}\n" for one in request.specs))
    subject = CheckSubject(lock=str(file), platform="linux/amd64", python_version=request.python, policy="")
    said = report_of(subject, 0.0)
    found: dict[str, str] = {}
    for environment in said.facts.environments.get():
        for one in environment.frameworks.get():
            found[one.package] = one.version.partition("+")[0]
            for text in one.requires.get() if hasattr(one.requires, "value") else ():
                asked = pin(text)
                is_nvidia = asked is not None and asked.name.startswith("nvidia-")
                if asked and is_nvidia and asked.specifier.startswith("==") and (one.extras or not asked.optional):
                    found.setdefault(asked.name, asked.specifier[2:])
        for each in environment.distributions.get():
            found[each.name] = each.version.partition("+")[0]
    # what is asked for by its own line goes before what a build would bring
    refuses = {one.code for one in said.findings if one.severity is not Severity.INFO} & _CODES
    return found, bool(refuses)


def by_uv(request: Request) -> tuple[dict[str, str], str]:
    """Return what uv resolves, and its complaint."""
    program = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [program, "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--only-binary", ":all:"]
    command += ["--python-version", request.python, "--python-platform", "x86_64-manylinux_2_40"]
    text = "\n".join(request.specs)
    ran = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
    found = dict(line.split("==", 1) for line in ran.stdout.splitlines() if "==" in line)
    plain = {normal(name): version.partition(" ")[0].partition("+")[0] for name, version in found.items()}
    return plain, "" if ran.returncode == 0 else " ".join(ran.stderr.split())[-300:] or "refused"


def by_pip(request: Request, folder: Path) -> tuple[dict[str, str], str]:
    """Return what pip's report lists, and its complaint."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-", "--no-input",
               "--ignore-installed", "--only-binary", ":all:", "--python-version", request.python,
               "--target", str(folder / "none"), "--disable-pip-version-check", *request.specs]  # fmt: skip
    for tag in range(40, 16, -1):
        command += ["--platform", f"manylinux_2_{tag}_x86_64"]
    command += ["--platform", "manylinux2014_x86_64", "--platform", "linux_x86_64"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if ran.returncode != 0:
        return {}, " ".join(ran.stderr.split())[-300:] or "refused"
    items = json.loads(ran.stdout)["install"]
    return {normal(one["metadata"]["name"]): one["metadata"]["version"].partition("+")[0] for one in items}, ""


def compare(request: Request, *, pip: bool = False) -> Outcome:
    """Compare the two answers."""
    with tempfile.TemporaryDirectory() as name:
        ours, refuses = by_model(request, Path(name))
        theirs, complaint = by_pip(request, Path(name)) if pip else by_uv(request)
    asked = {parse_spec(one).name for one in request.specs}
    if complaint:
        known = refuses or not asked <= ours.keys()
        return Outcome(request, "equal" if refuses else "unknown" if known else "different", f"it refuses: {complaint}")
    if missing := sorted(asked - ours.keys()):
        return Outcome(request, "unknown", f"no release of {', '.join(missing)}")
    other = {
        name: (version, theirs.get(name)) for name, version in ours.items() if not _same(version, theirs.get(name))
    }
    if other:
        return Outcome(request, "unknown" if refuses else "different", str(other))
    return Outcome(request, "equal", "")


def _same(ours: str, theirs: str | None) -> bool:
    return theirs is not None and (ours == theirs or parse_spec(f"a=={ours}") == parse_spec(f"a=={theirs}"))


def outcomes(count: int, first: int, *, pip: bool = False) -> Iterator[Outcome]:
    """Yield the outcome of that many requests; their seeds count on from the first."""
    requests = map(draw, range(first, first + count))
    with ThreadPoolExecutor(min(4, 2 * (os.cpu_count() or 1))) as pool:
        yield from pool.map(lambda one: compare(one, pip=pip), requests)


def main() -> None:
    """Print the requests on which they differ, and the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pip", action="store_true")
    parser.add_argument("--unknown", action="store_true", help="print those, too")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for one in outcomes(given.count, given.seed, pip=given.pip):
        counts[one.kind] += 1
        if one.kind == "different" or (given.unknown and one.kind == "unknown"):
            sys.stdout.write(f"{one.kind}: {' '.join(one.request.specs)} on {one.request.python}\n  {one.why}\n")
    sys.stdout.write(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) + "\n")


if __name__ == "__main__":
    main()
