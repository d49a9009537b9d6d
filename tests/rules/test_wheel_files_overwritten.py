"""wheel-files-overwritten."""

from __future__ import annotations

import pytest

from compat.need import ChangePackages, as_json
from doctor.model.facts.environment import Overlap
from doctor.model.facts.seen import Fact
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import VENV, cudnn_copy, distribution, driver, environment, framework, gpu, machine, seen, unseen
from tests.rules.case import answer

CODE = "wheel-files-overwritten"
PYTHON = f"{VENV}/bin/python"
CU12, CU13 = "nvidia-cudnn-cu12 9.10.2.21", "nvidia-cudnn-cu13 9.12.0.46"
BOTH = seen((distribution("torch", "2.9.1"), *(distribution(*one.split(" ")) for one in (CU12, CU13))))


def shared(
    winner: Fact[str], path: str = "nvidia/cudnn/lib/libcudnn.so.9", owners: tuple[str, ...] = (CU12, CU13)
) -> Overlap:
    """A file with several owners."""
    return Overlap(path, owners, winner)


@pytest.mark.parametrize(
    ("overlaps", "kind", "severity"),
    [
        ((), Status.OK, Severity.ERROR),
        ((shared(seen(CU13)),), Status.BAD, Severity.ERROR),
        ((shared(unseen("too large to hash")),), Status.BAD, Severity.ERROR),
        ((shared(seen(CU12)),), Status.BAD, Severity.WARNING),  # torch has what it asks for, until something is removed
        (
            (shared(seen("opencv-python 4.10"), "cv2/cv2.so", ("opencv-python 4.10", "opencv-python-headless 4.9")),),
            Status.BAD,
            Severity.WARNING,
        ),
    ],
)
def test_overlaps(overlaps: tuple[Overlap, ...], kind: Status, severity: Severity) -> None:
    found = answer(CODE, machine(environments=seen((environment(distributions=BOTH, overlaps=seen(overlaps)),))))
    assert (found.kind, found.severity) == (kind, severity)


def test_unseen_records_are_unknown() -> None:
    here = environment(overlaps=unseen("RECORD is damaged"))
    assert answer(CODE, machine(environments=seen((here,)))).kind is Status.UNKNOWN


def test_what_nobody_asks_for_goes_and_the_rest_comes_anew() -> None:
    here = environment(distributions=BOTH, overlaps=seen((shared(seen(CU13)),)))
    assert answer(CODE, machine(environments=seen((here,)))).needs == (
        ChangePackages(("nvidia-cudnn-cu12==9.10.2.21",), PYTHON, ("nvidia-cudnn-cu13",)),
    )


def test_each_wheel_that_stays_is_a_requirement_of_its_own() -> None:
    nccl = ("nvidia-nccl-cu12 2.27.5", "nvidia-nccl-cu13 2.27.7")
    there = (*BOTH.get(), *(distribution(*one.split(" ")) for one in nccl))
    overlaps = (shared(seen(CU13)), shared(seen(nccl[1]), "nvidia/nccl/lib/libnccl.so.2", nccl))
    here = environment(distributions=seen(there), overlaps=seen(overlaps))
    assert answer(CODE, machine(environments=seen((here,)))).needs == (
        ChangePackages(
            ("nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.27.5"),
            PYTHON,
            ("nvidia-cudnn-cu13", "nvidia-nccl-cu13"),
        ),
    )


def test_what_is_left_of_another_cuda_goes_too() -> None:
    """Else the wheels that stay overwrite what was mended, the next time that one of them is updated."""
    nccl = ("nvidia-nccl-cu12 2.27.5", "nvidia-nccl-cu13 2.27.7")
    names = [tuple(one.split()) for one in nccl]
    more = seen((*BOTH.value, *(distribution(name, version) for name, version in names)))
    overlaps = seen((shared(seen(CU13)), Overlap("nvidia/nccl/lib/libnccl.so.2", nccl, seen(nccl[1]))))
    (need,) = answer(CODE, machine(environments=seen((environment(distributions=more, overlaps=overlaps),)))).needs
    assert as_json(need).build == "nvidia-cudnn-cu13 nvidia-nccl-cu13"
    assert as_json(need).spec == "nvidia-cudnn-cu12==9.10.2.21 nvidia-nccl-cu12==2.27.5"


def test_without_a_framework_the_files_that_are_there_stay() -> None:
    here = environment()._replace(frameworks=seen(()), distributions=BOTH, overlaps=seen((shared(seen(CU13)),)))
    found = answer(CODE, machine(environments=seen((here,))))
    assert found.severity is Severity.ERROR
    assert found.needs == (ChangePackages(("nvidia-cudnn-cu13==9.12.0.46",), PYTHON, ("nvidia-cudnn-cu12",)),)


def test_two_frameworks_that_ask_for_both_need_two_environments() -> None:
    jax = framework("jax-cuda13-plugin", "0.9.0", requires=seen(("nvidia-cudnn-cu13>=9.12; extra == 'with-cuda'",)))
    here = environment(framework(), jax, overlaps=seen((shared(seen(CU13)),)))
    (need,) = answer(CODE, machine(environments=seen((here,)))).needs
    assert as_json(need).product == "by-hand"


def test_it_explains_what_the_directory_looks_like_to_other_rules() -> None:
    here = environment(distributions=BOTH, overlaps=seen((shared(seen(CU13)),)))
    copy = cudnn_copy()
    explains = answer(CODE, machine(environments=seen((here,)), cudnn=seen((copy,)))).explains
    assert Symptom("cudnn-sublibrary-mixed", copy.label) in explains
    assert Symptom("cudnn-install-incomplete", copy.label) in explains
    assert Symptom("pip-nvidia-wheels-conflict", here.label) in explains  # cu13 is left over: the same fault


def test_leftovers_elsewhere_are_a_fault_of_their_own() -> None:
    more = seen((*BOTH.value, distribution("nvidia-cublas-cu11", "11.11.3.6")))
    here = environment(distributions=more, overlaps=seen((shared(seen(CU13)),)))
    explains = answer(CODE, machine(environments=seen((here,)))).explains
    assert not any(one.code == "pip-nvidia-wheels-conflict" for one in explains)


@pytest.mark.parametrize(
    ("gpus", "first", "kept"),
    [(1, "tensorflow-cpu 2.18.1", "tensorflow"), (0, "tensorflow-cpu 2.18.1", "tensorflow-cpu")],
)
def test_the_build_for_the_gpu_stays_where_one_is_here(gpus: int, first: str, kept: str) -> None:
    both = ("tensorflow 2.18.1", "tensorflow-cpu 2.18.1")
    frameworks = tuple(framework(one.split(" ")[0], "2.18.1", build=seen("cpu"), requires=seen(())) for one in both)
    there = environment(
        *frameworks,
        overlaps=seen((shared(seen(first), "tensorflow/libtensorflow_framework.so.2", both),)),
        distributions=seen(tuple(distribution(*one.split(" ")) for one in both)),
    )
    found = answer(CODE, machine(environments=seen((there,)), gpus=seen((gpu(),) * gpus)))
    gone = next(one.split(" ")[0] for one in both if not one.startswith(f"{kept} "))
    assert found.needs == (ChangePackages((f"{kept}==2.18.1",), PYTHON, (gone,)),)
    assert found.severity is (Severity.ERROR if gpus else Severity.WARNING)
    assert Symptom("cpu-only-wheel", "tensorflow 2.18.1") in found.explains


def test_of_two_plugins_of_jax_the_newest_that_the_driver_runs_stays() -> None:
    """`pip install jax[cuda12]` beside jax[cuda13]: JAX takes one of them, and cuDNN is the other's."""
    plugins = tuple(
        framework(f"jax-cuda{major}-plugin", "0.10.1", build=seen("cuda"), cuda=unseen("runs on a range"),
                  requires=seen((f"nvidia-cudnn-cu{major}>=9.8; extra == 'with-cuda'",)))
        for major in (12, 13)
    )  # fmt: skip
    names = ("jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "jax-cuda13-pjrt")
    there = (
        *(distribution(name, "0.10.1") for name in names),
        *(distribution(*one.split(" ")) for one in (CU12, CU13)),
    )
    built = environment(*plugins, overlaps=seen((shared(seen(CU12)),)), distributions=seen(there))
    runs = {major: driver(cuda=f"{major}.0") for major in (12, 13)}
    (need,) = answer(CODE, machine(environments=seen((built,)), driver=runs[13])).needs
    assert need == ChangePackages(
        ("nvidia-cudnn-cu13==9.12.0.46",), PYTHON, ("jax-cuda12-pjrt", "jax-cuda12-plugin", "nvidia-cudnn-cu12")
    )
    (need,) = answer(CODE, machine(environments=seen((built,)), driver=runs[12])).needs
    assert as_json(need).spec == "nvidia-cudnn-cu12==9.10.2.21"
    beside = environment(*plugins, framework("torch", "2.14.0", requires=seen(("nvidia-cudnn-cu12==9.10.2.21",))),
                         overlaps=seen((shared(seen(CU12)),)), distributions=seen(there))  # fmt: skip
    (need,) = answer(CODE, machine(environments=seen((beside,)), driver=runs[13])).needs
    assert as_json(need).product == "by-hand"
