"""GPU code of installed binaries: what becomes a fact, what is left alone, and what the second look costs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from compat.version import CudaVersion
from doctor.host import Host
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot
from doctor.model.facts.environment import Environment, Extension, Framework
from doctor.model.facts.seen import Place, Seen, Unseen, value_or
from doctor.probes import environment as environment_probe
from doctor.probes import gpu_code
from tests.lab.elf_file import elf_bytes
from tests.lab.fatbin_file import container
from tests.lab.pe_file import pe_bytes
from tests.probes.tree import Tree, plant
from tests.wheels import fetch, unpack

SITE = "venv/lib/python3.11/site-packages"
_ARCHS = ("sm_75", "sm_80", "sm_90")


def library(*targets: str, needed: tuple[str, ...] = (), rare: str = "") -> bytes:
    """A library with three sources' code for these targets, and one for a rare one."""
    code = container(*targets) * 3 + (container(*targets, rare) if rare else b"")
    return elf_bytes("x.so", needed=needed, rodata=code, rodata_name=".nv_fatbin")


def wheel(name: str, version: str, files: Mapping[str, bytes], requires: str = "") -> dict[str, str | bytes]:
    """An installed wheel."""
    folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    fields = f"Name: {name}\nVersion: {version}\n" + (f"Requires-Dist: {requires}\n" if requires else "")
    listed = "".join(f"{path},sha256=x,{len(content)}\n" for path, content in files.items())
    tree: dict[str, str | bytes] = {f"{SITE}/{path}": content for path, content in files.items()}
    return tree | {f"{folder}/METADATA": fields, f"{folder}/RECORD": listed}


def torch(content: bytes | None = None, cuda: str = "'12.8'") -> dict[str, str | bytes]:
    """torch, with its library of kernels."""
    main = library(*_ARCHS, needed=("libcublas.so.12",), rare="sm_90a") if content is None else content
    said = f"__version__ = '2.9.1+cu128'\ncuda = {cuda}\nhip = None\n".encode()
    return wheel("torch", "2.9.1", {"torch/version.py": said, "torch/lib/libtorch_cuda.so": main})


def look(host: Host, prefix: str = "/venv") -> Environment:
    """The environment as both probes see it."""
    found = gpu_code.look(host, environment_probe.look(host, (prefix,)))
    assert isinstance(found, Seen)
    return found.value[0]


def planted(tmp_path: Path, *trees: Mapping[str, str | bytes]) -> RootHost:
    """A root with an environment that has these files."""
    tree: dict[str, Any] = {"venv/pyvenv.cfg": "version = 3.11.7\n", f"{SITE}/": ""}
    for one in trees:
        tree |= one
    plant(tmp_path, tree)
    return RootHost(str(tmp_path))


def framework_in(environment: Environment, package: str = "torch") -> Framework:
    return next(one for one in value_or(environment.frameworks, ()) if one.package == package)


def extensions_of(environment: Environment) -> dict[str, Extension]:
    return {one.path.removeprefix(f"/{SITE}/"): one for one in environment.extensions.get()}


def texts(fact: Any) -> list[str]:
    return list(map(str, fact.get()))


def test_the_binary_says_what_torch_was_built_for(tmp_path: Path) -> None:
    found = framework_in(look(planted(tmp_path, torch())))
    assert texts(found.targets) == list(_ARCHS)  # without the one source that is for sm_90a
    assert isinstance(found.targets, Seen)
    assert str(found.targets.how) == f"/{SITE}/torch/lib/libtorch_cuda.so"


def test_the_parts_of_a_split_library_count_together(tmp_path: Path) -> None:
    parts = {
        f"{SITE}/torch/lib/libtorch_cuda.so": library(needed=("libtorch_cuda_cu.so",)),
        f"{SITE}/torch/lib/libtorch_cuda_cu.so": library("sm_70", "sm_80", needed=("libcublas.so.11",)),
        f"{SITE}/torch/lib/libtorch_cuda_cpp.so": library("sm_80", "sm_70", needed=("libcudnn.so.8",)),
    }
    found = framework_in(look(planted(tmp_path, torch() | parts)))
    assert texts(found.targets) == ["sm_70", "sm_80"]


def test_onnxruntimes_own_provider(tmp_path: Path) -> None:
    main = library("sm_80", "compute_90", needed=("libcudnn.so.9",))
    tree = wheel("onnxruntime-gpu", "1.22.0", {"onnxruntime/capi/libonnxruntime_providers_cuda.so": main})
    found = framework_in(look(planted(tmp_path, tree)), "onnxruntime-gpu")
    assert texts(found.targets) == ["sm_80", "compute_90"]


@pytest.mark.parametrize(
    "content",
    [
        library(*_ARCHS),  # cuBLAS and cuDNN are inside: their code is not torch's
        library(*_ARCHS, "lto_90", needed=("libcublas.so.12",)),
        elf_bytes("x.so"),
        library(*_ARCHS, needed=("libcublas.so.12",))[:-300],
        b"not a library",
        b"",
    ],
)
def test_a_binary_that_does_not_tell_leaves_the_fact_alone(tmp_path: Path, content: bytes) -> None:
    assert isinstance(framework_in(look(planted(tmp_path, torch(content)))).targets, Unseen)


def test_extensions_by_requirement_by_name_and_by_what_they_ask_for(tmp_path: Path) -> None:
    asks = ("libc10.so", "libtorch_cuda.so", "libcudart.so.12")
    code = library("sm_80", "sm_90", needed=asks, rare="sm_90a")
    host = planted(
        tmp_path,
        torch(),
        wheel("xformers", "0.0.33", {"xformers/_C.so": code, "xformers/lib/deep.so": code}, "torch==2.9.1"),
        wheel("bitsandbytes", "0.48.2", {"bitsandbytes/lib.so": library("sm_75")}, "torch<3,>=2.3"),
        wheel("detectron2", "0.6", {"detectron2/_C.cpython-311-x86_64-linux-gnu.so": code}),
        wheel("other", "1.0", {"other/_C.so": library("sm_80"), "other/deep/x.so": code}),  # does not ask for torch
        wheel("plain", "1.0", {"plain/_C.so": elf_bytes("x.so", needed=asks)}, "torch"),
        wheel("extra", "1.0", {"extra/lib.so": library("sm_80")}, 'torch; extra == "gpu"'),
        {f"{SITE}/my_cuda.cpython-311-x86_64-linux-gnu.so": code},  # by setup.py install
    )
    found = extensions_of(look(host))
    assert sorted(found) == [
        "bitsandbytes/lib.so",
        "detectron2/_C.cpython-311-x86_64-linux-gnu.so",
        "my_cuda.cpython-311-x86_64-linux-gnu.so",
        "plain/_C.so",
        "xformers/_C.so",
        "xformers/lib/deep.so",
    ]
    one = found["xformers/_C.so"]
    assert (one.label, texts(one.targets)) == ("xformers 0.0.33", ["sm_80", "sm_90"])
    assert texts(one.every_target) == ["sm_80", "sm_90", "sm_90a"]
    assert (one.cudart.get(), one.torch_libraries.get()) == ("libcudart.so.12", asks[:2])
    assert texts(found["plain/_C.so"].every_target) == []  # no GPU code
    assert found["bitsandbytes/lib.so"].cudart.get() == ""
    assert found["my_cuda.cpython-311-x86_64-linux-gnu.so"].label == "my_cuda"


def test_code_that_is_not_read_is_not_guessed(tmp_path: Path) -> None:
    files = {
        "a/ir.so": library("lto_90"),
        "a/both.so": library("sm_80", "lto_90"),
        "a/damaged.so": library("sm_80").replace(b"\x02\x00\x01\x01", b"\x00\x00\x01\x01"),
        "a/windows.pyd": pe_bytes(gpu_code=container("sm_80")),
    }
    found = extensions_of(look(planted(tmp_path, torch(), wheel("a", "1", files, "torch"))))
    assert isinstance(found["a/ir.so"].targets, Unseen)
    assert isinstance(found["a/damaged.so"].targets, Unseen)
    assert texts(found["a/both.so"].targets) == ["sm_80"]
    assert isinstance(found["a/both.so"].every_target, Unseen)
    assert texts(found["a/windows.pyd"].every_target) == ["sm_80"]
    assert isinstance(found["a/windows.pyd"].cudart, Unseen)


def test_beside_a_build_for_the_cpu_it_is_read_what_they_ask_for(tmp_path: Path) -> None:
    files = {"a/_C.so": elf_bytes("_C.so", needed=("libtorch_cuda.so", "libcudart.so.12"))}
    (one,) = extensions_of(look(planted(tmp_path, torch(cuda="None"), wheel("a", "1", files, "torch")))).values()
    assert (one.cudart.get(), one.torch_libraries.get()) == ("libcudart.so.12", ("libtorch_cuda.so",))
    assert isinstance(one.lacking, Unseen)


@pytest.mark.parametrize("tree", [{}, wheel("numpy", "2.0", {"numpy/_C.so": library("sm_80")})])
def test_without_torch_nothing_is_looked_for(tmp_path: Path, tree: Tree) -> None:
    assert isinstance(look(planted(tmp_path, tree)).extensions, Unseen)


def test_a_record_leads_nowhere_else(tmp_path: Path) -> None:
    files = {"a/_C.so": library("sm_80")}
    tree = wheel("a", "1", files, "torch")
    record = f"{SITE}/a-1.dist-info/RECORD"
    tree[record] = f"../../../../secret/_C.so,,\n/secret/_C.so,,\n{tree[record]!s}gone/_C.so,,\n"
    host = planted(tmp_path, torch(), tree, {"secret/_C.so": library("sm_90")})
    assert list(extensions_of(look(host))) == ["a/_C.so"]


def test_too_many_libraries_are_said(tmp_path: Path) -> None:
    small = elf_bytes("x.so")
    trees = [wheel(f"a{n}", "1", {f"a{n}/{m}.so": small for m in range(80)}, "torch") for n in range(5)]
    found = look(planted(tmp_path, torch(), *trees)).extensions
    assert isinstance(found, Unseen)
    assert "256" in found.why


class CountingHost(LiveHost):
    """This machine, with the files that were opened."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.opened: list[str] = []

    def open(self, path: str) -> BinaryIO:
        self.opened.append(path)
        return super().open(path)

    def read_bytes(self, path: str, limit_bytes: int = 1 << 30) -> bytes:
        self.opened.append(path)
        return super().read_bytes(path, limit_bytes)


@pytest.mark.skipif(os.name != "posix", reason="a live POSIX machine")
def test_the_second_look_opens_nothing_and_says_the_same(tmp_path: Path) -> None:
    code = library("sm_80", needed=("libtorch.so",))
    planted(tmp_path, torch(), wheel("a", "1", {"a/_C.so": code, "a/broken.so": b"no library"}, "torch"))
    prefix = str(tmp_path / "venv")
    seen = []
    for _ in range(2):
        host = CountingHost({"GPUDOCTOR_CACHE": str(tmp_path / "cache")})
        environments = environment_probe.look(host, (prefix,))
        host.opened.clear()
        snapshot = Snapshot(host)
        seen.append((gpu_code.look(snapshot, environments), len(host.opened)))
        snapshot.memory.save()
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] > 0
    assert seen[1][1] == 0
    (tmp_path / SITE / "a" / "_C.so").write_bytes(library("sm_90", needed=("libtorch.so.2",)))
    again = gpu_code.look(Snapshot(host), environment_probe.look(host, (prefix,)))
    assert isinstance(again, Seen)
    assert texts(again.value[0].extensions.get()[0].targets) == ["sm_90"]


@pytest.mark.parametrize("record", [1, [], {}, {"pieces": [["sm_x", 1, 1]]}, {"pieces": [1], "needed": None}, "x"])
def test_records_that_we_did_not_write_do_not_count(tmp_path: Path, record: Any) -> None:
    planted(tmp_path, torch(), wheel("a", "1", {"a/_C.so": library("sm_80")}, "torch"))
    host = Snapshot(LiveHost({"GPUDOCTOR_CACHE": str(tmp_path / "cache")}))
    first = look(host, str(tmp_path / "venv"))
    host.memory.save()
    path = tmp_path / "cache" / "files.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["records"] = dict.fromkeys(said["records"], record)
    path.write_text(json.dumps(said), encoding="utf-8")
    assert look(Snapshot(LiveHost(host.environ)), str(tmp_path / "venv")) == first


@pytest.mark.slow
def test_real_extensions(tmp_path: Path) -> None:
    """xFormers and bitsandbytes for CUDA 12, an old vLLM for CUDA 11, beside torch for 12.8."""
    planted(tmp_path, torch())
    site = tmp_path / SITE
    for requirement in ("xformers==0.0.31", "bitsandbytes==0.48.2", "vllm==0.2.0"):
        unpack(fetch(requirement), site)
    found = look(RootHost(str(tmp_path)))
    assert framework_in(found).cuda == Seen(CudaVersion(12, 8), Place(f"/{SITE}/torch/version.py"))
    by_path = extensions_of(found)
    assert texts(by_path["xformers/_C.so"].targets) == ["sm_75", "sm_80", "compute_80", "sm_90a"]
    assert texts(by_path["xformers/flash_attn_3/_C.so"].targets) == ["sm_80", "compute_80", "sm_90a"]
    assert texts(by_path["bitsandbytes/libbitsandbytes_cuda130.so"].targets)[-1] == "compute_120"
    cudarts = {one.distribution: one.cudart.get() for path, one in by_path.items() if "cuda130" not in path}
    assert (cudarts["xformers"], cudarts["vllm"]) == ("libcudart.so.12", "libcudart.so.11.0")
    asked = by_path["vllm/cache_ops.cpython-311-x86_64-linux-gnu.so"].torch_libraries.get()
    assert asked == ("libc10.so", "libtorch_cpu.so", "libtorch_python.so", "libc10_cuda.so")


def test_bitsandbytes_asks_for_torch_in_its_code_alone(tmp_path: Path) -> None:
    """Up to 0.42 its metadata names scipy, and its libraries ask for none of torch's."""
    files = {"bitsandbytes/libbitsandbytes_cuda118.so": library("sm_75")}
    host = planted(tmp_path, torch(), wheel("bitsandbytes", "0.42.0", files, "scipy"))
    assert sorted(extensions_of(look(host))) == sorted(files)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('libraries = [\n    "fbgemm_gpu_config",\n    "fbgemm_gpu_py",\n]\n', True),  # fbgemm_gpu 1.9.0
        ('libraries = ["fbgemm_gpu_python", "my_fbgemm_gpu_py"]\n', False),
        (None, False),
    ],
)
def test_whether_a_package_names_a_library_when_it_is_imported(tmp_path: Path, source: str | None, named: bool) -> None:
    if source is not None:
        (tmp_path / "site").mkdir()
        (tmp_path / "site/__init__.py").write_text(source, encoding="utf-8")
    assert gpu_code._is_named_in_init(RootHost(str(tmp_path)), "/site/fbgemm_gpu_py.so") is named
