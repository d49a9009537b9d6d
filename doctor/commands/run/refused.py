"""A command that cannot be executed."""

from __future__ import annotations

import errno
import os

from compat.base.errors import GpudoctorError

NOT_FOUND, NOT_RUNNABLE = 127, 126  # as shells say it


class NotStarted(GpudoctorError):
    """The command cannot be executed; `status` is what a shell would exit with."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__(f"{name}: {'command not found' if number == errno.ENOENT else os.strerror(number).lower()}")
        self.status = NOT_FOUND if number == errno.ENOENT else NOT_RUNNABLE
