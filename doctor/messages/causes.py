"""From messages to causes: every match, then one cause for each code, the surest first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.messages.clues import Clues
from doctor.messages.reading import Line, Reading
from doctor.messages.signature import MIN_CONFIDENCE, Means, Signature, families, refutations
from doctor.messages.widths import unwrap_lines
from doctor.model.finding import Remedy

_MOST_MATCHES = 40  # of one signature: a log repeats its message
_KNOWN = 0.4  # a message this sure is told without asking what the text's other words may mean
_MOST_LINES = 5  # that are shown of one cause
NOTHING_TO_INSTALL = frozenset(("not-a-stack-problem", "out-of-memory-not-a-stack-fault"))
# The user's program, its data or its load; or a framework's own fault. To reinstall a driver, CUDA or cuDNN is wrong.
NOT_THE_STACK = frozenset(
    (
        *NOTHING_TO_INSTALL,
        *("framework-bug", "memory-growth"),
        *("cudnn-too-new-warn", "driver-older-than-ptxas-warn", "mig-single-instance", "no-nvidia-gpu"),
    )
)
_REFUTABLE = frozenset(
    (
        *("no-kernel-module", "windows-driver-missing", "no-nvidia-gpu", "cpu-only-wheel", "needed-library-missing"),
        *("cuda-visible-devices-empty-or-invalid", "driver-library-mismatch", "driver-too-old-for-runtime"),
        *("ecc-xid-hardware-fault", "extension-built-for-other-arch", "forward-compat-mistake", "gpu-compute-mode"),
        *("gpu-arch-not-in-build", "gpu-too-new-for-cuda", "gpu-too-old-dropped", "nccl-p2p-acs-iommu"),
    )
)
# A message names the fault roughly where the rules know which of these it is.
MORE_EXACT = {"gpu-arch-not-in-build": ("gpu-too-new-for-cuda", "gpu-too-old-dropped")}


class Matched(NamedTuple):
    """A line that speaks for a cause."""

    line: int
    text: str


class Cause(NamedTuple):
    """One cause that the text speaks for."""

    code: str
    confidence: float
    summary: str
    matched: tuple[Matched, ...]
    asks: str  # the question that decides, "" where none is open
    source: str  # who prints the message
    blames_stack: bool
    remedies: tuple[Remedy, ...] = ()  # proven on what the text shows of the machine
    mends: str = ""  # what to do, "" for what the page of its code says


class _Hit(NamedTuple):
    means: Means
    signature: Signature
    line: Line


class _Unwrapped:
    """One block of the text, in one way to read it."""

    def __init__(self, block: tuple[Line, ...], parts: Sequence[str]) -> None:
        self._block, self._starts = block, [0, *accumulate(map(len, parts))]
        self.text = "".join(parts)
        self.small = self.text.lower()

    def line_at(self, place: int) -> Line:
        return self._block[bisect_right(self._starts, place) - 1]


def causes_of(reading: Reading, matrix: Matrix) -> tuple[Cause, ...]:
    """The causes that are worth saying, the surest first; of equal ones that which was printed first."""
    clues = Clues(reading, matrix)
    unwrapped = [_Unwrapped(block, parts) for block in reading.blocks for parts in unwrap_lines(block)]
    hits = list(_hits(unwrapped, clues, general=False))
    if all(hit.means.confidence < _KNOWN for hit in hits):
        hits += _hits(unwrapped, clues, general=True)
    by_code: dict[str, list[_Hit]] = {}
    for hit in hits:
        by_code.setdefault(hit.means.code, []).append(hit)
    refuted = _refuted(by_code, clues)
    found = [_cause(code, mine) for code, mine in by_code.items() if code not in refuted]
    return tuple(sorted((one for one in found if one.confidence >= MIN_CONFIDENCE), key=_rank))


def _refuted(codes: Iterable[str], clues: Clues) -> frozenset[str]:
    """Of the codes, those that the text itself shows to be wrong."""
    asked = frozenset(codes)
    # The rows are read only where a code has some.
    if not asked & _REFUTABLE:
        return frozenset()
    return frozenset().union(*(codes & asked for codes, shown in refutations() if codes & asked and clues.has(shown)))


def _rank(cause: Cause) -> tuple[float, int]:
    return (-cause.confidence, cause.matched[0].line)


def _hits(unwrapped: Iterable[_Unwrapped], clues: Clues, *, general: bool) -> Iterator[_Hit]:
    asked = (family for family in families().values() if family.general == general)
    for signature in (one for family in asked for one in family.signatures):
        everywhere = (
            (found, one.line_at(found.start()))
            for one in unwrapped
            if not signature.words or any(word in one.small for word in signature.words)
            for found in signature.compiled.finditer(one.text)
        )
        for found, line in islice(everywhere, _MOST_MATCHES):
            yield from (_Hit(one, signature, line) for one in signature.causes(found, clues))


def _cause(code: str, hits: Iterable[_Hit]) -> Cause:
    """The surest message speaks; each further one of another kind makes it a little surer."""
    ranked = sorted(hits, key=lambda hit: (-hit.means.confidence, hit.line.number))
    best, kinds = ranked[0], {id(hit.signature) for hit in ranked}
    lines = {hit.line.number: Matched(hit.line.number, hit.line.text.strip()[:400]) for hit in ranked}
    return Cause(
        code=code,
        confidence=round(min(0.99, best.means.confidence + 0.02 * (len(kinds) - 1)), 2),
        summary=best.means.says,
        matched=tuple(list(lines.values())[:_MOST_LINES]),
        asks=best.signature.asks,
        source=best.signature.source,
        blames_stack=code not in NOT_THE_STACK,
        mends=best.means.mends,
    )
