"""Windows machines: what gamers' and students' computers meet, each fault beside a neighbour that is in order.

tests/windows/test_lab.py lays the same trees on the C: of a running Windows. Its own Python lies in C:/Python311, so
nothing is put there; and what Windows itself brings along (System32) is added to, never replaced.
"""

from __future__ import annotations

from pathlib import Path

from compat.matrix import Matrix, accepts
from tests.lab import cudnn_tree
from tests.lab.case import Case
from tests.lab.hive_file import hive_bytes
from tests.lab.parts import Part, at, files, package, together, without
from tests.lab.pe_file import pe_bytes

PYTHON = "/Python312"
SITE = f"{PYTHON}/Lib/site-packages"
HOME = "/Users/jo"
VENV = f"{HOME}/project/.venv"
CONDA = f"{HOME}/anaconda3"
USER_SITE = f"{HOME}/AppData/Roaming/Python/Python312/site-packages"
DEEP = f"{HOME}/" + "d" * 80
SYSTEM = "/Windows/System32"
CUDA = "/Program Files/NVIDIA GPU Computing Toolkit/CUDA"
STUDIO = "/Program Files/Microsoft Visual Studio/2022/Community/VC/Tools/MSVC"
USUAL_PATH = "C:/Windows/System32;C:/Windows"
_TAGS = "cp312-cp312-win_amd64"
RUNTIME = ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll")
_INIT = 'dlls = glob.glob(os.path.join(th_dll_path, "*.dll"))\n'


def runtime(*without_these: str) -> Part:
    """The Visual C++ redistributable of 2019 and later."""
    return files({f"{SYSTEM}/{name}": pe_bytes(name) for name in RUNTIME if name not in without_these})


def python(prefix: str = PYTHON, tag: str = "312", built_for: str = "x86_64") -> Part:
    """What Python's installer lays."""
    return files(
        {
            f"{prefix}/python.exe": pe_bytes("python.exe", machine=built_for),
            f"{prefix}/python{tag}.dll": b"MZ",
            f"{prefix}/Lib/os.py": "",
            f"{prefix}/Lib/site-packages/": "",
        }
    )


def venv(prefix: str = VENV) -> Part:
    """A virtual environment of that Python."""
    home = "C:" + PYTHON.replace("/", "\\")
    return files(
        {
            f"{prefix}/pyvenv.cfg": f"home = {home}\ninclude-system-site-packages = false\nversion = 3.12.4\n",
            f"{prefix}/Scripts/python.exe": b"MZ",
            f"{prefix}/Lib/site-packages/": "",
        }
    )


def torch(version: str = "2.9.1+cu128", cudnn: str = "9.10.2", site: str = SITE) -> Part:
    """PyTorch's wheel with its DLLs, which it opens by their paths."""
    build = version.partition("+")[2]
    cuda = f"{build[2:-1]}.{build[-1]}" if build.startswith("cu") else None
    major = cudnn.partition(".")[0]
    tree: dict[str, str | bytes] = {
        "torch/__init__.py": _INIT,
        "torch/version.py": f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = None\n",
        "torch/lib/c10.dll": pe_bytes("c10.dll", needs=RUNTIME),
        "torch/lib/torch_cpu.dll": pe_bytes("torch_cpu.dll", needs=("c10.dll", *RUNTIME)),
    }
    if cuda:
        needs = (f"cudnn64_{major}.dll", "cudart64_12.dll", "c10.dll", *RUNTIME)
        tree["torch/lib/torch_cuda.dll"] = pe_bytes("torch_cuda.dll", needs=needs)
        tree["torch/lib/cudart64_12.dll"] = pe_bytes("cudart64_12.dll")
    laid = package("torch", version, tree, site=site, tags=_TAGS)
    return together(laid, at(f"{site}/torch/lib", cudnn_tree.dlls_of, cudnn)) if cuda else laid


def cublas(folder: str) -> Part:
    """cuBLAS of CUDA 12."""
    return files({f"{folder}/{name}": pe_bytes(name) for name in ("cublas64_12.dll", "cublasLt64_12.dll")})


def onnxruntime(version: str = "1.22.0", cuda: str = "12", cudnn: str = "9", site: str = SITE) -> Part:
    """ONNX Runtime, whose provider finds CUDA and cuDNN by PATH."""
    needs = (f"cublas64_{cuda}.dll", f"cudart64_{'110' if cuda == '11' else cuda}.dll", f"cudnn64_{cudnn}.dll")
    provider = "onnxruntime_providers_cuda.dll"
    return package(
        "onnxruntime-gpu",
        version,
        {
            "onnxruntime/__init__.py": "",
            "onnxruntime/capi/build_and_package_info.py": "package_name = 'onnxruntime-gpu'\n"
            f"cuda_version = '{cuda}.8'\n",
            f"onnxruntime/capi/{provider}": pe_bytes(provider, needs=(*needs, *RUNTIME)),
        },
        site=site,
        tags=_TAGS,
    )


def tensorflow(version: str, site: str, ending: str = "112") -> Part:
    """One of those with CUDA for Windows, up to 2.10; `ending` is that of its CUDA in build_info.py."""
    return package(
        "tensorflow",
        version,
        {
            "tensorflow/__init__.py": "",
            "tensorflow/python/platform/build_info.py": f"is_cuda_build = True\ncuda_version = '64_{ending}'\n"
            "cudnn_version = '64_8'\n",
            "tensorflow/python/_pywrap_tensorflow_internal.pyd": pe_bytes("t.pyd", needs=RUNTIME),
        },
        site=site,
        tags="cp310-cp310-win_amd64",
    )


def cpu_onnxruntime(prefix: str, version: str = "1.16.3") -> Part:
    """ONNX Runtime for the CPU, of which there were wheels of 32 bits."""
    tree = {
        "onnxruntime/__init__.py": "",
        "onnxruntime/capi/build_and_package_info.py": "package_name = 'onnxruntime'\n",
    }
    return package("onnxruntime", version, tree, site=f"{prefix}/Lib/site-packages", tags="cp310-cp310-win32")


def switched_off() -> Part:
    """The SYSTEM hive of a Windows whose programs may not use long paths."""
    switch = {"ControlSet001\\Control\\FileSystem": {"LongPathsEnabled": 0}, "Select": {"Current": 1}}
    return files({f"{SYSTEM}/config/SYSTEM": hive_bytes(switch)})


def header(site: str, characters: int, version: str = "2.9.1+cu128") -> Part:
    """A file of torch that its RECORD lists, with a path of so many characters."""
    name = "torch/include/"
    name += "x" * (characters - len(f"C:{site}/{name}.h")) + ".h"

    def lay(root: Path) -> None:
        with (root / f"{site}/torch-{version}.dist-info/RECORD".lstrip("/")).open("a") as record:
            record.write(f"{name},,\n")
        files({f"{site}/{name}": ""})(root)

    return lay


def toolkit(release: str = "12.8.1") -> Part:
    """A toolkit as NVIDIA's installer lays it, with the DLLs that a framework may ask for."""
    major, minor, _ = release.split(".")
    home = f"{CUDA}/v{major}.{minor}"
    rows = Matrix().rows("libraries", "sonames")
    names = [row.dll for row in rows if row.dll and accepts(row.cuda, f"{major}.{minor}")]
    return files(
        {
            f"{home}/version.json": f'{{"cuda": {{"name": "CUDA SDK", "version": "{release}"}}}}',
            f"{home}/bin/nvcc.exe": b"MZ",
            f"{home}/include/cuda.h": f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n",
            f"{home}/include/cuda_runtime.h": "",
            **{f"{home}/bin/{name}": pe_bytes(name) for name in names},
        }
    )


def cudnn(version: str, cuda: str, *, parts: tuple[str, ...] | None = None, header: str = "") -> Part:
    """NVIDIA's zip, copied into a toolkit."""
    home = f"{CUDA}/v{cuda}"
    return together(
        at(f"{home}/bin", cudnn_tree.dlls_of, version, parts=parts),
        at(f"{home}/include", cudnn_tree.header_of, header or version),
    )


def compiler(toolset: str) -> Part:
    """cl.exe of Visual Studio 2022; 14.44.35207 is _MSC_VER 1944."""
    return files({f"{STUDIO}/{toolset}/bin/Hostx64/x64/cl.exe": b"MZ"})


def conda(*different: Part) -> tuple[Part, ...]:
    """Anaconda with conda's CUDA and cuDNN, which lie in Library/bin."""
    names = ("cudart64_12.dll", "cublas64_12.dll", "cublasLt64_12.dll")
    libraries = {f"{CONDA}/Library/bin/{name}": pe_bytes(name) for name in names}
    laid = files({f"{CONDA}/conda-meta/history": "", **libraries})
    return (python(CONDA), laid, at(f"{CONDA}/Library/bin", cudnn_tree.dlls_of, "9.10.2"), *different)


def on_path(*folders: str) -> str:
    return ";".join((*(f"C:{one}" for one in folders), USUAL_PATH))


BASE = together(files({f"{SYSTEM}/kernel32.dll": pe_bytes("kernel32.dll")}), runtime(), python())


def machine(name: str, title: str, *different: Part, codes: tuple[str, ...] = (), **more: object) -> Case:
    """A disk that differs from one with Python 3.12 and the C++ runtime."""
    environ = {"PATH": USUAL_PATH, **more.pop("environ", {})}  # type: ignore[dict-item]
    return Case(f"win-{name}", title, together(BASE, *different), codes, where="root", environ=environ, **more)  # type: ignore[arg-type]


_V11, _V12 = f"{CUDA}/v11.8", f"{CUDA}/v12.8"
_CL = f"{STUDIO}/{{}}/bin/Hostx64/x64"

CASES = (
    machine("torch", "torch for CUDA 12.8 with all its DLLs", torch()),
    machine("torch-in-a-venv", "the same in a project's environment", venv(), torch(site=f"{VENV}/Lib/site-packages")),
    machine(
        "no-cpp-runtime",
        "no Visual C++ runtime at all",
        torch(),
        without(*(f"{SYSTEM}/{name}" for name in RUNTIME)),
        codes=("msvc-redist-missing",),
        first="msvc-redist-missing",
    ),
    machine(
        "old-cpp-runtime",
        "the Visual C++ runtime of 2015, without vcruntime140_1.dll",
        torch(),
        without(f"{SYSTEM}/vcruntime140_1.dll"),
        codes=("msvc-redist-missing",),
    ),
    machine(
        "onnxruntime",
        "ONNX Runtime, the toolkit and cuDNN on Path",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        environ={"PATH": on_path(f"{_V12}/bin")},
    ),
    machine(
        "onnxruntime-without-cudnn",
        "the toolkit is on Path, and no cuDNN lies anywhere",
        onnxruntime(),
        toolkit(),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("cudnn-missing",),
        first="cudnn-missing",
    ),
    machine(
        "onnxruntime-off-path",
        "the same, and Path names neither",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        codes=("windows-dll-path",),
        first="windows-dll-path",
    ),
    machine(
        "cudnn-alone-in-system32",
        "somebody copied cudnn64_9.dll of 9.1 alone into System32, which is searched before Path",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        at(SYSTEM, cudnn_tree.dlls_of, "9.1.0", parts=("",)),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("cudnn-install-incomplete",),
        first="cudnn-install-incomplete",
    ),
    machine(
        "cudnn-8-alone-in-system32",
        "the same of cuDNN 8.5 beside 8.9.7",
        onnxruntime("1.18.0", "11", "8"),
        toolkit("11.8.0"),
        cudnn("8.9.7", "11.8"),
        at(SYSTEM, cudnn_tree.dlls_of, "8.5.0", parts=("",)),
        environ={"PATH": on_path(f"{_V11}/bin")},
        codes=("cudnn-install-incomplete",),
        first="cudnn-install-incomplete",
    ),
    machine(
        "old-cudnn-in-system32",
        "the whole of cuDNN 9.1 in System32, another release in the toolkit",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        at(SYSTEM, cudnn_tree.dlls_of, "9.1.0"),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("cudnn-copies-conflict",),
    ),
    machine(
        "cudart-of-32-bits-before",
        "somebody copied a cudart64_12.dll of 32 bits into System32, which Windows passes over",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        files({f"{SYSTEM}/cudart64_12.dll": pe_bytes("cudart64_12.dll", machine="i386")}),
        environ={"PATH": on_path(f"{_V12}/bin")},
    ),
    machine(
        "cudart-of-32-bits",
        "the same with the cudart64_12.dll of the toolkit, and no other anywhere",
        onnxruntime(),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        files({f"{_V12}/bin/cudart64_12.dll": pe_bytes("cudart64_12.dll", machine="i386")}),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("wrong-machine-library",),
        first="wrong-machine-library",
    ),
    machine(
        "torch-for-arm",
        "DLLs of torch's wheel for ARM64 in a Python for x86-64",
        torch(),
        files({f"{SITE}/torch/lib/c10.dll": pe_bytes("c10.dll", machine="aarch64")}),
        codes=("wrong-machine-library",),
        first="wrong-machine-library",
    ),
    machine(
        "onnxruntime-cudnn-9-for-8",
        "ONNX Runtime of cuDNN 8 beside a cuDNN 9",
        onnxruntime("1.18.0", "11", "8"),
        toolkit("11.8.0"),
        cudnn("9.10.2", "11.8"),
        environ={"PATH": on_path(f"{_V11}/bin")},
        codes=("cudnn-wrong-major",),
        first="cudnn-wrong-major",
    ),
    machine(
        "zlibwapi",
        "cuDNN 8.9.2 without zlibwapi.dll",
        toolkit("11.8.0"),
        cudnn("8.9.2", "11.8"),
        environ={"PATH": on_path(f"{_V11}/bin")},
        codes=("zlibwapi-missing",),
    ),
    machine(
        "zlibwapi-32-bit",
        "cuDNN 8.9.2 beside the 32-bit zlibwapi.dll, which a 64-bit process passes over",
        toolkit("11.8.0"),
        cudnn("8.9.2", "11.8"),
        files({f"{_V11}/bin/zlibwapi.dll": pe_bytes("zlibwapi.dll", machine="i386")}),
        environ={"PATH": on_path(f"{_V11}/bin")},
        codes=("zlibwapi-missing",),
    ),
    machine(
        "zlibwapi-64-bit",
        "cuDNN 8.9.2 beside the 64-bit one",
        toolkit("11.8.0"),
        cudnn("8.9.2", "11.8"),
        files({f"{_V11}/bin/zlibwapi.dll": pe_bytes("zlibwapi.dll")}),
        environ={"PATH": on_path(f"{_V11}/bin")},
    ),
    machine(
        "zlibwapi-not-needed",
        "cuDNN 8.9.7, which has zlib inside",
        toolkit("11.8.0"),
        cudnn("8.9.7", "11.8"),
        environ={"PATH": on_path(f"{_V11}/bin")},
    ),
    machine(
        "half-cudnn",
        "cuDNN 9 of which cudnn64_9.dll alone was copied",
        toolkit(),
        cudnn("9.10.2", "12.8", parts=("",)),
        codes=("cudnn-install-incomplete",),
    ),
    machine(
        "other-header",
        "the header of cuDNN 8.9.7 beside the DLLs of 9.10",
        toolkit(),
        cudnn("9.10.2", "12.8", header="8.9.7"),
        codes=("cudnn-header-library-mismatch",),
    ),
    machine(
        "two-toolkits",
        "CUDA 11.8 and 12.8, each with its cuDNN; all names lead to 12.8",
        toolkit("11.8.0"),
        cudnn("8.9.7", "11.8"),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        environ={
            "PATH": on_path(f"{_V12}/bin", f"{_V11}/bin"),
            "CUDA_PATH": f"C:{_V12}",
            "CUDA_PATH_V11_8": f"C:{_V11}",
            "CUDA_PATH_V12_8": f"C:{_V12}",
        },
    ),
    machine(
        "toolkit-order",
        "the same, with 11.8 first on Path",
        toolkit("11.8.0"),
        cudnn("8.9.7", "11.8"),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        environ={"PATH": on_path(f"{_V11}/bin", f"{_V12}/bin"), "CUDA_PATH": f"C:{_V12}"},
        codes=("toolkit-path-conflict",),
    ),
    machine(
        "new-visual-studio",
        "Visual Studio 2022 of 2025, which nvcc of CUDA 11.8 refuses",
        toolkit("11.8.0"),
        compiler("14.44.35207"),
        environ={"PATH": on_path(f"{_V11}/bin", _CL.format("14.44.35207")), "CUDA_PATH": f"C:{_V11}"},
        codes=("host-compiler-unsupported",),
    ),
    machine(
        "visual-studio",
        "the same with the nvcc of CUDA 12.8, which accepts it",
        toolkit(),
        compiler("14.44.35207"),
        environ={"PATH": on_path(f"{_V12}/bin", _CL.format("14.44.35207")), "CUDA_PATH": f"C:{_V12}"},
    ),
    machine(
        "two-onnxruntimes",
        "onnxruntime beside onnxruntime-gpu",
        onnxruntime(),
        package("onnxruntime", "1.22.0", {"onnxruntime/__init__.py": ""}, site=SITE, tags=_TAGS),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("two-onnxruntimes",),
    ),
    machine(
        "two-cupys",
        "CuPy for CUDA 11 beside CuPy for CUDA 12",
        *(
            package(f"cupy-cuda{major}x", "13.6.0", {"cupy/__init__.py": ""}, site=SITE, tags=_TAGS)
            for major in ("11", "12")
        ),
        toolkit(),
        codes=("multiple-cupy",),
    ),
    machine(
        "user-site",
        "torch by pip install --user, in the user's own directory below Roaming",
        torch(site=USER_SITE),
        environ={"APPDATA": f"C:{HOME}/AppData/Roaming"},
    ),
    machine(
        "python-of-32-bits",
        "ONNX Runtime in a Python of 32 bits",
        python("/Python310-32", "310", "i386"),
        cpu_onnxruntime("/Python310-32"),
        codes=("python-32-bit",),
        first="python-32-bit",
    ),
    machine(
        "long-paths",
        "a header of torch whose path has 260 characters, and long paths switched off",
        switched_off(),
        venv(DEEP),
        torch(site=f"{DEEP}/Lib/site-packages"),
        header(f"{DEEP}/Lib/site-packages", 260),
        codes=("windows-long-paths",),
    ),
    machine(
        "long-paths-that-fit",
        "the same with 259",
        switched_off(),
        venv(DEEP),
        torch(site=f"{DEEP}/Lib/site-packages"),
        header(f"{DEEP}/Lib/site-packages", 259),
    ),
    machine(
        "torchvision-of-another-torch",
        "torchvision that asks for another torch",
        torch(),
        package(
            "torchvision",
            "0.20.1+cu124",
            {"torchvision/version.py": "__version__ = '0.20.1+cu124'\n"},
            requires=("torch==2.5.1",),
            site=SITE,
            tags=_TAGS,
        ),
        codes=("companion-version-mismatch",),
    ),
    machine(
        "damaged-dll",
        "torch/lib without torch_cuda.dll: a virus scanner took it away",
        torch(),
        without(f"{SITE}/torch/lib/torch_cuda.dll"),
        codes=("corrupted-install",),
    ),
    machine(
        "tensorflow-2.10",
        "the last TensorFlow with CUDA for Windows, its CUDA and cuDNN on Path",
        tensorflow("2.10.1", site="/Python310/Lib/site-packages"),
        python("/Python310", "310"),
        toolkit("11.2.2"),
        cudnn("8.1.1", "11.2"),
        environ={"PATH": on_path(f"{CUDA}/v11.2/bin")},
    ),
    machine(
        "tensorflow-off-path",
        "the same, and Path names neither",
        tensorflow("2.10.1", site="/Python310/Lib/site-packages"),
        python("/Python310", "310"),
        toolkit("11.2.2"),
        cudnn("8.1.1", "11.2"),
        codes=("windows-dll-path",),
        first="windows-dll-path",
    ),
    machine(
        "tensorflow-without-cuda",
        "the same, and no CUDA anywhere",
        tensorflow("2.10.1", site="/Python310/Lib/site-packages"),
        python("/Python310", "310"),
        codes=("tf-cannot-dlopen-gpu-libs",),
        first="tf-cannot-dlopen-gpu-libs",
    ),
    machine(
        "tensorflow-2.4",
        "TensorFlow 2.4 with CUDA 11.0, which has cusolver64_10.dll",
        tensorflow("2.4.4", site="/Python38/Lib/site-packages", ending="110"),
        python("/Python38", "38"),
        toolkit("11.0.3"),
        cudnn("8.0.5", "11.0"),
        environ={"PATH": on_path(f"{CUDA}/v11.0/bin")},
    ),
    machine(
        "tensorflow-2.4-cuda-11.2",
        "the same with CUDA 11.2, which has cusolver64_11.dll",
        tensorflow("2.4.4", site="/Python38/Lib/site-packages", ending="110"),
        python("/Python38", "38"),
        toolkit("11.2.2"),
        cudnn("8.1.1", "11.2"),
        environ={"PATH": on_path(f"{CUDA}/v11.2/bin")},
        codes=("tf-cannot-dlopen-gpu-libs",),
        first="tf-cannot-dlopen-gpu-libs",
    ),
    machine(
        "onnxruntime-without-cuda",
        "ONNX Runtime for GPUs, and no CUDA anywhere",
        onnxruntime(),
        codes=("cudart-soname-missing",),
        first="cudart-soname-missing",
    ),
    machine(
        "tensorflow-cuda-12",
        "TensorFlow 2.10 where CUDA 12.8 and its cuDNN 9 are: the cuDNN alone would not help",
        tensorflow("2.10.1", site="/Python310/Lib/site-packages"),
        python("/Python310", "310"),
        toolkit(),
        cudnn("9.10.2", "12.8"),
        environ={"PATH": on_path(f"{_V12}/bin")},
        codes=("tf-cannot-dlopen-gpu-libs",),
        first="tf-cannot-dlopen-gpu-libs",
    ),
    machine(
        "onnxruntime-beside-torch",
        "ONNX Runtime without any toolkit: torch, which a program may import before, has all that it needs",
        torch(),
        cublas(f"{SITE}/torch/lib"),
        onnxruntime(),
        besides=("windows-dll-path",),
    ),
    machine(
        "onnxruntime-beside-torch-and-toolkit",
        "the same with a toolkit on Path, and cuDNN in torch alone",
        torch(),
        cublas(f"{SITE}/torch/lib"),
        onnxruntime(),
        toolkit(),
        environ={"PATH": on_path(f"{_V12}/bin")},
        besides=("windows-dll-path",),
    ),
    machine(
        "onnxruntime-with-wheels",
        "NVIDIA's wheels, which onnxruntime.preload_dlls() opens",
        onnxruntime(),
        cublas(f"{SITE}/nvidia/cublas/bin"),
        files({f"{SITE}/nvidia/cuda_runtime/bin/cudart64_12.dll": pe_bytes("cudart64_12.dll")}),
        at(f"{SITE}/nvidia/cudnn/bin", cudnn_tree.dlls_of, "9.10.2"),
        besides=("windows-dll-path",),
    ),
    machine(
        "torch-of-another-environment",
        "torch with all of it in a project's environment, where ONNX Runtime is not",
        onnxruntime(),
        venv(),
        torch(site=f"{VENV}/Lib/site-packages"),
        cublas(f"{VENV}/Lib/site-packages/torch/lib"),
        codes=("cudart-soname-missing",),
        first="cudart-soname-missing",
        quiet=("windows-dll-path",),
    ),
    machine(
        "tensorflow-2.15",
        "a later one, which has no CUDA there",
        package(
            "tensorflow",
            "2.15.0",
            {"tensorflow/__init__.py": "", "tensorflow/python/platform/build_info.py": "is_cuda_build = False\n"},
            site="/Python310/Lib/site-packages",
            tags="cp310-cp310-win_amd64",
        ),
        python("/Python310", "310"),
        codes=("tf-native-windows-after-2-10",),
    ),
    machine(
        "anaconda",
        "conda's pytorch in Anaconda, its DLLs in Library/bin",
        python(f"{HOME}/anaconda3"),
        files({f"{HOME}/anaconda3/conda-meta/history": "", f"{HOME}/anaconda3/Library/bin/cudart64_12.dll": b"MZ"}),
        torch(site=f"{HOME}/anaconda3/Lib/site-packages"),
    ),
    machine(
        "conda-not-activated",
        "ONNX Runtime by pip in Anaconda, conda's CUDA and cuDNN in Library/bin, and no `conda activate`",
        *conda(onnxruntime(site=f"{CONDA}/Lib/site-packages")),
        codes=("windows-dll-path",),
        first="windows-dll-path",
    ),
    machine(
        "conda-activated",
        "the same after `conda activate`, whose Library/bin comes before a toolkit",
        *conda(onnxruntime(site=f"{CONDA}/Lib/site-packages")),
        toolkit(),
        environ={"PATH": on_path(CONDA, f"{CONDA}/Library/bin", f"{_V12}/bin"), "CONDA_PREFIX": f"C:{CONDA}"},
    ),
    machine(
        "conda-comes-before-the-toolkit",
        "cuDNN 9.10 in Anaconda's Library/bin, before the 9.1 of a toolkit on Path",
        *conda(onnxruntime(site=f"{CONDA}/Lib/site-packages")),
        toolkit(),
        cudnn("9.1.0", "12.8"),
        environ={"PATH": on_path(CONDA, f"{CONDA}/Library/bin", f"{_V12}/bin"), "CONDA_PREFIX": f"C:{CONDA}"},
        codes=("cudnn-copies-conflict",),
    ),
)
