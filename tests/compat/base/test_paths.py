"""Spellings of one path."""

from __future__ import annotations

import pytest

from compat.base.paths import key_of

HOME = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4"


@pytest.mark.parametrize(
    "spelling",
    [
        HOME,
        HOME + "\\",
        HOME.replace("\\", "/"),
        HOME.upper(),
        f'"{HOME}"',
        "\\\\?\\" + HOME,
        "//./" + HOME,
        HOME.replace("\\CUDA", "\\\\.\\CUDA"),
    ],
)
def test_windows(spelling: str) -> None:
    assert key_of(spelling, "windows") == key_of(HOME, "windows")


def test_what_windows_tells_apart() -> None:
    assert key_of("\\\\?\\UNC\\server\\share", "windows") == key_of("//Server/Share/", "windows")
    assert key_of("//server/share", "windows") != key_of("/server/share", "windows")
    assert key_of(HOME, "windows") != key_of(HOME.replace("12.4", "11.8"), "windows")


def test_linux() -> None:
    assert key_of("/usr/local/cuda/", "linux") == key_of("/usr/local/cuda", "linux")
    assert key_of("/", "linux") == "/"
    assert key_of("/a", "linux") != key_of("/A", "linux")
