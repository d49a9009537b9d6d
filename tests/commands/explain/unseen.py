"""A third sample of reports that nobody had looked at: what other programs said in them, and the causes that are right.

Their causes were written down first, and scored once before anything was mended for them: the first cause was right in
19 of 40, and 4 of the 13 others were blamed on the stack (docs/explain.md). They hold since then.
"""

from __future__ import annotations

from tests.commands.explain.held_out import NOT_THE_STACK

UNSEEN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        (
            "    fvdb_grids = fvdb.gridbatch_from_points(JaggedTensor(cropped_xyz), **grid_batch_kwargs"
            "_finest)\n"
            "RuntimeError: CUDA error: no kernel image is available for execution on the device"
        ),
        ("extension-built-for-other-arch", "gpu-arch-not-in-build"),
    ),
    (
        (
            "python -m pcdet.datasets.nuscenes.nuscenes_dataset --func create_nuscenes_infos\n"
            "CUDA kernel failed : no kernel image is available for execution on the device"
        ),
        ("extension-built-for-other-arch", "gpu-arch-not-in-build"),
    ),
    (
        (
            "CUDA SETUP: CUDA runtime path found: /usr/local/cuda-11.8/lib64/libcudart.so.11.0\n"
            "CUDA SETUP: Highest compute capability among GPUs detected: 8.0\n"
            "CUDA SETUP: Detected CUDA version 118\n"
            "CUDA SETUP: Required library version not found: libbitsandbytes_cuda118.so. Maybe you need"
            " to compile it from source?\n"
            "CUDA SETUP: Defaulting to libbitsandbytes_cpu.so..."
        ),
        ("extension-built-for-other-cuda",),
    ),
    (
        (
            "bin C:\\venv\\lib\\site-packages\\bitsandbytes\\libbitsandbytes_cpu.so\n"
            "False\n"
            "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup"
            " paths...\n"
            "CUDA SETUP: WARNING! libcuda.so not found! Do you have a CUDA driver installed? If you are"
            " on a cluster, make sure you are on a CUDA machine!\n"
            "C:\\venv\\lib\\site-packages\\bitsandbytes\\cuda_setup\\main.py:149: UserWarning: WARNING: No li"
            "bcudart.so found! Install CUDA or the cudatoolkit package (anaconda)!"
        ),
        ("extension-built-for-other-cuda", "cudart-soname-missing", "windows-driver-missing"),
    ),
    (
        (
            "Warning  Failed     5s (x3 over 19s)  kubelet            Error: failed to create container"
            "d task: failed to create shim task: OCI runtime create failed: runc create failed: unable "
            "to start container process: error during container init: error running hook #0: error runn"
            "ing hook: exit status 1, stdout: , stderr: nvidia-container-cli.real: initialization error"
            ": driver error: failed to process request: unknown"
        ),
        ("no-kernel-module", "container-without-gpu-runtime", "driver-library-mismatch"),
    ),
    (
        ('nvidia-container-cli: initialization error: cuda error: unknown error\\\\n\\"": unknown'),
        ("uvm-broken-after-suspend", "no-kernel-module", "no-device-nodes"),
    ),
    (
        ("nvidia-container-cli: initialization error: driver rpc error: timed out"),
        ("driver-hang", "persistence-off", "no-kernel-module"),
    ),
    (
        (
            "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
            "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
            "               NVRM: fallen off the bus and is not responding to commands.\n"
            "[ 1843.439662] NVRM: The NVIDIA probe routine failed for 1 device(s)."
        ),
        ("ecc-xid-hardware-fault",),
    ),
    (
        (
            "[188497.595099] NVRM: No NVIDIA graphics adapter probed!\n"
            "[188549.976351] NVRM: The NVIDIA probe routine was not called for 3 device(s).\n"
            "[188549.977053] NVRM: This can occur when a driver such as: \n"
            "NVRM: nouveau, rivafb, nvidiafb or rivatv \n"
            "NVRM: was loaded and obtained ownership of the NVIDIA device(s).\n"
            "[188549.978961] NVRM: Try unloading the conflicting kernel module (and/or\n"
            "NVRM: reconfigure your kernel without the conflicting\n"
            "NVRM: driver(s)), then try loading the NVIDIA kernel module"
        ),
        ("nouveau-in-use",),
    ),
    (
        ("[  441.170986] NVRM: No NVIDIA graphics adapter found!\n[  441.171021] NVRM: NVIDIA init module failed!"),
        ("no-nvidia-gpu",),
    ),
    (
        (
            "[  903.609564] NVRM: RmInitAdapter: Cannot initialize GSP firmware RM\n"
            "[  903.610907] NVRM: GPU 0000:98:00.0: RmInitAdapter failed! (0x62:0x65:1792)\n"
            "[ 2052.745833] NVRM: gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progre"
            "ss 0x3)\n"
            "No devices were found"
        ),
        ("ecc-xid-hardware-fault", "gpu-recovery-needed"),
    ),
    (
        (
            "[01/11/2023-16:33:50] [E] [TRT] 6: [libLoader.h::DynamicLibrary::50] Error Code 6: Interna"
            "l Error (Unable to load library: libnvinfer_builder_resource.so.8.4.1)\n"
            "Segmentation fault (core dumped)"
        ),
        ("wheel-libs-not-on-loader-path", "ld-library-path-shadowing", "needed-library-missing"),
    ),
    (
        (
            "[2024-06-13 20:21:01.281] [info] Engine not found, generating. This could take a while...\n"
            "[2024-06-13 20:21:01.668] [error] 6: [libLoader.cpp::nvinfer1::rt::DynamicLibrary::Impl::I"
            "mpl::288] Error Code 6: Internal Error (Unable to load library: nvinfer_builder_resource_1"
            "0.dll)"
        ),
        ("windows-dll-path",),
    ),
    (
        (
            "ERROR: [Torch-TensorRT TorchScript Conversion Context] - createInferBuilder: Error Code 6:"
            " API Usage Error (Unable to load library: libnvinfer_builder_resource.so.10.7.0: libnvinfe"
            "r_builder_resource.so.10.7.0: cannot enable executable stack as shared object requires: In"
            "valid argument)"
        ),
        ("framework-bug",),
    ),
    (
        (
            '  File "torch/_inductor/compile_fx.py", line 430, in fw_compiler\n'
            "/usr/bin/ld: cannot find -lcuda: No such file or directory\n"
            "collect2: error: ld returned 1 exit status"
        ),
        ("libcuda-link-missing", "driver-libraries-missing"),
    ),
    (
        (
            "z-pc:909608:910337 [0] NCCL INFO Channel 00 : 0[2d000] -> 1[2e000] via P2P/IPC\n"
            "z-pc:909608:910337 [0] transport/p2p.cc:238 NCCL WARN failed to open CUDA IPC handle : 217"
            " peer access is not supported between these two devices\n"
            "RuntimeError: NCCL error in: /opt/conda/conda-bld/pytorch/work/torch/lib/c10d/ProcessGroup"
            "NCCL.cpp:784, unhandled cuda error, NCCL version 2.7.8"
        ),
        ("nccl-p2p-acs-iommu",),
    ),
    (
        (
            "dl-pod-jupyter:205826:205826 [0] NCCL INFO cudaDriverVersion 11000\n"
            "NCCL version 2.14.3+cuda11.7\n"
            "dl-pod-jupyter:205826:205907 [0] transport/shm.cc:154 NCCL WARN Cuda failure 'API call is "
            "not supported in the installed CUDA driver'"
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        (
            "DESKTOP-VMBL43V:4163:4163 [0] NCCL INFO Bootstrap : Using eth0:172.23.125.43<0>\n"
            "DESKTOP-VMBL43V:4163:4163 [0] misc/cudawrap.cc:179 NCCL WARN Failed to find CUDA library l"
            "ibcuda.so (NCCL_CUDA_PATH='') : libcuda.so: cannot open shared object file: No such file o"
            "r directory\n"
            "NCCL version 2.18.5+cuda12.1"
        ),
        ("wsl-libcuda-missing", "driver-libraries-missing", "libcuda-link-missing"),
    ),
    (
        (
            "    import flash_attn_2_cuda as flash_attn_gpu\n"
            "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by "
            "/usr/local/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so)"
        ),
        ("glibc-too-old",),
    ),
    (
        (
            "ImportError: /usr/local/lib/python3.8/dist-packages/flash_attn_2_cuda.cpython-38-x86_64-li"
            "nux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"
        ),
        ("extension-built-for-other-torch",),
    ),
    (
        (
            "nvcc fatal   : nvcc cannot find a supported version of Microsoft Visual Studio. Only the v"
            "ersions 2010, 2012, and 2013 are supported\n"
            "['nvcc', '-shared', '-O3', '-arch=sm_50', '--compiler-bindir', 'C:\\\\Anaconda2\\\\MinGW\\\\bin'"
            ", '-Xlinker', '/DEBUG', '-m64']"
        ),
        ("host-compiler-unsupported", "gcc-too-new-for-nvcc", "theanorc-misconfigured"),
    ),
    (
        (
            "Encountered problems while solving:\n"
            "  - package cudatoolkit-11.0.3-h15472ef_6 has constraint __cuda >=11.0 conflicting with __"
            "cuda-10.2-0"
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        (
            "LibMambaUnsatisfiableError: Encountered problems while solving:\n"
            "  - package torchaudio-2.0.2-py310_cu117 requires pytorch-cuda 11.7.*, but none of the pro"
            "viders can be installed\n"
            "Could not solve for environment specs\n"
            "The following packages are incompatible\n"
            "├─ pytorch-cuda ==12.1 ha16c6d3_5 is requested and can be installed;\n"
            "└─ torchaudio 2.0.2  is not installable because there are no viable options"
        ),
        ("companion-version-mismatch", "pip-nvidia-wheels-conflict", "conda-cudatoolkit-vs-pip"),
    ),
    (
        (
            "========== NVIDIA Software Installer ==========\n"
            "Starting installation of NVIDIA driver version 450.80.02 for Linux kernel version 3.10.0-8"
            "62.el7.x86_64\n"
            "Updating the package cache...\n"
            "Resolving Linux kernel version...\n"
            "Unable to open the file '/lib/modules/3.10.0-862.el7.x86_64/proc/version' (No such file or"
            " directory).Could not resolve Linux kernel version\n"
            "Stopping NVIDIA persistence daemon..."
        ),
        ("kernel-updated-dkms-missing", "gpu-operator-not-ready"),
    ),
    (
        (
            '  File "/opt/conda/envs/pytorch17/lib/python3.7/site-packages/torch/utils/cpp_extension.py'
            '", line 670, in build_extensions\n'
            "    build_ext.build_extensions(self)\n"
            "ValueError: Unknown CUDA arch (8.9) or GPU not supported"
        ),
        ("nvcc-too-old-for-gpu-arch", "gpu-too-new-for-cuda", "gpu-arch-not-in-build"),
    ),
    (
        (
            "ggml_cuda_init: failed to initialize CUDA: system not yet initialized\n"
            "warning: no usable GPU found, --gpu-layers option will be ignored\n"
            "warning: one possible reason is that llama.cpp was compiled without GPU support"
        ),
        ("fabric-manager-not-running",),
    ),
    (
        ("ggml_cuda_init: no CUDA devices found, CUDA will be disabled\nLog start\nmain: build = 2477 (f9c7ba34)"),
        (
            "no-device-nodes",
            "uvm-broken-after-suspend",
            "no-nvidia-gpu",
            "cuda-visible-devices-empty-or-invalid",
            "no-kernel-module",
            "container-without-gpu-runtime",
            "driver-too-old-for-runtime",
        ),
    ),
    (
        ("CUDA error 3 at /tmp/pip-install/llama-cpp-python/vendor/llama.cpp/ggml-cuda.cu:2268: initialization error"),
        ("no-device-nodes", "uvm-broken-after-suspend", "no-nvidia-gpu", "cuda-visible-devices-empty-or-invalid"),
    ),
    (
        (
            "numba.cuda.cudadrv.error.NvvmSupportError: libNVVM cannot be found. Do `conda install cuda"
            "toolkit`:\n"
            "Could not find module 'nvvm.dll' (or one of its dependencies). Try using the full path wit"
            "h constructor syntax."
        ),
        ("libdevice-not-found", "cudart-soname-missing", "windows-dll-path", "toolkit-path-conflict"),
    ),
    (
        (
            "NvvmSupportError: libNVVM cannot be found. Do `conda install cudatoolkit`:\n"
            "/usr/local/cuda-9.0/nvvm/lib64/libnvvm.so: cannot open shared object file: No such file or"
            " directory"
        ),
        (
            "libdevice-not-found",
            "cudart-soname-missing",
            "toolkit-path-conflict",
            "framework-wants-other-cuda",
            "cuda-symlink-broken",
        ),
    ),
    (
        (
            "numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in UNKNOWN_CUDA"
            "_ERROR\n"
            "ptxas application ptx input, line 9; fatal   : Unsupported .version 7.3; current version i"
            "s '7.1'"
        ),
        ("driver-too-old-for-runtime", "ptx-newer-than-driver"),
    ),
    (
        (
            "numba.cuda.cudadrv.error.CudaSupportError: Error at driver init:\n"
            "Call to cuInit results in CUDA_ERROR_OPERATING_SYSTEM (304)"
        ),
        ("no-device-nodes", "device-permissions", "container-lost-gpu-cgroup", "uvm-broken-after-suspend"),
    ),
    (
        (
            '  File "faster_whisper/transcribe.py", line 1400, in encode\n'
            "    return self.model.encode(features, to_cpu=to_cpu)\n"
            "RuntimeError: Library libcublas.so.12 is not found or cannot be loaded"
        ),
        ("cudart-soname-missing", "framework-wants-other-cuda", "wheel-libs-not-on-loader-path"),
    ),
    (
        (
            "ERROR: This container was built for NVIDIA Driver Release 470.57 or later, but\n"
            "       version 460.84 was detected and compatibility mode is UNAVAILABLE."
        ),
        ("driver-too-old-for-runtime",),
    ),
    (
        (
            "ERROR: This container was built for NVIDIA Driver Release 450.36 or later, but\n"
            "       version 440.100 was detected and compatibility mode is UNAVAILABLE.\n"
            "\n"
            "       [[CUDA Driver UNAVAILABLE (cuInit(0) returned 804)]]"
        ),
        ("driver-too-old-for-runtime", "forward-compat-mistake"),
    ),
    (
        ("  Warning  FailedScheduling  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu."),
        ("container-without-gpu-runtime", "gpu-operator-not-ready", "container-gpus-hidden"),
    ),
    (
        (
            "cudf.errors.UnsupportedCUDAError: A GPU with NVIDIA Volta™ (Compute Capability 7.0) or new"
            "er architecture is required.\n"
            "Detected GPU 0: Tesla P100-SXM2-16GB\n"
            "Detected Compute Capability: 6.0"
        ),
        ("gpu-too-old-dropped",),
    ),
    (
        (
            "calling cuInit\n"
            "cuInit err: 500\n"
            'time=2025-02-03T16:40:03.884Z level=INFO source=gpu.go:630 msg="Unable to load cudart libr'
            'ary /usr/lib/x86_64-linux-gnu/libcuda.so.1: cuda driver library init failure: 500"'
        ),
        ("container-without-gpu-runtime", "wsl-libcuda-missing", "driver-library-mismatch"),
    ),
    (
        (
            "cudaSetDevice err: 35\n"
            'time=2025-05-27T19:05:53.334Z level=DEBUG source=gpu.go:574 msg="Unable to load cudart lib'
            "rary /usr/lib/ollama/cuda_v11/libcudart.so.11.3.109: your nvidia driver is too old or miss"
            'ing.  If you have a CUDA GPU please upgrade to run ollama"'
        ),
        ("driver-too-old-for-runtime", "no-kernel-module", "container-without-gpu-runtime"),
    ),
    (
        (
            'ERROR: An error occurred while performing the step: "Building kernel modules". See /var/lo'
            "g/nvidia-installer.log for details.\n"
            'ERROR: An error occurred while performing the step: "Checking to see whether the nvidia ke'
            'rnel module was successfully built". See /var/log/nvidia-installer.log for details.\n'
            "ERROR: Installation has failed."
        ),
        ("kernel-updated-dkms-missing", "driver-does-not-support-gpu"),
    ),
    (
        (
            "/tmp/tmps1rkq3y3/main.c:5:10: fatal error: Python.h: No such file or directory\n"
            "    5 | #include <Python.h>\n"
            "      |          ^~~~~~~~~~\n"
            "compilation terminated.\n"
            '  File "/sgl-workspace/sglang/python/sglang/srt/model_executor/cuda_graph_runner.py", line'
            " 162, in capture"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "NVRTCError: NVRTC_ERROR_COMPILATION (6)\n"
            'CompileException: Catastrophic error: cannot open source file "C:\\Users\\榛刓AppData\\Local\\Te'
            'mp\\tmpg4c62iyd\\7cb9cb82a45540883a7190c81ea23c5d_2.cubin.cu"\n'
            "\n"
            '1 catastrophic error detected in the compilation of "C:\\Users\\黄\\AppData\\Local\\Temp\\tmpg4c6'
            '2iyd\\7cb9cb82a45540883a7190c81ea23c5d_2.cubin.cu".\n'
            "CuPy Version          : 7.5.0\n"
            "CUDA Root             : C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v10.2\n"
            "CUDA Build Version    : 10020\n"
            "CUDA Driver Version   : 10020\n"
            "CUDA Runtime Version  : 10020"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "[rank0]: Traceback (most recent call last):\n"
            '[rank0]:   File "/open-r1/src/open_r1/grpo.py", line 267, in <module>\n'
            "[rank0]:     main(script_args, training_args, model_args)\n"
            "[rank0]: requests.exceptions.ConnectionError: (MaxRetryError(\"HTTPSConnectionPool(host='hu"
            "ggingface.co', port=443): Max retries exceeded with url: /api/repos/create (Caused by NewC"
            "onnectionError('<urllib3.connection.HTTPSConnection object at 0x7d60>: Failed to establish"
            " a new connection: [Errno 101] Network is unreachable'))\"))"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            '(VllmWorkerProcess pid=6499) ERROR 07-24 14:07:40 multiproc_worker_utils.py:226]   File "/'
            'usr/local/lib/python3.10/dist-packages/vllm/worker/worker.py", line 372, in raise_if_cache'
            "_size_invalid\n"
            "(VllmWorkerProcess pid=6499) ERROR 07-24 14:07:40 multiproc_worker_utils.py:226] ValueErro"
            "r: The model's max seq len (131072) is larger than the maximum number of tokens that can b"
            "e stored in KV cache (79392). Try increasing `gpu_memory_utilization` or decreasing `max_m"
            "odel_len` when initializing the engine."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "IndexKernel.cu:135: operator(): block: [13,0,0], thread: [16,0,0] Assertion `index >= -siz"
            'es[i] && index < sizes[i] && "index out of bounds"` failed.\n'
            '  File "centermask/modeling/centermask/maskiou_head.py", line 112, in forward\n'
            "    x = F.relu(self.maskiou_fc1(x))\n"
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)"
            "`"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "    return F.linear(input, self.weight, self.bias)\n"
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)"
            "`"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "2023-12-05 09:29:18.697209: E tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:934"
            "2] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when "
            "one has already been registered\n"
            "2023-12-05 09:29:18.697296: E tensorflow/compiler/xla/stream_executor/cuda/cuda_blas.cc:15"
            "18] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS wh"
            "en one has already been registered\n"
            "2023-12-05 09:29:20.002737: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT"
            " Warning: Could not find TensorRT\n"
            "no module 'xformers'. Processing without..."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "[TensorRT] ERROR: INVALID_CONFIG: The engine plan file is generated on an incompatible dev"
            "ice, expecting compute 6.1 got compute 7.5, please rebuild.\n"
            "[TensorRT] ERROR: engine.cpp (1407) - Serialization Error in deserialize: 0 (Core engine d"
            "eserialization failure)\n"
            "[TensorRT] ERROR: INVALID_STATE: std::exception\n"
            "[TensorRT] ERROR: INVALID_CONFIG: Deserialize the cuda engine failed."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "node5:240:240 [6] misc/socket.cc:533 NCCL WARN socketPollConnect: Connect to 10.0.0.4<5684"
            "9> returned 113(No route to host) errno 115(Operation now in progress)\n"
            "node5:240:240 [6] NCCL INFO bootstrap.cc:285 -> 2\n"
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or devi"
            "ce error."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "    return tensor.cpu().pin_memory()\n"
            "RuntimeError: CUDA error: invalid argument\n"
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktr"
            "ace below might be incorrect.\n"
            "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "node155:3052668:3052668 [0] NCCL INFO Bootstrap : Using bond0:10.218.201.155<0>\n"
            "node155:3052668:3052668 [0] NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open sha"
            "red object file: No such file or directory No plugin found (libnccl-net.so), using interna"
            "l implementation\n"
            "node155:3052668:3052668 [0] NCCL INFO cudaDriverVersion 12020\n"
            "node155:3052668:3052668 [0] NCCL INFO comm 0x5562 rank 0 nranks 8 - Init COMPLETE"
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "Triton Server Version 2.29.0\n"
            "WARNING: CUDA Minor Version Compatibility mode ENABLED.\n"
            "  Using driver version 510.47.03 which has support for CUDA 11.6.  This container\n"
            "  was built with CUDA 11.8 and will be run in Minor Version Compatibility mode.\n"
            "  CUDA Forward Compatibility is preferred over Minor Version Compatibility for use\n"
            "  with this container but was unavailable:\n"
            "  [[Forward compatibility was attempted on non supported HW (CUDA_ERROR_COMPAT_NOT_SUPPORT"
            "ED_ON_DEVICE) cuInit()=804]]\n"
            "  See https://docs.nvidia.com/deploy/cuda-compatibility/ for details."
        ),
        (NOT_THE_STACK,),
    ),
    (
        (
            "[rank1]: Traceback (most recent call last):\n"
            '[rank1]:   File "deepspeed/runtime/engine.py", line 1251, in _broadcast_model\n'
            "[rank1]:     dist.broadcast(p.data, groups._get_broadcast_src_rank(), group=self.seq_data_"
            "parallel_group)\n"
            "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 116.00 MiB. GPU 1 h"
            "as a total capacity of 23.99 GiB of which 0 bytes is free. Including non-PyTorch memory, t"
            "his process has 17179869184.00 GiB memory in use."
        ),
        (NOT_THE_STACK,),
    ),
)
