"""A second sample of reports that nobody had looked at: what programs said in them, and the causes that are right.

Their causes were written down first, by what ended the report or by what its maintainer said. They were scored once
before anything was mended for them (docs/explain.md), and hold since then.
"""

from __future__ import annotations

from tests.commands.explain.held_out import NOT_THE_STACK

_NO_START = ("no-device-nodes", "uvm-broken-after-suspend", "no-nvidia-gpu", "cuda-visible-devices-empty-or-invalid")
_NO_DRIVER = ("no-kernel-module", "driver-libraries-missing", "container-without-gpu-runtime", "no-nvidia-gpu")
_NOT_FOUND = ("cudart-soname-missing", "framework-wants-other-cuda", "tf-cannot-dlopen-gpu-libs")
_TWO_JITLINKS = (
    *("ld-library-path-shadowing", "pip-nvidia-wheels-conflict", "cublas-mismatch", "conda-cudatoolkit-vs-pip"),
)
_ORT_WINDOWS = ("windows-dll-path", "framework-wants-other-cuda", "cudnn-wrong-major", "cudnn-missing")
_NO_NVCC, _NOT = ("toolkit-path-conflict", "wrong-nvcc-vs-torch-cuda"), (NOT_THE_STACK,)

FRESH: tuple[tuple[str, tuple[str, ...]], ...] = (
    # CUDA does not start
    (
        (
            "site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: CUDA driver initial"
            "ization failed, you might not have a CUDA gpu. (Triggered internally at ../c10/cuda/CUDAFunctio"
            "ns.cpp:108.)\n"
            "  return torch._C._cuda_getDeviceCount() > 0\n"
            "False\n"
            "| NVIDIA-SMI 535.146.02             Driver Version: 535.146.02   CUDA Version: 12.2     |"
        ),
        _NO_START,
    ),
    (
        (
            "site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: Unexpected error fr"
            "om cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that m"
            "ight have already set an error? Error 803: system has unsupported display driver / cuda driver "
            "combination (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)"
        ),
        ("driver-library-mismatch", "forward-compat-mistake"),
    ),
    (
        "THCudaCheck FAIL file= torch/extra/cutorch/lib/THC/THCGeneral.c line=70 error=30 : unknown error",
        ("no-device-nodes", "uvm-broken-after-suspend"),
    ),
    (
        "THCudaCheck FAIL file=..\\aten\\src\\THC\\THCGeneral.cpp line=87 error=30 : unknown error",
        ("uvm-broken-after-suspend", "no-device-nodes", "framework-bug"),
    ),
    (
        (
            "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCGeneral.cpp line=50 error=3 : initialization err"
            "or\n"
            "RuntimeError: cuda runtime error (3) : initialization error at /pytorch/aten/src/THC/THCGeneral"
            ".cpp:50"
        ),
        ("no-device-nodes", "uvm-broken-after-suspend"),
    ),
    (
        (
            "OS: Windows\n"
            "docker compose up\n"
            "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumC"
            "udaDevices() that might have already set an error? Error 500: named symbol not found"
        ),
        ("container-without-gpu-runtime", "wsl-libcuda-missing", "driver-library-mismatch"),
    ),
    (
        (
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions befor"
            "e calling NumCudaDevices() that might have already set an error? Error 500: named symbol not fo"
            "und"
        ),
        ("container-without-gpu-runtime", "wsl-libcuda-missing", "driver-library-mismatch"),
    ),
    (
        (
            "[Matrix Multiply Using CUDA] - Starting...\n"
            'CUDA error at ../../Common/helper_cuda.h:791 code=100(cudaErrorNoDevice) "cudaGetDeviceCount(&d'
            'evice_count)"'
        ),
        (*_NO_START, "no-kernel-module"),
    ),
    (
        (
            "root@c:/# docker run --gpus all nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04\n"
            "| NVIDIA-SMI 450.102.04   Driver Version: 450.102.04   CUDA Version: 11.2     |\n"
            "|   0  GeForce RTX 208...  Off  | 00000000:19:00.0 Off |                  N/A |\n"
            "cudaGetDeviceCount() call failed with error 804"
        ),
        ("forward-compat-mistake",),
    ),
    (
        "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version",
        ("driver-too-old-for-runtime",),
    ),
    (
        (
            "cupy.cuda.runtime.CUDARuntimeError: cudaErrorInsufficientDriver: CUDA driver version is insuffi"
            "cient for CUDA runtime version\n"
            "CUDA9.1 with cudnn 7.1.2, nvidia driver version is 390.77"
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        (
            "nvidia-docker\n"
            "/mxnet/dmlc-core/include/dmlc/./logging.h:235: src/storage/storage.cc:42: Check failed: e == cu"
            "daSuccess || e == cudaErrorCudartUnloading CUDA: CUDA driver version is insufficient for CUDA r"
            "untime version"
        ),
        ("driver-too-old-for-runtime", "container-without-gpu-runtime"),
    ),
    (
        (
            "mxnet.base.MXNetError: [15:20:32] src/engine/threaded_engine.cc:320: Check failed: device_count"
            "_ > 0 (-1 vs. 0) GPU usage requires at least 1 GPU"
        ),
        (*_NO_DRIVER, "cuda-visible-devices-empty-or-invalid", "driver-too-old-for-runtime"),
    ),
    (
        (
            "[02:55:03] src/base.cc:49: GPU context requested, but no GPUs found.\n"
            "mxnet.base.MXNetError: Check failed: device_count_ > 0 (-1 vs. 0) : GPU usage requires at least"
            " 1 GPU"
        ),
        (*_NO_DRIVER, "cuda-visible-devices-empty-or-invalid", "driver-too-old-for-runtime"),
    ),
    # libraries
    (
        (
            "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open sha"
            "red object file: No such file or directory\n"
            "libcudnn_ops.so.9 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcudnn_ops.so.9"
        ),
        ("cudnn-wrong-major", "cudnn-missing", "cudnn-sublibrary-missing"),
    ),
    (
        "Could not load library cudnn_cnn_infer64_8.dll. Error code 127",
        ("cudnn-sublibrary-mixed", "windows-dll-path"),
    ),
    (
        (
            "Could not load library libcudnn_cnn_train.so.8. Error: /usr/local/cuda-11.1/targets/x86_64-linu"
            "x/lib/libcudnn_ops_train.so.8: symbol _Z22cudnnGenericOpTensorNdILi3EE13cudnnStatus_tP12cudnnCo"
            "ntext, version libcudnn_ops_infer.so.8 not defined in file libcudnn_ops_infer.so.8 with link ti"
            "me reference"
        ),
        ("cudnn-sublibrary-mixed",),
    ),
    (
        (
            "Could not locate cudnn_engines_tensor_ir64_9.dll. Please make sure it is in your library path!\n"
            "Error: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED; Reason: xDesc.finalize()"
        ),
        ("cudnn-sublibrary-missing",),
    ),
    (
        (
            "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_"
            "ops.so}\n"
            "Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor"
        ),
        ("cudnn-sublibrary-missing", "cudnn-missing"),
    ),
    (
        (
            "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object f"
            "ile: No such file or directory"
        ),
        ("nvrtc-missing",),
    ),
    (
        (
            "dso_loader.cc:49] Successfully opened dynamic library libcudart.so.11.0\n"
            "dso_loader.cc:60] Could not load dynamic library 'libcusolver.so.10'; dlerror: libcusolver.so.1"
            "0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-"
            "11.2/lib64:/usr/local/cuda/extras/CUPTI/lib64"
        ),
        _NOT_FOUND,
    ),
    (
        (
            "dso_loader.cc:60] Could not load dynamic library 'libcusolver.so.11'; dlerror: libnvJitLink.so."
            "12: cannot open shared object file: No such file or directory\n"
            "dso_loader.cc:49] Successfully opened dynamic library libcusparse.so.11\n"
            "gpu_device.cc:1689] Cannot dlopen some GPU libraries."
        ),
        (*_NOT_FOUND, "cublas-mismatch"),
    ),
    (
        (
            "2024-08-24 15:40:49.279326: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Cou"
            "ld not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared"
            " object file: No such file or directory\n"
            "cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine."
        ),
        _NOT_FOUND,
    ),
    (
        (
            "RuntimeError: CuPy failed to load nvrtc64_120_0.dll: FileNotFoundError: Could not find module '"
            "nvrtc64_120_0.dll' (or one of its dependencies). Try using the full path with constructor synta"
            "x."
        ),
        ("nvrtc-missing", "windows-dll-path"),
    ),
    (
        (
            "CuPy failed to load libnvrtc.so.13: OSError: libnvrtc.so.13: cannot open shared object file: No"
            " such file or directory"
        ),
        ("nvrtc-missing",),
    ),
    (
        (
            '  File "lib/python3.7/site-packages/cupy/__init__.py", line 11, in <module>\n'
            "    from cupy import core  # NOQA\n"
            "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"
        ),
        _NO_DRIVER,
    ),
    (
        (
            "Failed to import CuPy.\n"
            "\n"
            "If you installed CuPy via wheels (cupy-cudaXXX or cupy-rocm-X-X), make sure that the package ma"
            "tches with the version of CUDA or ROCm installed.\n"
            "\n"
            "CUDA Path: None\n"
            "DLL dependencies:\n"
            "KERNEL32.dll -> C:\\Windows\\System32\\KERNEL32.DLL\n"
            "cuTENSOR.dll -> not found\n"
            "cublas64_11.dll -> not found\n"
            "cudart64_110.dll -> not found"
        ),
        (*_NOT_FOUND, "windows-dll-path"),
    ),
    (
        (
            '  File "/usr/local/lib/python3.5/dist-packages/cupy/core/__init__.py", line 1, in <module>\n'
            "ImportError: libcublas.so.9.1: cannot open shared object file: No such file or directory"
        ),
        _NOT_FOUND,
    ),
    (
        (
            "ImportError: lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12"
            ": undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12"
        ),
        _TWO_JITLINKS,
    ),
    (
        (
            "ImportError: /envs/cogvlm2/lib/python3.10/site-packages/torch/lib/../../nvidia/cusparse/lib/lib"
            "cusparse.so.12: symbol __nvJitLinkComplete_12_4, version libnvJitLink.so.12 not defined in file"
            " libnvJitLink.so.12 with link time reference"
        ),
        _TWO_JITLINKS,
    ),
    (
        ("ImportError: lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister"),
        _TWO_JITLINKS,
    ),
    (
        (
            "ImportError: lib/python3.6/site-packages/spspmm_cuda.cpython-36m-x86_64-linux-gnu.so: undefined"
            " symbol: cusparseScsrgemm"
        ),
        ("extension-built-for-other-cuda", "framework-wants-other-cuda"),
    ),
    (
        (
            "HJH Check Torch Ver.2.3.1+cu121\n"
            "HJH Check cuDNN Ver. 8907\n"
            "HJH Check ONNXRuntime Ver. 1.19.2\n"
            "[E:onnxruntime:Default, provider_bridge_ort.cc:1992 onnxruntime::TryGetProviderInfo_CUDA] [ONNX"
            'RuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 "" when trying to load "C:\\Lib\\sit'
            'e-packages\\onnxruntime\\capi\\onnxruntime_providers_cuda.dll"'
        ),
        _ORT_WINDOWS,
    ),
    (
        (
            "Microsoft.ML.OnnxRuntime.OnnxRuntimeException: [ErrorCode:RuntimeException] provider_bridge_ort"
            ".cc:1209 onnxruntime::ProviderLibrary::Get [ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed w"
            'ith error 126 "" when trying to load "...\\bin\\Debug\\net8.0\\onnxruntime_providers_cuda.dll"'
        ),
        _ORT_WINDOWS,
    ),
    # containers
    (
        (
            'Error: setting up CDI devices: failed to inject devices: failed to stat CDI host device "/dev/d'
            'ri/renderD129": no such file or directory'
        ),
        ("container-without-gpu-runtime", "no-device-nodes"),
    ),
    (
        "Error: error setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
        ("container-without-gpu-runtime",),
    ),
    (
        (
            "podman run --rm --device nvidia.com/gpu=all --security-opt=label=disable ubuntu nvidia-smi -L\n"
            "Error: stat nvidia.com/gpu=all: no such file or directory"
        ),
        ("container-without-gpu-runtime",),
    ),
    # building
    (
        (
            "  Using cached flash_attn-2.6.1.tar.gz (2.6 MB)\n"
            "  Preparing metadata (setup.py) ... error\n"
            "  error: subprocess-exited-with-error\n"
            "      setup.py:78: UserWarning: flash_attn was requested, but nvcc was not found.  Are you sure"
            " your environment has nvcc available?"
        ),
        _NO_NVCC,
    ),
    (
        (
            "    × Failed to build `flash-attn==2.8.0.post2`\n"
            "      torch.__version__  = 2.7.1+cu128\n"
            "      <string>:106: UserWarning: flash_attn was requested, but\n"
            "      nvcc was not found.  Are you sure your environment has nvcc\n"
            "      available?\n"
            "      OSError: CUDA_HOME environment variable is not set."
        ),
        _NO_NVCC,
    ),
    (
        (
            "  × Failed to build `flash-attn==2.7.4.post1`\n"
            "      torch.__version__  = 2.7.0+rocm6.3\n"
            "      <string>:106: UserWarning: flash_attn was requested, but nvcc was not found."
        ),
        (*_NO_NVCC, "no-nvidia-gpu"),
    ),
    (
        (
            "RuntimeError:\n"
            "      The detected CUDA version (11.8) mismatches the version that was used to compile\n"
            "      PyTorch (12.1). Please make sure to use the same CUDA versions."
        ),
        ("wrong-nvcc-vs-torch-cuda",),
    ),
    (
        (
            "    import causal_conv1d_cuda\n"
            "ImportError: lib/python3.11/site-packages/causal_conv1d_cuda.cpython-311-x86_64-linux-gnu.so: u"
            "ndefined symbol: _ZN2at4_ops10zeros_like4callERKNS_6TensorEN3c108optionalINS5_10ScalarTypeEEE"
        ),
        ("extension-built-for-other-torch",),
    ),
    # the kernel
    (
        (
            "Building module:\n"
            "Cleaning build area...\n"
            "'make' -j4 IGNORE_PREEMPT_RT_PRESENCE=1 KERNEL_UNAME=6.5.2-arch1-1 modules.............(bad exi"
            "t status: 2)\n"
            "Error! Bad return status for module build on kernel: 6.5.2-arch1-1 (x86_64)\n"
            "Consult /var/lib/dkms/nvidia/390.157/build/make.log for more information."
        ),
        ("kernel-updated-dkms-missing", "driver-does-not-support-gpu"),
    ),
    (
        (
            "ERROR: Failed to run `/usr/sbin/dkms build -m nvidia -v 510.85.02 -k 6.0.10-300.fc37.x86_64`: S"
            "ign command:\n"
            "ERROR: Failed to install the kernel module through DKMS. No kernel module was installed; please"
            " try installing again without DKMS, or check the DKMS logs for more information."
        ),
        ("kernel-updated-dkms-missing",),
    ),
    (
        (
            "dpkg: error processing package nvidia-dkms-580-open (--configure):\n"
            " installed nvidia-dkms-580-open package post-installation script subprocess returned error exit"
            " status 10\n"
            "Error! Bad return status for module build on kernel: 6.17.9-76061709-generic (x86_64)\n"
            "Consult /var/lib/dkms/nvidia/580.119.02/build/make.log"
        ),
        ("kernel-updated-dkms-missing", "apt-package-conflict"),
    ),
    (
        (
            "==> dkms install deepin-anything/5.0.1 -k 5.6.2-xanmod1-1-xanmod\n"
            "Error! Bad return status for module build on kernel: 5.6.2-xanmod1-1-xanmod (x86_64)\n"
            "Consult /var/lib/dkms/deepin-anything/5.0.1/build/make.log for more information."
        ),
        _NOT,
    ),
    (
        (
            "NVRM: GPU6 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP\n"
            "NVRM: GPU6 _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)\n"
            "NVRM: GPU6 RmInitAdapter: Cannot initialize GSP firmware RM\n"
            "NVRM: GPU 0000:a1:00.0: RmInitAdapter failed! (0x62:0x40:2168)"
        ),
        ("ecc-xid-hardware-fault", "gpu-recovery-needed", "driver-hang"),
    ),
    (
        (
            "[605633.376794] NVRM: Xid (PCI:0000:06:00): 120, GSP task exception: store access page fault (c"
            "ause:0xf) @ pc:0x13ebd80, partition:2#0, task:3"
        ),
        ("ecc-xid-hardware-fault", "driver-hang"),
    ),
    # cuDNN's own words, and what is not the stack
    (
        (
            "F0521 14:06:36.175204 31854 cudnn_conv_layer.cpp:53] Check failed: status == CUDNN_STATUS_SUCCE"
            "SS (4 vs. 0)  CUDNN_STATUS_INTERNAL_ERROR"
        ),
        ("out-of-memory-not-a-stack-fault", "memory-growth", "framework-bug"),
    ),
    (
        "Check failed: status == CUDNN_STATUS_SUCCESS (3 vs. 0)  CUDNN_STATUS_BAD_PARAM",
        _NOT,
    ),
    (
        (
            "THCudaCheck FAIL file=/opt/conda/conda-bld/pytorch/work/torch/lib/THC/generic/THCStorage.c line"
            "=32 error=4 : unspecified launch failure\n"
            "RuntimeError: cuda runtime error (4) : unspecified launch failure at /opt/conda/conda-bld/pytor"
            "ch/work/torch/lib/THC/generic/THCStorage.c:32"
        ),
        _NOT,
    ),
    (
        (
            'RuntimeError: generic_type: cannot initialize type "_CudaDeviceProperties": an object with that'
            " name is already defined"
        ),
        _NOT,
    ),
    (
        (
            "[jit] { 14422712647875304613 : compile:  102 ms, link:   0 ms, { --gpu-architecture=compute_86 "
            "}, NVIDIA GeForce RTX 3080 }\n"
            "CUDA Error (500): named symbol not found"
        ),
        _NOT,
    ),
    (
        (
            "RuntimeError: CUDA out of memory. Tried to allocate 42.88 MiB (GPU 0; 7.79 GiB total capacity; "
            "6.35 GiB already allocated; 46.38 MiB free; 601.50 KiB cached)"
        ),
        _NOT,
    ),
    (
        (
            "pygpu.gpuarray.GpuArrayException: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
            "Inputs types: [TensorType(int64, scalar)]\n"
            "GpuDnnConv{algo='none', inplace=True}"
        ),
        _NOT,
    ),
    (
        "MemoryError: Unable to allocate 125. GiB for an array with shape (16803752826,) and data type float64",
        _NOT,
    ),
    (
        (
            "dso_loader.cc:44] Successfully opened dynamic library libcudnn.so.7\n"
            "gpu_device.cc:1618] Found device 0 with properties:\n"
            "name: GeForce RTX 2060 major: 7 minor: 5 memoryClockRate(GHz): 1.71\n"
            "InvalidArgumentError: Incompatible shapes: [8,13,13,3] vs. [8,13,13,9]"
        ),
        _NOT,
    ),
)
