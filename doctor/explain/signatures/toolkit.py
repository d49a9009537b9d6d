"""nvcc, its compiler, its headers and ptxas."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature

_NVCC, _PTXAS, _HOST = "nvcc-too-old-for-gpu-arch", "ptxas-too-old", "gcc-too-new-for-nvcc"
_NO_ARCH = r"'(?:compute|sm)_(?!\d)"  # empty, or what a probe printed where it saw no card


def _other_nvcc(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Both releases; torch 2.15 prints its pattern with the values behind it."""
    toolkit, built = found["other"] or found["toolkit"], found["own"] or found["built"]
    says = f"nvcc is of CUDA {toolkit}, torch of {built}: what is built would not fit"
    yield Means("wrong-nvcc-vs-torch-cuda", says, 0.96)


FAMILY = Family(
    Signature(
        r"#error -- unsupported (?:GNU|clang"
        r"|Microsoft Visual Studio) version!(?: gcc versions later than (?P<most>\d+) are not supported)?"
        r"|unsupported Microsoft Visual Studio version",
        Means(_HOST, "the C++ compiler is newer than this nvcc accepts", 0.96),
        source="NVIDIA CUDA toolkit: crt/host_config.h",
    ),
    Signature(
        r"type_traits[^\n]{0,80}error|error: parameter packs not expanded with"
        r"|std_function\.h[^\n]{0,80}parameter packs|/usr/include/c\+\+/\d+[^\n]{0,120}error[^\n]{0,40}",
        Means(_HOST, "the C++ compiler's library is newer than this nvcc understands", 0.7, given=r"nvcc|\.cu\b"),
        source="GCC 11 and later under nvcc before 11.6",
    ),
    Signature(
        r"nvcc fatal *: (?:Unsupported gpu architecture|Value '(?:compute|sm)_)(?: '(?:compute|sm)_\w+')?",
        Means(_NVCC, "this nvcc is older than the card: it does not know its architecture", 0.9, unless=_NO_ARCH),
        Means(
            "not-a-stack-problem",
            "the build found no card to take the architecture from: name it (CMAKE_CUDA_ARCHITECTURES)",
            0.8,
            given=_NO_ARCH,
        ),
        Means(
            "gpu-too-old-dropped",
            "this nvcc no longer knows an architecture this old",
            0.92,
            given=r"'?(?:compute|sm)_(?:1\d|2\d|3\d|50|52|53|60|61|62|70|72)\b",
            unless=r"(?:compute|sm)_(?:8\d|9\d|1\d\d)",
        ),
        source="nvcc",
    ),
    Signature(
        r"detected CUDA version \((?P<toolkit>[\d.]+|%s)\) mismatches the version that was used to compile *"
        r"PyTorch \((?P<built>[\d.]+|%s)\)(?:[^\n]{0,60}', '(?P<other>[\d.]+)', '(?P<own>[\d.]+)')?",
        decide=_other_nvcc,
        source="pytorch/pytorch: torch/utils/cpp_extension.py, CUDA_MISMATCH_MESSAGE",
    ),
    Signature(
        r"CUDA_HOME environment variable is not set"
        r"|Cuda extensions are being compiled with a version of Cuda that does not match"
        r"|No CUDA toolkit found|No CUDA runtime is found, using CUDA_HOME|nvcc was not found|Could not find nvcc"
        r"|/bin/nvcc['\"]?: No such file|nvcc: (?:command )?not found|CUDA_TOOLKIT_ROOT_DIR not found"
        r"|Could NOT find CUDA(?:Toolkit)?\b(?! drivers)|Failed to find nvcc",
        Means(
            "wrong-nvcc-vs-torch-cuda",
            "the toolkit that builds is of another CUDA than torch",
            0.85,
            given=r"does not match",
        ),
        Means(
            "toolkit-path-conflict",
            "no CUDA toolkit with nvcc is where the build looks",
            0.75,
            unless=r"does not match",
        ),
        source="pytorch/pytorch: torch/utils/cpp_extension.py; CMake",
    ),
    Signature(
        r"fatal error: '?(?P<header>cuda_runtime(?:_api)?\.h|driver_types\.h|cuda\.h|cublas(?:_v2)?\.h"
        r"|cusparse\.h|cusolverDn\.h|curand\.h|cufft\.h|nvrtc\.h|nvToolsExt\.h|thrust/\S+|cub/\S+"
        r"|crt/host_config\.h)'?(?:: No such file| file not found)"
        r"|cannot find (?P<file>cuda_runtime\.h|driver_types\.h)",
        Means(
            "cuda-headers-missing", "CUDA's headers ({header}{file}) are not there: a toolkit for running only", 0.93
        ),
        source="GCC, Clang",
    ),
    Signature(
        r"ptxas (?!application ptx input)(?:[^\n]{0,80}; *)?fatal *: "
        r"(?:Value '(?P<arch>sm_\w+)' is not defined for option 'gpu-name'"
        r"|Unsupported \.version (?P<ptx>[\d.]+))|You are using ptxas [\d.x]+, but (?:TF|XLA"
        r"|JAX)[^\n]{0,20} requires|ptxas does not support CC|PTXASError|ptxas too old"
        r"|Falling back to the driver to perform PTX compilation",
        Means(
            _PTXAS,
            "the ptxas that is taken is older than this card or this code needs",
            0.94,
            unless=r"driver's CUDA version|older than the ptxas",
        ),
        source=(
            "openxla/xla: stream_executor/cuda/cuda_asm_compiler.cc; triton-lang/triton: backends/nvidia/compiler.py"
        ),
    ),
    Signature(
        r"SM version specified by \.target is higher than default SM version",
        Means("not-a-stack-problem", "ptxas is called for an older card than the PTX names (--gpu-name)", 0.6),
        Means(_PTXAS, "the ptxas that is taken may be older than the card", 0.35),
        asks="Which --gpu-name (nvcc: -arch) is ptxas called with, and which .target does the PTX name?",
        source="ptxas",
    ),
    Signature(
        r"which ptxas",
        Means(_PTXAS, "another ptxas comes first in PATH", 0.6, given=r"XlaRuntimeError|jax|triton"),
        source="as people describe it",
    ),
    Signature(
        r"(?:CUDA )?driver version is older than the (?:PTX|ptxas) version"
        r"|driver's CUDA version is [\d.]+,? which is older than the ptxas|Disabling parallel compilation",
        Means(
            "driver-older-than-ptxas-warn",
            "only a warning: parallel compilation is off, because the driver is older than ptxas",
            0.94,
        ),
        source="openxla/xla: service/gpu/nvptx_compiler.cc",
    ),
    Signature(
        r"ptxas[^\n]{0,40}(?:not found|No such file|command not found)|Couldn't (?:find|invoke) ptxas"
        r"|Can't find ptxas|Cannot find ptxas|No PTX compilation provider is available",
        Means("ptxas-missing", "ptxas is not found", 0.92),
        source="openxla/xla: stream_executor/cuda; triton-lang/triton",
    ),
    Signature(
        r"\b(?:cicc|cudafe\+\+|fatbinary|nvlink|bin2c)['\"]?: (?:not found|No such file)",
        Means("corrupted-install", "a program of the toolkit that nvcc calls is not there: installed in part", 0.85),
        source="sh, as nvcc 11 to 13 calls its programs; NVIDIA's wheels have cicc in nvidia-nvvm since CUDA 13",
    ),
    Signature(
        r"Failed to preprocess host compiler properties|nvcc cannot find a supported version of Microsoft Visual Studio"
        r"|Cannot find compiler 'cl\.exe' in PATH|Host compiler targets unsupported (?:OS|platform)"
        r"|configuration file 'vcvars\w*\.bat' could not be found",
        Means("host-compiler-unsupported", "nvcc cannot run the host compiler that it was given or found", 0.7),
        source="nvcc 5 to 13",
    ),
)
