"""Faults of Python environments whose usual advice does harm or nothing: what is given must be the right one."""

from __future__ import annotations

from tests.lab import cudnn_tree
from tests.lab.case import Case, fault
from tests.lab.cases.frameworks import EMPTY, TF
from tests.lab.cases.known import ONNX
from tests.lab.cases.libraries import AND_CUDA, BESIDE, FINDING, JAX, LONELY
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    HOME,
    JAXLIB,
    PYTHON,
    VENV,
    WORKSTATION,
    Part,
    Tree,
    at,
    cuda_wheels,
    cudnn_wheel,
    files,
    package,
    site_of,
    together,
    without,
)

OLD_CUDNN = at("/opt/old/lib", cudnn_tree.copy_of, "9.1.0", chain=True)
OLD_PATH = {"LD_LIBRARY_PATH": "/opt/old/lib"}
USER_SITE = f"{HOME}/.local/lib/{PYTHON}/site-packages"
SEES_USER_SITE = files(
    {f"{VENV}/pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.12.4\n"}
)
BUILD_INFO = "tensorflow/python/platform/build_info.py"
PLUGIN_ASKS = ("jax-cuda12-pjrt==0.7.2", "nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'")
JAX_12 = together(
    JAX, package("jax-cuda12-plugin", "0.7.2", {"jax_cuda12_plugin/__init__.py": ""}, requires=PLUGIN_ASKS)
)
JAX_ALONE = together(package("jax", "0.7.2", {"jax/__init__.py": ""}), JAXLIB)
# The plugin opens each wheel's library by its path, wherever on sys.path it lies (jax-cuda12-pjrt 0.7.2).
JAX_OPENING_WHEELS = (
    EMPTY,
    JAX_12,
    without(f"{site_of()}/nvidia/cudnn", f"{site_of()}/nvidia_cudnn*"),
    cuda_wheels("12.8"),
    files({f"{site_of()}/jax_plugins/xla_cuda12/__init__.py": '  _load("cudnn", ["libcudnn.so.9"])\n'}),
    SEES_USER_SITE,
)
AND_CUDA_8 = ("nvidia-cudnn-cu12==8.9.7.29; extra == 'and-cuda'",)
TF_18 = together(package("tensorflow", "2.18.0", FINDING, requires=AND_CUDA), cuda_wheels("12.5"))


def built_with(cuda: str, cudnn: str, runpath: str = "") -> Tree:
    """TensorFlow of other CUDA releases."""
    said = str(TF[BUILD_INFO]).replace("12.5.1", cuda).replace('"cudnn_version", "9"', f'"cudnn_version", "{cudnn}"')
    name = "libtensorflow_framework.so.2"
    return {**TF, BUILD_INFO: said, f"tensorflow/{name}": elf_bytes(name, runpath=runpath)}


def cpu_onnxruntime(version: str) -> Part:
    """The build for the CPU alone."""
    said = f"package_name = 'onnxruntime'\n__version__ = '{version}'\n"
    return package(
        "onnxruntime",
        version,
        {"onnxruntime/__init__.py": "", "onnxruntime/capi/build_and_package_info.py": said},
    )


# 0.4.35 takes the __init__.py for granted that nvidia-cuda-nvcc-cu12 has up to 12.8 (jax/_src/lib/__init__.py)
JAX_35_CPU = together(
    package(
        "jaxlib",
        "0.4.35",
        {
            "jaxlib/__init__.py": "",
            "jaxlib/version.py": "__version__ = '0.4.35'\n",
            "jaxlib/plugin_support.py": "",
        },
    ),
    package(
        "jax",
        "0.4.35",
        {
            "jax/__init__.py": "",
            "jax/_src/lib/__init__.py": "from nvidia import cuda_nvcc\n_path = cuda_nvcc.__file__\n",
        },
    ),
)

ONNX_1_18 = package(
    "onnxruntime-gpu",
    "1.18.1",
    {
        **ONNX,
        "onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(
            "libonnxruntime_providers_cuda.so", needed=("libcublas.so.11", "libcudnn.so.8", "libcudart.so.11.0")
        ),
    },
)

# libtensorflow_framework.so.2 of 2.16.2, unlike that of 2.16.1, looks into the wheels.
TF_16 = together(
    package("tensorflow", "2.16.2", built_with("12.3.2", "8", BESIDE), requires=AND_CUDA_8),
    cuda_wheels("12.3"),
    cudnn_wheel("8.9.7.29"),
)

CASES = (
    fault(
        "onnxruntime-cpu-alone",
        "ONNX Runtime for the CPU: mostly somebody's dependency",
        EMPTY,
        cpu_onnxruntime("1.20.1"),
        codes=("cpu-only-wheel",),
    ),
    fault(
        "jax-old-cudnn-first",
        "an old cuDNN in LD_LIBRARY_PATH comes before JAX's wheel",
        LONELY,
        JAX_12,
        cuda_wheels(),
        OLD_CUDNN,
        environ=OLD_PATH,
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    fault(
        "tensorflow-old-cudnn-first",
        "an old cuDNN in LD_LIBRARY_PATH comes before TensorFlow's wheel",
        LONELY,
        TF_18,
        cudnn_wheel("9.3.0.75"),
        OLD_CUDNN,
        environ=OLD_PATH,
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    fault(
        "tensorflow-2.19-older-cudnn",
        "the system's cuDNN 9.1 is older than the 9.3 that TensorFlow 2.19 checks for: its own wheel comes first",
        EMPTY,
        package("tensorflow", "2.19.0", built_with("12.5.1", "9", BESIDE), requires=AND_CUDA),
        at("/", cudnn_tree.debian_of, "9.1.0.70-1"),
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        codes=("cudnn-version-mismatch-loaded-vs-compiled",),
        first="cudnn-version-mismatch-loaded-vs-compiled",
    ),
    fault(
        "jax-without-cudnn",
        "JAX whose cuDNN, which an extra asks for, is not there",
        LONELY,
        JAX_12,
        without(f"{site_of()}/nvidia*"),
        cuda_wheels(),
        codes=("cudnn-missing",),
        first="cudnn-missing",
    ),
    fault(
        "tensorflow-without-cudnn",
        "TensorFlow whose cuDNN, which an extra asks for, is not there",
        LONELY,
        TF_18,
        codes=("cudnn-missing",),
        first="cudnn-missing",
    ),
    fault(
        "tensorflow-finds-no-wheel",
        "TensorFlow 2.16 looks into none of its wheels",
        LONELY,
        package("tensorflow", "2.16.2", built_with("12.3.2", "8"), requires=AND_CUDA_8),
        cuda_wheels("12.3"),
        cudnn_wheel("8.9.7.29"),
        codes=("wheel-libs-not-on-loader-path",),
        first="wheel-libs-not-on-loader-path",
        quiet=("cudnn-missing", "cudnn-wrong-major"),
    ),
    fault(
        "tensorflow-2.16-numpy-2",
        "TensorFlow 2.16 is built for NumPy 1, and something brought NumPy 2",
        EMPTY,
        TF_16,
        package("numpy", "2.0.2", {"numpy/__init__.py": ""}),
        codes=("numpy-abi-mismatch",),
        first="numpy-abi-mismatch",
    ),
    Case(
        "tensorflow-2.16-numpy-1",
        "the same with NumPy 1",
        together(WORKSTATION, EMPTY, TF_16, package("numpy", "1.26.4", {"numpy/__init__.py": ""})),
    ),
    fault(
        "cudnn-wheel-without-files",
        "the list of packages has torch's cuDNN, its directory is empty",
        without(f"{site_of()}/nvidia/cudnn/lib/*"),
        codes=("cudnn-missing",),
        first="cudnn-missing",
    ),
    fault(
        "onnxruntime-1.18-cuda-12",
        "ONNX Runtime 1.18, which is for CUDA 11, beside CUDA 12",
        EMPTY,
        ONNX_1_18,
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        codes=("framework-wants-other-cuda",),
        first="framework-wants-other-cuda",
    ),
    fault(
        "jax-0.4.35-cpu-beside-torch",
        "JAX 0.4.35 without its plugin beside torch: the nvcc wheel that the extra brings today is one it dies of",
        JAX_35_CPU,
        codes=("cpu-only-wheel",),
    ),
    fault(
        "leftovers-of-the-users-own",
        "an environment that sees ~/.local, where somebody left wheels for CUDA 11",
        SEES_USER_SITE,
        package("nvidia-cublas-cu11", "11.11.3.6", {"nvidia/cublas/__init__.py": ""}, site=USER_SITE),
        codes=("pip-nvidia-wheels-conflict",),
        first="pip-nvidia-wheels-conflict",
    ),
    fault(
        "jax-old-cudnn-of-the-users-own",
        "JAX in an environment that sees ~/.local, where the only cuDNN lies, an old one",
        *JAX_OPENING_WHEELS,
        cudnn_wheel("9.1.0.70", site=USER_SITE),
        codes=("cudnn-version-mismatch-loaded-vs-compiled",),
        first="cudnn-version-mismatch-loaded-vs-compiled",
    ),
    fault(
        "jax-old-cudnn-wheel",
        "the same old cuDNN in JAX's own environment: one fault, not one more of the wheel that its extra asks for",
        *JAX_OPENING_WHEELS,
        cudnn_wheel("9.1.0.70"),
        codes=("cudnn-version-mismatch-loaded-vs-compiled",),
        first="cudnn-version-mismatch-loaded-vs-compiled",
    ),
    Case(
        "jax-old-cudnn-of-the-users-own-beside",
        "the same old cuDNN in ~/.local, and JAX's own in its environment, which comes first",
        together(WORKSTATION, *JAX_OPENING_WHEELS, cudnn_wheel(), cudnn_wheel("9.1.0.70", site=USER_SITE)),
    ),
    Case(
        "the-users-own-is-switched-off",
        "the same leftovers, and PYTHONNOUSERSITE is set",
        together(
            WORKSTATION,
            SEES_USER_SITE,
            package("nvidia-cublas-cu11", "11.11.3.6", {"nvidia/cublas/__init__.py": ""}, site=USER_SITE),
        ),
        environ={"PYTHONNOUSERSITE": "1"},
    ),
    fault(
        "torchaudio-of-another-minor",
        "torchaudio for CUDA 12.6 beside torch for 12.8: it refuses to be imported",
        package("torchaudio", "2.9.1+cu126", {"torchaudio/version.py": "__version__ = '2.9.1+cu126'\n"}),
        codes=("companion-version-mismatch",),
        first="companion-version-mismatch",
    ),
    Case(
        "torchaudio-of-the-same-minor",
        "torchaudio for torch's own CUDA",
        together(
            WORKSTATION,
            package("torchaudio", "2.9.1+cu128", {"torchaudio/version.py": "__version__ = '2.9.1+cu128'\n"}),
        ),
    ),
    fault(
        "old-cudnn-and-leftovers",
        "torch's cuDNN wheel is an older one, and two wheels for CUDA 11 are left over: one code, two faults",
        without(f"{site_of()}/nvidia*"),
        cudnn_wheel("9.5.1.17"),
        package("nvidia-cublas-cu11", "11.11.3.6", {"nvidia/cublas/lib/libcublas.so.11": "x"}),
        package("nvidia-cuda-runtime-cu11", "11.8.89", {"nvidia/cuda_runtime/lib/libcudart.so.11.0": "x"}),
        codes=("pip-nvidia-wheels-conflict",),
        first="pip-nvidia-wheels-conflict",
    ),
    fault(
        "three-cudnns-on-the-path",
        "three directories of cuDNN in LD_LIBRARY_PATH, each of another release",
        at("/opt/cudnn8/lib", cudnn_tree.copy_of, "8.9.7", chain=True),
        at("/opt/cudnn9/lib", cudnn_tree.copy_of, "9.10.2", chain=True),
        at("/opt/cudnn/lib", cudnn_tree.copy_of, "9.5.1", chain=True),
        environ={"LD_LIBRARY_PATH": "/opt/cudnn8/lib:/opt/cudnn9/lib:/opt/cudnn/lib"},
        codes=("cudnn-copies-conflict",),
        first="cudnn-copies-conflict",
    ),
    Case(
        "one-cudnn-twice-on-the-path",
        "two directories in LD_LIBRARY_PATH with the cuDNN that torch brings as well",
        together(
            WORKSTATION,
            at("/opt/cudnn9/lib", cudnn_tree.copy_of, "9.10.2", chain=True),
            at("/opt/cudnn/lib", cudnn_tree.copy_of, "9.10.2", chain=True),
        ),
        environ={"LD_LIBRARY_PATH": "/opt/cudnn9/lib:/opt/cudnn/lib"},
    ),
)
