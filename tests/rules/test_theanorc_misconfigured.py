"""theanorc-misconfigured."""

from __future__ import annotations

import pytest

from doctor.model.facts import Facts
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity, Status
from tests.machine import configuration, environment, framework, machine, seen, unseen
from tests.rules.case import answer

CODE = "theanorc-misconfigured"
TWICE = "set twice in one section"
GONE = "names a directory that does not exist"


def option(name: str, value: str, problem: str = "", source: str = "~/.theanorc, line 2") -> Setting:
    file, _, line = source.rpartition(", line ")
    return Setting("theano", source, name, value, problem, Place(file, int(line)) if file else None)


def facts(*settings: Setting, version: str = "0.8.2", python: str = "2.7.12") -> Facts:
    theano = framework("theano", version, build=seen(""))
    return machine(
        environments=seen((environment(theano, python=seen(python)),)),
        configuration=configuration(settings=seen(settings)),
    )


GPU, CUDA, FLOAT = option("device", "gpu"), option("device", "cuda0"), option("floatX", "float32")


@pytest.mark.parametrize(
    ("version", "settings", "kind", "severity"),
    [
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "0.8")), Status.OK, None),
        ("0.9.0", (GPU, FLOAT), Status.OK, None),
        ("1.0.5", (CUDA, FLOAT), Status.OK, None),
        ("1.0.5", (CUDA,), Status.OK, None),  # the new back end computes in float64 too
        ("0.8.2", (option("device", "cpu"),), Status.OK, None),
        ("1.0.5", (GPU, FLOAT), Status.BAD, Severity.ERROR),
        ("0.10.0b1", (GPU, FLOAT), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU,), Status.BAD, Severity.ERROR),  # floatX is float64 unless it is set
        ("0.8.2", (GPU, option("floatX", "float64")), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU, option("floatX", "float64"), option("floatX", "float32", "", "THEANO_FLAGS")), Status.OK, None),
        ("0.8.2", (GPU, option("floatX", "single")), Status.BAD, Severity.ERROR),
        ("0.8.2", (option("device", "GPU"), FLOAT), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "0")), Status.OK, None),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "1")), Status.OK, None),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "4096")), Status.OK, None),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "80")), Status.BAD, Severity.WARNING),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "-1")), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "80%")), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU, FLOAT, option("lib.cnmem", "nan")), Status.BAD, Severity.ERROR),
        ("0.9.0", (CUDA, FLOAT, option("lib.cnmem", "0.8")), Status.BAD, Severity.INFO),
        ("1.0.5", (CUDA, FLOAT, option("lib.cnmem", "80%")), Status.OK, None),  # not read any more
        ("1.0.5", (CUDA, FLOAT, option("gpuarray.preallocate", "0.8")), Status.OK, None),
        ("1.0.5", (CUDA, FLOAT, option("gpuarray.preallocate", "-1")), Status.OK, None),
        ("1.0.5", (CUDA, FLOAT, option("gpuarray.preallocate", "80")), Status.BAD, Severity.WARNING),
        ("1.0.5", (CUDA, FLOAT, option("gpuarray.preallocate", "all")), Status.BAD, Severity.ERROR),
        ("0.8.2", (GPU, FLOAT, option("nvcc.flags", "-O3 -arch=sm_30")), Status.OK, None),
        ("0.8.2", (GPU, FLOAT, option("nvcc.flags", "-arch sm_30")), Status.BAD, Severity.ERROR),
        ("1.0.5", (CUDA, FLOAT, option("nvcc.flags", "-arch sm_30")), Status.OK, None),  # nobody calls nvcc
        ("0.8.2", (option("lib.device", "gpu"),), Status.BAD, Severity.WARNING),
        ("0.8.2", (option("global.lib.cnmem", "1", "is ignored here"),), Status.BAD, Severity.WARNING),
        ("0.8.2", (GPU, FLOAT, option("dnn.include_path", "/x", GONE)), Status.BAD, Severity.WARNING),
        ("0.8.2", (option("device", "cpu"), option("dnn.include_path", "/x", GONE)), Status.OK, None),
        (
            "0.8.2",
            (GPU, FLOAT, option("dnn.enabled", "False"), option("dnn.include_path", "/x", GONE)),
            Status.OK,
            None,
        ),
        ("7.0", (GPU, FLOAT), Status.UNKNOWN, None),
        ("0.8.2", (), Status.NOT_APPLICABLE, None),
    ],
)
def test_what_the_settings_mean(
    version: str, settings: tuple[Setting, ...], kind: Status, severity: Severity | None
) -> None:
    found = answer(CODE, facts(*settings, version=version))
    assert found.kind is kind
    assert severity in {None, found.severity}
    assert kind is not Status.BAD or found.needs


@pytest.mark.parametrize(
    ("python", "setting", "severity"),
    [
        ("2.7.12", option("nvcc.flags", "-a", TWICE), Severity.WARNING),  # the last one wins
        ("3.5.2", option("nvcc.flags", "-a", TWICE), Severity.ERROR),  # DuplicateOptionError
        ("3.5.2", option("[nvcc]", "", "this section is there twice"), Severity.ERROR),
        ("2.7.12", option("device", "cpu", "is above the first [section]"), Severity.ERROR),
        ("3.5.2", option("device", "", "has no value and is ignored", "THEANO_FLAGS"), Severity.WARNING),
    ],
)
def test_how_the_settings_are_written(python: str, setting: Setting, severity: Severity) -> None:
    found = answer(CODE, facts(setting, python=python))
    assert (found.kind, found.severity) == (Status.BAD, severity)
    assert found.evidence[0].source == setting.source


def test_every_fault_is_evidence_and_the_worst_comes_first() -> None:
    found = answer(CODE, facts(GPU, option("lib.cnmem", "80"), option("floatX", "float64")))
    assert found.severity is Severity.ERROR
    assert len(found.evidence) == 2


def test_unseen_settings_are_unknown_and_without_theano_it_does_not_apply() -> None:
    assert answer(CODE, machine()).kind is Status.NOT_APPLICABLE
    unread = facts()._replace(configuration=configuration(settings=unseen("failed")))
    assert answer(CODE, unread).kind is Status.UNKNOWN
