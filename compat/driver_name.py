"""The driver that a person names, "580.65.06", "R570", "nvidia-driver-535-server"; refused where it cannot be one."""

from __future__ import annotations

import re

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix
from compat.version import DriverRelease

_FAR_AHEAD = 100  # branches beyond the newest known one: NVIDIA numbered 55 in the last year


class NotADriver(GpudoctorError):
    """A number is no driver's: the CUDA version that nvidia-smi prints, or a branch that cannot exist yet."""


def driver_named(text: str, matrix: Matrix) -> DriverRelease:
    """Read a driver release; raises VersionError and NotADriver."""
    release = DriverRelease.parse(re.sub(r"^(?:[rRvV]|(?:nvidia-)?driver-)(?=\d)|(?<=\d)-\S*$", "", text.strip()))
    toolkits = matrix.rows("cuda", "toolkits")
    if release.branch in {row.cuda.major for row in toolkits}:
        same = [row for row in toolkits if tuple(row.cuda) == tuple(release)[:2]] or toolkits
        drivers = [row.toolkit_driver_linux for row in same if row.toolkit_driver_linux]
        example = min(drivers or (row.toolkit_driver_linux for row in toolkits if row.toolkit_driver_linux))
        raise NotADriver(f"{text} is nvidia-smi's CUDA Version, not a driver; give the driver, e.g. {example}")
    newest = max(row.branch for row in matrix.rows("driver", "branches"))
    if release.branch > newest + _FAR_AHEAD:
        raise NotADriver(f"driver {text} does not exist: the newest branch is {newest}")
    return release
