"""What a command of a RUN line installs: packages of the system, and Python packages with their pins and indexes.

Sources: pip's, uv's and conda's own `install --help`; Debian's apt-get(8), Fedora's dnf(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.script.expand import is_open
from doctor.script.shell import Call, Word

_SYSTEM = frozenset({"apt-get", "apt", "aptitude", "dnf", "microdnf", "yum", "tdnf", "zypper", "apk"})
_CONDA = frozenset({"conda", "mamba", "micromamba"})
_PYTHON = re.compile(r"(?:pip|python)(?:\d(?:\.\d+)?)?")
_WITH_VALUE = frozenset(
    [
        "-i",
        "--index-url",
        "--extra-index-url",
        "--index",
        "--default-index",
        "-f",
        "--find-links",
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--platform",
        "--python-version",
        "--implementation",
        "--abi",
        "--python",
        "-p",
        "-n",
        "--name",
        "--channel",
        "--no-binary",
        "--only-binary",
        "--cache-dir",
        "--timeout",
        "--retries",
        "--trusted-host",
        "--torch-backend",
        "--index-strategy",
        "--src",
        "--override",
        "--build-constraint",
        "--config-settings",
        "-C",
        "--progress-bar",
        "--log",
        "--proxy",
        "--upgrade-strategy",
        "-o",
        "--option",
        "--repository",
        "--file",
    ]
)
_INDEXES = frozenset({"-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f", "--find-links"})
_ANEW = frozenset({"--force-reinstall", "-I", "--ignore-installed", "--reinstall"})
_TAG = re.compile(r"cu\d+|cpu|rocm[\d.]+|xpu")


class Pins(NamedTuple):
    """The Python packages that a command installs."""

    tool: str  # "pip", "uv", "conda"
    environment: str  # what tells its environment from another: "/opt/venv", the name of a conda environment, ""
    specs: tuple[Word, ...]
    indexes: tuple[str, ...] = ()  # beside the default one
    backend: str = ""  # uv's --torch-backend
    files: tuple[Word, ...] = ()  # of requirements; for conda, of an environment
    constraints: tuple[Word, ...] = ()
    is_anew: bool = False  # whatever is there already

    def build(self, more: tuple[str, ...], *, is_whole: bool) -> str | None:
        """The build of tagged packages, by the indexes: the last part of PyTorch's is its tag.

        "cu128"; "" for the default index, None where it is not known. `more` are those that the files name, `is_whole`
        says whether all of these were read.
        """
        if self.backend:
            return self.backend if _TAG.fullmatch(self.backend) else None
        addresses = (*self.indexes, *more)
        if not addresses and is_whole:
            return ""
        parts = [one.rstrip("/").removesuffix("/torch_stable.html").rpartition("/")[2] for one in addresses]
        tags = {one for one in parts if _TAG.fullmatch(one)}
        return tags.pop() if len(tags) == 1 and is_whole and not any(map(is_open, addresses)) else None


def system_packages(call: Call) -> tuple[Word, ...]:
    """The packages of the system that it installs."""
    if call.program not in _SYSTEM:
        return ()
    rest = list(_arguments(call.words[1:]))
    if not rest or rest[0].text not in {"install", "in", "add", "reinstall"}:
        return ()
    return tuple(rest[1:])


def python_packages(call: Call, known: Mapping[str, str]) -> Pins | None:
    """The Python packages that it installs, None for a command that installs none."""
    words = list(call.words)
    environment, named = words[0].text.rpartition("/")[0].removesuffix("/bin"), ""
    if call.program in _CONDA and len(words) > 1 and words[1].text == "run":
        named, words = _run(words[2:])
        if not words:
            return None
    program = words[0].text.rpartition("/")[2]
    if program in _CONDA:
        return _conda(words)
    if _PYTHON.fullmatch(program) and [one.text for one in words[1:3]] == ["-m", "pip"]:
        program, words = "pip", words[2:]
    tool = "pip" if program.startswith("pip") and _PYTHON.fullmatch(program) else program
    if tool == "uv" and len(words) > 1 and words[1].text == "pip":
        words = words[1:]
    elif tool != "pip":
        return None
    if len(words) < 2 or words[1].text != "install":
        return None
    given = {**known, **call.given}
    where = _option(words, "--python", "-p", "--target", "-t", "--prefix") or named or environment
    where = where or (given.get("VIRTUAL_ENV", "") if tool == "uv" else "")
    return Pins(
        tool=tool,
        environment=where,
        specs=tuple(one for one in _arguments(words[2:]) if _is_spec(one.text)),
        indexes=_addresses(words, given),
        backend=_option(words, "--torch-backend") or given.get("UV_TORCH_BACKEND", ""),
        files=_options(words, "-r", "--requirement", "--requirements"),
        constraints=_options(words, "-c", "--constraint", "--constraints"),
        is_anew=any(one.text in _ANEW for one in words),
    )


def _run(words: list[Word]) -> tuple[str, list[Word]]:
    """The environment of `conda run`, and the command that is run there."""
    named, at = "", 0
    while at < len(words) and words[at].text.startswith("-"):
        takes = words[at].text in {"-n", "--name", "-p", "--prefix"}
        named = words[at + 1].text if takes and at + 1 < len(words) else named
        at += 2 if takes else 1
    return named, words[at:]


def _conda(words: list[Word]) -> Pins | None:
    """conda's builds are named by strings that pip's are not: which one it takes, its solver decides."""
    words = [words[0], *words[2:]] if len(words) > 1 and words[1].text == "env" else words
    if len(words) < 2 or words[1].text not in {"install", "create", "update"}:
        return None
    named = _option(words, "-n", "--name", "-p", "--prefix") or ""
    files = _options(words, "-f", "--file")
    return Pins("conda", named, tuple(_arguments(words[2:], "-c", "-f")), files=files)


def _arguments(words: list[Word] | tuple[Word, ...], *more: str) -> Iterator[Word]:
    """What is no option, and no value of one."""
    skips = False
    for one in words:
        if skips:
            skips = False
        elif one.text.startswith("-"):
            skips = one.text in _WITH_VALUE or one.text in more
        elif one.text:
            yield one


def _option(words: list[Word], *names: str) -> str:
    for number, one in enumerate(words):
        name, sign, value = one.text.partition("=")
        if name in names and sign:
            return value
        if one.text in names and number + 1 < len(words):
            return words[number + 1].text
    return ""


def _is_spec(text: str) -> bool:
    return not re.search(r"://|/|\.whl$|\.txt$|^\.", text)


def _options(words: list[Word], *names: str) -> tuple[Word, ...]:
    """The values of an option that may be given several times."""
    found = []
    for number, one in enumerate(words):
        name, sign, value = one.text.partition("=")
        if one.text in names and number + 1 < len(words):
            found.append(words[number + 1])
        elif name in names and sign:
            found.append(Word(value, one.at))
        elif one.text[:2] in names and one.text[2:3] not in {"", "=", "-"}:
            found.append(Word(one.text[2:], one.at))  # -rrequirements.txt
    return tuple(found)


def _addresses(words: list[Word], known: Mapping[str, str]) -> tuple[str, ...]:
    """The indexes that options and variables name."""
    found = [value for name, value in _pairs(words) if name in _INDEXES]
    for name in (
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
        "UV_INDEX",
        "UV_DEFAULT_INDEX",
    ):
        found += known.get(name, "").split()
    return tuple(found)


def _pairs(words: list[Word]) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(words):
        name, sign, value = one.text.partition("=")
        if sign:
            yield name, value
        elif number + 1 < len(words):
            yield one.text, words[number + 1].text
