"""The facts of an image, apart from those that the probes see in its files."""

from __future__ import annotations

from doctor.image.config import Config
from doctor.image.opened import Image
from doctor.model.facts.image import ImageFacts, ImageLayer

_RUNTIME = "NVIDIA_"
_OF_RUNTIME = ("DISABLE_REQUIRE", "DRIVER_CAPABILITIES", "VISIBLE_DEVICES", "REQUIRE_")
_LEGACY = "CUDA_VERSION"  # counts where NVIDIA_REQUIRE_CUDA is not set
_LINE_CHARS = 120


def facts_of(image: Image) -> ImageFacts:
    """What the image says of itself."""
    return of_config(
        image.config
    )._replace(
        format=image.format,
        has_config=image.config.is_known and image.format != "SIF",  # NVIDIA's runtime does not start it
        names=image.names,
        digest=image.digest,
        layers=tuple(ImageLayer(one.digest, one.made_by[:_LINE_CHARS]) for one in image.layers),
        read_bytes=image.tally.read_bytes,
        unpacked_bytes=image.tally.unpacked_bytes,
        kept_bytes=image.spool.size_bytes,
    )


def of_config(config: Config) -> ImageFacts:
    """What a configuration alone says, which --config gives a root directory."""
    return ImageFacts(
        format="root directory",
        names=(),
        digest="",
        platform=f"{config.os_family}/{config.machine}" if config.machine else "",
        user=config.user,
        command=config.command,
        has_config=config.is_known,
        gpu_env=tuple(
            (name, value)
            for name, value in sorted(dict(config.env).items())
            if name == _LEGACY or (name.startswith(_RUNTIME) and name[len(_RUNTIME) :].startswith(_OF_RUNTIME))
        ),
        layers=(),
        read_bytes=0,
        unpacked_bytes=0,
        kept_bytes=0,
    )
