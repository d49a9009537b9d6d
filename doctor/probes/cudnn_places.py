"""Where copies of cuDNN are put: by NVIDIA's archives, by distributions, by wheels, conda and frameworks, by hand."""

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.optional_reads import first_names, names_of
from doctor.loader.cards import card_of
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.loader import FoundBy, LoaderFacts
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.pyenv.distributions import installed

_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
_VARIABLES = ("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT", "CUDNN_ROOT_DIR")
_TOOLKIT_LIBRARIES = ("lib64", "lib", "bin", "bin/x64", "lib/x64")
_ENTRIES_AT_MOST = 200  # directories below one that are followed


class CudnnPlace(NamedTuple):
    """A directory in which cuDNN libraries may lie."""

    path: str
    origin: str  # as in CudnnCopy
    headers: tuple[str, ...]  # directories in which their header may lie
    environment: str = ""  # prefix
    site: str = ""  # directory that paths in RECORD count from; a conda prefix
    packages: tuple[Distribution, ...] = ()  # that may own what lies there
    cuda_major: Fact[int] = Unseen("no file beside it shows its CUDA version")
    is_named: bool = False  # a user or a package says that cuDNN is there: not seeing it must be said


def places(
    host: Host, search: LoaderFacts, toolkit: ToolkitFacts, environments: Fact[tuple[Environment, ...]]
) -> Iterator[CudnnPlace]:
    """Every place, the ones that say most about their copies first; several may be one directory."""
    for environment in value_or(environments, ()):
        yield from _of_environment(host, environment)
    yield from _of_toolkits(host, toolkit)
    yield from _of_windows(host)
    yield from _of_variables(host)
    yield from _of_the_system(host, search)
    yield from _of_the_loader(search)


def _of_environment(host: Host, environment: Environment) -> Iterator[CudnnPlace]:
    installed = value_or(environment.distributions, ())
    for site in value_or(environment.sites, ()):
        wheels = tuple(one for one in installed if one.site == site and one.name.startswith("nvidia-cudnn"))
        if wheels or host.is_dir(f"{site}/nvidia/cudnn"):
            root = f"{site}/nvidia/cudnn"
            folder = "bin" if host.os_family == "windows" else "lib"
            for path in (f"{root}/{folder}", f"{root}/bin/x64") if folder == "bin" else (f"{root}/{folder}",):
                yield CudnnPlace(
                    path=path,
                    origin="wheel",
                    headers=(f"{root}/include",),
                    environment=environment.prefix,
                    site=site,
                    packages=wheels,
                    is_named=bool(wheels),
                )
    for framework in value_or(environment.frameworks, ()):
        yield from _of_framework(framework, installed)
    if environment.kind == "conda":
        yield from _of_conda(host, environment.prefix)


def _of_framework(framework: Framework, installed: tuple[Distribution, ...]) -> Iterator[CudnnPlace]:
    card = card_of(framework.package)
    own = tuple(one for one in installed if one.name == framework.package and not one.hidden_by)
    cuda = framework.cuda
    major: Fact[int] = cuda if isinstance(cuda, Unseen) else Seen(cuda.value.major, cuda.how)
    site = framework.path.rpartition("/")[0]
    for below in card.cudnn_in if card else ():
        path = f"{framework.path}/{below}".rstrip("/")
        include = (f"{path.rpartition('/')[0]}/include",)
        yield CudnnPlace(
            path=path,
            origin="framework",
            headers=include,
            environment=framework.environment,
            site=site,
            packages=own,
            cuda_major=major,
        )


def _of_conda(host: Host, prefix: str) -> Iterator[CudnnPlace]:
    root = f"{prefix}/Library" if host.os_family == "windows" else prefix
    folder = "bin" if host.os_family == "windows" else "lib"
    yield CudnnPlace(
        path=f"{root}/{folder}", origin="conda", headers=(f"{root}/include",), environment=prefix, site=prefix
    )


def _of_toolkits(host: Host, toolkit: ToolkitFacts) -> Iterator[CudnnPlace]:
    """The toolkits that the toolkit probe saw, and what is named like one: cuDNN alone makes no toolkit."""
    roots = {
        one.path: None for one in value_or(toolkit.toolkits, ()) if one.kind in {"directory", "hpc-sdk", "windows"}
    }
    for name in first_names(host, "/usr/local", _ENTRIES_AT_MOST):
        if name.startswith(("cuda", "cudnn")):
            roots[f"/usr/local/{name}"] = None
    roots["/opt/cuda"] = roots["/usr/lib/cuda"] = None
    for root in roots:
        if host.is_dir(root):
            yield from _below(host, root, "toolkit")


def _below(host: Host, root: str, origin: str, *, is_named: bool = False) -> Iterator[CudnnPlace]:
    """The directories of an unpacked archive or of a toolkit, also one for several architectures."""
    for folder in _TOOLKIT_LIBRARIES:
        yield CudnnPlace(f"{root}/{folder}", origin, (f"{root}/include",), is_named=is_named and folder == "lib")
    for name in first_names(host, f"{root}/targets", _ENTRIES_AT_MOST):
        target = f"{root}/targets/{name}"
        yield CudnnPlace(f"{target}/lib", origin, (f"{target}/include",))


def _of_windows(host: Host) -> Iterator[CudnnPlace]:
    """NVIDIA's installer: CUDNN/v9.x/bin/12.9, from 9.18 on bin/12.9/x64; headers in include/12.9."""
    if host.os_family != "windows":
        return
    programs = host.environ.get("ProgramFiles", "C:/Program Files").replace("\\", "/")
    for release in first_names(host, f"{programs}/NVIDIA/CUDNN", _ENTRIES_AT_MOST):
        root = f"{programs}/NVIDIA/CUDNN/{release}"
        yield CudnnPlace(f"{root}/bin", "windows", (f"{root}/include",))
        for cuda in first_names(host, f"{root}/bin", _ENTRIES_AT_MOST):
            named = re.fullmatch(r"(\d{2})\.\d+", cuda)
            for path in (f"{root}/bin/{cuda}", f"{root}/bin/{cuda}/x64"):
                place = CudnnPlace(path, "windows", (f"{root}/include/{cuda}", f"{root}/include"))
                yield place._replace(cuda_major=Seen(int(named[1]), Place(path))) if named else place
    for release in first_names(host, f"{programs}/NVIDIA GPU Computing Toolkit/CUDA", _ENTRIES_AT_MOST):
        yield from _below(host, f"{programs}/NVIDIA GPU Computing Toolkit/CUDA/{release}", "toolkit")


def _of_variables(host: Host) -> Iterator[CudnnPlace]:
    for name in _VARIABLES:
        root = host.environ.get(name, "").replace("\\", "/").rstrip("/")
        if root and host.is_dir(root):
            yield CudnnPlace(root, "directory", (f"{root}/include", root))
            yield from _below(host, root, "directory", is_named=True)


def _of_the_system(host: Host, search: LoaderFacts) -> Iterator[CudnnPlace]:
    if host.os_family != "linux":
        return
    default = [one.path for one in value_or(search.search, ()) if one.why is FoundBy.DEFAULT and one.exists]
    for path in (*default, *_SYSTEM):
        yield CudnnPlace(path, "directory" if path == "/usr/local/lib" else "distribution", header_dirs(path))


def _of_the_loader(search: LoaderFacts) -> Iterator[CudnnPlace]:
    """The directories of LD_LIBRARY_PATH or PATH, and those of a cuDNN that LD_PRELOAD or the cache names."""
    for one in value_or(search.search, ()):
        if one.exists:
            yield CudnnPlace(one.path, "directory", header_dirs(one.path))
    cached = (entry.path for entry in value_or(search.cache, ()) if entry.soname.startswith("libcudnn"))
    for file in (*value_or(search.preload, ()), *cached):
        path, _, name = file.rpartition("/")
        if path and name.startswith("libcudnn"):
            yield CudnnPlace(path, "directory", header_dirs(path))


def named_place(host: Host, path: str) -> CudnnPlace:
    """A directory that a user names: that of an unpacked wheel knows what the wheel lists."""
    site, wheel, _ = path.rpartition("/nvidia/cudnn/")
    listing = {site: names_of(host, site)} if wheel else {}
    wheels = tuple(one for one in installed(host, "", listing) if one.name.startswith("nvidia-cudnn"))
    origin = "wheel" if wheels else "directory"
    return CudnnPlace(path, origin, header_dirs(path), site=site, packages=wheels)


def header_dirs(path: str) -> tuple[str, ...]:
    """Where the header of the libraries in a directory would be."""
    parent, _, name = path.rpartition("/")
    if name.endswith("-linux-gnu"):
        root = parent.rpartition("/")[0] or "/usr"  # /lib leads to /usr/lib
        return (f"{root}/include/{name}", f"{root}/include")
    return (f"{parent or '/usr'}/include", path)
