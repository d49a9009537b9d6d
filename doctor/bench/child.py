"""The parent's side of one child: started, listened to, killed when it takes too long; its end becomes words."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from compat.record import NamedTuple
from doctor.bench import job
from doctor.bench.job import Job
from doctor.host import NotRunnable
from doctor.host.child import Child

_START = (
    "import json, sys; sys.path[:] = json.load(open(sys.argv[1], encoding='utf-8'))['import_from']; "
    "from doctor.bench.worker import start; start(*sys.argv[1:3])"
)
_LOOK_S = 0.05
_LAST_WORDS_BYTES = 2000
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Event = dict[str, Any]


class Ended(NamedTuple):
    """How a child ended, if not well."""

    needs: str  # as in outcome.Lack
    why: str  # "" where it said its last line


def run(told: Job, threads: int, hear: Callable[[Event], None], environ: Mapping[str, str] | None = None) -> Ended:
    """Measure in a child; `hear` is told every event as it comes.

    Raises OSError where there is no room for its files; the child is killed before a KeyboardInterrupt goes on.
    """
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-", ignore_cleanup_errors=True) as folder:
        order, events = os.path.join(folder, "job"), os.path.join(folder, "events")
        job.write(told, order)
        open(events, "wb").close()
        argv = (sys.executable, "-X", "faulthandler", "-I", "-B", "-c", _START, order, events)
        try:
            child = Child(argv, environment(told, threads, os.environ if environ is None else environ))
        except NotRunnable as refused:
            return Ended("", f"no child could be started: {refused.why}")
        with child:
            return _Listener(events, hear).follow(child, told.order.timeout_s)


class _Listener:
    """To one child's events."""

    def __init__(self, path: str, hear: Callable[[Event], None]) -> None:
        self._path = path
        self._hear = hear
        self._read_bytes = 0
        self._doing = ""
        self._is_over = False

    def follow(self, child: Child, timeout_s: float) -> Ended:
        """To its end, or until it is killed."""
        deadline = time.monotonic() + timeout_s
        while (status := child.wait(_LOOK_S)) is None:
            self._listen()
            if time.monotonic() > deadline:
                child.kill()
                return Ended("time", f"not done within {timeout_s:g} s{self._where()}")
        self._listen()
        return Ended("", "") if self._is_over else self._died(status, child.last_words(_LAST_WORDS_BYTES))

    def _listen(self) -> None:
        """Read the whole lines that came since."""
        with open(self._path, "rb") as events:
            events.seek(self._read_bytes)
            new = events.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            event = json.loads(line)
            self._doing = event.get("doing", self._doing)
            self._is_over = self._is_over or "end" in event
            self._hear(event)

    def _died(self, status: int, stderr: str) -> Ended:
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            needs = "memory" if name == "SIGKILL" else ""
            hint = ": the system kills so what takes more memory than there is" if needs else ""
            return Ended(needs, f"the child was killed by {name}{self._where()}{hint}")
        last = stderr.strip().rpartition("\n")[2] or "it said nothing"
        return Ended("", f"the child ended with status {status}{self._where()}: {last}")

    def _where(self) -> str:
        return f" while {self._doing}" if self._doing else ""


def environment(told: Job, threads: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a child: threads of BLAS, how products may be rounded, where libraries are."""
    found = {name: value for name, value in environ.items() if name != "NVIDIA_TF32_OVERRIDE"}  # it overrules the order
    found.update(dict.fromkeys(_THREAD_VARIABLES, str(threads)))
    found["CUPY_TF32"] = "1" if told.order.dtype == "tf32" else "0"  # of CuPy's products of matrices
    if told.order.library_dirs:
        variable = "PATH" if sys.platform == "win32" else "LD_LIBRARY_PATH"
        # behind what is there: a directory of the system put first would shadow a conda environment's libstdc++
        found[variable] = os.pathsep.join(filter(None, (found.get(variable, ""), *told.order.library_dirs)))
    return found
