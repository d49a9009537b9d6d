"""cudnn-sublibrary-missing."""

from __future__ import annotations

import pytest

from compat.need import DropFromPath, InstallCudnn, as_json
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Fact
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    CUDNN_9_PARTS,
    CUDNN_DIR,
    SITE,
    cudnn_copy,
    distribution,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    unseen,
)
from tests.rules.case import MATRIX, answer, answers
from tests.rules.cudnn import BY_VARIABLE, CUDNN_8_PARTS, OPT, loading, nothing_found, other, parts, path_variable

CODE = "cudnn-sublibrary-missing"
NO_OPS = tuple(name for name in CUDNN_9_PARTS if "_ops" not in name)
WHEEL_WITHOUT_OPS = cudnn_copy(
    parts=parts("9.10.2", CUDNN_DIR, NO_OPS), missing=seen((f"{CUDNN_DIR}/libcudnn_ops.so.9",))
)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (loading(WHEEL_WITHOUT_OPS), Status.BAD),
        (loading(other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))), Status.BAD),
        (loading(other("8.9.7", parts=parts("8.9.7", OPT, CUDNN_8_PARTS[:-1]))), Status.BAD),
        (loading(WHEEL_WITHOUT_OPS, other("9.10.2")), Status.OK),  # taken from the search path
        (loading(WHEEL_WITHOUT_OPS, other("9.10.2", OPT, None)), Status.BAD),
        (loading(other("99.1.0")), Status.UNKNOWN),
        (
            loading(cudnn_copy(), other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))),
            Status.OK,
        ),  # nobody loads that one
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
        (nothing_found(framework()), Status.NOT_APPLICABLE),
        (loading(cudnn_copy(), torch=framework("xformers", "0.0.33", cudnn=unseen())), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_first_part_is_found_nowhere() -> None:
    told = prediction(soname="libcudnn_graph.so.9", outcome=Outcome.MISSING)._replace(path=unseen("nowhere"))
    facts = machine(loader=loader(predictions=seen((prediction(), told))))
    assert answer(CODE, facts).kind is Status.BAD


def test_an_intruder_is_taken_out_before_it_is_completed() -> None:
    intruder = other("9.10.2", parts=parts("9.10.2", OPT, NO_OPS))
    told = prediction(f"{OPT}/libcudnn_graph.so.9", soname="libcudnn_graph.so.9", way=BY_VARIABLE)
    lost = prediction(soname="libcudnn_ops.so.9", outcome=Outcome.MISSING, way=None)._replace(path=unseen("nowhere"))
    facts = machine(cudnn=seen((cudnn_copy(), intruder)), **path_variable(OPT, predictions=seen((told, lost))))
    found = answer(CODE, facts)
    assert found.needs[0] == DropFromPath("LD_LIBRARY_PATH", OPT, "~/.bashrc, line 118")
    codes = (CODE, "ld-library-path-shadowing", "cudnn-install-incomplete")
    roots = root_causes(judge(facts, MATRIX, load_rules(codes)))
    assert {one.code for one in roots.values()} == {"ld-library-path-shadowing"}
    assert {code for code, _ in roots} == {CODE, "cudnn-install-incomplete"}


def test_it_names_the_part() -> None:
    assert "libcudnn_ops.so.9" in answer(CODE, loading(WHEEL_WITHOUT_OPS)).why


CTRANSLATE2 = framework(
    "ctranslate2", "4.4.0", build=seen(""), cuda=unseen(), cudnn=unseen(), requires=seen(()), path=f"{SITE}/ctranslate2"
)
SHELL = f"{SITE}/ctranslate2.libs/libcudnn-463fd6d5.so.8.9.7"
OPS = "libcudnn_ops_infer.so.8"
ONLY_9 = seen((other("9.10.2"),))


def on_ctranslate2(
    ops: Prediction, *beside: str, version: str = "4.4.0", copies: Fact[tuple[CudnnCopy, ...]] = ONLY_9
) -> Facts:
    """CTranslate2, whose wheel brings the main library alone, and NVIDIA's cuBLAS, which shows that a GPU is meant."""
    one = CTRANSLATE2._replace(version=version)
    main = prediction(SHELL, soname="libcudnn-463fd6d5.so.8.9.7", asker="ctranslate2")
    names = ("ctranslate2", "nvidia-cublas-cu12", *beside)
    there = environment(one)._replace(distributions=seen(tuple(distribution(name, "1.0") for name in names)))
    told = loader(predictions=seen((main, ops._replace(asker="ctranslate2"))))
    return machine(environments=seen((there,)), loader=told, cudnn=copies)


NO_PART = prediction(soname=OPS, outcome=Outcome.MISSING, intended=unseen(), way=None)._replace(path=unseen("nowhere"))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (on_ctranslate2(NO_PART, "faster-whisper"), Status.BAD),
        (on_ctranslate2(NO_PART, copies=seen(())), Status.NOT_APPLICABLE),  # nothing here computes a convolution
        (on_ctranslate2(NO_PART, copies=seen((other("9.10.2", OPT, None),))), Status.NOT_APPLICABLE),  # out of reach
        (on_ctranslate2(NO_PART, copies=unseen()), Status.UNKNOWN),
        (on_ctranslate2(NO_PART._replace(intended=seen("/w")), "faster-whisper"), Status.NOT_APPLICABLE),  # in a wheel
        (
            on_ctranslate2(NO_PART, "faster-whisper", version="99.0"),
            Status.UNKNOWN,
        ),  # no row says what it was built with
    ],
)
def test_a_main_library_alone(facts: Facts, kind: Status) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.why == (
            f"ctranslate2 4.4.0 needs the parts of cuDNN 8, but {OPS} was not found; installed: cuDNN 9.10.2"
        )
        assert found.needs[0] == InstallCudnn(">=8.9,<9", cuda="12")
        assert found.severity is Severity.WARNING
    for code in ("cudnn-wrong-major", "cudnn-for-other-cuda", "cudnn-version-mismatch-loaded-vs-compiled"):
        assert answer(code, facts).kind in {Status.NOT_APPLICABLE, Status.UNKNOWN}


@pytest.mark.parametrize(("version", "built", "there"), [("4.4.0", 8, "9.10.2"), ("4.6.0", 9, "8.9.7")])
def test_only_the_other_cudnn_is_named_though_nothing_is_known_to_use_it(version: str, built: int, there: str) -> None:
    """Whisper may come from a directory of its own; where no cuDNN is there, a GPU translates without one."""
    copies = seen((other(there),))
    found = answer(CODE, on_ctranslate2(NO_PART, version=version, copies=copies))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)
    assert f"the parts of cuDNN {built} if a program needs it, but" in found.why
    assert found.why.endswith(f"installed: cuDNN {there}")


def test_a_cudnn_of_its_major_out_of_the_way_is_no_other_one() -> None:
    copies = seen((other("9.10.2"), other("8.9.7", "/usr/local/lib", 1)))
    assert answer(CODE, on_ctranslate2(NO_PART, copies=copies)).kind is Status.NOT_APPLICABLE


def test_beside_a_torch_that_pins_its_cudnn_another_release_comes_first() -> None:
    """The first needs none, the second takes cuDNN 9, and does not find its parts either; torch keeps its own."""
    facts = on_ctranslate2(NO_PART, "faster-whisper", copies=seen((other("9.10.2")._replace(origin="wheel"),)))
    (there,) = facts.environments.get()
    torch = framework(requires=seen(("nvidia-cudnn-cu12==9.10.2.21",)))
    beside = there._replace(frameworks=seen((*there.frameworks.get(), torch)))
    needs = next(
        one for one in answers(CODE, facts._replace(environments=seen((beside,)))) if "ctranslate2" in one.subject
    ).needs
    assert [(as_json(one).product, as_json(one).spec or as_json(one).build) for one in needs[:2]] == [
        ("wheels", "ctranslate2==4.6.3"),
        ("wheels", "ctranslate2==4.5.0"),
    ]
    assert as_json(needs[2]).product == "cudnn"
