"""Run one framework's program (`doctor/commands/verify/frameworks/`) in the interpreter of the user's environment.

Started by `doctor.commands.verify.trial` as text (`python -c`, with a call of `main` at its end), so that the directory
of the programs, in which a torch.py lies, is never searched for modules. Plain Python of 3.6 and later. Arguments: path
of the program, a JSON object with `gpu` (-1: the CPU), `share` (of its memory, 0: not known) and `problem`, and the
file for what it says: the events of `doctor.commands.verify.cudnn_trial.events`, since frameworks write to standard
output, too.
"""

import json
import os
import re
import sys
import time
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: those of 3.6 know no tuple[...]
    from collections.abc import Callable
    from typing import Any, NoReturn

_LIBRARIES = re.compile(
    r"/(lib(cudnn|cublas|cublasLt|nvrtc|cudart|cuda|cufft|nccl)[\w.-]*\.so[\d.]*"
    r"|(?i:(cudnn|cublas|cublasLt|nvrtc|cudart|nvcuda|cufft)[\w.-]*\.dll))$"
)


def say(**event: "object") -> None:
    """Write an event."""
    with open(sys.argv[3], "a") as stream:
        stream.write(json.dumps(event) + "\n")


def end(name: str, started: float, status: str, **more: "object") -> None:
    """Write that a stage came to its end."""
    told = {"fault": None, "lacks": "", "facts": {}}  # type: dict[str, object]
    say(event="end", name=name, status=status, seconds=time.time() - started, **dict(told, **more))


def stage(name: str, work: "Callable[[], tuple[Any, dict[str, Any]]]") -> "tuple[bool, Any]":
    """Whether it could be gone through, and what `work` gives; ends the process where it fails."""
    say(event="begin", stage=name)
    started = time.time()
    try:
        found, facts = work()
    except LookupError as error:
        if type(error) is not LookupError:  # a KeyError is the framework's own fault
            fail(name, started)
        end(name, started, "missing", lacks=str(error.args[0]), facts={"is_meant": error.args[1:] == ("MEANT",)})
        return False, None
    except BaseException:  # noqa: BLE001 - an import may raise anything, SystemExit included
        fail(name, started)
    end(name, started, "passed", facts=facts)
    return True, found


def fail(name: str, started: float) -> "NoReturn":
    """Say what was raised and which files are mapped, and end."""
    kind, error = sys.exc_info()[:2]
    words = "".join(traceback.format_exception_only(kind, error)).strip()
    raised = {
        "kind": "python",
        "function": "",
        "status": 0,
        "name": kind.__name__ if kind else "",
        "text": words[-2000:],
    }
    end(name, started, "failed", fault=raised)
    if name != "mapped":
        stage("mapped", mapped)
    leave()


def leave() -> "NoReturn":
    """At once: what libraries do at the end of a process can hang or crash, and says nothing of the stack."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def mapped() -> "tuple[None, dict[str, list[str] | None]]":
    """The files of CUDA's libraries that are mapped, by the system's own account."""
    found = []  # type: list[str]
    try:
        for path in modules() if sys.platform == "win32" else maps():
            if _LIBRARIES.search(path) and path not in found:
                found.append(path)
    except OSError:
        return None, {"files": None}
    return None, {"files": found}


def maps() -> "list[str]":
    """A line is: addresses, permissions, offset, device, inode, path."""
    with open("/proc/self/maps") as lines:
        return ["/" + line.rstrip("\n").partition("/")[2] for line in lines]


def modules() -> "list[str]":
    """Source: K32EnumProcessModules and GetModuleFileNameW in Microsoft's documentation."""
    import ctypes

    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    process, needed = ctypes.c_void_p(-1), ctypes.c_ulong()  # -1: this process
    handles = (ctypes.c_void_p * 4096)()
    if not kernel.K32EnumProcessModules(process, handles, ctypes.sizeof(handles), ctypes.byref(needed)):
        raise OSError("K32EnumProcessModules")
    found = []
    for handle in handles[: needed.value // ctypes.sizeof(ctypes.c_void_p)]:
        room = ctypes.create_unicode_buffer(32768)
        kernel.GetModuleFileNameW(ctypes.c_void_p(handle), room, 32768)
        found.append(room.value.replace("\\", "/"))
    return found


def main() -> "NoReturn":
    """Go through the stages; the process ends with the last."""
    path, order = sys.argv[1], json.loads(sys.argv[2])
    program = {"__name__": "program"}  # type: dict[str, Any]
    with open(path) as stream:
        exec(compile(stream.read(), path, "exec"), program)  # noqa: S102 - our own file, of doctor/commands/verify/frameworks

    def load() -> "tuple[Any, dict[str, Any]]":
        return None, program["load"]()

    def device() -> "tuple[Any, dict[str, Any]]":
        if order["gpu"] >= 0 and order["share"] and "take_at_most" in program:
            program["take_at_most"](order["share"])
        return (program["cpu"]() if order["gpu"] < 0 else program["gpu"](order["gpu"])), {}

    def convolution() -> "tuple[Any, dict[str, Any]]":
        results, used = program["convolve"](place, order["problem"])
        on_cpu = [one for one, where in used["executed"] or () if where == "cpu"]
        if on_cpu and order["gpu"] >= 0:
            raise LookupError("it computes on the CPU: " + ", ".join(on_cpu))
        return None, dict(used, results=results)

    os.environ.update(program.get("ENVIRONMENT", {}))
    stage("import", load)
    is_there, place = stage("device", device)
    if is_there:
        stage("convolution", convolution)
    stage("mapped", mapped)
    leave()
