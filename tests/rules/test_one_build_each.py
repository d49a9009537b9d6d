"""two-onnxruntimes and multiple-cupy: one build of a package in an environment."""

from __future__ import annotations

import pytest

from compat.need import ChangePackages, as_json
from doctor.model.facts.environment import Overlap
from doctor.model.finding import Status, Symptom
from tests.machine import VENV, distribution, driver, environment, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

PYTHON = f"{VENV}/bin/python"
ORT, CUPY = "two-onnxruntimes", "multiple-cupy"
VERSION = "13.6.0"
NO_TOOLKIT = toolkits()._replace(toolkits=seen(()))


@pytest.mark.parametrize(
    ("code", "names", "kind"),
    [
        ("two-onnxruntimes", ("onnxruntime-gpu",), Status.OK),
        ("two-onnxruntimes", ("onnxruntime",), Status.OK),
        ("two-onnxruntimes", ("torch",), Status.NOT_APPLICABLE),
        ("two-onnxruntimes", ("onnxruntime", "onnxruntime-gpu"), Status.BAD),
        ("two-onnxruntimes", ("onnxruntime", "onnxruntime-extensions"), Status.OK),
        ("multiple-cupy", ("cupy-cuda12x",), Status.OK),
        ("multiple-cupy", ("cupy",), Status.OK),
        ("multiple-cupy", ("torch",), Status.NOT_APPLICABLE),
        ("multiple-cupy", ("cupy-cuda12x", "cupy-cuda11x"), Status.BAD),
        ("multiple-cupy", ("cupy", "cupy-cuda102"), Status.BAD),
        ("multiple-cupy", ("cupy-cuda12x", "cupyx-extra"), Status.OK),
    ],
)
def test_how_many(code: str, names: tuple[str, ...], kind: Status) -> None:
    here = environment(distributions=seen(tuple(distribution(name, VERSION) for name in names)))
    assert answer(code, machine(environments=seen((here,)))).kind is kind


@pytest.mark.parametrize("code", ["two-onnxruntimes", "multiple-cupy"])
def test_unseen_distributions_are_unknown(code: str) -> None:
    here = environment(distributions=unseen("not readable"))
    assert answer(code, machine(environments=seen((here,)))).kind is Status.UNKNOWN


@pytest.mark.parametrize("code", ["two-onnxruntimes", "multiple-cupy"])
def test_a_hidden_copy_does_not_count(code: str) -> None:
    hidden = tuple(distribution(name, VERSION, hidden_by="/elsewhere") for name in ("onnxruntime", "cupy-cuda11x"))
    shown = tuple(distribution(name, VERSION) for name in ("onnxruntime-gpu", "cupy-cuda12x"))
    here = environment(distributions=seen((*shown, *hidden)))
    assert answer(code, machine(environments=seen((here,)))).kind is Status.OK


def test_the_gpu_build_of_onnxruntime_stays_and_explains() -> None:
    both = (distribution("onnxruntime", "1.22.1"), distribution("onnxruntime-gpu", "1.22.0"))
    found = answer(ORT, machine(environments=seen((environment(distributions=seen(both)),))))
    assert found.needs == (ChangePackages(("onnxruntime-gpu==1.22.0",), PYTHON, ("onnxruntime",)),)
    assert Symptom("cpu-only-wheel", "onnxruntime 1.22.1") in found.explains


@pytest.mark.parametrize(("owner", "explained"), [("onnxruntime-gpu 1.22.0", True), ("nvidia-nccl-cu12 2.27.5", False)])
def test_overwritten_files_of_others_are_not_explained(owner: str, explained: bool) -> None:
    both = (distribution("onnxruntime", "1.22.0"), distribution("onnxruntime-gpu", "1.22.0"))
    shared = Overlap("a/b.so", ("onnxruntime 1.22.0", owner), unseen())
    here = environment(distributions=seen(both), overlaps=seen((shared,)))
    found = answer(ORT, machine(environments=seen((here,))))
    assert (Symptom("wheel-files-overwritten", here.label) in found.explains) is explained


@pytest.mark.parametrize(
    ("cuda", "names", "kept"),
    [
        ("12.8", ("cupy-cuda11x", "cupy-cuda12x"), "cupy-cuda12x"),
        ("12.8", ("cupy-cuda12x", "cupy-cuda13x"), "cupy-cuda12x"),
        ("13.0", ("cupy-cuda12x", "cupy-cuda13x"), "cupy-cuda13x"),
        ("12.8", ("cupy-cuda102", "cupy-cuda11x"), "cupy-cuda11x"),
        ("12.8", ("cupy", "cupy-cuda12x"), "cupy-cuda12x"),
    ],
)
def test_the_cupy_that_the_driver_runs_stays(cuda: str, names: tuple[str, ...], kept: str) -> None:
    here = environment(distributions=seen(tuple(distribution(name, VERSION) for name in names)))
    found = answer(CUPY, machine(driver=driver(cuda=cuda), environments=seen((here,)), toolkit=NO_TOOLKIT))
    (need,) = found.needs
    assert as_json(need).spec == f"{kept}=={VERSION}"
    assert as_json(need).build == " ".join(name for name in names if name != kept)


@pytest.mark.parametrize(
    ("release", "kept", "goes"), [("12.8.1", "12", "13"), ("13.0.0", "13", "12"), ("", "13", "12")]
)
def test_the_cupy_whose_cuda_is_here_stays_and_explains_the_other(release: str, kept: str, goes: str) -> None:
    both = tuple(distribution(f"cupy-cuda{major}x", VERSION) for major in ("12", "13"))
    there = toolkits(toolkit(release)) if release else NO_TOOLKIT
    facts = machine(environments=seen((environment(distributions=seen(both)),)), toolkit=there)
    found = answer(CUPY, facts._replace(driver=driver("580.95.05", "13.0")))
    assert found.needs == (ChangePackages((f"cupy-cuda{kept}x=={VERSION}",), PYTHON, (f"cupy-cuda{goes}x",)),)
    assert Symptom("cudart-soname-missing", f"cupy-cuda{goes}x {VERSION}") in found.explains
