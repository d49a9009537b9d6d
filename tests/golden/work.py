"""Carrying out jobs, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.golden.area import area_of
from tests.golden.areas import number_of
from tests.golden.product import neutral
from tests.golden.store import Digest, digest_of, pack

# Of one length on every machine, wherever TMPDIR is, or the lines of a report would break elsewhere; letters and digits
# alone, which no format escapes.
_SCRATCH = ("/tmp/golden", "/var/tmp/go", "/dev/shm/go")  # the first that this user may write to
_NEUTRAL = f"{_SCRATCH[0]}00000000"


class Output(NamedTuple):
    """An output that was made."""

    area: str
    name: str  # the job, "/", and the part
    digest: Digest
    packed: bytes


class Job(NamedTuple):
    """A part of an area."""

    area: str
    name: str


def jobs_of(area: str, *, share: bool) -> list[Job]:
    """The jobs of an area; with `share`, those of the fast suite, drawn by their names."""
    names, of_share = area_of(area).jobs(), area_of(area).share
    if share:
        drawn = sorted(names, key=lambda name: number_of(f"{area} {name}"))
        names = drawn[: -(-len(drawn) // of_share)] if of_share else []
    return [Job(area, name) for name in names]


def carry_out(job: Job) -> list[Output]:
    """Make the outputs of a job; what differs from run to run, or with each release, is made equal."""
    with _folder() as folder:
        texts = area_of(job.area).outputs(job.name, folder)
        texts = {part: neutral(text.replace(str(folder), _NEUTRAL)) for part, text in texts.items()}
    return [Output(job.area, f"{job.name}/{part}", digest_of(text), pack(text)) for part, text in texts.items()]


@contextmanager
def _folder() -> Iterator[Path]:
    start = next(one for one in _SCRATCH if os.access(os.path.dirname(one), os.W_OK))
    folder = Path(f"{start}{secrets.token_hex(4)}")
    folder.mkdir(mode=0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def carry_out_all(jobs: Sequence[Job], processes: int) -> Iterator[list[Output]]:
    """Make the outputs of all jobs, in any order."""
    if processes == 1:
        yield from map(carry_out, jobs)
        return
    parts = [jobs[at : at + _AT_ONCE] for at in range(0, len(jobs), _AT_ONCE)]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_some, part) for part in parts]):
            yield done.result()


_AT_ONCE = 8


def _some(jobs: Sequence[Job]) -> list[Output]:
    return [output for job in jobs for output in carry_out(job)]
