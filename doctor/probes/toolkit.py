"""CUDA toolkits: where they lie, what release they are, and the names that lead to them.

Nothing is started unless every file is silent about the version; a wrapper script is read, never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.version import CudaVersion, VersionError
from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, on_path, text_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.model.facts.toolkit import Toolkit, ToolkitFacts, ToolkitName
from doctor.pyenv import dpkg

USUAL = "/usr/local/cuda"
NVCC = "nvcc on PATH"
VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_DEBIAN_DIRS = ("/usr/lib/nvidia-cuda-toolkit", "/usr/lib/cuda")
_TARGETS = ("x86_64-linux", "sbsa-linux", "aarch64-linux", "ppc64le-linux")
_TRIPLETS = ("x86_64-linux-gnu", "aarch64-linux-gnu", "powerpc64le-linux-gnu")
_WINDOWS_HOME = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"
_WINDOWS_KEY = r"SOFTWARE\NVIDIA Corporation\GPU Computing Toolkit\CUDA"
_CANDIDATES_AT_MOST = 64
_WRAPPERS_AT_MOST = 4
_SMALL_FILE_BYTES = 1 << 20
_HEADER_BYTES = 256 << 10  # CUDA_VERSION stands within the first 20 KiB of every cuda.h from 8.0 to 13.0
_RUNTIME_VERSION = (6, 14, 11)  # of every cudart64_*.dll; CUDA_VERSION follows
_CONDA_PACKAGES = ("cuda-toolkit", "cudatoolkit", "cuda-nvcc", "cudatoolkit-dev", "cuda-cudart", "cuda-version")


class _Layout(NamedTuple):
    """Where one kind of installation keeps things: paths below its root, the likeliest first."""

    nvcc: tuple[str, ...]
    headers: tuple[str, ...]
    libraries: tuple[str, ...]


class _Pieces(NamedTuple):
    """What was found of one toolkit; "" for what is not there."""

    root: str
    kind: str
    nvcc: str
    headers: str  # directory of cuda_runtime.h
    library_dir: str


_DIRECTORY = _Layout(
    nvcc=("bin/nvcc",),
    headers=("include", *(f"targets/{target}/include" for target in _TARGETS)),
    libraries=("lib64", *(f"targets/{target}/lib" for target in _TARGETS), "lib"),
)
_LAYOUTS = {
    "distribution": _Layout(
        nvcc=("lib/nvidia-cuda-toolkit/bin/nvcc", "bin/nvcc"),
        headers=("include", "include/cuda"),
        libraries=(*(f"lib/{triplet}" for triplet in _TRIPLETS), "lib64"),
    ),
    "wheels": _Layout(
        nvcc=("bin/nvcc", "cuda_nvcc/bin/nvcc"),
        headers=("include", "cuda_runtime/include"),
        libraries=("lib", "cuda_runtime/lib"),
    ),
    # CUDA 13 moved the DLLs from bin to bin/x64.
    "windows": _Layout(
        nvcc=("bin/nvcc.exe",), headers=("include", "cuda_runtime/include"), libraries=("bin/x64", "bin")
    ),
}


def look(host: Host, environments: Fact[tuple[Environment, ...]]) -> ToolkitFacts:
    """Every toolkit of this machine and its environments, sorted by path, and every name that leads to one."""
    survey = _Survey(host)
    names = tuple(_names(host, survey))
    for path in _places(host, value_or(environments, ())):
        survey.try_visit(path)  # one that vanished meanwhile hides no other
    return ToolkitFacts(Seen(survey.toolkits(), "directories"), Seen(names, "environment and links"))


class _Survey:
    """The toolkits found so far, by real root, and what else leads there."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._found: dict[str, Toolkit | None] = {}
        self._links: dict[str, set[str]] = {}

    def visit(self, path: str) -> Toolkit | None:
        """The toolkit whose root this is, None where there is none; raises HostError where nothing is reached."""
        root = _root_of(self._host, path)
        if root not in self._found:
            self._found[root] = _toolkit(self._host, root)
        if path != root and self._found[root]:
            self._links.setdefault(root, set()).add(path)
        return self._found[root]

    def try_visit(self, path: str) -> Toolkit | None:
        """The same, None also where nothing is reached."""
        try:
            return self.visit(path)
        except HostError:
            return None

    def toolkits(self) -> tuple[Toolkit, ...]:
        """All of them, sorted by path, with the other names that lead to each."""
        found = sorted((root, toolkit) for root, toolkit in self._found.items() if toolkit)
        return tuple(toolkit._replace(links=tuple(sorted(self._links.get(root, ())))) for root, toolkit in found)


def _root_of(host: Host, path: str) -> str:
    """The real root that a directory belongs to; raises HostError."""
    root = host.real_path(path)
    if root in _DEBIAN_DIRS:
        return "/usr"
    parent, _, name = root.rpartition("/")
    if parent.endswith("-packages/nvidia") and name.startswith("cuda_"):
        return parent  # one component of wheels before CUDA 13: site-packages/nvidia/cuda_nvcc
    return root


def _kind(host: Host, root: str) -> str:
    if root == "/usr":
        return "distribution"
    if "/hpc_sdk/" in root:
        return "hpc-sdk"
    if root.rpartition("/nvidia")[2].strip("0123456789") in {"", "/cu"} and "-packages/nvidia" in root:
        return "wheels"  # site-packages/nvidia, or site-packages/nvidia/cu13 from CUDA 13 on
    if host.is_dir(f"{root.removesuffix('/Library')}/conda-meta"):
        return "conda"
    return "windows" if host.os_family == "windows" else "directory"


def _toolkit(host: Host, root: str) -> Toolkit | None:
    """What lies at a real root; None where it holds no part of CUDA (cuDNN alone, an empty leftover)."""
    kind = _kind(host, root)
    layout = _LAYOUTS["windows"] if host.os_family == "windows" else _LAYOUTS.get(kind, _DIRECTORY)
    nvcc = _nvcc(host, root, layout)
    headers = _first_with(host, root, layout.headers, "cuda_runtime.h")
    if kind in {"distribution", "wheels"} and not (nvcc or headers):
        return None  # a runtime library alone is another package's dependency, not a toolkit
    if kind == "conda" and not (nvcc or headers or _conda_package(host, root)):
        return None
    library_dir = _library_dir(host, root, layout)
    if not (headers or library_dir or (nvcc and not _is_script(host, nvcc))):
        return None  # a wrapper script alone belongs to a toolkit elsewhere
    cuda, release = _version(host, _Pieces(root=root, kind=kind, nvcc=nvcc, headers=headers, library_dir=library_dir))
    return Toolkit(
        path=root,
        links=(),
        kind=kind,
        cuda=cuda,
        release=release,
        nvcc=Seen(nvcc, "file") if nvcc else Unseen(f"no nvcc in {root}: it can run CUDA programs, not build them"),
        has_headers=Seen(bool(headers), Place(f"{headers or root}/cuda_runtime.h")),
        library_dir=Seen(library_dir, "file") if library_dir else Unseen(f"{root} has no CUDA runtime library"),
    )


def _nvcc(host: Host, root: str, layout: _Layout) -> str:
    """nvcc below this root; one in /usr/bin only when it is no way to another toolkit's."""
    for below in layout.nvcc:
        path = f"{root}/{below}"
        if host.is_file(path) and (path != "/usr/bin/nvcc" or _behind(host, path) == path):
            return path
    return ""


def _first_with(host: Host, root: str, directories: Iterable[str], name: str) -> str:
    return next((f"{root}/{one}" for one in directories if host.is_file(f"{root}/{one}/{name}")), "")


def _library_dir(host: Host, root: str, layout: _Layout) -> str:
    """The directory of libcudart (cudart64_*.dll), also where only the versioned name is there."""
    by_link = _first_with(host, root, layout.libraries, "libcudart.so")
    if by_link:
        return by_link
    return next((f"{root}/{one}" for one in layout.libraries if _runtimes(host, f"{root}/{one}")), "")


def _runtimes(host: Host, directory: str) -> list[str]:
    return [name for name in names_of(host, directory) if name.startswith(("libcudart.so", "cudart64_"))]


# --- which release -----------------------------------------------------------------------------------------------


def _version(host: Host, pieces: _Pieces) -> tuple[Fact[CudaVersion], Fact[str]]:
    """The CUDA version and the release of a toolkit, from the first source that says."""
    for text, source in _version_texts(host, pieces):
        try:
            cuda = CudaVersion.parse(text)
        except VersionError:
            continue
        return Seen(cuda, source), Seen(_release(text, cuda), source)
    why = f"no version.json, version.txt, package metadata or cuda.h in {pieces.root} says which CUDA this is"
    return Unseen(why), Unseen(why)


def _release(text: str, cuda: CudaVersion) -> str:
    """The release in a version text: 12.4.1 is one, 12.4.131 (a component's build) and 11.8.20220929 are 12.4 and 11.8.

    Before CUDA 11 NVIDIA named releases by the build itself, 10.1.243.
    """
    parts = text.split(".")
    if len(parts) < 3 or (cuda.major >= 11 and len(parts[2]) > 1):
        return str(cuda)
    return ".".join(parts[:3])


def _version_texts(host: Host, pieces: _Pieces) -> Iterator[tuple[str, str | Place]]:
    """Version texts with their sources, the most telling first; each is looked up only when it is asked for."""
    if pieces.kind == "distribution":
        yield from _from_dpkg(host)
        yield from _from_version_txt(host, "/usr/lib/cuda")
    else:
        yield from _from_version_json(host, pieces.root)
        yield from _from_version_txt(host, pieces.root)
    if pieces.kind == "conda":
        found = _conda_package(host, pieces.root)
        if found:
            yield found[1], Place(found[0])
    yield from _from_wheel_metadata(host, pieces)
    if pieces.headers:
        yield from _from_header(host, f"{pieces.headers}/cuda.h")
    if pieces.library_dir:
        for name in _runtimes(host, pieces.library_dir):
            match = re.fullmatch(r"libcudart\.so\.(\d+\.\d+(?:\.\d+)?)", name)
            if match and host.is_file(f"{pieces.library_dir}/{name}"):
                yield match[1], f"name of {pieces.library_dir}/{name}"
        yield from _from_library_version(host, pieces.library_dir)
    if pieces.nvcc and host.is_live:
        yield from _from_nvcc(host, pieces.nvcc)


def _from_version_json(host: Host, root: str) -> Iterator[tuple[str, str | Place]]:
    path = f"{root}/version.json"
    text = text_of(host, path, _SMALL_FILE_BYTES)
    if not text:
        return
    from doctor.host.documents import parse_json  # late: many toolkits have no such file

    try:
        version = parse_json(text)["cuda"]["version"]
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(version, str):
        yield version, Place(path)


def _from_version_txt(host: Host, root: str) -> Iterator[tuple[str, str | Place]]:
    path = f"{root}/version.txt"
    match = re.search(r"CUDA Version (\d+(?:\.\d+)+)", text_of(host, path, _SMALL_FILE_BYTES))
    if match:
        yield match[1], Place(path)


def _from_dpkg(host: Host) -> Iterator[tuple[str, str | Place]]:
    """Debian's version of the package: 12.0.140~12.0.1-4build4 is release 12.0.1, 10.1.243-3 is 10.1.243."""
    try:
        packages = sorted(dpkg.installed(host, "nvidia-cuda-toolkit|nvidia-cuda-dev"), reverse=True)
    except HostError:
        return
    for package in packages:
        match = re.match(r"(?:\d+:)?(?:[\d.]+~)?(\d+\.\d+\.\d+)", package.version)
        if match:
            yield match[1], f"{dpkg.STATUS}, {package.name}"


def _conda_package(host: Host, root: str) -> tuple[str, str] | None:
    """The conda package that says which CUDA this is: its file and its version."""
    folder = f"{root.removesuffix('/Library')}/conda-meta"
    versions: dict[str, tuple[str, str]] = {}
    for name in names_of(host, folder):
        parts = name.removesuffix(".json").rsplit("-", 2)
        if len(parts) == 3 and parts[0] in _CONDA_PACKAGES:
            versions[parts[0]] = (f"{folder}/{name}", parts[1])
    return next((versions[package] for package in _CONDA_PACKAGES if package in versions), None)


def _from_wheel_metadata(host: Host, pieces: _Pieces) -> Iterator[tuple[str, str | Place]]:
    """What the folders of the wheels that it was laid out from are called: nvidia_cuda_nvcc-13.0.88.dist-info."""
    if pieces.kind == "wheels":
        site, _, variant = pieces.root.rpartition("/nvidia")
        folders: tuple[str, ...] = (site,)
        variant = variant.removeprefix("/cu")
    else:
        folders, variant = (f"{pieces.root}/dist-info", pieces.root), ""
    found = [(name, folder) for folder in folders for name in names_of(host, folder) if name.endswith(".dist-info")]
    for package in ("cuda_toolkit", "nvidia_cuda_nvcc", "nvidia_cuda_runtime"):
        for name, folder in found:
            owner, _, version = name.removesuffix(".dist-info").partition("-")
            suffix = owner.removeprefix(package)
            if suffix == owner or suffix.strip("0123456789") not in {"", "_cu"}:
                continue
            if pieces.kind != "wheels" or _same_generation(suffix, version, variant):
                yield version, Place(f"{folder}/{name}")


def _same_generation(suffix: str, version: str, variant: str) -> bool:
    """Whether a wheel is in nvidia/cu13 (`variant` 13) or, with a suffix in its name, directly in nvidia."""
    return version.startswith(f"{variant}.") if variant else bool(suffix)


def _from_header(host: Host, path: str) -> Iterator[tuple[str, str | Place]]:
    try:
        with host.open(path) as stream:
            content = stream.read(_HEADER_BYTES)
    except (HostError, OSError):
        return
    match = re.search(rb"^#define +CUDA_VERSION +(\d{4,6})\b", content, re.MULTILINE)
    if match:
        yield str(CudaVersion.from_encoded(int(match[1]))), Place(path)


def _from_library_version(host: Host, directory: str) -> Iterator[tuple[str, str | Place]]:
    """The version resource of cudart64_*.dll, 6.14.11.12040 for CUDA 12.4 (nvidia-cuda-runtime, 11.8 to 13.5)."""
    for name in _runtimes(host, directory) if host.os_family == "windows" else ():
        from doctor.loader.dll_version import version_of

        version = value_or(version_of(host, f"{directory}/{name}"), ())
        if version[:3] == _RUNTIME_VERSION:
            yield str(CudaVersion.from_encoded(version[3])), f"version resource of {directory}/{name}"


def _from_nvcc(host: Host, nvcc: str) -> Iterator[tuple[str, str | Place]]:
    try:
        ran = host.run((nvcc, "--version"))
    except HostError:
        return
    match = re.search(r"release (\d+\.\d+)", ran.stdout)
    if match:
        yield match[1], Place(nvcc, label=f"{nvcc} --version")


# --- where to look -----------------------------------------------------------------------------------------------


def _places(host: Host, environments: tuple[Environment, ...]) -> Iterator[str]:
    """Directories that are there and may be the root of a toolkit."""
    found = _windows_places(host) if host.os_family == "windows" else _unix_places(host)
    for number, path in enumerate(dict.fromkeys((*found, *_environment_places(host, environments)))):
        if number < _CANDIDATES_AT_MOST and host.is_dir(path):
            yield path


def _unix_places(host: Host) -> Iterator[str]:
    yield from (f"/usr/local/{name}" for name in names_of(host, "/usr/local") if name.startswith("cuda"))
    for name in names_of(host, "/opt"):
        if name.startswith("cuda"):
            yield f"/opt/{name}"
        if name == "nvidia":
            yield from _hpc_sdk_places(host)
    yield "/usr"


def _hpc_sdk_places(host: Host) -> Iterator[str]:
    base = "/opt/nvidia/hpc_sdk"
    for machine in names_of(host, base)[:8]:
        for release in names_of(host, f"{base}/{machine}")[:32]:
            cuda = f"{base}/{machine}/{release}/cuda"
            yield from (f"{cuda}/{name}" for name in names_of(host, cuda) if name[0].isdigit())


def _windows_places(host: Host) -> Iterator[str]:
    yield from (f"{_WINDOWS_HOME}/{name}" for name in names_of(host, _WINDOWS_HOME) if name.startswith("v"))
    for name, value in host.environ.items():
        if name.upper().startswith("CUDA_PATH_V"):
            yield value.replace("\\", "/").rstrip("/")
    if host.is_live:
        yield from _registry_places()


def _registry_places() -> Iterator[str]:
    """Install directories that NVIDIA's installer wrote down, one key a version, value InstallDir."""
    from doctor.host import registry  # late: only Windows has one

    try:
        for version in registry.keys(_WINDOWS_KEY):
            for folder in registry.texts(f"{_WINDOWS_KEY}\\{version}", "InstallDir"):
                yield folder.replace("\\", "/").rstrip("/")
    except OSError:
        return  # not for this user to read


def _environment_places(host: Host, environments: tuple[Environment, ...]) -> Iterator[str]:
    windows = host.os_family == "windows"
    prefixes = [one.prefix for one in environments if one.kind == "conda"]
    if host.environ.get("CONDA_PREFIX"):
        prefixes.append(host.environ["CONDA_PREFIX"].replace("\\", "/").rstrip("/"))
    for prefix in prefixes:
        yield f"{prefix}/Library" if windows else prefix
    for environment in environments:
        for site in value_or(environment.sites, ())[:16]:
            names = names_of(host, f"{site}/nvidia")
            yield from (f"{site}/nvidia/{name}" for name in names if name.startswith("cu") and name[2:].isdigit())
            if "cuda_runtime" in names or "cuda_nvcc" in names:
                yield f"{site}/nvidia"


# --- the names by which programs ask ------------------------------------------------------------------------------


def _names(host: Host, survey: _Survey) -> Iterator[ToolkitName]:
    for variable in VARIABLES:
        value = host.environ.get(variable, "")
        if value:
            yield _followed(host, survey, variable, value, value.replace("\\", "/").rstrip("/") or "/")
    yield from _usual_name(host, survey)
    for path in on_path(host, "nvcc"):
        real = _behind(host, path)
        if real is not None:
            yield _nvcc_name(survey, path, real)
            return


def _usual_name(host: Host, survey: _Survey) -> Iterator[ToolkitName]:
    """/usr/local/cuda, when it is a link or holds a toolkit; a leftover directory is no name."""
    try:
        is_link = host.link_status(USUAL).kind == "link"
        value = host.link_target(USUAL) if is_link else USUAL
    except HostError:
        return
    if is_link or survey.try_visit(USUAL):
        yield _followed(host, survey, USUAL, value, USUAL)


def _followed(host: Host, survey: _Survey, name: str, value: str, path: str) -> ToolkitName:
    """Where a name leads; only what could be looked at is called missing."""
    try:
        toolkit = survey.visit(path)
        if toolkit:
            return ToolkitName(name, value, Seen(toolkit.path, "links resolved"))
        host.names(path)  # a directory that this user may not list hides its toolkit
    except Missing:
        return ToolkitName(name, value, Unseen(f"{name} names {value}, which is not there"), missing=True)
    except HostError as error:
        return ToolkitName(name, value, Unseen(f"{name} could not be followed: {error}"))
    return ToolkitName(name, value, Unseen(f"{name} names {value}, which holds no CUDA toolkit"), missing=True)


def _nvcc_name(survey: _Survey, path: str, real: str) -> ToolkitName:
    """The toolkit of the nvcc on PATH: the one of the file behind it, or the one around the name itself."""
    for nvcc in (real, path):
        directory, _, below = nvcc.rpartition("/")
        toolkit = survey.try_visit(directory.rpartition("/")[0] or "/") if below else None
        if toolkit:
            return ToolkitName(NVCC, path, Seen(toolkit.path, Place(real)))
    return ToolkitName(NVCC, path, Unseen(f"{path} is there, but the toolkit that it belongs to was not found"))


def _behind(host: Host, path: str) -> str | None:
    """The nvcc that a link or a wrapper script leads to; None for a compiler cache under its name."""
    for _ in range(_WRAPPERS_AT_MOST):
        try:
            path = host.real_path(path)
            with host.open(path) as stream:
                head = stream.read(8192)
        except (HostError, OSError):
            return path
        if not path.rpartition("/")[2].startswith("nvcc"):
            return None
        target = _target_of_script(head)
        if not target or target == path or not host.is_file(target):
            return path
        path = target
    return path


def _is_script(host: Host, path: str) -> bool:
    try:
        with host.open(path) as stream:
            return stream.read(2) == b"#!"
    except (HostError, OSError):
        return False


def _target_of_script(head: bytes) -> str:
    """The absolute nvcc that a shell script starts; "" for a program, or a script that computes it."""
    if not head.startswith(b"#!") or b"\0" in head:
        return ""
    for line in head.decode("utf-8", "replace").splitlines()[1:]:
        if line.lstrip().startswith("#"):
            continue
        for word in line.replace(";", " ").split():
            target = word.strip("\"'")
            if target.startswith("/") and target.endswith(("/nvcc", "/nvcc.bin")) and "$" not in target:
                return target
    return ""
