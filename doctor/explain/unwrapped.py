"""The kept lines as one text, as they were before a launcher, a log or a terminal's width was put on them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from doctor.explain.reading import Line

# Who writes them: docker and kubectl with timestamps, docker compose, torchelastic and torch's excepthook, mpirun,
# Ray, vLLM with its logger behind it, syslog, loguru, and a reader's quotation.
_BEFORE = re.compile(
    r"(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}Z (?:std(?:out|err) [FP] )?"
    r"|[\w.-]{1,60}[-_]\d{1,3} {1,60}\| "
    r"|\[(?:rank|default|local_rank)\d{1,5}\]: ?"
    r"|\[\d{1,3},\d{1,5}\]<std(?:out|err)>: ?"
    r"|\((?:\w{1,60} )?pid=\d{1,8}(?:, ip=[\d.]{7,15})?\) ?"
    r"|(?:ERROR|WARNING|INFO) \d\d-\d\d [\d:]{8} \[[\w./]{1,80}:\d{1,5}\] ?"
    r"|\w{3} [ \d]\d [\d:]{8} \S{1,60} [\w.-]{1,60}\[\d{1,8}\]: "
    r"|\d{4}-\d\d-\d\d [\d:.,]{8,12} ?\| ?\w{4,8} *\| ?(?:[\w.:<>]{1,100} - )?"
    r"|> ){1,3}"
)
# Of a web page; no others: a number may stand for a letter that steers the terminal.
_ENTITIES = {"&quot;": '"', "&#34;": '"', "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
_WIDTHS = frozenset((80, 100, 120, 132))  # at which terminals break a line within a word


def readings(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """One string a line; joined they are the text. Where lines fill a terminal, a second time as lines that go on."""
    bare = tuple(_bare(line.text) for line in lines)
    width = max((len(line.text) for line in lines), default=0)
    plain = tuple(f"{text}\n" for text in bare)
    if width not in _WIDTHS or len(lines) == 1:
        return (plain,)
    full = (len(line.text) == width for line in lines)
    return plain, tuple(text + ("" if goes_on else "\n") for text, goes_on in zip(bare, full, strict=True))


def _bare(text: str) -> str:
    found = _BEFORE.match(text)
    bare = text[found.end() :] if found else text
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], bare) if "&" in bare else bare
