"""`python -m tests.installers.cuda_namespace DATA`, as root in a mount namespace: install CUDA as root does, and back.

Prints the exit statuses, what the loader's cache lists after each, and what is left, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from compat.matrix import Matrix
from doctor.commands.install.apply import apply_plan
from doctor.commands.install.history import taken_back
from doctor.commands.install.install import InstallOrder, prepare
from doctor.output.document import TextStyle
from installers.run import ExecutionOptions

HOME = "/usr/local/cuda-12.8"
LOADER = "/etc/ld.so.conf.d/gpudoctor-cuda.conf"


def _listed() -> list[str]:
    told = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return sorted(line.split()[0] for line in told.splitlines() if HOME in line)


def _main(data: str) -> None:
    prepared = prepare(InstallOrder("cuda", "12.8", "archive"), Matrix(data=data))
    text, installed = apply_plan(prepared, ExecutionOptions(), "text", TextStyle())
    during = _listed()
    told, reversed_ = taken_back("", commands=True)
    left = [path for path in (HOME, LOADER) if os.path.lexists(path)]
    found = {"text": text, "statuses": [installed, reversed_], "told": told}
    sys.stdout.write(json.dumps({**found, "during": during, "after": _listed(), "left": left}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
