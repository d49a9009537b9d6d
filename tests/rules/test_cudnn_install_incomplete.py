"""cudnn-install-incomplete."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import DropFromPath, InstallCudnn, InstallPackage, InstallSystemPackage
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.loader import Outcome
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    CUDNN_9_PARTS,
    CUDNN_DIR,
    VENV,
    cudnn_copy,
    cudnn_part,
    loader,
    machine,
    prediction,
    seen,
    toolkit,
    toolkits,
    unseen,
)
from tests.rules.case import MATRIX, answer, answers
from tests.rules.cudnn import OPT, loading, other, parts, path_variable

CODE = "cudnn-install-incomplete"
NO_OPS = tuple(name for name in CUDNN_9_PARTS if "_ops" not in name)
NO_ENGINES = tuple(name for name in CUDNN_9_PARTS if "precompiled" not in name)
JIT = ("libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_engines_runtime_compiled.so.9")
WHEEL_WITHOUT_OPS = cudnn_copy(
    parts=parts("9.10.2", CUDNN_DIR, NO_OPS), missing=seen((f"{CUDNN_DIR}/libcudnn_ops.so.9",))
)


@pytest.mark.parametrize(
    ("copy", "kind"),
    [
        (cudnn_copy(), Status.OK),
        (WHEEL_WITHOUT_OPS, Status.BAD),
        (cudnn_copy(parts=parts("9.10.2", CUDNN_DIR, NO_ENGINES)), Status.OK),  # its own list has none
        (cudnn_copy(missing=seen(("/usr/include/cudnn.h", "/usr/lib/libcudnn.so"))), Status.OK),  # matter for builds
        (cudnn_copy(damaged=seen((f"{CUDNN_DIR}/libcudnn_adv.so.9 (0 bytes)",))), Status.BAD),
        (cudnn_copy(parts=seen((cudnn_part("libcudnn.so.9", readable=False),))), Status.BAD),
        (cudnn_copy(parts=seen(()), missing=seen((f"{CUDNN_DIR}/libcudnn.so.9",))), Status.BAD),
        (cudnn_copy(damaged=unseen("libcudnn.so.9 goes beyond a bound")), Status.UNKNOWN),
        (WHEEL_WITHOUT_OPS._replace(damaged=unseen("libcudnn.so.9 goes beyond a bound")), Status.BAD),
        (other("9.10.2"), Status.OK),
        (other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS)), Status.BAD),
        (other("9.10.2", parts=parts("9.10.2", OPT, NO_ENGINES)), Status.OK),  # NVIDIA's JIT edition
        (other("9.10.2", parts=parts("9.10.2", OPT, JIT)), Status.OK),  # as its wheel has it
        (other("9.10.2", parts=parts("9.10.2", OPT, JIT[:2])), Status.BAD),
        (other("8.9.7"), Status.OK),
        (other("99.1.0"), Status.UNKNOWN),
        (other(version=unseen("no symbol")), Status.UNKNOWN),
        (other(version=unseen("no symbol"), parts=parts("9.10.2", OPT, ("libcudnn.so.9",))), Status.BAD),
        (other(version=unseen("no symbol"), parts=parts("9.10.2", OPT, JIT)), Status.UNKNOWN),
        (
            other(version=unseen("no symbol"), parts=parts("7.6.5", OPT, ("libcudnn.so.7",))),
            Status.OK,
        ),  # all it ever is
        (other(version=unseen("no symbol"), parts=parts("9.1.0", OPT, ("libcudnn.so",))), Status.UNKNOWN),
        (other("7.6.5", parts=seen((cudnn_part("libcudnn.so.7", "7.6.5", OPT),))), Status.OK),
        (other("9.10.2", origin="framework", parts=parts("9.10.2", OPT, NO_OPS)), Status.OK),  # ships what it needs
        (other(parts=seen(())), Status.NOT_APPLICABLE),
        (other(parts=unseen()), Status.UNKNOWN),
    ],
)
def test_kinds(copy: CudnnCopy, kind: Status) -> None:
    assert answer(CODE, machine(cudnn=seen((copy,)))).kind is kind


def test_the_wheel_is_installed_anew() -> None:
    found = answer(CODE, loading(WHEEL_WITHOUT_OPS))
    assert found.severity is Severity.ERROR
    assert found.needs == (InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", f"{VENV}/bin/python", reinstall=True),)
    assert "libcudnn_ops.so.9 is missing" in found.why


def test_the_package_of_the_distribution_is_installed_anew() -> None:
    copy = other("9.10.2", owner="libcudnn9-cuda-12 9.10.2.21-1", origin="distribution")
    found = answer(CODE, machine(cudnn=seen((copy._replace(missing=seen(("/usr/lib/libcudnn_adv.so.9",))),))))
    assert found.severity is Severity.WARNING  # nobody loads it
    assert found.needs == (InstallSystemPackage("libcudnn9-cuda-12", reinstall=True),)


def test_a_stray_copy_is_kept_out_before_it_is_completed() -> None:
    stray = other(version=unseen("no symbol"), parts=parts("9.10.2", OPT, ("libcudnn.so.9",)))
    facts = machine(cudnn=seen((cudnn_copy(), stray)), **path_variable(OPT))
    (_, found) = answers(CODE, facts)
    assert found.severity is Severity.WARNING
    assert found.needs[0] == DropFromPath("LD_LIBRARY_PATH", OPT, "~/.bashrc, line 118")


@pytest.mark.parametrize(
    ("different", "spec", "build"),
    [
        ({}, "==9.10.2", "11.8"),  # the toolkit's, whatever the driver runs
        ({"cuda_major": seen(12)}, "==9.10.2", "12"),
        ({"version": unseen("no symbol")}, "==9.*", "11.8"),
    ],
)
def test_the_need_is_for_the_cuda_around_it(different: dict[str, Any], spec: str, build: str) -> None:
    old = toolkit("11.8.0")
    where = f"{old.path}/lib64"
    broken = other("9.10.2", path=where, parts=parts("9.10.2", where, NO_OPS), cuda_major=unseen())._replace(
        **different
    )
    (need,) = answer(CODE, machine(cudnn=seen((broken,)), toolkit=toolkits(old))).needs
    assert need == InstallCudnn(spec, where, build)


def test_a_damaged_main_library_stops_who_opens_it() -> None:
    main = f"{CUDNN_DIR}/libcudnn.so.9"
    copy = cudnn_copy(damaged=seen((main,)))
    spoilt = prediction(main)._replace(path=unseen("damaged"), outcome=Outcome.DAMAGED, damaged=main)
    facts = machine(cudnn=seen((copy,)), loader=loader(predictions=seen((spoilt,))))
    assert answer(CODE, facts).severity is Severity.ERROR
    assert answer("cudnn-missing", facts).kind is Status.NOT_APPLICABLE


def test_it_explains_the_part_that_is_missing() -> None:
    rules = load_rules([CODE, "cudnn-sublibrary-missing"])
    roots = root_causes(judge(loading(WHEEL_WITHOUT_OPS), MATRIX, rules))
    assert roots["cudnn-sublibrary-missing", "torch 2.9.1+cu128"].code == CODE
