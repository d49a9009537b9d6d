"""Files, directories and interfaces that variables name, followed to what is there.

Each row is of a variable that its program follows without a word where it leads nowhere, or that ends a build.
Sources: ld.so(8) (LD_PRELOAD, LD_AUDIT: what cannot be preloaded is ignored); NCCL's user guide, "Environment
Variables", and its `src/plugin/net.cc` (several names, parted by commas; one without a slash is put together to
libnccl-net-NAME.so); Triton's `triton/knobs.py` (a path that is not there is passed over); nvcc's documentation,
"NVCC_CCBIN"; CMake's, "CUDACXX" and "CUDAHOSTCXX"; torch's `torch/utils/cpp_extension.py` (PYTORCH_NVCC, CUDNN_HOME);
Numba's `numba/cuda/cudadrv/driver.py` (NUMBA_CUDA_DRIVER: a path that is no file is an error). The interfaces: NCCL's
user guide (NCCL_SOCKET_IFNAME: beginnings of names, exact ones after "=", none of these after "^"; NCCL_IB_HCA, with
":port"); torch's documentation, "torch.distributed" (GLOO_SOCKET_IFNAME).
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of
from doctor.model.facts.environment import NamedFile
from doctor.model.facts.system import common_machine

_PRELOADED = ("LD_AUDIT", "LD_PRELOAD")
_LIBRARIES = ("NUMBA_CUDA_DRIVER", "NCCL_NET_PLUGIN", "NCCL_PROFILER_PLUGIN", "NCCL_TUNER_PLUGIN")
_TEXTS = ("NCCL_CONF_FILE", "NCCL_TOPO_FILE")
_PROGRAMS = (
    "CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN", "PYTORCH_NVCC", "TRITON_CUOBJDUMP_PATH", "TRITON_NVDISASM_PATH",
    "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS_PATH",
)  # fmt: skip
# A directory, and how the name of a library in it (or in its lib, lib64) begins; "" for any.
_FOLDERS = {"CUDNN_HOME": "libcudnn", "CUDNN_PATH": "libcudnn", "CUDNN_ROOT": "libcudnn", "NCCL_HOME": "libnccl"}
_FOLDERS |= {"CUPY_CUDA_LIB_PATH": ""}
# Network interfaces, and whether the names are beginnings; a value that begins with ^ excludes interfaces.
_INTERFACES = {"NCCL_SOCKET_IFNAME": True, "NCCL_OOB_NET_IFNAME": True, "GLOO_SOCKET_IFNAME": False}
_INTERFACES |= {"TP_SOCKET_IFNAME": False, "NCCL_IB_HCA": True}
VARIABLES = frozenset((*_PRELOADED, *_LIBRARIES, *_TEXTS, *_PROGRAMS, *_FOLDERS, *_INTERFACES))
_ELEMENTS_AT_MOST = 64
_NOT_THERE, _CUT = "is not there", "is damaged, or no library"


def look(host: Host, name: str, value: str) -> Iterator[NamedFile]:
    """What a variable names, in its order; what is written with tokens ($LIB) or found by name is left alone."""
    path = value.strip()
    if name not in VARIABLES:
        return
    if name in _PRELOADED:
        yield from _preloaded(host, name, value)
    elif name in _INTERFACES:
        yield from _interfaces(host, name, path)
    elif name in _PROGRAMS and path and "/" not in path and " " not in path:
        yield NamedFile(name, path, "" if _is_on_path(host, path) else "is not on PATH")
    elif path.startswith("/") and "\0" not in path and not (name in _LIBRARIES and "," in path):
        yield NamedFile(name, path, _problem(host, name, path))


def _interfaces(host: Host, name: str, value: str) -> Iterator[NamedFile]:
    """What a list of interfaces or InfiniBand devices names: NCCL needs one of them, Gloo and TensorPipe each."""
    if not host.is_live or not value or value.startswith("^"):
        return
    kind, what = ("infiniband", "InfiniBand device") if name == "NCCL_IB_HCA" else ("net", "network interface")
    there = names_of(host, f"/sys/class/{kind}")
    if kind == "net" and not there:
        return  # no such list on this system
    exact = value.startswith("=") or not _INTERFACES[name]
    named = [one.strip().partition(":")[0] for one in value.lstrip("=").split(",") if one.strip()]
    lacking = [one for one in named if not any(one == each or (not exact and each.startswith(one)) for each in there)]
    if lacking and (len(lacking) == len(named) or not _INTERFACES[name]):
        yield NamedFile(name, ",".join(lacking), f"is no {what} here")
    elif named:
        yield NamedFile(name, value, "")


def _problem(host: Host, name: str, path: str) -> str:
    if name in _FOLDERS:
        return _of_folder(host, path, _FOLDERS[name])
    if name in _PROGRAMS:
        return _of_program(host, path, may_be_folder=name == "NVCC_CCBIN")
    return _of_file(host, path) or (_of_library(host, path) if name in _LIBRARIES else "")


def _preloaded(host: Host, name: str, value: str) -> Iterator[NamedFile]:
    """Elements that are paths; one for another type of machine is there for the other programs, and ignored."""
    elements = value.replace(":", " ").split()[:_ELEMENTS_AT_MOST]
    for one in elements:
        if one.startswith("/") and "$" not in one:
            problem = _of_file(host, one) or _of_library(host, one, any_machine=True)
            left = ":".join(each for each in elements if each != one)
            yield NamedFile(name, one, problem, left)


def _is_on_path(host: Host, name: str) -> bool:
    folders = [one for one in host.environ.get("PATH", "").split(":") if one.startswith("/")]
    return not folders or any(host.is_file(f"{folder}/{name}") for folder in folders)


def _of_file(host: Host, path: str) -> str:
    try:
        return "" if host.status(path).kind == "file" else "is no file"
    except Missing:
        return _NOT_THERE
    except HostError:
        return ""  # closed to us is not missing


def _of_program(host: Host, path: str, *, may_be_folder: bool) -> str:
    if " " in path and not host.exists(path):
        return ""  # a command with arguments: "ccache nvcc"
    if may_be_folder and host.is_dir(path):
        return ""
    problem = _of_file(host, path)
    return problem or ("" if host.may_access(path, "x") else "is not a program that this user can start")


def _of_library(host: Host, path: str, *, any_machine: bool = False) -> str:
    from doctor.binaries import NotRead
    from doctor.binaries.elf import ElfError
    from doctor.loader.library import library_at

    try:
        found = library_at(host, path)
    except NotRead:
        return ""
    except ElfError:
        return _CUT
    except HostError:
        return ""
    machine = common_machine(host.kernel_machine())
    if found.broken:
        return _CUT
    return "" if any_machine or not machine or found.machine == machine else f"is for {found.machine}"


def _of_folder(host: Host, path: str, start: str) -> str:
    try:
        names = host.names(path)
    except Missing:
        return _NOT_THERE
    except HostError:
        return ""
    inside = (*names, *names_of(host, f"{path}/lib"), *names_of(host, f"{path}/lib64"))
    return "" if not start or any(one.startswith(start) for one in inside) else f"holds no {start}"
