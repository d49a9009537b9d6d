"""Several GPUs, memory, and the user's own program."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature

_SHM, _P2P, _MEMORY, _USER = (
    "nccl-shm-too-small",
    "nccl-p2p-acs-iommu",
    "out-of-memory-not-a-stack-fault",
    "not-a-stack-problem",
)

_FRAMEWORK = r"import (?:tensorflow|torch|jax)\b"

FAMILY = Family(
    Signature(
        r"NCCL WARN Call to shm_open failed *: Permission denied",
        Means("not-a-stack-problem", "this user may not write to /dev/shm, through which NCCL passes data", 0.7),
        source="NVIDIA/nccl: src/include/shm.h",
    ),
    Signature(
        r"creating shared memory segment|Call to posix_fallocate failed"
        r"|posix_fallocate[^\n]{0,60}No space left|ncclShmOpen|DataLoader worker[^\n]{0,80}(?:Bus error"
        r"|bus error)|insufficient shared memory \(shm\)|Unexpected bus error encountered in worker",
        Means(_SHM, "shared memory (/dev/shm) is too small: a container has 64 MiB unless it asks for more", 0.94),
        source="NVIDIA/nccl: src/misc/shmutils.cc; pytorch/pytorch: torch/utils/data/_utils/signal_handling.py",
    ),
    Signature(
        r"NCCL_P2P_DISABLE=1",
        Means(_P2P, "copies between the cards hang: ACS or the IOMMU is in the way of peer to peer", 0.85),
        source="NVIDIA/nccl, User Guide, Troubleshooting",
    ),
    Signature(
        r"(?:AllReduce|all_reduce|NCCL|torchrun|DistributedDataParallel|DDP)[^\n]{0,60}(?:hang|stuck|freeze"
        r"|frozen)|Watchdog caught collective operation timeout",
        Means(_P2P, "copies between the cards hang: ACS or the IOMMU may be in the way of peer to peer", 0.5),
        Means(_USER, "the ranks may wait for each other: one left early or skipped a step", 0.45),
        asks="Does it run with NCCL_P2P_DISABLE=1?",
        source="NVIDIA/nccl; pytorch/pytorch: ProcessGroupNCCL.cpp",
    ),
    Signature(
        r"CUDA out of memory|torch\.(?:cuda\.)?OutOfMemoryError|cudaErrorMemoryAllocation"
        r"|CUDA_ERROR_OUT_OF_MEMORY|OOM when allocating tensor|RESOURCE_EXHAUSTED: (?:Out of memory|OOM)"
        r"|out of memory trying to allocate|cupy\.cuda\.memory\.OutOfMemoryError"
        r"|Failed to allocate [^\n]{0,60} on (?:the )?GPU|unable to allocate CUDA\d+ buffer|cudaMalloc failed: out "
        r"of memory"
        r"|insufficient VRAM to load|too little memory to allocate any layers|VRAM usage didn't recover|(?:No "
        r"available memory"
        r"|not enough memory) for the cache blocks",
        Means(_MEMORY, "the GPU's memory is full: the model, the batch or another process is too large", 0.92),
        source="pytorch/pytorch: c10/cuda/CUDACachingAllocator.cpp; openxla/xla; cupy",
    ),
    Signature(
        r"allow_growth|set_memory_growth|gpu_options\.per_process_gpu_memory_fraction",
        Means(
            "memory-growth",
            "TensorFlow takes all memory of the GPU unless it is told not to",
            0.72,
            given=r"cudnn|cublas|CUDNN|failed|error",
        ),
        source="tensorflow/docs: site/en/guide/gpu.ipynb",
    ),
    Signature(
        r"device-side assert triggered|cudaErrorAssert|CUDA_ERROR_ASSERT|Assertion `[^`'\n]{1,160}[`']? ?failed"
        r"|Assertion `t >= 0 && t < n_classes`",
        Means(
            _USER,
            "an index or label of the program is out of range: the device says so by an assertion",
            0.95,
            given=r"device-side|cudaErrorAssert|CUDA_ERROR_ASSERT|n_classes|thread: \[|\.cuh?:\d|\bcuda\b",
        ),
        source="pytorch/pytorch: aten/src/ATen/native/cuda",
    ),
    Signature(
        r"illegal memory access was encountered|cudaErrorIllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS|misaligned address",
        Means(_USER, "a kernel of the program or of an extension reads memory that is not its own", 0.7),
        source="NVIDIA CUDA Runtime API, error 700",
    ),
    Signature(
        r"(?:RuntimeError|ValueError|TypeError): (?:mat1 and mat2 shapes cannot be multiplied"
        r"|The size of tensor|Expected all tensors to be on the same device|shape '\[|expected scalar type"
        r"|Input type \([\w.]+\) and weight type|Given groups=|size mismatch|Sizes of tensors must match"
        r"|Expected (?:input|more than|\d+D)|Trying to backward through the graph"
        r"|one of the variables needed for gradient|Incompatible shapes|Dimensions must be equal"
        r"|Shapes? .{1,60}incompatible|cannot reshape array|shape mismatch|Mismatch in shape|The shape of the mask"
        r"|output with shape|mat1 and mat2 must have the same dtype|expected mat1 and mat2|expected m1 and m2"
        r"|Function \w+ returned an invalid gradient|params\[\d+\] in this process|Passing num_ctas)"
        r"|bias type \([\w.:]+\) should be the same|copying a param with shape torch\.Size|due to shape mismatches",
        Means(_USER, "shapes, types or devices of the program's tensors do not fit", 0.95),
        source="pytorch/pytorch, tensorflow/tensorflow, numpy",
    ),
    Signature(
        r"(?:Expected object of (?:device )?type cuda but got|but found at least two devices, cuda:\d+ and"
        r"|is on (?:cpu|cuda:\d+), (?:but|different from)"
        r"|Attempting to deserialize object on (?:a )?CUDA device"
        r"|can't convert cuda:\d device type tensor to numpy|element 0 of tensors does not require grad)",
        Means(_USER, "the program mixes devices, or loads a file that was saved on another", 0.93),
        source="pytorch/pytorch",
    ),
    Signature(
        r"\[ONNXRuntimeError\] : \d+ : (?:NO_SUCHFILE|NO_MODEL|INVALID_ARGUMENT|INVALID_PROTOBUF|INVALID_GRAPH)",
        Means(_USER, "ONNX Runtime cannot read the model, or was given other inputs than the model takes", 0.7),
        source="microsoft/onnxruntime: include/onnxruntime/core/common/status.h",
    ),
    Signature(
        r"Loss is (?:nan|NaN)|loss[:= ]+nan\b|gradient overflow|Detected inf or nan",
        Means(_USER, "the training diverges: its numbers, not the stack", 0.5),
        source="training programs",
    ),
    Signature(
        r"(?:ModuleNotFoundError: No module named '(?!torch|tensorflow|jax|cupy|nvidia)"
        r"|ImportError: cannot import name|FileNotFoundError:|KeyError:|AttributeError:|IndexError:"
        r"|NameError:|SyntaxError:|ZeroDivisionError|json\.decoder\.JSONDecodeError|AssertionError$)",
        Means(_USER, "the program, its data or its packages fail, not the GPU stack", 0.3),
        source="CPython",
    ),
    Signature(
        r"ModuleNotFoundError: No module named '(?P<what>torch|wheel|packaging|setuptools|numpy)'",
        Means(
            _USER,
            "the build does not see {what}: install it first, and build with --no-build-isolation",
            0.85,
            given=r"metadata-generation-failed|setup\.py|Failed (?:to build|building)|build_\w*wheel",
        ),
        source="pypa/pip, astral-sh/uv; CPython",
    ),
    Signature(
        r"Address already in use|current process has finished its bootstrapping phase|invalid configuration argument"
        r"|cudaErrorInvalidConfiguration|DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly"
        r"|Caught \w+ in DataLoader worker process|Failed to determine best cudnn convolution algorithm",
        Means(
            _USER,
            "how the program starts its processes, launches its kernels or reads its data",
            0.6,
            given=r"torch|cuda|gpu|rank|jax|DataLoader",
        ),
        source="pytorch/pytorch: torch/csrc/distributed/c10d/socket.cpp, torch/utils/data; CUDA error 9; openxla/xla",
    ),
    Signature(
        r"DataLoader worker[^\n]{0,40}killed by signal: Killed",
        Means(_USER, "the system ended a worker, mostly because main memory (not the GPU's) was full", 0.85),
        source="pytorch/pytorch: torch/utils/data/_utils/signal_handling.py; Linux: mm/oom_kill.c",
    ),
    Signature(
        r"(?:Missing|Unexpected) key\(s\) in state_dict|Key \S+ not found in checkpoint"
        r"|__init__\(\) got an unexpected keyword argument",
        Means(_USER, "the program, its model's file or its packages are of different versions", 0.7),
        source="pytorch/pytorch: torch/nn/modules/module.py; tensorflow/tensorflow: save_restore_tensor.cc; CPython",
    ),
    Signature(
        r"Illegal (?:hardware )?instruction",
        Means(_USER, "the processor lacks instructions (AVX) that the package is built with", 0.5, given=_FRAMEWORK),
        source="sh; TensorFlow's wheels want AVX since 1.6",
    ),
    Signature(
        r"Descriptors cannot (?:not )?be created directly",
        Means(_USER, "protobuf is newer than the program's generated code: protobuf before 3.21 serves it", 0.9),
        source="protocolbuffers/protobuf: python/google/protobuf/descriptor.py",
    ),
    Signature(
        r"peer access is not supported between these two devices|failed to open CUDA IPC handle"
        r"|cudaErrorPeerAccessUnsupported|CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        Means(_P2P, "these cards cannot reach each other's memory: try NCCL_P2P_DISABLE=1", 0.8),
        asks="what does `nvidia-smi topo -p2p r` say, and does every process see all cards (CUDA_VISIBLE_DEVICES)?",
        source="NVIDIA/nccl: src/transport/p2p.cc; NVIDIA CUDA Runtime API, error 217",
    ),
    Signature(
        r"NCCL WARN (?:socket\w+: |Net : |Call to )?[Cc]onnect(?: to \S+)? (?:returned|failed)"
        r"|NCCL WARN socketProgress\w*: Connection closed by remote peer",
        Means(_USER, "one rank does not reach another over the network: interface (NCCL_SOCKET_IFNAME), firewall", 0.8),
        source="NVIDIA/nccl: src/misc/socket.cc, include/socket.h",
    ),
    Signature(
        r"Max retries exceeded with url|Temporary failure in name resolution|Failed to resolve 'huggingface"
        r"|(?:requests\.exceptions|urllib3\.exceptions)\.\w*(?:Connection|Proxy|MaxRetry|SSL|Timeout)\w*",
        Means(_USER, "the network, not the GPU stack: a server cannot be reached", 0.3),
        source="urllib3; requests",
    ),
    Signature(
        r"larger than the (?:maximum number of tokens that can be stored in|available) KV cache"
        r"|memory is needed for KV cache|No available memory for the cache blocks",
        Means(_MEMORY, "the GPU has no room for a KV cache of this length (max_model_len)", 0.85),
        source="vllm-project/vllm: vllm/worker/worker.py, vllm/v1/core/kv_cache_utils.py",
    ),
    Signature(
        r"error: (?:include file )?'?Python\.h'?(?:: No such file| not found)|error C1083: [^\n]{0,60}Python\.h",
        Means(
            _USER,
            "Python's own headers are not there for the compiler (python3-dev)",
            0.85,
            given=r"triton|cuda|torch|\.cu\b",
        ),
        source="GCC, Clang, MSVC, tcc, as triton and torch.utils.cpp_extension call them",
    ),
)
