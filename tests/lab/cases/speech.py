"""CTranslate2, alone and below faster-whisper: cuBLAS and the parts of cuDNN come from elsewhere.

Laid like the wheels of 4.4.0 (the main library of cuDNN 8.9.7 inside), 4.6.0 (9.1.0) and 4.8.5 (none).
"""

from __future__ import annotations

from tests.lab import cudnn_tree
from tests.lab.case import Case, fault
from tests.lab.cases.eras import CUDA_ON_PATH
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.libraries import LONELY
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import WORKSTATION, Part, at, cuda_wheels, cudnn_wheel, package, site_of, together, toolkit

_CUDNN = {"4.4.0": ("libcudnn-463fd6d5.so.8.9.7", "8.9.7"), "4.6.0": ("libcudnn-74a4c495.so.9.1.0", "9.1.0")}
_CU11 = ("libcublas.so.11", "libcublasLt.so.11")
WHISPER = package("faster-whisper", "1.2.1", requires=("ctranslate2<5,>=4.0",))
CUDNN_9 = at("/", cudnn_tree.debian_of)
CUDNN_8 = at("/usr/local/cuda/lib64", cudnn_tree.copy_of, "8.9.7", chain=True)
CUBLAS = f"{site_of()}/nvidia/cublas/lib"
CUDNN = f"{site_of()}/nvidia/cudnn/lib"


def ctranslate2(version: str) -> Part:
    """Its wheel: the extension, and the libraries beside it by the names of auditwheel."""
    name, release = _CUDNN.get(version, ("", ""))
    main = f"libctranslate2-d3638643.so.{version}"
    beside = "$ORIGIN/../ctranslate2.libs"
    tree: dict[str, str | bytes] = {
        "ctranslate2/__init__.py": "",
        "ctranslate2/_ext.cpython-312-x86_64-linux-gnu.so": elf_bytes(needed=(main,), rpath=beside),
        f"ctranslate2.libs/{main}": elf_bytes(
            main, needed=(name,) if name else (), rpath="$ORIGIN", rodata=b"code", rodata_name=".nv_fatbin"
        ),
    }
    if name:
        tree[f"ctranslate2.libs/{name}"] = cudnn_tree.part_bytes("", release, runpath="", rpath="")
    return package("ctranslate2", version, tree)


CASES = (
    fault(
        "ctranslate2-wheels",
        "faster-whisper beside the cuBLAS wheel, in which CTranslate2 does not look",
        LONELY,
        ctranslate2("4.8.5"),
        WHISPER,
        cuda_wheels(),
        codes=("wheel-libs-not-on-loader-path",),
    ),
    Case(
        "ctranslate2-wheels-named",
        "the same with the wheels in LD_LIBRARY_PATH",
        together(WORKSTATION, LONELY, ctranslate2("4.6.0"), WHISPER, cuda_wheels(), cudnn_wheel()),
        environ={"LD_LIBRARY_PATH": f"{CUBLAS}:{CUDNN}"},
    ),
    fault(
        "ctranslate2-nothing",
        "CTranslate2 without cuBLAS",
        LONELY,
        ctranslate2("4.8.5"),
        codes=("cudart-soname-missing",),
    ),
    fault(
        "ctranslate2-3-cuda-12",
        "CTranslate2 3.24, which wants CUDA 11, and the machine has 12: a newer one takes it",
        EMPTY,
        ctranslate2("3.24.0"),
        codes=("framework-wants-other-cuda",),
        environ=CUDA_ON_PATH,
    ),
    fault(
        "ctranslate2-3-cuda-12-in-wheels",
        "the same with the wheels of CUDA 12, in which the newer one does not look",
        LONELY,
        ctranslate2("3.24.0"),
        cuda_wheels(),
        codes=("framework-wants-other-cuda",),
    ),
    fault(
        "ctranslate2-3-pinned",
        "the same below a faster-whisper that takes no newer one: wheels of CUDA 11",
        EMPTY,
        ctranslate2("3.24.0"),
        package("faster-whisper", "0.10.1", requires=("ctranslate2<4,>=3.22",)),
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
        environ=CUDA_ON_PATH,
    ),
    Case(
        "ctranslate2-3-wheels-named",
        "CTranslate2 3.24 with the one wheel of CUDA 11 that it asks for, in LD_LIBRARY_PATH",
        together(
            WORKSTATION,
            LONELY,
            ctranslate2("3.24.0"),
            package(
                "nvidia-cublas-cu11", "11.11.3.6", {f"nvidia/cublas/lib/{name}": elf_bytes(name) for name in _CU11}
            ),
        ),
        environ={"LD_LIBRARY_PATH": CUBLAS},
    ),
    fault(
        "ctranslate2-cuda-13",
        "CTranslate2 4.8, which wants CUDA 12, and the machine has 13",
        LONELY,
        toolkit("13.0.1"),
        ctranslate2("4.8.5"),
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "ctranslate2-cudnn-8-beside-9",
        "faster-whisper on CTranslate2 4.4, which wants cuDNN 8, and only 9 is there",
        EMPTY,
        CUDNN_9,
        ctranslate2("4.4.0"),
        WHISPER,
        codes=("cudnn-sublibrary-missing",),
        environ=CUDA_ON_PATH,
    ),
    fault(
        "ctranslate2-alone-beside-9",
        "CTranslate2 4.4 without a word of Whisper, and only cuDNN 9 is there",
        EMPTY,
        CUDNN_9,
        ctranslate2("4.4.0"),
        codes=("cudnn-sublibrary-missing",),
        environ=CUDA_ON_PATH,
    ),
    fault(
        "ctranslate2-torch-9",
        "the same beside a torch with the wheel of cuDNN 9",
        ctranslate2("4.4.0"),
        codes=("cudnn-sublibrary-missing",),
        environ=CUDA_ON_PATH,
    ),
    fault(
        "ctranslate2-9-beside-8",
        "CTranslate2 4.6, which wants cuDNN 9, and only 8 is there",
        EMPTY,
        CUDNN_8,
        ctranslate2("4.6.0"),
        codes=("cudnn-sublibrary-missing",),
        environ=CUDA_ON_PATH,
    ),
    Case(
        "ctranslate2-debian-cudnn",
        "faster-whisper on CTranslate2 4.6 with the system's CUDA and cuDNN",
        together(WORKSTATION, EMPTY, CUDNN_9, ctranslate2("4.6.0"), WHISPER),
        environ=CUDA_ON_PATH,
    ),
    Case(
        "ctranslate2-translation",
        "CTranslate2 4.4 without Whisper: it needs no cuDNN",
        together(WORKSTATION, EMPTY, ctranslate2("4.4.0")),
        environ=CUDA_ON_PATH,
    ),
)
