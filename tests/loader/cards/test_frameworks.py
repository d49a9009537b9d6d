"""What the readers tell of each framework, from files as the wheels have them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from compat.base.discover import load_one, names_in
from compat.version import CudaVersion
from doctor.host.root import RootHost
from doctor.loader import cards
from doctor.loader.cards import bitsandbytes
from doctor.loader.cards.torchaudio import CARD
from doctor.loader.steps import Package
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Place, Seen, Unseen
from doctor.pyenv.metadata import constants, requires
from tests import machine, wheels
from tests.lab.elf_file import elf_bytes
from tests.probes.tree import Tree, offline

VARIANTS = "https://variants-schema.wheelnext.dev/v0.0.3.json"
SITE = "/venv/lib/python3.12/site-packages"


def read(root: Path, name: str, version: str, tree: Tree) -> Framework:
    """Install one distribution as files and read it."""
    folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    planted = {f"{SITE}/{path}": content for path, content in tree.items()}
    planted.setdefault(f"{folder}/METADATA", planted.pop(f"{SITE}/METADATA", "Name: x\n"))
    one = Distribution(name, version, SITE, folder, "wheel", "")
    (found,) = cards.read_all(offline(root, planted), [one], "/venv")
    return found


def summary(found: Framework) -> tuple[str | None, str | None, str | None]:
    """Build, CUDA, cuDNN."""
    cuda, cudnn = found.cuda, found.cudnn
    return (
        found.build.value if isinstance(found.build, Seen) else None,
        str(cuda.value) if isinstance(cuda, Seen) else None,
        str(cudnn.value) if isinstance(cudnn, Seen) else None,
    )


PIN = 'Name: torch\nRequires-Dist: nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"\n\nRequires-Dist: no==1\n'
OLD_PIN = 'Requires-Dist: nvidia-cudnn-cu11 (==8.5.0.96) ; platform_system == "Linux"\n'
CUDA = """from typing import Optional
__version__ = '2.9.1+cu128'
debug = False
cuda: Optional[str] = '12.8'
hip: Optional[str] = None
"""
LIB = "torch/lib/libtorch_cuda.so"


@pytest.mark.parametrize(
    ("version", "tree", "expected", "full"),
    [
        ("2.9.1", {"METADATA": PIN, "torch/version.py": CUDA, LIB: ""}, ("cu128", "12.8", "9.10.2.21"), "2.9.1+cu128"),
        (
            "1.13.1",
            {"METADATA": OLD_PIN, "torch/version.py": "__version__ = '1.13.1+cu117'\ncuda = '11.7'\nhip = None\n"},
            ("cu117", "11.7", "8.5.0.96"),
            "1.13.1+cu117",
        ),
        (
            "1.0.0",
            {"torch/version.py": "__version__ = '1.0.0'\ndebug = False\ncuda = '9.0.176'\n"},
            ("cu90", "9.0", None),
            "1.0.0",
        ),
        (
            "1.12.1+cu102",
            {"torch/version.py": "cuda = '10.2'\nhip = None\n", "torch/lib/libcudnn.so.7": "", LIB: ""},
            ("cu102", "10.2", "7"),
            "1.12.1+cu102",
        ),
        (
            "2.4.0+cu124",
            {"torch/version.py": "cuda = '12.4'\nhip = None\n", "torch/lib/cudnn64_9.dll": "", LIB: ""},
            ("cu124", "12.4", "9"),
            "2.4.0+cu124",
        ),
        (
            "2.13.0",
            {"torch/version.py": "__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\nhip = None\nxpu = None\n"},
            ("cpu", None, None),
            "2.13.0+cpu",
        ),
        (
            "2.9.0",
            {"torch/version.py": "__version__ = '2.9.0+rocm6.4'\ncuda = None\nhip = '6.4.43482-0f2d60242'\n"},
            ("rocm6.4", None, None),
            "2.9.0+rocm6.4",
        ),
        (
            "2.9.0",
            {"torch/version.py": "__version__ = '2.9.0+xpu'\ncuda = None\nhip = None\nxpu = '20250101'\n"},
            ("xpu", None, None),
            "2.9.0+xpu",
        ),
        ("2.9.1+cu128", {}, ("cu128", "12.8", None), "2.9.1+cu128"),
        ("2.9.1+cpu", {}, ("cpu", None, None), "2.9.1+cpu"),
        ("2.9.1+rocm6.4", {}, ("rocm6.4", None, None), "2.9.1+rocm6.4"),
        ("2.9.1", {}, (None, None, None), "2.9.1"),
        ("2.9.1", {"torch/version.py": "cuda = 'banana'\n"}, (None, None, None), "2.9.1"),
        ("2.9.1", {"torch/version.py": os.urandom(2000)}, (None, None, None), "2.9.1"),
    ],
)
def test_torch(tmp_path: Path, version: str, tree: Tree, expected: tuple[str, ...], full: str) -> None:
    found = read(tmp_path, "torch", version, tree)
    assert summary(found) == expected
    assert (found.version, found.path) == (full, f"{SITE}/torch")


@pytest.mark.parametrize(
    ("schema", "variants", "note"),
    [
        ("", {}, ""),
        (
            VARIANTS,
            {"cu128": {"nvidia": {"cuda_version_lower_bound": ["12.8"]}}},
            "the wheel variant cu128: nvidia :: cuda_version_lower_bound :: 12.8",
        ),
        (VARIANTS, {"null": {}}, "the wheel variant null"),
        (VARIANTS, {"a": {}, "b": {}}, "which one is unknown: /venv"),
        (VARIANTS, {"a": ["b"]}, "which one is unknown: their description"),
        ("https://example/v9.json", {"a": {}}, "which one is unknown: their schema"),
    ],
)
def test_which_variant_a_wheel_is(tmp_path: Path, schema: str, variants: dict[str, Any], note: str) -> None:
    said = json.dumps({"$schema": schema, "variants": variants})
    described = {"torch-2.9.1.dist-info/variant.json": said} if schema else {}
    found = read(tmp_path, "torch", "2.9.1", {"torch/version.py": CUDA, LIB: "", **described})
    assert note in found.note
    assert bool(note) == bool(found.note)
    assert found.build == Seen("cu128", Place(f"{SITE}/torch/version.py"))


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({"torch/version.py": CUDA, LIB: ""}, ""),
        ({"torch/version.py": CUDA, "torch/lib/libtorch_cpu.so": ""}, "has no CUDA library"),
        ({"torch/version.py": CUDA.replace("2.9.1", "2.8.0"), LIB: ""}, "two releases lie over each other"),
    ],
)
def test_torch_that_does_not_fit_together(tmp_path: Path, tree: Tree, says: str) -> None:
    note = read(tmp_path, "torch", "2.9.1", tree).note
    assert says in note
    assert bool(says) == bool(note)


def info(*pairs: tuple[str, object]) -> str:
    return f'"""Auto-generated."""\nimport collections\n\nbuild_info = collections.OrderedDict({list(pairs)!r})\n'


INFO = "tensorflow/python/platform/build_info.py"
OLD_INFO = """msvcp_dll_name = 'msvcp140.dll'
cudart_dll_name = 'cudart64_90.dll'
cuda_version_number = '9.0'
cudnn_dll_name = 'cudnn64_7.dll'
cudnn_version_number = '7'
"""
SMS = ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"]


@pytest.mark.parametrize(
    ("name", "text", "expected", "targets"),
    [
        (
            "tensorflow",
            info(
                ("cuda_compute_capabilities", SMS),
                ("cuda_version", "12.5.1"),
                ("cudnn_version", "9"),
                ("is_cuda_build", True),
                ("is_rocm_build", False),
            ),
            ("cuda", "12.5", "9"),
            "sm_60 sm_70 sm_80 sm_89 sm_90 compute_90",
        ),
        (
            "tensorflow-gpu",
            info(("cuda_version", "64_112"), ("cudnn_version", "64_8"), ("is_cuda_build", True)),
            ("cuda", "11.2", "8"),
            None,
        ),
        ("tensorflow", info(("cuda_version", "64_101"), ("cudnn_version", "64_7"), ("is_cuda_build", True)),
         ("cuda", "10.1", "7"), None),
        ("tensorflow-gpu", info(("cuda_version", "10"), ("cudnn_version", "7"), ("is_cuda_build", True)),
         ("cuda", None, "7"), None),
        ("tensorflow", info(("is_cuda_build", False), ("is_rocm_build", False)), ("cpu", None, None), None),
        ("tensorflow-rocm", info(("is_cuda_build", False), ("is_rocm_build", True)), ("rocm", None, None), None),
        (
            "tensorflow-gpu",
            OLD_INFO,
            ("cuda", "9.0", "7"),
            None,
        ),
        ("tensorflow-gpu", "is_rocm_build = False\nis_cuda_build = True\ncuda_version_number = \"10.1\"\n",
         ("cuda", "10.1", None), None),
        ("tensorflow-gpu", None, ("cuda", None, None), None),
        ("tensorflow-cpu", None, ("cpu", None, None), None),
        ("tensorflow", None, (None, None, None), None),
        ("tensorflow", "import os\n" * 100, (None, None, None), None),
        ("tf-nightly", info(("cuda_version", "12.5.1"), ("is_cuda_build", True)), ("cuda", "12.5", None), None),
    ],
)  # fmt: skip
def test_tensorflow(
    tmp_path: Path, name: str, text: str | None, expected: tuple[str, ...], targets: str | None
) -> None:
    found = read(tmp_path, name, "2.0.0", {INFO: text} if text is not None else {})
    assert summary(found) == expected
    assert (" ".join(map(str, found.targets.value)) if isinstance(found.targets, Seen) else None) == targets


RELEASED = "_version = '0.4.13'\n_release_version: str = '{}'\n"
WHEEL = {"cuda": "12.x", "packaging": "pip", "cudnn": {"version": "8.8.1", "filenames": []}}
PADDLE = (
    "full_version    = '2.5.1'\ncuda_version    = '{}'\ncudnn_version   = '{}'\ncompiled_cuda_archs = [70, 80, 90]\n"
)
ORT = "package_name = '{}'\n__version__ = '1.22.0'\ncuda_version = '12.8'\ncudart_version = 12080\n"
CAPI = "onnxruntime/capi"
ORT_INFO = f"{CAPI}/build_and_package_info.py"
PROVIDER = f"{CAPI}/libonnxruntime_providers_cuda.so"
SHARED = f"{CAPI}/libonnxruntime_providers_shared.so"
LIBRARY = {
    "version": {"cuda": 1208, "hip": None, "torch": "2.7.1+cu126"},
    "env": {"TORCH_CUDA_ARCH_LIST": "7.5 8.0+PTX 9.0a"},
}


@pytest.mark.parametrize(
    ("name", "version", "tree", "expected"),
    [
        ("jax", "0.7.2", {}, ("", None, None)),
        ("tensorrt-cu12-bindings", "11.4.0.106", {}, ("", None, None)),
        ("jax-cuda12-plugin", "0.7.2", {}, ("cuda", None, None)),
        ("jax-cuda13-pjrt", "0.7.2", {}, ("cuda", None, None)),
        ("jax-rocm60-plugin", "0.6.0", {}, ("rocm60", None, None)),
        ("jaxlib", "0.7.2", {"jaxlib/version.py": RELEASED.format("0.7.2")}, ("cpu", None, None)),
        ("jaxlib", "0.4.13+cuda12.cudnn89", {}, ("cuda12.cudnn89", None, "8.9")),
        ("jaxlib", "0.4.13", {"jaxlib/version.py": RELEASED.format("0.4.13+cuda11.cudnn86")},
         ("cuda11.cudnn86", None, "8.6")),
        ("jaxlib", "0.1.57+cuda110", {}, ("cuda110", "11.0", None)),
        ("jaxlib", "0.3.2+cuda11.cudnn805", {}, ("cuda11.cudnn805", None, "8.0.5")),
        ("cupy-cuda12x", "13.6.0", {"cupy/.data/_wheel.json": json.dumps(WHEEL)}, ("cuda", None, "8.8.1")),
        ("cupy-cuda13x", "14.2.0", {"cupy/.data/_wheel.json": '{"cuda": "13.x"}'}, ("cuda", None, None)),
        ("cupy-cuda112", "9.0.0", {"cupy/.data/_wheel.json": "[" * 90_000}, ("cuda", "11.2", None)),
        ("cupy-cuda101", "7.8.0", {"cupy/.data/lib/libcudnn.so.7": ""}, ("cuda", "10.1", "7")),
        ("cupy-rocm-5-0", "12.0.0", {}, ("rocm5.0", None, None)),
        ("cupy", "13.6.0", {}, ("cuda", None, None)),
        ("onnxruntime", "1.20.1", {SHARED: ""}, ("cpu", None, None)),
        ("onnxruntime-gpu", "1.20.1", {SHARED: "", PROVIDER: ""}, ("cuda", None, None)),
        ("onnxruntime-gpu", "1.22.0", {PROVIDER: "", ORT_INFO: ORT.format("onnxruntime-gpu")},
         ("cuda", "12.8", None)),
        ("onnxruntime-gpu", "1.22.0", {SHARED: ""}, ("cpu", None, None)),
        ("onnxruntime-gpu", "1.2.0", {f"{CAPI}/onnxruntime_pybind11_state.so": ""}, ("cuda", None, None)),
        ("onnxruntime-directml", "1.22.0", {f"{CAPI}/DirectML.dll": ""}, ("directml", None, None)),
        ("onnxruntime-gpu", "1.22.0", {}, (None, None, None)),
        ("paddlepaddle-gpu", "2.5.1", {"paddle/version/__init__.py": PADDLE.format("11.8", "8.6.0")},
         ("cu118", "11.8", "8.6.0")),
        ("paddlepaddle", "2.5.1", {"paddle/version/__init__.py": PADDLE.format("False", "False")}, ("cpu", None, None)),
        ("paddlepaddle-gpu", "1.7.0.post97", {"paddle/version.py": "x = 1"}, ("cuda", None, None)),
        ("mxnet-cu112", "1.9.1", {}, ("cu112", "11.2", None)),
        ("mxnet-cu90mkl", "1.4.0", {}, ("cu90", "9.0", None)),
        ("mxnet", "1.9.1", {}, ("cpu", None, None)),
        ("theano", "1.0.5", {}, ("", None, None)),
        ("keras", "3.10.0", {}, ("", None, None)),
        ("tf-keras", "2.19.0", {}, ("", None, None)),
        ("numba", "0.61.0", {}, ("", None, None)),
        ("triton", "3.3.0", {"triton/backends/nvidia/include/cuda.h": "//\n#define CUDA_VERSION 12080\n"},
         ("", "12.8", None)),
        ("triton", "3.3.0", {"triton/backends/nvidia/include/cuda.h": ""}, ("", None, None)),
        ("pytorch-triton", "3.0.0", {}, ("", None, None)),
        ("xformers", "0.0.31", {"xformers/cpp_lib.json": json.dumps(LIBRARY)}, ("cu128", "12.8", None)),
        ("xformers", "0.0.31", {"xformers/cpp_lib.json": '{"version": {"cuda": null}, "env": {}}'},
         ("cpu", None, None)),
        ("xformers", "0.0.31", {"xformers/cpp_lib.json": '{"version": []}'}, (None, None, None)),
        ("flash-attn", "2.8.3+cu12torch2.8cxx11abitrue", {}, ("cu12", None, None)),
        ("flash-attn", "2.5.0+cu122torch2.2cxx11abifalse", {}, ("cu122", "12.2", None)),
        ("flash-attn", "2.8.3", {}, ("cuda", None, None)),
        ("bitsandbytes", "0.45.5", {"bitsandbytes/libbitsandbytes_cuda128.so": ""}, ("cuda", None, None)),
        ("bitsandbytes", "0.45.5", {"bitsandbytes/libbitsandbytes_cpu.so": ""}, ("cpu", None, None)),
        ("vllm", "0.10.0", {}, ("cuda", None, None)),
        ("vllm", "0.10.0+cu118", {}, ("cu118", "11.8", None)),
        ("vllm", "0.10.0+cpu", {}, ("cpu", None, None)),
    ],
)  # fmt: skip
def test_builds(tmp_path: Path, name: str, version: str, tree: Tree, expected: tuple[str, ...]) -> None:
    assert summary(read(tmp_path, name, version, tree)) == expected


def test_targets_and_companions_of_xformers(tmp_path: Path) -> None:
    found = read(tmp_path, "xformers", "0.0.31", {"xformers/cpp_lib.json": json.dumps(LIBRARY)})
    assert " ".join(map(str, found.targets.get())) == "sm_75 sm_80 compute_80 sm_90a"
    assert found.note == "built for torch 2.7.1+cu126"


def test_targets_of_paddle(tmp_path: Path) -> None:
    tree: Tree = {"paddle/version/__init__.py": PADDLE.format("11.8", "8.6.0")}
    found = read(tmp_path, "paddlepaddle-gpu", "2.5.1", tree)
    assert " ".join(map(str, found.targets.get())) == "sm_70 sm_80 sm_90"


def test_the_directory_belongs_to_another_onnxruntime(tmp_path: Path) -> None:
    tree: Tree = {ORT_INFO: ORT.format("onnxruntime-gpu"), PROVIDER: ""}
    assert (
        read(tmp_path, "onnxruntime", "1.22.0", tree).note == "the files in its directory are those of onnxruntime-gpu"
    )


def test_libraries_of_bitsandbytes(tmp_path: Path) -> None:
    tree: Tree = {f"bitsandbytes/libbitsandbytes_cuda{digits}.so": "" for digits in ("118", "128", "117")}
    assert read(tmp_path, "bitsandbytes", "0.45.5", tree).note == "has libraries for CUDA 11.7, 11.8, 12.8"


@pytest.mark.parametrize(
    ("section", "expected"),
    [(".nv_fatbin", ""), (".rodata", "cpu"), (None, "")],  # an ARM wheel; one built here
)
def test_ctranslate2(tmp_path: Path, section: str | None, expected: str) -> None:
    name = "ctranslate2.libs/libctranslate2-a7a60d30.so.4.8.5"
    tree: Tree = {name: elf_bytes(name, rodata_name=section)} if section else {"ctranslate2/__init__.py": ""}
    found = read(tmp_path, "ctranslate2", "4.8.5", tree)
    assert found.build.get() == expected
    assert isinstance(found.cuda, Unseen)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ('nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"', True),
        ("nvidia-cudnn-cu12==9.10.2.21 ; platform_system == 'Linux' and platform_machine == 'x86_64'", True),
        ("nvidia-cudnn-cu12==9; platform_machine == 'aarch64'", False),
        ("nvidia-cudnn-cu12==9; sys_platform == 'win32'", False),
        ("nvidia-cudnn-cu12==9; sys_platform != 'win32' and (python_version < '3.13' or os_name == 'nt')", True),
        ("triton==3.0; python_version >= '3.13'", False),
        ("triton==3.0; python_version >= '3.9' and python_version < '3.13'", True),
        ("nvidia-cudnn-cu12==9; extra == 'cuda'", False),
        ("nvidia-cudnn-cu12==9; sys_platform == 'linux' and extra == 'with-cuda'", False),
        ("nvidia-cudnn-cu12==9; implementation_name == 'cpython'", True),
        ("nvidia-cudnn-cu12==9; 'linux' in sys_platform", True),
        ("nvidia-cudnn-cu12==9; sys_platform not in 'linux darwin'", False),
        ("nvidia-cudnn-cu12==9; ((((", True),
        ("numpy>=2", False),
        ('cuda-toolkit[cublas,cudart]==13.0.2; platform_system == "Linux"', True),
    ],
)
def test_requirements_that_hold_here(tmp_path: Path, line: str, *, kept: bool) -> None:
    tree: Tree = {f"{SITE}/torch-2.dist-info/METADATA": f"Requires-Dist: {line}\n", "lib64/ld-linux-x86-64.so.2": ""}
    one = Distribution("torch", "2", SITE, f"{SITE}/torch-2.dist-info", "wheel", "")
    found = requires(offline(tmp_path, tree), one).get()
    assert found == ((re.sub(r"\s", "", line.partition(";")[0]),) if kept else ())


def test_what_nvidias_metapackage_pins_for_the_extras_that_are_asked_for(tmp_path: Path) -> None:
    """METADATA of torch 2.15.0 and cuda-toolkit 13.2.2, shortened."""
    toolkit = """Name: cuda-toolkit
Requires-Dist: nvidia-cublas==13.4.1.3.*; (platform_machine == 'x86_64') and extra == 'all'
Requires-Dist: nvidia-cublas==13.4.1.3.*; (sys_platform == 'linux' or sys_platform == 'win32') and extra == 'cublas'
Requires-Dist: nvidia-cuda-nvrtc==13.2.86.*; (sys_platform == 'linux') and extra == 'cublas'
Requires-Dist: nvidia-cufft==12.2.0.57.*; (sys_platform == 'win32') and extra == 'nvrtc'
Requires-Dist: nvidia-cuda-nvrtc==13.2.86.*; (sys_platform == 'linux') and extra == 'nvrtc'
Requires-Dist: nvidia-npp==13.1.0.59.*; (sys_platform == 'linux') and extra == 'npp'
"""
    asked = 'cuda-toolkit[cublas,nvrtc]==13.2.2; platform_system == "Linux"'
    tree: Tree = {
        "lib64/ld-linux-x86-64.so.2": b"",
        f"{SITE}/torch-2.15.0.dist-info/METADATA": f"Name: torch\nRequires-Dist: {asked}\n",
    }
    one = Distribution("torch", "2.15.0", SITE, f"{SITE}/torch-2.15.0.dist-info", "wheel", "")
    itself = "cuda-toolkit[cublas,nvrtc]==13.2.2"
    assert requires(offline(tmp_path / "without", tree), one).get() == (itself,)
    both = {**tree, f"{SITE}/cuda_toolkit-13.2.2.dist-info/METADATA": toolkit}
    found = requires(offline(tmp_path / "with", both), one).get()
    assert found == (itself, "nvidia-cublas==13.4.1.3.*", "nvidia-cuda-nvrtc==13.2.86.*")


def test_requirements_of_an_egg(tmp_path: Path) -> None:
    tree: Tree = {f"{SITE}/x-1.egg-info/requires.txt": "torch>=1.0\nsix\n\n[extra]\njax\n"}
    one = Distribution("x", "1", SITE, f"{SITE}/x-1.egg-info", "egg-info", "")
    assert requires(offline(tmp_path, tree), one).get() == ("torch>=1.0",)


@pytest.mark.parametrize("content", [b"\xff\xfe" * 1000, b"Requires-Dist: " * 60_000, b"", b"\0" * 5000])
def test_damaged_metadata_never_raises(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, "torch", "2.9.1", {"METADATA": content}).requires.get() == ()


def test_a_huge_metadata_is_read_in_part(tmp_path: Path) -> None:
    tree: Tree = {"METADATA": PIN, "torch/version.py": CUDA, LIB: ""}
    read(tmp_path, "torch", "2.9.1", tree)
    for name in ("torch-2.9.1.dist-info/METADATA", "torch/version.py"):
        with (tmp_path / SITE.lstrip("/") / name).open("r+b") as stream:
            stream.truncate(2 << 30)
    one = Distribution("torch", "2.9.1", SITE, f"{SITE}/torch-2.9.1.dist-info", "wheel", "")
    (found,) = cards.read_all(RootHost(str(tmp_path)), [one], "/venv")
    assert summary(found) == ("cu128", "12.8", "9.10.2.21")


def test_missing_metadata_is_unseen(tmp_path: Path) -> None:
    one = Distribution("torch", "2", SITE, f"{SITE}/torch-2.dist-info", "wheel", "")
    assert isinstance(requires(offline(tmp_path, {}), one), Unseen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = '1'", {"a": "1"}),
        ('a: Optional[str] = "1"  # why', {"a": "1"}),
        ("__version__ = version = '0.10.0'", {"__version__": "0.10.0"}),
        ("a = None", {"a": "None"}),
        ("a = False # no", {"a": "False"}),
        ("a = 12080", {"a": "12080"}),
        ("a = [1, 2]", {"a": "[1, 2]"}),
        ("a == '1'", {}),
        ("    a = '1'", {}),
        ("a = '1\na = f()\nb = 'x' + 'y'", {"b": "x"}),
        ("if a = '1'", {}),
        ("a = '1'\na = '2'", {"a": "1"}),
    ],
)
def test_constants_are_read_without_running(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    assert constants(offline(tmp_path, {"x.py": text}), "/x.py") == expected


GUARDED = "if cuda_nvcc.__file__ is not None: ...\nfor path in cuda_nvcc.__path__: ..."


@pytest.mark.parametrize(
    ("code", "wheel", "refused"),
    [
        ("return str(pathlib.Path(cuda_nvcc.__file__).parent)", "bin/ptxas", True),  # jax 0.4.35, the wheel of 12.9
        ("return str(pathlib.Path(cuda_nvcc.__file__).parent)", "__init__.py", False),  # the wheel of 12.8
        (GUARDED, "bin/ptxas", False),  # jax 0.4.36
        ("", "bin/ptxas", False),
    ],
)
def test_jax_that_takes_the_file_of_a_wheel_for_granted(tmp_path: Path, code: str, wheel: str, refused: bool) -> None:
    text = f"def f():\n  from nvidia import cuda_nvcc\n  {code}\n" if code else ""
    tree: Tree = {"jax/_src/lib/__init__.py": text, f"nvidia/cuda_nvcc/{wheel}": ""}
    found = read(tmp_path, "jax", "0.4.35", tree)
    assert found.fails_unless == (("nvidia-cuda-nvcc-cu12<12.9",) if refused else ())


def test_cards_serve_what_their_file_is_found_for(tmp_path: Path) -> None:
    """Each distribution that a card names leads to the card's own module."""
    modules = {name.replace("_", "-"): name for name in names_in(cards)}
    assert modules
    for name in modules.values():
        card = load_one(cards, name, "CARD", cards.Card)
        for served in card.distributions:
            found = cards._module_for(served.replace("*", "x").rstrip("-"), modules)
            assert load_one(cards, found, "CARD", cards.Card) is card, served  # a module may be another name


@pytest.mark.parametrize("name", ["tensorflow-estimator", "jaxtyping", "torchmetrics", "keras-hub", "cupy-xarray"])
def test_neighbours_by_name_are_no_frameworks(tmp_path: Path, name: str) -> None:
    one = Distribution(name, "1", SITE, f"{SITE}/x-1.dist-info", "wheel", "")
    assert cards.read_all(offline(tmp_path, {}), [one], "/venv") == ()


# Real wheels


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "only", "expected", "requirements"),
    [
        ("jax==0.7.2", (), ("", None, None), "jaxlib<=0.7.2,>=0.7.2"),
        ("jaxlib==0.7.2", ("jaxlib/version.py",), ("cpu", None, None), ""),
        ("jax-cuda12-plugin==0.7.2", (), ("cuda", None, None), "jax-cuda12-pjrt==0.7.2"),
        ("cupy-cuda12x==13.6.0", ("cupy/.data", "cupy/_version.py"), ("cuda", None, "8.8.1"), ""),
        ("onnxruntime==1.20.1", (), ("cpu", None, None), ""),
        ("onnxruntime-gpu==1.22.0", (), ("cuda", "12.2", None), ""),
        ("tensorflow-cpu==2.15.1", ("tensorflow/python/platform",), ("cpu", None, None), "keras<2.16,>=2.15.0"),
        ("keras==3.10.0", (), ("", None, None), ""),
        ("triton==3.3.0", ("triton/backends/nvidia/include",), ("", "12.8", None), ""),
        ("xformers==0.0.31", ("xformers/cpp_lib.json",), ("cu128", "12.8", None), "torch==2.7.1"),
        ("bitsandbytes==0.45.5", (), ("cuda", None, None), "torch<3,>=2.0"),
    ],
)
def test_real_wheels(
    tmp_path: Path, requirement: str, only: tuple[str, ...], expected: tuple[str, ...], requirements: str
) -> None:
    wheel = wheels.fetch(requirement)
    name, _, version = requirement.partition("==")
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    wheels.unpack(wheel, tmp_path / "site", (*only, info) if only else ())
    one = Distribution(name, version, "/site", f"/site/{info}", "wheel", "")
    (found,) = cards.read_all(RootHost(str(tmp_path)), [one], "/venv")
    assert summary(found) == expected
    assert found.version == version
    assert (tmp_path / found.path.lstrip("/")).is_dir()
    assert set(requirements.split()) <= set(found.requires.get())
    assert bool(requirements) == bool(found.requires.get())


def test_the_sox_part_of_torchaudio_is_not_opened_by_its_import(tmp_path: Path) -> None:
    """torchaudio 2.8.0 has one that needs SoX of the system; torchaudio 2.11.0 names its own by the ABI."""
    names = (
        "_torchaudio.so",
        "_torchaudio_sox.so",
        "libtorchaudio.so",
        "libtorchaudio_sox.so",
        "libtorchaudio.abi3.so",
    )
    tree: Tree = {f"{SITE}/torchaudio/lib/{name}": b"" for name in names}
    audio = machine.framework("torchaudio", "2.8.0", path=f"{SITE}/torchaudio")
    there = Package(offline(tmp_path, tree), audio, machine.environment(audio))
    assert CARD.loading
    opened = {path.rpartition("/")[2] for step in CARD.loading.steps(there) for path in step.opens}
    assert opened == {"_torchaudio.so", "libtorchaudio.so", "libtorchaudio.abi3.so"}


@pytest.mark.parametrize(
    ("version", "has", "cuda", "opened"),
    [
        ("0.50.2", ("126", "128", "130"), "12.9", "128"),
        ("0.50.2", ("126", "128", "130"), "12.4", "126"),
        ("0.50.2", ("126", "128", "130"), "12.8", "128"),
        ("0.50.2", ("130",), "12.8", ""),
        ("0.49.0", ("126", "128"), "12.9", ""),
        ("0.40.1", ("117", "118"), "11.8", "118"),
        ("0.40.0.post4", ("117", "118"), "11.8", ""),
    ],
)
def test_the_library_that_bitsandbytes_opens(
    tmp_path: Path, version: str, has: tuple[str, ...], cuda: str, opened: str
) -> None:
    """Where there is none for torch's CUDA, the nearest of its major; before 0.40.1 that of a libcudart.so it finds."""
    tree: Tree = {f"{SITE}/bitsandbytes/libbitsandbytes_cuda{one}.so": b"" for one in has}
    base = machine.framework("torch", "2.9.0", path=f"{SITE}/torch", cuda=machine.seen(CudaVersion.parse(cuda)))
    own = machine.framework("bitsandbytes", version, path=f"{SITE}/bitsandbytes")
    there = Package(offline(tmp_path, tree), own, machine.environment(base, own))
    steps = tuple(bitsandbytes.steps(there))
    opens = [path for step in steps for path in step.opens if "libbitsandbytes" in path]
    assert [path.rpartition("cuda")[2] for path in opens] == ([f"{opened}.so"] if opened else [])
