"""The parent's side of one child: started, listened to, killed when it takes too long; its end becomes words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from doctor.bench import job
from doctor.bench.job import Job

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_START = "import sys; sys.path[0] = sys.argv[1]; from doctor.bench import worker; worker.start(*sys.argv[2:4])"
_LOOK_AGAIN_S = 0.05
_LAST_WORDS_BYTES = 2000
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Event = dict[str, Any]


class Ended(NamedTuple):
    """How a child ended, if not well."""

    needs: str  # as in outcome.Lack
    why: str  # "" where it said its last line


def run(told: Job, threads: int, hear: Callable[[Event], None], environ: Mapping[str, str] | None = None) -> Ended:
    """Measure in a child; `hear` is told every event as it comes. Raises nothing but KeyboardInterrupt."""
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as folder:
        job.write(told, os.path.join(folder, "job"))
        return _Listening(folder, hear).follow(told, environment(told, threads, environ or os.environ))


class _Listening:
    """To one child's events."""

    def __init__(self, folder: str, hear: Callable[[Event], None]) -> None:
        self._folder = folder
        self._hear = hear
        self._read_bytes = 0
        self._doing = ""
        self._is_over = False
        self._has_lack = False

    def follow(self, told: Job, environ: dict[str, str]) -> Ended:
        """To its end."""
        argv = [sys.executable, "-X", "faulthandler", "-c", _START, _ROOT, self._path("job"), self._path("events")]
        with open(self._path("stderr"), "wb") as words:
            try:
                process = subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env=environ, start_new_session=True
                )
            except OSError as error:
                return Ended("", f"no child could be started: {error}")
            try:
                return self._wait(process, told)
            finally:
                _kill(process)

    def _wait(self, process: subprocess.Popen[bytes], told: Job) -> Ended:
        deadline = time.monotonic() + told.order.timeout_s
        while process.poll() is None:
            self._listen()
            if time.monotonic() > deadline:
                return Ended("time", f"not done within {told.order.timeout_s:g} s{self._where()}")
            time.sleep(_LOOK_AGAIN_S)
        self._listen()
        return Ended("", "") if self._is_over else self._died(process.returncode)

    def _listen(self) -> None:
        """Read the whole lines that came since."""
        try:
            with open(self._path("events"), "rb") as events:
                events.seek(self._read_bytes)
                new = events.read()
        except FileNotFoundError:
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            event = json.loads(line)
            self._doing = event.get("doing", self._doing)
            self._is_over = self._is_over or "end" in event
            self._hear(event)

    def _died(self, status: int) -> Ended:
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            needs = "memory" if name == "SIGKILL" else ""
            hint = ": the system kills so what takes more memory than there is" if needs else ""
            return Ended(needs, f"the child was killed by {name}{self._where()}{hint}")
        return Ended("", f"the child ended with status {status}{self._where()}: {self._last_words()}")

    def _where(self) -> str:
        return f" while {self._doing}" if self._doing else ""

    def _last_words(self) -> str:
        with open(self._path("stderr"), "rb") as words:
            words.seek(max(0, os.path.getsize(words.name) - _LAST_WORDS_BYTES))
            lines = words.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The child, and what it started; nothing where it is over."""
    if process.poll() is not None:
        return
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait(1.0)
    except (OSError, subprocess.TimeoutExpired):
        process.returncode = -signal.SIGTERM  # stuck in the kernel: do not let the finaliser wait for it


def environment(told: Job, threads: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a child: threads of BLAS, how products may be rounded, where libraries are."""
    found = dict(environ, PYTHONDONTWRITEBYTECODE="1")
    found.update(dict.fromkeys(_THREAD_VARIABLES, str(threads)))
    found.pop("NVIDIA_TF32_OVERRIDE", None)  # it overrules what the order says
    found["CUPY_TF32"] = "1" if told.order.dtype == "tf32" else "0"  # of CuPy's products of matrices
    if told.order.library_dirs:
        variable = "PATH" if os.name == "nt" else "LD_LIBRARY_PATH"
        # behind what is there: a directory of the system put first would shadow a conda environment's libstdc++
        found[variable] = os.pathsep.join(filter(None, (found.get(variable, ""), *told.order.library_dirs)))
    return found
