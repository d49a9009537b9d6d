"""cudnn-sublibrary-missing."""

from __future__ import annotations

import pytest

from compat.need import Need
from doctor.check.finding import Kind
from doctor.check.judge import explained, judge, load_rules
from doctor.facts import Facts
from doctor.facts.loader import Outcome
from tests.machine import CUDNN_9_PARTS, CUDNN_DIR, cudnn_copy, framework, loader, machine, prediction, seen, unseen
from tests.rules.case import MATRIX, answer
from tests.rules.cudnn import BY_VARIABLE, CUDNN_8_PARTS, OPT, loading, nothing_found, other, parts, path_variable

CODE = "cudnn-sublibrary-missing"
NO_OPS = tuple(name for name in CUDNN_9_PARTS if "_ops" not in name)
WHEEL_WITHOUT_OPS = cudnn_copy(
    parts=parts("9.10.2", CUDNN_DIR, NO_OPS), missing=seen((f"{CUDNN_DIR}/libcudnn_ops.so.9",))
)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Kind.OK),
        (loading(WHEEL_WITHOUT_OPS), Kind.BAD),
        (loading(other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))), Kind.BAD),
        (loading(other("8.9.7", parts=parts("8.9.7", OPT, CUDNN_8_PARTS[:-1]))), Kind.BAD),
        (loading(WHEEL_WITHOUT_OPS, other("9.10.2")), Kind.OK),  # taken from the search path
        (loading(WHEEL_WITHOUT_OPS, other("9.10.2", OPT, None)), Kind.BAD),
        (loading(other("99.1.0")), Kind.UNKNOWN),
        (loading(cudnn_copy(), other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))), Kind.OK),  # nobody loads that one
        (machine(loader=loader(predictions=unseen())), Kind.UNKNOWN),
        (nothing_found(framework()), Kind.NOT_APPLICABLE),
        (loading(cudnn_copy(), torch=framework("xformers", "0.0.33", cudnn=unseen())), Kind.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Kind) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_first_part_is_found_nowhere() -> None:
    told = prediction(soname="libcudnn_graph.so.9", outcome=Outcome.MISSING)._replace(path=unseen("nowhere"))
    facts = machine(loader=loader(predictions=seen((prediction(), told))))
    assert answer(CODE, facts).kind is Kind.BAD


def test_an_intruder_is_taken_out_before_it_is_completed() -> None:
    intruder = other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))
    told = prediction(f"{OPT}/libcudnn_graph.so.9", soname="libcudnn_graph.so.9", way=BY_VARIABLE)
    lost = prediction(soname="libcudnn_ops.so.9", outcome=Outcome.MISSING, way=None)._replace(path=unseen("nowhere"))
    facts = machine(cudnn=seen((cudnn_copy(), intruder)), **path_variable(OPT, predictions=seen((told, lost))))
    found = answer(CODE, facts)
    assert found.needs[0] == Need("variable", f"without {OPT}", "~/.bashrc, line 118", "LD_LIBRARY_PATH")
    codes = (CODE, "ld-library-path-shadowing", "cudnn-install-incomplete")
    roots = explained(judge(facts, MATRIX, load_rules(codes)))
    assert {one.code for one in roots.values()} == {"ld-library-path-shadowing"}
    assert {code for code, _ in roots} == {CODE, "cudnn-install-incomplete"}


def test_it_names_the_part() -> None:
    assert "libcudnn_ops.so.9" in answer(CODE, loading(WHEEL_WITHOUT_OPS)).why
