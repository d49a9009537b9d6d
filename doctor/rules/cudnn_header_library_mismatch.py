"""The header of one cuDNN release lies beside the libraries of another."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.check.finding import Answer, Evidence, Severity, bad, ok
from doctor.facts import Facts
from doctor.facts.cudnn import CudnnCopy
from doctor.facts.seen import Unseen, how, value_or
from doctor.rules.shared.cudnn_use import mending, need_parts
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """Compare them as far as both are known."""
    need_parts(copy)
    if isinstance(copy.header_version, Unseen):
        raise NotApplicable(f"no header that could be read belongs to {copy.path}")
    header, library = copy.header_version.value, copy.version.get()
    if header.agrees_with(library):
        return ok(f"header and libraries are both cuDNN {header}")
    path = value_or(copy.header_path, "the header")
    return bad(
        f"{path} is of cuDNN {header}, the libraries in {copy.path} are {library}: "
        "what is built here will be refused, or fail, when it runs",
        mending(copy, facts),
        severity=Severity.WARNING,
        evidence=(
            Evidence(path, f"defines cuDNN {header}"),
            Evidence(f"{copy.path} ({how(copy.version)})", f"cuDNN {library}"),
        ),
    )


RULE = Rule("cuDNN's header and libraries are of different releases", CUDNN_COPIES, check, matters=False)
