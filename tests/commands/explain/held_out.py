"""Reports that nobody had looked at while the signatures were written: where, what the program said, the right causes.

Their causes were written down first. They were scored once before their families were mended (docs/explain.md), and
hold since then. NOT_THE_STACK stands for every answer that blames nothing of the stack.
"""

from __future__ import annotations

NOT_THE_STACK = "-"

REPORTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "ubuntu 18.04, python 3.10, tesla V100, cuda 11.7, torch 2.0.1\n"
            "Traceback (most recent call last):\n"
            '  File "debug2.py", line 14, in <module>\n'
            "    data_ts = data_ts.cuda()\n"
            "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.\n"
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace b"
            "elow might be incorrect."
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        "mit-han-lab/inter-operator-scheduler#4",
        (
            "Cuda failure: 222 the provided PTX was compiled with an unsupported toolchain.\n"
            "/home/ubuntu/ios/src/ios/ios_runtime.cu:1332\n"
            "Aborting..."
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        "pytorch/pytorch#74733",
        (
            "UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you "
            "have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx (Trigg"
            "ered internally at  /pytorch/c10/cuda/CUDAFunctions.cpp:100.)\n"
            "  return torch._C._cuda_getDeviceCount() > 0\n"
            "PyTorch version: 1.7.0+cu110\n"
            "Is debug build: True\n"
            "CUDA used to build PyTorch: 11.0\n"
            "ROCM used to build PyTorch: N/A\n"
            "OS: CentOS Linux 7 (Core) (x86_64)\n"
            "Is CUDA available: False"
        ),
        ("no-kernel-module",),
    ),
    (
        "ollama/ollama#3417",
        (
            "docker logs ollama\n"
            'level=INFO source=gpu.go:340 msg="Unable to load cudart CUDA management library /tmp/ollama4102'
            '197452/runners/cuda_v11/libcudart.so.11.0: cudart init failure: 35"\n'
            'level=INFO source=gpu.go:265 msg="Searching for GPU management library libnvidia-ml.so"'
        ),
        ("container-without-gpu-runtime",),
    ),
    (
        "ollama/ollama#11593",
        ("RTX 6000 PRO Blackwell\nUbuntu 25.04\nNVIDIA-SMI 570.158.01\ncudart init failure: 3"),
        ("open-kernel-module-required", "no-device-nodes"),
    ),
    (
        "NVlabs/tiny-cuda-nn#109",
        (
            "error: #error -- unsupported GNU version! gcc versions later than 11 are not supported! The nvc"
            "c flag '-allow-unsupported-compiler'\n"
            "gcc version: 12.1.0\n"
            "cuda version: 11.7"
        ),
        ("gcc-too-new-for-nvcc",),
    ),
    (
        "stackhpc/ansible-slurm-appliance#287",
        (
            "Jun 30 11:07:05 gpu-0 kernel: NVRM: API mismatch: the client has the version 535.54.03, but#012"
            "NVRM: this kernel module has the version 530.30.02.  Please#012NVRM: make sure that this kernel"
            " module and all NVIDIA driver#012NVRM: components have the same version."
        ),
        ("driver-library-mismatch",),
    ),
    (
        "tinygrad/open-gpu-kernel-modules#47",
        ("nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124"),
        ("driver-library-mismatch",),
    ),
    (
        "NVIDIA/open-gpu-kernel-modules#1150",
        ("kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149"),
        ("ecc-xid-hardware-fault",),
    ),
    (
        "",
        (
            "RuntimeError: Backend 'cuda' failed to initialize: Unable to use CUDA because of the following "
            "issues with CUDA components:\n"
            "E   Outdated cuDNN installation found.\n"
            "E   Version JAX was built against: 8907\n"
            "E   Minimum supported: 9100\n"
            "E   Installed version: 8907\n"
            "E   The local installation version must be no lower than 9100.. Available backends are ['cpu']"
        ),
        ("cudnn-wrong-major", "cudnn-version-mismatch-loaded-vs-compiled"),
    ),
    (
        "jax-ml/jax#30050",
        (
            "ERROR:2025-07-08 12:39:34,990 jax._src.xla_bridge:444] Jax plugin configuration error: Exceptio"
            "n when calling jax_plugins.xla_cuda12.initialize()\n"
            "RuntimeError: Unable to load cuSPARSE. Is it installed?\n"
            "WARNING:2025-07-08 12:39:34,994 jax._src.xla_bridge:794] An NVIDIA GPU may be present on this m"
            "achine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu."
        ),
        ("cudart-soname-missing", "ld-library-path-shadowing", "cublas-mismatch"),
    ),
    (
        "jax-ml/jax#20519",
        (
            "CUDA backend failed to initialize: Unable to load cuDNN. Is it installed? (Set TF_CPP_MIN_LOG_L"
            "EVEL=0 and rerun for more info.)\n"
            "jax:    0.4.25\n"
            "jaxlib: 0.4.25"
        ),
        ("cudnn-missing",),
    ),
    (
        "MIT-REALM/gcbfplus#1",
        (
            "CUDA backend failed to initialize: Found cuDNN version 8600, but JAX was built against version "
            "8906, which is newer. The copy of cuDNN that is installed must be at least as new as the versio"
            "n against which JAX was built. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)"
        ),
        ("cudnn-version-mismatch-loaded-vs-compiled",),
    ),
    (
        "DifferentiableUniverseInitiative/jaxDecomp#116",
        (
            '  File "lib/python3.11/site-packages/jax_plugins/xla_cuda12/__init__.py", line 201, in _version'
            "_check\n"
            "    version = get_version()\n"
            "RuntimeError: jaxlib/cuda/versions_helpers.cc:72: operation cublasGetVersion( nullptr, &version"
            ") failed: cuBlas internal error"
        ),
        ("cublas-mismatch",),
    ),
    (
        "turboderp-org/exllamav2#522",
        (
            "    import flash_attn_2_cuda as flash_attn_cuda\n"
            "ImportError: /home/u/miniconda3/envs/mlenv/lib/python3.11/site-packages/flash_attn_2_cuda.cpyth"
            "on-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"
        ),
        ("extension-built-for-other-torch",),
    ),
    (
        "Dao-AILab/flash-attention#1832",
        (
            "python 3.12.7\n"
            "cuda 12.8\n"
            "torch 2.6.0\n"
            "flash-attn 2.6.3\n"
            "ImportError: /opt/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.s"
            "o: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_tr"
            "aitsIcESaIcEEE"
        ),
        ("extension-built-for-other-torch",),
    ),
    (
        "NVIDIA/nvidia-docker#1424",
        (
            "docker: Error response from daemon: OCI runtime create failed: container_linux.go:349: starting"
            ' container process caused "process_linux.go:449: container init caused \\"process_linux.go:432: '
            'running prestart hook 0 caused \\\\\\"error running hook: exit status 1, stdout: , stderr: nvidia-'
            'container-cli: ldcache error: process /sbin/ldconfig failed with error code: 127\\\\\\\\n\\\\\\"\\"": u'
            "nknown."
        ),
        ("container-without-gpu-runtime",),
    ),
    (
        "NVIDIA/nvidia-container-toolkit#29",
        (
            "docker: Error response from daemon: failed to create shim: OCI runtime create failed: container"
            "_linux.go:380: starting container process caused: process_linux.go:545: container init caused: "
            "Running hook #1:: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'l"
            "egacy'\n"
            "nvidia-container-cli: device error: false: unknown device: unknown."
        ),
        ("container-without-gpu-runtime", "cuda-visible-devices-empty-or-invalid"),
    ),
    (
        "getumbrel/llama-gpt#132",
        (
            "Error response from daemon: failed to create task for container: failed to create shim task: OC"
            "I runtime create failed: runc create failed: unable to start container process: error during co"
            "ntainer init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-"
            "detected mode as 'legacy'\n"
            "nvidia-container-cli: detection error: nvml error: unknown error: unknown"
        ),
        ("container-without-gpu-runtime", "container-lost-gpu-cgroup", "no-kernel-module", "driver-library-mismatch"),
    ),
    (
        "ggml-org/llama.cpp#13059",
        (
            "ggml_cuda_init: failed to initialize CUDA: system not yet initialized\n"
            "warning: no usable GPU found, --gpu-layers option will be ignored\n"
            "warning: one possible reason is that llama.cpp was compiled without GPU support"
        ),
        ("fabric-manager-not-running",),
    ),
    (
        "ollama/ollama#5573",
        ("ggml_cuda_init: failed to initialize CUDA: system has unsupported display driver / cuda driver combination"),
        ("driver-library-mismatch",),
    ),
    (
        "ggml-org/llama.cpp#10553",
        (
            "ggml_cuda_init: failed to initialize CUDA: unknown error\n"
            "warning: not compiled with GPU offload support, --gpu-layers option will be ignored"
        ),
        ("uvm-broken-after-suspend",),
    ),
    (
        "ggml-org/llama.cpp#6184",
        ("ggml_cuda_init: no CUDA devices found, CUDA will be disabled\nmain: build = 2477 (f9c7ba34)"),
        ("cuda-visible-devices-empty-or-invalid", "no-kernel-module", "no-nvidia-gpu"),
    ),
    (
        "ggml-org/llama.cpp#10080",
        (
            "ggml_cuda_init: found 1 CUDA devices:\n"
            "  Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes\n"
            "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED\n"
            "  current device: 0, in function cublas_handle at ggml/src/ggml-cuda/common.cuh:644\n"
            "  cublasCreate_v2(&cublas_handles[device])"
        ),
        ("out-of-memory-not-a-stack-fault", "cublas-mismatch"),
    ),
    (
        "NVIDIA/TensorRT#1292",
        (
            "[TensorRT] WARNING: TensorRT was linked against cuBLAS/cuBLAS LT 11.4.2 but loaded cuBLAS/cuBLA"
            "S LT 11.2.1\n"
            "[TensorRT] ERROR: 1: [graphContext.h::MyelinGraphContext::24] Error Code 1: Myelin (myelinVersi"
            "onMismatch : Compiled against cuDNN 11.4.1.0 but running against cuDNN 11.2.1.0.\n"
            ")"
        ),
        ("cublas-mismatch",),
    ),
    (
        "tensorflow/tensorflow#34329",
        (
            "W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library "
            "'libnvinfer.so.5'; dlerror: libnvinfer.so.5: cannot open shared object file: No such file or di"
            "rectory\n"
            "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:30] Cannot dlopen some TensorRT libraries. "
            "If you would like to use Nvidia GPU with TensorRT, please make sure the missing libraries menti"
            "oned above are installed properly."
        ),
        (NOT_THE_STACK,),
    ),
    (
        "onnx/onnx-tensorrt#177",
        (
            "/usr/local/cuda/lib64/libcudnn.so: error adding symbols: File in wrong format\n"
            "collect2: error: ld returned 1 exit status"
        ),
        ("corrupted-install",),
    ),
    (
        "",
        (
            "/usr/bin/ld: warning: libcudnn.so.7, needed by /usr/lib/gcc/aarch64-linux-gnu/5/../../../../lib"
            "/libnvinfer.so, not found (try using -rpath or -rpath-link)\n"
            "/usr/lib/libnvinfer.so: undefined reference to `cudnnSetLRNDescriptor'"
        ),
        ("cudnn-missing", "cudnn-wrong-major"),
    ),
    (
        "PaddlePaddle/Paddle#3618",
        (
            "F0822 16:07:13.250742 27082 DynamicLoader.cpp:104] Check failed: nullptr != *dso_handle Failed "
            "to find dynamic library: libcudnn.so (libcudnn.so: cannot open shared object file: No such file"
            " or directory)\n"
            "Please specify its path correctly using following ways:\n"
            "Method. set environment variable LD_LIBRARY_PATH on Linux or DYLD_LIBRARY_PATH on Mac OS."
        ),
        ("cudnn-missing",),
    ),
    (
        "",
        (
            "RuntimeError: (PreconditionNotMet) The third-party dynamic library (cudnn64_8.dll) that Paddle "
            "depends on is not configured correctly. (error code is 126)\n"
            "  Suggestions:\n"
            "  1. Check if the third-party dynamic library (e.g. CUDA, CUDNN) is installed correctly and its"
            " version is matched with paddlepaddle you installed."
        ),
        ("cudnn-missing",),
    ),
    (
        "PaddlePaddle/Paddle#33523",
        (
            "RuntimeError: (PreconditionNotMet) The third-party dynamic library (cublas64_102.dll;cublas64_1"
            "0.dll) that Paddle depends on is not configured correctly. (error code is 126)"
        ),
        ("cudart-soname-missing", "framework-wants-other-cuda"),
    ),
    (
        "PaddlePaddle/Paddle#50195",
        (
            "RuntimeError: (PreconditionNotMet) Cannot load cudnn shared library. Cannot invoke method cudnn"
            "GetVersion.\n"
            "  [Hint: cudnn_dso_handle should not be null.] (at /paddle/paddle/phi/backends/dynload/cudnn.cc"
            ":60)"
        ),
        ("cudnn-missing",),
    ),
    (
        "cupy/cupy#2087",
        (
            "CUDA Version: 8.0\n"
            "GPU: Tesla V100\n"
            "cupy.cuda.compiler.CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)"
        ),
        ("gpu-too-new-for-cuda", "nvcc-too-old-for-gpu-arch"),
    ),
    (
        "cupy/cupy#9475",
        (
            "cupy_backends.cuda.libs.nvrtc.NVRTCError: NVRTC_ERROR_INVALID_OPTION (5)\n"
            "cupy.cuda.compiler.CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)"
            "\n"
            "NVIDIA GeForce GTX 1080\n"
            "CUDA Runtime Version         : 13000"
        ),
        ("gpu-too-old-dropped",),
    ),
    (
        "cupy/cupy#1651",
        (
            "GF108 [GeForce GT 730]\n"
            "NVRTC compilation error: nvrtc: error: invalid value for --gpu-architecture (-arch)\n"
            "Options: -I/usr/include -ftz=true -arch=compute_21\n"
            "Cuda compilation tools, release 9.1, V9.1.85"
        ),
        ("gpu-too-old-dropped",),
    ),
    (
        "NVIDIA/k8s-device-plugin#1011",
        (
            "I0117 15:43:15.906553 1 main.go:256] Retrieving plugins.\n"
            "W0117 15:43:15.907261 1 factory.go:31] No valid resources detected, creating a null CDI handler"
            "\n"
            "I0117 15:43:15.907336 1 factory.go:107] Detected non-NVML platform: could not load NVML library"
            ": libnvidia-ml.so.1: cannot open shared object file: No such file or directory\n"
            "E factory.go:115] Incompatible platform detected"
        ),
        ("container-without-gpu-runtime",),
    ),
    (
        "NVIDIA/k8s-device-plugin#1963",
        (
            "E0814 09:35:39.851839       1 factory.go:99] Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND"
            ".\n"
            "E0814 09:35:39.851845       1 factory.go:100] If this is a GPU node, did you set the docker def"
            "ault runtime to `nvidia`?"
        ),
        ("container-without-gpu-runtime",),
    ),
    (
        "",
        (
            "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupN"
            "CCL.cpp:1333, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18."
            "6\n"
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device er"
            "ror.\n"
            "Last error:\n"
            "socketStartConnect: Connect to 192.168.19.14<52822> failed : No route to host"
        ),
        (NOT_THE_STACK,),
    ),
    (
        "NVIDIA/nccl-tests#15",
        (
            "server1:6601:6625 [0] include/socket.h:385 NCCL WARN Net : Connection closed by remote peer\n"
            "NCCL failure common.cu:921 'unhandled system error'"
        ),
        (NOT_THE_STACK,),
    ),
    (
        "ultralytics/ultralytics#4160",
        (
            "../aten/src/ATen/native/cuda/IndexKernel.cu:92: operator(): block: [492,0,0], thread: [127,0,0]"
            ' Assertion `index >= -sizes[i] && index < sizes[i] && "index out of bounds"` failed.'
        ),
        (NOT_THE_STACK,),
    ),
    (
        "",
        (
            " 428 cuda_blas.cc:1413] Unable to register cuBLAS factory: Attempting to register factory for p"
            "lugin cuBLAS when one has already been registered\n"
            " 581 computation_placer.cc:177] computation placer already registered. Please check linkage and"
            " avoid linking the same target more than once."
        ),
        (NOT_THE_STACK,),
    ),
    (
        "",
        (
            "E tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:9342] Unable to register cuDNN facto"
            "ry: Attempting to register factory for plugin cuDNN when one has already been registered\n"
            "E tensorflow/compiler/xla/stream_executor/cuda/cuda_fft.cc:609] Unable to register cuFFT factor"
            "y: Attempting to register factory for plugin cuFFT when one has already been registered\n"
            "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT"
        ),
        (NOT_THE_STACK,),
    ),
    (
        "",
        (
            "I external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:901] successful NUMA node read f"
            "rom SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA "
            "node zero."
        ),
        (NOT_THE_STACK,),
    ),
    (
        "ggml-org/llama.cpp#11700",
        (
            "ggml_cuda_init: found 1 CUDA devices:\n"
            "  Device 0: Tesla V100-SXM2-32GB, compute capability 7.0, VMM: yes\n"
            "load_backend: failed to find ggml_backend_init in /path/to/llama.cpp/out/build/linux/bin/libggm"
            "l-cuda.so"
        ),
        (NOT_THE_STACK,),
    ),
    (
        "",
        (
            "detectnet-console: cudnnEngine.cpp:639: bool nvinfer1::cudnn::Engine::deserialize(const void*, "
            'std::size_t, nvinfer1::IPluginFactory*): Assertion `size >= bsize && "Mismatch between allocate'
            "d memory size and expected size of serialized engine.\"' failed."
        ),
        (NOT_THE_STACK,),
    ),
    (
        "",
        (
            '  File "lib/python3.6/site-packages/neuralnet_pytorch/monitor.py", line 932, in run_training\n'
            "    raise ValueError('NaN or Inf encountered. Training failed!')\n"
            "ValueError: NaN or Inf encountered. Training failed!"
        ),
        (NOT_THE_STACK,),
    ),
    (
        "Lightning-AI/pytorch-lightning#9008",
        (
            "RuntimeError: CUDA error: an illegal memory access was encountered\n"
            "CUDA kernel errors might be asynchronously reported at some other API call,so the stacktrace be"
            "low might be incorrect."
        ),
        (NOT_THE_STACK,),
    ),
)
