"""Libraries of CUDA and of the system: not found, of another release, or not for this C library."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.decide._words import JETSON, TOOLKIT
from doctor.messages.signature import Means

_MISSING, _OTHER_CUDA, _EXTENSION, _CUBLAS = (
    "cudart-soname-missing",
    "framework-wants-other-cuda",
    "extension-built-for-other-cuda",
    "cublas-mismatch",
)
_BUILT_EXTENSION = (
    r"import \w*_cuda\b|_C\.cpython|_C\.so|\w+_cuda\.\w*so|_ext\.|selective_scan|flash_attn|xformers|deepspeed"
    r"|apex|mmcv|detectron2|torchvision|torchaudio|bitsandbytes"
)


def absent(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The name of a library of CUDA that the loader did not find; its number is the CUDA that is asked for."""
    name = found["lib"] or found["tf"] or found["finder"]
    if clues.has(JETSON) or clues.has(r"aarch64"):
        yield Means("jetson-wrong-wheel", f"a wheel that is not built for this Jetson needs {name}", 0.7)
    if re.search(r"nvrtc", name, re.IGNORECASE):
        yield Means("nvrtc-missing", f"{name} is not found", 0.93)
        return
    if clues.has(_BUILT_EXTENSION) and not clues.has(r"tensorflow"):
        yield Means(_EXTENSION, f"a compiled extension needs {name}, from another CUDA than the framework's", 0.8)
    if clues.has(TOOLKIT) and not clues.has(_BUILT_EXTENSION):
        yield Means(_OTHER_CUDA, f"the program needs {name}, but another CUDA is installed", 0.9)
    yield Means(_MISSING, f"{name}, which the program opens by name, was not found", 0.88)


def not_loaded(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """JAX names the library by its product; where LD_LIBRARY_PATH is set, an older one may come first."""
    name = found["name"]
    if clues.has(r"LD_LIBRARY_PATH"):
        yield Means("ld-library-path-shadowing", f"LD_LIBRARY_PATH may point to another {name} than JAX needs", 0.85)
    if name == "cuDNN":
        yield Means("cudnn-missing", "JAX's plugin does not find cuDNN, or not all of it", 0.9)
    else:
        says = f"JAX's plugin cannot open {name}, or one that {name} needs"
        yield Means(_MISSING, says, 0.86, mends=_JAX)


_JAX = (
    'Reinstall JAX with its own CUDA libraries: `python -m pip install -U "jax[cuda12]"` (`jax[cuda13]` for CUDA 13). '
    "If LD_LIBRARY_PATH is set, first try without it: `env -u LD_LIBRARY_PATH python ...`."
)


def tensorrt(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """TensorRT names what it was linked with and what was loaded."""
    code = "cudnn-version-mismatch-loaded-vs-compiled" if found["name"] == "cuDNN" else _CUBLAS
    if found["name"]:
        what = f"{found['name']} {found['loaded']} is loaded, but TensorRT was linked with {found['built']}"
        yield Means(code, what, 0.85)
    else:
        yield Means(_CUBLAS, "TensorRT runs with other libraries of CUDA than it was compiled with", 0.8)


def needed(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The linker's and Paddle's words for a library that is not found, one or several with semicolons."""
    name = found[1] or found.groupdict().get("name") or ""
    if re.search(r"mklml|nvinfer", name):
        return
    code = "cudnn-missing" if "cudnn" in name else "nvrtc-missing" if "nvrtc" in name else _MISSING
    if "cuda.so" in name or "nvcuda" in name:
        code = "driver-libraries-missing"
    windows = clues.has(r"error code is 126") and clues.has(r"\bv?1\d\.\d\\bin|nvcc|CUDA Version:")
    if windows:
        yield Means("windows-dll-path", f"Windows did not find {name}, or a DLL that it needs", 0.7)
    yield Means(code, f"{name} is not found", 0.88)


def lacking(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Who asks a library of CUDA for what it does not have: an extension of another build, or the framework itself."""
    who, symbol = found["who"], found["symbol"]
    if not re.match(r"lib(?:torch|c10|tensorflow|caffe2|cu|nv|nccl|mxnet|onnxruntime|jax)", who):
        yield Means(_EXTENSION, f"{who} is built for another CUDA: the loaded libraries lack {symbol}", 0.9)
    elif symbol.startswith("nccl"):
        says = f"{who} needs {symbol}, but another NCCL than its own is loaded"
        yield Means("pip-nvidia-wheels-conflict", says, 0.8)
        yield Means("ld-library-path-shadowing", f"{says}: LD_LIBRARY_PATH may point to it", 0.6)


_TORCHS_OWN = r"libtorch(?:_cpu|_cuda|_cuda_linalg|_python|_nvshmem|_global_deps)?|libc10(?:_cuda)?|libcaffe2\w*"


def of_torch(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Whose library asks torch for a name that it does not define: torch's own, a follower's, or an extension's."""
    path, who = found["path"] or "", found["who"]
    if path.endswith("torch/lib/") or re.fullmatch(_TORCHS_OWN, who):
        yield Means("corrupted-install", "torch's files come from two versions: one was installed over the other", 0.8)
        return
    if re.search(r"torch(?:vision|audio|text)", path + who):
        yield Means("companion-version-mismatch", "a package beside torch was built for another torch version", 0.9)
    old = "Ss" in found["symbol"] and "cxx11" not in found["symbol"]
    abi = ", with the old ABI of std::string" if old else ""
    name = f"{path.rstrip('/').rpartition('/')[2]}/{who.partition('.')[0]}".lstrip("/")
    says = f"{name} was built for another torch{abi}: the one that is loaded does not define {found['symbol'][:60]}"
    yield Means("extension-built-for-other-torch", says, 0.88)


def several(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """TensorFlow names each library that it could not open."""
    names = set(re.findall(r"Could not (?:dlopen|load)(?: dynamic)? library '([^']+)'", clues.text))
    if len(names) > 1:
        yield Means("tf-cannot-dlopen-gpu-libs", f"TensorFlow cannot open {len(names)} CUDA libraries", 0.94)
