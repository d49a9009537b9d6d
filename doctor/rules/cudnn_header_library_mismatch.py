"""The header of one cuDNN release lies beside the libraries of another."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import MoveFilesAside
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.seen import Seen, Unseen, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.cudnn_use import reinstall_need, searched, variable_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import CUDNN_COPIES


def check(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> Answer:
    """Compare them as far as both are known; a header without libraries, with those that the linker would take."""
    if not copy.parts.get():
        return _alone(copy, facts)
    if isinstance(copy.header_version, Unseen):
        raise NotApplicable(f"no readable header belongs to {copy.path}")
    header, library = copy.header_version.value, copy.version.get()
    if header.agrees_with(library):
        return ok(f"header and libraries are both cuDNN {header}")
    path = value_or(copy.header_path, "the header")
    return bad(
        (
            f"{path} is the header of cuDNN {header}, but the libraries in {copy.path} "
            f"are {library}: programs built here will fail"
        ),
        reinstall_need(copy, facts),
        severity=Severity.WARNING,
        evidence=(
            Evidence(f"defines cuDNN {header}", file=path),
            Evidence(f"cuDNN {library}", file=copy.path, label=f"{copy.path} ({how(copy.version)})"),
        ),
    )


def _alone(copy: CudnnCopy, facts: Facts) -> Answer:
    """The compiler takes the header wherever it lies, the linker the first copy on its path (gcc(1), -I and -L)."""
    if copy.environment or not any(isinstance(one.nvcc, Seen) for one in facts.toolkit.toolkits.get()):
        raise NotApplicable(f"{copy.path} has only a header, which no build here uses")
    pair = next((one for one in searched(facts) if value_or(one.parts, ()) and not variable_of(one, facts)), None)
    if pair is None:
        raise NotApplicable(f"{copy.path} has only a header, and no library is searched")
    header, library = copy.header_version.get(), pair.version.get()
    if header.agrees_with(library):
        return ok(f"the header in {copy.path} is of the cuDNN {library} that the linker takes")
    path = value_or(copy.header_path, copy.path)
    return bad(
        f"{path} is of cuDNN {header}, and the linker takes cuDNN {library} in {pair.path}: what is built here fails",
        MoveFilesAside(path, "cudnn*.h"),
        severity=Severity.WARNING,
        evidence=(Evidence(f"defines cuDNN {header}", file=path), Evidence(f"cuDNN {library}", file=pair.path)),
    )


RULE = Rule(CUDNN_COPIES, check, blocks_verdict=False)
