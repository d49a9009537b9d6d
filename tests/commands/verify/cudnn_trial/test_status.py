"""Status codes by era: names, and whether they speak of an algorithm or of the installation."""

from __future__ import annotations

import pytest

from doctor.commands.verify.cudnn_trial.status import says_bad_parameter, says_unsupported, status_name


@pytest.mark.parametrize(
    ("status", "major", "name"),
    [
        (0, 5, "CUDNN_STATUS_SUCCESS"),
        (0, 9, "CUDNN_STATUS_SUCCESS"),
        (1, 7, "CUDNN_STATUS_NOT_INITIALIZED"),
        (1001, 9, "CUDNN_STATUS_NOT_INITIALIZED"),
        (9, 8, "CUDNN_STATUS_NOT_SUPPORTED"),
        (3000, 9, "CUDNN_STATUS_NOT_SUPPORTED"),
        (3009, 9, "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"),
        (1002, 9, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
        (14, 8, "CUDNN_STATUS_VERSION_MISMATCH"),
        (3999, 9, "CUDNN_STATUS_NOT_SUPPORTED (3999)"),  # a newer release's
        (5999, 9, "CUDNN_STATUS_EXECUTION_FAILED (5999)"),
        (77, 8, "CUDNN_STATUS_UNKNOWN (77)"),
        (9, 9, "CUDNN_STATUS_UNKNOWN (9)"),
        (3000, 8, "CUDNN_STATUS_UNKNOWN (3000)"),
        (-1, 9, "CUDNN_STATUS_UNKNOWN (-1)"),
    ],
)
def test_names(status: int, major: int, name: str) -> None:
    assert status_name(status, major) == name


@pytest.mark.parametrize(
    ("status", "major", "unsupported"),
    [
        (9, 7, True),
        (6, 8, True),  # ARCH_MISMATCH
        (3, 8, False),
        (3000, 9, True),
        (3007, 9, True),
        (3999, 9, True),
        (3005, 9, False),  # the driver is too old
        (3006, 9, False),  # the CUDA runtime is
        (3008, 9, False),  # NVRTC is missing
        (3009, 9, False),  # a sub-library is
        (9, 9, False),
        (5000, 9, False),
    ],
)
def test_what_speaks_of_the_algorithm_and_not_of_the_installation(status: int, major: int, unsupported: bool) -> None:
    assert says_unsupported(status_name(status, major)) is unsupported


def test_blamed_arguments() -> None:
    assert says_bad_parameter("CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH")
    assert says_bad_parameter("CUDNN_STATUS_INVALID_VALUE")
    assert not says_bad_parameter("CUDNN_STATUS_NOT_SUPPORTED")
