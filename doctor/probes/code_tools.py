"""The ptxas and the libdevice that a framework would use for the kernels that it compiles at run time.

Sources: XLA's `tsl/platform/default/cuda_root_path.cc` and `stream_executor/cuda/subprocess_compilation.cc` (its
preferred directory, PATH, then the roots); JAX's `jax/_src/lib/__init__.py` (CUDA_ROOT, else the nvcc wheel, becomes
the preferred directory); Triton's `triton/knobs.py` (a variable, then its own) and `compiler.py` (ptxas-blackwell).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from compat.record import NamedTuple
from doctor.elf import ElfError
from doctor.facts.code_tools import CodeTools, Tool
from doctor.facts.environment import Environment, Framework
from doctor.facts.seen import Fact, Seen, Unseen, value_or
from doctor.host import Host, HostError
from doctor.probes.constants import text_among_constants
from doctor.probes.toolkit import search_path

T = TypeVar("T")
_LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"
_SAID = b"Cuda compilation tools, release "
_RODATA_AT_MOST_BYTES = 64 << 20
_TOOLS_AT_MOST = 8
_FLAG = "--xla_gpu_cuda_data_dir="
_WHEELS = ("cuda_nvcc", "cu13")
_TRITON_FOLDERS = ("backends/nvidia", "third_party/nvidia/backend", "common/../third_party/cuda", "third_party/cuda")


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
        _triton(host, framework) if framework.package == "triton" else _xla(host, environment, framework)
        for environment in environments.value
        for framework in value_or(environment.frameworks, ())
        if not framework.is_cpu_build and _compiles(framework)
    ]
    return Seen(tuple(found), "the directories that the frameworks search")


def _compiles(framework: Framework) -> bool:
    """Of JAX's packages the plugin speaks for all."""
    name = framework.package
    if value_or(framework.build, "").startswith("rocm"):
        return False
    return name == "triton" or name.startswith(("tensorflow", "tf-nightly")) or name.endswith("-plugin")


def _triton(host: Host, framework: Framework) -> CodeTools:
    own = next((path for path in _triton_folders(framework) if host.is_dir(path)), f"{framework.path}/backends/nvidia")
    tools, named = [], []
    for name, variable in (("ptxas", "TRITON_PTXAS_PATH"), ("ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH")):
        said = host.environ.get(variable, "")
        if said:
            named.append((variable, said))
        for path, why in ((said, variable), (f"{own}/bin/{name}", "it comes with Triton")):
            if path and host.is_file(path):
                tools.append(Tool(path, why, _release(host, path), "blackwell" in name))
    said = host.environ.get("TRITON_LIBDEVICE_PATH", "")
    if said:
        named.append(("TRITON_LIBDEVICE_PATH", said))
    files = (said or f"{own}/lib/libdevice.10.bc",)
    return CodeTools(
        framework.environment,
        framework.package,
        "triton",
        Seen(tuple(tools), own),
        Seen(tuple(path for path in files if host.is_file(path)), own),
        (f"{own}/bin", f"{own}/lib"),
        tuple(named),
    )


def _triton_folders(framework: Framework) -> Iterator[str]:
    return (f"{framework.path}/{below}" for below in _TRITON_FOLDERS)


def _xla(host: Host, environment: Environment, framework: Framework) -> CodeTools:
    preferred, roots = _preferred(host, environment, framework), _roots(environment, framework)
    folders = [_Root(f"{one.path}/bin", one.why) for one in preferred]
    folders += [_Root(path, "PATH") for path in search_path(host)]
    folders += [_Root(f"{one.path}/bin", one.why) for one in roots]
    places = [f"{one.path}/{_LIBDEVICE}" for one in (*preferred, *roots)]
    places += [f"{host.environ['PWD']}/libdevice.10.bc"] if host.environ.get("PWD") else []
    return CodeTools(
        framework.environment,
        framework.package,
        "xla",
        _seen_if_live(host, tuple(_tools(host, folders))),
        _seen_if_live(host, tuple(dict.fromkeys(path for path in places if host.is_file(path)))),
        tuple(dict.fromkeys(one.path for one in (*preferred, *roots))),
        tuple((name, host.environ[name]) for name in ("CUDA_ROOT", "XLA_FLAGS") if host.environ.get(name)),
    )


def _seen_if_live(host: Host, found: tuple[T, ...]) -> Fact[tuple[T, ...]]:
    """What was found; that nothing was is proof only where the variables of the process are known."""
    if found or host.is_live:
        return Seen(found, "the directories that XLA searches")
    return Unseen("an offline root does not show PATH and the other variables of the process")


def _preferred(host: Host, environment: Environment, framework: Framework) -> list[_Root]:
    """What is asked before PATH: JAX's own choice, and the flag."""
    found = []
    if framework.package.endswith("-plugin"):
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
            yield Tool(path, folder.why, _release(host, path))


def _release(host: Host, path: str) -> Fact[str]:
    """The release in the text that `ptxas --version` prints: "Cuda compilation tools, release 12.8, V12.8.93"."""
    try:
        text = text_among_constants(host, path, _SAID, _RODATA_AT_MOST_BYTES)
    except (HostError, ElfError) as error:
        return Unseen(f"{path}: {error}")
    version = text.partition(", V")[2].split("\n")[0].strip()
    if version.replace(".", "").isdigit():
        return Seen(version, path)
    return Unseen(f"{path} does not say which release it is")
