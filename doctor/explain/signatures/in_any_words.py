"""What every program may say of its GPU, in words of its own: less sure than a message that is known by its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import (
    BLACKWELL,
    BOXED,
    CANNOT,
    DRIVER_LIBRARY,
    IS_WSL,
    JETSON,
    MAC,
    NOT_THERE,
    OTHER_MAKER,
    TOOLKIT,
    WINDOWS,
)

_CPU, _OLD, _NO_MODULE, _CONTAINER, _NO_GPU = (
    "cpu-only-wheel",
    "driver-too-old-for-runtime",
    "no-kernel-module",
    "container-without-gpu-runtime",
    "no-nvidia-gpu",
)
_LIBRARIES, _NO_WINDOWS, _WSL, _VISIBLE = (
    "driver-libraries-missing",
    "windows-driver-missing",
    "wsl-libcuda-missing",
    "cuda-visible-devices-empty-or-invalid",
)
_OTHER_CUDA, _TOO_OLD, _TOO_NEW = "framework-wants-other-cuda", "gpu-too-old-dropped", "gpu-too-new-for-cuda"
_NEWEST_MAJOR = 10
_GPU = r"(?:CUDA|GPUs?|NVENC|NVDEC|CUVID|cuBLAS|cuDNN|TensorRT|NCCL|NVIDIA)"
_CUDA_LIBRARY = (
    r"(?:lib)?(?!nccl-)(?:cudart|cublas(?:Lt)?|cufft|curand|cusolver|cusparse(?:Lt)?|nvJitLink|cupti|nccl|npp\w+"
    r"|nvrtc|cudnn\w*"
    r"|nvjpeg|cutensor|cufile|nvinfer\w*|nvonnxparser|nvToolsExt)"
)
_ABOUT_GPU = r"cuda|nvidia|cudnn|\bgpu|tensorrt|torch|tensorflow|\bjax|rapids|cudf|librmm|frigate|jetson"
_VIDEO = r"libnvidia-encode|libnvcuvid"


def _library(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A library of CUDA that somebody could not open, whatever the words."""
    told = (found[group] for group in ("lib", "name", "what", "rust", "ort", "init"))
    name = next(filter(None, told), "the CUDA runtime, libcudart")
    low = name.lower()
    if "dnn" in low:
        yield Means("cudnn-missing", f"{name} is not found", 0.6)
    elif "nvrtc" in low:
        yield Means("nvrtc-missing", f"{name} is not found", 0.65)
    elif re.search(r"nvinfer|nvonnx|tensorrt", low):
        if clues.has(r"Cannot dlopen some TensorRT libraries|TF-TRT"):
            return  # TensorFlow's notice
        says = f"{name} of TensorRT is not where the loader looks, or is of another TensorRT"
        yield Means("windows-dll-path" if ".dll" in low else "needed-library-missing", says, 0.7)
    else:
        yield Means("cudart-soname-missing", f"{name}, which the program asks for by name, is not found", 0.6)
        if clues.has(TOOLKIT):
            yield Means(_OTHER_CUDA, f"the program asks for {name}, and another CUDA is installed", 0.55)
    if ".dll" in low or "64_" in low:
        yield Means("windows-dll-path", f"{name}, or one that it needs, is not where Windows looks", 0.5)


def _capability(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Too old or too new: by the words, else by the card that is named."""
    told = re.search(
        r"sm[_ ]?(\d+)\d|(?:capability|arch\w*)[^\d\n]{1,20}(\d+)\.\d|GPU (?:has capability \(|is )(\d+)(?:,|\d\b)",
        found[0],
    )
    majors = [int(one) for one in told.groups() if one] if told else [card.major for card in clues.capabilities[-1:]]
    newest = bool(majors) and majors[0] >= _NEWEST_MAJOR
    newest = newest or (not told and clues.has(BLACKWELL))
    if newest or re.search(r"too new|yet|newer than", found[0], re.IGNORECASE):
        yield Means(_TOO_NEW, "the program has no code for this card, which is newer than its CUDA", 0.66)
        yield Means("gpu-arch-not-in-build", "the program's build leaves this card out", 0.55)
    else:
        yield Means(_TOO_OLD, "the program has no code for this card, or wants a newer one", 0.62)
        yield Means("gpu-arch-not-in-build", "the program's build leaves this card out", 0.5)


FAMILY = Family(
    Signature(
        rf"(?:\bnot|n't) (?:been )?(?:compiled|built?|build|configured|linked) (?:with|for|against|to (?:use|support))"
        rf"[^\n.]{{0,30}}?(?:\b|_){_GPU}(?! kernel binar)"
        rf"|\bmust be (?:compiled|built) with {_GPU}\b"
        rf"|\b(?:compiled|built|build|configured|installed) without[^\n.]{{0,20}}\b{_GPU}\b(?! arch)"
        rf"|\b{_GPU}(?: \w+){{0,2}} (?:is|was|are)(?: not|n't) (?:enabled|supported|compiled|available|included) in "
        rf"this "
        r"(?:build|version|binary|release|package)|\b(?:API cuda|GPU|CUDA) is not enabled\b"
        r"|compile with CUDA enabled|compile with (?:CMake option )?(?:-D)?(?:USE|WITH|ENABLE|BUILD)_(?:CUDA|GPU|CUDNN)"
        r"|\bCPU[- ]only (?:build|version|binary|Caffe|package)\b|\(-216:No CUDA support\)"
        rf"|(?:lacks|does(?: not|n't) (?:have|include)|no) {_GPU} (?:support|built in)\b"
        r"|has no attribute '(?:StandardGpuResources|cuda_GpuMat)'|Environment for task type \[GPU\] not found"
        r"|GPU isn't used",
        Means("jetson-wrong-wheel", "on a Jetson, the usual package is a CPU build", 0.7, given=JETSON),
        Means(_NO_GPU, "this is a CPU build: there is no CUDA for a Mac", 0.7, given=MAC),
        Means(_CPU, "this program or library is built without CUDA", 0.68, unless=f"{MAC}|{JETSON}"),
        source=(
            "dmlc/xgboost: src/common/common.h; microsoft/LightGBM: src/treelearner; opencv/opencv: "
            "private.cuda.hpp; BVLC/caffe: common.hpp; OpenNMT/CTranslate2: src/devices.cc; dmlc/dgl: "
            "c_runtime_api.cc; "
            "PaddlePaddle/Paddle; apache/mxnet; huggingface/candle; ggml-org/llama.cpp: common/arg.cpp; "
            "catboost/catboost"
        ),
    ),
    Signature(
        r"\bno (?:[\w-]+ ){0,3}?(?:(?:cuda|nvidia|nvenc)(?:[- ](?:capable|enabled|compatible|supported))*"
        r"[ -](?:capable )?(?:gpus?|devices?|cards?)|gpus?(?: devices?)?)\b"
        r"(?:[^\n]{0,24}(?:found|detected|available|present|visible|discovered|exist|seen)|[.,;:!]|$)"
        rf"|(?:\bfound no|{CANNOT} (?:any|a|an)|(?:did|do)(?: not|n't) (?:find|detect|see) (?:any|a|an)) (?:[\w-]+ "
        rf"){{0,3}}?"
        r"(?:gpus?|cuda device|nvidia (?:gpus?|devices?|cards?))\b"
        r"|\bgpus? (?:is |was |were |are )?not (?:found|detected|visible)"
        r"|\bCUDA (?:is )?(?:not available|unavailable|required but not available)|\bnot able to use (?:the )?GPU"
        r"|no platforms that are instances of (?:gpu|cuda)|no device supporting CUDA|\b0 active drivers \(\[\]\)"
        r"|Failed to infer device type|No platform detected, vLLM"
        r"|Could not find/initialize a specified accelerator device|accelerator to cpu \(auto detect\)"
        r"|no registered Platform called \"CUDA\"|No devices found/left|Error getting driver and runtime versions"
        r"|bnb_supported_devices|(?:CUDA|GPU)Accelerator\W{0,2} can ?not run on your system",
        Means(_NO_GPU, "there is no CUDA for this machine: a Mac, or a card of another maker", 0.6, given=MAC),
        Means(_CONTAINER, "the container was started without the GPU", 0.55, given=BOXED, unless=MAC),
        Means(_VISIBLE, "CUDA_VISIBLE_DEVICES may hide every GPU", 0.6, given=r"CUDA_VISIBLE_DEVICES", unless=MAC),
        Means(_NO_MODULE, "the program sees no GPU: no NVIDIA driver answers here", 0.5, unless=MAC),
        Means(_NO_GPU, "or there is no NVIDIA card in this machine", 0.45, unless=MAC),
        Means(_CPU, "or the framework is its CPU build", 0.4, unless=MAC),
        asks="does nvidia-smi list the card where the program runs, and what does CUDA_VISIBLE_DEVICES hold?",
        source=(
            "dmlc/xgboost: src/context.cc; jax-ml/jax: xla_bridge.py; ollama/ollama: discover/gpu.go; "
            "triton-lang/triton: "
            "runtime/driver.py; vllm-project/vllm: config.py; ggml-org/llama.cpp; kaldi-asr/kaldi: cu-device.cc; "
            "gromacs"
        ),
    ),
    Signature(
        rf"{CANNOT}[^\n]{{0,40}}?(?:[\s'\"`/\\:]){DRIVER_LIBRARY}(?![^\n]{{0,40}}init failure)"
        rf"|(?<![\w-]){DRIVER_LIBRARY}[^\n]{{0,60}}?{NOT_THERE}"
        rf"|dynamically load the \"(?:cuda|nvml)\" shared library|{CANNOT} (?:CUDA|NVML|NVENC|nvcuvid)(?: driver)?"
        r"(?: library)?(?: lib\w+\.so[.\d]*)?(?=[\s.,:;]|$)(?! (?:runtime|drivers))"
        r"|CUDA driver (?:library )?(?:could(?: not|n't) be loaded|is not (?:installed|loaded)|(?:was )?not found"
        r"|not functional)|NVML (?:library )?(?:is )?not found|NVML doesn't exist on this system"
        r"|configured with nvml functionality, but that lib wasn't found|OPTIX_ERROR_LIBRARY_NOT_FOUND"
        r"|\bno (?:system )?(?:CUDA|NVIDIA) driver (?:is |was )?(?:found|installed|detected|loaded)"
        r"|(?:could not load symbol \"|(?<!\.so:\s)undefined symbol: )cu(?:Init|Driver|Device|Ctx|Mem|Module|Launch"
        r"|Stream|Event)\w*",
        Means(_NO_GPU, "there is no CUDA for a Mac", 0.8, given=MAC),
        Means(_WSL, "WSL's libcuda (/usr/lib/wsl/lib) is not on the loader's path", 0.7, given=IS_WSL),
        Means(
            _CONTAINER,
            "the container has no libraries of the driver for video: NVIDIA_DRIVER_CAPABILITIES lacks video, or the "
            "GPU was not given to it",
            0.72,
            given=f"(?:{BOXED})[\\s\\S]{{0,4000}}(?:{_VIDEO})|(?:{_VIDEO})[\\s\\S]{{0,4000}}(?:{BOXED})",
        ),
        Means(
            _CONTAINER, "the container was started without the GPU: the driver comes from the host", 0.7, given=BOXED
        ),
        Means(_NO_WINDOWS, "no NVIDIA driver is installed: its DLL is not there", 0.7, given=WINDOWS),
        Means(_NO_MODULE, "no NVIDIA driver is installed: its library is not there", 0.6, unless=f"{WINDOWS}|{MAC}"),
        Means(_LIBRARIES, "a library of the driver is not where the loader looks", 0.56, unless=f"{WINDOWS}|{MAC}"),
        asks="does `cat /proc/driver/nvidia/version` name a driver? If so, only its libraries are missing.",
        source=(
            "FFmpeg/nv-codec-headers: dynlink_loader.h; gstreamer: sys/nvcodec; NVIDIA/DALI: "
            "dali/core/dynlink_cuda.cc; "
            "chelsea0x3b/cudarc: src/lib.rs; JuliaGPU/CUDA_Driver_jll; MATLAB: gpuDevice; SchedMD/slurm: gpu_nvml.c; "
            "OptiX"
        ),
    ),
    Signature(
        r"\.so: undefined symbol: cu(?:Init|Driver|Device|Ctx|Mem|Module|Launch|Stream|Event|Graph|Tensor)\w*",
        Means(_OLD, "the driver's libcuda lacks a call of the CUDA that the program was built with", 0.55),
        Means(_LIBRARIES, "or another libcuda than the driver's is loaded, or none", 0.5),
        asks="which CUDA does nvidia-smi name, and with which was the program built?",
        source="glibc: elf/dl-lookup.c",
    ),
    Signature(
        r"nvidia-container-(?:cli(?:\.real)?|runtime|toolkit)\"?: (?!command not)[^\n]{4,120}"
        r"|nvidia-ctk[^\n]{0,80}level=error",
        Means(_CONTAINER, "NVIDIA's container toolkit cannot give the container its GPU", 0.5),
        asks="does nvidia-smi work on the host, and what does `nvidia-container-cli -k -d /dev/tty info` say?",
        source="NVIDIA/libnvidia-container: src/cli; NVIDIA/nvidia-container-toolkit: cmd",
    ),
    Signature(
        r"(?:CUDA|GPU|NVIDIA|nvenc)[^\n]{0,80}(?:not (?:available|supported|working|usable|detected|found)|unavailable"
        r"|disabled|failed)[^\n]{0,80}\b(?:CPU|software encod)|(?:fall(?:ing|s)? back|switch(?:ing)?"
        r"|default(?:ing)?) to (?:the )?"
        r"CPU[^\n]{0,60}(?:CUDA|GPU|NVIDIA)",
        Means(
            _NO_GPU,
            "there is no CUDA for this machine: a Mac, or a card of another maker",
            0.5,
            given=f"{MAC}|{OTHER_MAKER}",
        ),
        Means(_NO_MODULE, "the program does not get the GPU: no driver answers", 0.42, unless=f"{MAC}|{OTHER_MAKER}"),
        Means(_CPU, "or it is a build without CUDA", 0.4, unless=f"{MAC}|{OTHER_MAKER}"),
        asks="does nvidia-smi list the card where the program runs?",
        source="as programs say that they go on without the GPU",
    ),
    Signature(
        rf"{CANNOT}[^\n]{{0,60}}?(?P<lib>\b{_CUDA_LIBRARY}[\w.-]*?(?:\.so[.\d]*|\.dll|64_\w+))"
        rf"|(?P<name>\b{_CUDA_LIBRARY}(?:[\w-]*\.so[.\d]*|(?:64_)?\w*\.dll))['\"`]?[^\n]{{0,40}}?{NOT_THERE}"
        rf"|\b(?P<what>TensorRT|cuDNN|DNN|NVRTC|cuBLAS|CUPTI|CUDA(?: runtime)?) (?:librar(?:y|ies) )?{NOT_THERE}"
        r"|dynamically load the \"(?P<rust>cu\w+|nvrtc|nccl)\" shared library|Please install (?P<ort>TensorRT) "
        r"libraries"
        r"|(?P<start>Failed|Unable|Could not|Cannot) (?:to )?(?:initiali[sz]e|load) (?:the )?"
        r"(?P<init>NVRTC|NVIDIA RTC|nvrtc)|\(302\): cudaGetError\w+ (?P<stub>symbol not found)"
        r"|cudaGetErrorString (?P<string>symbol not found)",
        decide=_library,
        asks="which CUDA does the program's release want, and which is installed?",
        source=(
            "OpenNMT/CTranslate2: src/cuda/cublas_stub.cc; Windows; ggml-org; NVIDIA/TensorRT-LLM; glibc: elf/dl-load.c"
        ),
    ),
    Signature(
        r"(?:NVIDIA|CUDA|GPU|graphics|display)[^\n]{0,30}\bdriver\b[^\n]{0,60}?(?:too old|out[- ]of[- ]date|outdated"
        r"|is insufficient|not (?:new|recent) enough|older than (?!the (?:PTX|ptxas)))"
        r"|(?:upgrade|update)(?: to)?(?: your| the)?(?: latest| installed)? (?:NVIDIA|CUDA|graphics|display|GPU) driver"
        r"|(?:requires?|needs|minimum required|at least) (?:a |an |the )?(?:newer )?(?:NVIDIA|CUDA|GPU)(?: GPU| display"
        r"| graphics| CUDA)? driver[^\n]{0,40}\d"
        r"|driver that only supports up to|only supports NVIDIA drivers for CUDA"
        r"|not supported with this CUDA driver|Driver does not support the required nvenc API"
        r"|NvEncodeAPI version is incompatible|OPTIX_ERROR_(?:UNSUPPORTED_ABI_VERSION|ENTRY_SYMBOL_NOT_FOUND)"
        r"|CUDBG_ERROR_INCOMPATIBLE_API|procedure entry point cu\w+[^\n]{0,60}nvcuda\.dll"
        r"|feature:/[\w-]+::__cuda==[\d.]+|NVML_?ERROR_?FUNCTION_?NOT_?FOUND"
        r"|NVIDIA driver version [\d.]+ or (?:newer|later|higher)|unsupported driver range: \[0(?:\.0)?,",
        Means(
            _OLD,
            "the driver is older than this program needs",
            0.72,
            unless=(
                r"no driver|Cannot load (?:lib)?nv|older than the ptxas|driver version is older than the PTX"
                r"|NVIDIA driver on your system is too old"
            ),
        ),
        source=(
            "FFmpeg/FFmpeg: libavcodec/nvenc.c; JuliaGPU/CUDA.jl: src/initialization.jl; MATLAB: gpuDevice; OptiX: "
            "optix_types.h; rapidsai/cudf: gpu_utils.py; conda: the virtual package __cuda; cuda-gdb; ollama"
        ),
    ),
    Signature(
        r"(?:compute capability|CUDA capability|CUDA arch(?:itecture)?|current GPU architecture|\bSM ?_?\d{2,3}\b)"
        r"[^\n]{0,60}?(?:not (?:yet )?supported|unsupported|too (?:old|low|new)|not found"
        r"|or (?:higher|greater|above|newer|later|better)|and above)"
        r"|(?:requires?|only supports?|supports only|needs|minimum)[^\n]{0,50}(?:compute capability|CUDA capability"
        r"|\bsm_?\d\d\b)|GPU has capability \(\d+, \d+\) \(too (?:old|new)\)"
        r"|no device code compatible with CUDA arch|not compiled with any CUDA arch"
        r"|Mismatched GPU Architecture[^\n]{0,160}GPU is \d+|without support for the current GPU architecture"
        r"|\bGPUs?\b[^\n]{0,40}?(?:which )?is (?:not (?:yet )?supported (?:in|by) this|too old|no longer supported)"
        r"|No supported GPU\(s\) detected to run|Your GPU with capability \S+ is not supported"
        r"|-arch=compute_\d+ is an unsupported option|'sm_\d+a?' is not a recognized processor|Cannot select: "
        r"intrinsic %llvm\.nvvm"
        r"|CUDA_ERROR_NOT_FOUND[^\n]{0,20}named symbol not found|your device is more recent than the libraries",
        decide=_capability,
        asks="which card is it, and for which cards is the program's release built?",
        source=(
            "ggml-org/llama.cpp: ggml-cuda/common.cuh; PaddlePaddle/Paddle; facebookresearch/xformers: ops/common.py; "
            "flashinfer-ai/flashinfer; NVIDIA's image entry point; JuliaGPU/CUDA.jl: src/compatibility.jl; Blender: "
            "intern/cycles/device/cuda; TensorRT; NVVM"
        ),
    ),
    Signature(
        r"\b(?:compiled|built) (?:with|against|for|using) [^\n]{0,20}?CUDA (?:version )?(?P<built>\d+\.\d+)[^\n]{0,60}?"
        r"\b(?:but|while|whereas)\b[^\n]{0,60}?(?P<has>\d+\.\d+)"
        r"|Detected CUDA Runtime version(?: is)? (?P<run>[\d.]+\d)\. Please update your CUDA Runtime"
        r"|Unsupported CUDA(?: toolkit)? version:? ?[`\"']?(?P<other>\d+\.\d)"
        r"|requires? (?:at least )?(?:a )?CUDA (?:toolkit |version |runtime ){0,2}(?:>= ?)?\d+(?:\.\d+)?"
        r"(?: (?:or|and) (?:newer|higher|later|above|greater))"
        r"|\bCUDA (?:toolkit |runtime )?(?:version )?v?\d+(?:\.\d+)? is (?:too old|too new|not supported|unsupported)"
        r"|Require cuDNN (?P<wants>\d)\.\* and CUDA"
        r"|\bFound unsuitable version \"(?P<cmake>\d+\.\d+)[^\n]{0,60}CUDA",
        Means(_OTHER_CUDA, "the program is for another CUDA than is installed ({has}{run}{other}{cmake})", 0.75),
        source=(
            "PaddlePaddle/Paddle: gpu_info.cc; rapidsai/cudf: gpu_utils.py; mlverse/torch: R/install.R; "
            "chelsea0x3b/cudarc: build.rs; CMake: FindPackageHandleStandardArgs.cmake"
        ),
    ),
    Signature(
        r"(?<!dlerror=)(?P<lib>\blib(?!nccl-|rccl|cuda\.|nv[a-z]+-|cu[a-z]+\.|cudnn|nv(?:rtc|infer|ml)|torch|c10"
        r"|shm\.)[\w.+-]{2,60}?\.so"
        r"[.\d]*): cannot open shared object",
        Means(
            "container-without-gpu-runtime",
            "{lib} comes from the Jetson itself: the container was started without --runtime=nvidia",
            0.75,
            given=r"lib(?:nvdla|nvos|nvbuf|nvrm|nvmedia|nvmm)\w*\.so|/tegra/",
        ),
        Means("needed-library-missing", "{lib}, which the program needs, is not found", 0.5, given=_ABOUT_GPU),
        source="glibc: elf/dl-load.c",
    ),
    Signature(
        r"(?:failed to|could(?: not|n't)|cannot|unable to) (?:initiali[sz]e|create|start|set up) (?:the |a )?"
        r"(?:CUDA|cuInit|GPU|NVENC|OptiX)\b(?! handle| graph| stream| kernel| event| tensor)"
        r"|\bCUDA (?:driver )?initiali[sz]ation (?:failed|failure|error)\b(?!, you might)",
        Means(_NO_GPU, "there is no CUDA for a Mac", 0.6, given=MAC),
        Means(_CONTAINER, "the container was started without the GPU", 0.46, given=BOXED, unless=MAC),
        Means(_NO_MODULE, "CUDA does not start: no NVIDIA driver answers here", 0.42, unless=MAC),
        Means("no-device-nodes", "or device nodes are missing, or nvidia_uvm does not answer", 0.4, unless=MAC),
        asks="does nvidia-smi list the card, and what does `sudo dmesg | grep -i nvrm` say?",
        source="ggml-org/llama.cpp: ggml-cuda.cu; Blender; JuliaGPU/CUDA.jl; gstreamer: sys/nvcodec; TensorRT",
    ),
    general=True,
)
