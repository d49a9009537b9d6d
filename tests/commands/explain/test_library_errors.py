"""Every error that a header of NVIDIA's libraries names is recognised, by its name and by its number."""

from __future__ import annotations

import pytest

from compat.artefact import StatusRow
from doctor.messages.causes import NOT_THE_STACK
from doctor.messages.decide.library_errors import _known as known
from doctor.messages.signature import families
from tests.commands.explain.test_messages import MATRIX, causes

ROWS: tuple[StatusRow, ...] = MATRIX.rows("status", "codes")
SIGNATURE = families()["library_errors"].signatures[0]
NAMED = [row for row in ROWS if row.library != "tensorrt" and not row.name.endswith("SUCCESS")]
NO_FAULTS = {"ncclInProgress", "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "cudaErrorCudartUnloading"}
NO_FAULTS |= {"CUDA_ERROR_DEINITIALIZED", "NVML_ERROR_ALREADY_INITIALIZED", "NVML_ERROR_NOT_READY"}
BY_NAME = (
    "RuntimeError: CUDA error: {} when calling `f(handle)`",
    "f() returned {}",
    "Check failed: status == 0 (1 vs. 0) {}",
    "what(): [app.cpp:12] {}: text",
    "error={}, line 7",
)
BY_NUMBER = ("{} error: {}", "{} error {}", "{} failure {}", "{} call failed with error code {}", "{} status = {}")
NUMBERED = {
    "cublas": "cuBLAS",
    "cufft": "CUFFT",
    "cusolver": "cuSolver",
    "cusparse": "cuSPARSE",
    "curand": "cuRAND",
    "cudnn": "cuDNN",
    "nvrtc": "NVRTC",
    "nvml": "NVML",
    "nccl": "NCCL",
    "optix": "OptiX",
    "nvjitlink": "nvJitLink",
}


@pytest.mark.parametrize("form", BY_NAME)
def test_each_name_is_recognised(form: str) -> None:
    for row in NAMED:
        found = SIGNATURE.compiled.search(form.format(row.name))
        assert found, row.name
        assert row in known(found, MATRIX), row.name


@pytest.mark.parametrize("form", BY_NUMBER)
def test_each_number_is_recognised(form: str) -> None:
    for row in (row for row in ROWS if row.library in NUMBERED):
        found = SIGNATURE.compiled.search(form.format(NUMBERED[row.library], row.code))
        assert found, row.id
        assert row in known(found, MATRIX), row.id


def test_each_number_of_tensorrt_is_recognised() -> None:
    for row in (row for row in ROWS if row.library == "tensorrt"):
        found = SIGNATURE.compiled.search(f"[TRT] [runtime.cpp::parsePlan::314] Error Code {row.code}: Some Error")
        assert found
        assert known(found, MATRIX) == [row]


def test_each_name_has_an_answer() -> None:
    """A status that is no fault has none."""
    silent = {row.name for row in NAMED if not causes(f"f() failed: {row.name}")}
    assert silent <= NO_FAULTS
    assert {"ncclInProgress", "NVML_ERROR_ALREADY_INITIALIZED"} <= silent


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("optixInit failed: OPTIX_ERROR_UNSUPPORTED_ABI_VERSION", "driver-too-old-for-runtime"),
        ("OptiX error 7804", "driver-libraries-missing"),
        ("nvmlInit: NVML_ERROR_LIB_RM_VERSION_MISMATCH", "driver-library-mismatch"),
        ("NVML error: 15", "ecc-xid-hardware-fault"),
        ("nvrtcCompileProgram: NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "nvrtc-missing"),
        ("cuRAND error 100", "library-for-other-cuda"),
        ("cuSPARSE status 4", "gpu-arch-not-in-build"),
        ("CUFFT_ALLOC_FAILED", "out-of-memory-not-a-stack-fault"),
        ("cuBLAS error 13", "not-a-stack-problem"),
        ("ncclRemoteError", "not-a-stack-problem"),
        ("ncclSystemError", "not-a-stack-problem"),
        ("ncclInternalError", "nccl-failed"),
        ("CUDA_ERROR_INVALID_VALUE", "not-a-stack-problem"),
        ("CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "driver-libraries-missing"),
    ],
)
def test_a_status_has_its_cause(text: str, code: str) -> None:
    first = causes(text)[0]
    assert first.code == code
    assert first.confidence < 0.8 or first.code not in NOT_THE_STACK


def test_what_a_program_says_is_surer_than_the_status() -> None:
    said = "PyTorch was compiled against (9, 1, 0) but found runtime version (8, 9, 7)"
    text = f"RuntimeError: cuDNN version incompatibility: {said}\nCUDNN_STATUS_BAD_PARAM_NULL_POINTER"
    assert causes(text)[0].code == "ld-library-path-shadowing"
