"""Files that a remedy would bring, as far as the matrix knows them: what readers would find in them.

What is unknown is left out, and stays unseen. The search paths of NVIDIA's libraries were read from their wheels and
archives (cuDNN 8.9 to 9.28, cuBLAS and the runtime of CUDA 11.8 to 13): each names its own directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compat.matrix import Matrix, Uncovered
from compat.row import LibraryRow
from compat.version import CudaVersion, CudnnVersion
from doctor.host.overlay import Changes
from doctor.loader.code_tools import PTXAS_SAYS
from doctor.loader.cudnn_library import foretold
from doctor.loader.library import MEMORY as LOADER
from doctor.loader.library import memory_of_text
from doctor.loader.library_cuda_major import NCCL_SAYS
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or

_OWN_DIRECTORY = "$ORIGIN"
_DEEPER = 13  # CUDA major from which a toolkit of Windows has its DLLs in bin/x64 (NVIDIA's archives of cuda_cudart)
# The libmxnet.so of mxnet-cu102 and mxnet-cu112 takes NVTX's library from the toolkit; of CUDA 12 nothing is known to.
_WITHOUT_NVTX = 12
# What wheels beside CUDA's own bring, {} is the CUDA major. Source: RECORD of nvidia-cuda-cupti-cu12 12.8.90,
# nvidia-cuda-cupti 13.2.86, nvidia-cufile-cu12 1.13.1.3, nvidia-cufile 1.17.1.22, nvidia-cusparselt-cu12 0.7.1, -cu13
# 0.8.1, nvidia-nvshmem-cu13 3.7.2, nvidia-nvtx-cu11 11.8.86.
_BESIDE = {
    "nvidia-cuda-cupti": "libcupti.so.{}",
    "nvidia-cufile": "libcufile.so.0",
    "nvidia-cusparselt": "libcusparseLt.so.0",
    "nvidia-nvshmem": "libnvshmem_host.so.3",
    "nvidia-nvtx": "libnvToolsExt.so.1",
}


class PredictedFiles:
    """Files to add to the changes of a machine, one after the other."""

    def __init__(self, facts: Facts, matrix: Matrix) -> None:
        self._machine = value_or(facts.system.machine, "x86_64")
        self._windows = value_or(facts.system.family, "") == "windows"
        self._matrix = matrix
        self.libraries: dict[str, Mapping[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}

    def onto(self, changes: Changes) -> Changes:
        """The changes with these files, in place of what was there."""
        made = {*self.libraries, *self.files, *self.links}
        return changes.without(made)._replace(
            foreseen={**changes.foreseen, **self.libraries},
            files={**changes.files, **self.files},
            links={**{path: text for path, text in changes.links.items() if path not in made}, **self.links},
        )

    def cudnn(self, directory: str, release: CudnnVersion) -> tuple[str, ...]:
        """The libraries of a release, as a wheel or a package names them; their names. Raises Uncovered."""
        row = self._matrix.cudnn(release)
        parts, main = (
            (row.parts_windows, f"cudnn64_{row.version.major}.dll") if self._windows else (row.parts_linux, row.soname)
        )
        if parts is None:
            raise Uncovered(f"the libraries of cuDNN {row.version}")
        names = (main, *parts)
        for name in names:
            said = foretold(name, self._machine, row.version)
            self.libraries[f"{directory}/{name}"] = {LOADER: self._loading(name), **said}
        return names

    def cudnn_header(self, directory: str, release: CudnnVersion) -> None:
        """The header that tells the release; raises Uncovered."""
        row = self._matrix.cudnn(release)
        macros = zip(("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"), (*row.version, 0, 0), strict=False)
        self.files[f"{directory}/{row.header}"] = "".join(
            f"#define {name} {value}\n" for name, value in macros
        ).encode()

    def library(self, directory: str, soname: str, *needed: str) -> None:
        """One of CUDA's libraries."""
        self.libraries[f"{directory}/{soname}"] = {LOADER: self._loading(soname, *needed)}

    def _loading(self, soname: str, *needed: str) -> list[Any]:
        return [soname, self._machine, None, _OWN_DIRECTORY, False, False, *needed]

    def wheel(self, site: str, name: str, version: str) -> tuple[str, ...]:
        """What a wheel of NVIDIA's brings: paths below the site directory; () for one that the matrix does not know."""
        if name.startswith("nvidia-cudnn-cu"):
            return self._cudnn_wheel(site, version)
        if name.startswith("nvidia-nccl-cu"):
            return self._nccl_wheel(site, name, version)
        sonames = [row.soname for row in self._rows() if row.wheel == name] or _beside(name)
        folder = folder_of_wheel(name)
        for soname in sonames:
            self.library(f"{site}/{folder}", soname)
        paths = [f"{folder}/{soname}" for soname in sonames]
        return (*paths, *self._compiler_wheel(site, name, version))

    def _cudnn_wheel(self, site: str, version: str) -> tuple[str, ...]:
        folder = "nvidia/cudnn/lib"
        try:
            release = CudnnVersion.parse(version)
            self.cudnn_header(f"{site}/nvidia/cudnn/include", release)
            names = self.cudnn(f"{site}/{folder}", release)
            header = f"nvidia/cudnn/include/{self._matrix.cudnn(release).header}"
            return (*(f"{folder}/{name}" for name in names), header)
        except (Uncovered, ValueError):
            return ()

    def _nccl_wheel(self, site: str, name: str, version: str) -> tuple[str, ...]:
        """One library, of which the name says the CUDA (nvidia-nccl-cu12 2.18.1 and 2.32.3, -cu13 2.32.3)."""
        folder, text = folder_of_wheel(name), f"NCCL version {version}+cuda{name.rpartition('-cu')[2]}.0"
        self.library(f"{site}/{folder}", "libnccl.so.2")
        self.libraries[f"{site}/{folder}/libnccl.so.2"] = {
            **self.libraries[f"{site}/{folder}/libnccl.so.2"],
            memory_of_text(NCCL_SAYS): text,
        }
        return (f"{folder}/libnccl.so.2",)

    def _compiler_wheel(self, site: str, name: str, version: str) -> tuple[str, ...]:
        """ptxas and libdevice; from CUDA 13 on libdevice has a wheel of its own, nvidia-nvvm."""
        if name == "nvidia-nvvm":
            paths: tuple[str, ...] = ("nvidia/cu13/nvvm/libdevice/libdevice.10.bc",)
        elif name.startswith("nvidia-cuda-nvcc"):
            folder = "nvidia/cu13" if name == "nvidia-cuda-nvcc" else "nvidia/cuda_nvcc"
            paths = (f"{folder}/bin/ptxas",)
            paths += () if folder.endswith("cu13") else (f"{folder}/nvvm/libdevice/libdevice.10.bc",)
        else:
            return ()
        for path in paths:
            said = {memory_of_text(PTXAS_SAYS): f"{PTXAS_SAYS.decode()}{version}, V{version}"}
            self.libraries[f"{site}/{path}"] = said if version and path.endswith("ptxas") else {}
        return paths

    def toolkit(self, root: str, cuda: CudaVersion, release: str = "") -> None:
        """A whole toolkit of CUDA, from its name files to its compiler."""
        told = release or str(cuda)
        self.files[f"{root}/version.json"] = f'{{"cuda": {{"name": "CUDA SDK", "version": "{told}"}}}}'.encode()
        number = cuda.major * 1000 + cuda.minor * 10
        self.files[f"{root}/include/cuda.h"] = f"#define CUDA_VERSION {number}\n".encode()
        self.files[f"{root}/include/cuda_runtime.h"] = b"\n"
        program = ".exe" if self._windows else ""
        for path in (f"bin/nvcc{program}", f"bin/ptxas{program}", "nvvm/libdevice/libdevice.10.bc"):
            self.libraries[f"{root}/{path}"] = {}
        if cuda.major < _WITHOUT_NVTX and not self._windows:
            self.library(f"{root}/lib64", "libnvToolsExt.so.1")
        for row in self._rows():
            if not _is_for(row, cuda):
                continue
            if self._windows and row.dll:
                self.libraries[f"{root}/{dlls_below(cuda)}/{row.dll}"] = {}
            elif not self._windows:
                self.library(f"{root}/lib64", row.soname)
                self.links[f"{root}/lib64/{row.soname.partition('.so')[0]}.so"] = row.soname

    def _rows(self) -> Iterator[LibraryRow]:
        rows: tuple[LibraryRow, ...] = self._matrix.rows("libraries", "sonames")
        return iter(rows)


def dlls_below(cuda: CudaVersion) -> str:
    """Where the DLLs of a toolkit lie; from CUDA 13 on one directory deeper."""
    return "bin/x64" if cuda.major >= _DEEPER else "bin"


def _is_for(row: LibraryRow, cuda: CudaVersion) -> bool:
    from compat.specifier import accepts  # late: only a foreseen toolkit needs it

    return not row.soname.startswith(("libcudnn", "libnccl")) and accepts(row.cuda, str(cuda))


def _beside(name: str) -> list[str]:
    """The library of a wheel that no row of CUDA's own libraries names; [] for one that is unknown."""
    bare = re.sub(r"-cu\d+$", "", name)
    major = name[len(bare) + 3 :] or "13"  # from CUDA 13 on a name has no number
    return [_BESIDE[bare].format(major)] if bare in _BESIDE else []


def folder_of_wheel(name: str) -> str:
    """Where a wheel of NVIDIA's keeps its libraries: "nvidia/cuda_runtime/lib", from CUDA 13 on "nvidia/cu13/lib".

    Source: RECORD of the wheels of CUDA 11.8, 12.8 and 13.0; cuDNN, NCCL, cuSPARSELt and NVSHMEM kept their own.
    """
    bare = re.fullmatch(r"nvidia-(.+?)(?:-cu(\d+))?", name)
    if bare is None:
        return ""
    return f"nvidia/{bare[1].replace('-', '_')}/lib" if bare[2] else "nvidia/cu13/lib"
