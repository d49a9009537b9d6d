"""The directory for what the tests compile: in the system's temporary directory, never in one of the user's own.

The next run takes it from there again. `GPUDOCTOR_TEST_CACHE` names another directory.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_USER = getattr(os, "getuid", int)()
_NAMED = os.environ.get("GPUDOCTOR_TEST_CACHE", "")
BUILT = Path(_NAMED or f"{tempfile.gettempdir()}/gpudoctor-tests-{_USER}")


def built(name: str) -> Path:
    """Return the path for a file of this name, in a directory that nobody else can write to."""
    BUILT.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = BUILT.lstat()
    if not _NAMED and os.name == "posix" and (seen.st_uid != _USER or seen.st_mode & 0o022):
        raise PermissionError(f"another user can change {BUILT}: set GPUDOCTOR_TEST_CACHE to another directory")
    path = BUILT / "stubs" / name
    path.parent.mkdir(exist_ok=True)
    return path
