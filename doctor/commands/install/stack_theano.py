"""The settings of a Theano that a stack brings, in full: a plan for another machine cannot ask it.

Sources: Theano/Theano:doc/library/config.txt and doc/install_windows.txt at rel-0.8.2 (`[nvcc] compiler_bindir`,
`flags`, `fastmath`; `[gcc] cxxflags`; `[cuda] root`); BVLC/caffe#4046 (with glibc 2.23, nvcc of CUDA 7.5 needs
-D_FORCE_INLINES).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.specifier import accepts
from compat.version import CudaVersion
from installers.configuration import TheanoOrder, theano_plan
from installers.cuda_order import CudaOrder, home_of
from installers.nvcc_host import newest_visual_studio
from installers.plan import Target
from installers.step import Step
from installers.steps.add_to_path import AddToPath
from installers.steps.edit_text import EditText
from installers.steps.write_file import WriteFile

_POOL = "0.8"  # the share of the memory to reserve: a display needs the rest
_OLD = "<0.9"  # `device = gpu`, `[lib] cnmem`
_VISUAL_STUDIO = {"2010": "10.0", "2012": "11.0", "2013": "12.0", "2015": "14.0"}  # those that have VC\\bin


def settings(version: str, cuda: CudaVersion | None, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """The file, and on Windows the directory of g++."""
    windows = target.os_family == "windows"
    old = accepts(_OLD, version)
    home = home_of(CudaOrder(), str(cuda), target) if cuda else ""
    order = TheanoOrder("~/.theanorc", "gpu" if old else "cuda", "gpu" if old else "cuda", _POOL)
    steps = [one for one in theano_plan(order, ()).steps if isinstance(one, EditText)]
    steps[0] = steps[0]._replace(settings=(*steps[0].settings, ("allow_input_downcast", "True")))
    nvcc = [("fastmath", "True"), *_nvcc(cuda, target, matrix)] if old else []
    more = (("cuda", (("root", home),) if home else ()), ("nvcc", tuple(nvcc)), ("gcc", _gcc(target)))
    given = EditText(path=order.path, section="", settings=(), lines=(), why="the compilers and CUDA")
    steps += [given._replace(section=section, settings=pairs) for section, pairs in more if pairs]
    if not windows:
        return tuple(steps)
    lines = [
        line for one in steps for line in (f"[{one.section}]", *(f"{key} = {value}" for key, value in one.settings))
    ]
    write = WriteFile("~/.theanorc.txt", tuple(lines), "Theano reads this file at its start")
    return AddToPath(f"{target.prefix}\\Library\\mingw-w64\\bin", "Theano calls g++"), write


def _nvcc(cuda: CudaVersion | None, target: Target, matrix: Matrix) -> list[tuple[str, str]]:
    """The compiler that nvcc calls, and what Windows' linker needs of Python."""
    if target.os_family != "windows":
        return [("flags", "-D_FORCE_INLINES")] if cuda and cuda <= CudaVersion(8, 0) else []
    release = _VISUAL_STUDIO.get(newest_visual_studio(str(cuda), matrix), "14.0")
    compiler = f"C:\\Program Files (x86)\\Microsoft Visual Studio {release}\\VC\\bin"
    return [("compiler_bindir", compiler), ("flags", f"-L{target.prefix}\\libs")]


def _gcc(target: Target) -> tuple[tuple[str, str], ...]:
    if target.os_family != "windows":
        return ()
    return (("cxxflags", f"-I{target.prefix}\\Library\\mingw-w64\\include"),)
