"""Images of machines as files: container archives, layouts, root tars. They are read, never unpacked and never run.

No name of an image ever becomes a name on this machine: its tree is kept in memory, and the kept parts of its files
are in one unlinked temporary file. So nothing of a hostile image can be written outside of it.
"""

from __future__ import annotations

from doctor.host import BadRequest

# Smaller chunks are handed over too often: a thread that has one ready waits for the other's Python.
CHUNK_BYTES = 1 << 20
SMALL_BYTES = 4 << 20  # a manifest or configuration; the specification's own limit for a manifest
ENTRIES_AT_MOST = 500_000  # files of an image; 90,000 in a large one with three frameworks, some 450 bytes each here
KEPT_AT_MOST_BYTES = 256 << 20  # of temporary space; with the scratch below 512 MiB
SCRATCH_AT_MOST_BYTES = 256 << 20  # of a single library, until what is needed of it is known
UNPACKED_AT_MOST_BYTES = 1 << 40  # of one layer; the largest images have 100 GB in all
BOMB_BYTES, BOMB_RATIO = 8 << 30, 400  # more than so much from so little is no image: deflate's own limit is 1,032


class ImageError(BadRequest):
    """The image cannot be judged: damaged, incomplete, of a kind that is not read. One line and exit 2."""


class Damaged(ImageError):
    """The image is not what its own headers or digests say."""
