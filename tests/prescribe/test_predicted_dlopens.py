"""What a build that is not there yet will ask for."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.prescribe.predicted_dlopens import again, requests
from tests.machine import VENV, loader, machine, prediction, seen

MATRIX = Matrix()


def asked(package: str, release: str, *, own: bool = False) -> set[str]:
    row = next(one for one in MATRIX.framework_rows(package, release) if "linux" in one.os)
    return {name for _, _, name in requests(row, "/venv", own=own)}


def test_a_build_that_leaves_the_wheels_to_the_program_asks_the_loader_for_cudnn() -> None:
    assert asked("onnxruntime-gpu", "1.20.1") == {"libcudnn.so.9"}
    assert asked("onnxruntime-gpu", "1.18.0") == {"libcudnn.so.8"}


def test_of_others_it_is_not_said() -> None:
    """CuPy asks for it on behalf of another package, torch finds its wheels."""
    assert asked("cupy-cuda12x", "13.6.0") == set()
    assert asked("torch", "2.9.1") == set()


def test_the_cudnn_inside_asks_for_the_name_without_a_version() -> None:
    row = next(one for one in MATRIX.rows("torch", "builds") if str(one.cudnn or "").startswith("8.7"))
    assert {name for _, _, name in requests(row, "/venv", own=True)} == {"libnvrtc.so"}


def test_another_build_opens_what_this_one_opens_for_its_own_cuda() -> None:
    """cupy-cuda13x needs libcublas.so.13, a toolkit of CUDA 13 without libraries does not help; 14 finds wheels."""
    told = prediction(asker="cupy-cuda12x", soname="libcublas.so.12", is_cuda=True)
    facts = machine(loader=loader(predictions=seen((told,))))
    rows = {one.versions: one for one in MATRIX.rows("cupy-cuda13x", "builds") if "linux" in one.os}
    opened = {release: {name for *_, name in again(row, VENV, facts, MATRIX)} for release, row in rows.items()}
    assert opened["==13.6.0"] == {"libcublas.so.13"}
    assert all(not names for release, names in opened.items() if release.startswith("==14"))
