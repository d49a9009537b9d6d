"""cuDNN into a directory that no package owns: NVIDIA's archive, unpacked and copied into a CUDA directory.

Sources: NVIDIA cuDNN installation guides of 7.6.5, 8.9 and 9, "Tarball Installation" and "Installing on Windows"; where
things are in an archive is a row of the matrix. The old guides copy with a plain `cp`, which turns each link into
another copy of the library: here links stay links (cp -P), as the guides since 8 say.
"""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered, accepts
from compat.need import InstallCudnn
from compat.version import CudaVersion, CudnnVersion
from installers.effect import CudnnInstalled
from installers.method import ARCHIVE, PREFIX, Method, Name
from installers.own_directory import findable
from installers.plan import Plan, Target
from installers.requirement import exact_version, spoken, wanted_version
from installers.step import Step
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.change_mode import ChangeMode
from installers.steps.check import Check
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.extract import Extract
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.use_file import UseFile

if TYPE_CHECKING:
    from compat.artefact import CudnnArchiveRow, CudnnLayoutRow
    from compat.row import CudnnBuildRow

_OF_PACKAGES = ("/usr/lib/", "/usr/lib64")
_OF_ROOT = ("/usr/", "/opt/")
UNPACKED = "unpacked"  # where an archive is unpacked, in the staging directory
WINDOWS_HOME = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v{cuda}"
# The installers of these often failed over the driver that was there already, and carried one of their own.
_OF_ARM = frozenset({"sbsa", "jetson"})
_DRIVER_FIRST = 8  # CUDA major
_FIRST_ONE_A_MINOR = 5  # cuDNN major
ONE_A_MAJOR = CudnnVersion.parse("8.1")  # from here on one archive or package serves all minors of a CUDA major
_OPEN = 9  # cuDNN major whose archives are fetched without a login, and named for a CUDA major
_WINDOWS_10 = 5  # cuDNN major from which the archives' names say for which Windows they are
_TARGETS = {"ppc64le": "targets/ppc64le-linux"}  # what stands between "cuda" and its directories, before cuDNN 8
# what check must not find afterwards: the faults that a copy by hand can have
_FAULTS = (
    *("cudnn-install-incomplete", "cudnn-link-broken", "cudnn-header-library-mismatch"),
    *("cudnn-sublibrary-missing", "cudnn-sublibrary-mixed"),
)
_SUFFIXES = (".tar.xz", ".tar.gz", ".tgz", ".zip")


class Order(NamedTuple):
    """What is to be installed, and where; "" is not said."""

    version: CudnnVersion  # fewer parts than a release has mean its newest
    cuda: str = ""  # "10.1", "12"
    home: str = ""  # CUDA directory; the usual one of the system by default
    archive: str = ""  # file of the user's, in place of a download
    sha256: str = ""  # digest that the user trusts, for a file that no row knows
    own: bool = False  # the directory is the user's own, outside those where programs look
    dlls: str = ""  # where the DLLs go on Windows; below the CUDA directory as the archive has them by default


class NoSuchArchive(GpudoctorError):
    """NVIDIA has no such archive, or the order does not say which."""


class _Source(NamedTuple):
    """The archive: its steps until it lies unpacked, and its names."""

    steps: tuple[Step, ...]
    stem: str
    layout: CudnnLayoutRow
    version: CudnnVersion
    cuda: str
    companions: tuple[str, ...] = ()  # libraries of others that it loads, "zlibwapi.dll"


def serves(need: InstallCudnn, target: Target) -> bool:
    """A directory outside those that packages fill."""
    return need.directory != "" and not f"{need.directory}/".startswith(_OF_PACKAGES)


def plan(need: InstallCudnn, target: Target, matrix: Matrix) -> Plan:
    """The archive's own plan for a release in a CUDA directory; elsewhere where to get it, and how to copy it.

    Of several releases that will do it takes the newest with an archive for the directory's CUDA. One that serves a
    whole major goes with a minor that came later, too (CUDA's minor version compatibility). Raises NoSuchArchive where
    none was built for that CUDA, for what is copied there must go with it.
    """
    # The CUDA directory whose libraries are in this one; "" for any other directory.
    found = re.fullmatch(r"(/.*cuda[^/]*)/(?:lib64|targets/[\w-]+/lib)|(.*/CUDA/v[\d.]+)/bin(?:/x64)?", need.directory)
    home = (found[1] or found[2].replace("/", "\\")) if found else ""
    need = need._replace(cuda=need.cuda or _cuda_of(home))
    of_major = need._replace(cuda=need.cuda.partition(".")[0])
    version = exact_version(need.versions) or _newest(need, target, matrix) or _newest(of_major, target, matrix)
    if not (home and version and need.cuda):
        return _by_hand(need, target, matrix)
    if CudnnVersion.parse(version) >= ONE_A_MAJOR:
        need = of_major
    order = Order(CudnnVersion.parse(version), need.cuda, home, dlls=need.directory.replace("/", "\\"))
    _require_cuda(order, _builds(order, matrix))
    try:
        return archive_plan(order, target, matrix)
    except (NoSuchArchive, Uncovered):
        return _by_hand(need, target, matrix)  # it says where a person may find it


def _cuda_of(home: str) -> str:
    """The CUDA of a directory, by its usual name: "11.8" of /usr/local/cuda-11.8; "" of others."""
    found = re.search(r"(?:cuda-|\\v)(\d+\.\d+)(?:\.\d+)?$", home)
    return found[1] if found else ""


def _newest(need: InstallCudnn, target: Target, matrix: Matrix) -> str:
    """The newest release within a specifier with an archive for that CUDA and this machine; "" where there is none."""
    if not need.versions or not need.cuda:
        return ""
    rows: tuple[CudnnArchiveRow, ...] = matrix.rows("cudnn-archive", "archives")
    here = tuple(row for row in rows if (row.os, row.arch) == (target.os_family, target.arch))
    fit = (row.version for row in here if accepts(need.versions, str(row.version)))
    known = (one for one in sorted({*fit}, reverse=True) if _for_cuda(_of(one, here), need.cuda, matrix))
    return str(next(known, ""))


def _of(version: CudnnVersion, rows: tuple[CudnnArchiveRow, ...]) -> tuple[CudnnArchiveRow, ...]:
    return tuple(row for row in rows if row.version == version)


def _by_hand(need: InstallCudnn, target: Target, matrix: Matrix) -> Plan:
    wanted = f"cuDNN{spoken(need.versions)}{f' for CUDA {need.cuda}' if need.cuda else ''}"
    is_windows = target.os_family == "windows"
    where = need.directory.replace("/", "\\") if is_windows else need.directory
    keep = "" if is_windows else ", with cp -P for the symlinks and chmod a+r for all users"
    found = CudnnInstalled(need.versions, int(need.cuda.partition(".")[0] or 0), need.directory)
    steps = (
        ByHand(f"download the archive of {wanted} from {_page(wanted_version(need.versions), matrix)}"),
        ByHand(f"copy all of its libraries to {where}{keep}, in place of any other version"),
    )
    return Plan(f"install {wanted} in {where}", steps, (found,))


def archive_plan(order: Order, target: Target, matrix: Matrix) -> Plan:
    """Every step from NVIDIA's archive to a complete cuDNN in a CUDA directory.

    Raises NoSuchArchive, Uncovered (a release whose layout no row knows).
    """
    rows = matrix.cudnn_archives(order.version, target.os_family, target.arch)
    if not order.archive and _fitting(order, rows, target, matrix) is None:
        return _to_choose(order, target, matrix)
    source = _source(order, target, matrix)
    source = source._replace(companions=matrix.cudnn_companions(source.version, target.os_family))
    summary = f"install cuDNN {source.version} for CUDA {source.cuda} in {home_of(order, source.cuda, target)}"
    copying = _windows if target.os_family == "windows" else _linux
    home = home_of(order, source.cuda, target)
    libraries = (
        f"{home}/lib64"
        if target.os_family != "windows"
        else order.dlls or f"{home}\\{(source.layout.dlls or '').replace('/', chr(92)) or 'bin'}"
    )
    copies = copying(source, home, libraries, target, own=order.own)
    steps = (*driver_first(source.cuda, target), *source.steps, *copies)
    searched = order.own and f"{home}/".startswith(_OF_ROOT)
    found = CudnnInstalled(f"=={source.version}", _major(source.cuda), libraries, searched)
    return Plan(summary, steps, (found,))


def home_of(order: Order, cuda: str, target: Target) -> str:
    """The CUDA directory that is meant."""
    if order.home:
        return order.home.rstrip("/\\") or order.home
    if target.os_family != "windows":
        return "/usr/local/cuda"
    named = order.cuda or cuda
    if "." not in named:
        raise NoSuchArchive(
            f"Windows has a directory for each CUDA version: give --cuda-version {named}.Y or --cuda-home DIR"
        )
    return WINDOWS_HOME.format(cuda=named)


def _source(order: Order, target: Target, matrix: Matrix) -> _Source:
    rows = matrix.cudnn_archives(order.version, target.os_family, target.arch)
    row = _fitting(order, rows, target, matrix)
    if row is None:
        return _unknown(order, target, matrix)
    why = f"cuDNN {row.version} for CUDA {row.cuda}, {target.os_family} {target.arch}"
    digests = (order.sha256,) if order.sha256 else row.sha256
    first: Step = Download(
        url=row.url, to=row.name, sha256=digests, size_bytes=row.size_bytes, digest_from=row.digest_from, why=why
    )
    if order.archive:
        first = UseFile(order.archive, row.name, digests, why)
    return _Source(
        steps=(first, _unpack(row.name)),
        stem=_stem(row.name),
        layout=matrix.cudnn_layout(row.version),
        version=row.version,
        cuda=row.cuda,
    )


def _fitting(order: Order, rows: tuple[CudnnArchiveRow, ...], target: Target, matrix: Matrix) -> CudnnArchiveRow | None:
    """The newest row for the CUDA that is asked for, else for the newest that the driver runs; None without rows."""
    if not rows:
        return None
    asked = order.cuda or (str(target.cuda_major) if target.cuda_major else "")
    found = _for_cuda(rows, asked, matrix)
    if order.cuda and not found and not order.archive and not _was_made(order, matrix):
        names = ", ".join(dict.fromkeys(row.cuda for row in sorted(rows, key=_age)))
        raise NoSuchArchive(
            f"cuDNN {order.version} has no archive for CUDA {order.cuda}; there are archives for {names}"
        )
    return max(found or (() if order.cuda else rows), key=_age, default=None)


def _for_cuda(rows: tuple[CudnnArchiveRow, ...], cuda: str, matrix: Matrix) -> tuple[CudnnArchiveRow, ...]:
    """The archives for a CUDA version, by their names; else the only one of its major, if released for that range."""
    major = cuda.partition(".")[0]
    named = tuple(row for row in rows if row.cuda in {cuda, major} or not cuda)
    of_major = tuple(row for row in rows if row.cuda.partition(".")[0] == major)
    if named or cuda == major:
        return named or of_major
    one_for_all = len({row.cuda for row in of_major}) == 1 and not _one_a_minor(of_major[0].version)
    return of_major if one_for_all and _in_range(of_major[0], cuda, matrix) else ()


def _one_a_minor(version: CudnnVersion) -> bool:
    """Whether each CUDA version had an archive of its own; before, and after, one served several."""
    return version.major >= _FIRST_ONE_A_MINOR and version < ONE_A_MAJOR


def _was_made(order: Order, matrix: Matrix) -> bool:
    """Whether NVIDIA made an archive for just that CUDA, of which no row knows the address."""
    if not _one_a_minor(order.version) or "." not in order.cuda:
        return False
    asked, same = CudaVersion.parse(order.cuda), _builds(order, matrix)
    return any(asked in {row.cuda_min, row.cuda_max} for row in same)  # what lies between was not always built


def _in_range(row: CudnnArchiveRow, cuda: str, matrix: Matrix) -> bool:
    asked = CudaVersion.parse(cuda)
    try:
        build = matrix.cudnn_build(row.version, asked.major)
    except Uncovered:
        return False
    return build.cuda_min is not None and build.cuda_max is not None and build.cuda_min <= asked <= build.cuda_max


def _age(row: CudnnArchiveRow) -> tuple[CudnnVersion, tuple[int, ...]]:
    return row.version, tuple(map(int, row.cuda.split(".")))


def _unknown(order: Order, target: Target, matrix: Matrix) -> _Source:
    """A file of the user's, of a release or build that no row knows; raises NoSuchArchive where none is named."""
    if not order.cuda:
        raise NoSuchArchive(f"no archive of cuDNN {order.version} is known: give its CUDA with --cuda-version X.Y")
    layout = matrix.cudnn_layout(order.version)
    base = order.archive.replace("\\", "/").rpartition("/")[2]
    digests = (order.sha256,) if order.sha256 else ()
    use = UseFile(order.archive, base, digests, "the file is unknown to gpudoctor: NVIDIA's page lists it")
    return _Source(steps=(use, _unpack(base)), stem=_stem(base), layout=layout, version=order.version, cuda=order.cuda)


def _to_choose(order: Order, target: Target, matrix: Matrix) -> Plan:
    """What to do where no row knows the file: its name is not guessed."""
    if not order.cuda:
        raise NoSuchArchive(f"no archive of cuDNN {order.version} is known: give its CUDA with --cuda-version X.Y")
    _require_built(order, matrix)
    _require_machine(order, target, matrix)
    what = f"cuDNN {order.version} for CUDA {order.cuda}, {target.os_family} {target.arch}"
    page = _page(str(order.version), matrix)
    again = f"gpudoctor install cudnn {order.version} --cuda-version {order.cuda} --archive FILE"
    text = f"choose {what} on {page}: gpudoctor does not know the file's name. Then: {again}"
    return Plan(f"install {what}", (*driver_first(order.cuda, target), ByHand(text)), ())


def _require_built(order: Order, matrix: Matrix) -> None:
    """Raise NoSuchArchive for a release or a CUDA that NVIDIA never had; of cuDNN 1 no row tells."""
    if order.version.major == 1:
        return
    builds = _builds(order, matrix)
    if not builds:
        raise NoSuchArchive(f"cuDNN {order.version} is unknown; if you have its archive: --archive FILE")
    _require_cuda(order, builds)


def _builds(order: Order, matrix: Matrix) -> list[CudnnBuildRow]:
    rows: tuple[CudnnBuildRow, ...] = matrix.rows("cudnn", "builds")
    return [row for row in rows if row.version.agrees_with(order.version)]


def _require_cuda(order: Order, builds: list[CudnnBuildRow]) -> None:
    if builds and not any(_is_for(row, order.cuda) for row in builds):
        spoken_ranges = ", ".join(dict.fromkeys(_range(row) for row in builds))
        raise NoSuchArchive(f"cuDNN {order.version} has no build for CUDA {order.cuda}, only for {spoken_ranges}")


def _require_machine(order: Order, target: Target, matrix: Matrix) -> None:
    """Raise NoSuchArchive for a machine that NVIDIA's list of a release leaves out, and for a build that it never had.

    ARM has rows from its first archive on: an older release has none.
    """
    rows: tuple[CudnnArchiveRow, ...] = matrix.rows("cudnn-archive", "archives")
    among, here = _machines(order.version, rows), f"{target.os_family} {target.arch}"
    if among and here not in among:
        raise NoSuchArchive(
            f"cuDNN {order.version} has no archive for {here}; there are archives for {', '.join(among)}"
        )
    first = min((row.version for row in rows if (row.os, row.arch) == (target.os_family, target.arch)), default=None)
    if first and target.arch in _OF_ARM and order.version < first and not order.version.agrees_with(first):
        raise NoSuchArchive(
            f"cuDNN {order.version} has no archive for {here}; the first version that has one is {first}"
        )
    full = _full_versions(order.version, matrix)
    if full and not any(one.agrees_with(order.version) for one in full):
        raise NoSuchArchive(f"cuDNN {order.version} is unknown; known are {', '.join(map(str, full))}")


def _machines(version: CudnnVersion, rows: tuple[CudnnArchiveRow, ...]) -> tuple[str, ...]:
    """The machines in NVIDIA's list of a release, else of the one before it in the same major."""
    listed = [row for row in rows if row.digest_from == "manifest" and row.version.major == version.major]
    same = [row for row in listed if row.version.agrees_with(version)]
    newest = max((row.version for row in listed if row.version < version), default=None)
    chosen = same or [row for row in listed if row.version == newest]
    return tuple(dict.fromkeys(f"{row.os} {row.arch}" for row in chosen))


def _full_versions(version: CudnnVersion, matrix: Matrix) -> tuple[CudnnVersion, ...]:
    try:
        return matrix.cudnn(version).full_versions
    except Uncovered:
        return ()


def _is_for(row: CudnnBuildRow, cuda: str) -> bool:
    if "." not in cuda:
        return str(row.cuda_major) == cuda
    asked = CudaVersion.parse(cuda)
    least, most = row.cuda_min or asked, row.cuda_max or asked
    return row.cuda_major == asked.major and least <= asked <= most


def _range(row: CudnnBuildRow) -> str:
    ends = dict.fromkeys(str(one) for one in (row.cuda_min, row.cuda_max) if one)
    return " to ".join(ends) or str(row.cuda_major)


def _page(version: str, matrix: Matrix) -> str:
    return matrix.page("cudnn-archive" if version.partition(".")[0] in {*"12345678"} else "cudnn").url


def _unpack(name: str) -> Extract:
    return Extract(name, UNPACKED, "it is an archive, not an installer")


def _stem(name: str) -> str:
    suffix = next((one for one in _SUFFIXES if name.endswith(one)), "")
    return name.removesuffix(suffix)


def _inside(source: _Source, directory: str, arch: str) -> str:
    """A directory of the archive, by its name in the staging directory."""
    root = source.layout.root.replace("{stem}", source.stem)
    if root == "cuda" and arch in _TARGETS:
        root, directory = f"{root}/{_TARGETS[arch]}", directory.replace("lib64", "lib")
    return "/".join(filter(None, (UNPACKED, root, directory)))


def _linux(source: _Source, home: str, libraries: str, target: Target, *, own: bool) -> tuple[Step, ...]:
    headers = f"{home}/include"
    root = f"{home}/".startswith(_OF_ROOT)
    mode = (f"{headers}/cudnn*.h", f"{libraries}/libcudnn*")
    return (
        CopyTree(
            source=_inside(source, source.layout.headers, target.arch),
            into=headers,
            patterns=("cudnn*.h",),
            why="all headers: since cuDNN 8, cudnn.h includes the others",
            needs_root=root,
            cuda_major=_major(source.cuda),
            is_new=own,
        ),
        CopyTree(
            source=_inside(source, source.layout.libs_linux, target.arch),
            into=libraries,
            patterns=("libcudnn*",),
            why="cp -P keeps symlinks; otherwise an upgrade leaves old files behind",
            needs_root=root,
            arch=target.arch,
            is_new=own,
        ),
        ChangeMode(mode, "a+r", "make the files readable for all users", root),
        *(findable("cudnn", home, libraries, target) if own else _loader(libraries, root)),
        _check(source, libraries),
    )


def _loader(libraries: str, root: bool) -> tuple[Step, ...]:
    export = f'export LD_LIBRARY_PATH={quote(libraries)}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    line = ByHand(
        f"if `ldconfig -p | grep cudnn` shows nothing, add this line to ~/.bashrc\n{export}",
        "NVIDIA's CUDA packages set this path, the .run installer needs this line",
    )
    return (RefreshLoader("the loader then finds the libraries", root), line) if root else (line,)


def _windows(source: _Source, home: str, libraries: str, target: Target, *, own: bool) -> tuple[Step, ...]:
    pairs = (
        (source.layout.dlls or "", libraries, "cudnn*.dll", "the libraries"),
        (source.layout.headers, f"{home}\\include", "cudnn*.h", "the headers"),
        (source.layout.libs_windows or "", f"{home}\\lib\\x64", "cudnn*.lib", "the import libraries"),
    )
    copies = [
        CopyTree(
            _inside(source, inside, target.arch),
            into,
            (pattern,),
            why,
            needs_root=True,
            arch=target.arch if pattern.endswith(".dll") else "",
            cuda_major=_major(source.cuda) if pattern.endswith(".h") else 0,
            is_new=own,
        )
        for inside, into, pattern, why in pairs
    ]
    path = AddToPath(
        libraries,
        "Windows searches Path for DLLs; an archive does not change Path",
    )
    return (*copies, *_companions(source), path, _check(source, libraries))


def _companions(source: _Source) -> tuple[Step, ...]:
    """What no archive has."""
    why = "this cuDNN needs it to start"
    return tuple(ByHand(f"{name} (64-bit) must be in a directory of Path", why) for name in source.companions)


def driver_first(cuda: str, target: Target) -> tuple[Step, ...]:
    """What to do where an old CUDA installer stops over the driver; of newer ones nobody needs it."""
    if target.os_family != "windows" or _major(cuda) > _DRIVER_FIRST:
        return ()
    return (
        ByHand(
            f"only if CUDA {cuda} is not installed yet and its installer fails: remove the NVIDIA display driver "
            "(Apps and Features), start Windows again, then run the installer again",
            "the installer contains an older driver and fails if a newer one is installed",
        ),
    )


def _major(cuda: str) -> int:
    return int(cuda.partition(".")[0])


def _check(source: _Source, libraries: str) -> Check:
    finds = InstallCudnn(f"=={source.version}", libraries, source.cuda.partition(".")[0])
    return Check(f"expected: cuDNN {source.version} in {libraries}, complete", _FAULTS, finds)


METHOD = Method(
    InstallCudnn,
    "cuDNN from an archive",
    plan,
    serves,
    rank=30,
    names=(Name("cudnn", "archive"),),
    options=frozenset({ARCHIVE, PREFIX}),
)
