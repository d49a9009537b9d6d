"""$ORIGIN, $LIB and $PLATFORM in a search path.

Sources: ld.so(8), "Dynamic string tokens"; glibc's `elf/dl-load.c` (is_dst, fillin_rpath).
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.model.facts.seen import UnseenError

_TOKENS = ("ORIGIN", "LIB", "PLATFORM")
_DIRECTORIES_AT_MOST = 20_000  # of one search path: TensorFlow 2.20's RUNPATH has 700


class Values:
    """What the tokens stand for on a machine. `lib` and `platform` may name several spellings to try."""

    __slots__ = ("lib", "platform")

    def __init__(self, lib: str, platform: str) -> None:
        self.lib = lib
        self.platform = platform


def directories(text: str, origin: str, values: Values, here: str) -> Iterator[tuple[str, str]]:
    """The directories of a search path, tokens replaced, and each as it is written.

    An empty element is the current directory `here`. "" as a value of `origin` or of a token leaves the element out,
    as one that is not known. Raises UnseenError for a path of more elements than are read.
    """
    elements = text.split(":")
    if len(elements) > _DIRECTORIES_AT_MOST:
        raise UnseenError(f"a search path of {len(elements)} directories, of which {_DIRECTORIES_AT_MOST} are read")
    for element in elements:
        if not element:
            yield here, element
            continue
        expanded = expand(element, origin, values)
        if expanded:
            yield expanded.rstrip("/") or "/", element


def expand(text: str, origin: str, values: Values) -> str:
    """A text with its tokens replaced, "" where the value of one is not known."""
    if "$" not in text:
        return text
    known = {"ORIGIN": origin, "LIB": values.lib, "PLATFORM": values.platform}
    first, *rest = text.split("$")
    found = [first]
    for piece in rest:
        token, after = _token(piece)
        if token and not known[token]:
            return ""
        found.append(known[token] + after if token else f"${piece}")
    return "".join(found)


def _token(piece: str) -> tuple[str, str]:
    """The token at the beginning of what follows a "$", and the rest; "" where it is none."""
    for token in _TOKENS:
        if piece.startswith(f"{{{token}}}"):
            return token, piece[len(token) + 2 :]
        if piece.startswith(token):
            rest = piece[len(token) :]
            return ("", piece) if rest[:1].isalnum() or rest[:1] == "_" else (token, rest)
    return "", piece
