"""The fast suite under harder conditions: `python -m tests.conditions [--seed N] [ARGUMENTS OF PYTEST]`, as root.

The last commit is cloned, and its tests run there as the user `nobody`, in random order, with no network but the
loopback device, another TMPDIR, no HOME, LANG=C and umask 077. As a plugin of pytest this module makes the order.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_SEED, _USER = "GPUDOCTOR_TEST_SEED", "nobody"
_START = 'umask 077; ip link set lo up; exec setpriv --reuid "$0" --regid "$1" --clear-groups "${@:2}"'


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order of the seed."""
    random.Random(os.environ[_SEED]).shuffle(items)


def main() -> int:
    """Return the status of pytest."""
    parser = argparse.ArgumentParser(prog="python -m tests.conditions")
    parser.add_argument("--seed", default="1")
    asked, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        clone, scratch = Path(folder, "clone"), Path(folder, "scratch")
        scratch.mkdir()
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        user, group = (
            subprocess.run(["id", option, _USER], check=True, capture_output=True, text=True).stdout.strip()
            for option in ("-u", "-g")
        )
        subprocess.run(["chown", "-R", f"{user}:{group}", folder], check=True)
        changed = {"LANG": "C", "LC_ALL": "C", "TMPDIR": str(scratch), "PYTHONPATH": str(clone), _SEED: asked.seed}
        kept = {name: value for name, value in os.environ.items() if name not in {"HOME", "USER", "LOGNAME"}}
        command = [sys.executable, "-m", "pytest", "-p", "tests.conditions", "-p", "no:cacheprovider", *arguments]
        started = ["unshare", "--net", "bash", "-c", _START, user, group, *command]
        return subprocess.run(started, cwd=clone, env={**kept, **changed}).returncode


if __name__ == "__main__":
    sys.exit(main())
