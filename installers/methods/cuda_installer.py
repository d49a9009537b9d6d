"""A CUDA toolkit with NVIDIA's own installer: a runfile on Linux, an .exe on Windows, without questions.

Sources: CUDA Installation Guides for Linux ("Runfile Installation", "Advanced Options") and for Microsoft Windows
("Silent Installation"); which options which release takes are rows of the matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.matrix import Matrix, accepts
from compat.need import InstallToolkit
from installers import cuda_order
from installers.cuda_order import CudaOrder, NoSuchToolkit, age, cuda_of, fetched, home_of, is_of_root, newest
from installers.effect import ToolkitInstalled
from installers.method import ARCHIVE, PREFIX, Method, Name
from installers.methods.cudnn_archive import driver_first
from installers.own_directory import findable
from installers.plan import Plan, Target
from installers.requirement import wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse
from installers.steps.download import Download
from installers.steps.note import Note

if TYPE_CHECKING:
    from compat.artefact import CudaInstallerRow, InstallerOptionsRow

_KINDS = {"linux": "runfile", "windows": "exe"}
_WHY = "only the toolkit, without questions; the driver is not changed"
_PATIENCE_S = 3600


def serves(need: InstallToolkit, target: Target) -> bool:
    """Windows, where it is the usual way; Linux where a need names its file's kind, as no package serves."""
    usual = target.os_family == "windows" or need.by == _KINDS["linux"]
    return usual and wanted_version(need.versions) != ""


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """The installer of the newest release that the need names; NVIDIA's page for one that no row knows."""
    try:
        return installer_plan(cuda_order.order_of(need)._replace(home=""), target, matrix)
    except NoSuchToolkit:
        from installers.methods import cuda_toolkit  # late: it is asked only where no row helps

        return cuda_toolkit.plan(need, target, matrix)


def installer_plan(order: CudaOrder, target: Target, matrix: Matrix) -> Plan:
    """Fetch, verify, run; raises NoSuchToolkit."""
    kind = _KINDS[target.os_family]
    if order.home and kind == "exe":
        raise NoSuchToolkit("NVIDIA's installer has a fixed directory: omit the option, or add --method archive")
    rows = matrix.rows("cuda-installer", "installers")
    fitting = (row for row in rows if (row.os, row.arch, row.kind) == (target.os_family, target.arch, kind))
    row: CudaInstallerRow = newest(fitting, order.version, f"a {kind} for {target.os_family} {target.arch}")[0]
    home, name = home_of(order, row.release, target), _name(row)
    digests = (row.sha256,) if row.sha256 else ()
    title = f"CUDA {row.release}, {row.os} {row.arch}"
    found = ToolkitInstalled(f"=={row.cuda}.*", home, searched=is_of_root(home, target))
    steps = (
        *driver_first(cuda_of(row.release), target),
        *_for_windows_7(row),
        fetched(
            order,
            Download(url=row.url, to=name, sha256=digests, size_bytes=None, digest_from=row.digest_from, why=title),
        ),
        _run(name, row, home, target, matrix),
        *_afterwards(order, home, target),
        cuda_order.check(str(row.cuda), home, f"=={row.cuda}.*"),
    )
    return Plan(f"install CUDA {row.release} with NVIDIA's installer in {home}", steps, (found,))


def _for_windows_7(row: CudaInstallerRow) -> tuple[Note, ...]:
    """Each of CUDA 7.5 to 10.2 has two installers, and the names differ in the system alone.

    Source: microsoft/CNTK, Tools/devInstall/Windows/helper/Operations.ps1 (DownloadForPlatform).
    """
    if row.kind != "exe" or "_win10" not in row.url or age(row.release) >= age("11.0"):
        return ()
    name = row.url.rpartition("/")[2].replace("_win10", "_windows")
    return (
        Note(f"on Windows 7, 8.1 and Server 2012 R2, use {name} of the same folder", "this file is for Windows 10"),
    )


def _name(row: CudaInstallerRow) -> str:
    """Older files have no ending by which Windows would know a program."""
    if row.kind != "exe" or row.id.endswith(".exe"):
        return row.id
    return f"{row.id.removesuffix('-exe')}.exe"


def _run(name: str, row: CudaInstallerRow, home: str, target: Target, matrix: Matrix) -> Command:
    options = _options(row, matrix)
    known = {"home": home, "cuda": str(row.cuda)}
    words = tuple(one.format(**known) for one in options.options)
    argv = ("sh", name, *words) if row.kind == "runfile" else (name, *words)
    removes = tuple(one.format(**known) for one in options.removes)
    left = "replaced files in that directory are not restored" if removes else "remove it in Apps and Features"
    inverse = Inverse((removes,) if removes else (), left)
    root = is_of_root(home, target)
    return Command(argv, _WHY, root, _PATIENCE_S, inverse=inverse, staged=(name,))


def _options(row: CudaInstallerRow, matrix: Matrix) -> InstallerOptionsRow:
    rows: tuple[InstallerOptionsRow, ...] = matrix.rows("cuda-installer", "options")
    found = next((one for one in rows if one.kind == row.kind and accepts(one.versions, str(row.cuda))), None)
    if found is None:
        raise NoSuchToolkit(f"no silent options are known for the {row.kind} of CUDA {row.cuda}")
    return found


def _afterwards(order: CudaOrder, home: str, target: Target) -> tuple[Step, ...]:
    if target.os_family == "windows":
        return (ByHand("start a new terminal", "the installer sets CUDA_PATH and Path for new terminals"),)
    return findable("cuda", home, f"{home}/lib64", target)


METHOD = Method(
    InstallToolkit,
    "the CUDA toolkit with NVIDIA's installer",
    plan,
    serves,
    rank=36,
    names=(
        Name("cuda", "runfile", "linux"),
        Name("cuda", "exe", "windows"),
    ),
    options=frozenset({ARCHIVE, PREFIX}),
    ordered=installer_plan,
)
