"""(product, release, platform) triples that the package index has, held against the matrix.

`python -m tests.compat.triples 300 --seed 1` prints those that the matrix denies: there must be none. What it answers
with "unknown" is counted.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from typing import NamedTuple

from compat.can import answer
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.reason import NO
from compat.spec import parse_spec
from compat.target import TargetMachine
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.listing import Wheel, wheels_of
from doctor.commands.refresh.web import Web
from doctor.host.live import LiveHost

MATRIX = Matrix()
# the end of a platform tag (PEP 425, PEP 600) -> operating system and architecture
_PLATFORMS = {
    "linux_x86_64": ("linux", "x86_64"),
    "linux_aarch64": ("linux", "sbsa"),
    "win_amd64": ("windows", "x86_64"),
}

# Wheels that hold nothing and require the same release of another package, by operating system: METADATA of
# tensorflow 2.11 to 2.18 for Windows. Of 2.13.1 that one has no wheel for Python 3.8.
_HOLLOW = {("tensorflow", "windows"): "tensorflow-intel"}


class Triple(NamedTuple):
    """One wheel's product, release and platform, and a Python that it is for."""

    product: str
    release: str
    os_family: str
    arch: str
    python: str


def served(product: str) -> set[Triple]:
    """All that the user's index has of a product; pre-releases and yanked ones aside."""
    connection = connection_of(LiveHost(), (), "")
    wheels, _ = wheels_of(product, connection.indexes, Web(connection))
    found = {triple for wheel in wheels for triple in _triples(product, wheel)}
    for (name, os_family), other in _HOLLOW.items():
        if name == product:
            full = {one._replace(product=name) for one in served(other)}
            releases = {one.release for one in full}
            found -= {one for one in found - full if one.os_family == os_family and one.release in releases}
    return found


def _triples(product: str, wheel: Wheel) -> set[Triple]:
    if wheel.version.is_prerelease or wheel.is_yanked:
        return set()
    found = set()
    for tag in wheel.tags:
        platform = next((place for end, place in _PLATFORMS.items() if _ends(tag.platform, end)), None)
        digits = tag.interpreter.removeprefix("cp")
        exact = tag.interpreter.startswith("cp3") and tag.abi == tag.interpreter
        if platform:
            python = f"3.{digits[1:]}" if exact else ""
            found.add(Triple(product, wheel.version.public, *platform, python))
    return found


def _ends(platform: str, end: str) -> bool:
    """manylinux_2_28_x86_64 and manylinux2014_x86_64 are of Linux on x86_64."""
    system, _, machine = end.partition("_")
    return platform == end or (system == "linux" and platform.startswith("manylinux") and platform.endswith(machine))


def drawn(count: int, seed: int) -> list[Triple]:
    """Triples drawn at random, product by product, so that those of many releases do not crowd out the others."""
    chance = random.Random(seed)
    of_each = {name: sorted(served(name)) for name in products() if is_framework(name)}
    of_each = {name: triples for name, triples in of_each.items() if triples}
    found: set[Triple] = set()
    while len(found) < min(count, sum(map(len, of_each.values()))):
        found.add(chance.choice(of_each[chance.choice([*of_each])]))
    return sorted(found)


def verdict(triple: Triple) -> str:
    """What the matrix says of it: no GPU is named, so that only platform and Python are judged."""
    where = TargetMachine(os_family=triple.os_family, arch=triple.arch, python=triple.python)
    return answer(parse_spec(f"{triple.product}=={triple.release}"), where, MATRIX).verdict


def denied(count: int, seed: int) -> tuple[list[Triple], Counter[str]]:
    """The triples of a draw that the matrix denies, and how many answers there were of each kind."""
    given = {triple: verdict(triple) for triple in drawn(count, seed)}
    return [triple for triple, said in given.items() if said == NO], Counter(given.values())


def main() -> None:
    """Print the draw's outcome."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wrong, counts = denied(asked.count, asked.seed)
    print(*wrong, dict(counts), sep="\n")


if __name__ == "__main__":
    main()
