"""What an image asks of the NVIDIA container runtime: its variables, and whether anything in it computes on a GPU.

Source: NVIDIA Container Toolkit, "Specialized Configurations with Docker" (GPU enumeration, driver capabilities,
constraints).

Rules about Dockerfiles begin with `dockerfile_of`.
"""

from __future__ import annotations

from doctor.model.facts import Facts
from doctor.model.facts.dockerfile import DockerfileBase, DockerfileFacts
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.seen import Place, Seen, value_or
from doctor.rules.shared.rule import NotApplicable


def image_of(facts: Facts) -> ImageFacts:
    """The image; raises NotApplicable where none was looked at."""
    if not isinstance(facts.image, Seen) or not facts.image.value.has_config:
        raise NotApplicable("the configuration of an image is not known here")
    return facts.image.value


def said_by(name: str, facts: Facts) -> str | Place:
    """Where a variable of the image stands: the line of its Dockerfile or its history, else its configuration."""
    for one in value_or(facts.configuration.variables, ()):
        if one.name == name and (one.set_at or one.set_in):
            return one.set_at or one.set_in
    return "the image's configuration"


def set_to(name: str, value: str, facts: Facts) -> str:
    """What to write so that containers have this value: a compose file's own goes before that of the image."""
    place = said_by(name, facts)
    if isinstance(place, Place) and place.file.endswith((".yaml", ".yml")):
        return f"In {place}, set {name}: {value} under environment"
    return f"In the Dockerfile, set ENV {name}={value}"


def need_cuda_inside(facts: Facts) -> None:
    """Raise NotApplicable where nothing in the image uses a GPU."""
    frameworks = any(value_or(one.frameworks, ()) for one in facts.environments.get())
    if not frameworks and not value_or(facts.cudnn, ()) and not value_or(facts.toolkit.toolkits, ()):
        raise NotApplicable("nothing in the image uses a GPU")


def from_line(base: DockerfileBase, image: str) -> str:
    """The line that a stage begins with, with another image; its flags and the stage's name stay."""
    stage = f"AS {base.stage}" if base.stage else ""
    return " ".join(filter(None, ("FROM", base.flags, image, stage)))


def dockerfile_of(facts: Facts) -> DockerfileFacts:
    """What was read; raises NotApplicable where no Dockerfile was."""
    if not isinstance(facts.dockerfile, Seen):
        raise NotApplicable("only for a Dockerfile")
    return facts.dockerfile.value
