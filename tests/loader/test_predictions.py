"""Which cuDNN a framework would load: by the rules, and by what the real loader does with the same files."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.version import CudaVersion, CudnnVersion
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.loader.predictions import predictions
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import FoundBy, Outcome, Prediction, Way
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.facts.toolkit import ToolkitFacts
from doctor.model.resolution import describe_resolution
from doctor.probes import cudnn, loader
from tests.lab.cudnn_tree import copy_of, link, wheel_of
from tests.lab.elf_file import elf_bytes

PREFIX = "/venv"
SITE = f"{PREFIX}/lib/python3.12/site-packages"
WHEEL = f"{SITE}/nvidia/cudnn/lib"
_WHEEL_PATHS = "$ORIGIN/../../nvidia/cublas/lib:$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN"


def framework(package: str = "torch", version: str = "2.9.1", pin: str = "nvidia-cudnn-cu12==9.10.2.21") -> Framework:
    nothing = Unseen("test")
    module = package.replace("-", "_") if package.startswith("jax") else package.partition("-")[0]
    return Framework(
        package=package,
        version=version,
        path=f"{SITE}/{module}",
        build=Seen("cu128", "test"),
        cuda=nothing,
        cudnn=nothing,
        targets=nothing,
        requires=Seen((pin,) if pin else (), "METADATA"),
        environment=PREFIX,
        note="",
    )


def environment(*frameworks: Framework, root: str = "", interpreter: str = "", kind: str = "venv") -> Environment:
    return Environment(
        prefix=root + PREFIX,
        asked_by="--python",
        interpreter=interpreter,
        kind=kind,
        python=Seen("3.12.4", "test"),
        sites=Seen((root + SITE,), "test"),
        distributions=Seen((), "test"),
        frameworks=Seen(
            tuple(one._replace(path=root + one.path, environment=root + PREFIX) for one in frameworks), "test"
        ),
        overlaps=Seen((), "test"),
        externally_managed=False,
    )


def look(host: LiveHost | RootHost, one: Environment) -> tuple[Prediction, ...]:
    search = loader.look(host)
    environments = Seen((one,), "test")
    nothing = ToolkitFacts(Seen((), "test"), Seen((), "test"))
    copies = cudnn.look(host, search, nothing, environments)
    found = predictions(host, search, environments, nothing, copies)
    assert isinstance(found, Seen)
    return found.value


def write(path: Path, content: bytes | str = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def asker(root: Path, name: str, *, needed: str = "libcudnn.so.9", rpath: str = "", runpath: str = "") -> None:
    """A framework's library that asks for cuDNN."""
    machine = platform.machine() if platform.machine() in {"x86_64", "aarch64"} else "x86_64"
    asks = (needed,) if needed else ()
    content = elf_bytes(Path(name).name, needed=asks, machine=machine, rpath=rpath, runpath=runpath)
    write(root / SITE[1:] / name, content)


def default_directories(root: Path) -> None:
    """A Debian's loader and C library."""
    write(root / "lib64/ld-linux-x86-64.so.2")
    write(root / "usr/lib/x86_64-linux-gnu/libc.so.6")


def ends(found: Prediction) -> str:
    return found.path.value if isinstance(found.path, Seen) else "unseen"


class Tree(NamedTuple):
    """Where copies lie, and how torch searches."""

    rpath: str = ""
    runpath: str = ""
    wheel: bool = True
    library_path: str = ""
    system: bool = False


@pytest.mark.parametrize(
    ("tree", "main", "part", "words"),
    [
        (Tree(rpath=_WHEEL_PATHS), WHEEL, WHEEL, "RPATH of libtorch_global_deps.so"),
        (Tree(runpath=_WHEEL_PATHS), WHEEL, WHEEL, "RUNPATH of libtorch_global_deps.so"),
        (Tree(runpath=_WHEEL_PATHS, library_path="/opt/lib"), "/opt/lib", "/opt/lib", "LD_LIBRARY_PATH names /opt/lib"),
        # The wheels of torch carry an RPATH: their shell comes first, and then asks LD_LIBRARY_PATH for its parts.
        (Tree(rpath=_WHEEL_PATHS, library_path="/opt/lib"), WHEEL, "/opt/lib", "RPATH of libtorch_global_deps.so"),
        (Tree(runpath=_WHEEL_PATHS, library_path="/nowhere"), WHEEL, WHEEL, "RUNPATH"),
        (Tree(wheel=False, system=True), "/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "default directory"),
        (Tree(runpath="/elsewhere/$LIB", wheel=False), "unseen", "unseen", ""),
    ],
)
def test_the_order_of_search(tmp_path: Path, tree: Tree, main: str, part: str, words: str) -> None:
    default_directories(tmp_path)
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath=tree.rpath, runpath=tree.runpath)
    copy_of(tmp_path / "opt/lib", "9.5.1")
    if tree.wheel:
        wheel_of(tmp_path / SITE[1:])
    if tree.system:
        copy_of(tmp_path / "usr/lib/x86_64-linux-gnu", "9.7.0", chain=True)
    host = RootHost(str(tmp_path), {"LD_LIBRARY_PATH": tree.library_path})
    found = look(host, environment(framework()))
    assert [one.soname for one in found[:2]] == ["libcudnn.so.9", "libcudnn_graph.so.9"][: len(found)]
    assert [ends(one).rpartition("/")[0] or "unseen" for one in found[:2]] == [main, part][: len(found)]
    assert {one.outcome for one in found} == {Outcome.MISSING if main == "unseen" else Outcome.FOUND}
    assert words in describe_resolution(found[0].way)
    assert all(isinstance(one.intended, Seen) == tree.wheel for one in found)


def test_the_cache_comes_before_the_default_directories(tmp_path: Path) -> None:
    default_directories(tmp_path)
    asker(tmp_path, "torch/lib/libtorch_global_deps.so")
    copy_of(tmp_path / "opt/lib", "9.5.1")
    copy_of(tmp_path / "usr/lib/x86_64-linux-gnu", "9.7.0")
    name, path = b"libcudnn.so.9\0", b"/opt/lib/libcudnn.so.9\0"
    head = b"ld.so-1.7.0\0" + (1).to_bytes(4, "little")
    write(tmp_path / "etc/ld.so.cache", head + bytes([3, 3]) + bytes(6) + bytes([len(name), 0, 0, 0]) + name + path)
    found = look(RootHost(str(tmp_path)), environment(framework(pin="")))
    assert ends(found[0]) == "/opt/lib/libcudnn.so.9"
    assert found[0].way == Way(FoundBy.CACHE, entry="/opt/lib/libcudnn.so.9")
    assert isinstance(found[0].intended, Unseen)


def test_a_library_for_another_machine_is_passed_over(tmp_path: Path) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", runpath=_WHEEL_PATHS)
    wheel_of(tmp_path / SITE[1:])
    copy_of(tmp_path / "opt/lib", "9.5.1", machine="s390x")
    found = look(RootHost(str(tmp_path), {"LD_LIBRARY_PATH": "/opt/lib"}), environment(framework()))
    assert {ends(one).rpartition("/")[0] for one in found} == {WHEEL}


def test_a_shell_asks_for_parts_of_its_own_release_first(tmp_path: Path) -> None:
    """An archive's full names shield it from a wheel's copy on LD_LIBRARY_PATH, which has none."""
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath="/usr/local/cuda/lib64")
    copy_of(tmp_path / "usr/local/cuda/lib64", "9.10.2", chain=True)
    copy_of(tmp_path / "other", "9.5.1")
    found = look(RootHost(str(tmp_path), {"LD_LIBRARY_PATH": "/other"}), environment(framework(pin="")))
    folder = "/usr/local/cuda/lib64"
    assert [ends(one) for one in found[:2]] == [f"{folder}/libcudnn.so.9.10.2", f"{folder}/libcudnn_graph.so.9.10.2"]
    assert [one.soname for one in found[:2]] == ["libcudnn.so.9", "libcudnn_graph.so.9"]


def test_conda_finds_it_by_the_rpath_of_its_python(tmp_path: Path) -> None:
    asker(tmp_path, "onnxruntime/capi/libonnxruntime_providers_cuda.so")
    write(tmp_path / "venv/bin/python", elf_bytes(rpath="$ORIGIN/../lib"))
    copy_of(tmp_path / "venv/lib", "9.10.2")
    copy_of(tmp_path / "opt/lib", "9.5.1")
    one = environment(framework("onnxruntime-gpu", pin=""), interpreter="/venv/bin/python", kind="conda")
    found = look(RootHost(str(tmp_path), {"LD_LIBRARY_PATH": "/opt/lib"}), one)
    assert ends(found[0]) == "/venv/lib/libcudnn.so.9"
    assert found[0].way == Way(FoundBy.RPATH, "/venv/bin/python", "$ORIGIN/../lib", "/venv/bin/../lib")
    assert found[0].is_as_intended


class Wants(NamedTuple):
    """A framework's library that asks for cuDNN, and how."""

    package: str
    library: str
    runpath: str
    pin: str
    needed: str = ""


_TENSORFLOW = "tensorflow/libtensorflow_framework.so.2"
_JAX = "jax_plugins/xla_cuda12/xla_cuda_plugin.so"
_ONNX = "onnxruntime/capi/libonnxruntime_providers_cuda.so"
_CUPY = "cupy_backends/cuda/libs/cudnn.cpython-312-x86_64-linux-gnu.so"


@pytest.mark.parametrize(
    ("wants", "main"),
    [
        (Wants("tensorflow", _TENSORFLOW, "$ORIGIN/../nvidia/cudnn/lib", "==9.3.0.75"), WHEEL),
        (Wants("tensorflow", _TENSORFLOW, "", "==9.3.0.75"), "unseen"),
        (
            Wants("jax-cuda12-plugin", _JAX, "$ORIGIN/../../nvidia/cudnn/lib", '<10,>=9.8; extra == "with-cuda"'),
            WHEEL,
        ),
        (Wants("onnxruntime-gpu", _ONNX, "", "~=9.0", "libcudnn.so.9"), "unseen"),
        (Wants("cupy-cuda12x", _CUPY, "$ORIGIN/../../../nvidia/cudnn/lib", "", "libcudnn.so.9"), WHEEL),
    ],
)
def test_every_framework(tmp_path: Path, wants: Wants, main: str) -> None:
    default_directories(tmp_path)
    asker(tmp_path, wants.library, needed=wants.needed, runpath=wants.runpath)
    wheel_of(tmp_path / SITE[1:])
    one = framework(wants.package, pin=f"nvidia-cudnn-cu12{wants.pin}" if wants.pin else "")
    one = one._replace(cudnn=Seen(CudnnVersion((9,)), "build_info"))
    found = look(RootHost(str(tmp_path)), environment(one))
    assert (found[0].asker, found[0].soname) == (wants.package, "libcudnn.so.9")
    assert (ends(found[0]).rpartition("/")[0] or "unseen") == main


def test_what_tensorflow_was_built_with_names_the_major(tmp_path: Path) -> None:
    asker(tmp_path, "tensorflow/libtensorflow_framework.so.2", needed="", runpath="/opt/lib")
    copy_of(tmp_path / "opt/lib", "8.9.7")
    one = framework("tensorflow", pin="")._replace(cudnn=Seen(CudnnVersion.parse("8.6"), "build_info"))
    found = look(RootHost(str(tmp_path)), environment(one))
    assert [ends(each) for each in found[:2]] == ["/opt/lib/libcudnn.so.8", "/opt/lib/libcudnn_ops_infer.so.8"]


def test_the_jax_plugin_opens_the_wheel_before_any_search(tmp_path: Path) -> None:
    asker(tmp_path, "jax_plugins/xla_cuda12/xla_cuda_plugin.so", needed="")
    write(tmp_path / SITE[1:] / "jax_plugins/xla_cuda12/__init__.py", '  _load("cudnn", ["libcudnn.so.9"])\n')
    wheel_of(tmp_path / SITE[1:])
    copy_of(tmp_path / "opt/lib", "9.5.1")
    host = RootHost(str(tmp_path), {"LD_LIBRARY_PATH": "/opt/lib"})
    found = look(host, environment(framework("jax-cuda12-plugin", pin="nvidia-cudnn-cu12>=9.8")))
    assert [ends(one).rpartition("/")[0] for one in found if "cudnn" in one.soname][:2] == [WHEEL, "/opt/lib"]


def test_preload_wins(tmp_path: Path) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath=_WHEEL_PATHS)
    wheel_of(tmp_path / SITE[1:])
    copy_of(tmp_path / "opt/lib", "9.5.1")
    host = RootHost(str(tmp_path), {"LD_PRELOAD": "/opt/lib/libcudnn.so.9"})
    found = look(host, environment(framework()))
    assert ends(found[0]) == "/opt/lib/libcudnn.so.9"
    assert found[0].way == Way(FoundBy.PRELOAD, entry="/opt/lib/libcudnn.so.9")


def test_what_torch_brings_along_is_intended(tmp_path: Path) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", needed="libcudnn.so.8", rpath="$ORIGIN")
    copy_of(tmp_path / SITE[1:] / "torch/lib", "8.5.0")
    found = look(RootHost(str(tmp_path)), environment(framework(pin="")))
    assert [(ends(one), one.is_as_intended) for one in found[:2]] == [
        (f"{SITE}/torch/lib/libcudnn.so.8", True),
        (f"{SITE}/torch/lib/libcudnn_ops_infer.so.8", True),
    ]


@pytest.mark.parametrize(("elsewhere", "missing"), [(False, True), (True, False)])
def test_on_an_image_missing_is_only_what_lies_nowhere(tmp_path: Path, elsewhere: bool, missing: bool) -> None:
    default_directories(tmp_path)
    asker(tmp_path, "onnxruntime/capi/libonnxruntime_providers_cuda.so")
    if elsewhere:
        copy_of(tmp_path / "usr/local/cuda/lib64", "9.10.2")
    found = look(RootHost(str(tmp_path)), environment(framework("onnxruntime-gpu", pin="")))
    assert [one.missing for one in found] == [missing]
    assert isinstance(found[0].path, Unseen)


@pytest.mark.parametrize("build", ["cpu", "cu128"])
def test_who_asks_for_no_cudnn_has_no_prediction(tmp_path: Path, build: str) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", needed="libc10.so" if build != "cpu" else "libcudnn.so.9")
    wheel_of(tmp_path / SITE[1:])
    one = framework()._replace(build=Seen(build, "test"))
    assert not [one for one in look(RootHost(str(tmp_path)), environment(one)) if one.is_cuda]


def _paddle(tmp_path: Path, *requires: str) -> Framework:
    core = elf_bytes("libpaddle.so", needed=("libphi.so",), runpath="$ORIGIN/../libs")
    write(tmp_path / SITE[1:] / "paddle/base/libpaddle.so", core)
    write(tmp_path / SITE[1:] / "paddle/libs/libphi.so", elf_bytes("libphi.so"))
    return framework("paddlepaddle-gpu")._replace(
        version="2.6.2",
        path=f"{SITE}/paddle",
        requires=Seen(requires, "METADATA"),
        cuda=Seen(CudaVersion(12, 3), "version.py"),
    )


def test_paddle_opens_names_for_linkers(tmp_path: Path) -> None:
    found = look(RootHost(str(tmp_path)), environment(_paddle(tmp_path, "numpy>=1.13")))
    assert {"libcublas.so", "libcusolver.so", "libcudnn.so"} <= {one.soname for one in found if one.missing}


def test_paddle_that_requires_wheels_opens_them_by_their_paths(tmp_path: Path) -> None:
    cublas = f"{SITE}/nvidia/cublas/lib/libcublas.so.12"
    write(tmp_path / cublas[1:], elf_bytes("libcublas.so.12"))
    found = look(RootHost(str(tmp_path)), environment(_paddle(tmp_path, "nvidia-cublas-cu12==12.3.4.1")))
    (own,) = (one for one in found if one.soname == "libcublas.so.12")
    assert own.path == Seen(cublas, own.path.how if isinstance(own.path, Seen) else "")


def test_damaged_libraries_are_no_askers(tmp_path: Path) -> None:
    write(tmp_path / SITE[1:] / "torch/lib/libtorch_global_deps.so", b"\x7fELF" + b"\xff" * 200)
    assert look(RootHost(str(tmp_path)), environment(framework())) == ()


_WHO_IS_MAPPED = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
ctypes.CDLL(sys.argv[2])
print(sorted({line.split()[-1] for line in open("/proc/self/maps") if "libcudnn" in line}))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}, reason="tiny libraries for two machines"
)
@pytest.mark.parametrize("library_path", ["", "opt", "nowhere:opt"])
@pytest.mark.parametrize("kind", ["rpath", "runpath", ""])
def test_the_real_loader_agrees(tmp_path: Path, kind: str, library_path: str) -> None:
    """The same files, opened by the loader of this machine in a child."""
    root = str(tmp_path)
    machine = platform.machine()
    paths = {"rpath": "", "runpath": "", kind: _WHEEL_PATHS}
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath=paths["rpath"], runpath=paths["runpath"])
    wheel_of(tmp_path / SITE[1:], machine=machine)
    copy_of(tmp_path / "opt", "9.5.1", machine=machine)
    value = ":".join(f"{root}/{one}" for one in library_path.split(":")) if library_path else ""
    program = Path(sys.executable).resolve()
    one = environment(framework(), root=root, interpreter=str(program))
    main = look(LiveHost({"LD_LIBRARY_PATH": value}), one)[0]
    library = str(tmp_path / SITE[1:] / "torch/lib/libtorch_global_deps.so")
    child = subprocess.run(
        [sys.executable, "-c", _WHO_IS_MAPPED, library, library],
        env={"LD_LIBRARY_PATH": value},
        capture_output=True,
        text=True,
    )
    loaded = child.stdout.strip() if child.returncode == 0 else "cannot open shared object file"
    if isinstance(main.path, Seen):
        assert loaded == str([main.path.value])
    else:
        assert main.missing
        assert loaded in child.stderr


def test_a_link_leads_to_the_real_file(tmp_path: Path) -> None:
    asker(tmp_path, "torch/lib/libtorch_global_deps.so", rpath="/opt/lib")
    copy_of(tmp_path / "store", "9.10.2", chain=True)
    (tmp_path / "opt").mkdir()
    link(tmp_path / "opt/lib", "/store")
    found = look(RootHost(str(tmp_path)), environment(framework(pin="")))
    assert ends(found[0]) == "/store/libcudnn.so.9.10.2"
