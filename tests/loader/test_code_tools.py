"""The probe of ptxas and libdevice, on trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.version import CudaVersion
from doctor.loader import code_tools
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.facts.toolkit import CodeTools
from tests.lab.elf_file import elf_bytes
from tests.machine import SITE, environment, framework, seen, unseen
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, offline

JAX = framework(
    "jax-cuda12-plugin", "0.7.2", build=seen("cuda"), cuda=unseen("a range"), path=f"{SITE}/jax_cuda12_plugin"
)
TRITON = framework("triton", "3.5.1", build=seen(""), path=f"{SITE}/triton")
TENSORFLOW = framework("tensorflow", "2.18.0", build=seen("cuda"), cuda=seen(CudaVersion(12, 5)))
WHEEL = f"{SITE}/nvidia/cuda_nvcc"
LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"


def ptxas(release: str) -> bytes:
    """An ELF file with the text that ptxas prints."""
    short = ".".join(release.split(".")[:2])
    return elf_bytes(rodata=f"x\0Cuda compilation tools, release {short}, V{release}\0".encode())


def tools(host: PretendHost, one: Framework) -> CodeTools:
    found = code_tools.look(host, seen((environment(one),)))
    assert isinstance(found, Seen)
    (only,) = found.value
    return only


def order(found: CodeTools) -> list[tuple[str, str]]:
    return [(one.path, one.release.get()) for one in found.ptxas.get()]


def test_jax_prefers_its_wheel_and_the_variable(tmp_path: Path) -> None:
    tree: Tree = {
        f"{WHEEL}/bin/ptxas": ptxas("12.8.93"),
        "/opt/x/bin/ptxas": ptxas("12.4.131"),
        f"{WHEEL}/{LIBDEVICE}": "BC",
    }
    host = PretendHost(tmp_path, tree, environ={"PATH": "/opt/x/bin"})
    assert order(tools(host, JAX)) == [(f"{WHEEL}/bin/ptxas", "12.8.93"), ("/opt/x/bin/ptxas", "12.4.131")]
    assert tools(host, JAX).libdevice.get() == (f"{WHEEL}/{LIBDEVICE}",)


def test_tensorflow_prefers_path_over_its_wheel(tmp_path: Path) -> None:
    tree: Tree = {f"{WHEEL}/bin/ptxas": ptxas("12.8.93"), "/opt/x/bin/ptxas": ptxas("12.4.131")}
    host = PretendHost(tmp_path, tree, environ={"PATH": "/opt/x/bin"})
    assert [path for path, _ in order(tools(host, TENSORFLOW))] == ["/opt/x/bin/ptxas", f"{WHEEL}/bin/ptxas"]


def test_the_flag_comes_first(tmp_path: Path) -> None:
    tree: Tree = {
        "/opt/y/bin/ptxas": ptxas("12.6.85"),
        f"/opt/y/{LIBDEVICE}": "BC",
        "/usr/bin/ptxas": ptxas("11.5.119"),
    }
    host = PretendHost(tmp_path, tree, environ={"XLA_FLAGS": "--a --xla_gpu_cuda_data_dir=/opt/y/", "PATH": "/usr/bin"})
    found = tools(host, TENSORFLOW)
    assert order(found)[0] == ("/opt/y/bin/ptxas", "12.6.85")
    assert found.libdevice.get() == (f"/opt/y/{LIBDEVICE}",)


def test_one_file_under_two_names_counts_once(tmp_path: Path) -> None:
    tree: Tree = {"/usr/local/cuda-12.5/bin/ptxas": ptxas("12.5.82"), "/usr/local/cuda": "-> cuda-12.5"}
    host = PretendHost(tmp_path, tree, environ={"PATH": "/usr/local/cuda/bin"})
    assert order(tools(host, TENSORFLOW)) == [("/usr/local/cuda/bin/ptxas", "12.5.82")]


def test_triton(tmp_path: Path) -> None:
    own = f"{SITE}/triton/backends/nvidia"
    tree: Tree = {f"{own}/bin/{name}": ptxas("12.8.93") for name in ("ptxas", "ptxas-blackwell")}
    tree = {**tree, "/opt/x/ptxas": ptxas("13.0.88"), f"{own}/lib/libdevice.10.bc": b"BC"}
    found = tools(PretendHost(tmp_path, tree, environ={"TRITON_PTXAS_PATH": "/opt/x/ptxas"}), TRITON)
    assert [(one.path.rpartition("/")[2], one.why, one.is_for_blackwell) for one in found.ptxas.get()] == [
        ("ptxas", "TRITON_PTXAS_PATH", False),
        ("ptxas", "it comes with Triton", False),
        ("ptxas-blackwell", "it comes with Triton", True),
    ]
    assert found.libdevice.get() == (f"{own}/lib/libdevice.10.bc",)


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", elf_bytes(), ptxas("12.x")])
def test_what_says_no_release_is_unseen(tmp_path: Path, content: bytes) -> None:
    host = PretendHost(tmp_path, {"/usr/bin/ptxas": content}, environ={"PATH": "/usr/bin"})
    (one,) = tools(host, TENSORFLOW).ptxas.get()
    assert isinstance(one.release, Unseen)


def test_nothing_found_is_no_proof_offline(tmp_path: Path) -> None:
    found = code_tools.look(offline(tmp_path, {}), seen((environment(JAX),)))
    assert isinstance(found, Seen)
    assert isinstance(found.value[0].ptxas, Unseen)
    assert isinstance(found.value[0].libdevice, Unseen)


def test_torch_and_cpu_builds_compile_nothing(tmp_path: Path) -> None:
    host = PretendHost(tmp_path, {})
    assert code_tools.look(host, seen((environment(framework()),))).get() == ()
    cpu = framework("tensorflow", "2.18.0", build=seen("cpu"))
    assert code_tools.look(host, seen((environment(cpu),))).get() == ()
