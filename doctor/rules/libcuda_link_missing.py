"""cuDNN 8.5 or 8.6 opens libcuda.so, and the driver is found as libcuda.so.1 alone: the process aborts."""

from __future__ import annotations

import posixpath

from compat.matrix import Matrix
from compat.need import LinkTo
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome
from doctor.model.facts.seen import Unseen
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import need_own_cuda
from doctor.rules.shared.conditions import loading_library
from doctor.rules.shared.cuda_libraries import with_directories
from doctor.rules.shared.cudnn_use import predictions_for
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, need_gpu, need_linux

_NAME = "libcuda.so"


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Without any driver this is not the fault; Windows' own directory in WSL has the name, and is not searched."""
    need_linux(facts)
    need_own_cuda(framework)
    asked = next((one for one in predictions_for(framework, facts) if one.soname == _NAME), None)
    if asked is None:
        raise NotApplicable(f"{framework.label} does not open {_NAME}")
    if asked.outcome is Outcome.FOUND:
        return ok(f"{framework.label} finds {asked.path.get()}")
    need_gpu(facts)
    if asked.outcome is Outcome.UNREAD:
        asked.path.get()
    driver = loading_library(facts, "libcuda")
    if driver is None:
        raise NotApplicable("libcuda.so.1 was not found either")
    folder = posixpath.dirname(driver.path)
    need = (
        with_directories((folder,), facts)
        if driver.origin == "wsl"
        else LinkTo(f"{folder}/{_NAME}", posixpath.basename(driver.path))
    )
    return bad(
        f"{framework.label} will abort in cuDNN: it opens {_NAME}, but only {driver.path} was found",
        need,
        evidence=(
            Evidence(f"opens {_NAME} at its start", file=asked.library),
            Evidence(
                asked.path.why if isinstance(asked.path, Unseen) else "", label=(f"the loader's search for {_NAME}")
            ),
        ),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
