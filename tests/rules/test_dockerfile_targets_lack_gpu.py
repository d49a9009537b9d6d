"""dockerfile-targets-lack-gpu: what a build compiles for, and the GPU that it shall run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.need import Advice
from doctor.model.finding import Severity, Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

DEVEL = "FROM nvidia/cuda:12.8.1-devel-ubuntu24.04\n"
CMAKE = DEVEL + 'RUN cmake .. -DCMAKE_CUDA_ARCHITECTURES="{}" && ninja\n'
TORCH = DEVEL + 'ENV TORCH_CUDA_ARCH_LIST="{}"\nRUN pip install --no-build-isolation flash-attn\n'
BAD, OK, NONE = Status.BAD, Status.OK, Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "gpu", "kind", "severity"),
    [
        (CMAKE.format("80;86;89;90"), "RTX 5090", BAD, Severity.INFO),
        (CMAKE.format("80-real;90-real"), "RTX 5090", BAD, Severity.WARNING),
        (CMAKE.format("80;120"), "RTX 5090", OK, None),
        (CMAKE.format("80"), "RTX 3090", OK, None),
        (CMAKE.format("86"), "A100", BAD, Severity.WARNING),
        (CMAKE.format("90a"), "H100", OK, None),
        (CMAKE.format("native"), "H100", NONE, None),
        (CMAKE.format("80"), "", Status.UNKNOWN, None),
        (TORCH.format("8.0 8.6"), "H100", BAD, Severity.WARNING),
        (TORCH.format("8.0 8.6+PTX"), "H100", BAD, Severity.INFO),
        (TORCH.format("8.0;9.0"), "H100", OK, None),
        (TORCH.format("Turing"), "H100", NONE, None),
    ],
)
def test_kinds(text: str, gpu: str, kind: Status, severity: Severity | None, tmp_path: Path) -> None:
    found = answer("dockerfile-targets-lack-gpu", facts(tmp_path, text, assume_gpus=(gpu,) if gpu else ()))
    assert found.kind is kind, found
    if severity:
        assert (found.severity, found.evidence[0].file) == (severity, "Dockerfile")


def test_the_line_of_the_variable_is_named_once(tmp_path: Path) -> None:
    found = answer("dockerfile-targets-lack-gpu", facts(tmp_path, TORCH.format("8.0;8.6"), assume_gpus=("H100",)))
    assert (found.evidence[0].line, found.explains[0].code) == (2, "variable-leads-astray")
    assert found.needs == (Advice('Dockerfile:2: ENV TORCH_CUDA_ARCH_LIST="8.0;8.6;9.0"'),)
