"""The probe of DLLs, on a Windows tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.loader import dlls
from doctor.model.facts.loader import Dll, FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Fact, Seen, Unseen
from tests.lab.pe_file import pe_bytes
from tests.machine import cudnn_copy, environment, framework, loader, seen, toolkit, toolkits
from tests.probes.tree import Tree, plant

SITE = "C:/venv/Lib/site-packages"
PROVIDER = f"{SITE}/onnxruntime/capi/onnxruntime_providers_cuda.dll"
NEEDS = ("cublasLt64_12.dll", "cudart64_12.dll", "cudnn64_9.dll", "KERNEL32.dll", "MSVCP140.dll")
ORT = framework("onnxruntime-gpu", "1.22.0", path=f"{SITE}/onnxruntime", environment="C:/venv")
TOOLKIT = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.8/bin"
CUDNN = "C:/Program Files/NVIDIA/CUDNN/v9.10/bin/12.9"


def path(*folders: str) -> LoaderFacts:
    return loader(search=seen(tuple(SearchDir(one, FoundBy.PATH, True) for one in folders)))


def dlls_of(root: Path, tree: Tree, search: LoaderFacts) -> Fact[tuple[Dll, ...]]:
    base: Tree = {PROVIDER: pe_bytes("p.dll", needs=NEEDS), "C:/Windows/System32/msvcp140.dll": b"MZ"}
    host = RootHost(str(plant(root, {_below(name): content for name, content in {**base, **tree}.items()})))
    host.os_family = "windows"
    venv = environment(ORT)._replace(
        prefix="C:/venv", interpreter="C:/venv/Scripts/python.exe", sites=seen((SITE,)), kind="venv"
    )
    tools = toolkits(toolkit(library_dir=seen(TOOLKIT)))
    told = dlls.look(host, search, seen((venv,)), (tools, seen((cudnn_copy("9.10.2", CUDNN, environment=""),))))
    assert isinstance(told, Seen)
    (only,) = told.value
    return only.dlls


def _below(name: str) -> str:
    return name.removeprefix("C:")


def test_path_is_searched(tmp_path: Path) -> None:
    tree = {f"{TOOLKIT}/{name}": b"MZ" for name in NEEDS[:2]} | {f"{CUDNN}/cudnn64_9.dll": b"MZ"}
    told = dlls_of(tmp_path, tree, path(TOOLKIT)).get()
    assert [(one.name, one.found, one.elsewhere) for one in told] == [
        ("cublasLt64_12.dll", f"{TOOLKIT}/cublasLt64_12.dll", ()),
        ("cudart64_12.dll", f"{TOOLKIT}/cudart64_12.dll", ()),
        ("cudnn64_9.dll", "", (f"{CUDNN}/cudnn64_9.dll",)),
        ("MSVCP140.dll", "C:/Windows/System32/MSVCP140.dll", ()),
    ]


def test_wheels_are_elsewhere(tmp_path: Path) -> None:
    wheel = f"{SITE}/nvidia/cublas/bin/cublasLt64_12.dll"
    told = {one.name: one for one in dlls_of(tmp_path, {wheel: b"MZ"}, path("C:/Windows")).get()}
    assert told["cublasLt64_12.dll"].elsewhere == (wheel,)
    assert told["cudart64_12.dll"].elsewhere == ()


def test_without_path_it_is_not_known(tmp_path: Path) -> None:
    assert isinstance(dlls_of(tmp_path, {}, path()), Unseen)


@pytest.mark.parametrize("content", [b"", b"MZ", pe_bytes()])
def test_a_damaged_asker_names_nothing(tmp_path: Path, content: bytes) -> None:
    assert dlls_of(tmp_path, {PROVIDER: content}, path()).get() == ()


def test_other_systems_have_none(tmp_path: Path) -> None:
    host = RootHost(str(tmp_path))
    assert dlls.look(host, loader(), seen(()), (toolkits(), seen(()))).get() == ()


def test_torch_s_part_for_the_cpu_asks_for_more_of_the_runtime(tmp_path: Path) -> None:
    """torch_cpu.dll of 2.15.0 (win_amd64) imports VCRUNTIME140_THREADS.dll, which c10.dll does not."""
    library = f"{SITE}/torch/lib/torch_cpu.dll"
    tree = {_below(library): pe_bytes("torch_cpu.dll", needs=("VCRUNTIME140_THREADS.dll", "KERNEL32.dll"))}
    host = RootHost(str(plant(tmp_path, tree)))
    host.os_family = "windows"
    torch = framework("torch", "2.15.0+cpu", path=f"{SITE}/torch", environment="C:/venv")
    venv = environment(torch)._replace(prefix="C:/venv", sites=seen((SITE,)), kind="venv")
    told = dlls.look(host, path("C:/Windows"), seen((venv,)), (toolkits(), seen(())))
    assert [one.dlls.get() for one in told.get()] == [(Dll("VCRUNTIME140_THREADS.dll", library, "", ()),)]
