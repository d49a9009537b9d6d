"""Real frameworks for Windows: what is predicted of their DLLs is held against what Wine's loader loads."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from doctor.binaries.pe import Pe
from tests.lab import stub
from tests.wheels import WINDOWS, fetch, unpack
from tests.windows.machine import HOME, SITE, Windows
from tests.windows.test_installed import card, codes, driver, report

pytestmark = [pytest.mark.system, pytest.mark.slow]

TORCH = "torch==2.14.1"
NEEDS = ("typing-extensions==4.15.0", "sympy==1.14.0", "mpmath==1.3.0", "networkx==3.5", "jinja2==3.1.6",
         "markupsafe==3.0.3", "fsspec==2025.9.0", "filelock==3.19.1", "setuptools==80.9.0")  # fmt: skip
# Microsoft's own, for the one of its DLLs that Wine lacks.
RUNTIME, THREADS = "msvc-runtime==14.44.35112", "vcruntime140_threads.dll"
TOOLKIT = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.6\\bin"
ROAMING = "C:\\users\\root\\AppData\\Roaming\\Python\\Library\\bin"
ENVIRON = {"KMP_TOPOLOGY_METHOD": "flat", "CUDA_PATH_V12_6": TOOLKIT.removesuffix("\\bin"), "WINEPATH": "C:\\on Path"}
ASKED = f"""
import json, os, subprocess, sys
exec(open("C:/loads.py").read())
for name in sys.argv[1:]:
    order = [r"{HOME}\\Scripts\\gpudoctor.exe", "which", name, "--live", str(os.getpid()), "--format", "json"]
    told = json.loads(subprocess.run(order, capture_output=True).stdout)["live"]
    print(json.dumps([told["prediction"], [one["path"] for one in told["libraries"]]]))
"""
# Its import ends where its DLLs are loaded: what follows is Python, and takes ten seconds.
LIBRARIES = """
sys.modules["torch._C"] = None
try:
    import torch
except ImportError:
    pass
"""
# As env.cc of ONNX Runtime: LOAD_WITH_ALTERED_SEARCH_PATH.
CAPI = f"{SITE}\\onnxruntime\\capi"
PROVIDER = f"""
import ctypes
load = ctypes.WinDLL("kernel32").LoadLibraryExW
load.restype = ctypes.c_void_p
assert load(r"{CAPI}\\onnxruntime_providers_cuda.dll", None, 8)
"""


def put_torch(windows: Windows) -> None:
    for requirement in (TORCH, *NEEDS):
        unpack(fetch(requirement, platforms=WINDOWS), windows.at(SITE))


def put_runtime(windows: Windows) -> None:
    with zipfile.ZipFile(fetch(RUNTIME, platforms=WINDOWS)) as wheel:
        [name] = [one for one in wheel.namelist() if one.endswith(f"/data/{THREADS}")]
        windows.put(f"windows/system32/{THREADS}", wheel.read(name))


def importing(folder: Path, names: tuple[str, ...]) -> Path:
    """A DLL that imports a symbol of each of these."""
    folder.mkdir(parents=True, exist_ok=True)
    zig, libraries = (sys.executable, "-m", "ziglang"), []
    for number, name in enumerate(names):
        (folder / f"{number}.def").write_text(f"LIBRARY {name}\nEXPORTS\n symbol{number}\n")
        libraries.append(folder / f"{number}.lib")
        order = ("dlltool", "-m", "i386:x86-64", "-d", folder / f"{number}.def", "-l", libraries[-1])
        subprocess.run((*zig, *order), check=True)
    symbols = [f"symbol{number}" for number in range(len(names))]
    lines = [f"__declspec(dllimport) int {one}(void);" for one in symbols]
    lines.append(f"__declspec(dllexport) int all(void) {{ return {' + '.join(f'{one}()' for one in symbols)}; }}")
    (folder / "all.c").write_text("\n".join(lines))
    build = ("cc", "-O2", "-shared", "-target", "x86_64-windows-gnu", "-o", folder / "all.dll", folder / "all.c")
    subprocess.run((*zig, *build, *libraries), check=True)
    return folder / "all.dll"


def held(windows: Windows, *libraries: str) -> list[list[object]]:
    """For each library whether the prediction holds, and the files of it that the process has."""
    done = windows.python("C:\\asked.py", *libraries, environ=ENVIRON)
    assert done.status == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def slashed(path: str) -> str:
    return path.replace("\\", "/")


def test_the_runtime_that_torch_lacks_and_torch_itself(windows: Windows) -> None:
    """VCRUNTIME140_THREADS.dll, which older redistributables, and Wine, have not: found before, and by the import."""
    put_torch(windows)
    card(windows)
    environ = {**driver(windows), **ENVIRON}
    python = ("--python", f"{HOME}\\python.exe")
    found = report(windows, environ, *python)
    assert "msvc-redist-missing" in codes(found)
    assert "VCRUNTIME140_THREADS.dll" in json.dumps(found["findings"])
    use = "import torch; print(torch.ones(2) + 1)"
    done = windows.python("-c", use, environ=environ)
    assert (done.status, "WinError 126" in done.err) == (1, True), done
    windows.put("error.txt", done.err)
    told = json.loads(windows.doctor("explain", "C:\\error.txt", "--format", "json").out)
    assert "msvc-redist-missing" in {one["code"] for one in told["causes"]}
    put_runtime(windows)
    done = windows.python("-c", use, environ=environ)
    assert (done.status, done.out) == (0, "tensor([2., 2.])\n"), done
    assert codes(report(windows, environ, *python)) == ["cpu-only-wheel"]


def test_each_place_that_torch_searches(windows: Windows, tmp_path: Path) -> None:
    """Its own code, with a library that asks for cuDNN and the CUDA runtime, as a build for CUDA has."""
    put_torch(windows)
    put_runtime(windows)
    version = windows.at(f"{SITE}\\torch\\version.py")
    said = version.read_text().replace("+cpu", "+cu126").replace("cuda: Optional[str] = None", "cuda = '12.6'")
    windows.put(f"{SITE}\\torch\\version.py", said)
    names = ("cudnn64_9.dll", "cudart64_12.dll")
    for heavy in windows.at(f"{SITE}\\torch\\lib").glob("*.dll"):  # each start would load 300 MB
        if heavy.name != "c10.dll":
            heavy.unlink()
    windows.put(f"{SITE}\\torch\\lib\\torch_cuda.dll", importing(tmp_path / "made", names))
    windows.put("loads.py", LIBRARIES)
    windows.put("asked.py", ASKED)
    places = [f"{SITE}\\torch\\lib", HOME, TOOLKIT, f"{HOME}\\bin", ROAMING, f"{HOME}\\Library\\bin"]
    places += ["C:\\windows\\system32", "C:\\on Path"]
    for place in places:
        windows.put(f"{place}\\{names[0]}", stub.nvml_dll())
    windows.put(f"windows/system32/{names[1]}", stub.nvml_dll())
    wrong = []
    for place in places:
        [told] = held(windows, "cudnn")
        if told != ["holds", [slashed(f"{place}/{names[0]}")]]:
            wrong.append((place, told))
        windows.at(f"{place}\\{names[0]}").unlink()
    assert wrong == []


def test_onnx_runtime_with_nvidia_s_own_dlls(windows: Windows, tmp_path: Path) -> None:
    """The real CUDA runtime and cuDNN, and a provider that imports what the real one does.

    That one needs all of ONNX Runtime in its process, which needs a DirectX that Wine has not.
    """
    unpack(fetch("onnxruntime-gpu==1.22.0", platforms=WINDOWS), windows.at(SITE))
    with windows.at(f"{CAPI}\\onnxruntime_providers_cuda.dll").open("rb") as stream:
        names = tuple(one for one in Pe(stream).imports if one.startswith("cu"))
    assert len(names) == 5
    windows.put(f"{CAPI}\\onnxruntime_providers_cuda.dll", importing(tmp_path / "made", names))
    for requirement, dll in (
        ("nvidia-cuda-runtime-cu12==12.9.79", "nvidia/cuda_runtime/bin/cudart64_12.dll"),
        ("nvidia-cudnn-cu12==9.1.0.70", "nvidia/cudnn/bin/cudnn64_9.dll"),
    ):
        unpack(fetch(requirement, platforms=WINDOWS), windows.folder, [dll])
        windows.put(f"on Path/{dll.rpartition('/')[2]}", windows.folder / dll)
    for name in names[:3]:
        windows.put(f"on Path/{name}", stub.nvml_dll())
        windows.put(f"{HOME}\\{name}", stub.nvml_dll())  # beside python.exe, which this search leaves out
    windows.put("loads.py", PROVIDER)
    windows.put("asked.py", ASKED)
    assert held(windows, "cudnn", "cudart", "cublas", "cufft") == [
        ["holds", ["C:/on Path/cudnn64_9.dll"]],
        ["holds", ["C:/on Path/cudart64_12.dll"]],
        ["holds", ["C:/on Path/cublasLt64_12.dll", "C:/on Path/cublas64_12.dll"]],
        ["holds", ["C:/on Path/cufft64_11.dll"]],
    ]
