"""The one door to child processes: no shell, a time-out, and nothing of ours hangs with them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import BinaryIO

from compat.base.stop import delayed_signals, with_parent
from doctor.host import NotRunnable, Ran, TooSlow

_OUTPUT_AT_MOST_BYTES = 4 << 20
_LAST_WORDS_S = 0.5
_LONG_S = 10.0  # what may take so long (an import, nvidia-smi) must not outlive us
_FEW_BYTES = 4096


class Child:
    """A started process whose output is collected when it ends.

    Its output goes to unnamed temporary files, so that neither a full pipe nor a grandchild that keeps the pipe
    open can hold us; it leads its own session, so that the whole group can be killed.
    """

    def __init__(
        self, argv: tuple[str, ...], env: Mapping[str, str], program: str | None = None, *, is_long: bool = False
    ) -> None:
        """Start it; `program` is the file to execute where that is not argv[0]. Raises NotRunnable.

        If gpudoctor is killed, the kernel kills one that `is_long`, unless threads forbid what that needs.
        """
        self._program = argv[0]
        self._stdout = _unnamed_file()
        self._stderr = _unnamed_file()
        try:
            with delayed_signals():
                self._process = subprocess.Popen(
                    argv,
                    executable=program,
                    stdin=subprocess.DEVNULL,
                    stdout=self._stdout,
                    stderr=self._stderr,
                    env=dict(env),
                    start_new_session=True,
                    preexec_fn=with_parent() if is_long and threading.active_count() == 1 else None,  # noqa: PLW1509
                )
        except KeyboardInterrupt:
            self.kill()
            raise
        except (OSError, ValueError) as error:  # ValueError: a NUL byte in an argument or variable
            self._close()
            raise NotRunnable(argv[0], str(getattr(error, "strerror", "") or error)) from error

    def finish(self, timeout_s: float) -> Ran:
        """Wait for the end; raises TooSlow when it did not come in time (the group is killed by then)."""
        with self:
            status = self.wait(timeout_s)
            if status is not None:
                return Ran(status, _text(self._stdout), _text(self._stderr))
            self.kill()
            raise TooSlow(self._program, timeout_s, _text(self._stdout), _text(self._stderr))

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Kill it if it still runs: it leads its own session, so that the terminal's Ctrl-C does not reach it."""
        self.kill()
        self._close()

    def wait(self, timeout_s: float) -> int | None:
        """How it ended (the number of a signal is negative), None if it did not in that time."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill it and its group, if it still runs; one that is stuck in the kernel (D state) is abandoned."""
        if self._process.returncode is None:
            self._kill()

    def said(self) -> str:
        """What it has written by now, "" where that cannot be read without moving the place at which it writes."""
        if not hasattr(os, "pread"):
            return ""
        return _decoded(os.pread(self._stdout.fileno(), _OUTPUT_AT_MOST_BYTES, 0))

    def last_words(self, limit_bytes: int) -> str:
        """The end of what it has written to its error output."""
        return _text(self._stderr).encode("utf-8", "replace")[-limit_bytes:].decode("utf-8", "ignore")

    def _kill(self) -> None:
        try:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.wait(_LAST_WORDS_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.returncode = -signal.SIGTERM  # do not let the finaliser wait for it

    def _close(self) -> None:
        self._stdout.close()
        self._stderr.close()


def _unnamed_file() -> BinaryIO:
    """A file without a name that takes `_OUTPUT_AT_MOST_BYTES` (on Linux; elsewhere, what the disk takes)."""
    if not hasattr(os, "memfd_create"):
        import tempfile  # late: slow to load, and not needed on Linux

        return tempfile.TemporaryFile()
    import fcntl  # late: POSIX only

    descriptor = os.memfd_create("gpudoctor-child", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, _OUTPUT_AT_MOST_BYTES)  # takes no memory until it is written
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
    return os.fdopen(descriptor, "w+b")


def _text(stream: BinaryIO) -> str:
    stream.seek(0)
    return _decoded(stream.read(_OUTPUT_AT_MOST_BYTES))


def _decoded(content: bytes) -> str:
    """Without the NUL bytes that fill the file; halves of it first, for `rstrip` takes them one by one."""
    while len(content) > _FEW_BYTES and content.endswith(bytes(half := len(content) // 2)):
        content = content[:-half]
    return content.rstrip(b"\0").decode("utf-8", "replace")


def run_child(argv: tuple[str, ...], timeout_s: float, env: Mapping[str, str], program: str | None = None) -> Ran:
    """Start a process and wait for it; raises NotRunnable, TooSlow."""
    return Child(argv, env, program, is_long=timeout_s >= _LONG_S).finish(timeout_s)
