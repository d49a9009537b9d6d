"""What a trial came to, judged: the code, its evidence, its remedy; and that nothing ends as a false pass."""

from __future__ import annotations

import pytest

from compat.need import as_json
from doctor.commands.verify.cudnn_trial.outcome import Ending, Outcome
from doctor.commands.verify.findings import answers_of, merged, rooted
from doctor.commands.verify.missing import lacks_of
from doctor.commands.verify.subject import Subject, TrialSubject
from doctor.commands.verify.verification import Tried
from doctor.model.facts import Facts
from doctor.model.facts.seen import Unseen
from doctor.model.finding import Answer, Severity, Status
from doctor.rules.shared.engine import root_causes
from tests.commands.verify.outcomes import FACTS, failing, fault, killed, outcome, row
from tests.machine import cudnn_copy, driver, machine, seen
from tests.rules.case import MATRIX

COPY = cudnn_copy()
PATIENT = TrialSubject(COPY.label, COPY, "--cudnn names it")
UNSEEN = machine(gpus=Unseen("no NVML"), pci=Unseen("no sysfs"))
NO_GPU = machine(gpus=seen(()), pci=seen(()))


def judged(one: Outcome, facts: Facts | None = None) -> tuple[Answer, ...]:
    return answers_of(one, PATIENT, facts or machine(), MATRIX)


def cudnn(name: str, status: int, text: str = "", stage: str = "handle") -> Outcome:
    return failing(stage, fault("cudnn", f"CUDNN_STATUS_{name}", text, status, "cudnnCreate"))


def loader(text: str) -> Outcome:
    return failing("load", fault("loader", "OSError", text))


def cuda(name: str, stage: str = "device") -> Outcome:
    return failing(stage, fault("cuda", name, "its own words", 1))


ABSENT = "cannot open shared object file: No such file or directory"
V8 = f"Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: {ABSENT}"
V8_NVRTC = f"Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: {ABSENT}"
V9 = "Unable to load any of {libcudnn_ops.so.9.10.2, libcudnn_ops.so.9}\nInvalid handle. Cannot load symbol cudnnCreate"


@pytest.mark.parametrize(
    ("one", "code"),
    [
        # 8 and 9 end the process where a part is missing; 9 mostly answers instead
        (killed("parts", 6, V8), "cudnn-sublibrary-missing"),
        (killed("parts", 6, V8_NVRTC), "nvrtc-missing"),
        (killed("version", 6, V9), "cudnn-sublibrary-missing"),
        (killed("version", 6, "Invalid handle. Cannot load symbol cudnnGetVersion"), "cudnn-sublibrary-missing"),
        (cudnn("NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE", 3009), "cudnn-sublibrary-missing"),
        (cudnn("SUBLIBRARY_LOADING_FAILED", 1008), "cudnn-sublibrary-missing"),
        (cudnn("SUBLIBRARY_VERSION_MISMATCH", 1002), "cudnn-sublibrary-mixed"),
        (cudnn("VERSION_MISMATCH", 14), "cudnn-sublibrary-mixed"),
        # the loader's words
        (loader("/c/libcudnn_ops.so.9: file too short"), "cudnn-install-incomplete"),
        (loader("/c/libcudnn.so.9: invalid ELF header"), "cudnn-install-incomplete"),
        (loader("/c/libcudnn.so.9: cannot read file data: Input/output error"), "cudnn-install-incomplete"),
        (loader("/c/libcudnn.so.9: ELF load command past end of file"), "cudnn-install-incomplete"),
        (loader("/c/libcudnn.so.9: cannot open shared object file: Permission denied"), "cudnn-install-incomplete"),
        (loader(f"libcublas.so.11: {ABSENT}"), "cudart-soname-missing"),
        (loader(f"libnvrtc.so.12: {ABSENT}"), "nvrtc-missing"),
        (loader(f"libcudnn_graph.so.9: {ABSENT}"), "cudnn-sublibrary-missing"),
        (loader(f"libcuda.so.1: {ABSENT}"), "driver-libraries-missing"),
        (loader("/lib/libc.so.6: version `GLIBC_2.34' not found (required by /c/libcudnn.so.9)"), "glibc-too-old"),
        (loader("/c/a.so: version `libcudnn_graph.so.9' not found (required by b)"), "cudnn-sublibrary-mixed"),
        (loader("/c/a.so: undefined symbol: x, version libcudnn_graph.so.9"), "cudnn-sublibrary-mixed"),
        (loader("/c/a.so: undefined symbol: y, version libcublasLt.so.12"), "cublas-mismatch"),
        (loader("/c/libcudnn.so.9: wrong ELF class: ELFCLASS32"), "cudnn-load-failed"),
        (loader(f"/c/libcudnn.so.9: {ABSENT}"), "cudnn-load-failed"),
        (loader("Could not find module 'zlibwapi.dll' (or one of its dependencies)."), "zlibwapi-missing"),
        (loader("words that nobody knows"), "cudnn-load-failed"),
        # signals
        (killed("load", 7, doing="libcudnn_ops.so.9"), "cudnn-install-incomplete"),
        (killed("convolution", 11, doing="forward IMPLICIT_GEMM fp32 2D 3x3"), "cudnn-crash"),
        (killed("convolution", 4), "cudnn-crash"),
        (killed("device", 11), "driver-library-crash"),
        (outcome("handle", status="cut-off", ending=Ending("timed-out", 9, "handle", "cudnnCreate", "")), "cudnn-hang"),
        (outcome("device", status="cut-off", ending=Ending("timed-out", 9, "device", "", "")), "driver-hang"),
        # the GPU
        (cudnn("ARCH_MISMATCH", 6), "cudnn-arch-mismatch"),
        (cudnn("NOT_SUPPORTED_ARCH_MISMATCH", 3007), "cudnn-arch-mismatch"),
        (cudnn("NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER", 3005), "driver-too-old-for-runtime"),
        (cudnn("NOT_INITIALIZED", 1001, "cudaGetDeviceCount(&count) != cudaSuccess"), "cudnn-call-failed"),
        (cuda("cudaErrorInsufficientDriver"), "driver-too-old-for-runtime"),
        (cuda("cudaErrorSystemDriverMismatch"), "driver-library-mismatch"),
        (cuda("cudaErrorSystemNotReady"), "fabric-manager-not-running"),
        (cuda("cudaErrorCompatNotSupportedOnDevice"), "forward-compat-mistake"),
        (cuda("cudaErrorNoKernelImageForDevice"), "gpu-arch-not-in-build"),
        (cuda("cudaErrorNoKernelImageForDevice", "convolution"), "cudnn-arch-mismatch"),
        (cuda("cudaErrorIllegalAddress", "convolution"), "cudnn-crash"),
        (cuda("cudaErrorECCUncorrectable"), "ecc-xid-hardware-fault"),
        (cuda("cudaErrorOperatingSystem"), "cuda-call-failed"),
        (failing("device", fault("cuda", "", "", 304, "cuInit")), "cuda-call-failed"),
        (failing("device", fault("cuda", "", "", 999, "cuInit")), "uvm-broken-after-suspend"),
        (cuda("CUDA_ERROR_UNKNOWN"), "uvm-broken-after-suspend"),
        (cuda("cudaErrorMpsConnectionFailed"), "mps-server-unreachable"),
        (failing("device", fault("cuda", "", "", 807, "cudaMalloc")), "mps-server-unreachable"),
        (cuda("cudaErrorNoDevice"), "cuda-call-failed"),
        (cuda("CUDA_ERROR_NVLINK_UNCORRECTABLE"), "ecc-xid-hardware-fault"),
        (failing("device", fault("cuda", "", "", 303, "cuInit")), "driver-libraries-missing"),
        (outcome("device", status="missing", lacks="driver", facts={"why": "no libcuda"}), "driver-libraries-missing"),
        (outcome("device", status="missing", lacks="gpu", facts={"gpus": 0}), "cuda-call-failed"),
        (cuda("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), "driver-library-mismatch"),
        (failing("device", fault("cuda", "", "", 803, "cuInit")), "driver-library-mismatch"),
        (cuda("CUDA_ERROR_STUB_LIBRARY"), "stub-libcuda-on-path"),
        # memory
        (cudnn("ALLOC_FAILED", 2), "out-of-memory-not-a-stack-fault"),
        (cudnn("INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", 4004), "out-of-memory-not-a-stack-fault"),
        (cuda("cudaErrorMemoryAllocation"), "out-of-memory-not-a-stack-fault"),
        # what is computed
        (failing("convolution", fault("wrong"), rows=(row("wrong", difference=0.5),)), "cudnn-wrong-result"),
        (failing("device", fault("wrong", text="a copy came back changed")), "cudnn-wrong-result"),
        (
            failing(
                "matrix", fault("cudnn"), "full", rows=(row("failed", detail="x: CUDNN_STATUS_EXECUTION_FAILED (8)"),)
            ),
            "cudnn-call-failed",
        ),
        (failing("mapped", fault("other-copy", text="/other/libcudnn_ops.so.9")), "ld-library-path-shadowing"),
    ],
)
def test_each_failure_has_its_code_evidence_and_need(one: Outcome, code: str) -> None:
    (answer,) = judged(one)
    assert (answer.code, answer.kind) == (code, Status.BAD)
    assert answer.evidence
    assert answer.needs
    assert answer.subject.startswith(COPY.label)
    assert answer.severity is (Severity.WARNING if code == "out-of-memory-not-a-stack-fault" else Severity.ERROR)


@pytest.mark.parametrize("level", ["load", "conv", "full"])
def test_a_trial_that_passed_says_nothing(level: str) -> None:
    assert judged(outcome(level=level)) == ()


@pytest.mark.parametrize(
    "one",
    [
        outcome("load", ending=Ending("not-started", 0, "", "", "no memory")),
        outcome("handle", status="cut-off", ending=Ending("signal", 9, "handle", "", "")),
        outcome("handle", ending=Ending("exited", 3, "", "", "Traceback: ...")),
        outcome("version"),
        outcome(ending=Ending("exited", 3, "", "", "")),
        failing("handle", fault("python", "KeyError", "'x'")),
        outcome("load", status="failed"),
    ],
)
def test_what_is_not_the_stacks_is_open_and_never_a_pass(one: Outcome) -> None:
    answers = judged(one)
    assert [answer.kind for answer in answers] == [Status.UNKNOWN]
    assert Tried(Subject(COPY, one.library, (), ""), one, answers, "").result == "incomplete"


def test_a_number_format_that_nothing_computed_is_open() -> None:
    one = outcome(level="full", rows=(row(), row("declined", dtype="bf16")))
    facts = {"dtypes_without_result": {"bf16": "NOT_SUPPORTED"}}
    stages = [stage._replace(facts=facts) if stage.name == "matrix" else stage for stage in one.stages]
    (answer,) = judged(one._replace(stages=tuple(stages)))
    assert answer.kind is Status.UNKNOWN
    assert "bf16" in answer.why


def test_parts_that_do_not_answer_success() -> None:
    one = failing("parts", fault("cudnn", "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "", 1002), "load")
    facts = {"parts": {"graph": "", "ops": "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"}}
    with_parts = one._replace(stages=(*one.stages[:-1], one.stages[-1]._replace(facts=facts)))
    assert [answer.code for answer in judged(with_parts)] == ["cudnn-sublibrary-mixed"]


@pytest.mark.parametrize(("facts", "codes"), [(machine(), ["driver-libraries-missing"]), (NO_GPU, [])])
def test_engines_that_ask_for_libcuda_are_no_fault_without_a_gpu(facts: Facts, codes: list[str]) -> None:
    loaded = {**FACTS["load"], "preload_errors": {"engines_runtime_compiled": f"libcuda.so.1: {ABSENT}"}}
    one = outcome(level="load")
    one = one._replace(stages=(one.stages[0]._replace(facts=loaded), *one.stages[1:]))
    assert [answer.code for answer in judged(one, facts)] == codes


def test_out_of_memory_asks_for_no_installation() -> None:
    (answer,) = judged(cuda("cudaErrorMemoryAllocation"))
    assert [as_json(need).product for need in answer.needs] == ["by-hand"]
    assert "Nothing is to be installed" in as_json(answer.needs[0]).spec


@pytest.mark.parametrize(
    ("one", "facts", "needs"),
    [
        (cudnn("SUBLIBRARY_LOADING_FAILED", 1008), machine(), ["nvidia-cudnn-cu12==9.10.2.21 again"]),
        (cuda("cudaErrorInsufficientDriver"), machine(driver=driver("470.82", "11.4")), ["driver>=525.60.13 "]),
        (cuda("cudaErrorSystemDriverMismatch"), machine(), ["restart "]),
        (cuda("cudaErrorSystemNotReady"), machine(), ["servicerunning nvidia-fabricmanager"]),
        (loader(f"libcublas.so.12: {ABSENT}"), machine(), ["wheelsnvidia-cublas-cu12 ", "cuda==12.* "]),
    ],
)
def test_needs(one: Outcome, facts: Facts, needs: list[str]) -> None:
    (answer,) = judged(one, facts)
    assert [f"{as_json(need).product}{as_json(need).spec} {as_json(need).build}" for need in answer.needs] == needs


def test_what_the_files_show_explains_what_the_trial_shows() -> None:
    missing = rooted(judged(loader("/c/libcudnn_ops.so.9: file too short"))[0], COPY.label)
    crash = judged(killed("convolution", 11))[0]
    found = merged((missing, crash, missing))
    assert [one.code for one in found] == ["cudnn-crash", "cudnn-install-incomplete"]
    assert {code: root.code for (code, _), root in root_causes(found).items()} == {
        "cudnn-crash": "cudnn-install-incomplete"
    }


def test_a_gpu_in_use_is_said_and_is_no_fault() -> None:
    one = cuda("cudaErrorDevicesUnavailable")
    (answer,) = judged(one)
    assert (answer.kind, answer.code) == (Status.UNKNOWN, "gpu-compute-mode")
    assert "in use by another process" in answer.why
    assert Tried(Subject(COPY, one.library, (), ""), one, (answer,), "").result == "incomplete"


def test_a_number_above_the_last_gpu_is_no_fault_of_the_driver() -> None:
    assert judged(outcome("device", status="missing", lacks="gpu", facts={"gpus": 1})) == ()


CUPY = "CuPy beside gpudoctor (install 'gpudoctor[cuda13]')"


@pytest.mark.parametrize(
    ("lacks", "also", "facts", "line"),
    [
        ("cupy", [], machine(), f"level conv needs {CUPY}"),
        ("driver", [], UNSEEN, "level conv needs the NVIDIA driver, whose libcuda is not found"),
        ("gpu", [], UNSEEN, "level conv needs a GPU: CUDA sees none numbered 0"),
        (
            "driver",
            ["numpy", "cupy"],
            NO_GPU,
            f"level conv needs an NVIDIA GPU (this machine has none) and {CUPY}",
        ),
    ],
)
def test_what_is_missing_is_one_line(lacks: str, also: list[str], facts: Facts, line: str) -> None:
    told = {"extra": "cuda13", "also_lacks": also}
    one = outcome("device", status="missing", lacks=lacks, facts=told)
    assert lacks_of(one, facts) == line
    tried = Tried(Subject(COPY, one.library, (), ""), one, judged(one, facts), line)
    assert tried.answers == ()
    assert tried.result == "incomplete"
