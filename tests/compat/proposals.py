"""Proposals of `matrix solve`, drawn at random, resolved by the real uv, and installed and imported without a GPU.

`python -m tests.compat.proposals --count 100` draws questions until so many have a set, and prints the sets that uv
does not take from the user's own package index, each with what uv says. `--imports 30` then installs so many of them,
of different families, for Linux on this machine's Pythons, and prints those that fail when they are imported. Wheels
of CUDA's libraries are left out where a package is imported without them.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from compat.base.errors import GpudoctorError
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.spec import normal, parse_spec
from compat.target import TargetMachine
from compat.traits import module_of, traits_of
from doctor.commands.matrix.solve import SolveRequest, place_of
from doctor.commands.matrix.solve_answer import answer, requirements_of
from tests.compat.resolver import versions_of

MATRIX = Matrix()
ERAS = (  # a card, the drivers that its machines have, Pythons; "" for what nobody said
    ("Tesla K80", ("470.82.01",), ("3.6", "3.8")),
    ("GTX 1080 Ti", ("450.80.02", "535.183.01", "580.95.05"), ("", "3.7", "3.10")),
    ("V100", ("450.80.02", "535.183.01"), ("", "3.8", "3.9")),
    ("T4", ("525.60.13", "550.54.14"), ("", "3.10")),
    ("A100", ("525.60.13", "570.86.10"), ("", "3.11")),
    ("RTX 4090", ("550.54.14", "580.95.05"), ("", "3.12")),
    ("H100", ("550.54.14", "580.95.05"), ("", "3.12")),
    ("RTX 5090", ("570.86.10", "580.95.05"), ("", "3.12", "3.13")),
    ("B200", ("580.95.05",), ("", "3.12")),
)
PLATFORMS = (("linux", "x86_64"),) * 6 + (("windows", "x86_64"),) * 2 + (("linux", "sbsa"),)
NAMES = tuple(name for name in products() if is_framework(name))
_PLATFORM_TAGS = {
    ("linux", "x86_64"): "x86_64-manylinux_2_40",
    ("linux", "sbsa"): "aarch64-manylinux_2_40",
    ("windows", "x86_64"): "x86_64-pc-windows-msvc",
}
_NEEDS_LIBRARIES = (
    "faiss-gpu",
    "faiss-gpu-cu12",
    "tensorrt",
    "torch",
    "vllm",
    "xformers",
    "paddlepaddle",
    "paddlepaddle-gpu",
    "cudf",
    "mxnet",
)  # to be imported
_WITHOUT_SYSTEM = (
    "ctranslate2",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "numba",
    "tensorflow",
    "tensorflow-gpu",
)  # import, too
_BUILT_AT_MOST = 12
_MODULES = {"flashinfer-python": "flashinfer", "dm-haiku": "haiku", "jax-plugin": "jax", "optimum": "optimum"}


class Proposal(NamedTuple):
    """One question and its set."""

    seed: int
    specs: tuple[str, ...]
    card: str
    where: TargetMachine
    requirements: tuple[str, ...]
    python: str
    names: tuple[str, ...]  # the distributions that were chosen
    is_whole: bool  # it is imported without a CUDA of the system

    @property
    def text(self) -> str:
        """It in one line."""
        platform = f"{self.where.os_family} {self.where.arch}"
        asked = f"{' '.join(self.specs)} --gpu '{self.card}' --driver {self.where.driver} ({platform})"
        return f"[{self.seed}] {asked}: {' '.join(self.requirements)} on Python {self.python}"


def draw(seed: int) -> Proposal | None:
    """The set for one question, the same for the same seed; None where there is none that pip's own index serves."""
    chance = random.Random(seed)
    names = chance.sample(NAMES, chance.choice([1, 1, 2, 3]))
    specs = tuple(name + versions_of(name, chance) for name in names)
    card, drivers, pythons = chance.choice(ERAS)
    (os_family, arch), python = chance.choice(PLATFORMS), chance.choice(pythons)
    asked = SolveRequest(specs, (card,), chance.choice(drivers), python, os_family, arch)
    try:
        place = place_of(asked, MATRIX)
        found = answer(tuple(map(parse_spec, specs)), place, MATRIX)
    except GpudoctorError:
        return None
    if not found.solution or not found.commands or not found.solution.python:
        return None
    wanted = requirements_of(found.solution)
    if any("+" in one for one in wanted):
        return None  # from an index of its maker's
    rows = tuple(one.row for one in found.solution.chosen)
    is_whole = all(row.libraries != "system" or row.package in _WITHOUT_SYSTEM for row in rows)
    packages = tuple(row.package for row in rows)
    return Proposal(seed, specs, card, place.circumstances, wanted, found.solution.python, packages, is_whole)


def proposals(count: int, first: int) -> Iterator[Proposal]:
    """So many of them; their seeds count on from the first."""
    seed = first
    while count:
        found = draw(seed)
        seed += 1
        if found:
            count -= 1
            yield found


def resolved(one: Proposal) -> str:
    """What uv says against a set; "" where it takes it. What is served as sources only is built, as pip does."""
    command = [_uv(), "pip", "compile", "-", "-q", "--no-header", "--no-annotate", "--only-binary", ":all:"]
    command += ["--python-version", one.python, "--python-platform"]
    command += [_PLATFORM_TAGS[one.where.os_family, one.where.arch], "--no-python-downloads"]
    command += ["--python", _python(one.python) or sys.executable]
    for _ in range(_BUILT_AT_MOST):
        done = subprocess.run(command, input="\n".join(one.requirements), capture_output=True, text=True, timeout=900)
        said = " ".join(done.stderr.split())
        built = set(re.findall(r"Because (?:all versions of )?([\w.-]+)[\w.=<>,]* ha(?:s|ve) no usable wheels", said))
        if done.returncode == 0 or not built:
            break
        command += [f"--no-binary={name}" for name in sorted(built)]
    return said[-400:] if done.returncode else ""


def importable(found: list[Proposal]) -> Iterator[Proposal]:
    """Those for this platform whose Python is here, a package that no other one has first."""
    seen: Counter[str] = Counter()
    whole = [one for one in found if one.is_whole]
    here = [
        one for one in whole if (one.where.os_family, one.where.arch) == ("linux", "x86_64") and _python(one.python)
    ]
    while here:
        best = min(here, key=lambda one: min(seen[name] for name in one.names))
        here.remove(best)
        seen.update(best.names)
        yield best


def imported(one: Proposal) -> str:
    """Install a set in a new environment and import it; what fails, "" for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        commands = [
            [_uv(), "venv", "-q", "--python", _python(one.python), str(venv)],
            [_uv(), "pip", "install", "-q", "--python", str(venv / "bin/python"), *one.requirements],
        ]
        if not set(one.names) & set(_NEEDS_LIBRARIES):
            left_out = Path(folder) / "left-out.txt"
            left_out.write_text("".join(f"{name}; sys_platform == 'never'\n" for name in _libraries(one)))
            commands[1] += ["--override", str(left_out)]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
            if done.returncode != 0:
                return " ".join(done.stderr.split())[-300:]
        for module in (_module(name, venv) for name in one.names):
            done = subprocess.run(
                [str(venv / "bin/python"), "-c", f"import {module}"], capture_output=True, text=True, timeout=600
            )
            if done.returncode != 0:
                return f"import {module}: {' '.join(done.stderr.split())[-300:]}"
    return ""


def _libraries(one: Proposal) -> list[str]:
    """The distributions of CUDA's libraries that uv takes with a set."""
    command = [_uv(), "pip", "compile", "-", "-q", "--no-header", "--no-annotate", "--python-version", one.python]
    done = subprocess.run(command, input="\n".join(one.requirements), capture_output=True, text=True, timeout=600)
    return [name for name in re.findall(r"(?m)^(nvidia-[\w-]+|cuda-toolkit)==", done.stdout) if name not in one.names]


def _module(name: str, venv: Path) -> str:
    """What is imported of a distribution: by its files, where they have no package of its name."""
    known = _MODULES.get(name) or _MODULES.get(traits_of(name).id) or module_of(name).replace("/", ".")
    records = (one for one in venv.glob("lib/*/site-packages/*.dist-info/RECORD") if _distribution(one) == name)
    files = [line.partition(",")[0] for one in records for line in one.read_text().splitlines()]
    if not files or any(one.startswith(f"{known.replace('.', '/')}/") or one == f"{known}.py" for one in files):
        return known
    packages = sorted(one.removesuffix("/__init__.py") for one in files if re.fullmatch(r"[^/]+/__init__\.py", one))
    return next((one for one in packages if not one.startswith("test")), known)


def _distribution(record: Path) -> str:
    return normal(record.parent.name.partition("-")[0])


def _python(version: str) -> str:
    """An interpreter of this version, "" for none."""
    here = Path.home() / ".pyenv/versions"
    own = sorted(here.glob(f"{version}.*/bin/python")) if here.is_dir() else []
    return str(own[-1]) if own else shutil.which(f"python{version}") or ""


def _uv() -> str:
    return shutil.which("uv") or str(Path(sys.executable).with_name("uv"))


def main() -> None:
    """Print what fails, and how many there were."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--imports", type=int, default=0)
    parser.add_argument("--unresolved", action="store_true", help="import without asking uv of every set first")
    parser.add_argument("--without", default="", help="distributions of which no set is installed, with commas")
    asked = parser.parse_args()
    drawn = list(proposals(asked.count, asked.seed))
    with ThreadPoolExecutor(4) as pool:  # they wait for the index
        said = [""] * len(drawn) if asked.unresolved else list(pool.map(resolved, drawn))
    for one, against in zip(drawn, said, strict=True):
        if against:
            print(f"not resolved {one.text}\n    {against}", flush=True)
    good = [one for one, against in zip(drawn, said, strict=True) if not against]
    if not asked.unresolved:
        print(f"{len(good)} of {len(drawn)} resolved", flush=True)
    left_out = set(filter(None, asked.without.split(",")))
    chosen = [one for one in importable(good) if not left_out & set(one.names)][: asked.imports]
    failed = 0
    for one in chosen:
        against = imported(one)
        failed += bool(against)
        print(f"{'FAILED' if against else 'imported'} {one.text}" + (f"\n    {against}" if against else ""), flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} imported")


if __name__ == "__main__":
    main()
