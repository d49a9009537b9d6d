"""Compiled parts beside a framework: built for another one, for another CUDA, or without it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import JETSON, MAC, WINDOWS

_OTHER, _COMPANION, _CPU, _USER, _PART = (
    "extension-built-for-other-cuda",
    "companion-version-mismatch",
    "cpu-only-wheel",
    "not-a-stack-problem",
    "needed-library-missing",
)


def _warp(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Warp prints the CUDA of both, and calls its own age the driver's where the driver dropped an entry point."""
    toolkit, driver = (tuple(map(int, found[name].split("."))) for name in ("toolkit", "driver"))
    if driver > toolkit and clues.has(r"Failed to get driver entry point|not supported in the installed CUDA driver"):
        says = f"the driver serves CUDA {found['driver']}, and this release of Warp asks it for what older drivers had"
        yield Means("framework-bug", says, 0.7)


FAMILY = Family(
    Signature(
        r"PyTorch and (?P<who>[\w.-]+) were compiled with different CUDA|"
        r"(?P<name>torch_(?:scatter|sparse|cluster|spline_conv)|pyg_lib)[^\n]{0,80}(?:undefined symbol|WinError 127)",
        Means(
            _COMPANION,
            "{who} is of another CUDA than torch",
            0.93,
            given=r"PyTorch and torch(?:vision|audio|text) were",
        ),
        Means(
            _OTHER,
            "{who}{name} is built for another torch or CUDA",
            0.86,
            unless=r"PyTorch and torch(?:vision|audio)",
        ),
        source=(
            "pytorch/vision: extension.py; pytorch/audio: _extension; rusty1s/pytorch_scatter: "
            "torch_scatter/__init__.py"
        ),
    ),
    Signature(
        r"Failed to import from vllm\._C[^\n]{0,120}(?:undefined symbol|No module named)|Could not run '_\w*::\w+'"
        r"|'_OpNamespace' '\w+' object has no attribute|Could not load any common_ops library"
        r"|implementation for device cuda:\d+ not found|DLL load failed while importing (?:\w+_cuda|_ext"
        r"|flash_attn\w*)",
        Means(_OTHER, "the compiled part of this package is not there for this torch, this CUDA or this card", 0.82),
        Means(_COMPANION, "or the package is of another release than torch", 0.6),
        asks="of which torch and CUDA is the wheel, and which torch is installed (pip list)?",
        source=(
            "vllm-project/vllm: platforms/cuda.py, _custom_ops.py; sgl-project/sglang: sgl_kernel/load_utils.py; "
            "open-mmlab/mmcv: ops/csrc/common/pytorch_device_registry.hpp; pytorch/pytorch: torch/_ops.py"
        ),
    ),
    Signature(
        r"Configured (?:CUDA|ROCm)?[^\n]{0,12}binary not found at|libbitsandbytes_cpu\.so: undefined symbol"
        r"|bitsandbytes library load error",
        Means(_OTHER, "bitsandbytes has no library for this CUDA, or does not see one", 0.84),
        Means(_CPU, "bitsandbytes takes its CPU library", 0.6),
        asks="what does `python -m bitsandbytes` say?",
        source=(
            "bitsandbytes-foundation/bitsandbytes: bitsandbytes/cextension.py, 0.38 to 0.49; huggingface/transformers"
        ),
    ),
    Signature(
        r"Could not load libtorchcodec",
        Means(_COMPANION, "torchcodec is for another torch, as far as its message tells", 0.7),
        Means(_PART, "or FFmpeg's libraries (4 to 8) are not found", 0.72),
        asks="does `ldconfig -p | grep libavutil` list FFmpeg, and does torchcodec's table name this torch?",
        source="pytorch/torchcodec: src/torchcodec/_core/ops.py",
    ),
    Signature(
        r"Distributed package doesn't have NCCL built in",
        Means(_USER, "on Windows and macOS torch has no NCCL: choose gloo", 0.8, given=f"{WINDOWS}|{MAC}"),
        Means("jetson-wrong-wheel", "on a Jetson torch has no NCCL in older wheels", 0.6, given=JETSON),
        Means(_CPU, "this is the CPU build of torch, which has no NCCL", 0.75, unless=f"{WINDOWS}|{MAC}|{JETSON}"),
        source="pytorch/pytorch: torch/distributed/distributed_c10d.py",
    ),
    Signature(
        r"Extension horovod\.\w+ has not been built|JCudaDriver-[\d.]+-\S+|no jni(?:cudart|cuda|cublas|cudnn) in "
        r"java\.library\.path",
        Means(_OTHER, "the compiled part was not built, or is for another CUDA than is installed", 0.6),
        source="horovod/horovod: common/util.py; jcuda/jcuda-main: LibUtils.java; bytedeco",
    ),
    Signature(
        r"Cannot find a working triton installation|TritonMissing",
        Means(_PART, "torch.compile needs Triton, which is not installed for this Python and system", 0.75),
        source="pytorch/pytorch: torch/_inductor/exc.py",
    ),
    Signature(
        r"may need newer version of nvJitLink library",
        Means("pip-nvidia-wheels-conflict", "nvJitLink is older than what is linked by it", 0.8),
        Means("cublas-mismatch", "nvJitLink is older than what is linked by it", 0.6),
        source="NVVM and nvJitLink 12",
    ),
    Signature(
        r"OpenEncodeSessionEx failed: (?:out of memory|incompatible client key)|(?:CUDA lazy loading is not enabled)"
        r"|GPU device discovery failed: [^\n]{0,60}/sys/class/drm|Could not find TensorRT|CUDA path could not be "
        r"detected"
        r"|quantization method \S+ is not supported for the current GPU|do not support efficient \S+ computation"
        r"|apex was installed without --cuda_ext|(?:flash_attn|CuPy) (?:seems to be |is )not installed"
        r"|please install triton==|requires a torch version >= [^\n]{0,20}but detected|tfjs_binding\.node\) can ?not "
        r"be found"
        r"|quantization requires Accelerate|Neither MPI nor Gloo support has been built",
        Means(
            _USER,
            "a notice, a limit of the card, or a package that is not installed: driver and CUDA are not at fault",
            0.35,
        ),
        source=(
            "FFmpeg: nvenc.c; TensorRT; microsoft/onnxruntime: device_discovery.cc; tensorflow; cupy; vllm; "
            "CTranslate2; "
            "NVIDIA/apex; deepspeedai/DeepSpeed"
        ),
    ),
    Signature(
        r"Unknown encoder '\w+_(?:nvenc|cuvid)'|Couldn't find any encoder matching \[nvenc\]|Unknown decoder "
        r"'\w+_cuvid'",
        Means(_CPU, "this program is built without NVIDIA's encoders and decoders", 0.8),
        source="FFmpeg/FFmpeg: fftools/ffmpeg_mux_init.c; LizardByte/Sunshine: src/video.cpp",
    ),
    Signature(
        r"OpenEncodeSessionEx failed: (?:unsupported device|no encode device)|No (?:NVENC )?capable devices found",
        Means("gpu-too-old-dropped", "the card has no such encoder, or was dropped from this SDK", 0.6),
        Means("no-nvidia-gpu", "or there is no NVIDIA card that encodes", 0.45),
        source="FFmpeg/FFmpeg: libavcodec/nvenc.c; NVIDIA Video Codec SDK: nvEncodeAPI.h, NVENCSTATUS",
    ),
    Signature(
        r"while calling mem_advise",
        Means("gpu-too-old-dropped", "the card is older than Pascal, whose unified memory Taichi uses", 0.6),
        source="taichi-dev/taichi: taichi/rhi/cuda/cuda_driver.h, before 0.8",
    ),
    Signature(
        r"Internal Triton PTX codegen error|ptxas[^\n]{0,80}fatal *: (?:Parsing error near|Ptx assembly aborted)",
        Means("ptxas-too-old", "the ptxas that is taken does not understand what Triton or XLA wrote for it", 0.55),
        Means("framework-bug", "or this release of Triton writes wrong PTX", 0.45),
        asks="which ptxas is it (TRITON_PTXAS_PATH, PATH), and does it work with a newer Triton?",
        source="triton-lang/triton: backends/nvidia/compiler.py; ptxas",
    ),
    Signature(
        r"CUDA Toolkit (?P<toolkit>\d+\.\d+), Driver (?P<driver>\d+\.\d+)",
        decide=_warp,
        source="NVIDIA/warp: warp/context.py, native/cuda_util.cpp",
    ),
    Signature(
        r"Cannot use the CUDA stub libraries",
        Means("stub-libcuda-on-path", "the toolkit's link-time stub of libcuda is loaded, or there is no driver", 0.9),
        source="JuliaGPU/CUDA.jl: src/initialization.jl, 2 and 3",
    ),
    Signature(
        r"CUDA runtime library `?(?P<lib>[\w.+-]+)`? was loaded from a system path",
        Means("ld-library-path-shadowing", "LD_LIBRARY_PATH brings {lib} before CUDA.jl's own", 0.93),
        source="JuliaGPU/CUDA.jl: src/initialization.jl, since 4",
    ),
    Signature(
        r"CUDA\.jl could not find an appropriate CUDA runtime|CUDA\.jl did not successfully initialize"
        r"|problem with the CUDA driver associated with this GPU|The CUDA driver initialization failed",
        Means("no-kernel-module", "no driver answers, or it is too old for the CUDA that the program brings", 0.6),
        Means("driver-too-old-for-runtime", "the driver may be older than the program's CUDA", 0.5),
        asks="what does nvidia-smi say: which driver, and which CUDA does it serve?",
        source="JuliaGPU/CUDA.jl: src/initialization.jl; MATLAB: gpuDevice; cuda-gdb",
    ),
    Signature(
        r"Outdated or missing NVIDIA driver|\bUnable to load cudart library|Failed to initialize NVIDIA RTC",
        Means("nvrtc-missing", "NVRTC is not found", 0.7, given=r"NVIDIA RTC"),
        Means(
            "driver-libraries-missing",
            "the driver's library is not found, or cannot be used",
            0.6,
            unless=r"NVIDIA RTC",
        ),
        source="hashcat: src/backend.c; ollama/ollama: gpu/gpu.go",
    ),
    Signature(
        r"using ptxas [\d.]+, which (?:is older than|predates)|ptxas with version [\d.]+, which predates",
        Means("ptxas-too-old", "the ptxas that is found first is older than XLA needs", 0.93),
        source="openxla/xla, tensorflow 2.4 and later: stream_executor/gpu/asm_compiler.cc, WarnIfBadPtxasVersion",
    ),
    Signature(
        r"cuDNN reports version (?P<loaded>[\d.]+) which does not match with the version (?P<built>[\d.]+)"
        r"|compiled with CUDNN (?P<paddle>[\d.]+), but CUDNN version in your machine is (?P<has>[\d.]+)",
        Means(
            "cudnn-version-mismatch-loaded-vs-compiled",
            "cuDNN {loaded}{has} is loaded, and the program is built for {built}{paddle}",
            0.93,
        ),
        source="opencv/opencv: modules/dnn/src/cuda4dnn/init.hpp; PaddlePaddle/Paddle: phi/backends/gpu/gpu_info.cc",
    ),
    Signature(
        r"Lantern is not loaded",
        Means("corrupted-install", "R's torch has no Lantern library: install_torch() was not run, or failed", 0.7),
        source="mlverse/torch: R/lantern_load.R",
    ),
    Signature(
        r"No HIP GPUs are available",
        Means("no-nvidia-gpu", "this torch is ROCm's, for cards of AMD", 0.85),
        source="pytorch/pytorch: c10/hip",
    ),
    Signature(
        r"Minor version compatibility requires ptxcompiler",
        Means(
            "driver-too-old-for-runtime",
            "the driver is older than numba's CUDA: it cannot link what numba compiles",
            0.7,
        ),
        source="numba/numba: numba/cuda/cudadrv/driver.py",
    ),
    Signature(
        r"The CUDA driver could not be loaded\. The library name used was",
        Means("windows-driver-missing", "no NVIDIA driver is installed: its DLL is not there", 0.8, given=WINDOWS),
        Means("no-kernel-module", "no NVIDIA driver is installed: libcuda is not there", 0.7, unless=WINDOWS),
        source="MATLAB: gpuDevice",
    ),
    Signature(
        r"Could not find cuDNN\b|\bCUDNN is missing",
        Means("cudnn-missing", "the build finds no cuDNN", 0.7),
        source="davisking/dlib: dlib/CMakeLists.txt; JuliaGPU/CUDA.jl, to 3",
    ),
    Signature(
        r"(?:library|Failed to load|Unable to load)[^\n]{0,80}\bllama\.dll|llm_engine_cuda\w*\.node",
        Means("windows-dll-path", "a DLL of CUDA or of the Visual C++ runtime that llama.dll needs is not found", 0.7),
        source="abetlen/llama-cpp-python: llama_cpp/_ctypes_extensions.py; LM Studio",
    ),
    Signature(
        r"Unable to (?:create|load) \S*plan|\bCUDA initialization failure with error:? (?P<number>\d+)",
        Means(
            "driver-too-old-for-runtime", "the driver is older than TensorRT's CUDA", 0.8, given=r"error:? (?:35|222)\b"
        ),
        Means("no-kernel-module", "CUDA does not start here (error {number})", 0.5, unless=r"error:? (?:35|222)\b"),
        source="TensorRT 7 to 10: CUDA initialization failure",
    ),
)
