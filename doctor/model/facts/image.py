"""Facts about the image that was looked at, beside its files."""

from compat.base.record import NamedTuple


class ImageLayer(NamedTuple):
    """A layer of an image."""

    digest: str  # "" where the file has none
    made_by: str  # the line of the history that made it, cut short; "" where none is known


class ImageFacts(NamedTuple):
    """What an image says of itself, and what reading it cost."""

    format: str  # "OCI layout", "container archive", "root tar", "root directory"
    names: tuple[str, ...]  # that it has in its file
    digest: str  # of its manifest, "" where there is none
    platform: str  # "linux/amd64", "" where its configuration does not say it
    user: str  # that its process runs as, "" for root
    command: tuple[str, ...]  # entrypoint and arguments
    has_config: bool  # whether it has a configuration; a plain root tar has none
    gpu_env: tuple[tuple[str, str], ...]  # the variables that the NVIDIA container runtime reads
    layers: tuple[ImageLayer, ...]
    read_bytes: int  # of its file or files; of what is not packed only headers and what was asked for are read
    unpacked_bytes: int
    kept_bytes: int  # in temporary space
