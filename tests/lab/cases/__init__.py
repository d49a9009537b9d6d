"""Every case of the lab, by group."""

from __future__ import annotations

from tests.lab.case import Case
from tests.lab.cases import (
    cards,
    clusters,
    cudnn,
    driver,
    eras,
    extensions,
    frameworks,
    healthy,
    known,
    libraries,
    packages,
    python_advice,
    surroundings,
)

CASES: tuple[Case, ...] = (
    *known.FAULTS,
    *known.CONTROLS,
    *driver.CASES,
    *cards.CASES,
    *surroundings.CASES,
    *frameworks.CASES,
    *cudnn.CASES,
    *eras.CASES,
    *healthy.CASES,
    *libraries.CASES,
    *extensions.CASES,
    *packages.CASES,
    *python_advice.CASES,
    *clusters.CASES,
)
