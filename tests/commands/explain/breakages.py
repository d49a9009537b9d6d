"""The broken environments: one entry each, by what prints the message."""

from __future__ import annotations

from tests.commands.explain.broken import Broken
from tests.commands.explain.spoil import empty, gone
from tests.wheels import TORCH_WHEELS

_OLD, _MIXED, _COMPAT = "driver-too-old-for-runtime", "driver-library-mismatch", "forward-compat-mistake"
_NONE, _FABRIC, _AWAKE = "no-kernel-module", "fabric-manager-not-running", "uvm-broken-after-suspend"
_HIDDEN, _ABSENT, _DAMAGED = "cuda-visible-devices-empty-or-invalid", "cudart-soname-missing", "corrupted-install"
_CPU, _PLUGIN = "cpu-only-wheel", "jax-plugin-version-mismatch"

_TORCH = (*TORCH_WHEELS, "--no-deps")
_TORCH_11 = ("torch==1.1.0", "numpy==1.21.6", "--no-deps")
_TORCH_113 = ("torch==1.13.1", "typing-extensions==4.15.0", "--no-deps")
_TORCH_215 = (
    *("torch==2.15.0", "nvidia-cuda-runtime==13.0.96", "--no-deps"),
    *(one for one in TORCH_WHEELS if not one.startswith("torch==")),
)
_TF = ("tensorflow==2.21.0",)
_TF_115 = ("tensorflow-gpu==1.15.5", "protobuf==3.20.3", "numpy==1.18.5", "--no-binary=gast")
_TF_212 = ("tensorflow==2.12.0",)
_ORT = ("onnxruntime-gpu==1.22.0", "numpy==2.2.6", "--no-deps")
_ORT_OLD = ("onnxruntime-gpu==1.16.3", "numpy==1.26.4", "--no-deps")
_ORT_NEW = ("onnxruntime-gpu==1.31.1", "numpy==2.2.6", "--no-deps")
_CUPY = ("cupy-cuda12x==13.6.0", "numpy==2.2.6")
_CUPY_14 = ("cupy-cuda13x==14.2.0", "numpy==2.2.6")
_JAX = ("jax==0.7.2", "jaxlib==0.7.2", "jax-cuda12-plugin==0.7.2", "jax-cuda12-pjrt==0.7.2")
_OLD_JAX = ("numpy==1.26.4", "scipy==1.15.3", "ml-dtypes==0.4.1", "opt-einsum==3.4.0")
_NO_CICC = ("nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-cuda-runtime==13.0.96", "--no-deps")
_NVCC = ("nvidia-nvvm==13.0.88", *_NO_CICC)
_REQUESTS = (
    "pillow==11.3.0",
    "requests==2.32.5",
    "urllib3==2.5.0",
    "idna==3.10",
    "certifi==2025.8.3",
    "charset-normalizer==3.4.3",
)
_BUILDS = ("wheel==0.45.1", "setuptools==80.9.0", "packaging==25.0", "psutil==7.0.0", "ninja==1.13.0", "pip==25.3")
_FLASH = "$ $PYTHON -m pip install -v --no-build-isolation --no-deps --no-binary flash-attn flash-attn=={}"
_UV = ("uv==0.13.9",)
_PIP = ("pip==25.3",)

_ASK_TORCH = "import torch; torch.zeros(1).cuda()"
_ASK_TF_1 = "import site; site.USER_SITE = '-'; import tensorflow as tf; print(tf.test.is_gpu_available())"
_ASK_TF = "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"
_ASK_CUPY = "import cupy; cupy.zeros(1)"
_ASK_JAX = "import jax; jax.config.update('jax_platforms', 'cuda'); print(jax.devices())"
_ASK_ORT = """
import onnxruntime

def held(number, value):
    return bytes([number << 3 | 2, len(value)]) + value

kind = held(1, b"\\x08\\x01" + held(2, held(1, b"\\x08\\x01")))
node = held(1, b"x") + held(2, b"y") + held(4, b"Relu")
graph = held(1, node) + held(2, b"g")
graph += held(11, held(1, b"x") + held(2, kind)) + held(12, held(1, b"y") + held(2, kind))
model = b"\\x08\\x08" + held(7, graph) + held(8, b"\\x10\\x0d")
session = onnxruntime.InferenceSession(model, providers=["CUDAExecutionProvider"])
print(session.get_providers())
"""
_SKIP = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"}


def _numbers(
    name: str, more: tuple[tuple[int, tuple[str, ...]], ...] = ()
) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """What cuInit may answer, and the causes of it."""
    usual = (
        (100, (_HIDDEN, "no-nvidia-gpu", "container-without-gpu-runtime")),
        (802, (_FABRIC,)),
        (803, (_MIXED,)),
        (804, (_COMPAT,)),
        (999, (_AWAKE,)),
    )
    return tuple((f"{name}-{number}", number, codes) for number, codes in (*usual, *more))


BREAKAGES: tuple[Broken, ...] = (
    # torch
    Broken("torch-cpu-build", (_CPU,), _ASK_TORCH, _TORCH),
    Broken("torch-empty", (_DAMAGED,), _ASK_TORCH, _TORCH, spoil=(empty("torch/lib/libc10.so"),)),
    Broken("torch-no-c10", (_DAMAGED,), _ASK_TORCH, _TORCH, spoil=(gone("torch/lib/libc10.so"),)),
    Broken("torch-no-module", (_DAMAGED,), _ASK_TORCH, _TORCH, spoil=(gone("torch/_C*.so"),)),
    Broken("torch-1.13-no-libraries", (_ABSENT,), _ASK_TORCH, _TORCH_113),
    Broken("torch-1.13-no-driver", (_NONE,), _ASK_TORCH, _TORCH_113, hollow="torch/lib/*.so*"),
    Broken(
        "torch-1.13-numpy-2",
        ("numpy-abi-mismatch",),
        "import torch, numpy; torch.from_numpy(numpy.zeros(1))",
        (*_TORCH_113, "numpy==2.2.6"),
        hollow="torch/lib/*.so*",
    ),
    Broken(
        "torch-1.13-old-driver",
        (_OLD,),
        _ASK_TORCH,
        _TORCH_113,
        hollow="torch/lib/*.so*",
        init=0,
        serves=10020,
        askers="torch/lib/libcudart*",
    ),
    *(
        Broken(
            name,
            codes,
            _ASK_TORCH,
            _TORCH_113,
            hollow="torch/lib/*.so*",
            init=number,
            askers="torch/lib/libcudart*",
        )
        for name, number, codes in _numbers("torch-1.13")
    ),
    Broken("torch-2.15-no-libraries", ("cudnn-missing",), _ASK_TORCH, _TORCH_215),
    Broken("torch-2.15-no-driver", (_NONE,), _ASK_TORCH, _TORCH_215, hollow="torch/lib/*.so*"),
    Broken(
        "torch-2.15-old-driver",
        (_OLD,),
        _ASK_TORCH,
        _TORCH_215,
        hollow="torch/lib/*.so*",
        init=0,
        serves=12040,
        askers="nvidia/cu13/lib/libcudart*",
    ),
    Broken("torch-1.1-no-driver", (_NONE,), _ASK_TORCH, _TORCH_11, python="3.7"),
    Broken(
        "torch-1.1-old-driver",
        (_OLD,),
        _ASK_TORCH,
        _TORCH_11,
        python="3.7",
        init=0,
        serves=8000,
        askers="torch/lib/libcudart*",
    ),
    # TensorFlow
    Broken("tf-2.21-no-driver", (_NONE, _ABSENT), _ASK_TF, _TF),
    *(Broken(name, codes, _ASK_TF, _TF, init=number) for name, number, codes in _numbers("tf-2.21")),
    Broken("tf-2.21-no-libraries", (_ABSENT,), _ASK_TF, _TF, init=0),
    Broken("tf-1.15-no-driver", (_NONE, _ABSENT, "driver-libraries-missing"), _ASK_TF_1, _TF_115, python="3.7"),
    *(Broken(name, codes, _ASK_TF_1, _TF_115, python="3.7", init=n) for name, n, codes in _numbers("tf-1.15")),
    Broken(
        "tf-1.15-new-protobuf",
        ("not-a-stack-problem",),
        _ASK_TF_1,
        ("tensorflow-gpu==1.15.5", "protobuf==4.24.4", "numpy==1.18.5", "--no-binary=gast"),
        python="3.7",
    ),
    Broken("tf-2.12-no-driver", (_NONE, _ABSENT), _ASK_TF, _TF_212),
    Broken("tf-2.12-999", (_AWAKE,), _ASK_TF, _TF_212, init=999),
    # ONNX Runtime
    Broken("ort-1.22-no-libraries", ("framework-wants-other-cuda", _ABSENT), _ASK_ORT, _ORT),
    Broken("ort-1.16-no-libraries", ("framework-wants-other-cuda", _ABSENT), _ASK_ORT, _ORT_OLD),
    Broken("ort-1.31-no-libraries", ("framework-wants-other-cuda", _ABSENT), _ASK_ORT, _ORT_NEW),
    # CuPy
    Broken("cupy-13-no-driver", (_NONE, _OLD), _ASK_CUPY, _CUPY),
    Broken("cupy-13-old-driver", (_OLD,), _ASK_CUPY, _CUPY, init=0, serves=11040, askers="cupy_backends/cuda/api/*.so"),
    *(
        Broken(name, codes, _ASK_CUPY, _CUPY, init=number, askers="cupy_backends/cuda/api/*.so")
        for name, number, codes in _numbers("cupy-13")
    ),
    Broken("cupy-14-no-driver", (_NONE, _OLD), _ASK_CUPY, _CUPY_14),
    # JAX
    Broken("jax-0.7-no-libraries", (_ABSENT,), _ASK_JAX, _JAX),
    Broken("jax-0.7-unchecked", (_ABSENT,), _ASK_JAX, _JAX, env=_SKIP),
    Broken("jax-0.4-other-jaxlib", (_PLUGIN,), "import jax", ("jax==0.4.25", "jaxlib==0.4.36", *_OLD_JAX, "--no-deps")),
    Broken("jax-0.4-older-jaxlib", (_PLUGIN,), "import jax", ("jax==0.4.35", "jaxlib==0.4.30", *_OLD_JAX, "--no-deps")),
    Broken("jax-0.4-no-plugin", (_CPU,), _ASK_JAX, ("jax==0.4.35", "jaxlib==0.4.35", *_OLD_JAX, "--no-deps")),
    # nvcc and ptxas
    Broken(
        "nvcc-13-old-arch",
        ("gpu-too-old-dropped",),
        "$ echo '__global__ void k(){}' > a.cu; nvcc -arch=sm_61 -c a.cu",
        _NVCC,
    ),
    Broken(
        "nvcc-13-new-arch",
        ("nvcc-too-old-for-gpu-arch",),
        "$ echo '__global__ void k(){}' > a.cu; nvcc -gencode arch=compute_130,code=sm_130 -c a.cu",
        _NVCC,
    ),
    Broken(
        "nvcc-13-no-host-compiler",
        ("host-compiler-unsupported",),
        "$ echo '__global__ void k(){}' > a.cu; nvcc -ccbin /nonexistent/g++ -c a.cu",
        _NVCC,
    ),
    Broken(
        "nvcc-13-no-cicc",
        (_DAMAGED,),
        "$ echo '__global__ void k(){}' > a.cu; nvcc -c a.cu",
        _NO_CICC,
    ),
    Broken(
        "nvcc-13-new-gcc",
        ("gcc-too-new-for-nvcc",),
        "$ printf '#!/bin/sh\nexec g++ -U__GNUC__ -D__GNUC__=99 \"$@\"\n' > g++; chmod +x g++; "
        "echo '__global__ void k(){}' > a.cu; nvcc -ccbin ./g++ -c a.cu",
        _NVCC,
    ),
    Broken(
        "ptxas-12.4-new-arch",
        ("ptxas-too-old",),
        "$ printf '.version 8.4\n.target sm_90\n.address_size 64\n' > a.ptx; ptxas -arch sm_120 a.ptx",
        ("nvidia-cuda-nvcc-cu12==12.4.131", "--no-deps"),
    ),
    Broken(
        "ptxas-11.8-new-ptx",
        ("ptxas-too-old",),
        "$ printf '.version 8.7\n.target sm_80\n.address_size 64\n' > a.ptx; ptxas -arch sm_80 a.ptx",
        ("nvidia-cuda-nvcc-cu11==11.8.89", "--no-deps"),
    ),
    # what stands beside a framework
    Broken(
        "torchvision-0.15",
        ("companion-version-mismatch",),
        "import torchvision",
        (*_TORCH, "torchvision==0.15.2", *_REQUESTS),
    ),
    *(
        Broken(
            f"bitsandbytes-{release}",
            ("extension-built-for-other-cuda", _CPU, _NONE),
            "import torch, bitsandbytes as b; b.functional.quantize_blockwise(torch.zeros(64).cuda())",
            (*_TORCH, f"bitsandbytes=={release}", "scipy==1.16.2", "packaging==25.0"),
        )
        for release in ("0.41.3", "0.45.5")
    ),
    Broken(
        "numba-no-driver",
        (_NONE, "driver-libraries-missing"),
        "import numpy; from numba import cuda; cuda.to_device(numpy.zeros(1))",
        ("numba==0.61.2", "numpy==2.2.6"),
    ),
    Broken(
        "numba-803",
        (_MIXED,),
        "import numpy; from numba import cuda; cuda.to_device(numpy.zeros(1))",
        ("numba==0.61.2", "numpy==2.2.6"),
        init=803,
    ),
    Broken(
        "cuda-bindings-12.9-no-driver",
        (_NONE, "driver-libraries-missing"),
        "from cuda.bindings import driver; print(driver.cuInit(0))",
        ("cuda-bindings==12.9.0",),
    ),
    Broken(
        "nvml-no-driver",
        (_NONE, "driver-libraries-missing"),
        "import pynvml; pynvml.nvmlInit()",
        ("nvidia-ml-py==12.560.30",),
    ),
    Broken(
        "cudnn-9-no-part",
        ("cudnn-sublibrary-missing",),
        "import ctypes, glob, os; here = glob.glob(os.environ['SITE'] + '/nvidia/cudnn/lib/libcudnn.so.9')[0]; "
        "made = ctypes.c_void_p(); print(ctypes.CDLL(here).cudnnCreateTensorDescriptor(ctypes.byref(made)))",
        ("nvidia-cudnn-cu13==9.13.0.50", "--no-deps"),
        spoil=(gone("nvidia/cudnn/lib/libcudnn_ops.so.9"),),
    ),
    *(
        Broken(
            f"flash-attn-{release}-no-{what}",
            codes,
            _FLASH.format(release),
            wheels,
        )
        for release in ("1.0.9", "2.5.9.post1", "2.8.3")
        for what, codes, wheels in (
            ("torch", ("not-a-stack-problem",), _BUILDS),
            ("nvcc", ("toolkit-path-conflict",), (*_TORCH, *_BUILDS)),
        )
    ),
    Broken(
        "flash-attn-2.8.3-other-nvcc",  # no index has nvcc 12 without its toolkit: this one says its release only
        ("wrong-nvcc-vs-torch-cuda",),
        "$ mkdir -p t/bin; printf '#!/bin/sh\necho Cuda compilation tools, release 12.4, V12.4.131' > t/bin/nvcc; "
        "chmod +x t/bin/nvcc; export CUDA_HOME=$PWD/t; " + _FLASH.format("2.8.3")[2:],
        (*_TORCH_215, *_BUILDS),
        hollow="torch/lib/*.so*",
        env={"FLASH_ATTENTION_FORCE_BUILD": "TRUE", "MAX_JOBS": "1"},
    ),
    # installers
    Broken(
        "pip-no-distribution",
        ("python-version-no-wheel",),
        "$ $PYTHON -m pip install --no-index torch==2.9.1+cu128",
        _PIP,
    ),
    Broken(
        "pip-other-platform",
        ("python-version-no-wheel",),
        "$ : > torch-2.9.1-cp39-cp39-win_amd64.whl; $PYTHON -m pip install ./torch-2.9.1-cp39-cp39-win_amd64.whl",
        _PIP,
    ),
    Broken(
        "pip-conflict",
        (_PLUGIN,),
        "$ $PYTHON -m pip install --dry-run --only-binary :all: jax==0.7.2 jaxlib==0.4.36",
        _PIP,
    ),
    Broken(
        "uv-conflict",
        ("pip-nvidia-wheels-conflict",),
        "$ printf 'torch==2.9.1\nnvidia-cudnn-cu12==9.1.0.70\n' > r.in; uv pip compile --no-header r.in",
        _UV,
    ),
    Broken(
        "uv-no-version",
        ("python-version-no-wheel",),
        "$ echo torch==2.5.0+cu124 > r.in; uv pip compile --no-header r.in",
        _UV,
    ),
    Broken(
        "uv-no-wheel",
        ("python-version-no-wheel",),
        "$ echo tensorflow==2.12.0 > r.in; uv pip compile --only-binary :all: --python-version 3.13 r.in",
        _UV,
    ),
)
