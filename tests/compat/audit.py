"""Rows drawn at random, each held against what can be opened: the package index, and NVIDIA's manifests.

`python -m tests.compat.audit 200 --seed 1 --from MANIFESTS` prints every row of the draw on which the two differ, and
those that are left to a reader: their source is a page. `--sources FOLDER` has the projects that rows name, as
OWNER/PROJECT: their files, or a clone, of which a file is read as it was at the commit or tag that the row names.
`--all` takes every row in place of a draw; `--all --product lightgbm --heads` holds the column glibc against libraries.
A difference is not yet an error: a document may say more than a wheel (tests/compat/AUDIT.md).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from fnmatch import fnmatch
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import InvalidSdistFilename, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from compat.artefact import ComponentRow, CudaInstallerRow, CudnnArchiveRow, ManifestRow, StatusRow
from compat.base.errors import GpudoctorError
from compat.load import columns_of, products, tables_of
from compat.matrix import Matrix, Uncovered, accepts
from compat.platform_row import AbsentRow, DeclaredRow, ExtraRow, SystemRow
from compat.row import (
    BranchRow,
    ChipRow,
    CompilerRow,
    CudnnBuildRow,
    CudnnRow,
    CudnnWheelRow,
    FrameworkRow,
    GpuRow,
    LibraryRow,
    SupportRow,
    ToolkitRow,
    XidRow,
)
from compat.traits import takes_the_runtime_that_it_finds, traits_of
from compat.version import CodeTarget, CudnnVersion
from doctor.binaries.fatbin import FatbinError, GpuCode, read_gpu_code
from doctor.commands.refresh import nvidia
from doctor.commands.refresh.compare import _NOT_COMPARED, _agree
from doctor.commands.refresh.components import component_rows
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.framework import (
    NotTold,
    Release,
    chosen,
    pythons_of,
    pythons_served,
    read,
    releases_of,
    speaks_of,
)
from doctor.commands.refresh.listing import _files_of, wheels_of
from doctor.commands.refresh.requirements import _DECIDING as DECIDING
from doctor.commands.refresh.requirements import needs_of
from doctor.commands.refresh.run import _custom
from doctor.commands.refresh.web import Web
from doctor.commands.refresh.wheel_host import WheelHost
from doctor.host.live import LiveHost
from doctor.model.encode import encode
from doctor.pyenv.metadata import header, metadata_file

MATRIX = Matrix()
AGREES, DIFFERS, READER, LESS = "agrees", "differs", "left to a reader", "says less"
_TODAY = date.today().isoformat()
_TEXT_BYTES = 4 << 20
_CODE_BYTES = 400 << 20  # of all libraries in a wheel, which are read whole for the code in them
_VENDORS = re.compile(r"(?:lib)?(?:cu(?:dnn|blas|fft|rand|solver|sparse|da)|nccl|nv)")  # beside a framework's own
_POINTED = {"tensorflow-cpu-aws", "tensorflow-intel", "tensorflow-macos"}
_HEAD_BYTES, _HEADS = 6 << 20, 8  # names of libraries and of their symbols' versions stand before the code


class Outcome(NamedTuple):
    """One row beside what could be opened."""

    place: str  # "torch.builds"
    row: Any
    kind: str  # AGREES, DIFFERS, READER or LESS
    said: tuple[str, ...]  # the differences, what there was to open, or what could be known


class Shelf:
    """What is opened: the user's package index, a folder with NVIDIA's manifests, one with projects ("" for none)."""

    def __init__(self, manifests: str, sources: str, at_most: int = 0, *, heads: bool = False) -> None:
        """`at_most` releases of a row that is of many are opened, 0 for all of them; `heads`: their libraries too."""
        self._connection = connection_of(LiveHost(), (), os.getcwd())
        self.web = Web(self._connection)
        self._manifests = manifests
        self._sources = sources
        self.at_most = at_most
        self.heads = heads
        self.releases = cache(self._releases)
        self.archives = cache(self._archives)
        self.row_of = cache(self._row_of)
        self.metadata_of = cache(self._metadata_of)
        self.heads_of = cache(self._heads_of)
        self.choice_of = cache(self._choice_of)
        self.held_by = cache(self._held_by)
        self.code_of = cache(self._code_of)
        self.manifests = cache(self._manifests_of)
        self.components = cache(self._components)
        self.text_in = cache(self._text_in)
        self.file_in = cache(self._file_in)

    def _releases(self, package: str, withdrawn: bool = False) -> tuple[Release, ...]:
        """Those that a resolver takes, or (`withdrawn`) those that it takes where they alone are asked for."""
        wheels, _ = wheels_of(package, self._connection.indexes, self.web)
        return releases_of(
            package, (one for one in wheels if (one.version.is_prerelease or one.is_yanked) == withdrawn)
        )

    def _archives(self, package: str) -> frozenset[str]:
        """The releases of which the index has a source archive."""
        found = set()
        for index in self._connection.indexes:
            for file in _files_of(package, index, self.web):
                with suppress(InvalidSdistFilename, InvalidVersion):
                    found.add(parse_sdist_filename(file.name)[1])
        return frozenset(one.public for one in found if not one.is_prerelease)

    def source(self, names: str) -> str:
        """The files "owner/project:path@ref" that lie in the folder of projects, as OWNER/PROJECT/.../path."""
        found = re.findall(r"(?:^|; )([\w.-]+/[\w.-]+):([\w./-]+)(?:@([\w./-]+))?", names) if self._sources else []
        return "".join(_text_at(Path(self._sources, project), path, at) for project, path, at in dict.fromkeys(found))

    def _text_in(self, package: str, end: str) -> str:
        """The text of the file of that name in the newest wheel, "" where there is none."""
        wheels, _ = wheels_of(package, self._connection.indexes, self.web)
        served = [one for one in wheels if any("win" not in tag.platform for tag in one.tags)]
        newest = max(served, key=lambda one: one.version, default=None)
        if newest is None:
            return ""
        host = WheelHost(newest, self.web, "linux", "x86_64", "")
        try:
            path = next((one for one in host.paths() if one.endswith(end)), "")
            return host.read_bytes(path, _TEXT_BYTES).decode(errors="replace") if path else ""
        finally:
            host.close()

    def _file_in(self, package: str, version: str, end: str) -> str:
        """The text of the file of that name in a release's wheel for Linux, "" where there is none."""
        own = [one for one in self.releases(package) if one.public == version and one.platform.arch == "x86_64"]
        for release in (one for one in own if one.platform.os_family == "linux"):
            host = WheelHost(release.wheels[-1], self.web, *release.platform, "")
            try:
                path = next((one for one in host.paths() if one.endswith(end)), "")
                return host.read_bytes(path, _TEXT_BYTES).decode(errors="replace") if path else ""
            finally:
                host.close()
        return ""

    def _row_of(self, release: Release) -> FrameworkRow | NotTold:
        return read(release, self.web, _TODAY, _custom(release.package, MATRIX))

    def _metadata_of(self, release: Release) -> FrameworkRow:
        """What file names and METADATA say of a release that does not say what it was built for."""
        host = WheelHost(chosen(release.wheels), self.web, *release.platform, "")
        try:
            said = header(host, metadata_file(host.distribution))
        finally:
            host.close()
        custom = _custom(release.package, MATRIX)
        needs = needs_of(said, release.platform, pythons_of(release.wheels) or (), custom.companions)
        nothing: dict[str, Any] = dict.fromkeys(columns_of(FrameworkRow))
        told = {
            "package": release.package,
            "build": "",
            "python": pythons_served(release.wheels, said),
            "pins": needs.own,
        }
        return FrameworkRow(**nothing | told)

    def _heads_of(self, release: Release) -> tuple[str, frozenset[int]]:
        """What its first libraries ask for: the newest GLIBC_, "" where none is seen, and the majors of cuDNN."""
        host = WheelHost(chosen(release.wheels), self.web, *release.platform, "")
        found: set[bytes] = set()
        cudnn: set[int] = set()
        try:
            for path in [one for one in host.paths() if one.endswith(".so")][:_HEADS]:
                with host.open(path) as stream:
                    head = stream.read(_HEAD_BYTES)
                found.update(re.findall(rb"\0GLIBC_(2\.\d+)(?=\0)", head))
                cudnn.update(map(int, re.findall(rb"\0libcudnn\.so\.(\d+)(?=\0)", head)))
        finally:
            host.close()
        return str(max(map(Version, map(bytes.decode, found)), default="")), frozenset(cudnn)

    def _choice_of(self, release: Release) -> str:
        """The modules that choose among the libraries in its wheel."""
        host = WheelHost(chosen(release.wheels), self.web, *release.platform, "")
        try:
            own = [
                one for one in host.paths() if one.endswith(("/cextension.py", "/cuda_specs.py", "/cuda_setup/main.py"))
            ]
            return "".join(host.read_bytes(one, _TEXT_BYTES).decode(errors="replace") for one in own)
        finally:
            host.close()

    def _held_by(self, release: Release) -> frozenset[int]:
        """The majors of cuDNN whose main library for Windows is in its wheel."""
        host = WheelHost(chosen(release.wheels), self.web, *release.platform, "")
        try:
            return frozenset(int(one) for one in re.findall(r"/cudnn64_(\d+)\.dll\b", " ".join(host.paths())))
        finally:
            host.close()

    def _code_of(self, release: Release) -> list[GpuCode]:
        """The code in each of its libraries, none where they are too large to be read."""
        host = WheelHost(chosen(release.wheels), self.web, *release.platform, "")
        try:
            paths = [one for one in host.paths() if one.endswith((".so", ".dll", ".pyd")) or ".so." in one]
            own = [one for one in paths if not _VENDORS.match(Path(one).name.lower())]
            if sum(host.status(one).size_bytes for one in own) > _CODE_BYTES:
                return []
            return [_code_in(host, one) for one in own]
        except FatbinError:
            return []
        finally:
            host.close()

    def _manifests_of(self, product: str) -> dict[str, str]:
        return nvidia.manifests(product, MATRIX, self.web, self._manifests)[0] if self._manifests else {}

    def _components(self, release: str) -> dict[str, ComponentRow]:
        url = self.manifests("cuda").get(release)
        return {row.id: row for row in component_rows(release, url, MATRIX, self.web, _TODAY)} if url else {}


def _code_in(host: WheelHost, path: str) -> GpuCode:
    with host.open(path) as stream:
        return read_gpu_code(io.BytesIO(stream.read()))


def most_of(codes: Iterable[GpuCode]) -> frozenset[CodeTarget]:
    """The targets of half the containers or more, in the libraries that have about as many as the fullest."""
    sizes = {one: max(piece.containers for piece in one.pieces) for one in codes if one.pieces}
    full = [one for one, size in sizes.items() if 2 * size >= max(sizes.values())]
    return frozenset(piece.target for one in full for piece in one.pieces if 2 * piece.containers >= sizes[one])


@cache
def _text_at(project: Path, path: str, at: str) -> str:
    """A file of a project's clone at a commit or tag, or of a folder with its files; "" where there is none."""
    if not Path(project, "HEAD").exists() and not Path(project, ".git").exists():
        files = (one for one in project.rglob(Path(path).name) if str(one).endswith(f"/{path}"))
        return "".join(one.read_text(errors="replace") for one in files)
    listed = _git(project, "ls-tree", "-r", "--name-only", at or "HEAD").splitlines()
    named = path if path in listed else next((one for one in listed if one.endswith(f"/{path}")), "")
    return _git(project, "show", f"{at or 'HEAD'}:{named}") if named else ""


def _git(project: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(project), *words], capture_output=True, text=True, errors="replace").stdout


def every_row() -> list[tuple[str, Any]]:
    """All rows of all tables in the order of their files, each with its place."""
    return [
        (f"{product}.{table}", row)
        for product in products()
        for table in tables_of(product)
        for row in MATRIX.rows(product, table)
    ]


def audit(place: str, row: Any, shelf: Shelf) -> Outcome:
    """One row beside what can be opened."""
    judge = _JUDGES.get(type(row).__name__)
    try:
        said = judge(row, shelf) if judge else None
    except (GpudoctorError, OSError) as error:  # the latter: the index answers no more in the middle of a file
        return Outcome(place, row, READER, (str(error),))
    if said is None:
        return Outcome(place, row, READER, (row.source,))
    if said:
        return Outcome(place, row, DIFFERS, tuple(said))
    less = _untold(row, _opened(row, shelf)) if isinstance(row, FrameworkRow) else []
    return Outcome(place, row, LESS if less else AGREES, tuple(less))


def _framework(row: FrameworkRow, shelf: Shelf) -> list[str] | None:
    """The wheels of its releases, on each of its platforms."""
    found: list[str] = []
    opened = _opened(row, shelf)
    for release, told in opened:
        where = f"{release.version} {'/'.join(release.platform)}"
        found += [*_differences(row, told, where), *_left_out(row, told, where), *_asked(row, release, shelf)]
        found += [*_chooses(row, release, shelf), *_held(row, release, shelf)]
    if opened:
        found += [*_coded(row, opened[0][0], shelf), *_installed(row, shelf)]
        named = {one.public for one in shelf.releases(row.package) if accepts(row.versions, one.public)}
        served = named | {release.public for release, _ in opened}
        return found + _not_served(row, _own(row, shelf), served) + _archives_alone(row, served, shelf)
    image = _image(row, shelf) + _installed(row, shelf)
    by_parts = _by_its_parts(row, shelf)
    return image or (_named(row, shelf) if by_parts is None else by_parts)


def _archives_alone(row: FrameworkRow, served: set[str], shelf: Shelf) -> list[str]:
    """Releases that are a source archive and no wheel, in a row that says what wheels of others are for."""
    says = row.glibc or row.python is not None
    alone = sorted(shelf.archives(row.package) - served - _yanked(row, shelf), key=Version) if says else ()
    return [f"{one} is a source archive alone" for one in alone if accepts(row.versions, one)]


def _yanked(row: FrameworkRow, shelf: Shelf) -> set[str]:
    return {one.public for one in shelf.releases(row.package, True)}


def _own(row: FrameworkRow, shelf: Shelf) -> list[Release]:
    return _of(row, shelf.releases(row.package)) or _of(row, shelf.releases(row.package, True))


def _opened(row: FrameworkRow, shelf: Shelf) -> list[tuple[Release, FrameworkRow]]:
    """Its releases, or three of them on each platform, with what is read of their wheels."""
    own = _own(row, shelf)
    found: list[tuple[Release, FrameworkRow]] = []
    for place in sorted({one.platform for one in own}):
        for release in _some([one for one in own if one.platform == place], shelf.at_most):
            told = shelf.row_of(release)
            if isinstance(told, NotTold) and row.build in {"", "cpu"}:
                told = shelf.metadata_of(release)
            if isinstance(told, FrameworkRow) and (told.build == row.build or _may_be(row.build, told.build)):
                found.append((release, _with_its_target(told, release, shelf)))
    return found


def _with_its_target(told: FrameworkRow, release: Release, shelf: Shelf) -> FrameworkRow:
    """What TensorFlow's wheels require that only point at another distribution, by that one's METADATA and Pythons."""
    for name in _POINTED & set(told.pins or ()):
        own = [one for one in shelf.releases(name) if (one.public, one.platform) == (release.public, release.platform)]
        if own:
            target = shelf.metadata_of(own[-1])
            both = [one for one in told.python or () if one in (target.python or ())]
            return told._replace(pins={**(told.pins or {}), **(target.pins or {})}, python=tuple(both) or told.python)
    return told


def _untold(row: FrameworkRow, opened: list[tuple[Release, FrameworkRow]]) -> list[str]:
    """Columns that are null although the wheels that were opened all say the same."""
    found = []
    for name in columns_of(FrameworkRow):
        values = [encode(getattr(told, name)) for _, told in opened]
        if getattr(row, name) is None and values and values[0] is not None and values == values[:1] * len(values):
            found.append(f"{name} is null, read is {values[0]}")
    return found


def _may_be(build: str, told: str) -> bool:
    """Whether a wheel that names its build otherwise, or not at all, can be the one that the row is about."""
    return build == "" or (build == "cpu" and not told.startswith("cu"))


def _of(row: FrameworkRow, releases: Iterable[Release]) -> list[Release]:
    return [one for one in releases if accepts(row.versions, one.public) and speaks_of(row, one.platform)]


def _left_out(row: FrameworkRow, told: FrameworkRow, where: str) -> list[str]:
    """What it requires of packages that other rows are about, or that two of them disagree on, and the row omits."""
    asked, said = told.pins or {}, row.pins
    missing = [f"{one}{asked[one]}" for one in asked if one not in (said or {}) and _decides(one)]
    return [f"{where}: requires {', '.join(missing)} too"] if missing and said is not None else []


def _asked(row: FrameworkRow, release: Release, shelf: Shelf) -> list[str]:
    """What its libraries ask for and the row has older or not; megabytes of each wheel are read."""
    if release.platform.os_family != "linux" or not shelf.heads:
        return []
    glibc, cudnn = shelf.heads_of(release)
    newer = row.glibc and glibc and Version(glibc) > Version(row.glibc)
    found = [f"{release.version}: its libraries ask for glibc {glibc}, the row for {row.glibc}"] if newer else []
    strange = [one for one in sorted(cudnn) if row.cudnn_accepts == "" or not _takes(row.cudnn_accepts, one)]
    return found + [f"{release.version}: its libraries ask for libcudnn.so.{one}" for one in strange]


def _chooses(row: FrameworkRow, release: Release, shelf: Shelf) -> list[str]:
    """Of one that holds a library for each CUDA: whose CUDA it means, torch's or that of a libcudart.so it finds."""
    if not traits_of(row.package).finds_runtime or row.build == "cpu":
        return []
    told = "torch.version.cuda" not in re.sub(r"#.*", "", shelf.choice_of(release))
    is_said = takes_the_runtime_that_it_finds(row.package, release.public)
    return [] if told == is_said else [f"{release.version}: asks {'a libcudart.so' if told else 'torch'} for its CUDA"]


def _held(row: FrameworkRow, release: Release, shelf: Shelf) -> list[str]:
    """The cuDNN that a wheel for Windows holds and that the row does not speak of, or not of its major."""
    majors = shelf.held_by(release) if release.platform.os_family == "windows" and row.build != "cpu" else ()
    strange = [
        one for one in majors if row.cudnn_accepts is None or (row.cudnn_accepts and not _takes(row.cudnn_accepts, one))
    ]
    return [f"{release.version}: holds cudnn64_{one}.dll" for one in strange]


def _coded(row: FrameworkRow, release: Release, shelf: Shelf) -> list[str]:
    """What its libraries have code for, where the row says it; of a draw alone, as they are read whole."""
    codes = shelf.code_of(release) if row.targets and shelf.at_most else []
    every = {piece.target for one in codes for piece in one.pieces}
    said = set(row.targets or ())
    apart = ", ".join(sorted(map(str, (said - every) | (most_of(codes) - said)))) if every else ""
    return [f"{release.version}: in its libraries or in the row alone: {apart}"] if apart else []


def _takes(specifier: str | None, major: int) -> bool:
    """Whether it takes some release of a major of cuDNN: one of its numbers is of it."""
    return specifier is None or major in {int(one) for one in re.findall(r"(?:>=|==|~=|<=)\s*(\d+)", specifier)}


def _decides(name: str) -> bool:
    return name in DECIDING or name in products() or name.startswith("nvidia-")


def _not_served(row: FrameworkRow, own: list[Release], named: set[str]) -> list[str]:
    """Releases that the row speaks of, and that have no wheel for a platform of it."""
    for_any = {one.public for one in own for wheel in one.wheels for tag in wheel.tags if tag.platform == "any"}
    there = {(one.public, *one.platform) for one in own}
    return [
        f"{public} has no wheel for {system}/{machine}"
        for public in sorted(named - for_any)
        for system in row.os
        for machine in row.arch
        if (public, system, "sbsa" if machine == "jetson" else machine) not in there  # their wheels have one tag
    ]


def _by_its_parts(row: FrameworkRow, shelf: Shelf) -> list[str] | None:
    """The wheels of another project that its source names: for which Pythons there are some of that release."""
    found: list[str] | None = None
    for name, version in dict.fromkeys(re.findall(r"(?:^|; )([A-Za-z0-9_]+)-([0-9][^-; ]*)-[^; ]*\.whl", row.source)):
        project = name.replace("_", "-")
        own = [] if project == row.package else _of(row, shelf.releases(project))
        for release in (one for one in own if one.public == version):
            named = re.findall(r"-cp(\d)(\d+)-(?!abi3)", " ".join(wheel.name for wheel in release.wheels))
            told = {f"{major}.{minor}" for major, minor in named}
            found = found or []
            if told and row.python and told != set(row.python):
                found.append(f"{project} {version} {'/'.join(release.platform)} is for {', '.join(sorted(told))}")
    return found


def _image(row: FrameworkRow, shelf: Shelf) -> list[str]:
    """The cuDNN on the machines that build torch for Windows, which the build's own script does not replace."""
    named = re.search(r"[^ ;]+/Install-CUDA-Tools\.ps1@\w+", row.source)
    before, _, own = (shelf.source(named[0]) if named else "").partition(f'"{(row.cuda or "").removeprefix("==")}" {{')
    cudnn = r'cudnn_subfolder\s*=\s*"cudnn-windows-x86_64-([\d.]+)_cuda'
    of_all, of_this = re.findall(cudnn, before.partition("Switch")[0]), re.findall(cudnn, own.partition("}")[0])
    there = (of_this or of_all)[-1:] if own else []
    return [f"{named[0]} has cuDNN {one}" for one in there if named and not accepts(row.cudnn_accepts or "", one)]


_INSTALLS = re.compile(
    r"[\w.-]+/[\w.-]+:[\w./]*(?:install_cuda\.sh|Dockerfile_\d+|prepare_build_environment_windows\.sh)@[\w.]+"
)


def _installed(row: FrameworkRow, shelf: Shelf) -> list[str]:
    """The cuDNN that the script installs which sets up the machine of its build, for the CUDA of the row."""
    cuda = re.sub(r"\D", "", row.cuda or "")
    wrong = []
    for script in _INSTALLS.findall(row.source) if row.cudnn is not None else ():
        text = shelf.source(script)
        own = re.search(rf"(?s)function install_{cuda} \{{(.*?)\n\}}", text)
        told = re.findall(r"(?<=cudnn/)v?(\d+\.\d+\.\d+)(?=/)|libcudnn\d_([\d.]+)-", own[1] if own else text)
        there = {"".join(one) for one in told}
        if text and not any(f"{one}.".startswith(f"{row.cudnn}.") for one in there):
            wrong.append(f"{script} installs cuDNN {', '.join(sorted(there)) or 'of no number'}, not {row.cudnn}")
    return wrong


def _named(row: FrameworkRow, shelf: Shelf) -> list[str] | None:
    """A project's file at the row's tag that names the CUDA; what it does not name is no error, but a reader's."""
    text, cuda = shelf.source(row.source), re.search(r"\d+\.\d+", row.cuda or "")
    named = cuda and re.search(rf"(?i)cuda\D{{0,40}}{re.escape(cuda[0])}\b", text)
    made = _listed_by_its_build(row, text)
    wrong = [*_refused_by_its_build(row, text), *_made_by_its_build(row, text), *(made or ())]
    return wrong or ([] if named or made is not None else None)


_LIST = re.compile(r'TORCH_CUDA_ARCH_LIST="?([^"\n#]*)')
_OF_ARM = re.compile(r"(?ms)^\s*if [^\n]*aarch64[^\n]*\n.*?^\s*else\n(.*?)^\s*fi\n")
_BRANCH = re.compile(r"\s*(?:el)?if \[\[ \$CUDA_VERSION == .*|\s*[\d.*|[\]]+\)\s*$")


def _listed_by_its_build(row: FrameworkRow, text: str) -> list[str] | None:
    """The code for which torch's build script sets its list of targets, None where it is no such script."""
    cuda, targets = (row.cuda or "").removeprefix("=="), ""
    takes, inside = True, False
    for line in _OF_ARM.sub(r"\1", text).splitlines():
        if _BRANCH.match(line):
            inside, takes = True, any(fnmatch(cuda, one) for one in re.findall(r"[\d*]+\.(?:[\d*]+|\[\d+\])", line))
        elif inside and line.strip() in {";;", "fi", "esac", "*)", "else"}:
            inside, takes = line.strip() in {"*)", "else"}, line.strip() not in {"*)", "else"}
        elif targets and re.match(r"\s*echo .*ARCH_LIST", line):
            break
        elif takes and (said := _LIST.search(line)):
            targets = re.sub(r"\$\{?TORCH_CUDA_ARCH_LIST\}?", lambda _, before=targets: before, said[1])
    parts = [one.strip() for one in targets.split(";") if re.fullmatch(r"\d+\.\d+(\+PTX)?", one.strip())]
    made = {f"sm_{one.removesuffix('+PTX').replace('.', '')}" for one in parts}
    made |= {f"compute_{one[:-4].replace('.', '')}" for one in parts if one.endswith("+PTX")}
    if not made or row.targets is None:
        return None
    return [] if made == set(map(str, row.targets)) else [f"its build lists {', '.join(sorted(made))}"]


def _refused_by_its_build(row: FrameworkRow, text: str) -> list[str]:
    """The oldest and newest cuDNN that CuPy's build takes, from the oldest on that the row takes."""
    bounds = {name: int(number) for name, number in re.findall(r"(?m)^(m\w+imum)_cudnn_version = (\d+)", text)}
    specifier = row.cudnn_accepts or ""
    first = re.match(r">=([\d.]+)", specifier)
    if not bounds or not first:
        return []
    low = CudnnVersion.from_encoded(bounds["minimum"])
    high = CudnnVersion.from_encoded(bounds.get("maximum", 8999))  # 9 lacks functions that each of them calls
    known = sorted(one.version for one in MATRIX.rows("cudnn", "releases"))
    return [
        f"its build {'takes' if low <= one <= high else 'refuses'} cuDNN {one}"
        for one in known
        if one >= CudnnVersion.parse(first[1])
        if accepts(specifier, str(one)) != (low <= one <= high)
    ]


def _made_by_its_build(row: FrameworkRow, text: str) -> list[str]:
    """The code that Caffe's Makefile builds."""
    made = set(re.findall(r"-gencode arch=compute_\d+,code=(\w+)", text))
    apart = made ^ set(map(str, row.targets or ()))
    return [f"its build makes {', '.join(sorted(made))}"] if made and apart else []


def _some(releases: list[Release], at_most: int) -> list[Release]:
    every = {0, len(releases) // 2, len(releases) - 1} if at_most else range(len(releases))
    return [releases[at] for at in sorted(every)]


def _differences(row: Any, told: Any, where: str) -> list[str]:
    return [
        f"{where}: {name} is {encode(getattr(row, name))}, read is {encode(getattr(told, name))}"
        for name in columns_of(type(row))
        if name not in _NOT_COMPARED
        and getattr(row, name) is not None
        and (getattr(told, name) is not None or getattr(row, "build", "") == getattr(told, "build", ""))
        and not _agree(name, getattr(row, name), getattr(told, name), MATRIX)
    ]


def _component(row: ComponentRow, shelf: Shelf) -> list[str] | None:
    """NVIDIA's manifest of the release."""
    parts = shelf.components(row.release)
    if not parts:
        return None
    return _differences(row, parts[row.id], row.source) if row.id in parts else [f"{row.source} has no such part"]


def _archive(row: CudnnArchiveRow, shelf: Shelf) -> list[str] | None:
    """NVIDIA's manifest of the release: the digest, the size and the place of the file of that name."""
    url = shelf.manifests("cudnn").get(str(row.version.release))
    page = shelf.web.page(url, nvidia.MANIFEST_BYTES) if url else None
    listed = _files(json.loads(page.content)) if page else ()
    told = next((one for one in listed if one["relative_path"].endswith(f"/{row.id}")), None)
    if told is None:
        return _in_source(row.sha256, row, shelf)
    differs = {
        "digest": told["sha256"] not in row.sha256,
        "size": row.size_bytes != int(told["size"]),
        "place": not row.url.endswith(f"/{told['relative_path']}"),
    }
    return [f"its {name} in the manifest is another" for name, is_other in differs.items() if is_other]


def _files(content: Any) -> Iterator[dict[str, Any]]:
    """Each file that a manifest lists, on whatever level."""
    if isinstance(content, dict):
        if "relative_path" in content:
            yield content
        for one in content.values():
            yield from _files(one)


def _installer(row: CudaInstallerRow, shelf: Shelf) -> list[str] | None:
    """The list of a project that it is from: its digest, else its address."""
    return _in_source((row.sha256 or row.url,), row, shelf)


def _in_source(either: Iterable[str], row: Any, shelf: Shelf) -> list[str] | None:
    """Whether a project has it, or two where the row says that several agree."""
    texts = [text for one in row.source.split("; ") if (text := shelf.source(one))]
    wanted = 2 if getattr(row, "digest_from", "") == "several" else 1
    if len(texts) < wanted:
        return None
    have = sum(any(one in text for one in either) for text in texts)
    return [] if have >= wanted else [f"{have} of {wanted} in {row.source} have one of {', '.join(either)}"]


def _chip(row: ChipRow, shelf: Shelf) -> list[str] | None:
    """The device ids that pci.ids gives to the chip, and what NVIDIA calls their cards."""
    lines = _devices(shelf.source(row.source))
    wrong = [one for one in row.devices if one in lines and not lines[one].casefold().startswith(row.id)]
    listed = _listed(shelf.source("NVIDIA/open-gpu-kernel-modules:README.md"))
    nameless = [name for name in listed if listed[name] & set(row.devices) and not _is_product(name, row)]
    said = [f"{one} is {lines[one]} in pci.ids" for one in wrong]
    return said + [f"{one} is no product of {row.capability}" for one in nameless] if lines or listed else None


@cache
def _listed(text: str) -> dict[str, set[str]]:
    """The cards of NVIDIA's own list by the name that the driver reports: "NVIDIA T1200 Laptop GPU" -> {"1fbc"}."""
    found: dict[str, set[str]] = {}
    for name, device in re.findall(r"^\| (NVIDIA .*?) +\| ([0-9A-F]{4})\b", text, re.MULTILINE):
        found.setdefault(name, set()).add(device.lower())
    return found


def _is_product(name: str, row: ChipRow) -> bool:
    try:
        return row.capability in MATRIX.gpu(name).capabilities
    except Uncovered:
        return False


def _product(row: GpuRow, shelf: Shelf) -> list[str] | None:
    """The chips of the cards that pci.ids gives this name, and their compute capability."""
    lines = _devices(shelf.source("pciutils/pciids:pci.ids"))
    name = row.name.casefold().removeprefix("nvidia ").removesuffix(" laptop gpu")
    called = {one for one, text in lines.items() if name in _names(text) and "Controller" not in text}
    chips = [chip for chip in MATRIX.rows("chip", "devices") if set(chip.devices) & called]
    if not called:
        return None
    strange = {chip.capability for chip in chips} - set(row.capabilities)
    unknown = called.difference(*(chip.devices for chip in chips))
    told = [f"cards of that name are of {sorted(map(str, strange))} too"] if strange else []
    return told + [f"no row has the chip of {one}, {lines[one]}" for one in sorted(unknown)]


def _names(text: str) -> set[str]:
    """The names in "GF108M [GeForce GT 620M/630M/635M/640M LE]", of which only the first is written out."""
    inside = re.search(r"\[(.*)\]", re.sub(r" (max-q|mobile|oem|rev\. ?\d)\b", "", text.casefold()))
    first, *others = re.split(r" ?/ ?", inside[1]) if inside else [""]
    series = re.match(r"(.*?)[a-z]?\d", first)
    return {first} | {f"{series[1]}{one}" if series and re.match(r"[a-z]?\d", one) else one for one in others}


@cache
def _devices(text: str) -> dict[str, str]:
    """NVIDIA's devices of pci.ids: "2684" -> "AD102 [GeForce RTX 4090]"."""
    own = re.search(r"^10de .*\n((?:\t.*\n|#.*\n)*)", text, re.MULTILINE)
    return dict(re.findall(r"^\t([0-9a-f]{4})  (.*)$", own[1], re.MULTILINE)) if own else {}


def _toolkit(row: ToolkitRow, shelf: Shelf) -> list[str] | None:
    """NVIDIA's manifest of the release: the driver that came with it."""
    url = shelf.manifests("cuda").get(row.release)
    told = nvidia.manifest_rows("cuda", url, MATRIX, shelf.web, _TODAY) if url else []
    return _differences(row, told[0], row.id) if told else None


def _manifest(row: ManifestRow, shelf: Shelf) -> list[str] | None:
    """The manifest's own digest."""
    url = shelf.manifests(row.product).get(row.release)
    page = shelf.web.page(url, nvidia.MANIFEST_BYTES) if url else None
    if not page:
        return _in_source((row.sha256,), row, shelf)
    return [] if sha256(page.content).hexdigest() == row.sha256 else ["its digest is another"]


# library -> the wheel with the header that has its codes, that header, and whether a row is of that release
def _is_of_today(versions: str) -> bool:
    return not versions.startswith("<")


_HEADERS: dict[str, tuple[str, str, Callable[[str], bool]]] = {
    "nvml": ("nvidia-ml-py", "pynvml.py", lambda _: True),
    "cuda": ("nvidia-cuda-runtime", "include/driver_types.h", _is_of_today),
    "cudnn": ("nvidia-cudnn-cu13", "include/cudnn_graph.h", lambda versions: versions.startswith(">=9")),
    "cuda-driver": ("nvidia-cuda-runtime", "include/cuda.h", _is_of_today),
    "cublas": ("nvidia-cublas", "include/cublas_api.h", _is_of_today),
    "cufft": ("nvidia-cufft", "include/cufft.h", _is_of_today),
    "curand": ("nvidia-curand", "include/curand.h", _is_of_today),
    "cusolver": ("nvidia-cusolver", "include/cusolver_common.h", _is_of_today),
    "cusparse": ("nvidia-cusparse", "include/cusparse.h", _is_of_today),
    "nccl": ("nvidia-nccl-cu13", "include/nccl.h", _is_of_today),
    "nvjitlink": ("nvidia-nvjitlink", "include/nvJitLink.h", _is_of_today),
    "nvrtc": ("nvidia-cuda-nvrtc", "include/nvrtc.h", _is_of_today),
}


def _status(row: StatusRow, shelf: Shelf) -> list[str] | None:
    """The header, in the newest wheel, that gives the name its number."""
    if row.library not in _HEADERS:
        return None  # of no wheel: optix
    package, header, is_of = _HEADERS[row.library]
    came = _came_with(row.name, shelf) if row.library == "cuda" else None
    if came and came > Version("10.1") and row.versions != f">={came}":  # which numbered them anew
        return [f"{row.name} came with CUDA {came}"]
    if not is_of(row.versions):
        told = re.search(rf"\b{row.name}\s*=\s*(0x[0-9a-f]+|\d+)", shelf.source(row.source))
        return None if not told else [] if int(told[1], 0) == row.code else [f"{row.name} is {told[1]} in its source"]
    text = shelf.text_in(package, header)
    found = re.search(rf"\b{row.name}\s*=\s*(0x[0-9a-fA-F]+|\d+)", text)
    if not found:
        return [f"{package} has no {row.name} in {header}"] if text else None
    wrong = [] if int(found[1], 0) == row.code else [f"{row.name} is {found[1]} in {header}"]
    return wrong + (_since(row, shelf) if row.library == "cudnn" else [])


def _since(row: StatusRow, shelf: Shelf) -> list[str]:
    """The headers of cuDNN 9 on both sides of the release that the row begins with."""
    package, header = "nvidia-cudnn-cu12", "cudnn_graph.h"
    of = {one.public for one in shelf.releases(package) if one.platform == ("linux", "x86_64")}
    nines = sorted((one for one in of if Version(one) >= Version("9")), key=Version)
    taken = [accepts(row.versions, one) for one in nines]
    first = taken.index(True)
    return [
        f"cuDNN {nines[at]} has {'it' if there else 'no ' + row.name}"
        for at in (first - 1, first)
        if at >= 0 and (there := row.name in shelf.file_in(package, nines[at], header)) != taken[at]
    ]


def _came_with(name: str, shelf: Shelf) -> Version | None:
    """The CUDA whose runtime has an error first, by the column "A" of HIPIFY's table."""
    table = shelf.source("ROCm/HIPIFY:docs/tables/CUDA_Runtime_API_functions_supported_by_HIP.md")
    told = re.search(rf"(?m)^\|`{name}`\|([\d.]+)\|", table)
    return Version(told[1]) if told else None


def _cudnn_wheels(row: CudnnWheelRow, shelf: Shelf) -> list[str]:
    """Those for Linux; the matrix has no version of five parts."""
    served = {one.public for one in shelf.releases(row.id) if one.platform.os_family == "linux"}
    apart = {one for one in served if "post" not in one} ^ set(map(str, row.releases))
    return [f"on the index or in the row alone: {', '.join(sorted(apart))}"] if apart else []


def _cudnn(row: CudnnRow, shelf: Shelf) -> list[str] | None:
    """The names of the libraries in its wheels."""
    found = [
        (major, one)
        for project, major in nvidia.cudnn_projects(MATRIX).items()
        for one in shelf.releases(project)
        if one.public.startswith(f"{row.version}.") and "post" not in one.public  # another build of the same
    ]
    if not any(one.platform.os_family == "linux" for _, one in found):
        return None
    told = nvidia.cudnn_rows(Version(str(row.version)), found, shelf.web, _TODAY)
    return _differences(row, told[0], row.id)


def _cudnn_build(row: CudnnBuildRow, shelf: Shelf) -> list[str] | None:
    """The newest card by its header, which is one for all CUDAs: what CUDA 11 cannot build for is in it, too."""
    package = f"nvidia-cudnn-cu{row.cuda_major}"
    own = [one.public for one in shelf.releases(package) if one.public.startswith(f"{row.version}.")]
    text = shelf.file_in(package, own[0], "cudnn_version.h") if own and row.cuda_major > 11 else ""
    told = re.findall(r"#define CUDNN_MAX_SM_M\w+_NUMBER\s+(\d+)", text)
    if len(told) != 2 or row.capability_max is None:
        return None
    newest = ".".join(told)
    return [] if str(row.capability_max) == newest else [f"its header goes up to {newest}, not {row.capability_max}"]


def _absent(row: AbsentRow, shelf: Shelf) -> list[str] | None:
    """No wheel for that platform is on the index, unless it is one without code for a GPU."""
    if row.gpu_only:
        return None
    return [
        f"{one.version} has a wheel for {'/'.join(one.platform)}"
        for one in shelf.releases(row.package)
        if accepts(row.versions, one.public)
        and (not row.os or one.platform.os_family in row.os)
        and (not row.arch or one.platform.arch in row.arch)
    ]


def _branch(row: BranchRow, shelf: Shelf) -> list[str] | None:
    """NVIDIA's security bulletins: the Windows drivers of a branch that are affected."""
    text = shelf.source(row.source)
    if not text or row.windows_last is None:
        return None
    parts = json.loads(text)["containers"]["cna"]["affected"]
    own = [part for part in parts if f"Windows(R{row.branch})" in part.get("platforms", ())]
    named = " ".join(one.get("version", "") for part in own for one in part["versions"])
    newest = max(map(int, re.findall(r"\b(\d+)\.\d+", named)), default=0)
    if newest > row.windows_last:
        return [f"{row.source} names {newest} of R{row.branch}"]
    return [] if newest == row.windows_last else None


def _xid(row: XidRow, shelf: Shelf) -> list[str] | None:
    """The driver's own header, which gives each name its number."""
    text = shelf.source("NVIDIA/open-gpu-kernel-modules:src/common/sdk/nvidia/inc/nverror.h")
    told = re.search(rf"#define\s+{re.escape(row.mnemonic)}\s+\((\d+)\)", text) if row.mnemonic else None
    return None if not told else [] if int(told[1]) == row.xid else [f"{row.mnemonic} is {told[1]} in nverror.h"]


def _declared(row: DeclaredRow, shelf: Shelf) -> list[str] | None:
    """The classifiers of its wheels."""
    own = [one for one in shelf.releases(row.package) if accepts(row.versions, one.public)]
    if not own:
        return None
    host = WheelHost(own[-1].wheels[-1], shelf.web, *own[-1].platform, "")
    try:
        text = host.read_bytes(f"{host.distribution.metadata}/METADATA", _TEXT_BYTES).decode(errors="replace")
    finally:
        host.close()
    told = set(re.findall(r"(?m)^Classifier: Programming Language :: Python :: (\d\.\d+)\s*$", text))
    return [] if set(row.python) == told else [f"its classifiers are {', '.join(sorted(told))}"]


# /etc/os-release's names -> those of the table of glibc and systems that the rows are from
_SYSTEMS = {"amzn": "amazonlinux", "rhel": "rhubi", "ol": "oraclelinux", "rocky": "rockylinux"}


def _system(row: SystemRow, shelf: Shelf) -> list[str] | None:
    """The table of systems by glibc."""
    name, _, release = row.id.rpartition("-")
    wanted = re.compile(rf"\|{re.escape(_SYSTEMS.get(name, name))}-?{re.escape(release)}\|")
    tables = re.findall(r'"manylinux_(\d+)_(\d+)", "(.*)"', shelf.source(row.source))
    told = [f"{major}.{minor}" for major, minor, systems in tables if wanted.search(systems)]
    return None if not told or row.glibc is None else [] if row.glibc in told else [f"its glibc is {told[0]}"]


# conflicts("%gcc@11.2:", when="%cuda@:11.5 target=x86_64:")
_REFUSED = re.compile(r'conflicts\("%(gcc|clang)@([\d.:,]+)", when="%cuda@([\d.:]+)(?: target=x86_64:)?"\)')


def _by_spack(row: CompilerRow, text: str) -> list[str]:
    """The newest gcc and clang that Spack lets stand beside the releases of the row."""
    first, last = Version(row.release_min), Version(row.release_max)
    known = [one.release for one in MATRIX.rows("cuda", "toolkits") if first <= Version(one.release) <= last]
    wrong = []
    for name, said in (("gcc", row.gcc_max), ("clang", row.clang_max)):
        for release in known:
            limits = [
                int(major) - (not minor)
                for compiler, refused, releases in _REFUSED.findall(text)
                if compiler == name and _spans(releases, release)
                for major, minor in re.findall(r"(?:^|,)(\d+)(\.\d+)?:$", refused)
            ]
            if said is not None and limits and min(limits) != said:
                wrong.append(f"{name}_max of {release} is {said}, Spack has {min(limits)}")
    return wrong


def _spans(releases: str, release: str) -> bool:
    """Whether Spack's ":11.5", "10.1.105:10.1.243" or "9.1" has a release; an end has all that begin with it."""
    first, is_range, last = releases.partition(":")
    if not is_range:
        return f"{release}.".startswith(f"{first}.")
    below = not last or Version(release) <= Version(last) or f"{release}.".startswith(f"{last}.")
    return below and (not first or Version(release) >= Version(first))


def _compiler(row: CompilerRow, shelf: Shelf) -> list[str] | None:
    """What nvcc's own header refuses, in the wheel that the row is from, or what Spack does."""
    named = re.match(r"nvidia_cuda_nvcc-((\d+)\.[\d.]+) wheel: (crt/host_config\.h)", row.source)
    if not named:
        recipe = shelf.source(row.source) if "spack" in row.source else ""
        return _by_spack(row, recipe) if recipe else None
    package = f"nvidia-cuda-nvcc-cu{named[2]}" if int(named[2]) < 13 else "nvidia-cuda-crt"
    text = shelf.file_in(package, named[1], named[3])
    told = {
        "gcc_max": {int(one) for one in re.findall(r"__GNUC__ > (\d+)", text)},
        "clang_max": {int(one) - 1 for one in re.findall(r"__clang_major__ >= (\d+)", text)},
        "msc_max": {int(one) - 1 for one in re.findall(r"_MSC_VER >= (\d+)", text)},
        "msc_min": {int(one) for one in re.findall(r"_MSC_VER < (\d+) \|\| _MSC_VER", text)},
    }
    wrong = [
        f"{name} is {getattr(row, name)}, in its header {sorted(is_)}"
        for name, is_ in told.items()
        if is_ and getattr(row, name) not in is_
    ]
    return wrong if text else None


def _support(row: SupportRow, shelf: Shelf) -> list[str] | None:
    """A project's document at the row's tag that names the capability; what it does not name is a reader's."""
    text = shelf.source(row.source)
    named = rf"(?i)compute capability {re.escape(str(row.capability_min))} or|- {re.escape(str(row.capability_min))}-"
    return [] if re.search(named, text) else None


def _library(row: LibraryRow, shelf: Shelf) -> list[str] | None:
    """The file names in the newest wheel that brings it, for both systems."""
    missing: list[str] = []
    opened = False
    for system, name in (("linux", row.soname), ("windows", row.dll)):
        own = [one for one in shelf.releases(row.wheel) if one.platform == (system, "x86_64")]
        if own:
            opened = True
            host = WheelHost(own[-1].wheels[-1], shelf.web, *own[-1].platform, "")
            try:
                there = any(Path(one).name == name for one in host.paths())
            finally:
                host.close()
            missing += [] if there else [f"{row.wheel} {own[-1].version} for {system} has no {name}"]
    return missing if opened else None


def _extra(row: ExtraRow, shelf: Shelf) -> list[str] | None:
    """METADATA of the releases on both sides of where it came, or went, and of the newest."""
    of = {one.public for one in shelf.releases(row.package) if one.platform == ("linux", "x86_64")}
    released = sorted(of, key=Version)
    taken = [accepts(row.versions, one) for one in released]
    edges = {at for at in range(1, len(taken)) if taken[at] != taken[at - 1]}
    wrong = []
    for at in sorted({*edges, *(one - 1 for one in edges), len(taken) - 1} if taken else ()):
        text = shelf.file_in(row.package, released[at], "METADATA").replace("_", "-").replace('"', "'")
        there = re.search(rf"(?m)^Provides-Extra: {re.escape(row.extra)}\s*$", text) is not None
        wanted = rf"{re.escape(row.asks)}.*{re.escape(row.build)}.*extra == '{re.escape(row.extra)}'"
        asked = re.search(rf"(?m)^Requires-Dist: {wanted}", text)
        if (there and (not row.asks or asked is not None)) != taken[at]:
            wrong.append(f"{row.package} {released[at]} {'has' if there else 'has no'} extra {row.extra}")
    return wrong if taken else None


_JUDGES: dict[str, Any] = {
    "FrameworkRow": _framework,
    "ComponentRow": _component,
    "CudnnArchiveRow": _archive,
    "ToolkitRow": _toolkit,
    "CudnnWheelRow": _cudnn_wheels,
    "ManifestRow": _manifest,
    "StatusRow": _status,
    "CudaInstallerRow": _installer,
    "ChipRow": _chip,
    "GpuRow": _product,
    "CudnnBuildRow": _cudnn_build,
    "CudnnRow": _cudnn,
    "AbsentRow": _absent,
    "BranchRow": _branch,
    "XidRow": _xid,
    "DeclaredRow": _declared,
    "SystemRow": _system,
    "CompilerRow": _compiler,
    "SupportRow": _support,
    "LibraryRow": _library,
    "ExtraRow": _extra,
}


def outcomes(rows: Iterable[tuple[str, Any]], shelf: Shelf) -> list[Outcome]:
    """The outcome of each row; four products at once."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda one: audit(one[0], one[1], shelf), rows))


def main() -> None:
    """Print the draw and its outcome."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="manifests", default="")
    parser.add_argument("--sources", default="", help="a folder OWNER/PROJECT/... with the projects that rows name")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--heads", action="store_true", help="with --all: also what libraries in the wheels ask for")
    parser.add_argument("--product", default="")
    parser.add_argument("--since", default="", help="only of rows that were read on this day or later")
    asked = parser.parse_args()
    rows = [one for one in every_row() if one[1].read_on >= asked.since]
    drawn = rows if asked.all else random.Random(asked.seed).sample(rows, asked.count)
    shelf = Shelf(asked.manifests, asked.sources, 0 if asked.all else 3, heads=asked.heads or not asked.all)
    found = outcomes((one for one in drawn if one[0].startswith(asked.product)), shelf)
    for kind in (READER, LESS, DIFFERS):
        for one in (one for one in found if one.kind == kind):
            print(f"{kind}: {one.place}[{one.row.id}]", *one.said, sep="\n    ")
    print(f"of {len(rows)} rows, seed {asked.seed}: {dict(Counter(one.kind for one in found))}", file=sys.stderr)


if __name__ == "__main__":
    main()
