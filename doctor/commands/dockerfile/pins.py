"""What a command of a RUN line installs: packages of the system, and Python packages with their pins and indexes.

Sources: pip's, uv's and conda's own `install --help`; Debian's apt-get(8), Fedora's dnf(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.script.expand import OPEN, is_open
from doctor.script.shell import Call, Word

SYSTEM_PROGRAMS = frozenset({"apt-get", "apt", "aptitude", "dnf", "microdnf", "yum", "tdnf", "zypper", "apk"})
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
        "-e",
        "--editable",
        "-P",
        "--upgrade-package",
        "--group",
        "-G",
        "--source",
        "--extra",
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
MAIN_INDEXES = frozenset({"-i", "--index-url", "--default-index"})  # they replace the default index
_INDEXES = MAIN_INDEXES | {"--extra-index-url", "--index", "-f", "--find-links"}
_MAIN_VARIABLES = ("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
_MORE_VARIABLES = ("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX")
_UPGRADES = frozenset({"-U", "--upgrade", "-P", "--upgrade-package"})
# Tools that add a package to a project and install it: what stands before the package names.
_ADDS = {"uv": "add", "poetry": "add", "pdm": "add", "pipenv": "install", "rye": "add"}
# Commands that install what a lock file or a project lists.
_LOCKED = {
    "uv": ("sync", "run"),
    "poetry": ("install", "sync"),
    "pdm": ("install", "sync"),
    "pipenv": ("install", "sync"),
    "pixi": ("install",),
    "conda-lock": ("install",),
}
_ANEW = frozenset({"--force-reinstall", "-I", "--ignore-installed", "--reinstall"})
_TAG = re.compile(r"cu\d+|cpu|rocm[\d.]+|xpu")


class Pins(NamedTuple):
    """The Python packages that a command installs."""

    tool: str  # "pip", "uv", "conda"
    environment: str  # what tells its environment from another: "/opt/venv", the name of a conda environment, ""
    specs: tuple[Word, ...]
    indexes: tuple[str, ...] = ()  # beside the default one; of conda its channels
    backend: str = ""  # uv's --torch-backend
    files: tuple[Word, ...] = ()  # of requirements; for conda, of an environment
    constraints: tuple[Word, ...] = ()
    is_anew: bool = False  # whatever is there already
    has_main: bool = False  # an index in place of the default one
    is_upgrade: bool = False  # the newest release in place of one that would do
    others: tuple[Word, ...] = ()  # addresses, paths and wheels, which name no release

    def tags(self, more: tuple[str, ...], *, has_main: bool, is_whole: bool) -> tuple[str, ...] | None:
        """Return the tags of the indexes that it reads, "" for the default one; None if one of them is unknown.

        pip takes the newest release of all of them; uv takes the first index that has the package.
        """
        if self.backend:
            return (self.backend,) if _TAG.fullmatch(self.backend) else None
        addresses = (*self.indexes, *more)
        tags = tuple(dict.fromkeys(map(_tag, addresses)))
        if not is_whole or any(map(is_open, addresses)) or not all(map(_TAG.fullmatch, tags)):
            return None
        if self.tool != "pip" and tags:
            return tags[:1]
        return tags if self.has_main or has_main else ("", *tags)

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
        tags = {one for one in map(_tag, addresses) if _TAG.fullmatch(one)}
        return tags.pop() if len(tags) == 1 and is_whole and not any(map(is_open, addresses)) else None


def _tag(address: str) -> str:
    """Return the last part of an address, which is a build's tag for each of PyTorch's indexes."""
    return address.rstrip("/").removesuffix("/torch_stable.html").rpartition("/")[2]


def locked(call: Call) -> bool:
    """Return whether a command installs what a lock file or a project lists."""
    texts = [one.text for one in call.words[1:] if not one.text.startswith("-")]
    named = texts[:1] == ["install"] and call.program == "pipenv" and len(texts) > 1
    return bool(texts) and texts[0] in _LOCKED.get(call.program, ()) and not named


def made_environments(call: Call) -> tuple[Word, ...]:
    """The virtual environments that it makes."""
    words = call.words
    texts = [one.text for one in words]
    if texts[1:3] == ["-m", "venv"] and _PYTHON.fullmatch(call.program):
        return tuple(_arguments(words[3:]))[:1]
    if texts[:2] == ["uv", "venv"] or call.program == "virtualenv":
        return tuple(_arguments(words[2 if texts[0] == "uv" else 1 :]))[:1]
    return ()


def system_packages(call: Call) -> tuple[Word, ...]:
    """The packages of the system that it installs."""
    if call.program not in SYSTEM_PROGRAMS:
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
    verb = "install"
    if tool == "uv" and len(words) > 1 and words[1].text == "pip":
        words = words[1:]
    elif tool in _ADDS and len(words) > 1 and words[1].text == _ADDS[tool] and not locked(call):
        verb = _ADDS[tool]
    elif tool != "pip":
        return None
    is_sync = tool == "uv" and [one.text for one in words[:2]] == ["pip", "sync"]
    if len(words) < 2 or (words[1].text != verb and not is_sync):
        return None
    arguments = tuple(_arguments(words[2:]))
    given = {**known, **call.given}
    where = _option(words, "--python", "-p", "--target", "-t", "--prefix") or named or environment
    where = where or (given.get("VIRTUAL_ENV", "") if tool == "uv" else "")
    return Pins(
        tool=tool,
        environment=where,
        specs=tuple(one for one in arguments if _is_spec(one.text) and not is_sync),
        indexes=_addresses(words, given),
        backend=_option(words, "--torch-backend") or given.get("UV_TORCH_BACKEND", ""),
        files=arguments if is_sync else _files(words),
        constraints=_options(words, "-c", "--constraint", "--constraints"),
        is_anew=any(one.text in _ANEW for one in words),
        has_main=any(name in MAIN_INDEXES for name, _ in _pairs(words))
        or any(given.get(one) for one in _MAIN_VARIABLES),
        is_upgrade=any(one.text in _UPGRADES for one in words),
        others=()
        if is_sync
        else (*(one for one in arguments if not _is_spec(one.text)), *_options(words, "-e", "--editable")),
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
    files, channels = _options(words, "-f", "--file"), _options(words, "-c", "--channel")
    asked = tuple(_arguments(words[2:], "-c", "-f"))
    return Pins("conda", named, asked, indexes=tuple(one.text for one in channels), files=files)


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


def _files(words: list[Word]) -> tuple[Word, ...]:
    """The files of requirements; one that a command writes, `-r <(...)`, has no name."""
    found = _options(words, "-r", "--requirement", "--requirements")
    return (
        (*found, Word(f"{OPEN}a command{OPEN}", words[-1].at)) if words[-1].text in {"-r", "--requirement"} else found
    )


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
    for name in (*_MAIN_VARIABLES, *_MORE_VARIABLES):
        found += known.get(name, "").split()
    return tuple(found)


def _pairs(words: list[Word]) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(words):
        name, sign, value = one.text.partition("=")
        if sign:
            yield name, value
        elif number + 1 < len(words):
            yield one.text, words[number + 1].text
