"""The long runs: `python -m tests.hostile trees 50000 --seed 1`, `python -m tests.hostile mutants 1000000`.

`lines`, `names`, `reports`, `traps` and `kills` are the attacks of `tests/hostile/attacks.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import tempfile
import time
from pathlib import Path

from tests.hostile.attacks import ATTACKS

_SHOWN_EVERY = 500


def main() -> None:
    """Say what was broken, and how far it is every thousand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("trees", "mutants", *ATTACKS))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--only", default="", help="mutants: readers of bytes whose name holds this")
    asked = parser.parse_args()
    os.environ["GPUDOCTOR_CACHE"] = ""
    started = time.monotonic()
    if asked.what in ATTACKS:
        broken = _attack(asked.what, asked.seed, asked.count)
    else:
        broken = (
            _trees(asked.seed, asked.count) if asked.what == "trees" else _mutants(asked.seed, asked.count, asked.only)
        )
    print(f"{asked.count} from seed {asked.seed}: {broken} broken, {time.monotonic() - started:.0f} s")


def _attack(what: str, first: int, count: int) -> int:
    broken = 0
    for start in range(first, first + count, _SHOWN_EVERY):
        seeds = range(start, min(start + _SHOWN_EVERY, first + count))
        for one in ATTACKS[what](seeds):
            broken += 1
            print(one, flush=True)
        print(f"{seeds.stop - first} {what}, {broken} broken", flush=True)
    return broken


def _trees(first: int, count: int) -> int:
    from tests.hostile.trees import Outside, broken_by, scratch

    broken = 0
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        outside = Outside(Path(folder) / "outside")
        gc.freeze()  # the lab's machines need not be searched for garbage with each tree
        gc.set_threshold(100_000)  # as the command line does
        for number, seed in enumerate(range(first, first + count), 1):
            for one in broken_by(seed, Path(folder), outside):
                broken += 1
                print(f"seed {one.seed}: {one.what}", flush=True)
            if number % 1000 == 0:
                print(f"{number} trees, {broken} broken", flush=True)
    return broken


def _mutants(first: int, count: int, only: str) -> int:
    from tests.hostile.mutants import failed_of
    from tests.hostile.readers import Readers, of_texts, readers

    broken = 0
    some = Readers(tuple(one for one in of_texts() if only in one.name), frozenset())
    if not some.all:
        raise SystemExit(f"--only {only}: no reader of bytes is called so")
    with contextlib.nullcontext(some) if only else readers() as found:
        print(f"{len(found.all)} readers of {len({one.name for one in found.all})} kinds", flush=True)
        for failed in failed_of(found.all, first, count):
            broken += 1
            print(f"seed {failed.seed}, {failed.reader}: {failed.what}", flush=True)
    with open("/proc/self/status", encoding="ascii") as status:
        print(next(line.strip() for line in status if line.startswith("VmHWM")))
    return broken


if __name__ == "__main__":
    main()
