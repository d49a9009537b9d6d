"""The ptxas and the libdevice that a framework would use for the kernels that it compiles at run time.

Sources: XLA's `tsl/platform/default/cuda_root_path.cc` and `stream_executor/cuda/subprocess_compilation.cc` (its
preferred directory, PATH, then the roots); JAX's `jax/_src/lib/__init__.py` (CUDA_ROOT, else the nvcc wheel, becomes
the preferred directory).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from compat.base.record import NamedTuple
from compat.traits import is_among
from doctor.binaries.elf import ElfError
from doctor.host import Host, HostError
from doctor.host.optional_reads import search_path
from doctor.loader.cards import Card, card_of
from doctor.loader.library import text_among_constants
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.model.facts.toolkit import CodeTools, Tool

T = TypeVar("T")
_LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"
PTXAS_SAYS = b"Cuda compilation tools, release "
_RODATA_AT_MOST_BYTES = 64 << 20
_TOOLS_AT_MOST = 8
_FLAG = "--xla_gpu_cuda_data_dir="
_WHEELS = ("cuda_nvcc", "cu13")


class _Root(NamedTuple):
    """A directory in which XLA looks for bin/ptxas and nvvm/libdevice."""

    path: str
    why: str


def look(host: Host, environments: Fact[tuple[Environment, ...]]) -> Fact[tuple[CodeTools, ...]]:
    """For every framework that compiles kernels at run time."""
    if host.os_family != "linux":
        return Unseen(f"how frameworks look for ptxas on {host.os_family} is not known to gpudoctor")
    if isinstance(environments, Unseen):
        return environments
    found = [
        card.tools(host, environment, framework)
        for environment in environments.value
        for framework in value_or(environment.frameworks, ())
        if (card := card_of(framework.package)) and card.tools and _compiles(framework, card)
    ]
    return Seen(tuple(found), "the directories that the frameworks search")


def _compiles(framework: Framework, card: Card) -> bool:
    """Of JAX's packages the plugin speaks for all."""
    is_rocm = value_or(framework.build, "").startswith("rocm")
    return is_among(framework.package, card.speakers) and not is_rocm and not framework.is_cpu_build


def xla_tools(host: Host, environment: Environment, framework: Framework, *, prefers_wheels: bool = False) -> CodeTools:
    """What XLA finds; JAX prefers the directory that CUDA_ROOT names, else that of the nvcc wheel."""
    preferred, roots = _preferred(host, environment, prefers_wheels=prefers_wheels), _roots(environment, framework)
    folders = [_Root(f"{one.path}/bin", one.why) for one in preferred]
    folders += [_Root(path, "PATH") for path in search_path(host)]
    folders += [_Root(f"{one.path}/bin", one.why) for one in roots]
    places = [f"{one.path}/{_LIBDEVICE}" for one in (*preferred, *roots)]
    places += [f"{host.environ['PWD']}/libdevice.10.bc"] if host.environ.get("PWD") else []
    return CodeTools(
        environment=framework.environment,
        package=framework.package,
        family="xla",
        ptxas=_seen_if_live(host, tuple(_tools(host, folders))),
        libdevice=_seen_if_live(host, tuple(dict.fromkeys(path for path in places if host.is_file(path)))),
        looked_in=tuple(dict.fromkeys(one.path for one in (*preferred, *roots))),
        named=tuple((name, host.environ[name]) for name in ("CUDA_ROOT", "XLA_FLAGS") if host.environ.get(name)),
    )


def _seen_if_live(host: Host, found: tuple[T, ...]) -> Fact[tuple[T, ...]]:
    """What was found; that nothing was is proof only where the variables of the process are known."""
    if found or host.is_live or getattr(host, "set_by", None):  # an image's configuration has its variables
        return Seen(found, "the directories that XLA searches")
    return Unseen("an offline root does not show PATH and the other variables of the process")


def _preferred(host: Host, environment: Environment, *, prefers_wheels: bool) -> list[_Root]:
    """What is asked before PATH: JAX's own choice, and the flag."""
    found = []
    if prefers_wheels:
        root = host.environ.get("CUDA_ROOT", "")
        found += [_Root(root, "CUDA_ROOT")] if root else list(_of_wheels(environment))
    for word in host.environ.get("XLA_FLAGS", "").split():
        if word.startswith(_FLAG):
            found.append(_Root(word.removeprefix(_FLAG).rstrip("/"), "XLA_FLAGS"))
    return found


def _of_wheels(environment: Environment) -> Iterator[_Root]:
    for site in value_or(environment.sites, ()):
        for name in _WHEELS:
            yield _Root(f"{site}/nvidia/{name}", "the nvidia-cuda-nvcc wheel")


def _roots(environment: Environment, framework: Framework) -> list[_Root]:
    """The directory of the CUDA that it was built with is a constant in its code: mostly /usr/local/cuda-12.8."""
    built = framework.cuda
    usual = [f"/usr/local/cuda-{built.value}"] if isinstance(built, Seen) else []
    found = [_Root(path, path) for path in (*usual, "/usr/local/cuda", "/opt/cuda")]
    found += _of_wheels(environment)
    found.append(_Root(f"{framework.path}/cuda", "it comes with the framework"))
    if environment.kind == "conda":
        found.append(_Root(environment.prefix, "the conda environment"))
    return found


def _tools(host: Host, folders: list[_Root]) -> Iterator[Tool]:
    """Each file once, under the first name that leads to it."""
    seen: set[str] = set()
    for folder in folders:
        path = f"{folder.path}/ptxas"
        try:
            real = host.real_path(path)
        except HostError:
            continue
        if real not in seen and host.is_file(path) and len(seen) < _TOOLS_AT_MOST:
            seen.add(real)
            yield Tool(path, folder.why, release_of(host, path))


def release_of(host: Host, path: str) -> Fact[str]:
    """The release in the text that `ptxas --version` prints: "Cuda compilation tools, release 12.8, V12.8.93"."""
    try:
        text = text_among_constants(host, path, PTXAS_SAYS, _RODATA_AT_MOST_BYTES)
    except (HostError, ElfError) as error:
        return Unseen(f"{path}: {error}")
    version = text.partition(", V")[2].split("\n")[0].strip()
    if version.replace(".", "").isdigit():
        return Seen(version, Place(path))
    return Unseen(f"{path} does not say which release it is")
