"""How texts stand in bash: every word that enters a line or a script goes through here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from installers.plan import Target
from installers.render.comments import comment

Lines = tuple[str, ...]


def quote(word: str) -> str:
    """A word as bash reads it. What a terminal or an editor would not show as it is stands in its escaped form."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


RUNNING_KERNEL = "$(uname -r)"  # for the shell of another machine


def package_word(word: str) -> str:
    """The same, where a name of a package may end in the running kernel's release."""
    stem = word.removesuffix(RUNNING_KERNEL)
    return f'"{word}"' if stem != word and re.fullmatch(r"[a-z0-9.-]+", stem) else quote(word)


def literal_word(word: str) -> str:
    """The same in quotes even where none are needed: a line of a file, which is no word of bash by chance."""
    found = quote(word)
    return found if found.startswith(("'", "$'")) else f"'{found}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))


def joined(words: Iterable[str]) -> str:
    """Words of a command."""
    return " ".join(map(quote, words))


def quoted_glob(pattern: str) -> str:
    """A path whose `*`, `?` stay for the shell to expand; all else is quoted."""
    return "".join(one if one in {"*", "?"} else quote(one) for one in re.split(r"([*?])", pattern) if one)


def quoted_path(path: str) -> str:
    """A path in quotes; "~/" at its front stays for the shell to expand."""
    return f"~/{quote(path[2:])}" if path.startswith("~/") else quote(path)


def script_word(name: str) -> str:
    """A name in the staging directory of a script."""
    return f'"$staging"/{quote(name)}' if name else '"$staging"'


def sudo(target: Target, *, needs_root: bool, place: str = "") -> str:
    """Containers mostly run as root and have no sudo; their host is another machine, whose user we do not know."""
    if not needs_root:
        return ""
    if place:
        return "sudo "
    return "" if target.is_root or target.container else "sudo "


def protocol(url: str) -> str:
    """The option that keeps curl from following a redirect to what is not encrypted."""
    return " --proto =https" if url.startswith("https:") else ""


def verified(name: str, digests: Lines) -> Lines:
    """The line that fails unless a file is one of those that are meant."""
    if not digests:
        return (
            *comment(f"the checksum of {name} is unknown; sha256sum prints that of your file"),
            f"sha256sum {quote(name)}",
        )
    return (" || ".join(f"echo {quote(f'{one.lower()}  {name}')} | sha256sum -c -" for one in digests),)


def set_in(where: str, what: str) -> Lines:
    """The lasting change is an edit in a file of the user's; the command after it helps the shell available."""
    return comment(f"in {where}: {what}, then in this shell:") if where else ()


def variable(name: str) -> str:
    """A variable's name, which no quotes can make safe; raises ValueError for what is none."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
        raise ValueError(f"{name!r} is not a variable name")
    return name


def said(typed: Callable[[Any, Target], Lines]) -> Callable[[Any, Target], Lines]:
    """What a person's own shell must do is shown by a script, not done."""
    return lambda step, target: tuple(f"say {quote(f'   {line}')}" for line in typed(step, target))
