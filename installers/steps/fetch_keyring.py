"""Fetch a package that makes a repository known, and refuse it unless its signing key is one of the maker's.

No digest of such a package is published, and it changes with its keys. What apt will trust is the key, and keys have
fingerprints that are. gpg lists a keyring that it is given without a command; --show-keys came with GnuPG 2.2.8, and
Ubuntu 16.04 and 18.04 have older ones. Sources: gpg(1), "colon listings format" (doc/DETAILS of GnuPG); dpkg-deb(1).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from compat.base.process import Launch, run_process
from compat.base.record import NamedTuple
from installers.command import environment_of, refuse_command
from installers.errors import InstallError
from installers.render.bash import protocol, quote, script_word
from installers.step import Lines, Shell, StepType, nothing
from installers.steps.command import Command
from installers.steps.download import Download

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_LARGEST_BYTES = 1 << 20  # NVIDIA's has some 4 KB
_PATIENCE_S = 60
FOLDER = "keyring"  # the variable of the shell that holds the directory, where a person types it
# What gpg makes for itself belongs in the staging directory: HOME may be unset, and ~/.gnupg is the user's own.
_SHOW = ("gpg", "-q", "--no-options", "--no-permission-warning", "--with-colons", "--with-fingerprint", "--homedir")


class FetchKeyring(NamedTuple):
    """A .deb with a keyring in it."""

    url: str
    to: str  # name in the staging directory
    keyring: str  # its path in the package, "./usr/share/keyrings/cuda-archive-keyring.gpg"
    fingerprints: tuple[str, ...]  # of the keys that it may hold, 40 hexadecimal digits each
    why: str


class WrongKey(InstallError):
    """A keyring that holds another key than those of its maker."""

    hint = "Do not install this package: report its address."


def _apply(step: FetchKeyring, run: Run) -> None:
    from installers.fetch import fetch_unknown  # late: printing needs none of it

    to = os.path.join(run.staged(""), step.to)
    download = Download(url=step.url, to=step.to, sha256=(), size_bytes=None, digest_from="", why=step.why)
    fetch_unknown(download, to, run.report, run.limits._replace(cap_bytes=_LARGEST_BYTES))
    tar = _output(("dpkg-deb", "--fsys-tarfile", to))
    found = _fingerprints(_output(("tar", "-xO", step.keyring), tar), run.staged(""))
    if not found or not set(found) <= set(step.fingerprints):
        raise WrongKey(f"{step.url} contains the signing key {', '.join(found) or '(none)'}, which is not NVIDIA's")


def _fingerprints(keyring: bytes, folder: str) -> tuple[str, ...]:
    """Of the primary keys; those of subkeys follow their own "sub" lines."""
    rows = [line.split(":") for line in _output((*_SHOW, folder), keyring).decode().splitlines()]
    primary = [number for number, row in enumerate(rows) if row[0] == "pub"]
    return tuple(next((row[9] for row in rows[number:] if row[0] == "fpr"), "") for number in primary)


def _output(argv: tuple[str, ...], data: bytes = b"") -> bytes:
    try:
        environ = environment_of(command := Command(argv, ""))
        refuse_command(command, os.environ if environ is None else environ)
        done = run_process(Launch(argv, environ, given=data), _PATIENCE_S)
    except OSError as error:
        raise WrongKey(f"`{argv[0]}`, which reads the signing key, cannot be run: {error}") from error
    if done.status is None:
        raise WrongKey(f"`{argv[0]}`, which reads the signing key, did not finish within {_PATIENCE_S} s")
    if done.status:
        raise WrongKey(f"the signing key cannot be read: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _check(step: FetchKeyring, package: str) -> str:
    """Every "pub" line's fingerprint, the next "fpr" line, must be known, and there must be one."""
    known = "|".join(step.fingerprints)
    judge = (
        '$1 == "pub" { keys++; open = 1 } $1 == "fpr" && open { open = 0; if ($10 !~ /^(KNOWN)$/) bad = 1 } '
        "END { exit !(keys && !bad && !open) }"
    ).replace("KNOWN", known)
    keyring = f"dpkg-deb --fsys-tarfile {package} | tar -xO {quote(step.keyring)}"
    return f"{keyring} | {' '.join(_SHOW)} {script_word('')} | awk -F: {quote(judge)}"


def _bash(step: FetchKeyring, _: Target) -> Lines:
    """NVIDIA's own two lines, in a directory that nobody else can write; a script and --fix compare the key as well."""
    to = f'"${FOLDER}"/{quote(step.to)}'
    return (f"{FOLDER}=$(mktemp -d)", f"curl -fsSL{protocol(step.url)} -o {to} {quote(step.url)}")


def _bash_script(step: FetchKeyring, _: Target) -> Lines:
    to = script_word(step.to)
    wrong = f"|| stop {quote(f'{step.to} does not contain the expected signing key')}"
    return (f"rm -f -- {to}", f"receive {quote(step.url)} {to}", f"{_check(step, to)} {wrong}")


KIND = StepType(
    FetchKeyring,
    title=lambda step: f"download {step.to}",
    bash=Shell(_bash, _bash_script, functions=lambda _: ("stop.sh", "receive.sh")),
    powershell=Shell(nothing),  # Windows has no such packages
    apply=_apply,
    staged=True,
)
