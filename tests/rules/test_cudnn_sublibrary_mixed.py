"""cudnn-sublibrary-mixed."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Facts
from doctor.model.finding import Severity, Status
from tests.machine import CUDNN_9_PARTS, CUDNN_DIR, cudnn_copy, cudnn_part, machine, seen, unseen
from tests.rules.case import answer
from tests.rules.cudnn import OPT, loading, other, parts, path_variable

CODE = "cudnn-sublibrary-mixed"
NO_OPS = tuple(name for name in CUDNN_9_PARTS if "_ops" not in name)
OPS = "libcudnn_ops.so.9"
MIXED = cudnn_copy(
    parts=seen((*parts("9.10.2", CUDNN_DIR, NO_OPS).value, cudnn_part(OPS, "9.5.1"))),
)
SILENT = cudnn_part("libcudnn_heuristic.so.9")._replace(version=unseen("it carries none"))
WITHOUT_OPS = cudnn_copy(parts=parts("9.10.2", CUDNN_DIR, NO_OPS), missing=seen((f"{CUDNN_DIR}/{OPS}",)))
ONLY_OPS = other("9.5.1", OPT, 0, parts=seen((cudnn_part(OPS, "9.5.1", OPT),)))


def on_path(*copies: Any) -> Facts:
    """torch loads the first copy; LD_LIBRARY_PATH leads to OPT."""
    told = loading(*copies)
    found = path_variable(OPT, predictions=told.loader.predictions)
    return told._replace(**found)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (loading(MIXED), Status.BAD),
        (loading(cudnn_copy(parts=seen((cudnn_part("libcudnn.so.9"), SILENT)))), Status.OK),
        (on_path(cudnn_copy(), ONLY_OPS), Status.BAD),  # the variable's part comes before RUNPATH's
        (on_path(cudnn_copy(), other("9.10.2", parts=seen((cudnn_part(OPS, "9.10.2", OPT),)))), Status.OK),
        (on_path(WITHOUT_OPS, other("9.5.1", OPT, 3)), Status.BAD),  # what it lacks comes from elsewhere
        (on_path(WITHOUT_OPS, other("9.10.2", OPT, 3)), Status.OK),
        (on_path(cudnn_copy(), other("9.5.1", OPT, 3)), Status.OK),  # two whole copies: cudnn-copies-conflict's matter
        (machine(cudnn=seen((other(parts=seen(())),))), Status.NOT_APPLICABLE),
        (machine(cudnn=seen((other(parts=unseen()),))), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_two_majors_in_one_directory_do_not_mix() -> None:
    both = (*parts("9.10.2", OPT).value, *parts("8.9.7", OPT).value)
    assert answer(CODE, machine(cudnn=seen((other("9.10.2", parts=seen(both)),)))).kind is Status.OK


def test_the_part_that_intrudes_leaves_the_variable() -> None:
    found = answer(CODE, on_path(cudnn_copy(), ONLY_OPS))
    assert found.severity is Severity.ERROR
    assert as_json(found.needs[0]).spec == f"without {OPT}"
    assert OPS in found.why


def test_nobody_loads_it_is_a_warning() -> None:
    found = answer(CODE, machine(cudnn=seen((MIXED._replace(path="/opt/mixed"),))))
    assert found.kind is Status.BAD
