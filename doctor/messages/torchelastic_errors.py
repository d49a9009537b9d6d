"""Of many processes that write into one output, the one that failed first; and torchelastic's error file."""

from __future__ import annotations

import json
import os
import re

# torch:torch/_logging puts [rank0]: before the lines of a traceback; torchrun --tee puts [default0]:, by local rank.
_PREFIX = re.compile(rb"^\[(rank|default)(\d+)\]:? ?", re.MULTILINE)
_TRACEBACK = re.compile(rb"^\[(rank|default)(\d+)\]:? ?Traceback \(most recent", re.MULTILINE)
# torch:torch/distributed/elastic/multiprocessing/errors/__init__.py, the summary that torchrun ends with.
_ROOT_CAUSE = re.compile(rb"Root Cause \(first observed failure\):(.{0,2000})", re.DOTALL)
_ROOT_RANK = re.compile(rb"^\s*rank\s*: *(\d+) \(local_rank: *(\d+)\)", re.MULTILINE)
_ERROR_FILE = re.compile(rb"error_file: *([^\n<]+?) *$", re.MULTILINE)
_FILE_BYTES = 1 << 20


def of_first_failing(text: bytes) -> bytes:
    """The text without the prefixes of ranks, and without the lines of others where it is known which failed first."""
    first = _first(text)
    kept = []
    for line in text.splitlines(keepends=True):
        found = _PREFIX.match(line)
        if not found or not first or (found[1], found[2]) in first:
            kept.append(line[found.end() :] if found else line)
    return b"".join(kept)


def _first(text: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """The prefixes of the rank that torchrun's summary names, else of the first traceback; () where nobody says it."""
    summary = _ROOT_CAUSE.search(text)
    named = _ROOT_RANK.search(summary[1]) if summary else None
    if named:
        return (b"rank", named[1]), (b"default", named[2])
    traceback = _TRACEBACK.search(text)
    return ((traceback[1], traceback[2]),) if traceback else ()


def error_file_text(text: bytes, named: str) -> bytes:
    """What torchelastic's error file says: the one that the output names, else `named`; b"" where there is none."""
    summary = _ROOT_CAUSE.search(text)
    told = _ERROR_FILE.search(summary[1]) if summary else None
    path = told[1].decode("utf-8", "replace") if told else named
    try:
        if not path or not os.path.isfile(path):
            return b""
        with open(path, "rb") as stream:
            return message_of(stream.read(_FILE_BYTES))
    except OSError:
        return b""


def message_of(content: bytes) -> bytes:
    """The message of an error file, with the traceback that led to it; b"" for what is none."""
    try:
        said = json.loads(content)["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return b""
    if isinstance(said, str):
        return said.encode("utf-8", "replace")
    if not isinstance(said, dict):
        return b""
    extra = said.get("extraInfo")
    stack = extra.get("py_callstack", "") if isinstance(extra, dict) else ""
    return f"{stack}\n{said.get('message', '')}\n".encode("utf-8", "replace")
