"""Schedulers, and what brings GPUs to their jobs: Slurm, Apptainer, Enroot, Kubernetes, DCGM, the fabric manager."""

from __future__ import annotations

from doctor.explain.signature import Family, Means, Signature

_WITHOUT, _OPERATOR, _USER, _FABRIC = (
    "container-without-gpu-runtime",
    "gpu-operator-not-ready",
    "not-a-stack-problem",
    "fabric-manager-not-running",
)

FAMILY = Family(
    Signature(
        r"Could not find any nv files on this host|could not find any NVIDIA (?:binaries|libraries|files)",
        Means("no-kernel-module", "this host has no driver whose files Apptainer could pass on (--nv)", 0.66),
        Means("driver-libraries-missing", "or the driver's libraries are not in ldconfig's cache of this host", 0.55),
        Means("no-nvidia-gpu", "or this is a node without a GPU", 0.5),
        asks="does nvidia-smi answer on the host itself, on the node that the job runs on?",
        source="apptainer/apptainer, sylabs/singularity: internal/pkg/runtime/launch, cmd/internal/cli/action_flags.go",
    ),
    Signature(
        r"(?:Command not found|not found|exec): \"?nvidia-container-cli|nvidia-container-cli not found"
        r"|nvliblist\.conf[^\n]{0,20}not found|RuntimeHandler \"nvidia\" not supported"
        r"|invoking the NVIDIA Container Runtime Hook directly"
        r"|(?:nvidia-container-runtime-hook|nvidia-container-cli)[^\n]{0,40}: error while loading shared libraries"
        r"|nvidia-container-cli(?:\.real)?: (?:container error: cgroup subsystem devices not found"
        r"|mount error: (?:failed to add device rules|open failed: /sys/fs/cgroup)|ldcache error: open failed|device "
        r"error: false)"
        r"|failed to generate CDI spec: [^\n]{0,160}(?:failed to locate|not found)",
        Means(_WITHOUT, "NVIDIA's container toolkit is not there, not set up, or older than the engine", 0.85),
        source=(
            "NVIDIA/enroot: 98-nvidia.sh; apptainer; cri-o; NVIDIA/nvidia-container-toolkit; "
            "NVIDIA/libnvidia-container: "
            "src/nvc_cgroup.c (cgroup v2 since 1.8)"
        ),
    ),
    Signature(
        r"nvidia-container-cli(?:\.real)?: requirement error: invalid expression",
        Means(
            "driver-too-old-for-runtime",
            "the image wants a newer driver, and says so in words that are newer, too",
            0.66,
        ),
        Means(_WITHOUT, "the container toolkit is older than the image: it does not know its requirements", 0.64),
        asks="does an image of an older CUDA start, and is the container toolkit 1.1 or newer?",
        source="NVIDIA/libnvidia-container: src/cli/dsl.c",
    ),
    Signature(
        r"mount error: stat failed: \S*/lib(?:cuda|nvidia-\w+)\.so[\w.]*: no such file"
        r"|failed to locate lib(?:cuda|nvidia-ml)\.so[^\n]{0,60}",
        Means(
            "driver-library-mismatch",
            "the toolkit expects another release of the driver's libraries than is there",
            0.6,
        ),
        Means("driver-libraries-missing", "libraries of the driver are missing on the host", 0.62),
        asks="do `cat /proc/driver/nvidia/version` and `ldconfig -p | grep libcuda` name the same release?",
        source="NVIDIA/libnvidia-container: src/nvc_mount.c; NVIDIA/nvidia-container-toolkit: pkg/nvcdi",
    ),
    Signature(
        r"(?:stat |path \")/run/nvidia/validations|waiting for nvidia container stack to be setup|\btoolkit is not "
        r"ready\b"
        r"|error validating (?:driver|toolkit|plugin|cuda)[^\n]{0,20}(?:installation|workload)?"
        r"|driver is not ready|nvidia-operator-validator[^\n]{0,80}(?:Init:|CrashLoop|not ready)",
        Means(_OPERATOR, "the GPU operator has not validated driver or toolkit on this node", 0.85),
        source="NVIDIA/gpu-operator: validator/main.go, assets/state-*/",
    ),
    Signature(
        r"Invalid generic resource \(gres\) specification|Requested node configuration is not available"
        r"|device already requested \d|Duplicate GPU detected|ERR_NVGPUCTRPERM|CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
        r"|CUDBG_ERROR_ALL_DEVICES_WATCHDOGGED|Unified Memory Profiling is not supported"
        r"|Unable to connect to host engine|cuMemHostRegister return value",
        Means(_USER, "what was asked of the scheduler, of the profiler or of the ranks, or who may ask it", 0.75),
        source=(
            "SchedMD/slurm: slurm_errno.c; catboost; NVIDIA/nccl: src/init.cc; Nsight Compute; CUPTI; cuda-gdb; DCGM; "
            "open-mpi/ompi: opal/mca/common/cuda"
        ),
    ),
    Signature(
        r"Cuda-aware support is disabled|opal_warn_on_missing_libcuda",
        Means(_USER, "a notice: Open MPI found no libcuda, and goes on without it", 0.85),
        source="open-mpi/ompi: opal/mca/common/cuda/help-mpi-common-cuda.txt, to 4.1",
    ),
    Signature(
        r"fabric manager NVIDIA GPU driver interface version [\d.]+ do(?:es)?n't match with driver version"
        r"|failed to initialize all the available NVSwitch|(?:query|request)[^\n]{0,60}NVSwitch[^\n]{0,60}driver failed"
        r"(?![^\n]{0,40}NOTHING_TO_DO)",
        Means(_FABRIC, "the fabric manager does not start: it is of another release than the driver", 0.92),
        source="NVIDIA Fabric Manager: fabricmanager.log",
    ),
    Signature(
        r"Mismatched NCCL version detected",
        Means(
            "pip-nvidia-wheels-conflict", "the ranks run different releases of NCCL: their environments differ", 0.75
        ),
        source="NVIDIA/nccl: src/init.cc, since 2.19",
    ),
    Signature(
        r"\bNCCL (?:failure|error)[^\n]{0,200}|\bncclComm\w+ failed|nccl(?:UnhandledCuda|System|Internal)Error",
        Means(_USER, "NCCL says why only with NCCL_DEBUG=INFO", 0.35),
        source="NVIDIA/nccl: src/misc/utils.cc; dmlc/xgboost; horovod/horovod; pytorch/pytorch: NCCLUtils.hpp",
        asks="what does NCCL print with NCCL_DEBUG=INFO? The lines with `NCCL WARN` name the cause.",
    ),
)
