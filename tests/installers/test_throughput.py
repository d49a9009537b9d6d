"""Download, verify, unpack and copy, against curl, sha256sum, tar and cp on the same machine in the same run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from tests.installers.server import serving

ROOT = Path(__file__).resolve().parents[2]
AT_MOST = 1.3  # times the time of the tools
MOST_KIB = 64 << 10
CHILD = """
import sys
from installers.apply import apply
from installers.journal import State
from installers.plan import Plan
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.extract import Extract
url, digest, size, root = sys.argv[1:]
steps = (
    Download(url, "c.tgz", (digest,), int(size), "manifest", ""),
    Extract("c.tgz", "", ""),
    CopyTree("lib", f"{root}/lib64", ("*",), ""),
)
apply(Plan("x", steps), State(f"{root}/state"))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def libraries(root: Path) -> bytes:
    """200 MB of libraries, of which two thirds do not compress, as a .tar.gz."""
    (root / "lib").mkdir()
    for number in range(4):
        with (root / f"lib/libcudnn_{number}.so.9").open("wb") as file:
            for _ in range(33):
                file.write(os.urandom(1 << 20) + b"\0abc" * (1 << 17))
    with tarfile.open(root / "c.tgz", "w:gz", compresslevel=1) as archive:
        archive.add(root / "lib", "lib")
    return (root / "c.tgz").read_bytes()


@pytest.mark.slow
def test_throughput(tmp_path: Path) -> None:
    if sys.platform != "linux" or any(shutil.which(name) is None for name in ("curl", "sha256sum", "tar")):
        pytest.skip("compares with curl, sha256sum and tar")
    content = libraries(tmp_path)
    digest = hashlib.sha256(content).hexdigest()
    times_s: dict[str, list[float]] = {"tools": [], "ours": []}
    with serving(content) as server:
        tools = f"curl -s {server.url} | tee c.tgz | sha256sum && tar xzf c.tgz && mkdir lib64 && cp -P lib/* lib64"
        ours = [sys.executable, "-c", CHILD, server.url, digest, str(len(content))]
        for number in range(3):
            place = tmp_path / str(number)
            place.mkdir()
            began = time.monotonic()
            subprocess.run(["sh", "-c", tools], cwd=place, check=True, capture_output=True)
            times_s["tools"].append(time.monotonic() - began)
            shutil.rmtree(place / "lib64")
            began = time.monotonic()
            done = subprocess.run([*ours, str(place)], cwd=ROOT, check=True, capture_output=True, text=True)
            times_s["ours"].append(time.monotonic() - began)
            assert int(done.stdout) <= MOST_KIB
            shutil.rmtree(place)
    print({name: [round(one, 2) for one in found] for name, found in times_s.items()})  # noqa: T201 - the result
    assert min(times_s["ours"]) <= AT_MOST * min(times_s["tools"])
