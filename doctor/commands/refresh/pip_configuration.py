"""The package indexes of pip's configuration, for environments that have no pip."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from doctor.commands.refresh.index import Connection, Index
from doctor.pyenv.pip_settings import Files, Said, is_on, options

_SECTIONS = ("global", "download", "install")  # the later one wins, whatever the file


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def read(environ: Mapping[str, str], prefix: str, platform: str = sys.platform) -> Connection:
    """What pip would use in the environment at `prefix` ("" for none)."""
    found, notes = options(environ, prefix, platform, Files(os.path.isfile, _text), _SECTIONS)
    offline = is_on(found.get("no-index"))
    main = found.get("index-url")
    indexes = [Index.of(word, said.where) for word, said in _words(found, "index-url", "extra-index-url")]
    links = [Index.of(word, said.where, is_flat=True) for word, said in _words(found, "find-links")]
    text = {name: said.value for name, said in found.items()}
    return Connection(
        indexes=(*(() if offline else indexes), *links),
        has_default=main is not None or offline,
        certificates=os.path.expanduser(text.get("cert", "")),
        client_certificate=os.path.expanduser(text.get("client-cert", "")),
        trusted_hosts=tuple(text.get("trusted-host", "").split()),
        proxy=text.get("proxy", ""),
        timeout_s=_seconds(text.get("timeout") or text.get("default-timeout", "")),
        notes=tuple(notes),
    )


def _words(found: Mapping[str, Said], *names: str) -> Iterator[tuple[str, Said]]:
    for name in names:
        if name in found:
            yield from ((word, found[name]) for word in found[name].value.split())


def _seconds(text: str) -> float:
    try:
        return min(max(float(text), 1.0), 600.0)
    except ValueError:
        return 30.0
