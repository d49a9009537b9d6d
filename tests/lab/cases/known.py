"""The faults and controls on which other doctors were measured; the names are those of that measurement."""

from __future__ import annotations

from tests.lab import cudnn_tree, stub
from tests.lab.case import Case, fault
from tests.lab.cases.windows import RUNTIME
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import (
    LIB,
    UNLOADED,
    WORKSTATION,
    Tree,
    at,
    card,
    cudnn_wheel,
    driver,
    files,
    package,
    site_of,
    together,
    toolkit,
    torch,
    without,
)
from tests.lab.pe_file import pe_bytes

CUDA = "/usr/local/cuda-12.8"
WHEEL = f"{site_of()}/nvidia/cudnn/lib"
NO_TOOLKIT = without("/usr/local/cuda", CUDA)
CU130 = together(without(f"{site_of()}/*"), torch("2.9.1+cu130", "9.13.0.50"), cudnn_wheel("9.13.0.50", 13))
CU124 = together(without(f"{site_of()}/*"), torch("2.5.1+cu124", "9.1.0.70"), cudnn_wheel("9.1.0.70"))
RTX_5090 = stub.machine_env(stub.card(name="NVIDIA GeForce RTX 5090", cc="12.0", pci_id="0x2b8510de"))
ONNX = {"onnxruntime/__init__.py": "", "onnxruntime/capi/_pybind_state.py": ""}
# The module of the package that was installed last overwrites the other's; the provider is onnxruntime-gpu's alone.
ONNX_GPU: Tree = {
    **ONNX,
    "onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(
        "libonnxruntime_providers_cuda.so", needed=("libcudnn.so.9",)
    ),
}
WINDOWS_PYTHON = "/Python310"


FAULTS = (
    fault(
        "F01",
        "cuDNN headers 9.10.2 beside libraries 8.9.7",
        at(f"{CUDA}/lib64", cudnn_tree.copy_of, "8.9.7", chain=True),
        at(f"{CUDA}/include", cudnn_tree.header_of, "9.10.2"),
        codes=("cudnn-header-library-mismatch",),
        first="cudnn-header-library-mismatch",
        named_by=r"cudnn[^\n]*header[^\n]*(mismatch|differ|disagree|\bnot\b)|header[^\n]*(mismatch|differ|disagree)",
        shows=("9.10.2", "8.9.7"),
    ),
    fault(
        "F02",
        "libcudnn.so leads to nothing",
        at(f"{CUDA}/lib64", cudnn_tree.copy_of, "9.10.2", chain=True),
        at(f"{CUDA}/include", cudnn_tree.header_of, "9.10.2"),
        files({f"{CUDA}/lib64/libcudnn.so": "-> libcudnn.so.9.1.0"}),
        codes=("cudnn-link-broken",),
        first="cudnn-link-broken",
        named_by=r"libcudnn[^\n]*(dangl|broken|does not exist|missing target|invalid link|leads? to nothing)"
        r"|(dangl|broken)[^\n]*(sym)?link[^\n]*cudnn",
        shows=("libcudnn.so", "9.1.0"),
    ),
    fault(
        "F03",
        "/usr/local/cuda leads to a toolkit that is gone",
        files({"/usr/local/cuda": "-> cuda-12.9"}),
        codes=("cuda-symlink-broken",),
        first="cuda-symlink-broken",
        named_by=r"/usr/local/cuda\b[^\n]*(dangl|broken|does not exist|not there|missing|invalid)"
        r"|(dangl|broken)[^\n]*/usr/local/cuda",
        shows=("cuda-12.9",),
    ),
    fault(
        "F04",
        "nvcc on PATH and CUDA_HOME are two toolkits",
        toolkit("12.4.1", usual=False),
        environ={"CUDA_HOME": "/usr/local/cuda-12.4"},
        codes=("toolkit-path-conflict",),
        first="toolkit-path-conflict",
        named_by=r"CUDA_HOME[^\n]*(mismatch|conflict|differ|disagree|another|not the)"
        r"|(mismatch|conflict|differ|disagree)[^\n]*CUDA_HOME|(multiple|several|conflicting)[^\n]*toolkits?",
        shows=("cuda-12.4", "12.8"),
    ),
    fault(
        "F05",
        "onnxruntime and onnxruntime-gpu in one environment",
        package("onnxruntime", "1.20.1", ONNX),
        package("onnxruntime-gpu", "1.20.1", ONNX_GPU),
        at("/", cudnn_tree.debian_of),
        codes=("two-onnxruntimes",),
        first="two-onnxruntimes",
        named_by=r"onnxruntime[^\n]*onnxruntime-gpu[^\n]*(both|conflict|together|one of|uninstall)"
        r"|(both|conflict|multiple)[^\n]*onnxruntime",
        shows=("onnxruntime-gpu", "onnxruntime "),
    ),
    fault(
        "F06",
        "a CPU build of torch beside a GPU",
        without(f"{site_of()}/*"),
        torch("2.9.1+cpu"),
        codes=("cpu-only-wheel",),
        first="cpu-only-wheel",
        named_by=r"cpu[- _]?only|\+cpu[^\n]*(build|wheel|no cuda|without)|cpu (build|version|wheel)"
        r"|torch[^\n]*(without|no) cuda support|cpu_only",
        shows=("+cpu",),
    ),
    fault(
        "F07",
        "the cuDNN wheel is not the one that torch pins",
        without(f"{site_of()}/nvidia*"),
        cudnn_wheel("9.5.1.17"),
        codes=("pip-nvidia-wheels-conflict",),
        first="pip-nvidia-wheels-conflict",
        named_by=r"cudnn[^\n]*(9\.10\.2[^\n]*9\.5\.1|9\.5\.1[^\n]*9\.10\.2)[^\n]*"
        r"|(pin|requires?|expects?)[^\n]*cudnn[^\n]*(mismatch|differ|not )|cudnn[^\n]*mismatch",
        shows=("9.5.1", "9.10.2"),
    ),
    Case(
        "F08",
        "TensorFlow 2.15 on native Windows",
        together(
            files(
                {
                    "/Windows/System32/kernel32.dll": pe_bytes("kernel32.dll"),
                    **{f"/Windows/System32/{name}": pe_bytes(name) for name in RUNTIME},
                    f"{WINDOWS_PYTHON}/python.exe": b"MZ",
                    f"{WINDOWS_PYTHON}/python310.dll": b"MZ",
                }
            ),
            package(
                "tensorflow-intel",
                "2.15.0",
                {"tensorflow/__init__.py": ""},
                site=f"{WINDOWS_PYTHON}/Lib/site-packages",
                tags="cp310-cp310-win_amd64",
            ),
            package(
                "tensorflow",
                "2.15.0",
                {"tensorflow/python/platform/build_info.py": "is_cuda_build = False\n"},
                site=f"{WINDOWS_PYTHON}/Lib/site-packages",
                tags="cp310-cp310-win_amd64",
            ),
        ),
        ("tf-native-windows-after-2-10",),
        "tf-native-windows-after-2-10",
        where="root",
    ),
    fault(
        "F09",
        "cuDNN 8 and cuDNN 9 on LD_LIBRARY_PATH",
        at("/opt/cudnn8/lib", cudnn_tree.copy_of, "8.9.7", chain=True),
        at("/opt/cudnn9/lib", cudnn_tree.copy_of, "9.10.2", chain=True),
        environ={"LD_LIBRARY_PATH": "/opt/cudnn8/lib:/opt/cudnn9/lib"},
        codes=("cudnn-copies-conflict",),
        first="cudnn-copies-conflict",
        named_by=r"(multiple|several|two|conflict|mixed|different)[^\n]*cudnn"
        r"|cudnn[^\n]*(multiple|several|conflict|mixed|other installs)",
        shows=("8.9.7", "9.10.2"),
    ),
    fault(
        "F10",
        "wheels for CUDA 11 beside those for CUDA 12",
        package("nvidia-cublas-cu11", "11.11.3.6", {"nvidia/cublas/lib/libcublas.so.11": "x"}),
        package("nvidia-cuda-runtime-cu11", "11.8.89", {"nvidia/cuda_runtime/lib/libcudart.so.11.0": "x"}),
        package("nvidia-cuda-runtime-cu12", "12.8.90", {"nvidia/cuda_runtime/lib/libcudart.so.12": "x"}),
        codes=("pip-nvidia-wheels-conflict",),
        first="pip-nvidia-wheels-conflict",
        named_by=r"cu11[^\n]*cu12[^\n]*|cu12[^\n]*cu11|(mixed|conflict|left)[^\n]*(cu11|cuda 11)",
        shows=("cu11", "cu12"),
    ),
    fault(
        "F11",
        "nouveau holds the card",
        UNLOADED,
        without(f"{LIB}/libcuda*", f"{LIB}/libnvidia*", "/usr/lib/modules/*/updates", "/usr/bin/nvidia-smi"),
        card(driver="nouveau"),
        files({"/proc/modules": "nouveau 2 1 - Live 0x0\n", "/sys/module/nouveau/": ""}),
        codes=("nouveau-in-use",),
        first="nouveau-in-use",
        nvml=stub.machine_env(init=12),
        named_by=r"nouveau[^\n]*(load|in use|active|bound|hold|conflict|blacklist)|(blacklist|disable)[^\n]*nouveau",
        shows=("nouveau",),
    ),
    fault(
        "F12",
        "the driver was updated while its old module stayed loaded",
        files(
            {
                "/sys/module/nvidia/version": "580.82.09\n",
                "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.09  R\n",
            }
        ),
        codes=("driver-library-mismatch",),
        first="driver-library-mismatch",
        nvml=stub.machine_env(stub.card(), init=18),
        named_by=r"(driver|kernel)[^\n]*librar[^\n]*(mismatch|version)|kernel module[^\n]*(580\.82|mismatch|differ)"
        r"|reboot[^\n]*driver|driver[^\n]*reboot",
        shows=("580.82.09", "580.95"),
    ),
    fault(
        "F13",
        "libcudnn_ops.so.9 is missing from the wheel",
        without(f"{WHEEL}/libcudnn_ops.so.9"),
        codes=("cudnn-sublibrary-missing",),
        named_by=r"libcudnn_ops[^\n]*(missing|not found|absent|cannot|incomplete)"
        r"|(missing|incomplete|absent)[^\n]*(libcudnn_ops|cudnn sub)",
    ),
    fault(
        "F14",
        "driver 470 with torch for CUDA 13",
        driver("470.256.02", flavour="proprietary"),
        NO_TOOLKIT,
        CU130,
        codes=("driver-too-old-for-runtime",),
        first="driver-too-old-for-runtime",
        nvml=stub.machine_env(stub.card(), driver="470.256.02", cuda="11.4"),
        named_by=r"driver[^\n]*(too old|older|outdated|does not support|supports (only|up to)|insufficient"
        r"|needs?|requires?)"
        r"|(upgrade|update)[^\n]*driver|driver[^\n]*(upgrade|update)|(cuda|runtime)[^\n]*mismatch|conflict[^\n]*cuda",
        shows=("470.256", "cu130"),
    ),
    fault(
        "F15",
        "RTX 5090 with torch for CUDA 12.4",
        CU124,
        card(0x2B85),
        codes=("gpu-too-new-for-cuda",),
        first="gpu-too-new-for-cuda",
        nvml=RTX_5090,
        named_by=r"sm_?120[^\n]*(not|unsupported|missing|lack|no )|(not|unsupported|lack|no |mismatch)[^\n]*"
        r"(sm_?120|(?<![\d.])12\.0|blackwell)|(blackwell|compute capability 12\.0)[^\n]*(require|need)",
        shows=("12.0", "cu124"),
    ),
    fault(
        "F18",
        "importing torch dies of a segmentation fault",
        files({f"{site_of()}/torch/__init__.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"}),
        codes=("framework-import-crash",),
        first="framework-import-crash",
        deep=True,
        named_by=r"torch[^\n]*(segmentation|sigsegv|crash)|(segmentation|sigsegv|crash)[^\n]*torch",
    ),
    fault(
        "F19",
        "importing torch never ends",
        files({f"{site_of()}/torch/__init__.py": "import time\ntime.sleep(600)\n"}),
        codes=("framework-import-hang",),
        first="framework-import-hang",
        deep=True,
        named_by=r"torch[^\n]*(hang|hung|timed? ?out|did not end)|(hang|hung|timed? ?out)[^\n]*torch",
    ),
    fault(
        "F23",
        "an older cuDNN 9 on LD_LIBRARY_PATH shadows the wheel",
        at("/opt/cudnn/lib", cudnn_tree.copy_of, "9.5.1", chain=True),
        environ={"LD_LIBRARY_PATH": "/opt/cudnn/lib"},
        codes=("ld-library-path-shadowing",),
        named_by=r"(LD_LIBRARY_PATH|/opt/cudnn)[^\n]*(shadow|overrid|conflict|instead|before|mismatch|different)"
        r"|(shadow|overrid|conflict|mismatch|multiple|different)[^\n]*(cudnn|LD_LIBRARY_PATH)"
        r"|cudnn[^\n]*other installs",
        shows=("9.5.1", "9.10.2"),
    ),
    fault(
        "F24",
        "cuDNN 9 sub-libraries of two releases",
        at(f"{CUDA}/lib64", cudnn_tree.copy_of, "9.10.2", versions={"ops": "9.5.1"}, chain=True),
        environ={"LD_LIBRARY_PATH": f"{CUDA}/lib64"},
        codes=("cudnn-sublibrary-mixed",),
        named_by=r"cudnn[^\n]*(mixed|mismatch|inconsistent|different versions|disagree)"
        r"|(mixed|mismatch|inconsistent|different)[^\n]*cudnn|mixed versions in one directory",
        shows=("9.5.1", "9.10.2"),
    ),
)


_WRONG_ARCHITECTURE = (
    r"architecture[^\n]*mismatch|sm_?89[^\n]*(not|unsupported)|(critical|conflict)[^\n]*(torch|cuda|gpu)"
)
CONTROLS = (
    Case("C1a", "RTX 4090 with a cu128 wheel", WORKSTATION, named_by=_WRONG_ARCHITECTURE),
    Case(
        "C1b",
        "RTX 4090 with a cu130 wheel",
        together(WORKSTATION, NO_TOOLKIT, CU130),
        named_by=_WRONG_ARCHITECTURE,
    ),
    Case(
        "C2",
        "driver 535 with CUDA 12.8",
        together(WORKSTATION, driver("535.183.01", flavour="proprietary")),
        nvml=stub.machine_env(stub.card(), driver="535.183.01", cuda="12.2"),
        besides=("driver-branch-ended",),
        named_by=r"(critical|conflict|incompatib|too old|mismatch)[^\n]*(driver|cuda)"
        r"|(upgrade|update)[^\n]*driver|driver[^\n]*(too old|does not support)",
    ),
    Case(
        "C3",
        "no nvidia-smi, while NVML works",
        together(WORKSTATION, without("/usr/bin/nvidia-smi")),
        named_by=r"driver[^\n]*(not (found|detected|installed|available)|missing)"
        r"|no (nvidia )?(driver|gpu)|gpu[^\n]*not (found|detected|available)|(install|repair)[^\n]*driver",
    ),
    Case(
        "C4",
        "/usr/local/cuda/bin on PATH through the link",
        WORKSTATION,
        named_by=r"nvcc[^\n]*not found|(multiple|several|conflicting)[^\n]*toolkits?",
    ),
    Case(
        "C5",
        "a cu128 wheel beside a CUDA 13 toolkit",
        together(WORKSTATION, NO_TOOLKIT, toolkit("13.0.1")),
        named_by=r"(critical|warning|conflict|mismatch|differ)[^\n]*(cuda|toolkit|nvcc|torch)|primary[^\n]*warning",
    ),
)
