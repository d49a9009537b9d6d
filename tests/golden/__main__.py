"""Compare every output of gpudoctor with the approved one; exit status 1 where one differs."""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.golden import area
from tests.golden.compare import Change, changes, counts, diffs
from tests.golden.store import DIGESTS, Digest, Texts, cache_path, read_digests, write_digests
from tests.golden.work import Job, carry_out_all, jobs_of

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Exit status: 0 no difference, or approved; 1 a difference; 2 bad usage."""
    asked = _options()
    started = time.monotonic()
    chosen = asked.areas or area.names()
    jobs = [job for name in chosen for job in jobs_of(name, share=asked.share)]
    with _approved(asked) as folder:
        before = {name: _of_jobs(read_digests(folder, name), name, jobs) for name in chosen}
        texts = Texts(cache_path())
        after = made(jobs, texts, asked.processes)
        found = [one for name in chosen for one in changes(name, before[name], after.get(name, {}))]
        if asked.approve:
            for name in chosen:
                write_digests(folder, name, {**_others(folder, name, jobs), **after.get(name, {})})
    made_count = sum(map(len, after.values()))
    print(f"{made_count} outputs, {len(found)} differences, {time.monotonic() - started:.0f} s")
    report(found, texts, asked.diffs, asked.lines)
    return 1 if found and not asked.approve else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"only these: {', '.join(area.names())}")
    parser.add_argument("--approve", action="store_true", help="write the digests of today's outputs")
    parser.add_argument("--base", metavar="REV", help="compare with what this commit prints")
    parser.add_argument("--share", action="store_true", help="run only the share of the fast suite")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default: 2")
    parser.add_argument("--diffs", type=int, default=10, metavar="N", help="different diffs to show (default: 10)")
    parser.add_argument("--lines", type=int, default=40, metavar="N", help="lines of a diff to show (default: 40)")
    parser.add_argument("--digests", type=Path, default=DIGESTS, metavar="DIR", help="default: the committed ones")
    asked = parser.parse_args()
    if unknown := {*asked.areas} - {*area.names()}:
        parser.error(f"no area {', '.join(unknown)}")
    if asked.base and asked.approve:
        parser.error("--approve does not go with --base")
    return asked


def made(jobs: list[Job], texts: Texts, processes: int) -> dict[str, dict[str, Digest]]:
    """Carry the jobs out, keep the texts, and return the digests by area and id."""
    digests: dict[str, dict[str, Digest]] = {}
    for outputs in carry_out_all(jobs, processes):
        texts.add((one.digest, one.packed) for one in outputs)
        for one in outputs:
            digests.setdefault(one.area, {})[one.name] = one.digest
    return digests


def report(found: list[Change], texts: Texts, most: int, lines: int) -> None:
    """Print counts, then diffs."""
    for line in counts(found):
        print(line)
    for shown in itertools.islice(diffs(found, texts, lines), most):
        more = f" and {len(shown.names) - 1} more" if len(shown.names) > 1 else ""
        print(f"\n== {shown.names[0]}{more}")
        print("\n".join(shown.diff))


def _of_jobs(digests: dict[str, Digest], name: str, jobs: list[Job]) -> dict[str, Digest]:
    """With --share, only what the chosen jobs make; else all, so that an output that is gone is seen."""
    every = {job.name for job in jobs_of(name, share=False)}
    left_out = every - {job.name for job in jobs if job.area == name}
    return {one: digest for one, digest in digests.items() if one.rpartition("/")[0] not in left_out}


def _others(folder: Path, name: str, jobs: list[Job]) -> dict[str, Digest]:
    digests = read_digests(folder, name)
    return {one: digest for one, digest in digests.items() if one not in _of_jobs(digests, name, jobs)}


@contextmanager
def _approved(asked: argparse.Namespace) -> Iterator[Path]:
    """The digests to compare with: the committed ones, or those of a commit, whose own harness makes them."""
    if not asked.base:
        yield asked.digests
        return
    with tempfile.TemporaryDirectory() as folder:
        tree, digests = f"{folder}/tree", f"{folder}/digests"
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", tree, asked.base], check=True)
        command = [sys.executable, "-m", "tests.golden", "--approve", "--digests", digests, "--diffs", "0"]
        command += ["--share"] * asked.share + ["--processes", str(asked.processes), *asked.areas]
        environment = {**os.environ, "PYTHONPATH": tree, "GPUDOCTOR_GOLDEN_CACHE": str(cache_path().parent)}
        try:
            subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
            yield Path(digests)
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", tree], check=False)


if __name__ == "__main__":
    sys.exit(main())
