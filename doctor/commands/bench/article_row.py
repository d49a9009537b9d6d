"""The row type of articles.json; None means that the article does not say."""

from compat.base.record import NamedTuple


class ArticleRow(NamedTuple):
    """What one article measured: seconds per epoch, or ratios alone."""

    id: str
    networks: tuple[str, ...]  # names of rows in doctor/commands/bench/networks
    images: int | None  # per epoch
    cpu_s: int | None
    gpu_s: int | None  # no memory pool
    gpu_pool_s: int | None  # Theano's CNMeM
    cudnn_s: int | None
    gpu_ratio: int | None  # times its CPU, where no seconds are given; rounded
    cudnn_ratio: int | None
    machine: str
    software: str
    year: int
    source: str
    read_on: str
    confidence: str  # high, medium or low, as in compat/row.py
    note: str
