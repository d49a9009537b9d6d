"""cudart-soname-missing, for NCCL, which no CUDA release has."""

from __future__ import annotations

import pytest

from compat.need import as_json
from compat.version import CudaVersion
from doctor.model.facts.loader import Outcome
from tests.machine import environment, framework, loader, machine, prediction, seen, unseen
from tests.rules.case import answer


@pytest.mark.parametrize(
    ("package", "cuda", "wanted"),
    [
        ("mxnet-cu102", CudaVersion(10, 2), "Install NCCL 2 for CUDA 10.2"),
        ("mxnet-cu112", CudaVersion(11, 2), "nvidia-nccl-cu11"),
    ],
)
def test_nccl_comes_as_a_wheel_or_in_words(package: str, cuda: CudaVersion, wanted: str) -> None:
    lost = prediction(soname="libnccl.so.2", path=unseen("not found"), intended=unseen("no wheel"), asker=package)
    own = framework(package, "1.9.1", cuda=seen(cuda), requires=seen(()))
    told = seen((lost._replace(outcome=Outcome.MISSING, way=None),))
    facts = machine(environments=seen((environment(own),)), loader=loader(predictions=told))
    (need,) = answer("cudart-soname-missing", facts).needs
    assert wanted in as_json(need).spec
