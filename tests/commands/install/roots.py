"""Roots of distributions, made once with debootstrap and kept, and a repository that stands in for NVIDIA's.

The mirror is the one that debootstrap takes by itself. Of other distributions than Debian there is no mirror here:
their roots are one of Debian's with another /etc/os-release, and packages of their names from the repository below.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import subprocess
from pathlib import Path

from tests.installers.test_fetch_keyring import gpg
from tests.wheels import CACHE

# Mounts of its own, so that nothing stays: the root below, and above it what the run writes.
_INSIDE = """
set -e
mount --make-rprivate / 2>/dev/null || :
mount -t tmpfs none "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root" 2>/dev/null ||
  cp -a "$1/." "$2/root/"
mount -t proc proc "$2/root/proc"
cp -a "$3/." "$2/root/"
cp -L /etc/resolv.conf "$2/root/etc/resolv.conf" 2>/dev/null || :
cd "$2"
shift 3
exec "$@"
"""


def root_of(suite: str, *packages: str) -> Path:
    """A minimal root of a Debian release, with these packages; other workers wait for the one that makes it."""
    found = CACHE / "roots" / "-".join((suite, *packages))
    found.parent.mkdir(parents=True, exist_ok=True)
    with (found.parent / f"{found.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found / "made").exists():
            subprocess.run(["rm", "-rf", str(found)], check=True)
            more = [f"--include={','.join(packages)}"] if packages else []
            words = ["debootstrap", "--variant=minbase", *more, suite, str(found)]
            done = subprocess.run(words, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-2000:]
            (found / "made").touch()
    return found


def run_inside(root: Path, folder: Path, added: Path, commands: str, *, timeout_s: int = 600) -> str:
    """What a shell says that runs as root in the root, with the files of `added` laid over it."""
    folder.mkdir(parents=True)
    chroot = ["chroot", f"{folder}/root", "/bin/bash", "-c", f"cd /srv\n{commands}"]
    environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", _INSIDE, "sh", str(root), str(folder), str(added), *chroot],
        env={**kept, **environ, "no_proxy": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def package(folder: Path, name: str, files: dict[str, str], version: str = "999-1") -> Path:
    """A package that marks that it was installed."""
    tree = folder / f"{name}.tree"
    for path, text in {f"srv/installed/{name}": version, **files}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text.encode("latin-1"))
        (tree / path).chmod(0o755 if "bin/" in path else 0o644)
    control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(control)
    built = folder / f"{name}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", str(tree), str(built)], check=True, stdout=-3)
    return built


def repository(folder: Path, packages: dict[str, dict[str, str]], home: Path, key: str) -> None:
    """A flat repository with these packages and their files, signed."""
    folder.mkdir(parents=True)
    rows = []
    for name, files in packages.items():
        built = package(folder, name, files)
        data = built.read_bytes()
        control = subprocess.run(["dpkg-deb", "-f", str(built)], check=True, capture_output=True, text=True).stdout
        digest = hashlib.sha256(data).hexdigest()
        rows.append(f"{control.strip()}\nFilename: ./{name}.deb\nSize: {len(data)}\nSHA256: {digest}\n")
    text = "\n".join(rows).encode()
    (folder / "Packages").write_bytes(text)
    (folder / "Packages.gz").write_bytes(gzip.compress(text))
    sums = [
        f" {hashlib.sha256((folder / one).read_bytes()).hexdigest()} {(folder / one).stat().st_size} {one}"
        for one in ("Packages", "Packages.gz")
    ]
    (folder / "Release").write_text(
        "Origin: x\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n" + "\n".join(sums) + "\n"
    )
    gpg(home, "--yes", "-u", key, "--clearsign", "-o", str(folder / "InRelease"), str(folder / "Release"))
