"""windows-dll-path and msvc-redist-missing."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import Advice, InstallToolkit, PutOnPath, as_json
from doctor.model.facts import Facts
from doctor.model.facts.loader import Dll, DllNeeds
from doctor.model.finding import Status
from tests.machine import VENV, cudnn_copy, environment, framework, machine, seen, system, unseen
from tests.rules.case import answer

ORT = framework("onnxruntime-gpu", "1.22.0", requires=seen(()))
ASKER = "C:/venv/Lib/site-packages/onnxruntime/capi/onnxruntime_providers_cuda.dll"
CUDNN = "C:/Program Files/NVIDIA/CUDNN/v9.10/bin/12.9/cudnn64_9.dll"
SYSTEM = "C:/Windows/System32"


def windows(*dlls: Dll, **changes: Any) -> Facts:
    """ONNX Runtime on Windows with these needs."""
    needs = DllNeeds(VENV, "onnxruntime-gpu", seen(dlls))
    return machine(
        system=system(family=seen("windows")), environments=seen((environment(ORT),)), dlls=seen((needs,))
    )._replace(**changes)


def dll(name: str, found: str = "", *elsewhere: str) -> Dll:
    return Dll(name, ASKER, found, elsewhere)


@pytest.mark.parametrize(
    ("dlls", "kind"),
    [
        ((dll("cudnn64_9.dll", "C:/cudnn/bin/cudnn64_9.dll"),), Status.OK),
        ((dll("cudnn64_9.dll", "", CUDNN),), Status.BAD),
        ((dll("cudnn64_9.dll"),), Status.OK),  # not there at all: not a question of the path
        ((dll("MSVCP140.dll"),), Status.NOT_APPLICABLE),
    ],
)
def test_path(dlls: tuple[Dll, ...], kind: Status) -> None:
    assert answer("windows-dll-path", windows(*dlls)).kind is kind


@pytest.mark.parametrize(
    ("dlls", "kind"),
    [
        ((dll("cudart64_12.dll", "C:/cuda/bin/cudart64_12.dll"),), Status.OK),
        ((dll("cudart64_12.dll", "", "C:/cuda/bin/cudart64_12.dll"),), Status.OK),  # a matter of the path
        ((dll("cudart64_12.dll")._replace(foreign="C:/cuda/bin/cudart64_12.dll"),), Status.OK),  # wrong-machine-library
        ((dll("cudart64_12.dll"), dll("cublas64_12.dll", "C:/cuda/bin/cublas64_12.dll")), Status.BAD),
        ((dll("cudnn64_9.dll"), dll("MSVCP140.dll")), Status.NOT_APPLICABLE),
    ],
)
def test_cuda_that_is_nowhere(dlls: tuple[Dll, ...], kind: Status) -> None:
    found = answer("cudart-soname-missing", windows(*dlls, gpus=seen(())))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.needs == (InstallToolkit("==12.8.*"),)


def test_cuda_of_an_unknown_search_is_unknown() -> None:
    needs = DllNeeds(VENV, "onnxruntime-gpu", unseen("PATH is not known"))
    assert answer("cudart-soname-missing", windows(dlls=seen((needs,)))).kind is Status.UNKNOWN


def test_only_an_import_looks_into_directories_that_a_program_adds() -> None:
    """ONNX Runtime and TensorFlow open DLLs later, by a search that knows nothing of os.add_dll_directory."""
    assert len(answer("windows-dll-path", windows(dll("cudnn64_9.dll", "", CUDNN))).needs) == 1


def test_it_names_the_directory() -> None:
    found = answer("windows-dll-path", windows(dll("cudnn64_9.dll", "", CUDNN)))
    assert found.needs[0] == PutOnPath(("C:/Program Files/NVIDIA/CUDNN/v9.10/bin/12.9",))


@pytest.mark.parametrize(
    ("majors", "folder"),
    [((11, 12), "12.9"), ((12, 11), "11.8"), ((13, 11), ""), ((None, None), "11.8"), ((11, None), "12.9")],
)
def test_it_names_no_directory_of_another_cuda(majors: tuple[int | None, int | None], folder: str) -> None:
    """NVIDIA's installer lays one directory for each CUDA, with DLLs of the same names."""
    paths = ("C:/Program Files/NVIDIA/CUDNN/v9.10/bin/11.8", "C:/Program Files/NVIDIA/CUDNN/v9.10/bin/12.9")
    known = [seen(one) if one else unseen("nothing says it") for one in majors]
    copies = [cudnn_copy(path=path, cuda_major=cuda) for path, cuda in zip(paths, known, strict=True)]
    lying = dll("cudnn64_9.dll", "", *(f"{one}/cudnn64_9.dll" for one in paths))
    found = answer("windows-dll-path", windows(lying, cudnn=seen(tuple(copies))))
    assert [as_json(one).spec for one in found.needs][:1] == ([f"with {paths[0][:-4]}{folder}"] if folder else [])


@pytest.mark.parametrize(
    ("name", "code"), [("cudart64_12.dll", "framework-wants-other-cuda"), ("cudnn64_9.dll", "cudnn-missing")]
)
def test_it_explains_what_is_not_found_for_that_reason(name: str, code: str) -> None:
    found = answer("windows-dll-path", windows(dll(name, "", f"C:/elsewhere/{name}"), dll("cufft64_11.dll")))
    assert [one.code for one in found.explains if not one.code.startswith("framework-import")] == [code]


def test_a_conda_environment_is_activated() -> None:
    lying = dll("cudnn64_9.dll", "", f"{VENV}/Library/bin/cudnn64_9.dll")
    found = answer("windows-dll-path", windows(lying))
    assert found.needs == (Advice(f"Run the program after `conda activate {VENV}`."),)


@pytest.mark.parametrize(
    ("dlls", "kind"),
    [
        ((dll("VCRUNTIME140_1.dll", f"{SYSTEM}/vcruntime140_1.dll"),), Status.OK),
        ((dll("VCRUNTIME140.dll", "x"), dll("VCRUNTIME140_1.dll"), dll("MSVCP140.dll")), Status.BAD),
        ((dll("cudnn64_9.dll", "", CUDNN),), Status.NOT_APPLICABLE),
    ],
)
def test_runtime(dlls: tuple[Dll, ...], kind: Status) -> None:
    found = answer("msvc-redist-missing", windows(*dlls))
    assert found.kind is kind
    if kind is Status.BAD:
        assert "VCRUNTIME140_1.dll and MSVCP140.dll" in found.why
        assert "latest-supported-vc-redist" in as_json(found.needs[1]).spec


@pytest.mark.parametrize("code", ["windows-dll-path", "msvc-redist-missing"])
def test_elsewhere_and_unseen(code: str) -> None:
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE
    assert answer(code, windows(dlls=seen(()))).kind is Status.NOT_APPLICABLE
    assert answer(code, windows(dlls=unseen("failed"))).kind is Status.UNKNOWN
    unknown = DllNeeds(VENV, "onnxruntime-gpu", unseen("PATH is not known"))
    assert answer(code, windows(dlls=seen((unknown,)))).kind is Status.UNKNOWN
