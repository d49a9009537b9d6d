"""Names of systems, architectures and distributions as people type them."""

from __future__ import annotations

import re

from compat.base.choice import one_of

_SYSTEMS = {
    "linux": ("ubuntu", "debian", "centos", "rhel", "rocky", "fedora"),
    "windows": ("win", "win10", "win11", "windows10", "windows11", "windows 10", "windows 11"),
    "wsl": ("wsl2", "wsl 2"),
    "macos": ("mac", "osx", "darwin"),
}
_DISTRIBUTIONS = {"amazon": "amzn", "amazonlinux": "amzn", "amazon-linux": "amzn", "alma": "almalinux"}
_LEAP = "opensuse-leap"  # the only openSUSE with numbers
_ARCHES = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "sbsa", "arm64": "sbsa"}  # uname, wheels, Apple


def system_of(text: str, known: tuple[str, ...]) -> str:
    """Return the operating system; raises NoSuchName."""
    name = text.strip().casefold()
    return one_of("operating system", next((one for one, names in _SYSTEMS.items() if name in names), name), known)


def architecture_of(text: str, known: tuple[str, ...]) -> str:
    """Return the architecture; raises NoSuchName."""
    return one_of("architecture", _ARCHES.get(text.strip().casefold(), text), known)


def distribution_of(text: str) -> tuple[str, str]:
    """Return name and version of "ubuntu-24.04", "Ubuntu 24.04", "ubuntu24.04", "opensuse-leap-15.6"; ("", "") if none.

    "wsl-ubuntu-24.04" is a name, too.
    """
    found = re.fullmatch(
        r"([a-z](?:[a-z-]*[a-z])?)(?:[\s:_-]*([0-9][0-9.]*))?", text.strip().casefold().replace(" ", "-")
    )
    name, version = (found[1], found[2] or "") if found else ("", "")
    return (_LEAP if name == "opensuse" and version else _DISTRIBUTIONS.get(name, name)), version
