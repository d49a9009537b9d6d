"""companion-version-mismatch."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import ChangePackages, DropFromPath, InstallPackage, as_json
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework, Unmet, Variable
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import SITE, VENV, configuration, distribution, environment, framework, machine, seen, unseen
from tests.rules.case import answer, answers

CODE = "companion-version-mismatch"
PYTHON = f"{VENV}/bin/python"


def vision(version: str = "0.24.1+cu128", asks: str = "torch==2.9.1", **changes: Any) -> Framework:
    """torchvision as its wheel says."""
    unknown = unseen("none of its own")
    known = {"build": seen(""), "cuda": unknown, "cudnn": unknown, "targets": unknown, "requires": seen((asks,))}
    return framework("torchvision", version, **{**known, **changes})


def beside(*others: Framework, torch: Framework | None = None) -> Facts:
    """The healthy machine with these beside torch."""
    return machine(environments=seen((environment(torch or framework(), *others),)))


@pytest.mark.parametrize(
    ("asks", "torch", "kind"),
    [
        ("torch==2.9.1", "2.9.1+cu128", Status.OK),
        ("torch==2.9.1", "2.9.1", Status.OK),
        ("torch==2.9.1", "2.8.0+cu128", Status.BAD),
        ("torch==2.8.0", "2.9.1+cu128", Status.BAD),
        ("torch>=2.4", "2.10.0.dev20251101+cu128", Status.OK),
        ("torch==2.10.0", "2.10.0a0+git1234", Status.OK),  # built from source
        ("torch", "2.9.1+cu128", Status.OK),
        ("torch==2.9.1;extra=='all'", "2.8.0+cu128", Status.OK),
    ],
)
def test_releases(asks: str, torch: str, kind: Status) -> None:
    found = answer(CODE, beside(vision(asks=asks), torch=framework(version=torch)))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is Severity.ERROR
        assert found.needs == (InstallPackage("torchvision", interpreter=PYTHON, build="cu128"),)
        assert any(asks == one.detail for one in found.evidence)


@pytest.mark.parametrize(
    ("version", "build", "severity"),
    [
        ("0.24.1+cu128", "cu128", None),
        ("0.24.1+cu126", "cu128", None),  # the same major
        ("0.24.1", "cu128", None),
        ("0.24.1a0+1a2b3c", "cu128", None),
        ("0.24.1+cpu", "cpu", None),
        ("0.24.1+cpu", "cu128", Severity.WARNING),
        ("0.24.1+cu130", "cu128", Severity.ERROR),
        ("0.24.1+cu128", "cpu", Severity.ERROR),
        ("0.24.1+cu128", "rocm6.4", Severity.ERROR),
    ],
)
def test_builds(version: str, build: str, severity: Severity | None) -> None:
    torch = framework(version=f"2.9.1+{build}", build=seen(build))
    found = answer(CODE, beside(vision(version), torch=torch))
    assert (found.kind is Status.BAD) is (severity is not None)
    assert severity is None or (found.severity, as_json(found.needs[0]).build) == (severity, build)


@pytest.mark.parametrize(
    ("version", "build", "kind"),
    [
        ("2.9.1+cu128", "cu128", Status.OK),
        ("2.9.1+cu126", "cu128", Status.BAD),
        ("2.9.1", "cu128", Status.OK),
        ("2.9.1+cpu", "cpu", Status.OK),
    ],
)
def test_torchaudio_compares_the_minor(version: str, build: str, kind: Status) -> None:
    follower = vision(version)._replace(package="torchaudio")
    found = answer(CODE, beside(follower, torch=framework(version=f"2.9.1+{build}", build=seen(build))))
    assert found.kind is kind


@pytest.mark.parametrize(
    ("asks", "installed", "kind"),
    [
        ("triton==3.5.1", (), Status.BAD),
        ("triton==3.5.1", ("triton",), Status.OK),
        ("triton==3.5.1", ("triton-windows",), Status.NOT_APPLICABLE),  # the same package under another name
        ("triton==3.5.1;extra=='all'", (), Status.NOT_APPLICABLE),
        ("triton==3.5.1;platform_system=='Windows'", (), Status.NOT_APPLICABLE),
        ("numpy==2.0", (), Status.NOT_APPLICABLE),
    ],
)
def test_what_torch_asks_for_is_not_there(asks: str, installed: tuple[str, ...], kind: Status) -> None:
    torch = framework(requires=seen((asks,)))
    there = (distribution("torch", "2.9.1+cu128"), *(distribution(name, "3.5.1") for name in installed))
    found = answer(CODE, machine(environments=seen((environment(torch, distributions=seen(there)),))))
    assert found.kind is kind
    if kind is Status.BAD:
        assert (found.severity, found.needs) == (Severity.WARNING, (InstallPackage("triton", "==3.5.1", PYTHON),))


@pytest.mark.parametrize(("core", "kind"), [("0.3.2", Status.OK), ("0.7.1", Status.OK), ("1.2.2", Status.BAD)])
def test_cudas_python_packages_are_compared_with_what_is_asked(core: str, kind: Status) -> None:
    numba = framework("numba-cuda", "0.22.2", requires=seen(("cuda-core<1.0.0,>=0.3.2",)))
    there = (distribution("numba-cuda", "0.22.2"), distribution("cuda-core", core))
    found = answer(CODE, machine(environments=seen((environment(numba, distributions=seen(there)),))))
    assert found.kind is kind
    assert found.needs == ((InstallPackage("cuda-core", "<1.0.0,>=0.3.2", PYTHON),) if kind is Status.BAD else ())


@pytest.mark.parametrize("kind", ["conda", "egg"])
def test_what_no_wheel_asks_for_is_not_missed(kind: str) -> None:
    torch = framework(requires=seen(("triton==3.5.1",)))
    there = (distribution("torch", "2.9.1+cu128", kind=kind),)
    found = answer(CODE, machine(environments=seen((environment(torch, distributions=seen(there)),))))
    assert found.kind is Status.NOT_APPLICABLE


def test_what_runs_on_torch_but_is_no_follower_is_a_warning_with_the_release_that_fits() -> None:
    other = framework("xformers", "0.0.32.post2", build=seen(""), requires=seen(("torch==2.8.0",)))
    found = answer(CODE, beside(other))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)
    assert as_json(found.needs[0]).product == "xformers"
    assert as_json(found.needs[0]).spec.startswith("==0.0.33")


def test_torch_asks_for_its_triton() -> None:
    torch, triton = framework(requires=seen(("triton==3.5.1",))), framework("triton", "3.4.0", requires=seen(()))
    found = answer(CODE, beside(triton, torch=torch))
    assert (found.kind, found.needs) == (Status.BAD, (InstallPackage("triton", "==3.5.1", PYTHON),))
    right = framework("triton", "3.5.1", requires=seen(()))
    assert answer(CODE, beside(right, torch=torch)).kind is Status.OK


def test_keras_is_changed_on_purpose() -> None:
    """keras.io tells people to put Keras 3 over the Keras 2 that TensorFlow 2.15 asks for."""
    flow = framework("tensorflow", "2.15.1", requires=seen(("keras<2.16,>=2.15.0",)))
    found = answers(CODE, beside(flow, framework("keras", "3.12.0", requires=seen(()))))
    assert {one.kind for one in found} == {Status.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("other", "torch"),
    [
        (vision(requires=unseen("METADATA is damaged")), framework()),
        (vision(), framework(build=unseen("torch/version.py is damaged"))),
    ],
)
def test_what_cannot_be_read_is_unknown(other: Framework, torch: Framework) -> None:
    found = answer(CODE, beside(other, torch=torch))
    assert (found.kind, found.blocks_verdict) == (Status.UNKNOWN, False)


def test_alone_it_does_not_apply() -> None:
    assert answer(CODE, machine()).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("audio", "torch", "kind"),
    [
        ("2.11.0", "2.8.0", Status.BAD),
        ("2.11.0", "2.10.0", Status.BAD),
        ("2.11.0", "2.11.0", Status.OK),
        ("2.11.0", "2.15.0", Status.OK),
        ("2.8.0", "2.8.0", Status.NOT_APPLICABLE),
    ],
)
def test_what_a_companion_was_compiled_for_counts_where_it_asks_for_nothing(
    audio: str, torch: str, kind: Status
) -> None:
    follower = vision(f"{audio}+cu128")._replace(package="torchaudio", requires=seen(()), version=audio)
    found = next(
        one for one in answers(CODE, beside(follower, torch=framework(version=torch))) if "torchaudio" in one.subject
    )
    assert found.kind is kind


@pytest.mark.parametrize(
    ("codec", "torch", "mended"),
    [
        ("0.0.3", "2.4.1", None),
        ("0.9.1", "2.9.1", None),
        ("0.17.0", "2.15.0", None),
        ("0.17.0", "2.9.1", ">=0.8,<0.10"),
        ("0.9.1", "2.15.0", ">=0.12"),
        ("0.9.1", "2.4.1", "==0.0.3"),
    ],
)
def test_torchcodec_asks_for_no_torch_and_is_made_for_one(codec: str, torch: str, mended: str | None) -> None:
    other = vision(codec, requires=seen(()))._replace(package="torchcodec")
    found = next(
        one for one in answers(CODE, beside(other, torch=framework(version=torch))) if "torchcodec" in one.subject
    )
    assert (found.kind is Status.BAD) is (mended is not None)
    if mended:
        assert (found.severity, found.needs) == (Severity.WARNING, (InstallPackage("torchcodec", mended, PYTHON),))


@pytest.mark.parametrize(("audio", "kind"), [("2.11.0+cu130", Status.BAD), ("2.11.0+cu132", Status.OK)])
def test_torch_comes_in_the_newest_build_that_torchaudio_has(audio: str, kind: Status) -> None:
    """torch 2.15.0 of the package index is for CUDA 13.2, for which torchaudio is not published."""
    follower = vision(audio, requires=seen(()))._replace(package="torchaudio")
    torch = framework(version="2.15.0+cu132", build=seen("cu132"))
    found = next(one for one in answers(CODE, beside(follower, torch=torch)) if "torchaudio" in one.subject)
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.needs == (InstallPackage("torch", "==2.15.0", PYTHON, "cu130"),)
        assert Symptom("extension-built-for-other-cuda", f"torchaudio {audio}") in found.explains


def test_torch_goes_back_where_no_release_of_its_rider_is_made_for_it() -> None:
    """vLLM 0.24.0 asks for torch 2.11.0; no release of it is known for 2.12.1."""
    torch = framework("torch", "2.12.1+cu130", build=seen("cu130"), cuda=seen(CudaVersion(13, 0)))
    rider = framework("vllm", "0.24.0", build=seen(""), requires=seen(("torch==2.11.0",)))
    found = next(one for one in answers(CODE, beside(rider, torch=torch)) if one.subject.startswith("vllm"))
    assert found.needs == (InstallPackage("torch", "==2.11.0", PYTHON, "cu130"),)


def test_two_followers_that_do_not_fit_are_one_remedy() -> None:
    torch = framework("torch", "2.9.1+cu128")
    audio = framework("torchaudio", "2.8.0+cu128", requires=seen(("torch==2.8.0",)))
    vision = framework("torchvision", "0.23.0+cu128", requires=seen(("torch==2.8.0",)))
    facts = machine(environments=seen((environment(torch, audio, vision),)))
    wrong = {one.subject: one for one in answers(CODE, facts) if one.kind is Status.BAD}
    assert {one.needs for one in wrong.values()} == {
        (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)
    }
    assert Symptom(CODE, vision.label) in wrong[audio.label].explains
    assert Symptom(CODE, audio.label) not in wrong[vision.label].explains


def test_a_follower_that_fits_is_left_out() -> None:
    torch = framework("torch", "2.9.1+cu128")
    audio = framework("torchaudio", "2.9.1+cu128", requires=seen(("torch==2.9.1",)))
    vision = framework("torchvision", "0.23.0+cu128", requires=seen(("torch==2.8.0",)))
    facts = machine(environments=seen((environment(torch, audio, vision),)))
    (wrong,) = (one for one in answers(CODE, facts) if one.kind is Status.BAD)
    assert wrong.needs == (InstallPackage("torchvision", interpreter=f"{VENV}/bin/python", build="cu128"),)


def test_what_a_framework_requires_and_is_not_installed() -> None:
    here = environment(framework())._replace(
        unmet=seen((Unmet("torch", "typing-extensions", ">=4.10.0", Place("/site/METADATA", 0)),))
    )
    found = answer(CODE, machine(environments=seen((here,))))
    assert found.severity is Severity.WARNING
    assert found.needs == (ChangePackages(("typing-extensions>=4.10.0",), PYTHON),)
    assert "typing-extensions>=4.10.0, which is not installed" in found.why


OTHER = "/home/user/other/lib/python3.12/site-packages"


@pytest.mark.parametrize(
    ("entries", "torch_in", "removed"),
    [
        (OTHER, OTHER, OTHER),
        (f"/src:{OTHER}/", OTHER, f"{OTHER}/"),
        (OTHER, SITE, ""),  # nothing of the two is there
        ("/src", OTHER, ""),
        (SITE, SITE, ""),  # its own directory
    ],
)
def test_pythonpath_mixes_two_environments(entries: str, torch_in: str, removed: str) -> None:
    """The remedy takes the entry out: torchvision fits the torch that is hidden by it."""
    other = framework(version="2.8.0+cu128", path=f"{torch_in}/torch")
    facts = beside(vision(path=f"{SITE}/torchvision"), torch=other)
    variable = Variable("PYTHONPATH", entries, "~/.bashrc, line 3")
    facts = facts._replace(configuration=configuration(variables=seen((variable,))))
    found = answer(CODE, facts)
    assert found.kind is Status.BAD
    assert ("PYTHONPATH" in found.why) is bool(removed)
    expected = DropFromPath("PYTHONPATH", removed, "~/.bashrc, line 3")
    assert (found.needs == (expected,)) is bool(removed)


def test_a_requirement_that_the_import_imports_is_an_error() -> None:
    at = Place("/site/torch/__init__.py", 35)
    unmet = seen((Unmet("torch", "typing-extensions", ">=4.10.0", Place("/site/METADATA"), at),))
    found = answer(CODE, machine(environments=seen((environment(framework())._replace(unmet=unmet),))))
    assert found.severity is Severity.ERROR
    assert found.why == "torch 2.9.1+cu128 cannot be imported: typing-extensions>=4.10.0 is not installed"
    assert (found.evidence[0].file, found.evidence[0].line) == (at.file, 35)
    assert Symptom("framework-import-crash", f"import of torch in {VENV}") in found.explains


def test_all_that_is_not_installed_comes_by_one_command() -> None:
    """`pip install --no-deps onnxruntime-gpu`: one need each would leave the others, so that none was proven."""
    place = Place("/site/METADATA")
    unmet = seen((Unmet("torch", "filelock", "", place), Unmet("torch", "sympy", ">=1.13", place)))
    found = answer(CODE, machine(environments=seen((environment(framework())._replace(unmet=unmet),))))
    needs = f"{framework().label} needs filelock, sympy>=1.13, which are not installed"
    assert found.why == f"{needs}: importing it may fail"
    assert found.needs == (ChangePackages(("filelock", "sympy>=1.13"), f"{VENV}/bin/python"),)


@pytest.mark.parametrize(("there", "is_bad"), [((), True), (("setuptools",), False)])
def test_what_no_metadata_asks_for(there: tuple[str, ...], is_bad: bool) -> None:
    """paddlepaddle 2.6.2 imports setuptools, which `uv venv` does not bring (matrix, conflicts.abi)."""
    paddle = framework("paddlepaddle", "2.6.2", build=seen("cpu"), requires=seen(()))
    here = environment(paddle)
    known = seen((*here.distributions.get(), *(distribution(one, "80.9.0") for one in there)))
    found = answer(CODE, machine(environments=seen((here._replace(distributions=known, python=seen("3.11.9")),))))
    assert (found.kind is Status.BAD) is is_bad
    if is_bad:
        assert "needs setuptools, which is not installed" in found.why
        assert found.needs == (InstallPackage("setuptools", interpreter=PYTHON),)


def test_a_requirement_that_is_too_old() -> None:
    """TensorFlow 2.21 beside the protobuf of an older program: its own files ask for a newer one."""
    unmet = seen((Unmet("torch", "protobuf", ">=6.31.1,<8", Place("/site/METADATA"), there="4.25.8"),))
    found = answer(CODE, machine(environments=seen((environment(framework())._replace(unmet=unmet),))))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)
    assert "needs protobuf>=6.31.1,<8; 4.25.8 is installed: importing it may fail" in found.why
    assert found.needs == (ChangePackages(("protobuf>=6.31.1,<8",), PYTHON),)
