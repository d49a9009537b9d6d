"""Import a framework in a child under LD_DEBUG=libs, and read which CUDA libraries it asked for and mapped."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

CUDA = re.compile(
    r"lib(cuda\.so|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|cupti|nvrtc|nvJitLink|nvvm|nccl|nvshmem_h|nvinfer)"
)
_TRACE = re.compile(r"(find library|trying file)=(\S+)")

# A program that raises has still loaded what it loaded.
_RUN = """
import traceback
try:
    exec(compile({program!r}, "program", "exec"), {{"__name__": "program"}})
except BaseException:
    print("RAISED", traceback.format_exc())
"""

# Every program ends so: the files that are mapped, by the kernel's own account.
_REPORT = """
import json, os, sys
seen = []
for line in open("/proc/self/maps"):
    path = line.rstrip("\\n").partition("/")[2]
    if ".so" in path and "/" + path not in seen:
        seen.append("/" + path)
with open(os.environ["TRUTH_REPORT"], "w") as stream:
    json.dump(seen, stream)
    stream.flush()
sys.stdout.flush()
os._exit(0)
"""

# cuDNN opens its parts when it is first asked something that they know: all of that works without a GPU.
_CUDNN = """
import ctypes
def ask_cudnn():
    for line in open("/proc/self/maps"):
        path = line.split()[-1]
        if "/libcudnn.so." in path:
            break
    else:
        return
    shell = ctypes.CDLL(path)
    names = ["Graph", "Ops", "Cnn", "Adv"] if ".so.9" in path else [
        "OpsInfer", "OpsTrain", "CnnInfer", "CnnTrain", "AdvInfer", "AdvTrain"]
    for name in names:
        print(name, getattr(shell, f"cudnn{name}VersionCheck")())
    handle = ctypes.c_void_p()
    print("create", shell.cudnnCreate(ctypes.byref(handle)))
ask_cudnn()
"""


class Observed(NamedTuple):
    """What a real process did."""

    asked: frozenset[str]  # names that its loader searched for
    mapped: tuple[str, ...]  # real paths of the files that are mapped at the end
    picked: Mapping[str, str]  # by name, the last file that the loader tried for it, if that is there
    said: str  # what the program wrote


def observe(
    python: str, program: str, environ: Mapping[str, str], folder: Path, *, prefix: Sequence[str] = ()
) -> Observed:
    """Run a program, then cuDNN's own checks, in a child of this interpreter; `prefix` may be a chroot."""
    folder.mkdir(parents=True, exist_ok=True)
    report, debug = folder / "report.json", folder / "debug"
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "CUDA_MODULE_LOADING": "LAZY", "PYTHONFAULTHANDLER": "1"}
    child = subprocess.run(
        [*prefix, python, "-c", _RUN.format(program=program) + _CUDNN + _REPORT],
        env={**clean, **environ, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(debug), "TRUTH_REPORT": str(report)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd="/",
    )
    if not report.exists():
        raise RuntimeError(
            f"the program ended with {child.returncode}:\n{child.stdout[-2000:]}\n{child.stderr[-4000:]}"
        )
    picked = _picked("\n".join(trace.read_text(errors="replace") for trace in folder.glob("debug.*")))
    mapped = tuple(os.path.realpath(path) for path in json.loads(report.read_text()))
    there = {name: os.path.realpath(path) for name, path in picked.items() if path and os.path.isfile(path)}
    return Observed(frozenset(picked), mapped, there, child.stdout + child.stderr)


def _picked(trace: str) -> dict[str, str]:
    """Each name that was searched for, with the last file that was tried: where the search stopped."""
    found: dict[str, str] = {}
    name = ""
    for what, text in _TRACE.findall(trace):
        if what == "find library":
            name = text
            found[name] = ""
        elif name:
            found[name] = text
    return found
