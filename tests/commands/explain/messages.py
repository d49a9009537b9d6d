"""Messages as programs print them, and the cause that each stands for: what the program said, nobody's words.

The strings are those of the sources that the signatures name; addresses, paths and numbers are made up.
"""

_JAX_ASKED = "RuntimeError: jaxlib/cuda/versions_helpers.cc:135: operation cuInit(0) failed:"
_JAX_FELL_BACK = (
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu."
)
MESSAGES: tuple[tuple[str, str], ...] = (
    # PTX
    (
        "tf_gpu_runtime_wrappers.cc:40] 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'",
        "gpu-arch-not-in-build",
    ),
    (
        "LLVM ERROR: PTX version 8.5 does not support target 'sm_120' (or 'sm_120a'). Minimum required PTX version",
        "ptxas-too-old",
    ),
    # NumPy
    (
        "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.2.6 as it may crash.",
        "numpy-abi-mismatch",
    ),
    ("UserWarning: Failed to initialize NumPy: _ARRAY_API not found (Triggered internally)", "numpy-abi-mismatch"),
    ("ImportError: Numba needs NumPy 1.26 or less", "numpy-abi-mismatch"),
    # the driver
    ("libcuda.so.570.169: cuda driver library init failure: 802", "fabric-manager-not-running"),
    ("cuInit err: 999\nnvcuda init failure: 999", "uvm-broken-after-suspend"),
    ("cudaSetDevice err: 35 libcudart", "driver-too-old-for-runtime"),
    ("Unable to load libnvidia-ml.so.550.54.14: nvml vram init failure: 999", "container-lost-gpu-cgroup"),
    ('error="symbol lookup for cuCtxCreate_v3 failed: libcuda.so.460.106.00"', "driver-too-old-for-runtime"),
    ("RuntimeError: Failed to get cuGetProcAddress_v2", "driver-too-old-for-runtime"),
    ("Could not find the bitsandbytes CUDA binary at PosixPath('b')", "extension-built-for-other-cuda"),
    ("xFormers was built for:\n PyTorch 2.0.1+cu118 with CUDA 1108 (you have 2.1.0+cpu)", "cpu-only-wheel"),
    (
        "xFormers was built for:\n PyTorch 2.0.1+cu118 with CUDA 1108 (you have 2.1.0+cu121)",
        "extension-built-for-other-cuda",
    ),
    (
        'File "/e/site-packages/torch/__init__.py", line 9\nImportError: Failed to load PyTorch C extensions:',
        "corrupted-install",
    ),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_'", "not-a-stack-problem"),
    (
        "ptxas fatal   : SM version specified by .target is higher than default SM version assumed",
        "not-a-stack-problem",
    ),
    ("[0] include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied", "not-a-stack-problem"),
    (
        'File "torch/__init__.py", line 505\nImportError: libc10.so: cannot open shared object file: No such file',
        "corrupted-install",
    ),
    ("import my_ops\nImportError: libc10.so: cannot open shared object file: No such file", "not-a-stack-problem"),
    ("ImportError: Failed to load PyTorch C extensions:\n    It appears that", "not-a-stack-problem"),
    ("cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.", "cudart-soname-missing"),
    ("CudaSupportError: Error at driver init:\nCUDA driver library cannot be found.\nEnsure that", "no-kernel-module"),
    ('DynamicLibNotFoundError: Failure finding "libnvrtc.so.13 or libnvrtc.so.12": No such file', "nvrtc-missing"),
    ('ImportError: Failure finding "libcublasLt.so.13 or libcublasLt.so.12": No such', "cudart-soname-missing"),
    (
        "operation cudaRuntimeGetVersion(&version) failed: Error loading CUDA libraries. GPU will not be used.",
        "cudart-soname-missing",
    ),
    ("ptxas t.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '8.8'", "ptxas-too-old"),
    ("[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from a.onnx failed", "not-a-stack-problem"),
    ("ERROR: No matching distribution found for torch==2.5.0+cu124", "python-version-no-wheel"),
    (
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update",
        "driver-too-old-for-runtime",
    ),
    (
        "AssertionError:\nThe NVIDIA driver on your system is too old (found\nversion 9000).",
        "driver-too-old-for-runtime",
    ),
    (
        "cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version",
        "driver-too-old-for-runtime",
    ),
    (
        "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
        "driver-too-old-for-runtime",
    ),
    (
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver",
        "driver-too-old-for-runtime",
    ),
    ("E cuda_dnn.cc:417] Possibly insufficient driver version: 450.80.2", "driver-too-old-for-runtime"),
    (
        "CUDA used to build PyTorch: 12.8\nIs CUDA available: False\nNvidia driver version: 470.57.02",
        "driver-too-old-for-runtime",
    ),
    (
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161",
        "driver-library-mismatch",
    ),
    (
        (
            "NVRM: API mismatch: the client has the version 535.129.03, but\nNVRM: this kernel module has the "
            "version 535.113.01."
        ),
        "driver-library-mismatch",
    ),
    ("Error 803: system has unsupported display driver / cuda driver combination", "driver-library-mismatch"),
    (
        "docker run --gpus all app\nError 803: system has unsupported display driver / cuda driver combination",
        "forward-compat-mistake",
    ),
    ("Error 804: forward compatibility was attempted on non supported HW", "forward-compat-mistake"),
    (
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
        "no-kernel-module",
    ),
    ("Found no NVIDIA driver on your system.\nGPU: AMD Radeon RX 7900 XTX", "no-nvidia-gpu"),
    ("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "secure-boot-unsigned-module"),
    ("ERROR: Unable to load the kernel module 'nvidia.ko'.\nSecure boot: enabled", "secure-boot-unsigned-module"),
    ("ERROR: The Nouveau kernel driver is currently in use by your system.", "nouveau-in-use"),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "no-kernel-module"),
    (
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-45-generic",
        "kernel-updated-dkms-missing",
    ),
    (
        (
            "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)\nNVRM: installed in this system requires use "
            "of the NVIDIA open kernel modules."
        ),
        "open-kernel-module-required",
    ),
    (
        "NVRM: GPU 0000:01:00.0 is not supported by open nvidia.ko because it does not include the required GPU",
        "driver-does-not-support-gpu",
    ),
    (
        (
            "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:11c6) installed in this system is supported through "
            "the NVIDIA 470.xx Legacy drivers"
        ),
        "driver-does-not-support-gpu",
    ),
    ("$ nvidia-smi\nNo devices were found\nNVIDIA GeForce RTX 5090", "open-kernel-module-required"),
    (
        (
            "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\nNVRM: BAR1 is 0M @ 0x0 "
            "(PCI:0000:01:00.0)"
        ),
        "bios-bar-settings",
    ),
    ("Error: /dev/nvidia-uvm: No such file or directory", "no-device-nodes"),
    ("Failed to initialize NVML: Insufficient Permissions", "device-permissions"),
    ("Failed to initialize NVML: Unknown Error", "container-lost-gpu-cgroup"),
    ("Failed to initialize NVML: Driver Not Loaded", "no-kernel-module"),
    ("RuntimeError: CUDA error: system not yet initialized", "fabric-manager-not-running"),
    ("CUDA failure: CUDA driver is a stub library", "stub-libcuda-on-path"),
    # the kernel's log
    ("NVRM: Xid (PCI:0000:02:00): 79, pid=1234, GPU has fallen off the bus.", "ecc-xid-hardware-fault"),
    ("NVRM: Xid (PCI:0000:02:00): 48, pid=77, DBE (double bit error)", "ecc-xid-hardware-fault"),
    ("nvidia 0000:02:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)", "ecc-xid-hardware-fault"),
    ("CUDA error: uncorrectable ECC error encountered", "ecc-xid-hardware-fault"),
    ("INFO: task nvidia-smi:620917 blocked for more than 120 seconds.\nnvidia: loading", "driver-hang"),
    ("nvidia-smi is stuck, process in D state", "driver-hang"),
    ("SW Thermal Slowdown : Active\nGPU 00000000:01:00.0", "power-thermal"),
    ("CUDA error DRIVER: '999' in func 'run_stream' line 7", "power-thermal"),
    (
        (
            "nv-fabricmanager: request to query NVSwitch device information failed with error:WARNING Nothing to "
            "do [NV_WARN_NOTHING_TO_DO]"
        ),
        "not-a-stack-problem",
    ),
    # CUDA does not start
    (
        "$ CUDA_VISIBLE_DEVICES=7 python a.py\nRuntimeError: No CUDA GPUs are available",
        "cuda-visible-devices-empty-or-invalid",
    ),
    ("RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED", "cuda-visible-devices-empty-or-invalid"),
    (
        "CUDA unknown error - this may be due to an incorrectly set up environment, after resume from suspend",
        "uvm-broken-after-suspend",
    ),
    ("RuntimeError: CUDA error: unspecified launch failure", "not-a-stack-problem"),
    ("CUDA error: all CUDA-capable devices are busy or unavailable", "gpu-compute-mode"),
    ("cudaErrorMpsServerNotReady: the MPS server is not ready", "mps-server-unreachable"),
    ("MIG 1g.5gb\nRuntimeError: No CUDA GPUs are available", "mig-misconfigured"),
    ("python[77]: segfault at 0 ip 00007f error 4 in libcuda.so.550.54[7f00+1000]", "driver-library-crash"),
    ("CUDA can only enumerate one MIG instance in a process", "mig-single-instance"),
    ("CUresult: CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "driver-libraries-missing"),
    # containers and WSL
    (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "container-without-gpu-runtime",
    ),
    (
        "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
        "container-without-gpu-runtime",
    ),
    ("root@container:/# nvidia-smi\nbash: nvidia-smi: command not found", "container-without-gpu-runtime"),
    ("nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1", "no-kernel-module"),
    (
        "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found",
        "container-without-gpu-runtime",
    ),
    ("--data-root=/var/snap/docker/common: nvidia gpu", "container-without-gpu-runtime"),
    (
        (
            "nvidia-container-cli: mount error: file creation failed: "
            "/var/lib/docker/overlay2/x/merged/usr/lib/libnvidia-ml.so.1: file exists"
        ),
        "container-image-bakes-driver-libs",
    ),
    ("systemctl daemon-reload\n$ nvidia-smi", "container-lost-gpu-cgroup"),
    ("uname: 5.15.90.1-microsoft-standard-WSL2\nlibcuda.so.1: cannot open shared object file", "wsl-libcuda-missing"),
    ("$ ls /usr/lib/wsl/lib\nlibd3d12.so libdxcore.so", "wsl-libcuda-missing"),
    ("Linux 4.4.0-19041-Microsoft\ncuda: nothing", "wsl1-no-gpu"),
    ("Failed to initialize NVML: GPU access blocked by the operating system", "wsl-libcuda-missing"),
    ("RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.", "no-device-nodes"),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "not-a-stack-problem"),
    # code for the card
    (
        (
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
            "installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 "
            "sm_86 sm_90.\nPyTorch version: 2.6.0+cu126"
        ),
        "gpu-too-new-for-cuda",
    ),
    (
        (
            "Tesla K40c with CUDA capability sm_35 is not compatible with the current PyTorch installation.\nThe "
            "current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70."
        ),
        "gpu-too-old-dropped",
    ),
    (
        (
            "GeForce GTX 1070 with CUDA capability sm_61 is not compatible with the current PyTorch "
            "installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_70 sm_80 sm_86."
        ),
        "gpu-arch-not-in-build",
    ),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "gpu-arch-not-in-build"),
    (
        "import flash_attn_cuda\nRuntimeError: CUDA error: no kernel image is available for execution on the device",
        "extension-built-for-other-arch",
    ),
    (
        "torch==2.6.0+cu124 on NVIDIA GeForce RTX 5080\nno kernel image is available for execution on the device",
        "gpu-too-new-for-cuda",
    ),
    ("RuntimeError: cuda runtime error (8) : invalid device function", "gpu-arch-not-in-build"),
    (
        (
            "Found GPU0 GeForce GTX 960M which is of cuda capability 5.0.\nPyTorch no longer supports this GPU "
            "because it is too old."
        ),
        "gpu-too-old-dropped",
    ),
    ("Check failed: status == CUDNN_STATUS_SUCCESS (6 vs. 0)  CUDNN_STATUS_ARCH_MISMATCH", "cudnn-arch-mismatch"),
    (
        (
            "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA "
            "kernels will be jit-compiled from PTX"
        ),
        "gpu-too-new-for-cuda",
    ),
    # cuDNN
    (
        "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs",
        "cudnn-version-mismatch-loaded-vs-compiled",
    ),
    ("Loaded runtime CuDNN library: 7.6.5 but source was compiled with: 8.1.0.", "cudnn-wrong-major"),
    (
        "Loaded runtime CuDNN library: 7301 (compatibility version 7300) but source was compiled with 7003",
        "cudnn-version-mismatch-loaded-vs-compiled",
    ),
    # 90000 is the first number of cuDNN 9; up to 8 a major counts in thousands
    *(
        (f"Loaded runtime CuDNN library: {loaded} but source was compiled with {built}", code)
        for loaded, built, code in (
            ("8907", "8905", "cudnn-version-mismatch-loaded-vs-compiled"),
            ("8907", "7605", "cudnn-wrong-major"),
            ("90000", "8907", "cudnn-wrong-major"),
            ("90000", "90100", "cudnn-version-mismatch-loaded-vs-compiled"),
            ("91002", "90100", "cudnn-version-mismatch-loaded-vs-compiled"),
            ("9.1.0", "90100", "cudnn-version-mismatch-loaded-vs-compiled"),
        )
    ),
    (
        "cuDNN version incompatibility: PyTorch was compiled  against (8, 5, 0) but found runtime version (8, 4, 1).",
        "ld-library-path-shadowing",
    ),
    ("cuDNN library version mismatch, compiled for 7600", "cudnn-version-mismatch-loaded-vs-compiled"),
    (
        "Outdated cuDNN installation found.\nVersion JAX was built against: 8907\nInstalled version: 8905",
        "cudnn-version-mismatch-loaded-vs-compiled",
    ),
    (
        "Outdated cuDNN installation found.\nVersion JAX was built against: 91002\nInstalled version: 90100",
        "cudnn-version-mismatch-loaded-vs-compiled",
    ),
    (
        "Outdated cuDNN installation found.\nVersion JAX was built against: 90100\nInstalled version: 8907",
        "cudnn-wrong-major",
    ),
    ("cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "cudnn-sublibrary-mixed"),
    ("Could not load library libcudnn_cnn_infer.so.8", "cudnn-sublibrary-missing"),
    (
        (
            "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, "
            "libcudnn_ops.so}\nInvalid handle. Cannot load symbol cudnnCreateTensorDescriptor"
        ),
        "cudnn-sublibrary-missing",
    ),
    ("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory", "cudnn-missing"),
    (
        "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file",
        "cudnn-missing",
    ),
    ("fatal error: cudnn.h: No such file or directory", "cudnn-missing"),
    (
        "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
        "nvrtc-missing",
    ),
    (
        (
            "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\nMemory usage: 7995392 bytes free, "
            "11721572352 bytes total."
        ),
        "out-of-memory-not-a-stack-fault",
    ),
    (
        "UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize",
        "memory-growth",
    ),
    (
        'argument of type "void *" is incompatible with parameter of type "cudnnConvolutionBwdDataAlgo_t"',
        "cudnn-wrong-major",
    ),
    ("UserWarning: Your cuDNN version is more recent than the one Theano officially supports.", "cudnn-too-new-warn"),
    ("Using gpu device 0: GeForce GT 720 (CNMeM is enabled, cuDNN not available)", "theanorc-misconfigured"),
    # libraries
    (
        "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
        "cudart-soname-missing",
    ),
    ("CUDA version: 9.1\nImportError: libcublas.so.9.0: cannot open shared object file", "framework-wants-other-cuda"),
    (
        "Could not load dynamic library 'libcublas.so.11'; x\nCould not load dynamic library 'libcufft.so.10'; y",
        "tf-cannot-dlopen-gpu-libs",
    ),
    (
        "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed",
        "tf-cannot-dlopen-gpu-libs",
    ),
    (
        "TF 2.16.1\npip install tensorflow[and-cuda]\n>>> tf.config.list_physical_devices('GPU')\n[]",
        "wheel-libs-not-on-loader-path",
    ),
    (
        "OSError: libcublas.so.11: undefined symbol: cublasLtGetStatusString, version libcublasLt.so.11",
        "cublas-mismatch",
    ),
    ("/opt/conda/envs/x/libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1", "conda-cudatoolkit-vs-pip"),
    ("RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasGemmEx(handle)`", "cublas-mismatch"),
    (
        "torch 2.1 requires nvidia-cudnn-cu12==8.9.2.26, but you have nvidia-cudnn-cu12 9.1.0.70 which is incompatible",
        "pip-nvidia-wheels-conflict",
    ),
    ("ImportError: /lib64/libm.so.6: version `GLIBC_2.29' not found (required by torch)", "glibc-too-old"),
    ("ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found", "glibc-too-old"),
    (
        "/root/miniconda3/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by x)",
        "needed-library-missing",
    ),
    (
        "ImportError: /x/torchvision/_C.so: undefined symbol: _ZN3c106detail14torchCheckFailE",
        "companion-version-mismatch",
    ),
    (
        "ImportError: /x/xformers/_C.so: undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
        "extension-built-for-other-torch",
    ),
    (
        "OSError: /x/torchcodec/libtorchcodec_core7.so: undefined symbol: aoti_torch_dtype_complex128",
        "extension-built-for-other-torch",
    ),
    (
        "OSError: /x/torch_scatter/_version_cuda.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSs",
        "extension-built-for-other-torch",
    ),
    ("ImportError: /x/torch/lib/libtorch_python.so: undefined symbol: _ZN3c104cuda9SetDeviceEi", "corrupted-install"),
    ("OSError: torch/lib/libtorch_cuda.so: file too short", "corrupted-install"),
    ("libdevice not found at ./libdevice.10.bc", "libdevice-not-found"),
    # the toolkit
    (
        (
            "crt/host_config.h:119:2: error: #error -- unsupported GNU version! gcc versions later than 6 are not "
            "supported!"
        ),
        "gcc-too-new-for-nvcc",
    ),
    (
        "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':\nnvcc a.cu",
        "gcc-too-new-for-nvcc",
    ),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_89'", "nvcc-too-old-for-gpu-arch"),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_20'", "gpu-too-old-dropped"),
    (
        (
            "RuntimeError: The detected CUDA version (10.1) mismatches the version that was used to "
            "compile\nPyTorch (11.3)."
        ),
        "wrong-nvcc-vs-torch-cuda",
    ),
    (
        "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
        "toolkit-path-conflict",
    ),
    ("fatal error: cuda_runtime.h: No such file or directory", "cuda-headers-missing"),
    ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "ptxas-too-old"),
    ("jaxlib.xla_extension.XlaRuntimeError\n$ which ptxas\n/usr/bin/ptxas", "ptxas-too-old"),
    (
        "The NVIDIA driver's CUDA version is 12.2 which is older than the ptxas CUDA version 12.3.107.",
        "driver-older-than-ptxas-warn",
    ),
    ("Couldn't find ptxas in PATH; ptxas not found", "ptxas-missing"),
    # frameworks
    ("AssertionError: Torch not compiled with CUDA enabled", "cpu-only-wheel"),
    (
        'File "/Users/jo/train.py", line 3\n  x.cuda()\nAssertionError: Torch not compiled with CUDA enabled',
        "no-nvidia-gpu",
    ),
    ("NVIDIA Jetson AGX Orin\nprint(torch.cuda.is_available())\nFalse", "cpu-only-wheel"),
    (
        (
            "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling "
            "back to cpu."
        ),
        "cpu-only-wheel",
    ),
    ("Specified provider 'CUDAExecutionProvider' is not in available provider names.", "cpu-only-wheel"),
    (">>> onnxruntime.get_available_providers()\n['CPUExecutionProvider']", "cpu-only-wheel"),
    ("Failed to create CUDAExecutionProvider. Require cuDNN 9.* and CUDA 12.*", "framework-wants-other-cuda"),
    (
        "RuntimeError: jaxlib version 0.4.26 is newer than and incompatible with jax version 0.4.25.",
        "jax-plugin-version-mismatch",
    ),
    ("jax-cuda12-plugin 0.4.32 with an older jax\nSegmentation fault (core dumped)", "jax-plugin-version-mismatch"),
    (
        "Found cuBLAS version 120103, but JAX was built against version 120304, which is newer.",
        "jax-cuda-older-than-built",
    ),
    ("TensorFlow version 2.12.0\nOS Platform: Windows 10\nGPU is NOT AVAILABLE", "tf-native-windows-after-2-10"),
    ("ERROR: No matching distribution found for tensorflow==2.8", "python-version-no-wheel"),
    ("UserWarning: CuPy may not function correctly because multiple CuPy packages are installed", "multiple-cupy"),
    ("RuntimeError: operator torchvision::nms does not exist", "companion-version-mismatch"),
    (
        "CUDA Setup failed despite GPU being available. Please run python -m bitsandbytes",
        "extension-built-for-other-cuda",
    ),
    (
        "The following packages have unmet dependencies:\n nvidia-driver-550 : Depends: libnvidia-gl-550",
        "apt-package-conflict",
    ),
    ("WARNING: Ignoring invalid distribution -orch (site-packages)", "corrupted-install"),
    (
        "_load_global_deps\nOSError: libcurand.so.10: cannot open shared object file: No such file or directory",
        "jetson-wrong-wheel",
    ),
    (
        (
            "PyTorch version: 1.8.0\nCUDA used to build PyTorch: 10.2\nRuntimeError: cuDNN error: "
            "CUDNN_STATUS_NOT_INITIALIZED"
        ),
        "framework-bug",
    ),
    ("PyTorch version: 2.0.1+cu117\nIs CUDA available: True\nNvidia driver version: 535.98", "not-a-stack-problem"),
    # Windows
    (
        "ImportError: Could not find the DLL(s) 'msvcp140.dll or msvcp140_1.dll'. TensorFlow requires",
        "msvc-redist-missing",
    ),
    (
        'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\torch\\lib\\fbgemm.dll"',
        "missing-libomp140",
    ),
    (
        'OSError: [WinError 126] Module not found. Error loading "C:\\P\\Lib\\site-packages\\torch\\lib\\shm.dll" or',
        "msvc-redist-missing",
    ),
    ("Could not load library cudnn_cnn_infer64_8.dll. Error code 126: zlibwapi.dll", "zlibwapi-missing"),
    ("ImportError: DLL load failed while importing x: Das angegebene Modul wurde nicht gefunden.", "windows-dll-path"),
    (
        "HINT: This error might have occurred since this system does not have Windows Long Path support enabled.",
        "windows-long-paths",
    ),
    (
        "FileNotFoundError: [WinError 206] The filename or extension is too long: 'C:'",
        "windows-long-paths",
    ),
    ("OSError: [WinError 193] %1 is not a valid Win32 application", "windows-dll-path"),
    ("Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found", "cudart-soname-missing"),
    (
        "CUDA v11.3 installed\nCould not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
        "windows-dll-path",
    ),
    (
        "FileNotFoundError: Could not find module 'C:\\x\\nvcuda_helper.dll' (or one of its dependencies).",
        "windows-dll-path",
    ),
    # training
    (
        "NCCL WARN Error while creating shared memory segment nccl-shm-recv-250a7cc850ba9298-0-1-3 (size 9637888)",
        "nccl-shm-too-small",
    ),
    ("AllReduce hangs; it runs with NCCL_P2P_DISABLE=1", "nccl-p2p-acs-iommu"),
    ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)", "nccl-p2p-acs-iommu"),
    (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",
        "out-of-memory-not-a-stack-fault",
    ),
    ("config.gpu_options.allow_growth = True\nCUDNN failed", "memory-growth"),
    ("RuntimeError: CUDA error: device-side assert triggered", "not-a-stack-problem"),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "not-a-stack-problem"),
    ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)", "not-a-stack-problem"),
    (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "not-a-stack-problem",
    ),
    ("WARNING gpu loss: nan", "not-a-stack-problem"),
    ("KeyError: 'labels'", "not-a-stack-problem"),
    # printed by broken environments: what is beside them is in printed/
    (
        (
            "error: No solution found when resolving dependencies\n  cause: Because torch==2.9.1 depends on "
            "nvidia-cudnn-cu12==9.10.2.21 and you require nvidia-cudnn-cu12==9.1.0.70, we can conclude"
        ),
        "pip-nvidia-wheels-conflict",
    ),
    ("sh: 1: /usr/local/cuda/bin/../nvvm/bin/cicc: not found", "corrupted-install"),
    ("cuda_platform.cc:52] failed call to cuInit: CUDA error: cuInit: UNKNOWN ERROR (303)", "no-kernel-module"),
    (
        "nvidia-container-cli: ldcache error: process /sbin/ldconfig failed with error code: 1",
        "container-without-gpu-runtime",
    ),
    ('RuntimeError: Function "cuGetProcAddress_v2" not found', "driver-too-old-for-runtime"),
    # Theano
    ("ERROR (theano.gpuarray): Could not initialize pygpu, support disabled", "theanorc-misconfigured"),
    ("cat ~/.theanorc\n[dnn]\nerror: cudnn not found", "theanorc-misconfigured"),
    ("The cuda backend is deprecated and will be removed; use the gpuarray backend", "not-a-stack-problem"),
    ("rm -rf ~/.nv/ComputeCache helps against this CUDA error", "stale-compute-cache"),
    # printed by JAX 0.11.2 on an H100, with CUDA_VISIBLE_DEVICES=7 and with an older cuda-compat
    (f"{_JAX_ASKED} CUDA_ERROR_NO_DEVICE\n{_JAX_FELL_BACK}", "cuda-visible-devices-empty-or-invalid"),
    (f"{_JAX_ASKED} CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\n{_JAX_FELL_BACK}", "driver-library-mismatch"),
    # printed by the programs themselves: gcc 12, ld 2.40, Python 3.11, nvcc 13.0, pip 23.2, jax 0.10.2, cudnn 1.32
    ("/usr/bin/ld: cannot find -lcublas: No such file or directory", "cudart-soname-missing"),
    ("OSError: ./libtorch_u.so: undefined symbol: cudnnFoo", "cudnn-version-mismatch-loaded-vs-compiled"),
    ("OSError: ./libcublas.so.12: file too short", "corrupted-install"),
    ("OSError: ./libcudnn_short.so.9: cannot read file data", "corrupted-install"),
    ("OSError: libcupti.so.12: cannot open shared object file: No such file or directory", "cudart-soname-missing"),
    ("OSError: libnvrtc.so.12: cannot open shared object file: No such file or directory", "nvrtc-missing"),
    ("g.c:1:10: fatal error: cuda_runtime.h: No such file or directory", "cuda-headers-missing"),
    ("c.cu:1:10: fatal error: cudnn.h: No such file or directory\n    1 | #include <cudnn.h>", "cudnn-missing"),
    ("/usr/bin/ld: cannot find -lcudnn: No such file or directory", "cudnn-missing"),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_130'", "nvcc-too-old-for-gpu-arch"),
    (
        "nonexistent: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler properties.",
        "host-compiler-unsupported",
    ),
    ("RuntimeError: Unable to find symbol cudnnGetVersion", "cudnn-missing"),
    ("raise NVMLError(ret)\npynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", "no-kernel-module"),
    (
        ("RuntimeError: jaxlib is version 0.4.1, but this version of jax requires version >= 0.10.1."),
        "jax-plugin-version-mismatch",
    ),
    (
        (
            "The conflict is caused by:\n    The user requested jaxlib==0.7.2\n    jax 0.4.35 depends on "
            "jaxlib<=0.4.35 and >=0.4.34\n"
        ),
        "jax-plugin-version-mismatch",
    ),
    (
        (
            "The conflict is caused by:\n    torch 2.9.1 depends on nvidia-cudnn-cu12==9.10.2.21\n    "
            "The user requested nvidia-cudnn-cu12==9.1.0.70"
        ),
        "pip-nvidia-wheels-conflict",
    ),
    (
        (
            'File "/v/jax/_src/xla_bridge.py", line 857, in backends\n    assert _default_backend is not None\n'
            "           ^^^^^^^\nAssertionError"
        ),
        "cpu-only-wheel",
    ),
    (
        "cudaGetDeviceCount returned 35 -> cudaErrorInsufficientDriver: CUDA driver version is insufficient",
        "driver-too-old-for-runtime",
    ),
    ("nvidia-container-cli: not here\nnerdctl: stat nvidia.com/gpu=all: no such file", "container-without-gpu-runtime"),
    ("docker: nvidia.com/gpu=all is not an absolute path.", "container-without-gpu-runtime"),
    ('Error: default OCI runtime "nvidia" not found: invalid argument', "container-without-gpu-runtime"),
    ('ctr: exec: "nvidia-container-cli": executable file not found in $PATH', "container-without-gpu-runtime"),
    ('failed to stat CDI host device "/dev/nvidia0": no such file or directory', "container-without-gpu-runtime"),
    ('error gathering device information while adding custom device "/dev/nvidia0": no such file', "no-device-nodes"),
    ("foo.so: undefined symbol: __cudaPopCallConfiguration", "extension-built-for-other-cuda"),
    ("ImportError: libtorch_cuda.so: undefined symbol: ncclMemAlloc", "pip-nvidia-wheels-conflict"),
    ("Failed to build `flash-attn`\nModuleNotFoundError: No module named 'torch'", "not-a-stack-problem"),
    ("TypeError: Descriptors cannot be created directly.", "not-a-stack-problem"),
    ("Error! Bad return status for module build on kernel: 6\nConsult dkms/nvidia/", "kernel-updated-dkms-missing"),
    ("RuntimeError: cublas runtime error : library not initialized at THCGeneral.c:394", "cublas-mismatch"),
    ("Cublas Error: [cublas status]: not initialized [cublas init]", "cublas-mismatch"),
    ("PaddleCheckError: CUBLAS: not initialized, at [/paddle/fluid/platform/cuda_helper.h:32]", "cublas-mismatch"),
    # CUDA by its words
    ("Check failed: error == cudaSuccess (30 vs. 0)  unknown error", "uvm-broken-after-suspend"),
    ("NCCL WARN Cuda failure 'unknown error'", "uvm-broken-after-suspend"),
    ("CUDA Error: API call is not supported in the installed CUDA driver", "driver-too-old-for-runtime"),
    ("CUDA error: shared object initialization failed", "driver-libraries-missing"),
    ("CUDA error: OS call failed or operation not supported on this OS", "no-device-nodes"),
    # Windows, in the languages that it speaks
    ("OSError: [WinError 127] Die angegebene Prozedur wurde nicht gefunden", "windows-dll-path"),
    ("ImportError: DLL load failed: Не найдена указанная процедура.", "windows-dll-path"),
    ("ImportError: DLL load failed: 找不到指定的程序。", "windows-dll-path"),
    ("ImportError: DLL load failed: 指定されたプロシージャが見つかりません。", "windows-dll-path"),
    ("OSError: [WinError 1114] Eine DLL-Initialisierungsroutine ist fehlgeschlagen", "msvc-redist-missing"),
    ("OSError: [WinError 1114] 动态链接库(DLL)初始化例程失败。", "msvc-redist-missing"),
    ("OSError: [WinError 1455] Файл подкачки слишком мал", "out-of-memory-not-a-stack-fault"),
    ("OSError: [WinError 1455] ページング ファイルが小さすぎるため", "out-of-memory-not-a-stack-fault"),
    # wordings that no report of the samples has
    (
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 has 7.5",
        "not-a-stack-problem",
    ),
    ("  - nothing provides __cuda needed by pytorch-2.5.1-cuda126_py312", "no-kernel-module"),
    ("   └─ __cuda >=12 *, which is missing on the system.", "no-kernel-module"),
    ("Found Tesla P40 which is too old to be supported by the triton GPU compiler", "gpu-too-old-dropped"),
    ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", "gpu-too-old-dropped"),
    ("RuntimeError: This cuDF installation is missing the necessary PTX files that are <=50.", "gpu-too-old-dropped"),
    ("nvcc fatal   : Cannot find compiler 'cl.exe' in PATH", "host-compiler-unsupported"),
    ("ERROR: Unable to build the NVIDIA kernel module interface.", "kernel-updated-dkms-missing"),
    ("NVRM: This can occur when another driver was loaded and\nNVRM: obtained ownership of it", "nouveau-in-use"),
    ("NVRM: No NVIDIA GPU found.", "no-nvidia-gpu"),
    (
        "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu",
        "gpu-operator-not-ready",
    ),
    ("ValueError: Unknown CUDA arch (3.5) or GPU not supported", "gpu-too-old-dropped"),
    (
        "ValueError: (5.62 GiB KV cache is needed, which is larger than the available KV cache memory (3.11 GiB).",
        "out-of-memory-not-a-stack-fault",
    ),
    ("[TRT] [E] Unable to load library: libnvonnxparser.so.10", "needed-library-missing"),
    ("NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'", "nccl-p2p-acs-iommu"),
    ("NCCL WARN Call to connect failed : Connection refused", "not-a-stack-problem"),
    # GPU software of other makers
    ("RuntimeError: HIP error: no kernel image is available for execution on the device", "no-nvidia-gpu"),
    ("ROCm error: an illegal memory access was encountered\n  in function ggml_cuda_mul_mat", "no-nvidia-gpu"),
    ("hipErrorNoBinaryForGpu: Unable to find code object for all current devices!", "no-nvidia-gpu"),
    ("RuntimeError: miopenStatusInternalError", "no-nvidia-gpu"),
    ("ImportError: libamdhip64.so.6: cannot open shared object file (torch, GPU)", "no-nvidia-gpu"),
    ("PyTorch version: 2.9.0+rocm6.4\nCUDA error: no kernel image is available for execution", "no-nvidia-gpu"),
    ('could not select device driver "amd" with capabilities: [[gpu]]', "no-nvidia-gpu"),
    ("level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)", "no-nvidia-gpu"),
    ("NotImplementedError: The operator is not currently implemented for the MPS device.", "no-nvidia-gpu"),
    ("RuntimeError: MUSA error: invalid device function", "no-nvidia-gpu"),
    ("NPU function error: aclrtSynchronizeDevice, error code is 507011", "no-nvidia-gpu"),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB.", "out-of-memory-not-a-stack-fault"),
    ("libva error: /usr/lib/dri/iHD_drv_video.so init failed", "no-nvidia-gpu"),
    ("AssertionError: Torch not compiled with XPU enabled", "not-a-stack-problem"),
    ("GPU 0: Tesla T4 (UUID: GPU-1)\nHIP error: invalid device function", "not-a-stack-problem"),
    (
        "MIOpen runtime version: N/A\nCUDA error: no kernel image is available for execution on the device",
        "gpu-arch-not-in-build",
    ),
    # every form of Docker's message
    ('could not select device driver "" with capabilities: [[compute utility]]', "container-without-gpu-runtime"),
    ('could not select device driver "" with capabilities: [[gpu] [compute]]', "container-without-gpu-runtime"),
    ('could not select device driver "nvidia" with capabilities: []', "container-without-gpu-runtime"),
    ("Cannot start service: could not select device driver 'nvidia'", "container-without-gpu-runtime"),
    # libraries of the driver
    ("libnvidia-glsi.so.470.57.02 => not found", "driver-libraries-missing"),
    ("libcuda.so.1 => not found", "driver-libraries-missing"),
    ("libnvoptix.so.1 => not found", "driver-libraries-missing"),
    ("libGLX_nvidia.so.0: cannot open shared object file", "driver-libraries-missing"),
    ("libnvidia-tls.so.340.65: cannot open shared object file", "driver-libraries-missing"),
    ("Error loading shared library libcuda.so.1: No such file or directory", "driver-libraries-missing"),
    ("docker run image\nlibnvcuvid.so.1: cannot open shared object file", "container-without-gpu-runtime"),
    ("WSL2: libcuda.so.1 => not found", "wsl-libcuda-missing"),
    # modules of Cython
    ("cuda.bindings.cyruntime does not export expected C function cudaGetX", "pip-nvidia-wheels-conflict"),
    ("ValueError: cupy._core.core.ndarray size changed, may indicate binary", "pip-nvidia-wheels-conflict"),
    ("/x/handle.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3rmm2mr1xE", "pip-nvidia-wheels-conflict"),
    ("flash.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda1xE", "extension-built-for-other-torch"),
    ("ValueError: numpy.ndarray size changed, may indicate binary incompatibility", "numpy-abi-mismatch"),
    ("ValueError: thinc.x.Model size changed, may indicate binary incompatibility", "not-a-stack-problem"),
)

# A message, the code of its first cause, and words of what to do about it.
FIXES: tuple[tuple[str, str, str], ...] = (
    ("hipErrorNoBinaryForGpu: Unable to find code object", "no-nvidia-gpu", "rocminfo"),
    ('could not select device driver "cdi" with capabilities: [].', "container-without-gpu-runtime", "Docker 28.2"),
    (
        (
            "cuda/core/_device_resources.pyx:1: in init cuda.core._device_resources\n"
            "ImportError: cuda.bindings.cydriver does not export expected C function cuDevSmResourceSplit"
        ),
        "pip-nvidia-wheels-conflict",
        "cuda-core[cu13]",
    ),
    (
        (
            'File "rmm/_lib/device_buffer.pyx", line 1, in init rmm._lib.device_buffer\n'
            "TypeError: C function cuda.ccudart.cudaStreamSynchronize has wrong signature (expected x, got y)"
        ),
        "pip-nvidia-wheels-conflict",
        "cuda-python<=11.7.0",
    ),
    (
        "numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88",
        "numpy-abi-mismatch",
        "numpy<2",
    ),
    (
        (
            "You're on Linux (`manylinux_2_17_x86_64`), but `nvidia-nccl-cu13` (v2.28.9) only has wheels for the "
            "following platforms: `manylinux_2_27_x86_64`"
        ),
        "glibc-too-old",
        "newer glibc",
    ),
    (
        (
            "Virtual package '__cuda >=12' does not match any of the available virtual packages on your machine: "
            "[__unix=0=0, __linux=6.8.0]"
        ),
        "no-kernel-module",
        "CONDA_OVERRIDE_CUDA",
    ),
    (
        "RUN pixi install\nnothing provides requested __cuda >=12 in this docker build",
        "container-without-gpu-runtime",
        "CONDA_OVERRIDE_CUDA",
    ),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'nvcc'", "toolkit-path-conflict", "CUDA_HOME="),
    ("RuntimeError: CUDA_HOME is not set", "toolkit-path-conflict", "gpudoctor install cuda"),
    ("main.c:5:10: fatal error: Python.h: No such file or directory", "not-a-stack-problem", "python3-dev"),
    (
        "cudnnSetConvolutionNdDescriptor failed: CUDNN_STATUS_BAD_PARAM",
        "cudnn-version-mismatch-loaded-vs-compiled",
        "",
    ),
    (
        "*** Found cuDNN, but it looks like the wrong version so dlib will not use it. ***",
        "cudnn-wrong-major",
        "dlib",
    ),
    ("***configure failed: Unsupported CUDA version 13_1", "framework-wants-other-cuda", "newer release"),
    ('error: class "cudaDeviceProp" has no member "computeMode"', "framework-wants-other-cuda", "CUDA 12 toolkit"),
    (
        "error: 'struct cudaDeviceProp' has no member named 'clockRate'",
        "framework-wants-other-cuda",
        "CUDA 12 toolkit",
    ),
    (
        "error: no member named 'memoryClockRate' in 'cudaDeviceProp'",
        "framework-wants-other-cuda",
        "CUDA 12 toolkit",
    ),
    ("ImportError: libcudss.so.0: cannot open shared object file", "cudart-soname-missing", ""),
    ("ImportError: libcudla.so.1: cannot open shared object file", "cudart-soname-missing", ""),
    ("ImportError: libcutensorMg.so.2: cannot open shared object file", "cudart-soname-missing", ""),
    ("libnvpl_blas_core.so.0: cannot open shared object file", "needed-library-missing", "NVPL"),
    ("ImportError: libGL.so.1: cannot open shared object file", "not-a-stack-problem", "opencv-python-headless"),
    (
        "ValueError: invalid literal for int() with base 10: 'MIG-9aeb4bbf-0a3c-5e0b-a5ab-0123456789ab'",
        "framework-bug",
        "CUDA_VISIBLE_DEVICES=0",
    ),
    ('level=INFO msg="failed to get device context 801"', "cuda-call-failed", "vGPU profile"),
    (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        "out-of-memory-not-a-stack-fault",
        "--mem-fraction-static",
    ),
    (
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 9, Hardware limit: 8.",
        "not-a-stack-problem",
        "num_stages",
    ),
    ("OSError: [Errno 28] No space left on device", "not-a-stack-problem", "df -h"),
    ("ModuleNotFoundError: No module named 'torch'", "not-a-stack-problem", "python -m pip"),
    (
        "docker: Error response from daemon: unresolvable CDI devices management.nvidia.com/gpu=all",
        "container-without-gpu-runtime",
        "nvidia-ctk cdi generate",
    ),
    ("unresolvable CDI devices runtime.nvidia.com/gpu=all", "container-without-gpu-runtime", "nvidia-ctk cdi generate"),
    (
        'could not select device driver "" with capabilities: [[gpu]]',
        "container-without-gpu-runtime",
        "nvidia-ctk runtime configure",
    ),
    (
        "nvidia-uvm: uvm_pmm_gpu.c:3421 devmem_alloc_pagemap[pid:9] request_free_mem_region() err -34",
        "cuda-call-failed",
        "uvm_disable_hmm=1",
    ),
    (
        (
            "jit_optix_api_init(): DrJit considers the driver of your graphics card buggy and prone to miscompilation "
            "(we explicitly do not support OptiX with CUDA version 11.7, which corresponds to driver version 565)."
        ),
        "framework-bug",
        "another branch",
    ),
    ("jit_optix_init(): libnvoptix.so.1 could not be loaded", "driver-libraries-missing", "libnvidia-gl"),
    ("NVRM: Xid (PCI:0000:01:00): 999, pid=1", "ecc-xid-hardware-fault", "dcgmi diag"),
    ("NVRM: Xid (PCI:0000:01:00): 61, 0cec(3098) 00000000", "ecc-xid-hardware-fault", "nvidia-bug-report"),
    (
        "docker run --gpus all image python train.py\nRuntimeError: CUDA unknown error: cudaErrorUnknown, error 999",
        "container-lost-gpu-cgroup",
        "create-dev-char-symlinks",
    ),
    (
        "libcublas.so.13: undefined symbol: cublasLtGroupedMatrixLayoutInit_internal, version libcublasLt.so.13",
        "cublas-mismatch",
        "nvidia-cublas",
    ),
    ("torch.OutOfMemoryError: CUDA out of memory.", "out-of-memory-not-a-stack-fault", "nvidia-smi"),
    ("NCCL WARN Error while creating shared memory segment", "nccl-shm-too-small", "--shm-size"),
    (
        "ValueError: Free memory on device cuda:0 (10.85/23.99 GiB) on startup is less than desired GPU memory",
        "out-of-memory-not-a-stack-fault",
        "--gpu-memory-utilization",
    ),
    (
        "ValueError: Free memory on device (10.85/23.99 GiB) on startup is less than desired GPU memory utilization",
        "out-of-memory-not-a-stack-fault",
        "--gpu-memory-utilization",
    ),
    (
        "AttributeError: module 'triton.language' has no attribute 'make_tensor_descriptor'",
        "companion-version-mismatch",
        "pip check",
    ),
    (
        "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' (/v/triton/compiler/compiler.py)",
        "companion-version-mismatch",
        "pip check",
    ),
    ("ModuleNotFoundError: No module named 'triton.ops'", "companion-version-mismatch", "pip check"),
    (
        "InductorError: RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set",
        "host-compiler-unsupported",
        "apt install gcc",
    ),
    ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", "gpu-too-old-dropped", "sdpa"),
    (
        "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
        "cublas-mismatch",
        "nvidia-nvjitlink-cu12",
    ),
    (
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has",
        "not-a-stack-problem",
        "--dtype half",
    ),
    (
        'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":1131',
        "out-of-memory-not-a-stack-fault",
        "nvidia-smi",
    ),
)
