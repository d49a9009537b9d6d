"""How texts stand in PowerShell: every word that enters a line or a script goes through here."""

from __future__ import annotations

import re

from installers.render.comments import comment

Lines = tuple[str, ...]
_SIGNER = "NVIDIA Corporation"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/\\=+")


def quoted(word: str) -> str:
    """An argument of a command: bare where PowerShell takes it as it is."""
    return word if word and set(word) <= _PLAIN and not word.startswith("=") else literal(word)


def called(argv: tuple[str, ...]) -> str:
    """A program whose name had to be quoted is a string until the call operator runs it; paths are Windows' own."""
    words = tuple(quoted(word.replace("/", "\\") if re.match(r"[A-Za-z]:/", word) else word) for word in argv)
    return " ".join(("&", *words) if words[0].startswith(("'", "(")) else words)


def literal(word: str) -> str:
    """A string in an expression, where a bare word would be a command: single quotes, doubled inside.

    The curly single quotes close a string too, so they are doubled as well. Source: about_Quoting_Rules.
    """
    if not word.isprintable():
        parts = (_part(part) for part in re.split(r"([^ -~]+)", word) if part)
        return f"('' + {' + '.join(parts)})"
    for quote in "'\u2018\u2019\u201a\u201b":
        word = word.replace(quote, quote * 2)
    return f"'{word}'"


def _part(part: str) -> str:
    """A run of signs that would not be seen stands as their numbers, in UTF-16 as .NET has them."""
    if part.isprintable():
        return literal(part)
    units = part.encode("utf-16-le", "surrogatepass")
    numbers = (int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2))
    return " + ".join(f"[char] {number}" for number in numbers)


def staged_path(name: str) -> str:
    """A name in the staging directory of a script."""
    return f"(Join-Path $staging {literal(name.replace('/', chr(92)))})" if name else "$staging"


def verified(name: str, digests: Lines) -> Lines:
    """The line that throws unless a file is one of those that are meant."""
    found = f"(Get-FileHash -Algorithm SHA256 -LiteralPath {literal(name)}).Hash"
    if not digests and name.endswith(".exe"):
        wrong = literal(f"{name} is not signed by {_SIGNER}")
        return (
            f"$signature = Get-AuthenticodeSignature -LiteralPath {literal(name)}",
            "$by = $signature.SignerCertificate.Subject",
            f"if (($signature.Status -ne 'Valid') -or ($by -notmatch 'O=\"?{_SIGNER}')) {{ throw {wrong} }}",
        )
    if not digests:
        return (*comment("the checksum of this file is unknown: compare it with a trusted one"), found)
    wanted = ", ".join(map(literal, digests))
    return (f"if ({found} -notin {wanted}) {{ throw {literal(f'{name} is not the original file')} }}",)


def said(lines: Lines) -> Lines:
    """What is left to a person is written, not done."""
    return tuple(f"Write-Output {literal(f'   {line}')}" for line in lines)
