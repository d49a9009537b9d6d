"""`gpudoctor which` on a Windows disk: what lies beside a framework's libraries, and what cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.commands.which import windows
from doctor.commands.which.answer import Subject, of_cpu_build
from doctor.commands.which.command import Question, which
from doctor.commands.which.product import PRODUCTS, product_of
from doctor.output.document import TextStyle
from tests.commands.which.test_which import libraries, valid
from tests.lab.pe_file import pe_bytes
from tests.machine import environment, framework
from tests.probes.tree import Tree, plant

SITE = "venv/Lib/site-packages"
TOOLKIT = "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.8/bin"
CUDNN = "Program Files/NVIDIA/CUDNN/v9.10/bin/12.9"
NEEDS = ("cudnn64_9.dll", "cublas64_12.dll", "KERNEL32.dll")
INIT = 'th_dll_path = ...\ndlls = glob.glob(os.path.join(th_dll_path, "*.dll"))\n'


def wheel(name: str, version: str) -> Tree:
    return {f"{SITE}/{name.replace('-', '_')}-{version}.dist-info/METADATA": f"Name: {name}\nVersion: {version}\n"}


def torch(*bundled: str, init: str = INIT) -> Tree:
    """torch, whose library needs cuDNN and cuBLAS; `bundled` lie in its lib folder."""
    return {
        **wheel("torch", "2.9.1+cu128"),
        f"{SITE}/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n",
        f"{SITE}/torch/__init__.py": init,
        f"{SITE}/torch/lib/torch_cuda.dll": pe_bytes("torch_cuda.dll", needs=NEEDS),
        **{f"{SITE}/torch/lib/{name}": b"MZ" for name in bundled},
    }


def onnxruntime(*beside: str) -> Tree:
    folder = f"{SITE}/onnxruntime/capi"
    provider = "onnxruntime_providers_cuda.dll"
    return {
        **wheel("onnxruntime-gpu", "1.22.0"),
        f"{folder}/{provider}": pe_bytes(provider, needs=NEEDS),
        **{f"{folder}/{name}": b"MZ" for name in beside},
    }


def told(root: Path, *trees: Tree, library: str = "cudnn") -> tuple[dict[str, Any], int]:
    tree: dict[str, str | bytes] = {
        "Windows/System32/": "",
        "venv/pyvenv.cfg": "home = C:\\Python312\nversion = 3.12.4\n",
        "venv/Scripts/python.exe": b"MZ",
    }
    for one in trees:
        tree |= one
    plant(root, tree)
    text, status = which(Question(library, ("C:/venv",), root=str(root), style="json"), TextStyle())
    assert which(Question(library, ("C:/venv",), root=str(root)), TextStyle())[1] == status
    return valid(text), status


def test_torch_opens_what_lies_in_its_lib_folder(tmp_path: Path) -> None:
    document, status = told(tmp_path, torch("cudnn64_9.dll", "cudnn_ops64_9.dll"), {f"{CUDNN}/cudnn64_9.dll": b"MZ"})
    found = libraries(document)
    assert (status, document["answer"], sorted(found)) == (0, "found", ["cudnn64_9.dll", "cudnn_ops64_9.dll"])
    assert found["cudnn64_9.dll"]["path"] == f"C:/{SITE}/torch/lib/cudnn64_9.dll"
    assert found["cudnn64_9.dll"]["because"] == "torch/__init__.py opens it by its path"
    copies = {one["path"]: one["why"] for one in found["cudnn64_9.dll"]["copies"]}
    assert copies == {f"C:/{CUDNN}/cudnn64_9.dll": "no directory that is searched"}
    assert "is not followed on Windows" in document["subjects"][0]["note"]


def test_beside_the_library_that_asks_without_torchs_own_words(tmp_path: Path) -> None:
    document, status = told(tmp_path, torch("cudnn64_9.dll", init=""))
    (one,) = libraries(document).values()
    assert (status, one["because"]) == (0, "it lies beside torch_cuda.dll")
    assert one["chain"] == [f"C:/{SITE}/torch/lib/torch_cuda.dll"]


def test_in_library_bin_of_conda_the_later_copy_loses(tmp_path: Path) -> None:
    tree = {"venv/Library/bin/cudnn64_9.dll": b"MZ", "Windows/System32/CUDNN64_9.DLL": b"MZ"}
    document, status = told(tmp_path, torch(init=""), tree)
    (one,) = libraries(document).values()
    assert (status, one["path"]) == (0, "C:/venv/Library/bin/cudnn64_9.dll")
    assert [copy["why"] for copy in one["copies"]] == ["comes later: it is in a directory of the system"]


@pytest.mark.parametrize(
    ("words", "folder", "found"),
    [
        ("", "base/Library/bin", True),
        ("", "venv/bin", False),
        ("py_root_bin_path = os.path.join(sys.exec_prefix, 'bin')", "venv/bin", True),
        ("", TOOLKIT, False),
        ("cuda_path_var = 'CUDA_PATH_V' + cuda_version_1", TOOLKIT, True),
    ],
)
def test_what_torch_adds_to_the_search_is_read_in_its_code(
    tmp_path: Path, words: str, folder: str, found: bool
) -> None:
    venv: Tree = {"venv/pyvenv.cfg": "home = C:\\base\nversion = 3.12.4\n", "base/python.exe": b"MZ"}
    document, _ = told(tmp_path, torch(init=words), {f"{folder}/cudnn64_9.dll": b"MZ"}, venv)
    assert [one["path"] for one in libraries(document).values()] == [f"C:/{folder}/cudnn64_9.dll"] * found


def test_a_toolkit_is_not_added_where_the_environment_has_a_runtime(tmp_path: Path) -> None:
    tree = {"venv/Library/bin/cudart64_12.dll": b"MZ", f"{TOOLKIT}/cudnn64_9.dll": b"MZ"}
    document, status = told(tmp_path, torch(init="cuda_path_var"), tree)
    assert (status, libraries(document)) == (4, {})


def test_paths_are_written_as_windows_writes_them(tmp_path: Path) -> None:
    told(tmp_path, torch("cudnn64_9.dll"))
    text, _ = which(Question("cudnn", ("C:/venv",), root=str(tmp_path)), TextStyle())
    assert "    loads     C:\\venv\\Lib\\site-packages\\torch\\lib\\cudnn64_9.dll\n" in text
    assert "torch/__init__.py opens it by its path" in text


def test_onnx_runtime_does_not_search_the_environment(tmp_path: Path) -> None:
    """LOAD_WITH_ALTERED_SEARCH_PATH: what Library/bin has counts only where PATH names it, which a disk does not."""
    tree = {"venv/Library/bin/cudnn64_9.dll": b"MZ"}
    document, status = told(tmp_path / "a", onnxruntime(), tree)
    assert (status, document["answer"], libraries(document)) == (4, "unknown", {})
    assert "cudnn64_9.dll: PATH is not known" in document["subjects"][0]["unknown"]
    document, status = told(tmp_path / "b", onnxruntime("cudnn64_9.dll"))
    assert (status, [*libraries(document)]) == (0, ["cudnn64_9.dll"])


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({**wheel("tensorflow", "2.10.1")}, "is not known"),
    ],
)
def test_what_is_not_known_is_said(tmp_path: Path, tree: Tree, words: str) -> None:
    document, status = told(tmp_path, tree)
    assert (status, document["answer"]) == (4, "unknown")
    assert words in document["subjects"][0]["unknown"]


def test_a_program_of_ones_own(tmp_path: Path) -> None:
    """Beside the interpreter, then System32; a disk tells no PATH, so that elsewhere nothing is known."""
    document, status = told(tmp_path / "none")
    assert (status, document["answer"]) == (1, "not-found")
    document, status = told(tmp_path / "toolkit", {f"{TOOLKIT}/cudnn64_9.dll": b"MZ"})
    assert status == 4
    assert "PATH" in document["subjects"][0]["unknown"]
    system = {"Windows/System32/cudnn64_9.dll": b"MZ"}
    document, status = told(tmp_path / "system", system, {f"{TOOLKIT}/cudnn64_9.dll": b"MZ"})
    [found] = libraries(document).values()
    assert (status, found["path"]) == (0, "C:/Windows/System32/cudnn64_9.dll")
    assert [one["path"] for one in found["copies"]] == [f"C:/{TOOLKIT}/cudnn64_9.dll"]
    document, _ = told(tmp_path / "beside", system, {"venv/Scripts/cudnn64_9.dll": b"MZ"})
    assert libraries(document)["cudnn64_9.dll"]["path"] == "C:/venv/Scripts/cudnn64_9.dll"


def test_a_dll_that_windows_knows_comes_from_system32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any search; a name in KnownDLLs without a file there is searched for as any other."""
    system = {"Windows/System32/cudnn64_9.dll": b"MZ"}
    beside = {"venv/Scripts/cudnn64_9.dll": b"MZ", "venv/Scripts/cudnn64_8.dll": b"MZ"}
    monkeypatch.setattr(windows, "known_dlls", lambda host: frozenset({"cudnn64_9.dll", "cudnn64_8.dll"}))
    document, status = told(tmp_path, system, beside)
    found = libraries(document)
    assert (status, found["cudnn64_9.dll"]["path"]) == (0, "C:/Windows/System32/cudnn64_9.dll")
    assert [one["path"] for one in found["cudnn64_9.dll"]["copies"]] == ["C:/venv/Scripts/cudnn64_9.dll"]
    assert found["cudnn64_8.dll"]["path"] == "C:/venv/Scripts/cudnn64_8.dll"


def test_a_library_that_is_no_library(tmp_path: Path) -> None:
    document, status = told(tmp_path, torch(), {f"{SITE}/torch/lib/torch_cuda.dll": b"MZ" + b"\xff" * 300})
    assert (status, libraries(document)) == (4, {})


def test_one_dll_by_its_name(tmp_path: Path) -> None:
    document, status = told(tmp_path, torch("cudnn64_9.dll", "cublas64_12.dll"), library="CUBLAS64_12.dll")
    assert (status, [*libraries(document)]) == (0, ["cublas64_12.dll"])


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("cudnn64_9.dll", "cudnn"), ("cudnn_ops_infer64_8.dll", "cudnn"),
        ("cudnn_engines_precompiled64_9.dll", "cudnn"),
        ("cublas64_12.dll", "cublas"), ("cublasLt64_12.dll", "cublas"), ("cudart64_110.dll", "cudart"),
        ("nvrtc64_120_0.dll", "nvrtc"), ("nvrtc-builtins64_128.dll", "nvrtc"), ("cufft64_11.dll", "cufft"),
        ("cusolverMg64_11.dll", "cusolver"), ("cusparse64_12.dll", "cusparse"), ("cupti64_2025.1.0.dll", "cupti"),
        ("nvJitLink_120_0.dll", "nvjitlink"), ("NVCUDA.DLL", "cuda"), ("nvml.dll", "nvml"), ("torch_cuda.dll", ""),
        ("cudnn64_9.dll.bak", ""), ("cudnn_frontend.txt", ""),
    ],
)  # fmt: skip
def test_whose_a_dll_is(name: str, product: str) -> None:
    assert [one for one in PRODUCTS if product_of(one).is_dll(name)] == ([product] if product else [])


@pytest.mark.parametrize(
    ("text", "is_cuda"),
    [
        ("cudnn", True),
        ("cudnn64_9.dll", True),
        ("libcudnn_graph.so.9", True),
        ("nvcuda.dll", True),
        ("c10.dll", False),
        ("libz.so.1", False),
    ],
)
def test_a_cpu_build_says_nothing_of_what_is_not_cuda_s(text: str, is_cuda: bool) -> None:
    """That it loads none of CUDA's libraries is no answer to a question about c10.dll."""
    built = framework("torch", "2.15.0+cpu")
    found = of_cpu_build(Subject(environment(built), built), built, product_of(text))
    assert bool(found.failure) is is_cuda
    assert bool(found.unknown) is not is_cuda
