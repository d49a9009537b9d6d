"""The parent: one child for a trial, watched and killed in time. No library of CUDA is ever loaded in this process."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping

from doctor.host import NotRunnable
from doctor.host.child import Child
from doctor.smoke.events import Log, read_events
from doctor.smoke.outcome import Ending, Order, Outcome

_LOOK_S = 0.05
_EVENTS_AT_MOST_BYTES = 16 << 20  # a whole trial writes less than one
_STDERR_AT_MOST_BYTES = 4096
_START = (
    "import json, sys; told = json.load(open(sys.argv[1], encoding='utf-8')); sys.path[:] = told['path']; "
    "from doctor.smoke.worker import main; main(told['order'], told['events'])"
)
# Libraries that programs of all kinds share: a directory with one of them is not searched before the system's own.
_SHARED = ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libssl.so.3", "libcrypto.so.3")


def run(order: Order, environ: Mapping[str, str] | None = None) -> Outcome:
    """Try one copy of cuDNN on one GPU; never raises for what the copy does.

    `environ` is what the child's environment is made from, this process' own by default. Raises OSError where there is
    no room for its files; the child is killed before a KeyboardInterrupt goes on.
    """
    order = order._replace(library=os.path.abspath(order.library))
    with tempfile.TemporaryDirectory(prefix="gpudoctor-", ignore_cleanup_errors=True) as folder:
        events = os.path.join(folder, "events")
        environment = child_environment(order, os.environ if environ is None else environ, folder)
        argv = (sys.executable, "-I", "-B", "-c", _START, _told(order, events, folder))
        begun = time.monotonic()
        try:
            child = Child(argv, environment)
        except NotRunnable as refused:
            ending = Ending(kind="not-started", code=0, stage="", doing="", stderr=refused.why)
            return Outcome(library=order.library, gpu=order.gpu, level=order.level, stages=(), rows=(), ending=ending)
        with child:
            kind, code = _watch(child, events, order)
            log = read_events(_written(events), time.monotonic() - begun)
            return _outcome(order, log, kind, code, child.last_words(_STDERR_AT_MOST_BYTES))


def _told(order: Order, events: str, folder: str) -> str:
    """The file that tells the child what to do; CuPy may lie in a user's directory that -I leaves out."""
    open(events, "wb").close()
    path = os.path.join(folder, "order")
    told = {"path": [os.path.abspath(one) for one in sys.path], "order": order._asdict(), "events": events}
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(told, stream)
    return path


def _watch(child: Child, events: str, order: Order) -> tuple[str, int]:
    """How it ended, and the status or the signal. It is killed where it writes no event for too long, or too many."""
    begun = changed = time.monotonic()
    size = 0
    while (status := child.wait(_LOOK_S)) is None:
        now, written = time.monotonic(), os.path.getsize(events)
        if written != size:
            size, changed = written, now
        is_late = now - changed > order.stage_timeout_s or now - begun > order.timeout_s
        if is_late or size > _EVENTS_AT_MOST_BYTES:
            child.kill()
            return "timed-out", 0
    return ("signal", -status) if status < 0 else ("exited", status)


def _written(events: str) -> bytes:
    with open(events, "rb") as stream:
        return stream.read(_EVENTS_AT_MOST_BYTES)


def _outcome(order: Order, log: Log, kind: str, code: int, stderr: str) -> Outcome:
    ending = Ending(kind=kind, code=code, stage=log.stage, doing=log.doing, stderr=stderr)
    return Outcome(
        library=order.library, gpu=order.gpu, level=order.level, stages=log.stages, rows=log.rows, ending=ending
    )


def child_environment(order: Order, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment of a trial: what is searched for libraries must stand in it before a process starts.

    This copy's directory comes first, then those of the order. A variable that would turn TF32 on or off is left out;
    CuPy keeps what it compiles in the trial's own directory.
    """
    name = "PATH" if sys.platform == "win32" else "LD_LIBRARY_PATH"
    searched = [one for one in (*_own_directories(order.library), *order.library_dirs, environ.get(name, "")) if one]
    made = {key: value for key, value in environ.items() if key not in {"NVIDIA_TF32_OVERRIDE", name}}
    made["CUPY_CACHE_DIR"] = os.path.join(folder, "cupy")
    return made | ({name: os.pathsep.join(searched)} if searched else {})


def _own_directories(library: str) -> list[str]:
    """Where the copy lies: where the path leads if only the main library is linked there.

    None where its neighbours would shadow the system's libraries.
    """
    directory = os.path.dirname(library)
    if not any(name.startswith(("libcudnn_", "cudnn_")) for name in _names_in(directory)):
        directory = os.path.dirname(os.path.realpath(library))
    return [] if any(os.path.exists(os.path.join(directory, name)) for name in _SHARED) else [directory]


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []  # the child will say that the library cannot be opened
