"""A user of a cluster: no root, software in modules, lines in a script of their own."""

from __future__ import annotations

from tests.lab import cudnn_tree
from tests.lab.case import fault
from tests.lab.cases.frameworks import EMPTY
from tests.lab.cases.libraries import LONELY
from tests.lab.cases.python_advice import cpu_onnxruntime
from tests.lab.parts import HOME, at, files, package, together

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

CASES = (
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
