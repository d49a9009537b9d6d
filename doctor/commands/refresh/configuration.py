"""Whose package index: the one that pip or uv is configured for; with neither, the one built into pip."""

from __future__ import annotations

import os
import re
import sys

from compat.base.errors import GpudoctorError
from doctor.commands.refresh import pip_configuration, uv_configuration
from doctor.commands.refresh.index import Connection, Index
from doctor.host import Host, HostError
from doctor.host.child_search_path import safe_environ
from doctor.host.user_interpreter import NOT_FROM_HERE
from doctor.pyenv.interpreters import candidates
from doctor.pyenv.prefixes import Opaque

_PIP_ANSWERS_WITHIN_S = 30.0
_PIP = f"{NOT_FROM_HERE}import runpy\nrunpy.run_module('pip', run_name='__main__', alter_sys=True)\n"


class NoIndex(GpudoctorError):
    """No package index is configured, and no pip can say which one it uses."""

    hint = "Set PIP_INDEX_URL or UV_DEFAULT_INDEX, or give an environment with pip: --python."


def connection_of(host: Host, pythons: tuple[str, ...], folder: str) -> Connection:
    """The user's indexes; raises NoIndex, and NoSuchInterpreter for what --python names.

    uv's and pip's are both read. Only where neither names an index to take the place of the built-in one is a pip
    asked for it: that of the environment, of the python3 on PATH, or ours.
    """
    try:
        found = candidates(host, pythons)[:1]
    except Opaque:
        if pythons:
            raise
        found = ()
    prefix = found[0].located.prefix if found else ""
    pip, uv = pip_configuration.read(host.environ, prefix), uv_configuration.read(host.environ, folder)
    both = pip._replace(
        indexes=_each_once((*pip.indexes, *uv.indexes)),
        has_default=pip.has_default or uv.has_default,
        notes=(*pip.notes, *uv.notes),
    )
    if both.has_default:
        return both
    interpreters = [one.located.interpreter for one in found if one.located.interpreter]
    return _with_default(host, both, interpreters if pythons else [*interpreters, "python3", sys.executable])


def _each_once(indexes: tuple[Index, ...]) -> tuple[Index, ...]:
    """The first of every URL, with the credentials of whichever has them."""
    found: dict[tuple[str, bool], Index] = {}
    for index in indexes:
        key = (index.url.rstrip("/"), index.is_flat)
        if key not in found or (index.user and not found[key].user):
            found[key] = index
    return tuple(found.values())


def _with_default(host: Host, connection: Connection, interpreters: list[str]) -> Connection:
    reasons = []
    for interpreter in dict.fromkeys(interpreters):
        try:
            index = Index.of(_built_in(host, interpreter), f"{interpreter} -m pip")
            return connection._replace(indexes=_each_once((index, *connection.indexes)), has_default=True)
        except HostError as error:
            reasons.append(f"{interpreter}: {error.why}")
    why = "; ".join(reasons) or "no Python was found"
    if not connection.indexes:
        raise NoIndex(f"pip and uv have no configured package index, and no pip shows its default ({why})")
    return connection._replace(notes=(*connection.notes, f"the default package index is unknown: {why}"))


def _built_in(host: Host, interpreter: str) -> str:
    """The index that pip's own help names as its default; raises HostError."""
    # A wide terminal keeps the address on one line; the other variables could change the default.
    plain = {name: value for name, value in safe_environ(host).items() if not name.startswith("PIP_")}
    env = {**plain, "COLUMNS": "400", "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = host.run((interpreter, "-c", _PIP, "--isolated", "download", "--help"), _PIP_ANSWERS_WITHIN_S, env)
    said = re.search(r"--index-url <url>.*?\(default (\S+?)\)", ran.stdout, re.S)
    if ran.status != 0 or not said:
        last = (ran.stderr.strip().splitlines() or ["pip shows no default index"])[-1]
        raise HostError(interpreter, last[:200])
    return said[1]
