"""A GPU is older than anything that a framework was built for."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer
from doctor.rules.shared.gpu_code import TOO_OLD, answer
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """BAD when the build lacks code for a GPU because its generation was dropped."""
    return answer(TOO_OLD, framework, facts, matrix)


RULE = Rule(FRAMEWORKS, check, blocks_verdict=False)  # what is unknown, gpu-arch-not-in-build says
