"""A real machine with an H100, as it was and with faults put into copies of its environment, beside what came of them.

`h100/*.json.gz` are reports of `gpudoctor check --redact --format json` of 2026-11-26, findings taken out: driver
580.159.04, Ubuntu 24.04, CUDA 13.0, torch 2.11.0+cu130, JAX 0.11.2, CuPy 14.2.0, ONNX Runtime 1.30.0 for the CPU.
On each, torch and JAX then convolved, or did not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.cli import execute

HERE = Path(__file__).parent / "h100"
WORKED, REFUSED, NO_DEVICE, ERROR_803 = "it convolved", "cuDNN version incompatibility", "no device", "error 803"
ON_THE_CPU = "cpu-only-wheel"  # ONNX Runtime's, on every one of them
NOT_IN_THESE = "requirement-not-met"  # these reports were made before what it needs was read


class Host(NamedTuple):
    """One state of it."""

    name: str
    torch: str
    jax: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


HOSTS = (
    Host("healthy", WORKED, WORKED),
    Host("driver-by-ldconfig", WORKED, WORKED),
    Host("no-device-named", NO_DEVICE, NO_DEVICE, ("cuda-visible-devices-empty-or-invalid",)),
    Host("device-7-named", NO_DEVICE, NO_DEVICE, ("cuda-visible-devices-empty-or-invalid",)),
    Host("older-cuda-compat", ERROR_803, ERROR_803, ("forward-compat-mistake",)),
    Host(
        "older-cudnn-by-variable",
        REFUSED,
        WORKED,  # with 9.14, for it was built with 9.8
        ("ld-library-path-shadowing",),
        ("ld-library-path-shadowing",),
    ),
    Host(
        "older-cudnn-put-over",
        REFUSED,
        WORKED,
        ("cudnn-version-mismatch-loaded-vs-compiled",),
        ("cudnn-header-library-mismatch",),
    ),
    Host(
        "without-graph",
        REFUSED,  # the system's 9.14 was found for it
        WORKED,
        ("cudnn-install-incomplete", "cudnn-sublibrary-mixed", "cudnn-version-mismatch-loaded-vs-compiled"),
    ),
    # One convolution did not use what is ill; cuDNN's own check of its parts refused the second of these.
    Host("without-precompiled-engines", WORKED, WORKED, ("cudnn-install-incomplete", "cudnn-sublibrary-mixed")),
    Host("ops-of-older-cudnn", WORKED, WORKED, ("cudnn-sublibrary-mixed",)),
    Host("cnn-cut-short", WORKED, WORKED, ("cudnn-install-incomplete",)),
    Host("without-cublas", WORKED, WORKED, (), ("corrupted-install",)),  # the toolkit's was found for it
)


def test_every_saved_one_is_judged() -> None:
    assert {one.name for one in HOSTS} == {path.name.partition(".")[0] for path in HERE.iterdir()}


@pytest.mark.parametrize("host", HOSTS, ids=[one.name for one in HOSTS])
def test_what_is_said_is_what_came_of_it(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["check", "--from", str(HERE / f"{host.name}.json.gz"), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    told = [one for one in report["findings"] if not one["explained_by"]]
    by_severity = {
        severity: tuple(one["code"] for one in told if one["severity"] == severity and one["code"] != ON_THE_CPU)
        for severity in ("error", "warning")
    }
    assert by_severity == {"error": host.errors, "warning": host.warnings}
    assert [one["subject"] for one in told if one["code"] == ON_THE_CPU] == ["onnxruntime 1.30.0"]
    assert {one["code"] for one in report["answers"] if one["answer"] == "unknown"} <= {NOT_IN_THESE}
    if host.torch != WORKED:
        assert host.errors  # what does not run is never passed over


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("older-cudnn-by-variable", "remove /usr/lib/x86_64-linux-gnu from LD_LIBRARY_PATH"),
        ("older-cuda-compat", "remove /usr/local/cuda-13.0/compat from LD_LIBRARY_PATH"),
    ],
)
def test_a_variable_of_the_loader_is_corrected(name: str, summary: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is loaded then is only told on that machine; that is no reason to call the fix wrong."""
    execute(["check", "--from", str(HERE / f"{name}.json.gz"), "--format", "json"])
    remedy = json.loads(capsys.readouterr().out)["findings"][0]["remedies"][0]
    assert remedy["summary"] == summary
    assert "only a look" in remedy["left_open"]
