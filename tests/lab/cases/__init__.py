"""Every case of the lab, by group."""

from __future__ import annotations

from tests.lab.case import Case
from tests.lab.cases import (
    beside_torch,
    cards,
    clusters,
    cuda_start,
    cudnn,
    distributions,
    driver,
    eras,
    extensions,
    frameworks,
    healthy,
    known,
    libraries,
    mixed,
    other_cuda,
    packages,
    python_advice,
    speech,
    surroundings,
    variables,
    windows,
)

CASES: tuple[Case, ...] = (
    *known.FAULTS,
    *known.CONTROLS,
    *driver.CASES,
    *cards.CASES,
    *distributions.CASES,
    *mixed.CASES,
    *surroundings.CASES,
    *variables.CASES,
    *frameworks.CASES,
    *cuda_start.CASES,
    *cudnn.CASES,
    *eras.CASES,
    *healthy.CASES,
    *libraries.CASES,
    *other_cuda.CASES,
    *extensions.CASES,
    *beside_torch.CASES,
    *speech.CASES,
    *packages.CASES,
    *python_advice.CASES,
    *clusters.CASES,
    *windows.CASES,
)
