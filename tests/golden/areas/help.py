"""Every `--help`, the version, the lists, and what bad usage prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.product import run

PLAIN = ("matrix list", "matrix list --format json", "check --list", "matrix list --format csv")
BAD = (
    "matrix",
    "chekc",
    "check --nonsense",
    "check --root /no/such/dir",
    "check --root . --format jsn",
    "check --root . --only cudnn-mising",
    "check --root . --skip zzzzzz",
    "check --root . --fail-on panic",
    "check --root . --timeout 0",
    "check --root . --output /no/such/dir/report.txt",
    "check --target x",
    "check --dockerfile nothing --root .",
    "check --from nothing",
    "check --from nothing --fix",
    "check --image nothing",
    "check --root . --assume-gpu 'Voodoo 2'",
    "check --root . --assume-driver new",
    "check --root . --policy nothing",
    "explain no-such-code",
    "explain --search zzzzzz",
    "explain nothing --format sarif",
    "gate --as nobody",
    "gate --timeout soon",
    "install cudnn 0.1 --os linux",
    "install cudnn --os beos",
    "install cuda 12.8 --os linux --method magic",
    "install driver 580 --distribution ubuntu-24.04 --script fish",
    "install driver 580 --distribution ubuntu-24.04 --script powershell",
    "install driver 580 --distribution alpine-3.22",
    "install package trch --os linux",
    "install stack torch --gpu 'Voodoo 2' --os linux",
    "matrix can trch",
    "matrix can 'torch =>2'",
    "matrix can torch --gpu 'Voodoo 2'",
    "matrix show trch",
    "matrix show torch 99",
    "matrix solve numpy --gpu sm_89",
    "matrix solve torch --gpu sm_89 --os beos",
    "policy init --root . --output -",
    "which cudnn --root /no/such/dir",
    "which nothing-such --root .",
)


def jobs() -> Sequence[str]:
    """All of it is one job."""
    return ["all"]


def outputs(_: str, folder: Path) -> Outputs:
    """The root of `--root .` is an empty directory."""
    found = {" ".join(words) + " --help": text for words, text in _help((), folder)}
    for line in ("--version", *PLAIN, *BAD):
        found[line.replace("/", ":") or "nothing"] = run(*shlex.split(line), folder=folder).text()
    return found


def _help(words: tuple[str, ...], folder: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the page of a command, then those of the commands below it."""
    page = run(*words, "--help", folder=folder)
    yield words, page.text()
    listed = page.output.partition("\nCommands:\n")[2]
    for name in re.findall(r"^  ([\w-]+)  ", listed, re.MULTILINE):
        yield from _help((*words, name), folder)


AREA = Area(jobs, outputs, 0)
