"""framework-import-crash and framework-import-hang."""

from __future__ import annotations

import pytest

from compat.need import Advice, ChangePackages, InstallPackage
from doctor.diagnose import exit_status
from doctor.model.facts.environment import Import, Unmet
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import VENV, driver, environment, framework, machine, report_on, seen, unseen
from tests.rules.case import answer, answers


@pytest.mark.parametrize(
    ("state", "crash", "hang"),
    [
        ("ok", Status.OK, Status.OK),
        ("crashed", Status.BAD, Status.NOT_APPLICABLE),
        ("hung", Status.OK, Status.BAD),
        ("failed", Status.BAD, Status.OK),
    ],
)
def test_states(state: str, crash: Status, hang: Status) -> None:
    facts = machine(imports=seen((Import("torch", VENV, state, "a line\nSIGSEGV"),)))
    assert answer("framework-import-crash", facts).kind is crash
    assert answer("framework-import-hang", facts).kind is hang


@pytest.mark.parametrize("code", ["framework-import-crash", "framework-import-hang"])
def test_untried_and_unseen(code: str) -> None:
    assert answer(code, machine()).kind is Status.NOT_APPLICABLE
    assert answer(code, machine(imports=unseen("no interpreter"))).kind is Status.UNKNOWN


def test_a_crash_names_its_signal_and_the_release_to_install_anew() -> None:
    found = answer("framework-import-crash", machine(imports=seen((Import("torch", VENV, "crashed", "SIGSEGV"),))))
    assert "SIGSEGV" in found.why
    assert found.needs == (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),)


def test_an_import_that_fails_names_its_message_and_what_the_framework_requires() -> None:
    place = Place("METADATA")
    unmet = seen((Unmet("torch", "typing-extensions", ">=4.10.0", place), Unmet("numba", "llvmlite", "", place)))
    here = environment(framework())._replace(unmet=unmet)
    tried = Import("torch", VENV, "failed", "Traceback\nModuleNotFoundError: No module named 'typing_extensions'")
    facts = machine(environments=seen((here,)), imports=seen((tried,)))
    found = answer("framework-import-crash", facts)
    assert found.why == "import torch fails: ModuleNotFoundError: No module named 'typing_extensions'"
    assert found.needs == (ChangePackages(("typing-extensions>=4.10.0",), f"{VENV}/bin/python"),)
    assert found.explains == (Symptom("companion-version-mismatch", framework().label),)
    (alone,) = answer("framework-import-crash", machine(imports=seen((tried,)))).needs
    assert isinstance(alone, Advice)
    assert "gpudoctor explain" in alone.text


def test_an_import_that_fails_comes_first() -> None:
    """Before a driver that is too old, another error whose code comes first in the alphabet."""
    tried = Import("torch", VENV, "failed", "ImportError: libtorch_cuda.so")
    old = driver("535.54.03", "12.2")
    report = report_on(machine(imports=seen((tried,)), driver=old))
    assert report.findings[0].code == "framework-import-crash"
    assert (report.verdict, exit_status(report, Severity.ERROR)) == ("broken", 1)


@pytest.mark.parametrize(("message", "explained"), [("ImportError: libcusparseLt.so.0", True), ("OSError", False)])
def test_what_imports_a_framework_that_fails_is_no_finding_of_its_own(message: str, *, explained: bool) -> None:
    """torchvision imports torch, and ends by the same message."""
    tried = (
        Import("torch", VENV, "failed", "Traceback\nImportError: libcusparseLt.so.0"),
        Import("torchvision", VENV, "failed", f"Traceback\n{message}"),
    )
    of_torch, _ = answers("framework-import-crash", machine(imports=seen(tried)))
    rider = Symptom("framework-import-crash", f"import of torchvision in {VENV}")
    assert (rider in of_torch.explains) is explained


def test_the_evidence_is_where_the_import_ended() -> None:
    detail = 'Traceback:\n  File "<string>", line 6\n  File "/x/torch/__init__.py", line 35\n    import a\nNameError: a'
    found = answer("framework-import-crash", machine(imports=seen((Import("torch", VENV, "failed", detail),))))
    assert found.evidence[0].detail == 'File "/x/torch/__init__.py", line 35 import a NameError: a'
