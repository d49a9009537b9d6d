"""Where there are no pseudo-terminals (Windows): the command takes our streams, and nothing stands between."""

from __future__ import annotations

import errno
import shutil
import signal

from compat.base.process import Launch, Process
from doctor.commands.run.refused import NotStarted

_NTSTATUS = 1 << 31  # exit statuses from here on are Windows' own, 0xC0000005


def run(argv: tuple[str, ...]) -> int:
    """Run it to its end; nothing of what it writes is seen. Its exit status; raises NotStarted."""
    found = shutil.which(argv[0])
    if found is None:
        raise NotStarted(argv[0], errno.ENOENT)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the console tells the command, too
    try:
        with Process(Launch((found, *argv[1:]), is_foreground=True)) as process:
            status = process.wait(None) or 0
    except OSError as error:
        raise NotStarted(argv[0], error.errno or errno.EINVAL) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return status - (1 << 32) if status >= _NTSTATUS else status
