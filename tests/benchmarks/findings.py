"""`python -m tests.benchmarks.findings`: CPU seconds of `check` in this process, healthy and with ten findings.

The least of several runs over the lab's trees, NVML's stub included; a wall clock would tell the neighbours' load.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.lab.case import Case, examine
from tests.lab.cases import CASES
from tests.prescribe.test_cost import TEN

_RUNS = 9


def cpu_seconds(case: Case) -> float:
    """Of one look and its judgement."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        root = case.build(Path(folder) / "tree")
        for _ in range(_RUNS):
            before = time.process_time()
            examine(case, root)
            taken.append(time.process_time() - before)
    return min(taken)


def main() -> None:
    """Both, and what the findings cost."""
    healthy, ten = (cpu_seconds(case) for case in (next(one for one in CASES if one.name == "C1a"), TEN))
    sys.stdout.write(f"healthy {healthy:.3f} s, ten findings {ten:.3f} s: {ten - healthy:.3f} s more\n")


if __name__ == "__main__":
    main()
