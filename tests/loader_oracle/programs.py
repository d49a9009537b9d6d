"""What imports a framework and uses a GPU as far as that goes over the stub of the driver, one program each.

The interpreter's own path is not searched for packages, as it is not for a script elsewhere.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

PROGRAMS = {
    "torch": """
import torch
try:
    torch.linalg.inv(torch.eye(2))
    torch._C._jit_set_nvfuser_enabled
except Exception as error:
    print(error)
try:
    torch.cuda.init()
except Exception as error:
    print(error)
""",
    "tensorflow": """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
import tensorflow
print(tensorflow.config.list_physical_devices("GPU"))
""",
    "jax": """
import jax
try:
    print(jax.devices())
except Exception as error:
    print(error)
""",
    "onnxruntime": """
import onnxruntime
def field(number, content):
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content
shape = field(1, field(1, 1) + field(2, field(1, field(1, 1))))
graph = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Identity")) + field(2, b"g")
graph += field(11, field(1, b"x") + field(2, shape)) + field(12, field(1, b"y") + field(2, shape))
model = field(1, 8) + field(8, field(2, 13)) + field(7, graph)
try:
    onnxruntime.InferenceSession(model, providers=["CUDAExecutionProvider"])
except Exception as error:
    print(error)
""",
    "cupy": """
import warnings
warnings.simplefilter("ignore")
import cupy
def attempt(*names):
    for name in names:
        try:
            package, _, module = name.rpartition(".")
            exec(f"from {package} import {module}")  # as CuPy does: from 14 on the package opens the library first
        except Exception as error:
            print(name, error)
try:
    cupy.cuda.runtime.getDeviceCount()
except Exception as error:
    print(error)
try:
    cupy.cuda.nvrtc.getVersion()
except Exception as error:
    print(error)
attempt("cupy_backends.cuda.libs.cublas", "cupy_backends.cuda.libs.curand", "cupy_backends.cuda.libs.cusolver",
        "cupy_backends.cuda.libs.cusparse", "cupy.cuda.nccl", "cupy.cuda.cudnn", "cupy.cuda.cufft")
""",
    "ctranslate2": """
import ctranslate2
print(ctranslate2.get_cuda_device_count())
try:
    print(ctranslate2.get_supported_compute_types("cuda"))
except Exception as error:
    print(error)
""",
    "paddlepaddle": """
import paddle
print(paddle.device.cuda.device_count(), paddle.device.get_cudnn_version())
""",
    "numba": """
from numba import cuda
for ask in (cuda.detect, cuda.current_context, lambda: cuda.compile_ptx(lambda x: x, "i4(i4)")):
    try:
        print(ask())
    except Exception as error:
        print(error)
""",
    "cudf": """
try:
    import cudf
    print(cudf.Series([1]))
except Exception as error:
    print(error)
""",
    "nvidia-dali": """
import nvidia.dali
from nvidia.dali import fn, pipeline_def
@pipeline_def(batch_size=1, num_threads=1, device_id=0)
def one():
    return fn.random.uniform(device="gpu")
try:
    one().build()
except Exception as error:
    print(error)
""",
    "mxnet": """
import mxnet
try:
    print(mxnet.context.num_gpus())
    print(mxnet.nd.ones((1,), ctx=mxnet.gpu(0)))
except Exception as error:
    print(error)
""",
    "bitsandbytes": """
import torch
try:
    import bitsandbytes
    print(bitsandbytes.cextension.lib)
except Exception as error:
    print(error)
""",
    "xformers": """
import torch
try:
    import xformers.ops
    from xformers.ops import fmha
    print(fmha.cutlass.FwOp.is_available())
except Exception as error:
    print(error)
""",
    "torchvision": """
import torch
import torchvision
print(torchvision.ops.nms)
""",
    "torchaudio": """
import torch
import torchaudio
""",
    "vllm": """
import torch
try:
    import vllm
    import vllm._C
except Exception as error:
    print(error)
""",
    "deepspeed": """
import torch
try:
    import deepspeed
except Exception as error:
    print(error)
""",
    "tensorrt": """
import tensorrt
try:
    print(tensorrt.Builder(tensorrt.Logger()))
except Exception as error:
    print(error)
""",
}

# The distributions that bring each program's GPU code.
DISTRIBUTIONS = {
    "torch": "torch",
    "tensorflow": "tensorflow",
    "jax": "jax-cuda*-plugin",
    "onnxruntime": "onnxruntime-gpu",
    "cupy": "cupy-cuda*",
    "ctranslate2": "ctranslate2",
    "paddlepaddle": "paddlepaddle-gpu",
    "numba": "numba-cuda",
    "cudf": "cudf-cu*",
    "nvidia-dali": "nvidia-dali-cuda*",
    "mxnet": "mxnet-cu*",
    "bitsandbytes": "bitsandbytes",
    "xformers": "xformers",
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "vllm": "vllm",
    "deepspeed": "deepspeed",
    "tensorrt": "tensorrt*-libs",
}


def installed(names: Iterable[str]) -> list[str]:
    """The programs for the distributions of these normalised names."""
    names = tuple(names)
    return [key for key, pattern in DISTRIBUTIONS.items() if fnmatch.filter(names, pattern)]
