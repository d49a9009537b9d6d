"""Which changes concern a GPU stack, and which of them bear on a finding.

"Bears on" is no proof of a cause: the change is of the part of the stack that the finding's fix would change.
"""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import ChangePackages, InstallPackage, Need, RemovePackage, word_of
from compat.spec import normal, parse_spec
from doctor.model.finding import Answer
from doctor.probes.changes import Change

DRIVER, KERNEL, TOOLKIT, CUDNN = "driver", "kernel", "toolkit", "cudnn"
FRAMEWORK, CONTAINER, COMPILER, SETTING, BOOT = "framework", "container", "compiler", "setting", "boot"
# Names of packages, the first that fits: Debian's, Ubuntu's, NVIDIA's, Fedora's (RPM Fusion), openSUSE's, Arch's.
_NAMES = (
    (CUDNN, r"(lib|nvidia-)?cudnn.*"),
    (CONTAINER, r"nvidia-container.*|libnvidia-container.*|docker.*|containerd.*|podman|runc|crun"),
    (DRIVER, r"nvidia-(driver|dkms|kernel|open|firmware|compute|utils|headless|fabricmanager|persistenced|lts|gl).*"),
    (DRIVER, r"nvidia|nvidia module .*|NVIDIA driver|lib(nvidia|cuda1|nvcuvid).*|cuda-(drivers|compat).*|dkms"),
    (DRIVER, r"linux-modules-nvidia.*|(kmod|akmod|xorg-x11-drv)-nvidia.*|nvidia-?G\d\d.*|xserver-xorg-video-nvidia.*"),
    (
        KERNEL,
        r"linux(-lts|-zen|-hardened)?|linux-(image|headers|modules|generic).*|kernel(-(core|modules|devel|default|headers).*)?",
    ),
    (
        TOOLKIT,
        r"cuda.*|nvidia-cuda-.*|lib(cublas|cufft|curand|cusolver|cusparse|npp|nccl|nvjpeg|nvjitlink|nvrtc|cudart|tensorrt|nvinfer).*",
    ),
    (COMPILER, r"(gcc|g\+\+|clang)(-\d+)?|gcc-c\+\+|libc6|glibc|libstdc\+\+6?"),
)
_PATTERNS = tuple((part, re.compile(names)) for part, names in _NAMES)
_OF_MACHINE = frozenset((DRIVER, KERNEL, BOOT))
# By the word of a need (compat/need.py): the parts of the stack that bring it about.
_PARTS_OF = {
    **dict.fromkeys(
        (
            *("driver", "kernel-module", "module-package", "nouveau", "driver-leftovers", "restart", "device-nodes"),
            *("gpu-firmware", "fabric-manager", "glx-alternative", "modprobe-line", "gpu-switch"),
        ),
        _OF_MACHINE,
    ),
    **dict.fromkeys(("variable", "setting", "loader-directory", "link", "file", "alternative"), frozenset((SETTING,))),
    **dict.fromkeys(("container-gpu", "service"), frozenset((CONTAINER,))),
    "cuda": frozenset((TOOLKIT, SETTING)),
    "cudnn": frozenset((CUDNN,)),
    "files-aside": frozenset((CUDNN, TOOLKIT)),
    "host-compiler": frozenset((COMPILER, TOOLKIT)),
    "cpp-runtime": frozenset((COMPILER,)),
}


def part_of(change: Change, matrix: Matrix) -> str:
    """Return the part of the stack that a change is of; "" for a package that is none of it."""
    if change.what == "started":
        return BOOT
    if change.what == "changed":
        return SETTING
    name = normal(change.name) if change.where else change.name
    if change.where and (matrix.has(name) or name.startswith("nvidia-")):
        return CUDNN if name.startswith("nvidia-cudnn") else FRAMEWORK
    return "" if change.where else next((part for part, names in _PATTERNS if names.fullmatch(name)), "")


def bears_on(change: Change, part: str, answer: Answer) -> bool:
    """Return whether a change is of what a bad answer is about: its files, packages, or part of the stack."""
    files = {one.file for one in answer.evidence if one.file}
    if part == SETTING:
        return change.name in files
    if any(file == change.source.file or file.startswith(f"{change.source.file}/") for file in files):
        return True
    parts = frozenset[str]().union(*(_PARTS_OF.get(word_of(one), frozenset()) for one in answer.needs))
    return (part in parts and not change.where) or normal(change.name) in _packages(answer.needs)


def _packages(needs: tuple[Need, ...]) -> set[str]:
    names: set[str] = set()
    for one in needs:
        if isinstance(one, (InstallPackage, RemovePackage)):
            names.add(normal(one.name))
        elif isinstance(one, ChangePackages):
            names |= {*map(normal, one.remove), *(parse_spec(each).name for each in one.install)}
    return names
