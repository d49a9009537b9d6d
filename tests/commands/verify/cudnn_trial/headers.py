"""The real headers of cuDNN, for slow tests: fetched when they run, never kept in the project."""

from __future__ import annotations

import re
from pathlib import Path

from tests.wheels import fetch, unpack

# release: the wheel that has its headers, the Python that the wheel is for, their folder
RELEASES = {
    "7.6.5": ("cupy-cuda101==7.8.0", "3.7", "cupy/.data/include/"),
    "8.9.7": ("nvidia-cudnn-cu12==8.9.7.29", "3.11", "nvidia/cudnn/include/"),
    "9.10.2": ("nvidia-cudnn-cu12==9.10.2.21", "3.11", "nvidia/cudnn/include/"),
    "9.13.0": ("nvidia-cudnn-cu13==9.13.0.50", "3.11", "nvidia/cudnn/include/"),
}
# What cudnn.h wants of CUDA's own headers.
_CUDA = {
    "cuda_runtime.h": "#include <stddef.h>\n#include <stdint.h>\n"
    "typedef struct CUstream_st *cudaStream_t;\ntypedef struct CUgraph_st *cudaGraph_t;\n",
    "cuda_runtime_api.h": '#include "cuda_runtime.h"\n',
    "driver_types.h": '#include "cuda_runtime.h"\n',
    "library_types.h": "#define __LIBRARY_TYPES_H__\n"
    "typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;\n",
}


def include(release: str, folder: Path) -> list[str]:
    """The compiler's options for that release's headers, unpacked below a folder."""
    requirement, python, inside = RELEASES[release]
    unpack(fetch(requirement, python=python), folder, [inside])
    cuda = folder / "cuda"
    cuda.mkdir()
    for name, text in _CUDA.items():
        (cuda / name).write_text(f"#pragma once\n{text}")
    return ["-isystem", str(folder / inside), "-isystem", str(cuda)]


def text(release: str, folder: Path) -> str:
    """Every header of a release, one after the other."""
    requirement, python, inside = RELEASES[release]
    unpack(fetch(requirement, python=python), folder, [inside])
    return "\n".join(path.read_text(errors="replace") for path in sorted((folder / inside).glob("cudnn*.h")))


def numbers(header: str) -> dict[str, int]:
    """The members of its enumerations, without CUDNN_.

    One without a number follows the one before it; one that is set to another's name is that one's alias.
    """
    found: dict[str, int] = {}
    plain = re.sub(r"/\*.*?\*/|//[^\n]*|CUDNN_DEPRECATED_ENUM", "", header, flags=re.DOTALL)
    for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", plain, re.DOTALL):
        value = -1
        for member in body.split(","):
            match = re.fullmatch(r"\s*CUDNN_(\w+)\s*(?:=\s*(?:(-?\d+)|CUDNN_(\w+)))?\s*", member)
            if match:
                value = int(match[2]) if match[2] else found[match[3]] if match[3] else value + 1
                found[match[1]] = value
    return found
