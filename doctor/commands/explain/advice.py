"""Commands for a cause that no rule could judge: for the system, the GPU and the library that the text shows.

The commands are gpudoctor's own plans, or a wheel that a row of the matrix names. `check` on the machine knows more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from compat.base.paths import text_beside
from compat.base.record import NamedTuple
from compat.cards import NoGpuName, gpu_card_of
from compat.matrix import Matrix, Uncovered
from doctor.commands.explain.dump import Field, Said
from doctor.messages.causes import Cause

if TYPE_CHECKING:
    from compat.row import LibraryRow


class Shown(NamedTuple):
    """What the text shows of its machine."""

    text: str  # the lines that speak for the cause
    distribution: str  # "ubuntu-22.04", "" where it is not shown
    is_windows: bool
    gpu: str  # "RTX 5090", "" where it is not shown
    framework: str  # "torch", "" where none is named
    in_python: bool
    is_wsl: bool
    is_jetson: bool
    toolkit: str  # "12.4", "" where no directory or nvcc of one is shown


def added(causes: tuple[Cause, ...], said: Iterable[Said], lines: str, matrix: Matrix) -> tuple[Cause, ...]:
    """Give the first cause its commands, where neither its message nor a rule has some."""
    if not causes or causes[0].remedies or causes[0].mends:
        return causes
    first = causes[0]
    advise, shown = _ADVICE.get(first.code), _shown(first, said, lines)
    advice = (advise(shown, matrix) if advise else "") or _fixed(first.code, shown)
    return (first._replace(mends=advice), *causes[1:]) if advice else causes


def can_help(causes: tuple[Cause, ...]) -> bool:
    """Whether `added` may add something, so that the text is worth a look."""
    return bool(causes) and not (causes[0].remedies or causes[0].mends) and causes[0].code in {*_ADVICE, *_rows()}


@lru_cache(maxsize=1)
def _rows() -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = json.loads(text_beside(__file__, "advice.json"))["advice"]
    return rows


def _fixed(code: str, shown: Shown) -> str:
    """For the text's system; a code that only one system can have needs no word of it."""
    each = _rows().get(code, {})
    return each.get("windows" if shown.is_windows else "linux") or next(iter(each.values()), "")


_IDS = {
    "Ubuntu": "ubuntu",
    "Debian GNU/Linux": "debian",
    "Fedora": "fedora",
    "Rocky Linux": "rocky",
    "AlmaLinux": "almalinux",
    "Red Hat Enterprise Linux": "rhel",
}
_WHOLE = frozenset({"debian", "rocky", "almalinux", "rhel", "fedora"})  # whose minor release is no part of the name
_FRAMEWORKS = r"(?i)\b(?:py)?(torch|tensorflow|jax|cupy|paddle|onnxruntime)|(RuntimeError: CUDA error: )"
_TOOLKIT = r"(?i)(?:\bCUDA[\\/]v|Cuda compilation tools, release )(1[0-3]\.\d)\b"
_NAMES = {"paddle": "paddlepaddle-gpu", "onnxruntime": "onnxruntime-gpu"}


def _shown(cause: Cause, said: Iterable[Said], lines: str) -> Shown:
    told = {one.field: one.value for one in said}
    system = told.get(Field.SYSTEM, "")
    found = next((re.search(rf"{name} (\d+)(\.\d+)?", system) for name in _IDS if name in system), None)
    distribution = ""
    if found:
        identity = _IDS[found[0].rpartition(" ")[0]]
        distribution = f"{identity}-{found[1]}{'' if identity in _WHOLE else found[2] or ''}"
    framework = re.search(_FRAMEWORKS, lines)
    name = (framework[1] or "torch").lower() if framework else ""  # the words "CUDA error: " are torch's
    windows = "Windows" in system or told.get(Field.FAMILY) == "windows"
    return Shown(
        text="\n".join(one.text for one in cause.matched),
        distribution=distribution,
        is_windows=windows,
        gpu=told.get(Field.GPU, "").partition(" ")[2],
        framework=_NAMES.get(name, name),
        in_python=bool(re.search(r"site-packages|Traceback|\w+Error: |>>> |python", lines)),
        is_wsl=bool(re.search(r"\bWSL|microsoft-standard|/usr/lib/wsl", lines)),
        is_jetson=bool(re.search(r"(?i)\bjetson|\bL4T\b|jetpack|\btegra", lines)),
        toolkit=toolkit[1] if (toolkit := re.search(_TOOLKIT, lines)) else "",
    )


def _where(shown: Shown) -> str:
    if shown.distribution:
        return f" --distribution {shown.distribution}"
    return " --os windows" if shown.is_windows else ""


def _driver(shown: Shown, _matrix: Matrix) -> str:
    if shown.is_jetson:
        return ""  # its driver is part of JetPack
    if shown.is_wsl:
        fix = "Install a newer driver in Windows, not in WSL: `gpudoctor install driver --os windows`. Then restart it."
    else:
        install = f"`gpudoctor install driver{_where(shown)}`"
        fix = f"Install a newer driver on the host (not in a container): {install} prints the commands. Then reboot."
    if not shown.framework:
        return fix
    return f"{fix} Or use a build for an older CUDA: `gpudoctor install {shown.framework}` finds it."


def _other_branch(shown: Shown, _matrix: Matrix) -> str:
    if shown.is_jetson or shown.is_wsl:
        return ""
    gpu = f' --gpu "{shown.gpu}"' if shown.gpu else ""
    return (
        f"Install the driver that drives this card: `gpudoctor install driver{_where(shown)}{gpu}` finds the branch "
        "and prints the commands. Then reboot."
    )


def _code_for_gpu(shown: Shown, matrix: Matrix) -> str:
    if shown.is_jetson:
        return ""
    if not shown.framework:
        return _own_build(shown, matrix)
    solve = f"gpudoctor matrix solve {shown.framework}" + (f' --gpu "{shown.gpu}"' if shown.gpu else "")
    return f"Install a build that has code for this GPU: `{solve}` names the release and prints the commands."


def _own_build(shown: Shown, matrix: Matrix) -> str:
    """For a program whose builds are not known: which build to look for, and how to make one."""
    try:
        capability = gpu_card_of(shown.gpu, matrix).capabilities[0] if shown.gpu else None
        cuda = f", built with CUDA {matrix.first_cuda_for(capability)} or newer" if capability else ""
    except (Uncovered, NoGpuName):
        capability, cuda = None, ""
    arch = str(capability) if capability else "X.Y"
    ask = "" if capability else "`nvidia-smi --query-gpu=name,compute_cap --format=csv` shows X.Y of this GPU. "
    return (
        f"{ask}Use a release of the program whose build has code for compute capability {arch}{cuda}. If you build it: "
        f"`export TORCH_CUDA_ARCH_LIST={arch}` for an extension of torch, "
        f"`cmake -DCMAKE_CUDA_ARCHITECTURES={arch.replace('.', '')}` for a CMake project."
    )


def _cpu_build(shown: Shown, _matrix: Matrix) -> str:
    if not shown.framework or shown.is_jetson:
        return ""
    install = f"`gpudoctor install {shown.framework}`"
    return f"Install the build for the GPU in the program's environment: {install} finds it and prints the commands."


_SONAME = r"\b(lib[\w-]+\.so(?:\.\d+)*)|\b(\w+64_\w+\.dll)"


def _library(shown: Shown, matrix: Matrix) -> str:
    """The wheel that has a library, and the toolkit of its CUDA."""
    named = {found[0] for found in re.finditer(_SONAME, shown.text)}
    rows: tuple[LibraryRow, ...] = matrix.rows("libraries", "sonames")
    mine = [row for row in rows if named & {row.soname, row.dll}]
    if not mine:
        return _unknown_library(shown)
    row = next((row for row in mine if row.cuda.startswith("==12")), mine[-1])  # cuRAND has one name in all of them
    cuda = re.sub(r"^>=(\d+)\..*|^==(\d+)\.\*$|^==", r"\1\2", row.cuda)
    toolkit = f"install the CUDA {cuda} toolkit: `gpudoctor install cuda {cuda}{_where(shown)}`"
    if row.wheel and shown.in_python and not shown.is_windows:
        fix = f"Install the library in the program's environment: `python -m pip install {row.wheel}`."
        return f"{fix} If the program does not search there, {toolkit} prints the commands."
    return f"{toolkit[0].upper()}{toolkit[1:]} prints the commands."


def _unknown_library(shown: Shown) -> str:
    """For a library that no row names, and for a linker that finds none."""
    if re.search(r"cannot find -l|undefined reference", shown.text):
        return (
            "Name the directory of the toolkit's libraries to the linker: `-L/usr/local/cuda/lib64 -lcudart` (cmake: "
            "`CUDA::cudart` after `find_package(CUDAToolkit)`). `gpudoctor which nvcc` shows which toolkit is there."
        )
    found = re.search(_SONAME, shown.text)
    if not found or shown.is_windows:
        return ""
    search = f"`find / -name '{found[0]}*' -not -path '/proc/*' 2>/dev/null` shows copies of it"
    return f"{search}. {_system_library(shown, None)}"


_NEWEST_CUDNN = "9"  # where the text tells none; without a version the command is refused
_CUDNN_MAJOR = r"cudnn\w*\.so\.(\d)(?!\d)|cudnn\w*64_(\d)\.dll"  # programs also look for libcudnn.so.12
# Only these have the number of CUDA: libcufft.so.11 is of CUDA 12.
_CUDA_MAJOR = r"(?i)cu(1[123])\d?\b|cuda[- :]{0,3}v?(1[123])\b|(?:cudart|cublas(?:Lt)?|nvrtc|nvJitLink)\.so\.(1[123])\b"


def _cudnn(shown: Shown, matrix: Matrix) -> str:
    found = re.search(_CUDNN_MAJOR, shown.text)
    major = next(filter(None, found.groups()), "") if found else ""
    bound = f'">={major},<{int(major) + 1}"' if major else ""
    told = re.search(_CUDA_MAJOR, shown.text)
    cuda = next(filter(None, told.groups()), "12") if told else "12"
    if shown.in_python and not shown.is_windows:
        wheel = f"nvidia-cudnn-cu{cuda}"
        asked = f'"{wheel}{bound[1:]}' if bound else wheel
        fix = f"Install cuDNN in the program's environment: `python -m pip install -U {asked}`."
        return f"{fix} `gpudoctor which cudnn` then shows which copy the program loads."
    return f"Install cuDNN: `{_install_cudnn(major or _NEWEST_CUDNN, shown, matrix)}` prints the commands."


def _install_cudnn(version: str, shown: Shown, matrix: Matrix) -> str:
    """The command; on Windows, where each CUDA has its own directory, with the CUDA that the text shows."""
    install = f"gpudoctor install cudnn {version}{_where(shown)}"
    if not shown.is_windows:
        return install
    majors = [shown.toolkit.partition(".")[0]] if shown.toolkit else ["12", "11", "13"]
    for major in majors:
        if matrix.cudnn_builds_within(f"=={version}.*", int(major)):
            return f"{install} --cuda-version {shown.toolkit or max(matrix.cudas_within(f'=={major}.*'))}"
    return install


def _built_for(shown: Shown, matrix: Matrix) -> str:
    found = re.search(
        r"(?:compiled with|compiled against|built for|built against):? v?(\d{1,2}\.\d{1,2}\.\d{1,2})\b", shown.text
    )
    install = f": `{_install_cudnn(found[1], shown, matrix)}` prints the commands" if found else ""
    return f"Use the cuDNN that the program was built for{install}. `gpudoctor which cudnn` shows which copy it loads."


def _other_python(shown: Shown, _matrix: Matrix) -> str:
    asked = re.search(r"(?:satisfies the requirement|distribution found for) ([A-Za-z][\w.-]*)", shown.text)
    if asked and asked[1].lower() not in (shown.framework, "torch", "tensorflow", "jax"):
        versions = f"`python -m pip index versions {asked[1]}`"
        return f"{versions} shows which versions have a build for this Python and system. Ask for one of them."
    if not shown.framework:
        return ""
    solve = f"`gpudoctor matrix solve {shown.framework}`"
    return f"Use a release with a wheel for this Python, or another Python: {solve} names both and prints the commands."


def _system_library(shown: Shown, _matrix: Matrix | None) -> str:
    found = re.search(r"\b(lib[\w+-]+\.so(?:\.\d+)*)", shown.text)
    if not found or shown.is_windows:
        return ""
    return (
        f"Find the package that has {found[1]} and install it: `apt-file search {found[1]}` (Debian, Ubuntu), "
        f"`dnf provides '*/{found[1]}'` (Fedora, RHEL)."
    )


_ADVICE: dict[str, Callable[[Shown, Matrix], str]] = {
    "driver-too-old-for-runtime": _driver,
    "driver-does-not-support-gpu": _other_branch,
    "ptx-newer-than-driver": _driver,
    "gpu-too-new-for-cuda": _code_for_gpu,
    "gpu-arch-not-in-build": _code_for_gpu,
    "gpu-too-old-dropped": _code_for_gpu,
    "cpu-only-wheel": _cpu_build,
    "cudart-soname-missing": _library,
    "nvrtc-missing": _library,
    "cudnn-missing": _cudnn,
    "cudnn-sublibrary-missing": _cudnn,
    "cudnn-sublibrary-mixed": _cudnn,
    "cudnn-version-mismatch-loaded-vs-compiled": _built_for,
    "python-version-no-wheel": _other_python,
    "needed-library-missing": _system_library,
}
