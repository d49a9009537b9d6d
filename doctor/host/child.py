"""Subprocesses that gpudoctor starts to look at a machine, with the errors of a host."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from compat.base.process import Launch, Process, without_padding
from compat.base.trust import NotTrusted
from doctor.host import NotRunnable, Ran, TooSlow

_LONG_S = 10.0  # what may take so long (an import, nvidia-smi) must not outlive us


class Child(Process):
    """A started process whose output is collected when it ends."""

    def __init__(
        self, argv: tuple[str, ...], env: Mapping[str, str], program: str | None = None, *, is_long: bool = False
    ) -> None:
        """Start it; `program` is the file to execute where that is not argv[0]. Raises NotRunnable.

        If gpudoctor is killed, the kernel kills one that `is_long`, unless threads forbid what that needs.
        """
        self._program = argv[0]
        binds = is_long and threading.active_count() == 1
        try:
            super().__init__(Launch(argv, env, program, ends_with_us=binds))
        except NotTrusted as refused:
            raise NotRunnable(argv[0], f"not started: {refused.why}") from refused
        except OSError as error:
            raise NotRunnable(argv[0], error.strerror or str(error)) from error

    def finish(self, timeout_s: float) -> Ran:
        """Wait for the end; raises TooSlow when it did not come in time (the group is killed by then)."""
        status, *written = self.end_within(timeout_s)
        stdout, stderr = map(_text, written)
        if status is None:
            raise TooSlow(self._program, timeout_s, stdout, stderr)
        return Ran(status, stdout, stderr)

    def said(self) -> str:
        """Return what it has written by now, "" where that cannot be read before it ends."""
        return _text(self.stdout())

    def last_words(self, limit_bytes: int) -> str:
        """Return the end of what it has written to its error output."""
        return _text(self.stderr()).encode("utf-8", "replace")[-limit_bytes:].decode("utf-8", "ignore")


def _text(content: bytes) -> str:
    return without_padding(content).decode("utf-8", "replace")


def run_child(argv: tuple[str, ...], timeout_s: float, env: Mapping[str, str], program: str | None = None) -> Ran:
    """Start a process and wait for it; raises NotRunnable, TooSlow."""
    return Child(argv, env, program, is_long=timeout_s >= _LONG_S).finish(timeout_s)
