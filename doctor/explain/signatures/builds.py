"""Building for CUDA: CMake, make, the options of nvcc, MSVC and the linker, and what torch asks of the compiler."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature

_TOOLKIT, _OTHER_NVCC, _HEADERS, _USER, _HOST = (
    "toolkit-path-conflict",
    "wrong-nvcc-vs-torch-cuda",
    "cuda-headers-missing",
    "not-a-stack-problem",
    "gcc-too-new-for-nvcc",
)
_TORCH = r"\btorch|flash[_-]?attn|deepspeed|xformers|vllm|apex|cpp_extension"
_CU = r"nvcc|\.cuh?\b|cuda"
_NO_ARCH = r"Failed to detect a default CUDA arch|CMAKE_CUDA_ARCHITECTURES must be non-empty"

FAMILY = Family(
    Signature(
        r"Installed CUDA version (?P<has>[\d.]+\d) does not match the version torch was compiled with "
        r"(?P<built>[\d.]+\d)",
        Means(_OTHER_NVCC, "nvcc is of CUDA {has}, and torch of {built}", 0.95),
        source="deepspeedai/DeepSpeed: op_builder/builder.py, assert_no_cuda_mismatch",
    ),
    Signature(
        r"nvcc fatal *: (?:Value '(?:c|gnu)\+\+(?P<std>\d+)' is not defined for option 'std'|Unknown option '"
        r"(?:-t|-{0,2}threads|-{0,2}generate-dependencies-with-compile|-{1,2}Werror|-static-global-template-stub"
        r"|-compress-mode|-split-compile)[^'\n]*')"
        r"|FlashAttention is only supported on CUDA (?P<least>[\d.]+\d) and above",
        Means(_OTHER_NVCC, "the nvcc that is found is older than this code and torch need", 0.85, given=_TORCH),
        Means(_TOOLKIT, "the nvcc that is found is older than this code needs: another comes first in PATH", 0.8),
        source="nvcc 7 to 13: -std=c++17 since 11.0, --threads since 11.2; Dao-AILab/flash-attention: setup.py",
    ),
    Signature(
        r"nvcc fatal *: (?:A single input file is required|No input files specified|Don't know what to do with"
        r"|Stop|Unknown option|redefinition of argument)|nvcc error *: '\w+' died due to signal (?:9|2|15)\b",
        Means(
            _USER, "how nvcc is called: a path with a blank, an option of another compiler, or too little memory", 0.6
        ),
        source="nvcc 7 to 13",
    ),
    Signature(
        r"nvcc fatal *: Path to libdevice library not specified",
        Means("libdevice-not-found", "nvcc finds no nvvm/libdevice beside it: its toolkit is there in part", 0.9),
        source="nvcc; clang: lib/Driver/ToolChains/Cuda.cpp",
    ),
    Signature(
        r"nvcc fatal *: (?:Could not set up the environment for Microsoft Visual Studio"
        r"|The version \('[^'\n]*'\) of the host compiler)|error trying to exec 'cc1plus'|cudafe\+\+(?:' died due to "
        r"signal \d+| died with status 0x)"
        r"|(?:No CUDA toolset found|The imported project \"[^\n]{0,160}CUDA [\d.]+\.(?:props|targets)\" was not found)"
        r"|Microsoft Visual C\+\+ 14\.0 or greater is required|Failed to find C compiler\. Please specify via CC",
        Means("host-compiler-unsupported", "the C++ compiler that CUDA needs is not there, or not set up for it", 0.7),
        source="nvcc; CMake: CMakeDetermineCompilerId.cmake; MSBuild MSB4019; setuptools; triton-lang/triton: build.py",
    ),
    Signature(
        r"current installed version of \S+ \((?P<has>[\d.]+)\) is (?:greater|less) than the (?:maximum|minimum) "
        r"required "
        r"version",
        Means(_HOST, "g++ {has} does not suit the CUDA that torch builds with", 0.95),
        source="pytorch/pytorch: torch/utils/cpp_extension.py, _check_cuda_version",
    ),
    Signature(
        r"exception specification is incompatible with that of previous function \"?'?(?:(?:co|si|ta)n)?\w*pi\w*"
        r"|(?:floatn\w*\.h|mathcalls\.h)[^\n]{0,80}error|identifier \"_Float(?:32|64|128)x?\" is undefined"
        r"|(?:\w+intrin|immintrin|amx\w+)\.h[^\n]{0,20}error|identifier \"__builtin_ia32_\w+\" is undefined"
        r"|argument of type \"const void \*\" is incompatible with parameter of type \"const (?:float|int|double)",
        Means(_HOST, "the system's C headers or C++ compiler are newer than this nvcc understands", 0.85, given=_CU),
        source=(
            "nvcc before 12.9 on glibc 2.41 and 2.26; nvcc before 9, 11 and 12 with GCC's intrinsics of 5.4, 11 and 13"
        ),
    ),
    Signature(
        r"compiler set in environment variable CUDA(?:CXX|HOSTCXX)\b|Couldn't find CUDA library root"
        r"|CUDA compiler identification is unknown|No CMAKE_CUDA_COMPILER could be found|CMAKE_CUDA_COMPILER-NOTFOUND"
        r"|CUDA compiler \"[^\"\n]{1,160}\" is not able to compile|CUDA_TOOLKIT_ROOT_DIR-NOTFOUND"
        r"|uses CUDA but I cannot find the CUDA libraries|PyTorch: CUDA cannot be found"
        r"|Could not find a package configuration file provided by \"CUDA(?:Toolkit)?\"|Failed checking for nvcc"
        r"|CUDA_HOME does not exist, unable to compile CUDA op|Unable to determine CUDA version"
        r"|Unable to JIT load the \w+ op due to|Specify CUDA_TOOLKIT_ROOT_DIR|CUDA SDK Toolkit not installed"
        r"|Could not find a suitable CUDA installation|Cannot find CUDA_HOME|but nvcc was not found",
        Means(_TOOLKIT, "no CUDA toolkit with a working nvcc is where the build looks", 0.75, unless=_NO_ARCH),
        Means("host-compiler-unsupported", "or nvcc is there and refuses the C++ compiler", 0.5),
        asks="what do `nvcc --version` and `echo $CUDA_HOME $CUDACXX` say, and what stands in CMakeError.log?",
        source=(
            "CMake: CMakeDetermineCUDACompiler.cmake, FindCUDAToolkit.cmake; pytorch/pytorch: cmake/public/cuda.cmake; "
            "FFmpeg: configure; deepspeedai/DeepSpeed: op_builder/builder.py; hashcat; JuliaGPU/CUDA.jl"
        ),
    ),
    Signature(
        _NO_ARCH,
        Means(_USER, "no card is named to the build: CMAKE_CUDA_ARCHITECTURES, or CUDAARCHS", 0.75),
        Means(_TOOLKIT, "or nvcc does not work where CMake calls it", 0.5),
        asks="does `nvcc --version` answer?",
        source="CMake 3.18 and later: CMakeDetermineCUDACompiler.cmake",
    ),
    Signature(
        r"Unknown compute capability\. Specify the target",
        Means("cpu-only-wheel", "torch sees no card to build for: it is its CPU build", 0.6),
        Means("no-kernel-module", "or no driver answers where it is built, as in an image's build", 0.5),
        asks="does torch.version.cuda name a release, and does nvidia-smi list the card?",
        source="NVlabs/tiny-cuda-nn: bindings/torch/setup.py",
    ),
    Signature(
        r"Found two conflicting CUDA (?:installs|versions)|CUDA headers? (?:version )?(?:and|does not match)[^\n]{0,40}"
        r"(?:libraries|toolkit|nvcc)|CUDA_(?:CUDART|cublas|cudart\w*|CUDA|cufft|curand)_LIBRARY \(ADVANCED\)"
        r"|CUDA_\w+_LIBRARY[^\n]{0,80}NOTFOUND",
        Means(_TOOLKIT, "CMake finds parts of different CUDA toolkits, or one without its libraries", 0.85),
        source="pytorch/pytorch: cmake/public/cuda.cmake; CMake: FindCUDA.cmake to 3.26",
    ),
    Signature(
        r"(?:fatal error|catastrophic error|error C1083)[^\n]{0,60}?[\"'`]?(?P<header>(?:cuda\w*|cu(?:blas|fft|rand"
        r"|sparse"
        r"|solver|pti|file)\w*|nvrtc\w*|nvml|nvtx3/\w+|nvJitLink|nccl|driver_types|vector_types"
        r"|device_launch_parameters"
        r"|helper_cuda|cooperative_groups|mma)\.h)[\"'`]?|Failed to find CUDA headers"
        r"|Could NOT find (?P<part>NVJPEG|NVTX\w*|CUPTI|NPP|nvJPEG\w*|CUFILE|NVML|nvrtc)\b"
        r"|(?:cuda|nvenc|cuvid|nvdec|ffnvcodec)\w* requested, but not all dependencies are satisfied",
        Means(
            _HEADERS,
            "CUDA's header {header}{part} is not there for the compiler, or this toolkit is too old for it",
            0.85,
        ),
        source="GCC, Clang, MSVC, NVRTC; FFmpeg/FFmpeg: configure; cupy/cupy: cupy/_environment.py",
    ),
    Signature(
        r"LNK1(?:181|104): cannot open (?:input )?file '(?P<lib>cu\w+|nv\w+|nccl)\.lib'"
        r"|cannot find -l(?P<name>nvrtc\w*|nvToolsExt|cudadevrt|culibos|nvjpeg|npp\w+|nvml|nvidia-ml|nvJitLink"
        r"|cufile)\b"
        r"|undefined reference to [`'](?P<symbol>(?:cuda[A-Z]|cublas|cufft|curand|cusparse|cusolver|nccl|nvrtc)\w+)",
        Means(
            "cudart-soname-missing",
            "the linker does not find CUDA's libraries ({lib}{name}{symbol}): their directory is not among those "
            "that it "
            "searches, or is of another CUDA",
            0.65,
        ),
        source="MSVC link.exe; GNU binutils: ld/ldfile.c, ld/ldmain.c",
    ),
    Signature(
        r"undefined reference to [`'](?P<symbol>cudnn[A-Z]\w+)",
        Means("cudnn-missing", "the linker does not find cuDNN, or another release than the header's ({symbol})", 0.6),
        source="GNU binutils: ld/ldmain.c",
    ),
    Signature(
        r"identifier \"(?:__nv_bfloat16\w*|__nv_fp8\w*|cudaLaunchKernelEx\w*|cudaLaunchAttribute\w*|CUtensorMap\w*|"
        r"cudaGraph\w+|nvcuda)\" is undefined",
        Means(_OTHER_NVCC, "this nvcc is older than the code that it compiles", 0.75, given=_TORCH),
        Means(_TOOLKIT, "the nvcc that is found is older than this code needs", 0.72),
        source="nvcc",
    ),
    Signature(
        r"'-lcuda'[^\n]{0,240}returned non-zero exit status",
        Means("driver-libraries-missing", "gcc does not find libcuda.so, which Triton links its launcher with", 0.5),
        Means("not-a-stack-problem", "or Python's own headers are not there (python3-dev)", 0.45),
        asks="which line of the compiler stands before it?",
        source="triton-lang/triton: runtime/build.py, to 3.1",
    ),
    Signature(
        r"minor version mismatch with the version that was used to compile|There are no \S+ version bounds defined "
        r"for CUDA"
        r"|Ninja is required to load C\+\+ extensions|may be ABI-incompatible with PyTorch",
        Means(_USER, "torch's builder gives notice: it is no fault of the stack", 0.6),
        source="pytorch/pytorch: torch/utils/cpp_extension.py",
    ),
    Signature(
        r"#error \"?(?:You need C\+\+\d\d|C\+\+\d\d or later compatible compiler)",
        Means(_USER, "the extension is built as an older C++ than this torch wants (-std=c++17)", 0.7),
        source="pytorch/pytorch: c10/util/C++17.h",
    ),
)
