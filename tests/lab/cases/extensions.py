"""Compiled extensions of torch: built for other cards, linked with another CUDA; and those that fit."""

from __future__ import annotations

from tests.lab.case import Case, fault
from tests.lab.cases.healthy import TRITON
from tests.lab.elf_file import elf_bytes
from tests.lab.fatbin_file import container
from tests.lab.parts import WORKSTATION, Part, Tree, files, package, site_of, together, torch, without

_ASKED = ("libc10.so", "libtorch_cuda.so")
# What flash-attn asks of c10, by the releases of torch: to 2.6 with the old std::string, and of 2.9.
_OLD_CHECK = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
_CHECK = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_SET_DEVICE, _OLD_SET_DEVICE = "_ZN3c104cuda9SetDeviceEab", "_ZN3c104cuda9SetDeviceEa"
# torch 2.9.1's own c10, as far as extensions ask of it.
C10 = files({f"{site_of()}/torch/lib/libc10.so": elf_bytes("libc10.so", values={_CHECK: 1, _SET_DEVICE: 1})})


def extension(*targets: str, cudart: str = "libcudart.so.12", asks: tuple[str, ...] = ()) -> Part:
    """flash-attn as it is compiled at home: one module beside the packages."""
    content = elf_bytes(
        "flash_attn_2_cuda.so",
        needed=(*_ASKED, cudart),
        undefined=asks,
        rodata=container(*targets) * 3,
        rodata_name=".nv_fatbin",
    )
    tree: Tree = {"flash_attn/__init__.py": "", "flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so": content}
    return package("flash-attn", "2.8.3", tree, requires=("torch",))


def torchvision(version: str = "0.24.1+cu128", torch: str = "2.9.1") -> Part:
    """As the wheel of the package index: only version.py names the build."""
    tree: Tree = {"torchvision/__init__.py": "", "torchvision/version.py": f"__version__ = '{version}'\n"}
    return package("torchvision", version.partition("+")[0], tree, requires=(f"torch (=={torch})",))


def torchaudio(version: str, torch: str) -> Part:
    """The same of its sister."""
    tree: Tree = {"torchaudio/__init__.py": "", "torchaudio/version.py": f"__version__ = '{version}'\n"}
    return package("torchaudio", version.partition("+")[0], tree, requires=(f"torch (=={torch})",))


def xformers(version: str, torch: str, cuda: int = 1208) -> Part:
    """As its wheel: cpp_lib.json says its CUDA, 1208 for 12.8."""
    module = elf_bytes(
        "_C.so", needed=("libc10.so", "libtorch_cpu.so"), rodata=container("sm_80"), rodata_name=".nv_fatbin"
    )
    tree: Tree = {
        "xformers/__init__.py": "",
        "xformers/_C.so": module,
        "xformers/cpp_lib.json": f'{{"version": {{"cuda": {cuda}, "torch": "{torch}"}}, "env": {{}}}}',
    }
    return package("xformers", version, tree, requires=(f"torch=={torch}",))


def numba(version: str, numpy: str) -> Part:
    """Numba, whose metadata was read without its limit for NumPy, and NumPy."""
    tree: Tree = {"numba/__init__.py": "", "numba/_version.py": f"# {version}\n"}
    return together(package("numba", version, tree), package("numpy", numpy, {"numpy/__init__.py": ""}))


# A build for the CPU, as far as extensions ask of it: each library needs the one before it.
_OF_CPU = ("libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so")
CPU_TORCH = together(
    without(f"{site_of()}/torch*", f"{site_of()}/nvidia*"),
    torch("2.9.1+cpu"),
    files(
        {
            f"{site_of()}/torch/_C.cpython-312-x86_64-linux-gnu.so": elf_bytes(
                "_C.so", needed=_OF_CPU[-1:], rpath="$ORIGIN/lib"
            ),
            **{
                f"{site_of()}/torch/lib/{name}": elf_bytes(name, needed=_OF_CPU[max(at - 1, 0) : at], rpath="$ORIGIN")
                for at, name in enumerate(_OF_CPU)
            },
        }
    ),
)


# torch's wheel says of itself, besides its cuDNN, what compiles for it.
WITH_TRITON = package(
    "torch",
    "2.9.1+cu128",
    requires=("nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'", "triton==3.5.1; platform_system == 'Linux'"),
)


# Triton, which compiles a C module when it first uses a GPU, and the headers that it needs.
BUILDING = package("triton", "3.5.1", {**TRITON, "triton/backends/nvidia/driver.c": ""})
HEADERS = files({"/usr/include/python3.12/Python.h": ""})


def torchcodec(version: str, build: str = "") -> Part:
    """Its metadata asks for no torch; a library for each release of FFmpeg, of which one fits at most."""
    core = elf_bytes("libtorchcodec_core7.so", needed=("libtorch.so", "libc10.so", "libavcodec.so.61"))
    tree: Tree = {
        "torchcodec/__init__.py": "",
        "torchcodec/version.py": f"__version__ = '{version}{build}'\n",
        "torchcodec/libtorchcodec_core7.so": core,
    }
    return package("torchcodec", version, tree)


CASES: tuple[Case, ...] = (
    fault(
        "torchcodec-newest",
        "torchcodec asks for no torch, so the newest came, whose torch is 2.11 and newer",
        torchcodec("0.17.0", "+cu130"),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    Case(
        "torchcodec-that-fits",
        "torchcodec 0.9 beside torch 2.9.1, without the FFmpeg that its libraries are for",
        together(WORKSTATION, torchcodec("0.9.1")),
    ),
    fault(
        "numba-for-numpy-1",
        "numba 0.59 is compiled for the ABI of NumPy 1, and NumPy 2 is installed",
        numba("0.59.1", "2.2.6"),
        codes=("numpy-abi-mismatch",),
        first="numpy-abi-mismatch",
    ),
    Case("numba-for-both-numpys", "numba 0.60 is compiled for both", together(WORKSTATION, numba("0.60.0", "2.0.2"))),
    fault(
        "torchvision-left-behind",
        "torch was upgraded alone: torchvision 0.23 is made for torch 2.8",
        torchvision("0.23.0+cu128", "2.8.0"),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    fault(
        "torchvision-for-the-cpu",
        "torchvision comes from the index of CPU builds, torch from that of CUDA 12.8",
        torchvision("0.24.1+cpu"),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    fault(
        "torchaudio-for-cuda-13",
        "torchaudio 2.11 asks for no torch, so the newest came, which needs CUDA 13",
        package("torchaudio", "2.11.0", {"torchaudio/version.py": "__version__ = '2.11.0+cu130'\n"}),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    fault(
        "triton-uninstalled",
        "torch 2.9.1 without the triton that it requires",
        WITH_TRITON,
        codes=("companion-version-mismatch",),
    ),
    Case(
        "triton-installed",
        "the same with it",
        together(WORKSTATION, WITH_TRITON, package("triton", "3.5.1", TRITON)),
    ),
    fault(
        "triton-without-a-compiler",
        "Triton in a system without gcc and clang",
        BUILDING,
        package("liger-kernel", "0.6.2"),
        HEADERS,
        without("/usr/bin/gcc*"),
        codes=("jit-tools-missing",),
        first="jit-tools-missing",
        where="pretended",
    ),
    fault(
        "triton-without-headers",
        "Triton beside a Python without its headers",
        BUILDING,
        package("liger-kernel", "0.6.2"),
        codes=("jit-tools-missing",),
        first="jit-tools-missing",
    ),
    fault(
        "deepspeed-without-nvcc",
        "DeepSpeed, which compiles its operators, without a CUDA toolkit",
        package("deepspeed", "0.18.0"),
        without("/usr/local/cuda*"),
        codes=("jit-tools-missing",),
        first="jit-tools-missing",
    ),
    Case("triton-that-can-build", "Triton with a compiler and headers", together(WORKSTATION, BUILDING, HEADERS)),
    Case("deepspeed-with-nvcc", "DeepSpeed with a toolkit", together(WORKSTATION, package("deepspeed", "0.18.0"))),
    fault(
        "torchvision-and-torchaudio-left-behind",
        "torch was upgraded alone: both of its companions are made for torch 2.8",
        torchvision("0.23.0+cu128", "2.8.0"),
        torchaudio("2.8.0+cu128", "2.8.0"),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    Case(
        "torchvision-and-torchaudio-that-fit",
        "both are made for torch 2.9.1",
        together(WORKSTATION, torchvision(), torchaudio("2.9.1+cu128", "2.9.1")),
    ),
    fault(
        "xformers-for-another-torch-beside-torch-for-the-cpu",
        "xformers 0.0.32.post2 beside the CPU build of a torch that it is not made for",
        CPU_TORCH,
        xformers("0.0.32.post2", "2.8.0"),
        codes=("cpu-only-wheel",),
        first="cpu-only-wheel",
    ),
    Case("torchvision-that-fits", "torchvision 0.24.1 beside torch 2.9.1", together(WORKSTATION, torchvision())),
    Case(
        "torchvision-of-another-minor",
        "torchvision for CUDA 12.6 beside torch for CUDA 12.8, which it lets pass",
        together(WORKSTATION, torchvision("0.24.1+cu126")),
    ),
    fault(
        "extension-for-another-card",
        "flash-attn was compiled on a machine with an H100, the card is an RTX 4090",
        extension("sm_90"),
        codes=("extension-built-for-other-arch",),
        first="extension-built-for-other-arch",
    ),
    fault(
        "extension-left-behind",
        "torch moved to CUDA 12, flash-attn is still linked with CUDA 11",
        extension("sm_80", cudart="libcudart.so.11.0"),
        codes=("extension-built-for-other-cuda",),
        first="extension-built-for-other-cuda",
    ),
    fault(
        "extension-of-another-torch",
        "torch was upgraded, and flash-attn still asks for what torch 2.7 defined",
        C10,
        extension("sm_80", asks=(_CHECK, _OLD_SET_DEVICE)),
        codes=("extension-built-for-other-torch",),
        first="extension-built-for-other-torch",
    ),
    fault(
        "extension-of-another-abi",
        "flash-attn's wheel with cxx11abiFALSE beside a torch of the new std::string",
        C10,
        extension("sm_80", asks=(_OLD_CHECK, _SET_DEVICE)),
        codes=("extension-built-for-other-torch",),
        first="extension-built-for-other-torch",
    ),
    fault(
        "extension-beside-torch-for-the-cpu",
        "flash-attn for CUDA 12 beside a torch that came from the index of CPU builds",
        CPU_TORCH,
        extension("sm_80"),
        codes=("cpu-only-wheel", "needed-library-missing"),
        first="cpu-only-wheel",
    ),
    fault(
        "xformers-beside-torch-for-the-cpu",
        "xformers 0.0.33.post2 beside the CPU build of the torch that it is pinned to",
        CPU_TORCH,
        xformers("0.0.33.post2", "2.9.1"),
        codes=("cpu-only-wheel",),
        first="cpu-only-wheel",
    ),
    Case(
        "extension-of-this-torch",
        "flash-attn that asks for nothing but what this torch defines",
        together(WORKSTATION, C10, extension("sm_80", asks=(_CHECK, _SET_DEVICE))),
    ),
    Case(
        "extension-that-fits",
        "flash-attn with code for sm_80, which an RTX 4090 runs",
        together(WORKSTATION, extension("sm_80", "sm_90")),
    ),
)
