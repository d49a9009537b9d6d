"""Errors of the system, as one line that says what to do."""

from __future__ import annotations

import errno

import pytest

from installers.errors import refused


class OfWindows(OSError):
    """As Windows raises it."""

    winerror = 0


@pytest.mark.parametrize(
    ("number", "of_windows", "what", "hint"),
    [
        (errno.EACCES, 5, "permission denied", "Run the same command as"),
        (errno.EACCES, 32, "it is in use", "End the programs that use it"),
        (errno.EACCES, 33, "it is in use", "End the programs that use it"),
        (errno.ENOSPC, 112, "no space is left", "Free some space"),
    ],
)
def test_what_another_program_has_open_is_no_matter_of_rights(
    number: int, of_windows: int, what: str, hint: str
) -> None:
    """Windows gives both as EACCES; ERROR_SHARING_VIOLATION (32) and ERROR_LOCK_VIOLATION (33) tell them apart."""
    error = OfWindows(number, "", "C:/x")
    error.winerror = of_windows
    found = refused(error)
    assert str(found) == f"C:/x: {what}"
    assert found.hint.startswith(hint)
