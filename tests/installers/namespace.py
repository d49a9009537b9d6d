"""Run a plan as root would, on /usr/local/cuda, in a mount namespace whose /usr/local and /etc are its own.

`python -m tests.installers.namespace script|apply SCRIPT ERA ARCHIVE URL`, inside the namespace: carries it out, and
prints what then lies in /usr/local/cuda and what the loader's cache lists, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

CUDA = "/usr/local/cuda"
_ROOT = Path(__file__).resolve().parent.parent.parent
# What is in /usr/local stays to be seen, since Python may be there; ldconfig has a cache of its own in /var.
PRIVATE = """
set -e
mount --make-rprivate / 2>/dev/null || :
mkdir "$1/saved" "$1/etc"
mount --rbind /usr/local "$1/saved"
mount -t tmpfs none /usr/local
for entry in "$1"/saved/*; do
  name=${entry##*/}
  if [ -d "$entry" ] && [ "$name" != cuda ]; then
    mkdir "/usr/local/$name"
    mount --rbind "$entry" "/usr/local/$name"
  fi
done
cp -a /etc/. "$1/etc/" 2>/dev/null || :
mount --bind "$1/etc" /etc
if [ -d /var/cache/ldconfig ]; then mount -t tmpfs none /var/cache/ldconfig; fi
mkdir -p /usr/local/cuda/include /usr/local/cuda/lib64 /etc/ld.so.conf.d
printf '#define CUDA_VERSION %s\\n' "$2" >/usr/local/cuda/include/cuda.h
printf '/usr/local/cuda/lib64\\n' >/etc/ld.so.conf.d/gpudoctor-test.conf
shift 2
exec "$@"
"""


def run(folder: Path, cuda: int, *argv: str) -> str:
    """Standard output of a command in a namespace of its own."""
    (folder / "home").mkdir(parents=True)
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    done = subprocess.run(
        [*unshare, "sh", "-c", PRIVATE, "sh", str(folder), str(cuda), *argv],
        env={
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
            "HOME": str(folder / "home"),
            "GPUDOCTOR_STATE": str(folder / "state"),
            "GPUDOCTOR_CACHE": "",
        },
        capture_output=True,
        text=True,
        cwd=_ROOT,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def _seen() -> dict[str, object]:
    tree: dict[str, object] = {}
    for path in sorted(Path(CUDA).rglob("*")):
        if path.is_symlink():
            tree[str(path)] = os.readlink(path)
        elif path.is_file():
            tree[str(path)] = [oct(path.stat().st_mode & 0o777), hashlib.sha256(path.read_bytes()).hexdigest()]
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return {"tree": tree, "listed": sorted(line.strip() for line in listed.splitlines() if CUDA in line)}


def _main(how: str, script: str, era: str, archive: str, url: str) -> None:
    if how == "script":
        subprocess.run(["bash", script], check=True, stdout=subprocess.DEVNULL)
    else:
        from installers.apply import apply
        from installers.journal import State
        from tests.installers.archives import LINUX, plan_of

        [meant] = [one for one in LINUX if one.name == era]
        apply(plan_of(meant, "", Path(archive), url), State())
    sys.stdout.write(json.dumps(_seen()))


if __name__ == "__main__":
    _main(*sys.argv[1:])
