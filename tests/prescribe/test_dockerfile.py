"""A remedy as lines of a Dockerfile: no line gives a variable an empty value where it shall be unset."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import ClearVariable
from doctor.model.facts import Machine
from doctor.model.facts.environment import Variable
from doctor.model.finding import bad
from doctor.prescribe.remedies import prescribe
from tests.commands.dockerfile.judged import report
from tests.machine import configuration, machine, seen

MATRIX = Matrix()
BASE = "FROM nvidia/cuda:12.8.1-devel-ubuntu24.04\n"


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "TORCH_CUDA_ARCH_LIST", "JAX_PLATFORMS", "LD_PRELOAD"])
@pytest.mark.parametrize("place", ["", "~/.bashrc, line 3", "Dockerfile:3"])
@pytest.mark.parametrize("kind", ["image", "dockerfile", "root"])
def test_unset_is_not_empty(name: str, place: str, kind: str) -> None:
    """CUDA_VISIBLE_DEVICES="" hides every GPU."""
    told = configuration(variables=seen((Variable(name, "x", place),)))
    facts = machine(machine=Machine(kind, "that one"), configuration=told)
    (remedy,) = prescribe(bad("broken", ClearVariable(name, place)), facts, MATRIX)
    lines = [line for line in remedy.commands if name in line]
    assert lines
    assert not [line for line in lines if f"{name}=" in line]
    assert place != "Dockerfile:3" or kind != "dockerfile" or lines == [f"# {place}: delete {name} from this line"]


def test_of_a_dockerfile(tmp_path: Path) -> None:
    """What the two kinds of remedy are for a variable that a line of it sets."""
    text = f'{BASE}ENV TORCH_CUDA_ARCH_LIST="8.0 8.6"\nENV CUDA_MODULE_LOADING=ON_DEMAND\n'
    told = {"assume_gpus": ("RTX 5090",), "assume_driver": "580.95.05", "only": ("variable-leads-astray",)}
    found = report(tmp_path, text, **told)
    assert {one.subject: one.remedies[0].commands for one in found.findings} == {
        "TORCH_CUDA_ARCH_LIST": (
            "# Dockerfile:2: use this value for TORCH_CUDA_ARCH_LIST",
            'ENV TORCH_CUDA_ARCH_LIST="8.0 8.6 12.0"',
        ),
        "CUDA_MODULE_LOADING": ("# Dockerfile:3: delete CUDA_MODULE_LOADING from this line",),
    }
