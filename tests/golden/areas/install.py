"""`gpudoctor install` for other machines: every product, method and target, as steps, as a script and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.product import run

METHODS = {
    "cudnn": ("", "archive", "conda", "packages", "wheel"),
    "cuda": ("", "archive", "conda", "container", "exe", "local", "packages", "runfile", "wheel"),
}
MODULES = ("", "open", "proprietary")
DISTRIBUTIONS = (
    *("ubuntu-24.04", "ubuntu-22.04", "ubuntu-18.04", "debian-12", "rocky-9", "rhel-8.10", "fedora-41", "sles-15.6"),
    *("opensuse-tumbleweed-20251110", "arch", "kali-2025.3"),
)
TARGETS = (
    *(f"--distribution {name}" for name in DISTRIBUTIONS),
    *(f"--os linux --arch {name}" for name in ("x86_64", "sbsa", "jetson", "ppc64le")),
    "--os windows",
)
ORDERS = (
    *(
        f"{product} {version} --method {method}" if method else f"{product} {version}"
        for product, versions in (
            ("cudnn", ("9.10.2 --cuda-version 12.8", "8.9.7 --cuda-version 11.8", "5.1 --cuda-version 8.0")),
            ("cuda", ("13.0", "12.8", "11.8", "10.1", "8.0")),
        )
        for version in versions
        for method in METHODS[product]
    ),
    *(
        f"driver {version} --module {module}" if module else f"driver {version}"
        for version in ("580", "570.86.15", "470")
        for module in MODULES
    ),
    "cuda 12.8 --prefix /home/golden/cuda --components cudart,nvcc",
    "cudnn 9.10.2 --cuda-version 12.8 --prefix /home/golden/cudnn",
    "cudnn 9.10.2 --cuda-version 12.8 --mirror https://mirror.example/nvidia",
    "package torch --python /home/golden/.venv/bin/python",
    "package torch 2.9.1 --cuda-version 12.8 --python /home/golden/.venv/bin/python",
    "package tensorflow --python /home/golden/.venv/bin/python",
    "package jax --cuda-version 13.0 --python /home/golden/.venv/bin/python",
    "package cupy --cuda-version 12.6 --python /home/golden/.venv/bin/python",
    "stack torch --gpu 'RTX 5090'",
    "stack torch==2.6.0 --gpu 'RTX 4090'",
    "stack tensorflow==1.4 --gpu 'GTX 1080'",
    "stack 'jax[cuda12]' --gpu H100",
    "stack theano==1.0.5 --gpu 'GTX 1080 Ti'",
)
STYLES = ("", "--script {shell}", "--format json")


def jobs() -> Sequence[str]:
    """The targets by what names them."""
    return [target.replace("--", "").replace(" ", "-") for target in TARGETS]


def outputs(job: str, folder: Path) -> Outputs:
    """Of each order every style, one after another, refusals among them."""
    target = TARGETS[jobs().index(job)]
    return {order.replace("/", ":"): "\n".join(_printed(order, target, folder)) for order in ORDERS}


def _printed(order: str, target: str, folder: Path) -> Iterator[str]:
    if order.startswith("package"):  # which has no --distribution
        target = target if "--distribution" not in target else "--os linux"
    shell = "powershell" if "windows" in target else "bash"
    for style in STYLES:
        words = shlex.split(f"{order} {target} {style.format(shell=shell)}")
        yield run("install", *words, folder=folder).text()


AREA = Area(jobs, outputs, 9)
