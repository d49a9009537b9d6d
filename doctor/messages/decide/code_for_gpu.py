"""No code for this card: too new for the build's CUDA, too old for it, or left out of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from compat.version import ComputeCapability, CudaVersion
from doctor.messages.clues import Clues
from doctor.messages.decide._words import JETSON
from doctor.messages.signature import Means

_LEFT_OUT, _NEW, _OLD = "gpu-arch-not-in-build", "gpu-too-new-for-cuda", "gpu-too-old-dropped"
_EXTENSION = "extension-built-for-other-arch"
_EXTENSIONS = (
    r"\b(?:mish_cuda|mish-cuda|flash[_-]attn|flash_attn_cuda|xformers|apex|causal_conv1d|mamba_ssm"
    r"|selective_scan|bitsandbytes"
    r"|spconv|detectron2|mmcv|tinycudann|tiny-cuda-nn|pytorch3d|nvdiffrast|gsplat|deepspeed|vllm\._C|vllm/_C|_moe_C"
    r"|torchao|exllama\w*|sgl_kernel|diff_gaussian_rasterization|sageattention|natten)\b"
)

_BUILT_FOR = re.compile(r"install supports CUDA capabilities ((?:(?:sm|compute)_\w+[ .]{0,3}){1,40})")


def _capability(digits: str) -> ComputeCapability:
    return ComputeCapability(int(digits[:-1]), int(digits[-1]))


def against_list(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """torch names the card's compute capability and those of its build."""
    card = _capability(found["sm"])
    told = found["list"] or " ".join(_BUILT_FOR.findall(clues.text))  # other ranks print between the two lines
    built = sorted({_capability(one) for one in re.findall(r"sm_(\d{2,3})", told)})
    if not built:
        yield Means(_LEFT_OUT, f"this torch has no code for {card.sm}", 0.8)
        return
    first, last = built[0], built[-1]
    says = f"this build has code for {first.sm} to {last.sm}, but the card is {card.sm}"
    if card < first:
        yield Means(_OLD, f"{says}: support was dropped", 0.95)
    elif card > last:
        yield from _too_new(card, clues, says)
    else:
        yield Means(_LEFT_OUT, f"{says}: this build leaves it out", 0.95)


def _too_new(card: ComputeCapability, clues: Clues, says: str) -> Iterator[Means]:
    """Whether the build's CUDA could have had code for the card."""
    try:
        first = clues.matrix.first_cuda_for(card)
    except Uncovered:
        first = None
    known = clues.build_cuda
    if first is None or known is None:
        yield Means(_NEW, f"{says}: a build with a newer CUDA has it", 0.8)
        yield Means(_LEFT_OUT, f"{says}: this build does not have it", 0.75)
    elif known < first:
        yield Means(_NEW, f"{says}: it needs CUDA {first}, and this build has CUDA {known}", 0.95)
    else:
        yield Means(_LEFT_OUT, f"{says}: this build leaves it out, although its CUDA {known} supports it", 0.93)


def two_capabilities(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """The program names the GPU's compute capability and the one that it was built for."""
    has, built = (_capability(found[name].replace(".", "")) for name in ("has", "built"))
    own = f"`export CUDA_COMPUTE_CAP={found['has']}`"
    fix = f"Take the image or the build of the program for {has.sm}. Its own build: {own}."
    if has < built:
        yield Means(_OLD, f"the program is built for {built.sm}, and this GPU is {has.sm}", 0.85, mends=fix)
    else:
        yield Means(_LEFT_OUT, f"the program is built for {built.sm} only, and this GPU is {has.sm}", 0.85, mends=fix)


def by_name(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """The message names no card; the text may."""
    says = "the program has no code for this card"
    if clues.has(_EXTENSIONS) and not clues.has(r"is not compatible with the current PyTorch"):
        yield Means(_EXTENSION, "a compiled extension has no code for this card", 0.9)
    if clues.has(JETSON):
        yield Means("jetson-wrong-wheel", "this wheel is not for this Jetson's JetPack", 0.75)
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
        yield Means(_NEW, f"{says} ({card.sm}): it needs CUDA {first}, and the build has CUDA {known}", 0.92)
        return
    if known is not None and first is not None and card >= _NEWEST:
        yield Means(_LEFT_OUT, f"{says} ({card.sm}), although the build's CUDA {known} supports it", 0.8)
        yield Means(_EXTENSION, f"a compiled part beside the framework has no code for {card.sm}", 0.75)
    elif card < _OLDEST_SERVED:
        yield Means(_OLD, f"{says}: the usual builds dropped {card.sm}", 0.8)
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.6)
    elif card >= _NEWEST:
        yield Means(_NEW, f"{says}: {card.sm} needs CUDA {first or '12.8'} or newer in the build", 0.8)
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.75)
    else:
        yield Means(_LEFT_OUT, f"{says} ({card.sm})", 0.75)


def not_compiled(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """NVRTC refuses the architecture; the text may name the card, and the CUDA that NVRTC is of."""
    asked = re.search(r"-arch[= ]*(?:compute|sm)_(\d{2,3})|compute capability \(?(\d{1,2}\.\d)", clues.text)
    cards = (*((_capability((asked[1] or asked[2]).replace(".", "")),) if asked else ()), *clues.capabilities)
    told = re.search(
        r"CUDA (?:Runtime |Build )?Version {0,40}:? {0,40}(\d{1,2})(?:0(\d)0\b|\.(\d))|release (\d+)\.(\d), V",
        clues.text,
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


def unknown_arch(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """This torch builds extensions for the architectures that it lists; newer cards came after it."""
    arch = found["arch"]
    if _capability(arch.replace(".", "")) >= ComputeCapability(7, 0):
        yield Means(_NEW, f"this torch builds no extension for compute capability {arch}, which is newer", 0.8)
    else:
        yield Means(_OLD, f"this torch no longer builds for compute capability {arch}", 0.7)
        yield Means(_NEW, f"or this torch does not know {arch} yet", 0.5)


_OLDEST_SERVED = ComputeCapability(6, 1)  # torch's CUDA builds of 2018 to 2025 began at 3.5 to 7.5: see compat/data
_NEWEST = ComputeCapability(10, 0)
