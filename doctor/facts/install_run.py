"""Facts about earlier runs of `gpudoctor install`."""

from compat.record import NamedTuple


class InstallRun(NamedTuple):
    """A run whose record says neither that it ended nor that it was taken back."""

    id: str
    summary: str  # what was to be installed, "" where the record does not say
    directory: str  # its record, and the originals of what it replaced
    state: str  # "killed", "at work", "unclear": one of both, "damaged": the record is not as it was written
