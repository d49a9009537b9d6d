"""Damage done to the bytes of a file, by a seeded generator: the same seed gives the same damage."""

from __future__ import annotations

import random
import struct

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)
_TOKENS = (
    *(b"\0", b"\n", b"\r\n", b"\n\n", b"\x1b[2J\x1b]0;x\x07", b"\xff\xfe", b"\xed\xa0\x80", "\U0001f4a5".encode()),
    *(b"\xc2\x9b31m", "\u202e".encode(), b"../../../../..", b"/", b"//", b"-" * 300, b"9" * 5000, b"1." * 500),
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 1500, b"(" * 2000, b'"', b"'", b"\\", b"=", b":", b",", b";", b"#", b"%s"),
    *(b"nan", b"Infinity", b"-1", b"null", b"true", b"[]", b"{}", b"$ORIGIN", b"${LIB}", b"$PLATFORM", b"*", b"~"),
    *(b" " * 4000, b"\t", b"==", b">=", b"!=", b"1!2.0", b"2.9.1+cu128", b"12.8", b"Name: torch\nVersion: 2\n"),
    *("\u0661\u0662".encode(), "\u00b2".encode(), b"0x", b"1e999", b"v", b"sm_90a", b"\x7fELF", b"MZ", b"PK\x03\x04"),
)


def mutated(content: bytes, rng: random.Random, others: tuple[bytes, ...] = ()) -> bytes:
    """One to six things done to the content; `others` may lend it pieces of theirs."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        rng.choice(_WAYS)(found, rng, others)
    return bytes(found)


def _flip(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    for _ in range(rng.choice((1, 1, 4, 16))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)


def _number(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    width = rng.choice("BHIQ")
    content = struct.pack(rng.choice("<>") + width, rng.choice(_NUMBERS) % (1 << 8 * struct.calcsize(width)))
    place = rng.randrange(min(len(found), rng.choice((64, 512, 1 << 30))) + 1)
    found[place : place + len(content)] = content


def _cut(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    del found[rng.randrange(len(found) + 1) :]


def _take_out(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    place = rng.randrange(len(found) + 1)
    del found[place : place + rng.choice((1, 2, 8, 100))]


def _insert(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    place = rng.randrange(len(found) + 1)
    found[place:place] = rng.choice(_TOKENS)


def _replace(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    place = rng.randrange(len(found) + 1)
    token = rng.choice(_TOKENS)
    found[place : place + len(token)] = token


def _repeat(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    place = rng.randrange(len(found) + 1)
    piece = bytes(found[place : place + rng.choice((1, 8, 60))])
    found[place:place] = piece * rng.choice((2, 20, 200))


def _splice(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    if others:
        other = rng.choice(others)
        place, start = rng.randrange(len(found) + 1), rng.randrange(len(other) + 1)
        found[place : place + rng.choice((0, 30, 300))] = other[start : start + rng.choice((10, 100, 1000))]


def _noise(found: bytearray, rng: random.Random, others: tuple[bytes, ...]) -> None:
    place = rng.randrange(len(found) + 1)
    content = rng.randbytes(rng.choice((1, 30, 500)))
    found[place : place + len(content)] = content


_WAYS = (_flip, _flip, _number, _number, _cut, _take_out, _insert, _insert, _replace, _repeat, _splice, _noise)
