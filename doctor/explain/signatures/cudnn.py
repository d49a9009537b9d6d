"""cuDNN: of another release, missing, in parts, or blamed for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature

_OTHER, _SHADOW, _MISSING, _PART, _MIXED, _MAJOR = (
    "cudnn-version-mismatch-loaded-vs-compiled",
    "ld-library-path-shadowing",
    "cudnn-missing",
    "cudnn-sublibrary-missing",
    "cudnn-sublibrary-mixed",
    "cudnn-wrong-major",
)
_MEMORY = "out-of-memory-not-a-stack-fault"
_LITTLE_LEFT = (
    r"Memory usage: \d{1,9} bytes free|out of memory|OOM|failed to allocate|CUDA_ERROR_OUT_OF_MEMORY|allow_growth"
    r"|memory_growth"
)


def _major(told: str) -> int:
    """8.5.0 is 8; 7301 is 7, 90100 is 9: cudnnGetVersion as it is."""
    bare = re.sub(r"[ ()]", "", told).replace(",", ".")
    if "." in bare:
        return int(bare.partition(".")[0])
    return int(bare) // (10000 if int(bare) >= 90000 else 1000)


def _mismatch(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """TensorFlow and XLA name both releases."""
    loaded, built = found["loaded"].strip("."), found["built"].strip(".")
    says = f"cuDNN {loaded} is loaded, and the program is built for {built}"
    code = _OTHER if _major(loaded) == _major(built) else _MAJOR
    yield Means(code, says, 0.95)
    if clues.has(r"LD_LIBRARY_PATH"):
        yield Means(_SHADOW, f"{says}: LD_LIBRARY_PATH may bring it", 0.6)


def _other_major(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A file that is asked for by its major, beside a release of another that the text names."""
    asked = re.search(r"(?:so\.|cudnn64_)(\d+)", found[0])
    named = re.search(r"cudnn(?: version)? ?[:=v]? ?(\d+)\.\d", clues.text, re.IGNORECASE)
    if asked and named and asked[1] != named[1]:
        yield Means(_MAJOR, f"cuDNN {asked[1]} is asked for, and {named[1]} is installed", 0.94)


def _outdated(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """JAX gives the releases as cudnnGetVersion encodes them."""
    told = re.search(r"built against:? (\d+)[\s\S]{0,120}Installed version:? (\d+)", clues.text)
    if told:
        code = _OTHER if _major(told[1]) == _major(told[2]) else _MAJOR
        yield Means(code, f"cuDNN {told[2]} is loaded, and JAX is built against {told[1]}", 0.95)
    else:
        yield Means(_OTHER, "the cuDNN that JAX loads is older than it was built against", 0.9)


FAMILY = Family(
    Signature(
        r"Outdated cuDNN installation found|Found cuDNN version \d+, but JAX was built against",
        decide=_outdated,
        source="jax-ml/jax: jax_plugins/cuda/__init__.py",
    ),
    Signature(
        r"Loaded runtime CuDNN library: (?P<loaded>\d[\d.]*)(?: \(compatibility version \d+\))?,? but source "
        r"was compiled with:? (?P<built>\d[\d.]*)",
        decide=_mismatch,
        source="openxla/xla: xla/stream_executor/cuda/cuda_dnn.cc",
    ),
    Signature(
        r"cuDNN version incompatibility: PyTorch was compiled against (?P<built>\([\d, ]+\)) but found "
        r"runtime version (?P<loaded>\([\d, ]+\))",
        Means(
            _SHADOW,
            "cuDNN {loaded} is loaded instead of torch's own {built}: LD_LIBRARY_PATH or another package brings it",
            0.95,
        ),
        source="pytorch/pytorch: torch/backends/cudnn/__init__.py",
    ),
    Signature(
        r"\[cudnn init\] libcudnn v(?P<loaded>\d+) with header v(?P<built>\d+) unmatched",
        Means(_MAJOR, "cuDNN {loaded} is loaded, and Paddle is built for {built}", 0.95),
        source="PaddlePaddle/Paddle 0: paddle/cuda/src/hl_cuda_cudnn.cc",
    ),
    Signature(
        r"cuDNN(?: library)? version mismatch|compiled with cuDNN (?P<built>[\d.]+)[^\n]{0,80}(?:but"
        r"|running with|loaded)[^\n]{0,20}(?P<loaded>\d[\d.]+)",
        Means(_OTHER, "another cuDNN is loaded than the program was built for", 0.85),
        source="chainer, mxnet, caffe2 and others",
    ),
    Signature(
        r"CUDNN_STATUS_(?:SUBLIBRARY_)?VERSION_MISMATCH"
        r"|symbol \S+, version libcudnn\S+ not defined in file libcudnn\S+ with link time reference"
        r"|libcudnn\w+\.so\.\d+: undefined symbol|cudnn\S* error:? ?127|Error code 127[^\n]{0,80}cudnn"
        r"|cudnn[^\n]{0,80}Error code 127",
        Means(_MIXED, "parts of cuDNN of different releases came together", 0.95),
        source="glibc: elf/dl-lookup.c; NVIDIA cuDNN API, cudnnStatus_t",
    ),
    Signature(
        r"Could not load library (?P<lib>libcudnn_\w+\.so[\w.]*"
        r"|cudnn_\w+\.dll)\.?(?! Error: libnvrtc)(?! Error: libcuda)(?![^\n]{0,200}link time "
        r"reference)(?![^\n]{0,40}error code 127)"
        r"|Unable to load any of \{(?P<any>libcudnn_[^,}]+)|Could not locate (?P<dll>cudnn_\w+\.dll)"
        r"|Cannot load symbol cudnn\w+|CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
        r"|CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
        Means(_PART, "a part of cuDNN cannot be loaded", 0.93),
        source="cuDNN 8 and 9, before they call abort()",
    ),
    Signature(
        r"(?P<lib>libcudnn\.so(?:\.\d+)*|cudnn64_\d+\.dll"
        r"|cudnn\.lib)['\"]?[:;,]? (?:dlerror: )?(?:\S+ )?(?:cannot open shared object|not found"
        r"|could not be found|is missing|No such file)"
        r"|(?:not able|unable|failed|cannot|can't|could not) (?:to )?(?:find|locate|load"
        r"|open) '?(?P<plain>libcudnn\.so(?:\.\d+)*|cudnn64_\d+\.dll)"
        r"|Could not (?:load|find|dlopen)(?: dynamic)? library '(?P<tf>libcudnn\.so[^']*|cudnn64_\d+\.dll)'"
        r"|Could not find '?(?P<dll>cudnn64_\d+\.dll)|cannot find -lcudnn\b",
        Means(_MISSING, "{lib}{plain}{tf}{dll} is not found", 0.92),
        decide=_other_major,
        source="glibc: elf/dl-load.c; tensorflow/tensorflow: tsl/platform/default/dso_loader.cc",
    ),
    Signature(
        r"fatal error: '?cudnn(?:_version)?\.h'?(?:: No such file| file not found)|Could NOT find (?:CUDNN"
        r"|CuDNN)\b|CUDNN_INCLUDE_DIR-NOTFOUND|Could not find (?:any )?cudnn\.h|cuDNN (?:library "
        r"|header )?not found",
        Means(_MISSING, "cuDNN's header is not there for the compiler", 0.85, unless=r"theano"),
        source="GCC, Clang; CMake's FindCUDNN",
    ),
    Signature(
        r"\b(?P<symbol>(?-i:cudnn[A-Z])\w+) not found",
        Means(_MAJOR, "the cuDNN that is loaded has no {symbol}: it is of another major than the program's", 0.75),
        Means(_MISSING, "or no cuDNN is loaded at all", 0.5),
        asks="which cuDNN is loaded (gpudoctor which cudnn), and for which is the program built?",
        source="PaddlePaddle/Paddle: paddle/phi/backends/dynload/cudnn.h",
    ),
    Signature(
        r"libnvrtc\.so(?:\.[\d.]+)?:? cannot open shared object|libnvrtc\.so not found|Failed to (?:load"
        r"|open) (?:lib)?nvrtc|nvrtc64_\w+\.dll[^\n]{0,40}(?:not found|missing)"
        r"|nvrtc-builtins[^\n]{0,60}(?:failed to open|not found|cannot open)",
        Means("nvrtc-missing", "NVRTC, which cuDNN or the framework opens by name, is not found", 0.93),
        source="glibc: elf/dl-load.c; NVRTC",
    ),
    Signature(
        r"(?:Could not create cudnn handle|Could not load cuDNN handle|cuDNN error|CUDNN_CALL"
        r"|status)[^\n]{0,80}CUDNN_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR)",
        Means(_MEMORY, "the GPU has no memory left for cuDNN", 0.9, given=_LITTLE_LEFT),
        Means(
            "framework-bug",
            "torch 1.8.0 has a cuDNN fault of its own; 1.8.1 mends it",
            0.9,
            given=r"PyTorch version: 1\.8\.0|torch==1\.8\.0",
        ),
        Means(
            "framework-bug",
            "depthwise convolution by large groups is a fault of this framework's layer",
            0.6,
            given=r"group|depthwise",
        ),
        Means(
            _MEMORY,
            "cuDNN got no room on the GPU, as far as this message tells",
            0.6,
            unless=_LITTLE_LEFT + r"|PyTorch version: 1\.8\.0",
        ),
        Means(
            _OTHER,
            "another cuDNN than the program was built for may be loaded",
            0.4,
            unless=_LITTLE_LEFT + r"|PyTorch version: 1\.8\.0",
        ),
        asks=(
            "Is the GPU's memory full (nvidia-smi)? If not, what do `gpudoctor which cudnn` and `gpudoctor verify` say?"
        ),
        source="tensorflow/tensorflow: cuda_dnn.cc; pytorch/pytorch: aten/src/ATen/cudnn; BVLC/caffe",
    ),
    Signature(
        r"CUDNN_STATUS_(?:EXECUTION_FAILED|MAPPING_ERROR|NOT_SUPPORTED|BAD_PARAM)\b",
        Means("not-a-stack-problem", "an earlier kernel failed, or the shapes are none that cuDNN takes", 0.45),
        Means(_MEMORY, "the GPU's memory may be full", 0.42),
        Means(_OTHER, "another cuDNN than the program was built for may be loaded", 0.4),
        asks="Does it go away with CUDA_LAUNCH_BLOCKING=1, or a smaller batch? What does `gpudoctor verify` say?",
        source="NVIDIA cuDNN API, cudnnStatus_t",
    ),
    Signature(
        r"Failed to get convolution algorithm\. This is probably because cuDNN failed to initialize",
        Means(
            "memory-growth", "TensorFlow took the GPU's memory, and cuDNN got none", 0.7, unless=r"Loaded runtime CuDNN"
        ),
        source="tensorflow/tensorflow: core/kernels/conv_ops.cc",
    ),
    Signature(
        r"argument of type \"[^\"\n]+\" is incompatible with parameter of type \"cudnn\w+\"|too (?:few"
        r"|many) arguments (?:in|to) function (?:call|'?cudnn)|identifier \"?'?CUDNN_\w+\"?'? is undefined"
        r"|'?cudnn\w+_v\d\w*'? was not declared",
        Means(_MAJOR, "the code was written for another cuDNN than the header is of", 0.88, given=r"cudnn"),
        source="nvcc, GCC",
    ),
    Signature(
        r"Your cuDNN version is more recent than (?:the one )?Theano",
        Means("cudnn-too-new-warn", "Theano only warns: this cuDNN is newer than those it was tried with", 0.95),
        source="Theano/Theano: theano/gpuarray/dnn.py, theano/sandbox/cuda/__init__.py",
    ),
    Signature(
        r"cuDNN not available|Can not use cuDNN on context|We can't determine the cudnn version as it is not available",
        Means(
            "theanorc-misconfigured",
            "cuDNN is not where Theano's compiler looks for it (.theanorc, CPATH, LIBRARY_PATH)",
            0.8,
            unless=r"Can not use cuDNN on context",
        ),
        Means(
            _MISSING,
            "Theano's compiler finds no cuDNN: it is not installed, or not named to it",
            0.82,
            given=r"cudnn\.h|Can not use cuDNN on context",
        ),
        Means(
            "theanorc-misconfigured",
            "Theano's compiler finds no cuDNN: its directory is not named to it",
            0.75,
            given=r"Can not use cuDNN on context",
        ),
        asks="Is there a cudnn.h on this machine (find / -name cudnn.h)?",
        source="Theano/Theano: theano/gpuarray/dnn.py, theano/sandbox/cuda/dnn.py",
    ),
)
