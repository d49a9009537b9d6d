"""Files of a framework, or the loader's search path, could not be read: whether it works is unknown."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Status, ok, unknown
from doctor.rules.shared.cudnn_use import predictions_for
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """No fault of the machine; but that none was seen in what was read says nothing of the rest."""
    closed = environment_of(framework, facts).not_read
    folder = framework.path.rpartition("/")[0]
    own = [one for one in closed if one.startswith(f"{folder}/")]
    if own:
        return unknown(f"{own[0]} could not be read: permission denied")
    if facts.system.family.get() == "linux" and predictions_for(framework, facts):
        facts.loader.search.get()
        facts.loader.cache.get()
    return ok(f"the files of {framework.label} were read")


RULE = Rule(INSTALLED_FRAMEWORKS, check, never={Status.BAD: "the machine may be healthy"})
