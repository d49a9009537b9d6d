"""No code for this card: too new for the build's CUDA, too old for it, or left out of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from compat.version import ComputeCapability, CudaVersion
from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import JETSON

_LEFT_OUT, _NEW, _OLD = "gpu-arch-not-in-build", "gpu-too-new-for-cuda", "gpu-too-old-dropped"
_EXTENSION = "extension-built-for-other-arch"
_EXTENSIONS = (
    r"\b(?:mish_cuda|mish-cuda|flash[_-]attn|flash_attn_cuda|xformers|apex|causal_conv1d|mamba_ssm"
    r"|selective_scan|bitsandbytes"
    r"|spconv|detectron2|mmcv|tinycudann|tiny-cuda-nn|pytorch3d|nvdiffrast|gsplat|deepspeed|vllm\._C|vllm/_C|_moe_C"
    r"|torchao|exllama\w*|sgl_kernel|diff_gaussian_rasterization|sageattention|natten)\b"
)


def _capability(digits: str) -> ComputeCapability:
    return ComputeCapability(int(digits[:-1]), int(digits[-1]))


def _against_list(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """torch names the card's compute capability and those of its build."""
    card = _capability(found["sm"])
    built = sorted(_capability(one) for one in re.findall(r"sm_(\d{2,3})", found["list"] or ""))
    if not built:
        yield Means(_LEFT_OUT, f"this torch has no code for {card.sm}", 0.8)
        return
    first, last = built[0], built[-1]
    says = f"this build has code for {first.sm} to {last.sm}, the card is {card.sm}"
    if card < first:
        yield Means(_OLD, f"{says}: it was dropped", 0.95)
    elif card > last:
        yield from _too_new(card, clues, says)
    else:
        yield Means(_LEFT_OUT, f"{says}, which this build leaves out", 0.95)


def _too_new(card: ComputeCapability, clues: Clues, says: str) -> Iterator[Means]:
    """Whether the build's CUDA could have had code for the card."""
    try:
        first = clues.matrix.first_cuda_for(card)
    except Uncovered:
        first = None
    known = clues.build_cuda
    if first is None or known is None:
        yield Means(_NEW, f"{says}: a build with a newer CUDA has it", 0.8)
        yield Means(_LEFT_OUT, f"{says}, which is not in this build", 0.75)
    elif known < first:
        yield Means(_NEW, f"{says}, which came with CUDA {first}; this build is of CUDA {known}", 0.95)
    else:
        yield Means(_LEFT_OUT, f"{says}, which this build leaves out although its CUDA {known} knows it", 0.93)


def _by_name(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The message names no card; the text may."""
    says = "the program has no code for this card"
    if clues.has(_EXTENSIONS) and not clues.has(r"is not compatible with the current PyTorch"):
        yield Means(_EXTENSION, "a compiled extension has no code for this card", 0.9)
    if clues.has(JETSON):
        yield Means("jetson-wrong-wheel", "the wheel is not the one for this Jetson's JetPack", 0.75)
    card = clues.capabilities[-1] if clues.capabilities else None
    if card is None:
        yield Means(_LEFT_OUT, says, 0.7)
        return
    known = clues.build_cuda
    try:
        first = clues.matrix.first_cuda_for(card)
    except Uncovered:
        first = None
    if known is not None and first is not None and known < first:
        yield Means(_NEW, f"{says} ({card.sm}), which came with CUDA {first}; the build is of CUDA {known}", 0.92)
        return
    if known is not None and first is not None and card >= _NEWEST:
        yield Means(_LEFT_OUT, f"{says} ({card.sm}), though CUDA {known} of the build knows it", 0.8)
        yield Means(_EXTENSION, f"a compiled part beside the framework has no code for {card.sm}", 0.75)
    elif card < _OLDEST_SERVED:
        yield Means(_OLD, f"{says}: {card.sm} has been dropped from the usual builds", 0.8)
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.6)
    elif card >= _NEWEST:
        yield Means(_NEW, f"{says}: {card.sm} needs CUDA {first or '12.8'} or newer in the build", 0.8)
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.75)
    else:
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.75)


def _not_compiled(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """NVRTC refuses the architecture; the text may name the card, and the CUDA that NVRTC is of."""
    asked = re.search(r"-arch[= ]*(?:compute|sm)_(\d{2,3})|compute capability \(?(\d{1,2}\.\d)", clues.text)
    cards = (*((_capability((asked[1] or asked[2]).replace(".", "")),) if asked else ()), *clues.capabilities)
    told = re.search(
        r"CUDA (?:Runtime |Build )?Version *:? *(\d{1,2})(?:0(\d)0\b|\.(\d))|release (\d+)\.(\d), V", clues.text
    )
    cuda = clues.build_cuda
    if told:
        major, *minor = (group for group in told.groups() if group)
        cuda = CudaVersion(int(major), int(minor[0]) if minor else 0)
    says = f"NVRTC{f' of CUDA {cuda}' if cuda else ''} does not compile for this card"
    try:
        knows = clues.matrix.targets(cuda) if cuda else None
    except Uncovered:
        knows = None
    old = bool(cards) and (cards[0] < knows.capability_min if knows else cards[0] < _OLDEST_SERVED)
    sure = 0.9 if cards and knows else 0.6
    yield Means(_OLD if old else _NEW, f"{says}, {'dropped' if old else 'which is newer'}", sure)
    if not cards:
        yield Means(_OLD, f"{says}, which may have been dropped", 0.5)


def _unknown_arch(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """This torch builds extensions for the architectures that it lists; newer cards came after it."""
    arch = found["arch"]
    if _capability(arch.replace(".", "")) >= ComputeCapability(7, 0):
        yield Means(_NEW, f"this torch builds no extension for compute capability {arch}, which is newer", 0.8)
    else:
        yield Means(_OLD, f"this torch no longer builds for compute capability {arch}", 0.7)
        yield Means(_NEW, f"or this torch does not know {arch} yet", 0.5)


_OLD_NAMES = r"machine is (?:Kepler|Maxwell|Pascal|Volta)"
_OLDEST_SERVED = ComputeCapability(6, 1)  # torch's CUDA builds of 2018 to 2025 began at 3.5 to 7.5: see compat/data
_NEWEST = ComputeCapability(10, 0)

FAMILY = Family(
    Signature(
        r"'?cuModuleLoadData\(&module, data\)'? failed with '?CUDA_ERROR_INVALID_PTX",
        Means(_LEFT_OUT, "this TensorFlow has no code for the card, and the driver refuses its PTX", 0.9),
        source="tensorflow/tensorflow: tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc; #101746",
    ),
    Signature(
        r"PTX version (?P<ptx>\d+\.\d+) does not support target '?(?P<target>sm_\d+a?)",
        Means("ptxas-too-old", "the CUDA that was found compiles to PTX {ptx}, which does not know {target}", 0.85),
        source="llvm/llvm-project: llvm/lib/Target/NVPTX/NVPTXSubtarget.cpp; tensorflow/tensorflow#111958",
    ),
    Signature(
        r"with CUDA capability sm_(?P<sm>\d{2,3})a? is not compatible with the current PyTorch installation\."
        r"(?: The current PyTorch install supports CUDA capabilities (?P<list>(?:(?:sm|compute)_\w+[ .]*)+))?",
        decide=_against_list,
        source="pytorch/pytorch: torch/cuda/__init__.py, incompatible_device_warn",
    ),
    Signature(
        r"no kernel image is available for execution on the device|cudaErrorNoKernelImageForDevice"
        r"|CUDA_ERROR_NO_BINARY_FOR_GPU|no kernel image for device"
        r"|get_arch_list\(\) does not contain sm_\d+|was not built to work with the selected device",
        decide=_by_name,
        asks=(
            "Which card is it, and which build: `python -c 'import torch; print(torch.version.cuda, "
            "torch.cuda.get_arch_list())'`?"
        ),
        source="NVIDIA CUDA Runtime API, error 209; opencv/opencv: modules/dnn/src/op_cuda.cpp",
    ),
    Signature(
        r"invalid device function|cudaErrorInvalidDeviceFunction|CUDA_ERROR_INVALID_SOURCE"
        r"|device kernel image is invalid",
        Means(_EXTENSION, "a compiled extension has no code for this card", 0.85, given=_EXTENSIONS),
        Means(_LEFT_OUT, "the program has no code for this card", 0.75, unless=_EXTENSIONS),
        source="NVIDIA CUDA Runtime API, errors 98 and 200",
    ),
    Signature(
        r"invalid value for --gpu-architecture \(-arch\)|NVRTC_ERROR_INVALID_OPTION",
        decide=_not_compiled,
        asks="Which card is it, and of which CUDA is NVRTC (cupy.show_config, torch.version.cuda)?",
        source="NVRTC; cupy/cupy: cupy/cuda/compiler.py; pytorch/pytorch: torch/csrc/jit/codegen/fuser/cuda",
    ),
    Signature(
        r"no longer supports this GPU because it is too old"
        r"|Minimum and Maximum cuda capability supported by this version of PyTorch"
        r"|GPU\S* with compute capability [\d.]+[^\n]{0,80}(?:too old|no longer supported|not supported)"
        r"|too old to be supported by the triton GPU compiler|Triton only supports devices of CUDA Capability"
        r"|FlashAttention only supports [^\n]{0,60}or newer"
        r"|GPU with NVIDIA \S+ \(Compute Capability [\d.]+\) or newer architecture is required"
        r"|installation is missing the necessary PTX files"
        r"|The minimum required (?:Cuda|GPU) (?:compute )?capability is (?P<least>[\d.]+)"
        r"|Ignoring visible gpu device[^\n]{0,160}with Cuda compute capability (?P<has>[\d.]+)",
        Means(_OLD, "this build no longer has code for a card this old", 0.93),
        source=(
            "pytorch/pytorch: torch/cuda/__init__.py, old_gpu_warn; tensorflow/tensorflow: "
            "common_runtime/gpu/gpu_device.cc; rapidsai/cudf: cudf/utils/gpu_utils.py; pytorch/pytorch: "
            "torch/_inductor; "
            "Dao-AILab/flash-attention: csrc/flash_attn/flash_api.cpp"
        ),
    ),
    Signature(
        r"Expected (?P<asked>is_(?:sm\w+|dgx)[^\n]{0,60}?) to be true, but got false",
        Means(_EXTENSION, "this release of flash-attn has no code for the card ({asked})", 0.75),
        source="Dao-AILab/flash-attention: csrc/flash_attn/fmha_api.cpp, before 2",
    ),
    Signature(
        r"GPU architecture in your current machine is (?P<name>\w+), which is not compatible with Paddle "
        r"installation with "
        r"arch: (?P<list>[\d ]+)",
        Means(_OLD, "this Paddle has code for {list} only, and the card is a {name}", 0.93, given=_OLD_NAMES),
        Means(_LEFT_OUT, "this Paddle has code for {list} only, and the card is a {name}", 0.9, unless=_OLD_NAMES),
        source="PaddlePaddle/Paddle: paddle/phi/backends/gpu/gpu_resources.cc, InitGpuProperties",
    ),
    Signature(
        r"CUDA_?STATUS_ARCH_MISMATCH|CUDNN_STATUS_(?:NOT_SUPPORTED_)?ARCH_MISMATCH",
        Means("cudnn-arch-mismatch", "the card is below the smallest compute capability of this cuDNN", 0.95),
        source="NVIDIA cuDNN API, cudnnStatus_t",
    ),
    Signature(
        r"TensorFlow was not built with CUDA kernel binaries compatible with compute capability (?P<has>\d+\.\d+a?)",
        Means(_NEW, "TensorFlow has no code for {has} and compiles PTX at the first run, which takes long", 0.6),
        Means(_LEFT_OUT, "TensorFlow has no code for {has}", 0.55),
        source="tensorflow/tensorflow: common_runtime/gpu/gpu_device.cc",
    ),
    Signature(
        r"Unknown CUDA arch \((?P<arch>\d{1,2}\.\d)\) or GPU not supported",
        decide=_unknown_arch,
        source="pytorch/pytorch: torch/utils/cpp_extension.py, _get_cuda_arch_flags",
    ),
    Signature(
        r"Bfloat16 is only supported on GPUs with compute capability of at least",
        Means("not-a-stack-problem", "this card has no bfloat16: choose float16 (--dtype half)", 0.9),
        source="vllm-project/vllm: vllm/worker/worker.py, _check_if_gpu_supports_dtype",
    ),
)
