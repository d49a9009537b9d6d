"""Triton: it compiles kernels with the tools of the CUDA release that it carries.

Source: `triton/knobs.py` of 3.3.0 (a variable, then its own) and its `compiler.py` (ptxas-blackwell).
"""

from __future__ import annotations

import os
import re

from compat.version import CudaVersion
from doctor.host import Host, HostError
from doctor.host.optional_reads import text_of
from doctor.loader.cards import Card, Switch, describe, is_on
from doctor.loader.code_tools import release_of
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.model.facts.toolkit import CodeTools, Tool
from doctor.pyenv.metadata import requires, start_of

_HEADERS = ("backends/nvidia/include/cuda.h", "third_party/cuda/include/cuda.h")
_BYTES = 256 << 10
_FOLDERS = ("backends/nvidia", "third_party/nvidia/backend", "common/../third_party/cuda", "third_party/cuda")

# Run its kernels whenever they are used. torch alone does only for torch.compile: who has it and no compiler is not
# told. Sources: the packages' own documents (installation).
RUN_TRITON = frozenset(
    ("vllm", "sglang", "unsloth", "liger-kernel", "flash-linear-attention", "mamba-ssm", "triton-kernels")
)


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The release by the cuda.h that it carries."""
    return describe(
        one,
        environment,
        "triton",
        build=Seen("", "kernels are compiled when they run"),
        requires=requires(host, one),
        cuda=_cuda(host, f"{one.site}/triton"),
    )


def _cuda(host: Host, folder: str) -> Fact[CudaVersion]:
    why = f"{folder} carries no cuda.h"
    for header in _HEADERS:
        path = f"{folder}/{header}"
        try:
            text = start_of(host, path, _BYTES)
        except HostError:
            continue
        found = re.search(r"#define\s+CUDA_VERSION\s+(\d{4,5})\b", text)
        if found:
            return Seen(CudaVersion.from_encoded(int(found[1])), Place(path))
        why = f"{path} has no CUDA_VERSION"
    return Unseen(why)


# What it compiles with


def tools(host: Host, _environment: Environment, framework: Framework) -> CodeTools:
    """A variable names them, else they are its own; Blackwell cards may have one apart."""
    folders = [f"{framework.path}/{below}" for below in _FOLDERS]
    own = next((path for path in folders if host.is_dir(path)), folders[0])
    found, named = [], []
    for name, variable in (("ptxas", "TRITON_PTXAS_PATH"), ("ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH")):
        said = host.environ.get(variable, "")
        if said:
            named.append((variable, said))
        for path, why in ((said, variable), (f"{own}/bin/{name}", "it comes with Triton")):
            if path and host.is_file(path):
                found.append(
                    Tool(path, why, release_of(host, path), is_for_blackwell="blackwell" in name, set_by=variable)
                )
    said = host.environ.get("TRITON_LIBDEVICE_PATH", "")
    if said:
        named.append(("TRITON_LIBDEVICE_PATH", said))
    files = (said or f"{own}/lib/libdevice.10.bc",)
    return CodeTools(
        environment=framework.environment,
        package=framework.package,
        family="triton",
        ptxas=Seen(tuple(found), Place(own)),
        libdevice=Seen(tuple(path for path in files if host.is_file(path)), Place(own)),
        looked_in=(f"{own}/bin", f"{own}/lib"),
        named=tuple(named),
        builds="Triton's kernels and torch.compile" if host.is_file(f"{_driver_source(framework)}") else "",
        cache=_closed_cache(host),
        nameless=_is_nameless(host, framework),
    )


def _driver_source(framework: Framework) -> str:
    """The C source of a module that Triton compiles when it first uses a GPU: triton/runtime/build.py of 2.1 to 3.9."""
    return f"{framework.path}/backends/nvidia/driver.c"


def _closed_cache(host: Host) -> str:
    """The directory of compiled kernels, if neither it nor one can be made there: triton/knobs.py of 3.9."""
    home = host.environ.get("TRITON_HOME") or host.environ.get("HOME", "")
    folder = host.environ.get("TRITON_CACHE_DIR") or (f"{home.rstrip('/')}/.triton/cache" if home else "")
    if not host.is_live or not folder.startswith("/"):
        return ""
    there = folder
    while there and not host.exists(there):
        there = there.rpartition("/")[0]
    return "" if host.may_access(there or "/", "w") else folder


_USER_NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")  # in the order of getpass.getuser()


def _is_nameless(host: Host, framework: Framework) -> bool:
    """Whether torch beside it names its cache by the user's name, and this user has none.

    torch 2.13 and newer take the number then; 2.9.1 ends with a KeyError.
    """
    if not host.is_live or any(map(host.environ.get, (*_USER_NAMES, "TORCHINDUCTOR_CACHE_DIR"))):
        return False
    source = text_of(host, f"{framework.path.rpartition('/')[0]}/torch/_inductor/runtime/cache_dir_utils.py")
    if "getuser" not in source or "uid_" in source:
        return False
    uid = str(os.geteuid())
    return all(line.split(":")[2:3] != [uid] for line in text_of(host, "/etc/passwd").splitlines())


def _interpreted(value: str) -> str:
    return "Triton interprets its kernels on the CPU" if is_on(value) else ""


CARD = Card(
    ("triton", "triton-windows", "pytorch-triton"),
    read,
    tools=tools,
    switches=(Switch("TRITON_INTERPRET", _interpreted),),  # triton/knobs.py of triton 3.9
)
