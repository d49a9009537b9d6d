"""The variables of a container that are in its own files, where the image has no configuration.

Sources: apptainer, conveyorPacker_oci.go (10-docker2singularity.sh has the image's ENV, `export A="${A:-"value"}"`),
env/*.sh in order of their names, 99-base.sh (/.singularity.d/libs, where --nv puts the driver's libraries, comes last),
util/env (PATH by default); enroot, doc/image-format.md (/etc/environment).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from doctor.host import HostError
from doctor.image.config import Config
from doctor.model.facts.seen import Place

if TYPE_CHECKING:
    from doctor.image.host import ImageHost

_SCRIPTS, _LIBRARIES = "/.singularity.d/env", "/.singularity.d/libs"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENROOT, _STARTS = "/etc/environment", "/etc/rc"
_SCRIPTS_AT_MOST = 100
_AT_MOST_BYTES = 256 << 10
_OF_IMAGE = re.compile(r'="\$\{\w+:-"((?:[^"\\]|\\.)*)"\}"')
_NAMED = re.compile(r"[A-Za-z_]\w*")


def config_within(host: ImageHost) -> Config | None:
    """What the files of a SIF, or of what Enroot made, say; None where they are of neither."""
    if host.is_dir(_SCRIPTS):
        return _of_singularity(host)
    if host.image.format == "squashfs" and host.is_file(_ENROOT) and host.is_file(_STARTS):
        return _of_enroot(host)
    return None


def _of_enroot(host: ImageHost) -> Config:
    lines = _text(host, _ENROOT).splitlines()
    said = [(line.partition("="), Place(_ENROOT, number)) for number, line in enumerate(lines, start=1)]
    pairs = {name: (value, source) for (name, is_set, value), source in said if is_set and _NAMED.fullmatch(name)}
    return _config(pairs)


def _of_singularity(host: ImageHost) -> Config:
    from doctor.script.shell import calls  # late: few images are SIF

    found: dict[str, tuple[str, str | Place]] = {"PATH": (_PATH, "Apptainer's own")}
    for name in host.names(_SCRIPTS)[:_SCRIPTS_AT_MOST]:
        text = _OF_IMAGE.sub(_literal, _text(host, f"{_SCRIPTS}/{name}")) if name.endswith(".sh") else ""
        known = dict.fromkeys(_NAMED.findall(text), "") | {one: value for one, (value, _) in found.items()}
        for call in calls(text, known):
            if call.program != "export" or call.may_not_run:
                continue
            for word in call.words[1:]:
                variable, is_set, value = word.text.partition("=")
                line = text.count("\n", 0, word.at) + 1
                if is_set and "\0" not in value and _NAMED.fullmatch(variable):
                    found[variable] = (value, Place(f"{_SCRIPTS}/{name}", line))
    path, source = found.get("LD_LIBRARY_PATH", ("", Place(f"{_SCRIPTS}/99-base.sh")))
    if _LIBRARIES not in path.split(":"):
        found["LD_LIBRARY_PATH"] = (f"{path}:{_LIBRARIES}".removeprefix(":"), source)
    return _config(found)


def _literal(found: re.Match[str]) -> str:
    value = re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)
    return f"={shlex.quote(value)}"


def _config(found: Mapping[str, tuple[str, str | Place]]) -> Config:
    return Config(
        env=tuple((name, value) for name, (value, _) in found.items()),
        sources=tuple((name, source) for name, (_, source) in found.items()),
        is_known=True,
    )


def _text(host: ImageHost, path: str) -> str:
    try:
        return host.read_bytes(path, _AT_MOST_BYTES).decode("utf-8", "surrogateescape")
    except HostError:
        return ""
