"""Rows of the matrix from the wheels of one release of a framework."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from compat.base.record import NamedTuple
from compat.row import FrameworkRow
from compat.traits import traits_of
from compat.version import CodeTarget, VersionError
from doctor.commands.refresh.listing import Wheel
from doctor.commands.refresh.requirements import Needs, Platform, admitted, cuda_of, needs_of, spelled_out
from doctor.commands.refresh.web import Web
from doctor.commands.refresh.wheel_host import WheelHost
from doctor.host import HostError
from doctor.loader import cards
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, Unseen, how, value_or
from doctor.pyenv.metadata import fields, header, metadata_file

_LIBRARY_BYTES = 256 << 20
_PIECE_BYTES = 1 << 20
BY_NAME = "name of the distribution"  # how readers say that cupy-cuda112 is for CUDA 11.2 and no other
_SUFFIXES = {
    ("linux", "sbsa"): "-sbsa",
    ("linux", "jetson"): "-jetson",
    ("windows", "x86_64"): "-windows",
    ("macos", "x86_64"): "-macos",
    ("macos", "sbsa"): "-macos-arm64",
}
_PATTERN = re.compile(rb"(?:sm|compute)_\d{2,3}[af]?(?: (?:sm|compute)_\d{2,3}[af]?)+")


_PLATFORMS = (
    Platform("linux", "x86_64"),
    Platform("linux", "sbsa"),
    Platform("windows", "x86_64"),
    Platform("macos", "x86_64"),
    Platform("macos", "sbsa"),
)


class Release(NamedTuple):
    """The wheels of one version (local part included) for one platform."""

    package: str
    version: str  # "2.9.1+cu128"
    platform: Platform
    wheels: tuple[Wheel, ...]

    @property
    def public(self) -> str:
        """The version without its local part."""
        return self.version.partition("+")[0]


class NotTold(NamedTuple):
    """A release whose wheel does not say what a row must say."""

    release: Release
    why: str


def releases_of(package: str, wheels: Iterable[Wheel]) -> tuple[Release, ...]:
    """The wheels by version and platform, oldest version first."""
    groups: dict[tuple[Any, Platform], list[Wheel]] = {}
    for wheel in wheels:
        # The platforms of the file's tags; a wheel for any is taken as Linux's, whose row says so.
        found = [_platform(tag.platform) for tag in wheel.tags]
        for platform in sorted({one for one in found if one}):
            groups.setdefault((wheel.version, platform), []).append(wheel)
    return tuple(
        Release(package, str(version), platform, tuple(groups[version, platform]))
        for version, platform in sorted(groups, key=lambda key: (key[0], _PLATFORMS.index(key[1])))
    )


def _platform(tag: str) -> Platform | None:
    if tag == "any" or (tag.endswith("_x86_64") and "linux" in tag and "musl" not in tag):
        return Platform("linux", "x86_64")
    if tag.endswith("_aarch64") and "manylinux" in tag:
        return Platform("linux", "sbsa")
    if tag == "win_amd64":
        return Platform("windows", "x86_64")
    if tag.startswith("macosx"):
        return Platform("macos", "sbsa" if tag.endswith("_arm64") else "x86_64")
    return None


def pythons_of(wheels: Iterable[Wheel]) -> tuple[str, ...] | None:
    """The CPython versions of the files' tags, "3.13t" for a free-threaded one; None where one serves several."""
    found = set()
    for tag in (tag for wheel in wheels for tag in wheel.tags):
        exact = re.fullmatch(r"cp(\d)(\d+)", tag.interpreter)
        if tag.abi in {"abi3", "none"}:
            return None
        if exact:
            found.add((int(exact[1]), int(exact[2]), tag.abi.endswith("t")))
    return tuple(f"{major}.{minor}{'t' if free else ''}" for major, minor, free in sorted(found)) or None


def pythons_served(wheels: Iterable[Wheel], header: str) -> tuple[str, ...] | None:
    """The CPython versions that an installer takes one of the files for; None where nothing says which.

    A wheel of the stable ABI (cp38-abi3, PEP 425) serves its CPython and the later ones, one without an ABI (py3-none)
    every Python 3; `Requires-Python` in METADATA says which of them the release admits. Neither is shown to serve a
    free-threaded one, which has no stable ABI before 3.15 and comes as a wheel of its own.
    """
    tags = [tag for wheel in wheels for tag in wheel.tags]
    exact = pythons_of(wheels)
    if exact or not fields(header, "Requires-Python"):
        return exact
    oldest = min((int(found[1]) for tag in tags if (found := re.fullmatch(r"cp3(\d+)", tag.interpreter))), default=0)
    served = {one for one in admitted(header) if int(one[2:]) >= oldest}
    free = {f"3.{tag.abi[3:]}" for tag in tags if re.fullmatch(r"cp3\d+t", tag.abi)}  # each has a wheel of its own
    return tuple(sorted(served | free, key=lambda one: (int(one[2:].rstrip("t")), one))) or None


def chosen(wheels: Iterable[Wheel]) -> Wheel:
    """The wheel to read for all of a release: the newest CPython, not free-threaded, the last build of it."""

    def rank(wheel: Wheel) -> Any:
        found = pythons_of([wheel]) or ("0.0t",)
        number = tuple(map(int, found[-1].rstrip("t").split(".")))
        return (not found[-1].endswith("t"), number, wheel.build_number, wheel.name)

    return max(wheels, key=rank)


class Custom(NamedTuple):
    """How the shipped rows of a package are written, which new ones follow."""

    names_builds: bool = True  # whether there are builds for several CUDA versions, which rows tell apart by name
    companions: tuple[str, ...] = ()  # distributions whose versions matter to it, beyond those that always do


PLAIN = Custom()


def read(release: Release, web: Web, today: str, custom: Custom = PLAIN) -> FrameworkRow | NotTold:
    """The row of one release on one platform; what the wheel does not say is None."""
    wheel = chosen(release.wheels)
    alone = pythons_of([wheel])
    host = WheelHost(wheel, web, *release.platform, alone[-1] if alone else "")
    try:
        row = _row(release, host, custom, today)
    finally:
        host.close()
    if web.is_over:  # what was not read by then would look as if the wheel did not say it
        return NotTold(release, web.over)
    if custom.names_builds or isinstance(row, NotTold) or not row.build.startswith("cu"):
        return row
    return row._replace(build="", id=_id(release._replace(platform=_place(release.platform, row.cuda)), ""))


def _row(release: Release, host: WheelHost, custom: Custom, today: str) -> FrameworkRow | NotTold:
    pythons = pythons_of(release.wheels)
    framework = next(iter(cards.read_all(host, [host.distribution], "/usr")), None) or _by_metadata(host)
    if not isinstance(framework.build, Seen):
        return NotTold(release, framework.build.why)
    try:
        said = header(host, metadata_file(host.distribution))
    except HostError as error:
        return NotTold(release, str(error))
    needs = needs_of(said, release.platform, pythons or (), custom.companions)
    if needs.extra and "[" not in traits_of(release.package).asked_as.get(release.package, ""):
        needs = needs._replace(libraries={}, extra="")  # it is installed without: CuPy takes the system's
    is_cpu = framework.is_cpu_build or (framework.build.value == "" and not needs.has_libraries and _is_pure(release))
    columns = _cpu_columns() if is_cpu else _gpu_columns(framework, needs, host)
    build = "" if framework.build.value == "cuda" else framework.build.value
    release = release._replace(platform=_place(release.platform, columns["cuda"]))
    return FrameworkRow(
        id=_id(release, build),
        package=release.package,
        versions=f"=={release.public}",
        build=build,
        os=_systems(release),
        arch=_machines(release),
        python=None if traits_of(release.package).any_python else pythons_served(release.wheels, said),
        glibc=_glibc(release),
        pins=needs.own if is_cpu else needs.pins,
        source=f"{host.name}: {', '.join(_short(host.members_read))}",
        read_on=today,
        confidence="high",
        note=(f"libraries of the {needs.extra} extra; without it, the system's libraries")
        if needs.extra and not is_cpu
        else "",
        **columns,
    )


def _by_metadata(host: WheelHost) -> Framework:
    """A package that no reader knows: its requirements and its name say all that is known."""
    one = host.distribution
    build = Seen("", "only its metadata is read")
    return cards.describe(one, "/usr", one.name, build=build, requires=Unseen("not read"))


def _is_pure(release: Release) -> bool:
    return all(tag.platform == "any" for wheel in release.wheels for tag in wheel.tags)


def _systems(release: Release) -> tuple[str, ...]:
    return ("linux", "windows", "macos") if _is_pure(release) else (release.platform.os_family,)


def _machines(release: Release) -> tuple[str, ...]:
    return ("x86_64", "sbsa") if _is_pure(release) else (release.platform.arch,)


def _place(platform: Platform, cuda: str | None) -> Platform:
    """Where it runs. CUDA for ARM servers begins with 11.0: a wheel of an older one is for Jetson (CuPy's for 10.2)."""
    older = platform == Platform("linux", "sbsa") and re.match(r"==(\d|10)\.", cuda or "")
    return Platform("linux", "jetson") if older else platform


def speaks_of(row: FrameworkRow, platform: Platform) -> bool:
    """Whether a row is about the wheels for a platform, of which those for ARM may be for Jetson alone."""
    for_jetson = platform.arch == "sbsa" and row.arch == ("jetson",) and row.build == ""
    return platform.os_family in row.os and (platform.arch in row.arch or for_jetson)


def _short(members: list[str]) -> list[str]:
    return [member.rpartition(".dist-info/")[2] for member in members]


def _id(release: Release, build: str) -> str:
    suffix = _SUFFIXES.get(release.platform, "")
    return "-".join(filter(None, (release.package, release.public, build))) + suffix


def _cpu_columns() -> dict[str, Any]:
    return {"cuda": "", "cudnn": None, "cudnn_accepts": "", "libraries": "", "targets": ()}


def _gpu_columns(framework: Framework, needs: Needs, host: WheelHost) -> dict[str, Any]:
    cudnn = value_or(framework.cudnn, None)
    return {
        "cuda": _cuda(framework, needs) or _cuda_of_each(host),
        "cudnn": cudnn,
        "cudnn_accepts": _cudnn_accepts(cudnn, needs),
        "libraries": _libraries(needs, host, value_or(framework.build, "")),
        "targets": _ordered(value_or(framework.targets, None) or _arch_list(framework, host)),
    }


def _ordered(targets: tuple[CodeTarget, ...] | None) -> tuple[CodeTarget, ...] | None:
    """Each once, machine code first."""
    return targets and tuple(sorted(dict.fromkeys(targets), key=lambda one: (one.kind != "sm", one[1:])))


def _cuda(framework: Framework, needs: Needs) -> str | None:
    """Exactly the one that it brings, pins or is named after; else the range that it requires, or from what it was
    built with on.

    A package without compiled GPU code (build "") compiles with what it finds: only its requirements say anything.
    """
    cuda, required = value_or(framework.cuda, None), cuda_of(needs.pins)
    if cuda is None or value_or(framework.build, "") == "":
        return required or _cuda_by_name(framework.package)
    brings = needs.has_libraries and not needs.extra
    if brings or _extends(needs) or how(framework.cuda) == BY_NAME:
        return f"=={cuda}"
    return required or f">={cuda},<{cuda.major + 1}"


def _extends(needs: Needs) -> bool:
    """Whether it is made for another framework, whose libraries it takes."""
    return any(traits_of(name).extended for name in needs.pins)


def _cuda_of_each(host: WheelHost) -> str | None:
    """The range of CUDA versions for each of which the wheel holds a library (libbitsandbytes_cuda128.so)."""
    try:
        names = " ".join(path.rpartition("/")[2] for path in host.paths())
    except HostError:
        return None
    found = sorted((int(major), int(minor)) for major, minor in re.findall(r"_cuda(\d{2})(\d)\.(?:so|dll)\b", names))
    return f">={found[0][0]}.{found[0][1]},<={found[-1][0]}.{found[-1][1]}" if found else None


def _cuda_by_name(package: str) -> str | None:
    """cudf-cu12 is for any CUDA 12, nvidia-dali-cuda120 for CUDA 12.0 and the later ones of that major."""
    named = re.search(r"-cu(?:da)?(\d{2})(\d?)x?$", package)
    if not named:
        return None
    return f">={named[1]}.{named[2]},<{int(named[1]) + 1}" if named[2] else f"=={named[1]}.*"


def _cudnn_accepts(cudnn: Any, needs: Needs) -> str | None:
    """The range that it requires; else from what it was compiled against, as cuDNN is compatible within a major.

    Source: NVIDIA, cuDNN developer guide, "API compatibility policy".
    """
    required = needs.of("nvidia-cudnn-cu")
    if required and not required.startswith("=="):
        return spelled_out(required)
    if cudnn is None:
        return None
    minor = f".{cudnn[1]}" if len(cudnn) > 1 else ""
    return f">={cudnn.major}{minor},<{cudnn.major + 1}"


def _libraries(needs: Needs, host: WheelHost, build: str) -> str | None:
    """Where CUDA's libraries come from; compiled code that neither requires nor holds them takes the system's.

    cuDNN alone is not CUDA: CuPy 4 to 8 and MXNet for Windows hold it, and take cuBLAS from the system.
    """
    if needs.has_libraries or _extends(needs):
        return "wheels"
    if not build or any(re.search(r"-cu\d\d$", name) for name in needs.own):  # rmm-cu12, of cuDF, may bring them
        return None
    try:
        names = (path.rpartition("/")[2] for path in host.paths())
        held = any(re.match(r"(lib)?(cudart|cublas)[-\w]*\.(so|dll)", name) for name in names)
    except HostError:
        return None
    return "bundled" if held else "system"


def _glibc(release: Release) -> str | None:
    """By the tags of the files for one Python, the oldest: of "manylinux_2_24.manylinux_2_28" the first.

    numba 0.50 has each wheel twice, as manylinux1 and as manylinux2014: an installer takes the one that fits.
    """
    if release.platform.os_family != "linux" or _is_pure(release):
        return ""
    legacy = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
    alike = pythons_of([chosen(release.wheels)])
    names = " ".join(wheel.name for wheel in release.wheels if pythons_of([wheel]) == alike)
    found = [f"{one[0]}.{one[1]}" for one in re.findall(r"manylinux_(\d+)_(\d+)", names)]
    found += [version for tag, version in legacy.items() if f"{tag}_" in names]
    return min(found, key=lambda one: tuple(map(int, one.split("."))), default=None)


def _arch_list(framework: Framework, host: WheelHost) -> tuple[CodeTarget, ...] | None:
    """The code targets by the text that the framework's library holds; None where it holds none."""
    card = cards.card_of(framework.package)
    if not card or not card.list_in:
        return None
    try:
        with host.open(f"{framework.path}/{card.list_in}") as stream:
            found = next(_texts(iter(lambda: stream.read(_PIECE_BYTES), b"")), None)
        return tuple(map(CodeTarget.parse, found.decode().split())) if found else None
    except (HostError, OSError, VersionError):
        return None


def _texts(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lists of targets in a stream, whole also where two pieces meet."""
    rest, total = b"", 0
    for piece in pieces:
        total += len(piece)
        window = rest + piece
        for found in _PATTERN.finditer(window):
            if found.end() < len(window):
                yield found[0]
        rest = window[-1024:]
        if total > _LIBRARY_BYTES:
            return


def joined(rows: Iterable[FrameworkRow]) -> tuple[FrameworkRow, ...]:
    """Rows of one release and system that differ in their machine alone become one row for all of them."""
    found: dict[tuple[Any, ...], FrameworkRow] = {}
    for row in rows:
        key = tuple(str(value) for value in row._replace(id="", arch=(), source=""))
        known = found.get(key)
        if known is None:
            found[key] = row
        else:
            sources = f"{known.source}; {row.source}" if row.source not in known.source else known.source
            shorter = min((known.id, row.id), key=len)
            arch = tuple(dict.fromkeys((*known.arch, *row.arch)))
            found[key] = known._replace(id=shorter, arch=arch, source=sources)
    return tuple(found.values())
