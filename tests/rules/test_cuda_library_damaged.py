"""cuda-library-damaged: a wheel's library cut short, a framework's own, a stray one."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import Advice, ChangePackages, DropFromPath, InstallPackage, Need, as_json
from doctor.model.facts.loader import FoundBy, Outcome, Way
from doctor.model.finding import Status
from tests.machine import VENV, framework, loader, machine, seen, system, unseen
from tests.rules.case import answer
from tests.rules.test_cuda_libraries import HEALTHY, TORCH, lost, on, own, told

CODE = "cuda-library-damaged"
BY_VARIABLE = Way(FoundBy.LIBRARY_PATH, "libtorch_cuda.so", "/opt/x", "/opt/x", "~/.bashrc, line 3")


def spoilt(soname: str = "libcublas.so.12", path: str = "", /, **changes: Any) -> Any:
    """A file answers, and it is damaged."""
    found = told(TORCH, soname, path=unseen("it is damaged"), outcome=Outcome.DAMAGED, damaged=path or own(soname))
    return found._replace(**changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (on(TORCH, *(told(TORCH, name) for name in HEALTHY)), Status.OK),
        (on(TORCH, told(TORCH, HEALTHY[0]), spoilt()), Status.BAD),
        (on(TORCH, lost(TORCH, "libcublas.so.12")), Status.OK),  # another finding
        (on(TORCH, spoilt(outcome=Outcome.UNREAD, damaged="")), Status.UNKNOWN),
        (on(TORCH, spoilt(), spoilt("libcudart.so.12", outcome=Outcome.UNREAD, damaged="")), Status.BAD),
        (on(TORCH, spoilt("libcudnn.so.9")), Status.NOT_APPLICABLE),
        (on(TORCH, spoilt(), system=system(family=seen("windows"))), Status.NOT_APPLICABLE),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("one", "need"),
    [
        (  # the environment of this machine lists no wheels: those that torch pins and that are absent come at once
            spoilt(),
            ChangePackages(("nvidia-cublas-cu12==12.8.4.1", "nvidia-cudnn-cu12==9.10.2.21"), f"{VENV}/bin/python"),
        ),
        (
            spoilt("libcudart.so.12", f"{framework().path}/lib/libcudart.so.12", intended=unseen()),
            InstallPackage("torch", f"=={TORCH.version}", f"{VENV}/bin/python", reinstall=True),
        ),
        (
            spoilt("libcublas.so.12", "/opt/x/libcublas.so.12", way=BY_VARIABLE),
            DropFromPath("LD_LIBRARY_PATH", "/opt/x", "~/.bashrc, line 3"),
        ),
        (
            spoilt("libcublas.so.12", "/usr/lib/libcublas.so.12", way=Way(FoundBy.DEFAULT, folder="/usr/lib")),
            Advice("Reinstall the package of /usr/lib/libcublas.so.12."),
        ),
    ],
)
def test_what_put_it_there_puts_it_there_anew(one: Any, need: Need) -> None:
    found = answer(CODE, on(TORCH, one))
    assert found.needs == (need,)
    assert one.damaged in found.why


def test_other_rules_do_not_call_it_missing_or_unknown() -> None:
    for code in ("cudart-soname-missing", "nvrtc-missing", "wheel-libs-not-on-loader-path"):
        assert answer(code, on(TORCH, told(TORCH, HEALTHY[0]), spoilt())).kind is Status.OK


def test_a_loop_of_links_is_the_wheel_s_own_file() -> None:
    """It has no real path that could be the intended one."""
    looped = spoilt(intended=unseen("too many links"), way=Way(FoundBy.RUNPATH, "libtorch_cuda.so"))
    assert as_json(answer(CODE, on(TORCH, looped)).needs[0]).product == "wheels"
