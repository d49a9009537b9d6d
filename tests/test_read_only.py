"""What commands that only read ask of the kernel: no socket, no program but those listed, no write but those listed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.cases import CASES

ROOT = Path(__file__).resolve().parent.parent
CALLS = (
    "execve,execveat,socket,connect,open,openat,openat2,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,"
    "link,linkat,symlink,symlinkat,rmdir,chmod,fchmod,fchmodat,chown,fchownat,truncate,utimensat,mknod,mknodat,setxattr,"
    "mount,kill,ptrace"
)
COMMANDS = (
    "check",
    "check --format json --redact",
    "check --root {root}",
    "check --root {root} --format sarif",
    "gate --root {root}",
    "which cudnn",
    "which cudnn --root {root}",
    "explain no-nvidia-gpu",
    "explain {log}",
    "check --from {log}",
    "matrix list",
    "matrix can torch==2.9.1",
    "matrix show cudnn",
    "install cudnn 9.10.2",
    "install torch",
    "install history",
    "policy init --output -",
    "--version",
    "--help",
)
# Our own interpreter asks NVML; of the system's programs these are asked, each as README's page on check says.
PROGRAMS = {os.path.basename(sys.executable), os.path.basename(os.path.realpath(sys.executable)), "nvidia-smi"}
PLACES = ("/dev/null", "/dev/tty", "/dev/pts/")
CACHE = re.compile(r"\.cache|gpudoctor|\w+\.json(\.\d+)?")  # entered from the descriptor of the directory above

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")


def traced(words: str, folder: Path) -> list[str]:
    """What `gpudoctor` asked of the kernel, without what failed."""
    log = folder / "strace"
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    program = (sys.executable, "-m", "gpudoctor", *words.split())
    command = ("strace", "-f", "-qq", "-s", "300", "-e", f"trace={CALLS}", "-o", str(log), *program)
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120)
    if "ptrace" in done.stderr and not log.read_text().count("execve"):
        pytest.skip("this system lets nobody trace")
    assert done.returncode in {0, 1, 2, 4}, done.stderr
    lines = [re.sub(r"^\d+ +", "", line) for line in log.read_text(errors="replace").splitlines()]
    return [line for line in lines if " = -1 E" not in line and not line.startswith(("+++", "---", "<..."))]


def is_listed(call: str, home: Path) -> bool:
    """Whether a call is one of those that a command that only reads may make."""
    name, _, rest = call.partition("(")
    named = re.findall(r'"((?:[^"\\]|\\.)*)"', rest)
    if name in {"open", "openat", "openat2"} and not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND", rest):
        return True
    if name == "execve":
        return os.path.basename(named[0]) in PROGRAMS
    within = [one for one in named if one.startswith((*PLACES, f"{home}/.cache/gpudoctor")) or CACHE.fullmatch(one)]
    return bool(named) and within == named


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_only_reads(words: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "log").write_text(
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    )
    case = next(one for one in CASES if one.name == "F23")
    case.build(tmp_path / "root")
    calls = traced(words.format(root=tmp_path / "root", log=tmp_path / "log"), tmp_path)
    assert calls[0].startswith("execve")
    assert [one for one in calls if not is_listed(one, tmp_path / "home")] == []


def test_what_is_not_listed_is_noticed(tmp_path: Path) -> None:
    """Each kind of call, as strace writes it."""
    for call in (
        "socket(AF_INET, SOCK_STREAM, 0) = 3",
        'execve("/usr/bin/pip", ["pip"], 0x1) = 0',
        'openat(AT_FDCWD, "/etc/x", O_WRONLY|O_CREAT, 0666) = 3',
        'unlink("/tmp/x") = 0',
        'rename("/tmp/x", "/tmp/y") = 0',
    ):
        assert not is_listed(call, tmp_path)
    assert is_listed('openat(AT_FDCWD, "/etc/x", O_RDONLY|O_CLOEXEC) = 3', tmp_path)
