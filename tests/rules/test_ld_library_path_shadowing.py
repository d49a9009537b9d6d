"""ld-library-path-shadowing, and what it explains."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import DropFromPath, as_json
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import FoundBy, Outcome, Way
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    CUDNN_DIR,
    RUNPATH,
    cudnn_copy,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    system,
    unseen,
)
from tests.rules.case import MATRIX, answer
from tests.rules.cudnn import BY_VARIABLE, OPT, other, path_variable, shadowed

CODE = "ld-library-path-shadowing"


@pytest.mark.parametrize(
    ("version", "kind", "severity"),
    [
        ("9.5.1", Status.BAD, Severity.ERROR),  # refused: older than the one it was compiled against
        ("8.9.7", Status.BAD, Severity.ERROR),
        ("9.10.1", Status.BAD, Severity.WARNING),  # patch levels are exchangeable
        ("9.12.0", Status.BAD, Severity.WARNING),
        ("9.10.2", Status.OK, Severity.ERROR),  # another copy of the same release does no harm
    ],
)
def test_release(version: str, kind: Status, severity: Severity) -> None:
    found = answer(CODE, shadowed(version))
    assert (found.kind, found.severity) == (kind, severity)


def test_jax_takes_an_older_one_than_its_own_from_the_release_on_that_it_was_built_with() -> None:
    """JAX 0.11.2 on an H100, built with 9.8 and installed with 9.19, computes with 9.14 (torch beside it refuses)."""
    plugin = framework("jax-cuda13-plugin", "0.11.2", cudnn=seen(CudnnVersion.parse("9.8")), requires=seen(()))
    for release, severity in (("9.9.0", Severity.WARNING), ("9.7.1", Severity.ERROR)):
        assert _severity_of(plugin, release) is severity


@pytest.mark.parametrize(
    ("package", "release", "severity"),
    [
        ("tensorflow", "2.18.0", Severity.ERROR),  # checks the minor that it was compiled with, 9.3
        ("tensorflow", "2.99.0", Severity.ERROR),  # no row says which that is: older than its own copy
        ("onnxruntime-gpu", "1.22.0", Severity.WARNING),  # any of cuDNN 9, by its documentation
    ],
)
def test_a_build_that_says_its_major_alone(package: str, release: str, severity: Severity) -> None:
    one = framework(package, release, build=seen(""), cudnn=seen(CudnnVersion.parse("9")), requires=seen(()))
    assert _severity_of(one, "9.1.0") is severity


def _severity_of(one: Framework, loaded: str) -> Severity:
    told = prediction(f"{OPT}/libcudnn.so.9", way=BY_VARIABLE, asker=one.package)
    on = path_variable(OPT, predictions=seen((told,)))
    copies = seen((cudnn_copy(), other(loaded)))
    found = answer(CODE, machine(cudnn=copies, environments=seen((environment(one),)), **on))
    assert found.kind is Status.BAD
    return found.severity


def test_it_reads_like_a_diagnosis() -> None:
    found = answer(CODE, shadowed())
    assert found.why == "torch 2.9.1+cu128 will load cuDNN 9.5.1 instead of its own 9.10.2"
    assert found.needs == (DropFromPath("LD_LIBRARY_PATH", OPT, "~/.bashrc, line 118"),)
    assert any("pinned by nvidia-cudnn-cu12==9.10.2.21" in one.detail for one in found.evidence)


def test_it_is_the_root_of_the_mismatch() -> None:
    rules = load_rules([CODE, "cudnn-version-mismatch-loaded-vs-compiled", "cudnn-copies-conflict"])
    roots = root_causes(judge(shadowed(), MATRIX, rules))
    assert roots["cudnn-version-mismatch-loaded-vs-compiled", "torch 2.9.1+cu128"].code == CODE


def test_a_part_is_found_by_a_search_of_its_own() -> None:
    """torch's RPATH finds the wheel's main library; what computes comes from LD_LIBRARY_PATH all the same."""
    part = prediction(f"{OPT}/libcudnn_graph.so.9", soname="libcudnn_graph.so.9", way=BY_VARIABLE)
    part = part._replace(intended=seen(f"{CUDNN_DIR}/libcudnn_graph.so.9"))
    facts = machine(cudnn=seen((cudnn_copy(), other())), **path_variable(OPT, predictions=seen((prediction(), part))))
    assert answer(CODE, facts).why == "torch 2.9.1+cu128 will load cuDNN 9.5.1 instead of its own 9.10.2"
    assert answer("cudnn-version-mismatch-loaded-vs-compiled", facts).kind is Status.BAD


def _told(**changes: Any) -> Facts:
    told = prediction(f"{OPT}/libcudnn.so.9", way=BY_VARIABLE)._replace(**changes)
    return machine(cudnn=seen((cudnn_copy(), other())), **path_variable(OPT, predictions=seen((told,))))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (_told(way=RUNPATH), Status.OK),  # RUNPATH is not PATH
        (_told(way=Way(FoundBy.CACHE)), Status.OK),
        (_told(intended=unseen("pins none")), Status.NOT_APPLICABLE),
        (_told(path=unseen("a directory of LD_LIBRARY_PATH may not be read")), Status.UNKNOWN),
        (_told(path=unseen("no such file"), way=None, outcome=Outcome.MISSING), Status.NOT_APPLICABLE),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
        (machine(loader=loader(predictions=seen(()))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_unknown_release_is_only_a_warning() -> None:
    told = prediction(f"{OPT}/libcudnn.so.9", way=BY_VARIABLE)
    copies = (cudnn_copy(), other(version=unseen("no symbol")))
    found = answer(CODE, machine(cudnn=seen(copies), **path_variable(OPT, predictions=seen((told,)))))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)


def test_path_on_windows() -> None:
    told = prediction("C:/CUDA/bin/cudnn64_9.dll", soname="cudnn64_9.dll", way=Way(FoundBy.PATH, entry="C:/CUDA/bin"))
    told = told._replace(intended=seen("C:/venv/torch/lib/cudnn64_9.dll"))
    facts = machine(system=system(family=seen("windows")), loader=loader(predictions=seen((told,))))
    (need,) = answer(CODE, facts).needs
    assert (as_json(need).build, as_json(need).spec) == ("PATH", "without C:/CUDA/bin")


def test_preload_is_unset() -> None:
    facts = _told(way=Way(FoundBy.PRELOAD, entry=f"{OPT}/libcudnn.so.9"))
    (need,) = answer(CODE, facts).needs
    assert (as_json(need).build, as_json(need).spec) == ("LD_PRELOAD", "")


def test_each_framework_is_judged_by_its_own_prediction() -> None:
    assert answer(CODE, shadowed()).subject == framework().label
