"""Real wheels for the tests: downloaded once through the user's own pip configuration, kept in a cache folder.

`GPUDOCTOR_TEST_CACHE` names the folder; without it, it is the user's cache directory.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import platformdirs

CACHE = Path(os.environ.get("GPUDOCTOR_TEST_CACHE") or platformdirs.user_cache_path("gpudoctor-tests"))
LINUX = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)),
    "manylinux2014_x86_64",
    "manylinux2010_x86_64",
    "manylinux1_x86_64",
    "linux_x86_64",
)
WINDOWS = ("win_amd64",)
# JAX on a CPU, without what the tests bring themselves (NumPy).
JAX_WHEELS = ("jax==0.7.2", "jaxlib==0.7.2", "ml-dtypes==0.5.1", "opt-einsum==3.4.0", "scipy==1.15.3")
# torch for the CPU where the configuration has such a build; the index' own brings CUDA, and gigabytes.
TORCH_WHEELS = (
    *("torch==2.13.0", "typing-extensions==4.15.0", "sympy==1.14.0", "mpmath==1.3.0", "networkx==3.5", "jinja2==3.1.6"),
    *("markupsafe==3.0.3", "fsspec==2025.9.0", "filelock==3.19.1", "setuptools==80.9.0", "numpy==2.4.6"),
)


def fetch(requirement: str, *, python: str = "3.11", platforms: Iterable[str] = LINUX) -> Path:
    """The wheel of one pinned requirement ("nvidia-cudnn-cu12==9.10.2.21"), without its dependencies."""
    platforms = tuple(platforms)
    folder = CACHE / re.sub(r"[^\w.]+", "-", f"{requirement}-py{python}-{platforms[0]}")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest-xdist: one worker downloads, the others wait
        found = sorted(folder.glob("*.whl"))
        return found[0] if found else fetch_into(folder, requirement, python=python, platforms=platforms)


def fetch_into(
    folder: Path, requirement: str, *, python: str = "3.11", platforms: Iterable[str] = LINUX, keep: bool = True
) -> Path:
    """Download such a wheel into a folder; `keep` lets pip keep a copy of its own as well."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", python, "--dest", str(folder), *(["--no-cache-dir"] if not keep else [])]
    command += [option for platform in platforms for option in ("--platform", platform)]
    subprocess.run([*command, requirement], check=True)
    return next(iter(sorted(folder.glob("*.whl"))))


def installed(requirement: str, folder: Path, *more: str) -> Path:
    """A site directory with packages and what they require, as pip chooses it."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:"]
    subprocess.run([*command, "--target", str(folder), requirement, *more], check=True)
    return folder


def unpack(wheel: Path, site: Path, only: Iterable[str] = ()) -> Path:
    """Unpack a wheel into a site directory as pip would lay it (data folders aside); returns the site directory.

    `only` restricts it to members whose path starts with one of these texts.
    """
    prefixes = tuple(only)
    with zipfile.ZipFile(wheel) as archive:
        members = [name for name in archive.namelist() if not prefixes or name.startswith(prefixes)]
        archive.extractall(site, members)
    return site
