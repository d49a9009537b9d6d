"""cuDNN for the whole system, from NVIDIA's repository.

Sources: NVIDIA cuDNN installation guide, "Package Manager Installation" (`cudnn9-cuda-12`); of cuDNN 8 the archived
guide (`libcudnn8=VERSION-1+CUDA`, `libcudnn8-dev`). One release of 9 is asked for as in the recipes of NVIDIA's CUDA
images (`libcudnn9-cuda-12=9.10.2.21-1`, `libcudnn9-dev-cuda-12`): the meta package is always the newest.
"""

from __future__ import annotations

from compat.base.errors import GpudoctorError
from compat.matrix import Matrix, Uncovered
from compat.need import InstallCudnn
from compat.specifier import accepts
from compat.version import CudaVersion, CudnnVersion
from installers.effect import CudnnInstalled
from installers.method import Method, Name
from installers.methods.cudnn_archive import ONE_A_MAJOR
from installers.packages import RPM_BY_YUM, install, manager_of
from installers.plan import Plan, Target
from installers.repository import (
    add_repository,
    has_repository,
    is_older,
    own_package,
    repository_row,
    system,
    toolkits,
)
from installers.requirement import exact_version, spoken, wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand

_LAST_WITH_SUFFIX = 8  # cuDNN major whose packages name their CUDA in the version
_HEADERS_APART = CudnnVersion.parse("9.10")  # from here on Debian's -dev package has the headers in one of their own


class NoSuchPackage(GpudoctorError):
    """A package that NVIDIA never made, or that no row knows."""

    hint = "Use --method archive, or another version or CUDA version."


def plan(need: InstallCudnn, target: Target, matrix: Matrix) -> Plan:
    """Packages where NVIDIA has them, else its download page."""
    wanted = f"cuDNN{spoken(need.versions)}{f' for CUDA {need.cuda}' if need.cuda else ''}"
    by_hand = manager_of(target) not in {"apt", "yum", "dnf", "zypper"}
    if not by_hand:
        _require_release(need, target, matrix)
        steps: tuple[Step, ...] = (
            *add_repository(target, matrix),
            *_of_old(need, target, matrix),
            install(target, *_names(need, target, matrix), why=wanted),
        )
    else:
        page = "cudnn-archive" if wanted_version(need.versions).startswith(("5", "6", "7", "8")) else "cudnn"
        where = f" into {need.directory}" if need.directory else ""
        steps = (ByHand(f"download {wanted} from {matrix.page(page).url} and install it{where}"),)
    cuda = int(need.cuda.partition(".")[0] or target.cuda_major or 0)
    spec = need.versions if need.versions or by_hand else "==9.*"
    found = CudnnInstalled(spec, cuda, need.directory if by_hand else "", searched=not by_hand)
    return Plan(f"install {wanted}", steps, (found,))


def _require_release(need: InstallCudnn, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchPackage where this system has no repository, or its one never had that release."""
    own, named = own_package("cudnn", target, matrix), wanted_version(need.versions)
    try:
        row = repository_row(target, matrix)
    except Uncovered as error:
        raise NoSuchPackage(f"{error}{own}") from error
    if named and row.cudnn is not None and not accepts(row.cudnn, named):
        raise NoSuchPackage(f"NVIDIA's packages for {system(target)} have cuDNN {row.cudnn}, not {named}{own}")
    if named.count(".") > 1 and row.cudnn is not None and is_older(named, target, matrix):
        raise NoSuchPackage(f"cuDNN {named} is older than NVIDIA's packages for {system(target)}{own}")
    if named and row.cudnn is None and not _of_its_time(need, target, matrix):
        has = ", ".join(map(str, toolkits(target, matrix)))
        cuda = need.cuda or target.cuda_major
        there = f"NVIDIA's packages for {system(target)} are of CUDA {has}"
        raise NoSuchPackage(f"{there}: none is cuDNN {named} for CUDA {cuda}{own}")


def _of_its_time(need: InstallCudnn, target: Target, matrix: Matrix) -> bool:
    """Whether the repository can have a release: it has CUDA of that major, and did not end before its first one.

    Until 8.0 a package was for one CUDA. True where no row tells, and for a release that is not named.
    """
    cuda, here = need.cuda or str(target.cuda_major or 12), toolkits(target, matrix)
    try:
        version = CudnnVersion.parse(exact_version(need.versions))
        least = matrix.cudnn_build(version, int(cuda.partition(".")[0])).cuda_min
    except (GpudoctorError, ValueError):
        return True
    if version < ONE_A_MAJOR and "." in cuda:
        return CudaVersion.parse(cuda) in here
    return any(str(one.major) == cuda.partition(".")[0] and (least is None or least <= one) for one in here)


def _names(need: InstallCudnn, target: Target, matrix: Matrix) -> tuple[str, ...]:
    """From cuDNN 9 on one name a CUDA major; before, one name, whose version says which CUDA."""
    manager, exact = manager_of(target), exact_version(need.versions)
    major = int(wanted_version(need.versions).partition(".")[0] or 9)
    cuda = need.cuda or str(target.cuda_major or 12)
    if major == _LAST_WITH_SUFFIX and not exact:
        # The newest release that a specifier admits of which there is a package for that CUDA; "" for none.
        rows = (row.version for row in matrix.rows("cudnn", "releases") if accepts(need.versions, row.version))
        fit = sorted((one for one in map(CudnnVersion, rows) if one.major == _LAST_WITH_SUFFIX), reverse=True)
        exact = next(
            (str(one) for one in fit if one >= ONE_A_MAJOR and _release(str(one), cuda, manager, matrix)), ""
        )  # the name alone brings the newest, for another CUDA by now
    developer = "dev" if manager == "apt" else "devel"
    release = _release(exact, cuda, manager, matrix)
    if major <= _LAST_WITH_SUFFIX:
        if not release and (exact or major < _LAST_WITH_SUFFIX):
            what = f"cuDNN {exact or major} for CUDA {cuda}"
            raise NoSuchPackage(f"no package of {what} is known{_there(exact, matrix)}")
        names: tuple[str, ...] = (f"libcudnn{major}", f"libcudnn{major}-{developer}")
    elif not release:
        names = (f"cudnn{major}-cuda-{cuda.partition('.')[0]}",)
    else:
        suffix = cuda.partition(".")[0]
        names = (f"libcudnn{major}-cuda-{suffix}", f"libcudnn{major}-{developer}-cuda-{suffix}")
        names += _headers(need.versions, f"libcudnn{major}-headers-cuda-{suffix}") if manager == "apt" else ()
    return tuple(f"{name}{release}" for name in names)


def _of_old(need: InstallCudnn, target: Target, matrix: Matrix) -> tuple[ByHand, ...]:
    """The packages of that time are in a repository of their own, to which the keyring package of today leads nobody.

    Source: NVIDIA's recipes of its cuda images up to 11.0, which add nvidia-ml.list.
    """
    version = exact_version(need.versions)
    if not version or CudnnVersion.parse(version) >= ONE_A_MAJOR:
        return ()
    text = "add NVIDIA's machine-learning repository, which has these older cuDNN packages"
    row = (
        repository_row(target, matrix, "machine-learning")
        if has_repository(target, matrix, "machine-learning")
        else None
    )
    name = row.url.rpartition("/")[2] if row else ""
    if name.endswith(".deb"):
        text += f"\ncurl -fLO --proto =https {row.url}\nsudo dpkg -i {name}\nsudo apt-get update" if row else ""
    elif row:
        text += f"\nsudo {row.manager} install -y {row.url}"
    return (ByHand(text, "its signing key is old; if it is no longer trusted, use --method archive"),)


def _there(version: str, matrix: Matrix) -> str:
    """For which CUDA versions the archives of a release are, as its packages were."""
    if not version:
        return ": give the version"
    rows = matrix.cudnn_archives(CudnnVersion.parse(version), "linux", "x86_64")
    return f"; it is for {', '.join(dict.fromkeys(row.cuda for row in rows))}" if rows else ""


def _headers(spec: str, name: str) -> tuple[str, ...]:
    """apt takes the newest of what a package needs, unless it is told; others look for what fits."""
    return (name,) if CudnnVersion.parse(exact_version(spec)) >= _HEADERS_APART else ()


def _release(version: str, cuda: str, manager: str, matrix: Matrix) -> str:
    """What follows a package's name to ask for one release: "=9.10.2.21-1"; "" where no row knows all of it."""
    if not version:
        return ""
    wanted = CudnnVersion.parse(version)
    try:
        full = max(one for one in matrix.cudnn(wanted).full_versions if one.agrees_with(wanted))
        build = matrix.cudnn_build(wanted, int(cuda.partition(".")[0]))
    except (Uncovered, ValueError):
        return ""
    joint, plus = ("-", ".") if manager in RPM_BY_YUM else ("=", "+" if manager == "apt" else ".")
    if full.major > _LAST_WITH_SUFFIX:
        return f"{joint}{full}-1"
    label = str(build.cuda_max or "") if wanted >= ONE_A_MAJOR else _own_cuda(wanted, cuda, matrix)
    return f"{joint}{full}-1{plus}cuda{label}" if label else ""


def _own_cuda(version: CudnnVersion, cuda: str, matrix: Matrix) -> str:
    """Until 8.0 each CUDA had a package of its own, as it had an archive; of a major, its newest."""
    rows = matrix.cudnn_archives(version, "linux", "x86_64")
    known = {row.cuda for row in rows if f"{row.cuda}.".startswith(f"{cuda}.")}
    return max(known, key=lambda text: tuple(map(int, text.split("."))), default="")


METHOD = Method(InstallCudnn, "cuDNN from packages", plan, rank=40, names=(Name("cudnn", "packages"),))
