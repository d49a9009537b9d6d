"""A framework's build has no code for a GPU, although its CUDA could have compiled for it."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer
from doctor.rules.shared.gpu_code import NOT_IN_BUILD, answer
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """BAD when the build lacks code for a GPU and the GPU is neither too new for its CUDA nor dropped."""
    return answer(NOT_IN_BUILD, framework, facts, matrix)


RULE = Rule(FRAMEWORKS, check)
