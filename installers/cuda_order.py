"""An order for a CUDA toolkit, and what the methods that carry it out share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.need import InstallToolkit
from installers.plan import Target
from installers.requirement import wanted_version
from installers.step import Step
from installers.steps.check import Check
from installers.steps.download import Download
from installers.steps.use_file import UseFile

OF_ROOT = ("/usr/", "/opt/")
WINDOWS_HOME = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v{cuda}"
Row = TypeVar("Row", bound=Any)
_WAYS = ("runfile", "archive", "wheel", "conda", "container", "packages", "local")


class CudaOrder(NamedTuple):
    """What is to be installed, and where; "" is not said."""

    version: str = ""  # "12.8" is its newest release, "12.8.1" that one
    home: str = ""  # CUDA directory; the usual one of the version by default
    own: bool = False  # the directory is the user's own, outside those where programs look
    components: tuple[str, ...] = ()  # "cudart", "cuda_cudart"; () is the whole toolkit
    archive: str = ""  # file of the user's, in place of a download
    sha256: str = ""  # digest that the user trusts


class NoSuchToolkit(GpudoctorError):
    """No row knows such a toolkit, or the order does not say which."""

    def __init__(self, what: str, tried: str = "") -> None:
        *ways, last = (way for way in _WAYS if way != tried)
        self.hint = f"Choose another way with --method: {', '.join(ways)} or {last}."
        super().__init__(what)


def order_of(need: InstallToolkit) -> CudaOrder:
    """What a need says of a toolkit."""
    return CudaOrder(wanted_version(need.versions), need.directory)


def newest(rows: Iterable[Row], version: str, what: str, otherwise: str = "") -> tuple[Row, ...]:
    """The rows of the newest release that a version names ("12.8", "12.8.1"); raises NoSuchToolkit.

    `otherwise` is a sentence that says how a release without rows can be had all the same.
    """
    rows = tuple(rows)
    known = {row.release for row in rows}
    if not version:
        raise NoSuchToolkit(
            f"give the CUDA version, as in gpudoctor install cuda 12.8; known as {what}: {_spoken(known)}"
        )
    found = {release for release in known if f"{release}.".startswith(f"{version}.")}
    if not found:
        near = {release for release in known if cuda_of(release) == cuda_of(version)}
        there = ", ".join(sorted(near, key=age)) if near else _spoken(known)
        raise NoSuchToolkit(f"CUDA {version} is unknown as {what}; known are {there}{otherwise and '. '}{otherwise}")
    wanted = max(found, key=age)
    return tuple(row for row in rows if row.release == wanted)


def _spoken(releases: set[str]) -> str:
    """Not each patch level: "11.4, 11.5, 12.8"."""
    return ", ".join(dict.fromkeys(cuda_of(release) for release in sorted(releases, key=age))) or "none"


def age(release: str) -> tuple[int, ...]:
    """For sorting: "12.10.1" comes after "12.9"."""
    return tuple(map(int, release.split(".")))


def cuda_of(release: str) -> str:
    """The version that a release belongs to: "12.8" for "12.8.1"."""
    return ".".join(release.split(".")[:2])


def home_of(order: CudaOrder, release: str, target: Target) -> str:
    """The directory that is meant; NVIDIA's own for that version by default."""
    if order.home:
        return order.home.rstrip("/\\") or order.home
    cuda = cuda_of(release)
    return WINDOWS_HOME.format(cuda=cuda) if target.os_family == "windows" else f"/usr/local/cuda-{cuda}"


def is_of_root(home: str, target: Target) -> bool:
    """Whether only root writes there."""
    return target.os_family == "windows" or f"{home}/".startswith(OF_ROOT)


def fetched(order: CudaOrder, download: Download) -> Step:
    """The download of one file, or in its place the file that the user has already."""
    digests = (order.sha256,) if order.sha256 else download.sha256
    if order.archive:
        return UseFile(order.archive, download.to, digests, download.why)
    return download._replace(sha256=digests, digest_from="" if order.sha256 else download.digest_from)


def check(release: str, home: str, spec: str = "") -> Check:
    """Look for the toolkit in its directory."""
    why = f"expected: CUDA {release} in {home or 'its directory'}, complete"
    return Check(why, (), InstallToolkit(spec or f"=={release}", home))
