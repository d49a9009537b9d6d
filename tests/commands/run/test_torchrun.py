"""The real torchrun with several ranks, of which one fails: its text is the one that is explained."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wheels import TORCH_WHEELS, fetch, unpack

pytestmark = pytest.mark.slow

TRAIN = """
import os, time, torch
from torch.distributed.elastic.multiprocessing.errors import record

@record
def main():
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    print(f"rank {rank} of {torch.distributed.get_world_size()} starts", flush=True)
    if rank == 3:
        torch.zeros(1).cuda()  # this torch is built for the CPU
    time.sleep(300)

main()
"""


def test_one_of_several_ranks_fails(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for wheel in TORCH_WHEELS:
        unpack(fetch(wheel, python=f"{sys.version_info.major}.{sys.version_info.minor}"), site)
    (tmp_path / "train.py").write_text(TRAIN)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4", "train.py"]
    environ = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[3]}{os.pathsep}{site}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor", "run", "--", sys.executable, *launch],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 1, done.stderr
    assert "rank 3 of 4 starts" in done.stdout
    assert "Root Cause (first observed failure)" in done.stderr
    assert "cpu-only-wheel" in done.stderr.rpartition("Root Cause")[2], done.stderr[-4000:]
    assert "Torch not compiled with CUDA enabled" in done.stderr.rpartition("Root Cause")[2]
