"""What rules about Dockerfiles begin with."""

from __future__ import annotations

from doctor.facts import Facts
from doctor.facts.dockerfile import DockerfileBase, DockerfileFacts
from doctor.facts.seen import Seen
from doctor.rules.shared.rule import NotApplicable


def from_line(base: DockerfileBase, image: str) -> str:
    """The line that a stage begins with, with another image; its flags and the stage's name stay."""
    stage = f"AS {base.stage}" if base.stage else ""
    return " ".join(filter(None, ("FROM", base.flags, image, stage)))


def dockerfile_of(facts: Facts) -> DockerfileFacts:
    """What was read; raises NotApplicable where no Dockerfile was."""
    if not isinstance(facts.dockerfile, Seen):
        raise NotApplicable("only of a Dockerfile")
    return facts.dockerfile.value
