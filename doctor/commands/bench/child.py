"""The parent's side of one child: listened to while it measures; its end becomes words."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping

from compat.base.record import NamedTuple
from doctor.commands.bench import job
from doctor.commands.bench.job import Job
from doctor.commands.bench.outcome import TORCH
from doctor.host import Host, HostError, supervised_child
from doctor.host.supervised_child import Event, Program, watch
from doctor.host.user_interpreter import foreign

_START = (
    "import json, sys; sys.path[:] = json.load(open(sys.argv[1], encoding='utf-8'))['import_from']; "
    "from doctor.commands.bench.worker import start; start(*sys.argv[1:3])"
)
_TORCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_program.py")
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Ended(NamedTuple):
    """How a child ended, if not well."""

    needs: str  # as in outcome.Lack
    why: str  # "" where it said its last line


def run(told: Job, threads: int, hear: Callable[[Event], None], host: Host) -> Ended:
    """Measure in a child; `hear` is told every event as it comes.

    Raises OSError where there is no room for its files; the child is killed before a KeyboardInterrupt goes on.
    """
    listener = _Listener(hear)
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-", ignore_cleanup_errors=True) as folder:
        order, events = os.path.join(folder, "job"), os.path.join(folder, "events")
        job.write(told, order)
        program = Program(
            argv=(sys.executable, "-X", "faulthandler", "-I", "-B", "-c", _START, order, events),
            environ=os.environ,
            events=events,
            timeout_s=told.order.timeout_s,
        )
        if told.path == TORCH:
            interpreter, package = told.order.torch
            try:
                program = foreign(host, _TORCH, package, program._replace(argv=(interpreter, order, events)))
            except HostError as refused:
                return Ended("", str(refused))
        program = program._replace(environ=environment(told, threads, program.environ))
        return listener.words(watch(program, listener.take), told)


class _Listener:
    """To one child's events."""

    def __init__(self, hear: Callable[[Event], None]) -> None:
        self._hear = hear
        self._where = ""
        self._is_over = False

    def take(self, event: Event | None) -> None:
        if event is None:
            return
        self._where = f" while {event['what']}" if event["event"] == "doing" else self._where
        self._is_over = self._is_over or event["event"] == "end"
        self._hear(event)

    def words(self, ended: supervised_child.Ended, told: Job) -> Ended:
        if self._is_over:
            return Ended("", "")
        if ended.kind == "not-started":
            return Ended("", f"no child could be started: {ended.stderr}")
        if ended.kind == "timed-out":
            return Ended("time", f"not done within {told.order.timeout_s:g} s{self._where}")
        if ended.kind == "signal":
            name = signal.Signals(ended.code).name if ended.code in set(signal.Signals) else str(ended.code)
            needs = "memory" if name == "SIGKILL" else ""
            hint = ": the system kills so what takes more memory than there is" if needs else ""
            return Ended(needs, f"the child was killed by {name}{self._where}{hint}")
        last = ended.stderr.strip().rpartition("\n")[2] or "it said nothing"
        return Ended("", f"the child ended with status {ended.code}{self._where}: {last}")


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
