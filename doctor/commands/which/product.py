"""The libraries that can be asked for by a short name."""

from __future__ import annotations

import re

from compat.base.choice import NoSuchName
from compat.base.record import NamedTuple
from doctor.loader.library import plain_name

# Short name: the beginnings of its libraries' names up to ".so", the main one first.
PRODUCTS = {
    "cudnn": r"libcudnn(_\w+)?",
    "cublas": r"libcublas(Lt)?",
    "cudart": r"libcudart",
    "nvrtc": r"libnvrtc(-builtins)?",
    "nccl": r"libnccl",
    "nvinfer": r"libnvinfer",
    "cuda": r"libcuda",
    "cufft": r"libcufft",
    "curand": r"libcurand",
    "cusolver": r"libcusolver(Mg)?",
    "cusparse": r"libcusparse",
    "cusparselt": r"libcusparseLt",
    "cupti": r"libcupti",
    "nvjitlink": r"libnvJitLink",
    "nvshmem": r"libnvshmem_host",
    "nvtx": r"libnvToolsExt",
    "nvml": r"libnvidia-ml",
}
# Of Windows, where the name is not that of Linux.
_DLLS = {"cuda": r"nvcuda\.dll", "nvml": r"nvml\.dll"}


class Product(NamedTuple):
    """What is asked for."""

    name: str
    pattern: str  # of file names and of names that are asked for
    exact: str = ""  # the one name, where a SONAME was given

    def is_dll(self, name: str) -> bool:
        """Whether the name of a DLL is one of its libraries: cudnn64_9.dll, cublasLt64_12.dll, nvcuda.dll."""
        if self.exact:
            return name.lower() == self.exact.lower()
        pattern = rf"({PRODUCTS[self.name].removeprefix('lib')})(64)?(_[\w.]+)?\.dll"
        return re.fullmatch(_DLLS.get(self.name, pattern), name, re.IGNORECASE) is not None

    @property
    def is_cuda(self) -> bool:
        """Whether it is one of those that a short name stands for."""
        others = map(product_of, PRODUCTS)
        return not self.exact or any(one.matches(self.exact) or one.is_dll(self.exact) for one in others)

    def matches(self, name: str) -> bool:
        """Whether a file name, or a name that is asked for, is one of its libraries."""
        return re.match(self.pattern, plain_name(name.rpartition("/")[2])) is not None


def product_of(text: str) -> Product:
    """A short name, or a SONAME such as libcudnn.so.9, or a DLL's name; raises NoSuchName."""
    if (".so" in text or text.lower().endswith(".dll")) and "/" not in text:
        return Product(text, re.escape(text) + "$", text)
    if text not in PRODUCTS:
        raise NoSuchName("library", text, [*PRODUCTS, "any SONAME such as libcudnn.so.9"])
    return Product(text, rf"{PRODUCTS[text]}\.so(\.|$)")
