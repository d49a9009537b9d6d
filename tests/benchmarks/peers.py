"""Time `gpudoctor check` beside its peers: whole processes, one interleaved run, medians and ratios.

    python -m tests.benchmarks.peers [--runs 9] [--torch]

Installs each peer, and gpudoctor itself from this tree, into an environment of its own under the test cache (the first
run takes minutes). With --torch also an environment with torch's CPU build, for `collect_env` and for ours looking at
that environment. Peak memory is the largest resident set of the process or of any child that it waited for.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

from tests.wheels import CACHE

ROOT = Path(__file__).resolve().parents[2]
TORCH = "torch==2.13.0"


class Contender(NamedTuple):
    """One command to time. `requirements` are what pip installs into its environment."""

    name: str
    group: str  # contenders of one group are compared with ours of that group
    requirements: tuple[str, ...]
    argv: tuple[str, ...]  # the first word is looked up in the environment's bin folder
    ours: bool = False


class Measured(NamedTuple):
    """One run."""

    wall_s: float
    peak_mib: float


BARE = "no framework"
WITH_TORCH = "torch CPU"
PEERS = (
    Contender("env-doctor 0.3.5 check", BARE, ("env-doctor==0.3.5",), ("env-doctor", "check")),
    Contender("cuda-doctor 0.2.0", BARE, ("cuda-doctor==0.2.0",), ("cuda-doctor", "diagnose")),
    Contender("rapids-cli 0.2.0 doctor", BARE, ("rapids-cli==0.2.0",), ("rapids", "doctor")),
    Contender("mlenvdoctor 0.1.6 diagnose", BARE, ("mlenvdoctor==0.1.6",), ("mlenvdoctor", "diagnose")),
    Contender(
        "cudnn-frontend 1.32 collect_env",
        BARE,
        ("--no-deps", "nvidia-cudnn-frontend==1.32.0"),
        ("python", "-m", "cudnn.collect_env"),
    ),
)


@functools.cache
def environment(name: str, requirements: tuple[str, ...]) -> Path:
    """An environment with these requirements, made once, ours of the tree as it is now; returns its bin folder."""
    prefix = CACHE / "benchmarks" / name.replace(" ", "-")
    done = prefix / ".installed"
    if not done.exists() or done.read_text() != " ".join(requirements):
        venv.create(prefix, with_pip=True, clear=True)
        subprocess.run([prefix / "bin" / "python", "-m", "pip", "install", "--quiet", *requirements], check=True)
        done.write_text(" ".join(requirements))
    elif requirements == (str(ROOT),):
        again = ["install", "--quiet", "--force-reinstall", "--no-deps", *requirements]
        subprocess.run([prefix / "bin" / "python", "-m", "pip", *again], check=True)
    return prefix / "bin"


# A process inherits the peak memory of the one that forks it, so a small one does: it runs the command, waits, tells.
_RUNNER = """
import os, sys, time
started = time.perf_counter()
pid = os.fork()
if not pid:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.execv(sys.argv[1], sys.argv[1:])
usage = os.wait4(pid, 0)[2]
print(time.perf_counter() - started, usage.ru_maxrss / 1024)
"""


def measure(argv: list[str], environ: dict[str, str]) -> Measured:
    """Run once, output thrown away."""
    runner = [sys.executable, "-I", "-S", "-c", _RUNNER, *argv]
    done = subprocess.run(runner, env=environ, capture_output=True, text=True, check=True)
    return Measured(*map(float, done.stdout.split()))


def contenders(*, with_torch: bool) -> list[Contender]:
    ours = (str(ROOT),)
    found = [Contender("gpudoctor check", BARE, ours, ("gpudoctor", "check"), ours=True)]
    found.append(Contender("gpudoctor --help", BARE, ours, ("gpudoctor", "--help")))
    found.extend(PEERS)
    if with_torch:
        python = str(environment("torch", (TORCH,)) / "python")
        found.append(
            Contender(
                "gpudoctor check --python", WITH_TORCH, ours, ("gpudoctor", "check", "--python", python), ours=True
            )
        )
        found.append(
            Contender("torch 2.13 collect_env", WITH_TORCH, (TORCH,), ("python", "-m", "torch.utils.collect_env"))
        )
    return found


def run_all(found: list[Contender], runs: int) -> dict[Contender, list[Measured]]:
    """Every contender once a round, `runs` rounds after one that is not counted."""
    results: dict[Contender, list[Measured]] = {contender: [] for contender in found}
    places = {contender: bin_of(contender) for contender in found}
    for turn in range(runs + 1):
        for contender in found:
            place = places[contender]
            environ = {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
            environ.pop("VIRTUAL_ENV", None)
            measured = measure([str(place / contender.argv[0]), *contender.argv[1:]], environ)
            if turn:
                results[contender].append(measured)
    return results


def environment_name(contender: Contender) -> str:
    """The folder of its environment."""
    if contender.requirements == (str(ROOT),):
        return "gpudoctor"
    return "torch" if contender.requirements == (TORCH,) else contender.argv[0] + "-of-" + contender.name.split()[0]


def bin_of(contender: Contender) -> Path:
    return environment(environment_name(contender), contender.requirements)


def table(results: dict[Contender, list[Measured]]) -> str:
    """Medians, smallest and largest wall time, peak memory, and wall time as a multiple of ours in the group."""
    median = {one: statistics.median(run.wall_s for run in runs) for one, runs in results.items()}
    lines = ["| command | environment | median s | min–max s | peak MiB | × ours |", "|---|---|---|---|---|---|"]
    for one, runs in results.items():
        base = next(median[other] for other in results if other.ours and other.group == one.group)
        walls = [run.wall_s for run in runs]
        peak = statistics.median(run.peak_mib for run in runs)
        lines.append(
            f"| {one.name} | {one.group} | {median[one]:.3f} | {min(walls):.3f}–{max(walls):.3f} | {peak:.0f} "
            f"| {median[one] / base:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--torch", action="store_true")
    wanted = parser.parse_args()
    sys.stdout.write(table(run_all(contenders(with_torch=wanted.torch), wanted.runs)) + "\n")


if __name__ == "__main__":
    main()
