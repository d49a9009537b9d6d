"""cuDNN as the wheel of a Python environment: nvidia-cudnn-cu11, -cu12, -cu13.

Source: NVIDIA cuDNN installation guide, "Python Wheels".
"""

from __future__ import annotations

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallPackage
from compat.row import CudnnWheelRow
from compat.version import CudnnVersion
from installers.method import Method, Name
from installers.methods import wheel
from installers.plan import Plan, Target
from installers.requirement import exact_version


class NoSuchWheel(GpudoctorError):
    """A release of which there is no wheel."""

    hint = "Use --method archive, or another version (list: gpudoctor matrix show cudnn)."


def serves(need: InstallCudnn, target: Target) -> bool:
    """A directory inside site-packages, of an environment whose interpreter is known."""
    inside = "/site-packages/" in f"{need.directory}/" or "/dist-packages/" in f"{need.directory}/"
    return inside and target.python != "" and target.environment_kind != "conda"


def plan(need: InstallCudnn, target: Target, matrix: Matrix) -> Plan:
    """The wheel for the CUDA major that was asked for, else for the newest that the driver runs.

    Raises NoSuchWheel.
    """
    major = need.cuda or str(target.cuda_major or 12)
    spec = (
        f"=={full_release(exact_version(need.versions), int(major), matrix)}"
        if exact_version(need.versions)
        else need.versions
    )
    return wheel.plan(InstallPackage(f"nvidia-cudnn-cu{major}", spec, target.python), target, matrix)


def full_release(version: str, cuda_major: int, matrix: Matrix) -> str:
    """The newest release of the wheel that a version names: "9.10.2.21" for "9.10.2"; raises NoSuchWheel."""
    rows: tuple[CudnnWheelRow, ...] = matrix.rows("cudnn", "wheels")
    known = [release for row in rows if row.cuda_major == cuda_major for release in row.releases]
    asked = CudnnVersion.parse(version)
    found = [one for one in known if f"{one}.".startswith(f"{asked}.")]
    if found:
        return str(max(found))
    there = f"known are {min(known)} to {max(known)}" if known else "wheels exist for CUDA 11 and later"
    raise NoSuchWheel(f"cuDNN {version} has no wheel for CUDA {cuda_major}: {there}")


METHOD = Method(InstallCudnn, "cuDNN as a wheel", plan, serves, rank=20, names=(Name("cudnn", "wheel"),))
