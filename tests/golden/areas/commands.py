"""The other commands and options, each on a sample of the lab's machines."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.areas import number_of
from tests.golden.product import run
from tests.image.pack import config_of, in_folder, oci, tar_of
from tests.lab.case import Case
from tests.lab.cases import CASES

_SAMPLE = 20  # one machine of so many
LIVE = (
    *(f"gate --as {dialect}" for dialect in ("slurm", "npd", "nagios", "nhv", "plain")),
    *(f"which {library} --format json" for library in ("cudnn", "cublas", "cudart", "nccl", "cuda")),
    "which cudnn --redact",
    "check --redact",
    "check --redact --format json",
    "check --only cudnn-missing",
    "check --fail-on info",
    "check --framework torch==2.9.1",
    "check --framework tensorflow==2.20.0 --framework jax --format json",
    "policy init --output - --force",
    "matrix solve torch",
    *(
        f"install {order} {style}"
        for order in ("cudnn", "cuda", "driver", "package torch", "stack torch")
        for style in ("", "--script bash", "--format json")
    ),
    "install config theano",
    "install config keras theano --script bash",
    "install config tensorflow",
    "install config loader /usr/local/cuda/lib64",
    "install config path /usr/local/cuda",
)
ROOT = (
    "check --root tree --redact",
    "check --root tree --assume-driver 550.54.14 --assume-gpu 'RTX 5090'",
    "check --root tree --assume-driver 580.95.05 --assume-gpu H100 --format json",
    "check --root tree --framework torch==2.9.1",
    "which cublas --root tree --format json",
    "check --image image --platform linux/amd64",
    "check --image image --platform linux/amd64 --format json",
    "check --image image --platform linux/amd64 --format sarif",
    "policy init --root tree --output - --force",
)


@cache
def _cases() -> dict[str, Case]:
    return {one.name: one for one in CASES if number_of(one.name) % _SAMPLE == 0}


def jobs() -> Sequence[str]:
    """The names of the machines."""
    return list(_cases())


def outputs(name: str, folder: Path) -> Outputs:
    """By the words of the command."""
    case = _cases()[name]
    tree = case.build(folder / "tree")
    lines = LIVE
    if case.where == "root" and not case.environ:
        lines = ROOT
        _pack(tree, folder / "image")
    found = {line: run(*shlex.split(line), folder=folder, machine=case).text() for line in lines}
    return {line.replace("/", ":"): text for line, text in found.items()}


def _pack(tree: Path, folder: Path) -> None:
    """Make an OCI layout of the tree, whose digests are the same each time."""
    for path in _below(tree):
        os.utime(path, (0, 0), follow_symlinks=False)
    layer = tar_of(tree)
    in_folder(oci([layer], config_of([layer]), ""), folder)


def _below(tree: Path) -> Iterator[Path]:
    yield tree
    for folder, folders, files in os.walk(tree):
        yield from (Path(folder, name) for name in (*folders, *files))


AREA = Area(jobs, outputs, 20)
