"""theano-cudnn-unfit: the copy that the settings, the toolkit or the system lead to."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import Advice, ChangeSetting, InstallCudnn, Need, as_json
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity, Status
from tests.machine import configuration, cudnn_copy, environment, framework, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "theano-cudnn-unfit"
TOOLKIT, OTHER, SYSTEM = "/usr/local/cuda-12.8", "/opt/cudnn", "/usr/lib/x86_64-linux-gnu"

RC, TAKES = "~/.theanorc", ">=4.0.7,<5.2"
WITHOUT = ChangeSetting(RC, "theano", "dnn", "enabled", "False")


def copy(release: str, folder: str = f"{TOOLKIT}/lib64", origin: str = "toolkit", **changes: Any) -> Any:
    include = f"{folder.rpartition('/')[0]}/include/cudnn.h"
    found = cudnn_copy(release, folder, origin=origin, header_path=seen(include), owner="")
    return found._replace(**changes)


def facts(*copies: Any, version: str = "0.8.2", device: str = "gpu", **settings: str) -> Any:
    said = {"device": device, **{name.replace("__", "."): value for name, value in settings.items()}}
    return machine(
        environments=seen((environment(framework("theano", version, build=seen(""))),)),
        cudnn=seen(copies),
        configuration=configuration(
            settings=seen(
                tuple(Setting("theano", f"{RC}, line 2", name, value, "", Place(RC, 2)) for name, value in said.items())
            )
        ),
    )


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (facts(copy("5.1.10")), Status.OK),
        (facts(copy("3.0.8")), Status.BAD),
        (facts(copy("7.6.5")), Status.BAD),
        (facts(copy("5.1.10"), version="0.9.0"), Status.OK),
        (facts(copy("4.0.7"), version="0.9.0"), Status.BAD),
        (facts(copy("5.1.10"), version="99.0"), Status.UNKNOWN),
        (facts(copy("5.1.10", version=unseen("no symbol"))), Status.UNKNOWN),
        (facts(copy("3.0.8"), device="cpu"), Status.NOT_APPLICABLE),
        (facts(copy("3.0.8"), dnn__enabled="False"), Status.NOT_APPLICABLE),
        (facts(), Status.NOT_APPLICABLE),
        (facts(dnn__enabled="True"), Status.BAD),
        # the settings name another one, through a link too; the system's comes last
        (facts(copy("3.0.8"), copy("5.1.10", f"{OTHER}/lib64"), dnn__base_path=OTHER), Status.OK),
        (
            facts(
                copy("3.0.8"),
                copy("5.1.10", f"{OTHER}/lib64"),
                dnn__library_path=f"{OTHER}/lib64/",
                dnn__include_path=f"{OTHER}/include",
            ),
            Status.OK,
        ),
        (facts(copy("4.0.7"), copy("5.1.10", f"{OTHER}/lib64"), dnn__library_path=f"{OTHER}/lib64"), Status.BAD),
        (facts(copy("3.0.8"), copy("5.1.10", f"{OTHER}/lib64"), cuda__root="/usr/local/cuda"), Status.BAD),
        (facts(copy("5.1.10", SYSTEM, "distribution")), Status.OK),
        (facts(copy("5.1.10"), copy("3.0.8", SYSTEM, "distribution")), Status.OK),
        # a header of another release
        (facts(copy("5.1.10", header_version=seen(copy("4.0.7").version.get()))), Status.BAD),
        (
            facts(copy("5.1.10"), copy("4.0.7", f"{OTHER}/lib64"), dnn__include_path=f"{OTHER}/include"),
            Status.BAD,
        ),
    ],
)
def test_kinds(found: Any, kind: Status) -> None:
    assert answer(CODE, found).kind is kind


@pytest.mark.parametrize(
    ("found", "needs"),
    [
        (
            facts(copy("7.6.5")),
            (InstallCudnn(TAKES, cuda="12"), WITHOUT),
        ),
        (
            facts(copy("7.6.5", SYSTEM, "distribution")),
            (WITHOUT,),
        ),
        (
            facts(copy("7.6.5", SYSTEM, "distribution"))._replace(system=system(family=seen("windows"))),
            (
                Advice(
                    f"Install cuDNN {TAKES} for CUDA 12 instead of it (header and library), or set dnn.enabled = False."
                ),
            ),
        ),
    ],
)
def test_the_right_one_in_its_place_or_none(found: Any, needs: tuple[Need, ...]) -> None:
    assert answer(CODE, found).needs == needs


@pytest.mark.parametrize(("version", "severity"), [("3.0.8", Severity.ERROR), ("6.0.21", Severity.WARNING)])
def test_too_old_is_refused_and_too_new_is_only_warned_of(version: str, severity: Severity) -> None:
    found = answer(CODE, facts(copy(version)))
    assert found.severity is severity
    assert ">=4.0.7,<5.2" in found.why
    assert [as_json(one).product for one in found.needs] == ["cudnn", "setting"]
