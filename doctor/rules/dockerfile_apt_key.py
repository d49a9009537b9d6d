"""A Dockerfile updates apt in an image whose NVIDIA package key has ended: the build stops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compat.matrix import Matrix
from compat.need import Advice
from compat.specifier import accepts
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

if TYPE_CHECKING:
    from compat.platform_row import AgedImageRow

_IMAGE = re.compile(r"(?:docker\.io/)?([\w.-]+/[\w.-]+):(\d+(?:\.\d+)+)(?:rc\d+)?((?:-[\w.]+)*)")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the base image with those of before 2022-04-27, where NVIDIA changed its package key."""
    told = dockerfile_of(facts)
    found = _IMAGE.fullmatch(told.base.image)
    rows: tuple[AgedImageRow, ...] = matrix.rows("platform", "aged-images")
    row = next((one for one in rows if found and found[1] == one.image and one.variant in found[3].split("-")), None)
    if found is None or row is None or not accepts(row.versions, found[2]):
        raise NotApplicable("the base image has no package source with an ended key that a row knows")
    if not told.apt_updates:
        return ok("no line updates apt before the key is replaced")
    first = told.apt_updates[0]
    image, lists = told.base.image, "/etc/apt/sources.list.d"
    return bad(
        f"{first.source} stops the build: {image} has NVIDIA's package source with a key that ended on 2022-04-27",
        Advice(f"before the RUN instruction of {first.source}: RUN rm -f {lists}/cuda.list {lists}/nvidia-ml.list"),
        evidence=(Evidence.at(first.source, first.what), Evidence.at(told.base.source, f"FROM {image}")),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "an image without a row is not asked about"})
