"""Everything that only a GPU can prove, in one command: `python -m tests.gpu [--output DIR] [--only STEP]`.

The clocks, the power limit and every other setting of the card are left alone. The raw output of each step is kept in
the directory; a short table comes last. Exit status: 0 every criterion is met, 1 one is not, 4 there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.gpu.steps import SHARES, STEPS, Result, Stage, gpu_name

NO_GPU = 4
SECONDS = 540.0  # such a machine is lent for ten minutes at a time, and a call may take nine


def main(argv: list[str] | None = None) -> int:
    """Run the steps, write summary.json, print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", default="gpu-results", help="where the raw output goes; gpu-results by default")
    parser.add_argument("--only", action="append", choices=sorted(STEPS), help="this step alone; repeatable")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for all of it; {SECONDS:.0f} by default")
    told = parser.parse_args(argv)
    name = gpu_name()
    if not name:
        for step in told.only or STEPS:
            say(f"{step}: not run: no GPU")
        return NO_GPU
    stage = Stage(Path(told.output), name)
    stage.folder.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    steps, end = list(told.only or STEPS), time.monotonic() + told.seconds
    for place, step in enumerate(steps):
        seconds = share(steps[place:], end - time.monotonic())
        say(f"{step} ... at most {seconds:.0f} s")
        results += STEPS[step](stage._replace(end=time.monotonic() + seconds))
        write(stage, results)  # after each: what was learned must outlive a step that is cut off
    say(table(name, results))
    return 0 if all(one.is_met is not False for one in results) else 1


def share(steps: list[str], left_s: float) -> float:
    """The first step's part of the seconds that are left for all of them: what one does not need, the next have."""
    return max(left_s, 0.0) * SHARES[steps[0]] / sum(SHARES[one] for one in steps)


def write(stage: Stage, results: list[Result]) -> None:
    """What is known so far, for programs."""
    content = {"gpu": stage.gpu, "results": [one._asdict() for one in results]}
    (stage.folder / "summary.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def table(name: str, results: list[Result]) -> str:
    """One line a result: whether its criterion is met, what it is, and the figure."""
    marks = {True: "met", False: "NOT MET", None: "-"}
    wide = max((len(one.what) for one in results), default=0)
    lines = [f"{marks[one.is_met]:8}{one.what.ljust(wide)}  {one.figure}" for one in results]
    return "\n".join([f"\n{name}", *lines])


def say(text: str) -> None:
    """A line for who waits."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
