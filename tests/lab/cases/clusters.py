"""A user of a cluster: no root, software in modules, lines in a script of their own."""

from __future__ import annotations

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case, fault
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.libraries import LONELY
from tests.lab.cases.python_advice import cpu_onnxruntime
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import HOME, LIB, WORKSTATION, at, files, mode, package, together, without

NO_ROOT = files(
    {
        "/proc/self/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\n"
        "Gid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000 \n",
        "/etc/group": "root:x:0:\nvideo:x:44:user\nuser:x:1000:\n",
    }
)
MODULE_DIRECTORY = "/apps/cudnn/9.5.1/lib"
TCL = "#%Module1.0\nset root /apps/cudnn/9.5.1\nprepend-path LD_LIBRARY_PATH $root/lib\n"
MODULE = together(
    at(MODULE_DIRECTORY, cudnn_tree.copy_of, "9.5.1", chain=True), files({"/apps/modulefiles/cudnn/9.5.1": TCL})
)
LOADED = {
    "LOADEDMODULES": "gcc/12.2:cudnn/9.5.1",
    "_LMFILES_": "/apps/modulefiles/gcc/12.2:/apps/modulefiles/cudnn/9.5.1",
}

SPACK = f"{HOME}/spack/var/spack/environments/ml/.spack-env/view/lib"
PODMAN = files({"/run/.containerenv": 'engine="podman-5.2.2"\nname="t"\nrootless=1\n'})
NODES = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm")

JOB = {"SLURM_JOB_ID": "4711", "SLURM_JOB_PARTITION": "long"}
NO_CARDS = stub.machine_env()

CASES = (
    fault(
        "slurm-no-devices",
        "a job to which Slurm gave no GPU, and says so in CUDA_VISIBLE_DEVICES",
        NO_ROOT,
        environ={**JOB, "CUDA_VISIBLE_DEVICES": "NoDevFiles"},
        codes=("cuda-visible-devices-empty-or-invalid",),
        first="cuda-visible-devices-empty-or-invalid",
        nvml=NO_CARDS,
    ),
    fault(
        "slurm-closed-card",
        "the same where the job's control group closes the card",
        NO_ROOT,
        environ=JOB,
        closed=("/dev/nvidia0",),
        where="pretended",
        codes=("device-permissions",),
        first="device-permissions",
        nvml=NO_CARDS,
    ),
    Case(
        "slurm-one-gpu",
        "a job with one GPU",
        together(WORKSTATION, NO_ROOT),
        environ={**JOB, "SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": "0"},
    ),
    fault(
        "service-private-devices",
        "a notebook server whose unit has PrivateDevices=yes",
        closed=("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"),
        where="pretended",
        codes=("device-permissions",),
        first="device-permissions",
        nvml=stub.machine_env(init=4),
    ),
    fault(
        "podman-selinux",
        "Podman on Fedora, where SELinux closes the nodes to the container",
        NO_ROOT,
        PODMAN,
        closed=NODES,
        where="pretended",
        environ={"container": "podman"},
        codes=("device-permissions",),
        first="device-permissions",
        nvml=stub.machine_env(init=4),
    ),
    fault(
        "cluster-module-lmod",
        "the same with Lmod, whose module is written in Lua",
        NO_ROOT,
        at(MODULE_DIRECTORY, cudnn_tree.copy_of, "9.5.1", chain=True),
        files({"/apps/modulefiles/cudnn/9.5.1.lua": f'prepend_path("LD_LIBRARY_PATH", "{MODULE_DIRECTORY}")\n'}),
        environ={
            "LOADEDMODULES": "gcc/12.2:cudnn/9.5.1",
            "_LMFILES_": "/apps/modulefiles/gcc/12.2.lua:/apps/modulefiles/cudnn/9.5.1.lua",
            "LMOD_VERSION": "8.7.55",
            "LD_LIBRARY_PATH": MODULE_DIRECTORY,
        },
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    fault(
        "cluster-spack",
        "the view of an active Spack environment puts an older cuDNN before torch's own",
        NO_ROOT,
        at(SPACK, cudnn_tree.copy_of, "9.5.1", chain=True),
        environ={"SPACK_ENV": SPACK.partition("/.spack-env")[0], "LD_LIBRARY_PATH": SPACK},
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    Case(
        "cluster-spack-without-cudnn",
        "the view of an active Spack environment in which no cuDNN is",
        together(WORKSTATION, NO_ROOT, files({f"{SPACK}/libhwloc.so.15": elf_bytes("libhwloc.so.15")})),
        environ={"SPACK_ENV": SPACK.partition("/.spack-env")[0], "LD_LIBRARY_PATH": SPACK},
    ),
    fault(
        "podman-rootless-nodes",
        "a rootless Podman container whose user is in the host's group, and did not keep it",
        NO_ROOT,
        PODMAN,
        mode(0o660, *NODES),
        environ={"container": "podman"},
        codes=("device-permissions",),
        first="device-permissions",
    ),
    Case(
        "podman-rootless",
        "the same with nodes for everybody",
        together(WORKSTATION, NO_ROOT, PODMAN),
        environ={"container": "podman"},
    ),
    fault(
        "apptainer-without-nv",
        "Apptainer without --nv",
        NO_ROOT,
        without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*", "/usr/lib/modules/*", "/usr/bin/nvidia-smi", "/dev/nvidia*"),
        environ={"APPTAINER_CONTAINER": "/images/torch.sif"},
        codes=("container-without-gpu-runtime",),
        first="container-without-gpu-runtime",
        nvml=stub.machine_env(init=12),
    ),
    fault(
        "cluster-module",
        "a module of the cluster puts an older cuDNN before torch's own",
        NO_ROOT,
        MODULE,
        environ={**LOADED, "LD_LIBRARY_PATH": MODULE_DIRECTORY},
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    fault(
        "cluster-own-script",
        "a line of the user's own script puts an older cuDNN before torch's own",
        NO_ROOT,
        at("/opt/cudnn/lib", cudnn_tree.copy_of, "9.5.1", chain=True),
        files({f"{HOME}/.bashrc": "export LD_LIBRARY_PATH=/opt/cudnn/lib:$LD_LIBRARY_PATH\n"}),
        environ={"LD_LIBRARY_PATH": "/opt/cudnn/lib"},
        codes=("ld-library-path-shadowing",),
        first="ld-library-path-shadowing",
    ),
    fault(
        "cluster-onnxruntime-cpu",
        "ONNX Runtime for the CPU, and a user who is not root",
        NO_ROOT,
        EMPTY,
        cpu_onnxruntime("1.20.1"),
        codes=("cpu-only-wheel",),
    ),
    fault(
        "cluster-cupy",
        "CuPy without any CUDA, and a user who is not root",
        NO_ROOT,
        LONELY,
        package("cupy-cuda12x", "13.6.0", {"cupy/__init__.py": "", "cupy/.data/_wheel.json": '{"cuda": "12.x"}'}),
        codes=("nvrtc-missing",),
    ),
)
