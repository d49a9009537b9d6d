"""JAX: pure Python over jaxlib, and the plugins that bring its GPU code.

The plugin's __init__ opens the wheels' libraries by their paths, then the plugin asks for what is missing. Source:
jax_plugins/xla_cuda12/__init__.py of jax-cuda12-pjrt 0.4.36 to 0.7.2 (_load_nvidia_libraries); the names that the
plugin opens by itself are those of its LD_DEBUG trace, but for cuDNN's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from doctor.host import Host, HostError
from doctor.loader.cards import Card, Loading, Switch, describe
from doctor.loader.code_tools import xla_tools
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Seen, Unseen
from doctor.pyenv.metadata import of_extras, requires, start_of


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """jax itself, or a plugin: jax-cuda12-plugin, jax-cuda12-pjrt."""
    needs = requires(host, one)
    plugin = re.fullmatch(r"jax-(cuda|rocm)(\d+)-(plugin|pjrt)", one.name)
    if not plugin:
        if isinstance(needs, Seen):
            needs = Seen((*needs.value, *of_extras(host, one, "jax-cuda")), needs.how)
        found = describe(one, environment, "jax", build=Seen("", "pure Python"), requires=needs)
        return found._replace(fails_unless=_fails_unless(host, one.site))
    vendor, major, part = plugin.groups()
    module = f"jax_{vendor}{major}_plugin" if part == "plugin" else f"jax_plugins/xla_{vendor}{major}"
    build = Seen("cuda" if vendor == "cuda" else f"rocm{major}", "name of the distribution")
    why = f"{one.name} {one.version} runs on a range of CUDA {major}; its files do not name the one it was built with"
    return describe(
        one,
        environment,
        module,
        build=build,
        requires=needs,
        cuda=Unseen(why if vendor == "cuda" else f"{one.name} is a ROCm build"),
    )


_INIT = "jax/_src/lib/__init__.py"
_NVCC = "nvidia/cuda_nvcc"
_BYTES = 64 << 10


def _fails_unless(host: Host, site: str) -> tuple[str, ...]:
    """JAX 0.4.35 takes `cuda_nvcc.__file__` for granted; without an __init__.py it is None, and the import fails.

    Said where that wheel is not there yet as well: it comes with jax[cuda12].

    Source: _try_cuda_nvcc_import in jax/_src/lib/__init__.py, unguarded in 0.4.35, guarded from 0.4.36 on, not there up
    to 0.4.34; nvidia-cuda-nvcc-cu12 has an __init__.py up to 12.8.
    """
    if host.is_file(f"{site}/{_NVCC}/__init__.py"):
        return ()
    try:
        text = start_of(host, f"{site}/{_INIT}", _BYTES)
    except HostError:
        return ()
    unguarded = "import cuda_nvcc" in text and "cuda_nvcc.__path__" not in text
    return ("nvidia-cuda-nvcc-cu12<12.9",) if unguarded else ()


# What its process opens

_LOAD = re.compile(r"""^ +_load\(["'](\w+)["'], \[([^\]]*)\]\)""", re.MULTILINE)
_PLUGIN = "xla_cuda_plugin.so"


def steps(package: Package) -> Iterator[Step]:
    """All of it happens when JAX starts its back ends, which `jax.devices()` or the first array does."""
    for major in ("13", "12"):
        folder = f"jax_plugins/xla_cuda{major}"
        plugin = package.files(f"{folder}/{_PLUGIN}")
        if not plugin:
            continue
        for module, libraries in _LOAD.findall(package.text(f"{folder}/__init__.py")):
            for name in re.findall(r"[\w.+-]+\.so[.\d]*", libraries):
                path = package.anywhere(f"nvidia/{module}/lib/{name}")
                yield Step(path, "the JAX plugin opens the wheel's library by its path")
        yield Step(plugin, "JAX opens its plugin", needed=True)
        release = tuple(map(int, re.findall(r"\d+", package.framework.version)[:3]))
        for name in (*_NAMES[major], ("libcudnn.so.8" if release < _CUDNN_9 else "libcudnn.so.9")):
            yield Step((name,), "the plugin opens it by its name", _PLUGIN, use=name != "libcuda.so.1")
        return


_CUDNN_9 = (0, 4, 29)  # the first release for it: the extras of jax 0.4.28 and 0.4.29


_NAMES = {
    "12": (
        "libcuda.so.1", "libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11",
        "libcusolver.so.11", "libcusparse.so.12", "libcupti.so.12", "libnccl.so.2",
    ),
    "13": (
        "libcuda.so.1", "libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12",
        "libcusolver.so.12", "libcusparse.so.12", "libcupti.so.13", "libnccl.so.2",
    ),
}  # fmt: skip


_OF_OTHERS = ("rocm", "tpu", "oneapi")  # with hardware that an NVIDIA GPU is not; further names are plugins'


def _platforms(value: str) -> list[str]:
    return [one.strip() for one in value.split(",") if one.strip()]


def _on_the_cpu(value: str) -> str:
    """The first platform of the list is the default one."""
    named = _platforms(value)
    if named[:1] != ["cpu"] or any(one in _OF_OTHERS for one in named):
        return ""
    rest = ", the GPU only if a program needs it" if {"cuda", "gpu"} & {*named} else ""
    return f"JAX computes on the CPU{rest}, though its build for the GPU is here"


def _for_others(value: str) -> str:
    foreign = next((one for one in _platforms(value) if one in _OF_OTHERS), "")
    return f"JAX ends with an error where it finds no {foreign.upper()}" if foreign else ""


# jax/_src/xla_bridge.py of jax 0.12.0.1 (backends, the older variable names the default platform alone)
SWITCHES = (
    Switch("JAX_PLATFORMS", _for_others, ("jax-cuda*-plugin", "jaxlib"), ends=True),
    Switch("JAX_PLATFORMS", _on_the_cpu, ("jax-cuda*-plugin", "jaxlib")),
    Switch("JAX_PLATFORM_NAME", lambda value: _on_the_cpu(value.lower()), ("jax-cuda*-plugin", "jaxlib")),
)

CARD = Card(
    ("jax", "jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "jax-cuda13-pjrt", "jax-rocm*"),
    read,
    loading=Loading(steps),
    speakers=("jax-cuda*-plugin",),
    tools=partial(xla_tools, prefers_wheels=True),
    switches=SWITCHES,
    proof='import jax; print(jax.numpy.ones(2).sum(), jax.devices("gpu"))',
)
