"""Faults of cuDNN beyond the ones that other doctors were measured on."""

from __future__ import annotations

from tests.lab import cudnn_tree
from tests.lab.case import Case, fault, on_disk
from tests.lab.parts import at, cudnn_wheel, files, site_of, together, without
from tests.lab.pe_file import pe_bytes

SITE = site_of()
CUDA_BIN = "/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin"


WINDOWS = files(
    {
        "/Windows/System32/kernel32.dll": pe_bytes("kernel32.dll"),
        "/Python311/python.exe": b"MZ",
        "/Python311/python311.dll": b"MZ",
    }
)

CASES = (
    fault(
        "engine-missing",
        "the wheel lost one engine library",
        without(f"{SITE}/nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9"),
        codes=("cudnn-install-incomplete",),
        first="cudnn-install-incomplete",
    ),
    fault(
        "older-than-built",
        "torch loads a cuDNN older than the one it was compiled with, which pip was made to install",
        without(f"{SITE}/nvidia*"),
        cudnn_wheel("9.1.0.70"),
        codes=("pip-nvidia-wheels-conflict", "cudnn-version-mismatch-loaded-vs-compiled"),
        first="pip-nvidia-wheels-conflict",
    ),
    fault(
        "part-shadowed",
        "LD_LIBRARY_PATH holds an incomplete copy: the shell comes from the wheel, a part from there",
        at("/opt/old/lib", cudnn_tree.copy_of, "9.1.0", parts=("graph", "ops"), chain=True),
        environ={"LD_LIBRARY_PATH": "/opt/old/lib"},
        codes=("ld-library-path-shadowing",),
    ),
    fault(
        "packages-mixed",
        "headers of cuDNN 8 under /usr/include, libraries of cuDNN 9 in the system",
        at("/", cudnn_tree.debian_of),
        files(
            {
                "/usr/include/x86_64-linux-gnu/cudnn_version.h": "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n"
                "#define CUDNN_PATCHLEVEL 7\n"
            }
        ),
        codes=("cudnn-header-library-mismatch",),
    ),
    on_disk(
        "dangling-on-disk",
        "an image whose libcudnn.so leads to nothing",
        at("/usr/local/cuda-12.8/lib64", cudnn_tree.copy_of, "9.10.2", chain=True),
        files({"/usr/local/cuda-12.8/lib64/libcudnn.so.9": "-> libcudnn.so.9.99.0"}),
        codes=("cudnn-link-broken",),
    ),
    on_disk(
        "mixed-on-disk",
        "an image with cuDNN 9 sub-libraries of two releases",
        without(f"{SITE}/nvidia*"),
        cudnn_wheel("9.10.2.21", versions={"cnn": "9.1.0", "ops": "9.1.0"}),
        codes=("cudnn-sublibrary-mixed",),
    ),
    on_disk(
        "old-mixed-on-disk",
        "cuDNN 8 copied over by hand in parts",
        at("/usr/local/cuda-11.8/lib64", cudnn_tree.copy_of, "8.9.7", versions={"ops_infer": "8.2.4"}),
        codes=("cudnn-sublibrary-mixed",),
    ),
    Case(
        "windows-zlib",
        "cuDNN 8.9 on Windows without zlibwapi.dll",
        together(
            WINDOWS,
            files({f"{CUDA_BIN}/cudart64_110.dll": b"MZ"}),
            at(CUDA_BIN, cudnn_tree.dlls_of, "8.9.2"),
        ),
        ("zlibwapi-missing",),
        where="root",
        environ={"PATH": f"C:/Python311;C:{CUDA_BIN}"},
    ),
    Case(
        "windows-half-cudnn",
        "cuDNN 9 on Windows without one of its DLLs",
        together(
            WINDOWS,
            files({f"{CUDA_BIN}/cudart64_110.dll": b"MZ"}),
            at(CUDA_BIN, cudnn_tree.dlls_of, "9.10.2", parts=("", "adv", "cnn", "graph", "heuristic", "ops")),
        ),
        ("cudnn-install-incomplete",),
        where="root",
    ),
)
