"""Whether pip finds what the wheel commands ask for: a sample of them against the package index.

    python -m tests.installers.wheel_commands 100 --seed 1

prints each requirement that pip has no file for on this platform. Nothing is downloaded: `pip index versions` lists the
releases that have a file for this interpreter, as `pip install` would choose from.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

from compat.matrix import Matrix
from compat.need import InstallCudnn
from installers.cuda_order import CudaOrder, NoSuchToolkit
from installers.methods import cudnn_wheel
from installers.methods.cuda_wheel import wheel_plan
from installers.plan import Plan
from installers.steps.command import Command
from tests.installers.target import UBUNTU

MATRIX = Matrix()
HERE = UBUNTU._replace(python=sys.executable, prefix=sys.prefix)


def orders() -> Iterator[tuple[str, Plan]]:
    """Every wheel command that the rows know: of cuDNN, and of the releases of CUDA."""
    for row in MATRIX.rows("cudnn", "wheels"):
        for release in row.releases:
            need = InstallCudnn(f"=={release}", cuda=str(row.cuda_major))
            yield f"cudnn {release} for CUDA {row.cuda_major}", cudnn_wheel.plan(need, HERE, MATRIX)
    for release in sorted({row.release for row in MATRIX.rows("redist-component", "components")}):
        with contextlib.suppress(NoSuchToolkit):
            yield f"cuda {release}", wheel_plan(CudaOrder(release), HERE, MATRIX)


@cache
def releases(name: str) -> frozenset[str]:
    """Those that pip could install here; empty where it finds none."""
    argv = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check", name]
    told = subprocess.run(argv, capture_output=True, text=True, timeout=300).stdout
    found = re.search(r"^Available versions: (.*)$", told, re.MULTILINE)
    return frozenset(found[1].split(", ")) if found else frozenset()


def requirements(plan: Plan) -> list[tuple[str, str]]:
    """What the commands of a plan ask for: name and release."""
    words = [word for step in plan.steps if isinstance(step, Command) for word in step.argv]
    return [(name, release) for word in words for name, _, release in [word.partition("==")] if release]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    drawn = list(orders())
    random.Random(said.seed).shuffle(drawn)
    drawn = drawn[: said.count]
    refused = 0
    for title, plan in drawn:
        wanted = requirements(plan)
        missing = [f"{name}=={release}" for name, release in wanted if release not in releases(name)]
        refused += bool(missing) or not wanted
        if missing or not wanted:
            sys.stdout.write(f"{title}: pip has no {', '.join(missing) or 'requirement to look for'}\n")
    sys.stdout.write(f"{len(drawn)} commands, seed {said.seed}: pip has everything for {len(drawn) - refused}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
