"""Libraries of CUDA and of the system: not found, of another release, or not for this C library."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import JETSON, TOOLKIT

_MISSING, _OTHER_CUDA, _EXTENSION, _CUBLAS = (
    "cudart-soname-missing",
    "framework-wants-other-cuda",
    "extension-built-for-other-cuda",
    "cublas-mismatch",
)
_CUDA = (
    r"(?:cudart|cublas|cublasLt|cufft|cufftw|curand|cusolver|cusparse|cusparseLt|nvJitLink|cupti|nccl|nppc|npp\w+"
    r"|nvrtc|nvToolsExt|cufile|nvshmem\w*)"
)
_BUILT_EXTENSION = (
    r"import \w*_cuda\b|_C\.cpython|_C\.so|\w+_cuda\.\w*so|_ext\.|selective_scan|flash_attn|xformers|deepspeed"
    r"|apex|mmcv|detectron2|torchvision|torchaudio|bitsandbytes"
)


def _absent(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The name of a library of CUDA that the loader did not find; its number is the CUDA that is asked for."""
    name = found["lib"] or found["tf"] or found["finder"]
    if clues.has(JETSON) or clues.has(r"aarch64"):
        yield Means("jetson-wrong-wheel", f"{name} is asked for by a wheel that is not the Jetson's own", 0.7)
    if re.search(r"nvrtc", name, re.IGNORECASE):
        yield Means("nvrtc-missing", f"{name} is not found", 0.93)
        return
    if clues.has(_BUILT_EXTENSION) and not clues.has(r"tensorflow"):
        yield Means(_EXTENSION, f"a compiled extension asks for {name}, of another CUDA than the framework's", 0.8)
    if clues.has(TOOLKIT) and not clues.has(_BUILT_EXTENSION):
        yield Means(_OTHER_CUDA, f"the program asks for {name}, and another CUDA is installed", 0.9)
    yield Means(_MISSING, f"{name}, which the program asks for by name, is not found", 0.88)


def _not_loaded(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """JAX names the library by its product; where LD_LIBRARY_PATH is set, an older one may come first."""
    name = found["name"]
    if clues.has(r"LD_LIBRARY_PATH"):
        yield Means("ld-library-path-shadowing", f"LD_LIBRARY_PATH may bring another {name} than JAX needs", 0.85)
    if name == "cuDNN":
        yield Means("cudnn-missing", "JAX's plugin does not find cuDNN, or not all of it", 0.9)
    else:
        yield Means(_MISSING, f"JAX's plugin cannot open {name}, or one that {name} needs", 0.86)


def _tensorrt(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """TensorRT names what it was linked with and what was loaded."""
    code = "cudnn-version-mismatch-loaded-vs-compiled" if found["name"] == "cuDNN" else _CUBLAS
    if found["name"]:
        what = f"{found['name']} {found['loaded']} is loaded, and TensorRT was linked with {found['built']}"
        yield Means(code, what, 0.85)
    else:
        yield Means(_CUBLAS, "TensorRT runs with other libraries of CUDA than it was compiled with", 0.8)


def _needed(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The linker's and Paddle's words for a library that is not found, one or several with semicolons."""
    name = found[1] or found.groupdict().get("name") or ""
    if re.search(r"mklml|nvinfer", name):
        return
    code = "cudnn-missing" if "cudnn" in name else "nvrtc-missing" if "nvrtc" in name else _MISSING
    if "cuda.so" in name or "nvcuda" in name:
        code = "driver-libraries-missing"
    windows = clues.has(r"error code is 126") and clues.has(r"\bv?1\d\.\d\\bin|nvcc|CUDA Version:")
    if windows:
        yield Means("windows-dll-path", f"{name}, or one that it needs, is not where Windows looks", 0.7)
    yield Means(code, f"{name} is not found", 0.88)


def _lacking(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Who asks a library of CUDA for what it does not have: an extension of another build, or the framework itself."""
    who, symbol = found["who"], found["symbol"]
    if not re.match(r"lib(?:torch|c10|tensorflow|caffe2|cu|nv|nccl|mxnet|onnxruntime|jax)", who):
        yield Means(
            _EXTENSION, f"{who} is built for another CUDA: {symbol} is not in the libraries that are loaded", 0.9
        )
    elif symbol.startswith("nccl"):
        says = f"{who} asks NCCL for {symbol}, and the NCCL that is loaded is another than its own"
        yield Means("pip-nvidia-wheels-conflict", says, 0.8)
        yield Means("ld-library-path-shadowing", f"{says}: LD_LIBRARY_PATH may bring it", 0.6)


_TORCHS_OWN = r"libtorch(?:_cpu|_cuda|_cuda_linalg|_python|_nvshmem|_global_deps)?|libc10(?:_cuda)?|libcaffe2\w*"


def _of_torch(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Whose library asks torch for a name that it does not define: torch's own, a follower's, or an extension's."""
    path, who = found["path"] or "", found["who"]
    if path.endswith("torch/lib/") or re.fullmatch(_TORCHS_OWN, who):
        yield Means("corrupted-install", "torch's own libraries are of two releases, one over the other", 0.8)
        return
    if re.search(r"torch(?:vision|audio|text)", path + who):
        yield Means("companion-version-mismatch", "a package beside torch was built for another release of it", 0.9)
    old = "Ss" in found["symbol"] and "cxx11" not in found["symbol"]
    abi = ", with the old ABI of std::string" if old else ""
    name = f"{path.rstrip('/').rpartition('/')[2]}/{who.partition('.')[0]}".lstrip("/")
    says = f"{name} was built for another torch{abi}: the one that is loaded does not define {found['symbol'][:60]}"
    yield Means("extension-built-for-other-torch", says, 0.88)


def _several(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """TensorFlow names each library that it could not open."""
    names = set(re.findall(r"Could not (?:dlopen|load)(?: dynamic)? library '([^']+)'", clues.text))
    if len(names) > 1:
        yield Means("tf-cannot-dlopen-gpu-libs", f"TensorFlow cannot open {len(names)} of CUDA's libraries", 0.94)


_TRT_DLL = r"Unable to load library: nv\w+\.dll"
_INSTALLED = r"(?:site|dist)-packages[\\/]torch[\\/]__init__"

FAMILY = Family(
    Signature(
        rf"(?P<lib>lib(?!nccl-){_CUDA}(?:-\w+)?\.so(?:\.[\d.]*\d)?)['\"]?:? (?:dlerror: )?(?:\S+ )?(?:cannot open "
        rf"shared object|: No such file|not found)"
        rf"|Could not (?:dlopen|load|find)(?: dynamic)? library '(?P<tf>lib{_CUDA}\.so[^']*)'"
        rf"|Failure finding \"(?P<finder>(?:lib)?{_CUDA}\w*\.(?:so|dll)[^\"\n]{{0,80}})\"",
        decide=_absent,
        asks="Which CUDA do the framework's own release and the installed toolkit have?",
        source=(
            "glibc: elf/dl-load.c; tensorflow/tensorflow: tsl/platform/default/dso_loader.cc; "
            "cuda-pathfinder 1.9: _dynamic_libs/search_steps.py"
        ),
    ),
    Signature(
        r"lib(?:c10|c10_cuda|torch|torch_\w+|shm)\.so: cannot open shared object",
        Means("corrupted-install", "a library of torch itself is not there", 0.8, given=r"torch/__init__\.py"),
        Means(
            "not-a-stack-problem",
            "an extension of torch is imported before torch, or torch is not installed",
            0.7,
            unless=r"torch/__init__\.py",
        ),
        source="glibc: elf/dl-load.c; pytorch/pytorch: torch/__init__.py",
    ),
    Signature(
        r"Failed to load PyTorch C extensions",
        Means(
            "not-a-stack-problem",
            "Python runs in torch's own source, which hides the one that is installed",
            0.6,
            unless=_INSTALLED,
        ),
        Means("corrupted-install", "torch's compiled module is not there", 0.55, unless=_INSTALLED),
        Means("corrupted-install", "torch's compiled module `_C` is gone from its package", 0.85, given=_INSTALLED),
        asks="does it work from another directory? If not, torch's files are incomplete.",
        source="pytorch/pytorch: torch/__init__.py",
    ),
    Signature(
        r"Unable to load (?P<name>cuDNN|CUDA|cuBLAS|cuFFT|cuSOLVER|cuSPARSE|CUPTI|cuPTI)\. Is it installed\?",
        decide=_not_loaded,
        source="jax-ml/jax: jax_plugins/cuda/__init__.py, _version_check",
    ),
    Signature(
        r"operation (?P<name>cu\w+)GetVersion\([^\n]{0,40}\) failed: (?!Error loading|cudaErr)\w+",
        Means(_CUBLAS, "{name} is found and does not answer: its companions may be of another release", 0.6),
        source="jax-ml/jax: jaxlib/cuda/versions_helpers.cc",
    ),
    Signature(
        r"TensorRT was linked against (?P<name>cuBLAS|cuDNN|CUDA)[^\n]{0,40}? (?P<built>\d[\d.]*),? but "
        r"loaded [^\n]{0,40}?(?P<loaded>\d[\d.]*\d)|myelinVersionMismatch",
        decide=_tensorrt,
        source="TensorRT 7 to 10: its logger's warnings",
    ),
    Signature(
        r"lib(?:cu\w+|nv\w+|nccl)\.so[\w.]*: (?:error adding symbols: |could not read symbols: )?"
        r"File (?:in wrong format|format not recognized)",
        Means("corrupted-install", "a library is damaged, or is of another processor than the program", 0.7),
        source="GNU binutils: bfd/bfd.c, ld/ldmain.c",
    ),
    Signature(
        r"warning: (?P<lib>lib(?:cudnn|cublas|cudart|cufft|curand|cusolver|cusparse|nvrtc|nccl)\w*\.so[\d.]*), "
        r"needed by \S+ not found",
        decide=_needed,
        source="GNU binutils: ld/emultempl/elf.em",
    ),
    Signature(
        r"third-party dynamic library \((?P<lib>[\w.;/-]+)\) that Paddle depends on is not configured correctly"
        r"|Cannot load (?P<name>cudnn|cublas|nvrtc|curand) shared library",
        decide=_needed,
        source="PaddlePaddle/Paddle: paddle/phi/backends/dynload/dynamic_loader.cc",
    ),
    Signature(
        r"operation \w+GetVersion\([^\n]{0,40}\) failed: Error loading CUDA libraries",
        Means(_MISSING, "JAX's plugin cannot open the CUDA libraries that it asks for by name", 0.88),
        source="jax-ml/jax: jaxlib/cuda/versions_helpers.cc",
    ),
    Signature(
        r"Could not (?:dlopen|load)(?: dynamic)? library '",
        decide=_several,
        source="tensorflow/tensorflow: dso_loader.cc",
    ),
    Signature(
        r"Cannot dlopen some GPU libraries",
        Means(
            "tf-cannot-dlopen-gpu-libs",
            "TensorFlow cannot open the CUDA libraries that it needs, and computes on the CPU",
            0.85,
        ),
        Means(
            "wheel-libs-not-on-loader-path",
            "TensorFlow 2.16's own wheels are not where its loader looks",
            0.88,
            given=r"\b2\.16\b[^\n]{0,80}|tensorflow\[and-cuda\]",
        ),
        source="tensorflow/tensorflow: core/common_runtime/gpu/gpu_device.cc",
    ),
    Signature(
        r"tensorflow\[and-cuda\]|\[and-cuda\]",
        Means(
            "wheel-libs-not-on-loader-path",
            "TensorFlow 2.16's own wheels are not where its loader looks",
            0.8,
            given=r"\b2\.16(?:\.\d)?\b",
            unless=r"Loaded runtime",
        ),
        source="tensorflow/tensorflow#63362",
    ),
    Signature(
        r"(?P<who>[^\s/:]+\.so)[\w.]*: undefined symbol: (?P<symbol>_*(?:cuda[A-Z]|cublas|cusparse|cusolver|curand"
        r"|cufft|nvrtc|nccl)\w+)",
        decide=_lacking,
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"(?:undefined symbol:|symbol) (?P<symbol>_*(?:nvJitLink\w+|cusparse\w+|cublasLt\w*|cublas\w+"
        r"|cusolver\w+|cudart\w+))(?:,? version (?P<lib>lib\w+\.so\.\d+))?"
        r"|symbol (?P<any>\w+),? version lib(?:cublas|cusparse|cusolver|cufft|curand|nvJitLink)\w*\.so\.\d+ "
        r"not defined",
        Means(
            "conda-cudatoolkit-vs-pip",
            "conda's CUDA packages and the framework's own are of different releases",
            0.9,
            given=r"conda|\$ENV_PATH|miniforge|mamba|/envs/",
        ),
        Means(
            "pip-nvidia-wheels-conflict",
            "the nvidia-* wheels are of different releases",
            0.9,
            given=r"nvidia-\w+-cu1\d|site-packages/nvidia",
            unless=r"conda install",
        ),
        Means(_CUBLAS, "a library of CUDA is older than the one that asks it for {symbol}{any}", 0.85),
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"CUBLAS_STATUS_(?:NOT_INITIALIZED|ARCH_MISMATCH|INVALID_VALUE|EXECUTION_FAILED|INTERNAL_ERROR"
        r"|ALLOC_FAILED)|cublasLtCreate|cublasCreate\(handle\)"
        r"|cublas (?:runtime )?(?:error|status)\]? ?: (?:library )?(?:not initialized|resource allocation failed"
        r"|the GPU program failed to execute)|CUBLAS: (?:not initialized|alloc failed)",
        Means(
            "out-of-memory-not-a-stack-fault",
            "the GPU has no memory left for cuBLAS",
            0.75,
            given=r"out of memory|OOM|batch|CUBLAS_STATUS_ALLOC_FAILED",
        ),
        Means(
            "not-a-stack-problem",
            "an index out of range on the device shows so, too",
            0.5,
            given=r"embedding|label|assert|target|num_classes",
        ),
        Means(
            "out-of-memory-not-a-stack-fault",
            "the GPU has no memory left for cuBLAS, or an earlier kernel failed",
            0.58,
            given=r"CUBLAS_STATUS_NOT_INITIALIZED when calling `?cublasCreate",
        ),
        Means(_CUBLAS, "cuBLAS and its companions may be of different releases", 0.55),
        asks="Does it go away with CUDA_LAUNCH_BLOCKING=1, a smaller batch, or on the CPU?",
        source="NVIDIA cuBLAS API, cublasStatus_t; torch to 1.4: aten/src/THC/THCBlas.cu; PaddlePaddle 0 and 1",
    ),
    Signature(
        r"nvidia-\w+-cu12[^\n]{0,80}nvidia-\w+-cu13|nvidia-\w+-cu13[^\n]{0,80}nvidia-\w+-cu12"
        r"|requires nvidia-[\w-]+-cu1\d==(?P<wants>[\d.]+)[^\n]{0,60}but you have nvidia-",
        Means("pip-nvidia-wheels-conflict", "the nvidia-* wheels in this environment do not belong together", 0.85),
        source="pip's resolver",
    ),
    Signature(
        r"(?P<lib>lib(?:nvrtc|cublas|cufft|cusparse|cusolver|curand|nccl|nvJitLink)\w*\.so)[\w.]*: undefined symbol: "
        r"(?P<symbol>(?:nvrtc|cublas|cufft|cusparse|cusolver|curand|nccl|nvJitLink)\w+)",
        Means(_OTHER_CUDA, "{lib} has no {symbol}: the program is for another CUDA than is installed", 0.75),
        source="glibc: dlfcn/dlerror.c, of programs that open CUDA's libraries themselves",
    ),
    Signature(
        r"(?:symbol lookup|relocation) error: [^\n]{0,160}?symbol:? (?P<symbol>_*cu\w+),? version "
        r"(?P<lib>lib\w+\.so\.[\d.]*\d)",
        Means(_OTHER_CUDA, "{symbol} is not in the {lib} that is loaded, which is older than the program's CUDA", 0.75),
        Means("ld-library-path-shadowing", "another {lib} comes first, mostly by LD_LIBRARY_PATH", 0.6),
        asks="which file does `ldd` of the program name for it?",
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"version [`'](?P<what>(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+)' not found",
        Means(
            "glibc-too-old", "{what} is not in this system's C or C++ library: the build is for a newer system", 0.96
        ),
        source="glibc: elf/dl-version.c",
    ),
    Signature(
        r"symbol (?P<symbol>\w+),? version (?P<version>[A-Z]\w*_[\d.]+) not defined in file (?P<lib>lib[\w.+-]+) "
        r"with link time reference",
        Means(
            "needed-library-missing",
            "{lib} that is found first is another than the program was linked with ({symbol} of {version})",
            0.6,
            given=r"cuda|nvidia|torch|tensorflow|\bjax|tensorrt",
        ),
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"(?P<path>[^\s'\"(]*/)?(?P<who>[^\s'\"(/]+)\.so[.\d]*['\"]?: undefined symbol: "
        r"(?P<symbol>_Z\w*(?:c10|5torch|2at\d|6caffe2)\w*|(?:aoti_)?torch_\w+)",
        decide=_of_torch,
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"file too short|invalid ELF header|cannot read file data|Exec format error",
        Means(
            "corrupted-install",
            "a library is damaged or cut short",
            0.8,
            given=r"cuda|cudnn|nvidia|torch|tensorflow|jax|libcu\w+\.so|libnv\w+\.so|libnccl",
        ),
        source="glibc: elf/dl-load.c",
    ),
    Signature(
        r"cannot find -l(?P<lib>cudart(?:_static)?|cublas(?:Lt)?|cufft|curand|cusolver|cusparse|cupti|nccl)\b",
        Means(
            "cudart-soname-missing",
            "the linker does not find lib{lib}: the toolkit's library directory is not among those that it searches",
            0.7,
        ),
        source="GNU binutils: ld/ldfile.c",
    ),
    Signature(
        r"undefined symbol: (?P<symbol>cudnn[A-Z]\w*)",
        Means(
            "cudnn-version-mismatch-loaded-vs-compiled",
            "{symbol} is not there: the cuDNN that is loaded is another than the program was built with",
            0.7,
        ),
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"Unable to find symbol (?P<symbol>cudnn\w+)",
        Means("cudnn-missing", "cudnn-frontend finds no cuDNN library that has {symbol}", 0.85),
        source="NVIDIA/cudnn-frontend: include/cudnn_frontend_shim.h",
    ),
    Signature(
        r"libdevice(?: is required| not found|\.10\.bc)|Can't find libdevice directory"
        r"|Couldn't read CUDA library(?: version)?|Couldn't find a suitable version of libdevice",
        Means("libdevice-not-found", "XLA finds no nvvm/libdevice: the toolkit's directory is not known to it", 0.92),
        source="openxla/xla: xla/service/gpu/llvm_gpu_backend",
    ),
    Signature(
        r"Unable to load library: (?P<lib>(?:lib)?nv(?:infer|onnxparser|parsers)\w*\.(?:so[\w.]*\w|dll))"
        r"(?![^\n]{0,80}executable stack)",
        Means("windows-dll-path", "{lib} of TensorRT is not where Windows looks", 0.85, given=_TRT_DLL),
        Means(
            "needed-library-missing",
            "{lib} of TensorRT is not where the loader looks, or is of another TensorRT than the one that asks",
            0.85,
            unless=_TRT_DLL,
        ),
        source="TensorRT 8.4 to 10: libLoader.cpp, DynamicLibrary",
    ),
    Signature(
        r"libNVVM cannot be found|libnvvm\.so[\w.]*: cannot open shared object|Missing libdevice file",
        Means("libdevice-not-found", "numba finds no nvvm: no CUDA toolkit is there, or CUDA_HOME misleads", 0.8),
        source="numba/numba, NVIDIA/numba-cuda: numba/cuda/cudadrv/nvvm.py, libs.py",
    ),
)
