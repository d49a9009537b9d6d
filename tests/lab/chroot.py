"""A case as the real machine of a real process: its tree becomes / in a mount namespace of its own.

Only what a Python needs to run is bound in from this machine; everything that gpudoctor looks at is the case's. The
process is the case's ordinary user, NVML is the stub, loaded by the real loader through the tree's own ld.so.cache.
Needs root, `unshare` and `chroot`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import typer

from tests.lab.case import SHM_BYTES, Case, Outcome
from tests.lab.parts import LIB, PYTHON, VENV

PROJECT = Path(__file__).resolve().parents[2]
OURS = "/opt/gpudoctor"
_ENDS_WITHIN_S = 60.0
_OWN = f"python3.{sys.version_info.minor}"  # what really runs, also where the tree speaks of another Python
_START = f"import sys; sys.path[:0] = ['{OURS}/lib', '{OURS}/site']; from doctor.cli import main; main()"
_ENTER = """
set -eu
tree=$1; shm=$2; shift 2
[ "$shm" = 0 ] || /bin/mount -t tmpfs -o "size=$shm" tmpfs "$tree/dev/shm"
while IFS="$(printf '\\t')" read -r source target; do /bin/mount --bind "$source" "$tree$target"; done
exec /usr/sbin/chroot --userspec=1000:1000 --groups=27,44,1000 "$tree" "$@" < /dev/null
"""
_OPENED_BY_NAME = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1")  # parts of glibc
_REAL_PROC = ("self", "stat", "meminfo", "cpuinfo", "uptime", "loadavg", "filesystems", "mounts")


class Ran(NamedTuple):
    """How a command in the tree ended."""

    status: int  # negative for a signal; 124 where it did not end in time
    output: str
    errors: str


@cache
def _runtime() -> tuple[tuple[str, str], ...]:
    """What is bound in: interpreter, standard library, their shared libraries, a shell; and where to."""
    program = os.path.realpath(sys.executable)
    library = sysconfig.get_path("stdlib")
    extensions = [str(path) for path in (Path(library) / "lib-dynload").glob("*.so")]
    binds = {f"/usr/bin/{_OWN}": program, f"/usr/bin/{PYTHON}": program, f"/usr/lib/{_OWN}": library}
    binds["/usr/bin/sh"] = os.path.realpath("/bin/sh")
    folder = os.path.dirname(next(path for path in libraries(program) if "/libc.so" in path))
    by_name = [f"{folder}/{name}" for name in _OPENED_BY_NAME if os.path.exists(f"{folder}/{name}")]
    for path in (*libraries(program, "/bin/sh", *extensions), *by_name):
        name = os.path.basename(path)
        binds[f"/usr/lib64/{name}" if name.startswith("ld-linux") else f"{LIB}/{name}"] = os.path.realpath(path)
    binds["/dev/null"], binds["/dev/urandom"] = "/dev/null", "/dev/urandom"
    return tuple((source, target) for target, source in binds.items())


def libraries(*files: str) -> Iterable[str]:
    """Every shared library that these need, by ldd."""
    text = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    return sorted(set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", text, re.MULTILINE)))


def programs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Binds of this machine's programs and of their libraries; those that are not here are left out."""
    found = []
    for name in names:
        path = next((f"{folder}/{name}" for folder in ("/usr/bin", "/bin", "/sbin") if Path(folder, name).exists()), "")
        if path:
            found.append((os.path.realpath(path), f"/usr/bin/{name}"))
            found += [(os.path.realpath(one), f"{LIB}/{os.path.basename(one)}") for one in libraries(path)]
    return [bind for bind in dict.fromkeys(found) if "ld-linux" not in bind[1]]


def prepare(case: Case, tree: Path) -> Path:
    """Lay the case's tree so that it can be entered."""
    case.build(tree)
    (tree / ".proc").mkdir()
    subprocess.run(["rm", "-rf", str(tree / "proc/self")], check=True)
    for name in _REAL_PROC:
        path = tree / "proc" / name
        if not path.exists():
            path.symlink_to(f"../.proc/{name}")
    packages = tree / VENV.lstrip("/") / "lib" / PYTHON
    if packages.is_dir() and _OWN != PYTHON:
        packages.with_name(_OWN).symlink_to(PYTHON)  # where our Python, called by the patient's name, looks for them
    subprocess.run(["chown", "-R", "1000:1000", str(tree / "home/user")], check=True)
    # -X: the links of the tree are the case's business
    subprocess.run(["/sbin/ldconfig", "-X", "-r", str(tree)], check=True, capture_output=True)
    return tree


def enter(
    case: Case,
    tree: Path,
    argv: Iterable[str],
    *,
    bind: Iterable[tuple[str, str]] = (),
    variables: dict[str, str] | None = None,
    timeout_s: float = _ENDS_WITHIN_S,
) -> Ran:
    """Run a command in a prepared tree, as its user, with its variables; `bind` are more (source, target) pairs."""
    empty = tree / ".empty"
    empty.mkdir(exist_ok=True)
    hidden = (str(empty), f"/usr/lib/{_OWN}/site-packages")
    has_packages = os.path.isdir(os.path.join(sysconfig.get_path("stdlib"), "site-packages"))  # Debian's has not
    binds = [("/proc", "/.proc"), *_runtime(), *([hidden] if has_packages else ()), *bind]
    for source, target in binds:
        if (source, target) != hidden:
            _make_target(tree / target.lstrip("/"), is_directory=os.path.isdir(source))
    shm = "0" if case.shm_bytes == SHM_BYTES else str(case.shm_bytes)
    command = ["/usr/bin/unshare", "--mount", "--", "/bin/sh", "-c", _ENTER, "sh", str(tree), shm, *argv]
    listed = "".join(f"{source}\t{target}\n" for source, target in binds)
    try:
        ran = subprocess.run(
            command,
            input=listed,
            env={**case.variables(), **(variables or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(124, "", f"did not end within {timeout_s:g} s")
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def _make_target(path: Path, *, is_directory: bool) -> None:
    if is_directory:
        path.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def run_live(case: Case, tree: Path) -> Outcome:
    """`gpudoctor check --format json` as a process of the case's machine."""
    return outcome_of(run_command(case, prepare(case, tree), "check", "--format", "json", *(["--deep"] * case.deep)))


def run_command(case: Case, tree: Path, *words: str) -> Ran:
    """A command of gpudoctor as a process of a machine that is prepared."""
    ours = [(str(PROJECT / name), f"{OURS}/lib/{name}") for name in ("compat", "doctor", "installers")]
    ours.append((str(Path(typer.__file__).parents[1]), f"{OURS}/site"))
    return enter(case, tree, [f"/usr/bin/{_OWN}", "-I", "-B", "-c", _START, *words], bind=ours)


def run_root(case: Case, tree: Path) -> Outcome:
    """`gpudoctor check --root TREE --format json` as a process of this machine."""
    case.build(tree)
    argv = [sys.executable, "-c", "from doctor.cli import main; main()", "check", "--root", str(tree)]
    ran = subprocess.run(
        [*argv, "--format", "json"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=_ENDS_WITHIN_S,
        check=False,
    )
    return outcome_of(Ran(ran.returncode, ran.stdout, ran.stderr))


def outcome_of(ran: Ran) -> Outcome:
    """The report that a run printed; AssertionError for none."""
    if not ran.output.startswith("{"):
        raise AssertionError(f"no report: status {ran.status}, {ran.errors or ran.output}")
    return Outcome(ran.status, json.loads(ran.output))
