"""Beside `tar -t`: what `check --image` takes for an OCI layout, and what listing its layers takes, in turns.

`python -m tests.benchmarks.layers LAYOUT [--rounds 7]` prints a table, in Markdown. `tar -t` unpacks each layer, sums
nothing and looks into no file. Both are read from the page cache; no layer is remembered. Time of the processor is that
of all processes; the least of the rounds is what the machine's other users disturbed least.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compat.base.compression import packing_of

_PROGRAMS = {"gzip": "gzip -dc", "zstd": "zstd -dc", "xz": "xz -dc", "": "cat"}


class Took(NamedTuple):
    """Seconds."""

    wall: float
    processor: float


def took(argv: list[str]) -> Took:
    """What a command and its children take."""
    begun, before = time.perf_counter(), os.times()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(time.perf_counter() - begun, used)


def listing(layout: Path) -> list[str]:
    """The command that lists every layer of the layout, in order."""
    blobs = layout / "blobs"
    index = json.loads((layout / "index.json").read_bytes())
    manifest = json.loads((blobs / index["manifests"][0]["digest"].replace(":", "/")).read_bytes())
    lines = ["set -o pipefail"]
    for layer in manifest["layers"]:
        blob = blobs / layer["digest"].replace(":", "/")
        with blob.open("rb") as stream:
            kind = packing_of(stream.read(8))
        lines.append(f"{_PROGRAMS[kind]} {blob} | tar -t")
    return ["bash", "-c", "\n".join(lines)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layout", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    ours = [sys.executable, "-m", "gpudoctor", "check", "--no-cache", "--image", str(asked.layout)]
    commands = {"gpudoctor check": ours, "tar -t": listing(asked.layout)}
    seen: dict[str, list[Took]] = {name: [] for name in commands}
    for number in range(asked.rounds + 1):
        for name, argv in commands.items():
            one = took(argv)
            if number:  # the first round fills the page cache
                seen[name].append(one)
    head = "| | least wall s | median wall s | least processor s | median processor s |\n|---|---|---|---|---|"
    ours_took, theirs = (_row(seen[name]) for name in commands)
    ratios = [x / y for x, y in zip(ours_took, theirs, strict=True)]
    rows = {"gpudoctor check": ours_took, "tar -t": theirs, "times": ratios}
    lines = [f"| {name} | {' | '.join(f'{one:.2f}' for one in row)} |" for name, row in rows.items()]
    sys.stdout.write("\n".join([head, *lines]) + "\n")


def _row(rounds: list[Took]) -> list[float]:
    """Least and median of both."""
    sums: list[Callable[[list[float]], float]] = [min, statistics.median]
    return [one([each[field] for each in rounds]) for field in range(2) for one in sums]


if __name__ == "__main__":
    main()
