"""Mutants of a room: `python -m tests.mutants rules --sample 30 --seed 1`; `all` stands for every room.

Each is one small fault in one file, in a copy of the project: the tests of the room must kill it. Exit status 1 where
fewer are killed than the floor of the room (tests/mutants/rooms.py), 2 where its tests fail without a mutant. Run it as
an ordinary user: a mutant of the installers may write where it should not.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tests.mutants.rooms import ROOMS
from tests.mutants.run import KILLED, SURVIVED, TIMEOUT, FailsAlready, mutants_of, run

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Print each mutant that survives, and the count of each room."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("room", nargs="+", choices=(*ROOMS, "all"))
    parser.add_argument("--sample", type=int, default=30, help="mutants of each room (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time")
    asked = parser.parse_args()
    names = list(ROOMS) if "all" in asked.room else asked.room
    try:
        held = [_holds(name, asked.sample, asked.seed, asked.jobs) for name in names]
    except FailsAlready as error:
        print(f"the tests fail without a mutant:\n{error}", file=sys.stderr)
        return 2
    return int(not all(held))


def _holds(name: str, sample: int, seed: int, jobs: int) -> bool:
    """Whether the tests of a room kill as many as its floor says."""
    room, counts = ROOMS[name], Counter[str]()
    for result in run(ROOT, room, mutants_of(ROOT, room, sample, seed), jobs):
        counts[result.outcome] += 1
        print(f"{result.outcome:8} {result.seconds:5.1f} s  {result.mutant}", flush=True)
    total = counts.total()
    percent = 100 * (counts[KILLED] + counts[TIMEOUT]) // total if total else 0
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in (KILLED, SURVIVED, TIMEOUT))
    print(f"{name}: {told} of {total}: {percent} %, floor {room.floor_percent} %", flush=True)
    return percent >= room.floor_percent


if __name__ == "__main__":
    raise SystemExit(main())
