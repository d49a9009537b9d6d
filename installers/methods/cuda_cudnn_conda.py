"""cuDNN in a conda environment.

Sources: mamba's documentation (the commands of conda, under its name) and pixi's (`pixi add`); NVIDIA cuDNN
installation guide, "Conda Installation"; conda-forge's packages cudnn, cuda-version, cuda-toolkit (from CUDA 12 on) and
cudatoolkit (9.2 to 11.8).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallToolkit
from installers.effect import DistributionsInstalled
from installers.method import Method, Name
from installers.plan import Plan, Target
from installers.requirement import exact_version, spoken, wanted_version
from installers.steps.command import Command, Inverse

_CUDA_TOOLKIT = 12  # CUDA major from which conda-forge's toolkit is split, and named cuda-toolkit


def serves(need: InstallCudnn | InstallToolkit, target: Target) -> bool:
    """An environment that conda made."""
    return target.environment_kind == "conda" and target.prefix != ""


def plan(need: InstallCudnn | InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """From conda-forge, for one CUDA: `cuda-version` holds the builds together."""
    name, wanted = _cuda(need.versions) if isinstance(need, InstallToolkit) else _cudnn(need)
    again = (
        ("--force-reinstall",) if isinstance(need, InstallCudnn) and target.prefix else ()
    )  # files may have been changed
    into = ("-p", target.prefix) if target.prefix else ()
    program = target.conda or "conda"
    argv = (program, "install", "-y", *again, *into, "-c", "conda-forge", *wanted)
    if target.keeper == "pixi" and target.project:
        argv = ("pixi", "add", "--manifest-path", target.project, *wanted)
    where = target.prefix or "the conda environment that is active"
    inside = " ".join(("", *into))
    left = f"for all that changed: {program} list{inside} --revisions, {program} install{inside} --revision NUMBER"
    step = Command(argv, name, timeout_s=3600, inverse=Inverse(((program, "remove", "-y", *into, name),), left))
    return Plan(
        f"install {name}{spoken(need.versions)} in {where}",
        (step,),
        (DistributionsInstalled(target.python, (f"{name}{need.versions}",), bool(again), tool="conda"),),
    )


def _cuda(spec: str) -> tuple[str, tuple[str, ...]]:
    """`cuda-version` has a release a minor version, such as 12.8."""
    version = wanted_version(spec)
    if version and int(version.partition(".")[0]) < _CUDA_TOOLKIT:
        return "cudatoolkit", (f"cudatoolkit={version}",)
    return "cuda-toolkit", ("cuda-toolkit", *((f"cuda-version={version}",) if version else ()))


def _cudnn(need: InstallCudnn) -> tuple[str, tuple[str, ...]]:
    """A release of three parts is any build of it: conda-forge's have four, 9.10.2.21."""
    exact = exact_version(need.versions)
    spec = f"={exact}" if exact else need.versions
    return "cudnn", (f"cudnn{spec}", *((f"cuda-version={need.cuda}",) if need.cuda else ()))


METHOD = Method(
    (InstallCudnn, InstallToolkit),
    "cuDNN and CUDA with conda",
    plan,
    serves,
    rank=10,
    names=(
        Name("cudnn", "conda"),
        Name("cuda", "conda"),
    ),
)
