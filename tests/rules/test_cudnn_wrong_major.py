"""cudnn-wrong-major."""

from __future__ import annotations

import pytest

from compat.need import Advice, ChangePackages, InstallCudnn, InstallPackage
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import VENV, cudnn_copy, framework, machine, seen, unseen
from tests.rules.case import MATRIX, answer
from tests.rules.cudnn import OPT, loading, nothing_found, other

CODE = "cudnn-wrong-major"
TENSORFLOW = framework("tensorflow", "2.15.0", cudnn=seen(CudnnVersion.parse("8.9")), requires=seen(()))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (loading(other("8.9.7")), Status.BAD),  # a link named .so.9 that leads to 8
        (loading(other("9.5.1")), Status.OK),
        (loading(other(version=unseen("no symbol"))), Status.UNKNOWN),
        (nothing_found(TENSORFLOW, other("9.5.1")), Status.BAD),
        (nothing_found(TENSORFLOW, other("9.5.1", OPT, None)), Status.NOT_APPLICABLE),  # not in reach
        (nothing_found(TENSORFLOW, other("9.5.1"), other("8.9.7", "/opt/8")), Status.NOT_APPLICABLE),
        (nothing_found(TENSORFLOW, other("9.5.1"), missing=False), Status.NOT_APPLICABLE),
        (nothing_found(TENSORFLOW), Status.NOT_APPLICABLE),  # cudnn-missing
        (machine(cudnn=unseen("not readable")), Status.UNKNOWN),
        (loading(cudnn_copy(), torch=framework("xformers", "0.0.33", cudnn=unseen())), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_need_is_the_major_it_was_built_for() -> None:
    found = answer(CODE, nothing_found(TENSORFLOW, other("9.5.1")))
    wheel = InstallPackage("nvidia-cudnn-cu12", "==8.9.4.25", f"{VENV}/bin/python")
    assert found.needs == (wheel, InstallCudnn(">=8.9,<9", cuda="12"))
    assert "is installed" in found.why


def test_it_explains_what_is_missing() -> None:
    facts = nothing_found(TENSORFLOW, other("9.5.1"))
    roots = root_causes(judge(facts, MATRIX, load_rules([CODE, "cudnn-missing"])))
    assert roots["cudnn-missing", TENSORFLOW.label].code == CODE


@pytest.mark.parametrize(
    ("version", "beside", "offered"),
    [
        ("2.17.0", framework(version="2.8.0+cu128"), "tensorflow==2.18.0"),  # torch requires the wheel that is there
        ("2.17.0", framework("xformers", "0.0.33", requires=seen(())), ""),
        ("99.0", framework(version="2.8.0+cu128"), "tensorflow=="),  # an older one: newer ones are not known
    ],
)
def test_a_release_for_the_cudnn_that_another_framework_requires(version: str, beside: Framework, offered: str) -> None:
    tensorflow = TENSORFLOW._replace(version=version, build=seen("cuda"))
    facts = nothing_found(tensorflow, cudnn_copy())
    there = facts.environments.get()[0]._replace(frameworks=seen((tensorflow, beside)))
    needs = answer(CODE, facts._replace(environments=seen((there,)))).needs
    found = [one.install[0] for one in needs if isinstance(one, ChangePackages)]
    assert len(found) == bool(offered)
    assert all(one.startswith(offered) for one in found)
    assert isinstance(needs[-1], Advice) is bool(offered)
