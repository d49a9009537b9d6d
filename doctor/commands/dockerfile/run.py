"""What the commands of RUN lines bring into an image, and what they need.

Sources: NVIDIA's CUDA installation guide for Linux, "Meta Packages" (`cuda` and `cuda-X-Y` install the driver too,
`cuda-toolkit-X-Y` does not) and "Runfile Installation" (`--toolkit`); Debian's and Ubuntu's package lists
(`nvidia-utils-*` depends on the libraries of the driver).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Mapping

from compat.base.record import NamedTuple
from compat.version import CudaVersion, VersionError
from doctor.commands.dockerfile.context import Copied, moved
from doctor.commands.dockerfile.locked import (
    TOOLS,
    LockUse,
    environment_of,
    exported_lock,
    installs_nothing,
    lock_use,
    project_use,
)
from doctor.commands.dockerfile.pins import (
    SYSTEM_PROGRAMS,
    Pins,
    locked,
    made_environments,
    python_packages,
    system_packages,
)
from doctor.commands.dockerfile.requirements import (
    Environment,
    Line,
    Listed,
    constrained,
    environment,
    name_of,
    requirements,
)
from doctor.model.facts.dockerfile import DockerfileLine, DockerfilePip, DockerfileTargets, DockerfileTree
from doctor.model.facts.seen import Place
from doctor.script.expand import OPEN, is_open, shown
from doctor.script.shell import Call, Word, calls

Source = Callable[[int], Place]
_DRIVER = re.compile(
    r"nvidia-driver(-.*)?|nvidia-headless-.*|nvidia-utils-.*|nvidia-compute-utils-.*|libnvidia-compute-.*|libcuda1"
    r"|libnvidia-ml1|cuda-drivers(-.*)?|cuda|cuda-\d+-\d+|cuda-runtime-\d+-\d+|nvidia-open(-.*)?|nvidia-smi"
    r"|xorg-x11-drv-nvidia-.*|akmod-nvidia"
)
_DRIVER_STARTS = (
    "nvidia-driver", "nvidia-headless-", "nvidia-utils-", "nvidia-compute-utils-", "nvidia-open", "nvidia-smi",
    "libnvidia-", "libcuda0", "cuda-drivers", "cuda-0", "cuda-runtime-0", "xorg-x00-drv-nvidia-", "akmod-nvidia",
)  # fmt: skip
_DRIVER_FILES = re.compile(r"/libcuda(?:\.so)?[.*\d]*$")
_TOOLKIT = re.compile(r"cuda(?:-toolkit|-compiler|-nvcc|-minimal-build|-libraries(?:-dev)?)?(?:-(\d+)(?:-(\d+))?)?")
_COMPILER = re.compile(r"cuda(-toolkit|-compiler|-nvcc|-minimal-build)?(-\d+)*|nvidia-cuda-toolkit")
_COMPILER_STARTS = r"cuda-(?:toolkit|compiler|nvcc|minimal-build)-"
_RUNFILE = re.compile(r"cuda_(\d+\.\d+)\.[\w.]+_linux[\w-]*\.run")
_DRIVER_RUN = re.compile(r"NVIDIA-Linux-[\w.-]+\.run")
_BUILDS_CUDA = re.compile(
    r"-D(?:GGML_CUDA|GGML_CUBLAS|LLAMA_CUBLAS|WITH_CUDA|USE_CUDA)(?::BOOL)?=(?:1|on|true|yes)\b|-DCMAKE_CUDA_",
    re.IGNORECASE,
)
# Package and exact release of a spec of conda's: "pytorch=2.1.0", "cudatoolkit=11.8"; a third part names its build.
_CONDA_SPEC = re.compile(r"([\w.-]+)(?:={1,2}(\d+(?:\.\d+)+)(?:=.*)?$)?")
_CONDA_CUDA = frozenset({"cudatoolkit", "pytorch-cuda", "cuda-version", "cuda-toolkit"})
_CONDA_NVCC = frozenset({"cuda-nvcc", "cuda-toolkit", "cuda", "cudatoolkit-dev", "cuda-compiler"})
_SYSTEM_PYTHON = re.compile(r"python3(?:\.?(\d+))?(?:-pip|-venv|-full|-dev|-minimal)?")
_ENVIRONMENT = re.compile(r"venv|virtualenv|conda|site-packages|dist-packages")
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "python3", "python"})
_SCRIPTS = frozenset({"sh", "bash", "dash", "source", ".", "make", "ansible-playbook", "eval"})
_TOOL = re.compile(r"pip[\d.]*|python[\d.]*|uv|conda|mamba|micromamba")
_BUILDS = frozenset({"install", "develop", "build_ext", "bdist_wheel"})  # of setup.py
_INSTALLED = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/")
# What gives NVIDIA's package source its new key, or takes the source away.
_NEW_KEY = re.compile(r"3bf863cc|cuda-keyring|rm .*sources\.list\.d|sed .*sources\.list\.d|mv .*sources\.list\.d")
# What lets pip install into the system's Python, or makes it the pip of another one.
_FREES_PIP = re.compile(
    r"EXTERNALLY-MANAGED|break-system-packages (?:true|1|yes)|PIP_BREAK_SYSTEM_PACKAGES|get-pip|pip\.conf"
    r"|\b(?:conda|mamba|micromamba|pyenv)\b.*\b(?:activate|shell|global)\b|activate\b|(?:ln|alternatives)\b.*python3\.\d"
)
_BRINGS_PIP = re.compile(rf"pip|conda|ros-|-full|tox|jupyter|{OPEN}")
# Programs of the system that bring no pip.
_BRINGS_NO_PIP = SYSTEM_PROGRAMS | {
    "add-apt-repository", "apt-key", "apt-mark", "cat", "cd", "chmod", "chown", "echo", "export", "git", "ldconfig",
    "locale-gen", "mkdir", "pip", "pip3", "python3", "rm", "sed", "set", "touch", "useradd",
}  # fmt: skip
_OTHER_PYTHON = re.compile(r"python3?\.\d|\bpip")
_COPIED = ("drivers", "trees", "exports", "caches", "unread", "may_bring", "pinned", "unjudged", "piped", "apt_updates")
_FROZEN = frozenset({"--frozen", "--locked", "--frozen-lockfile", "--deploy", "--ignore-pipfile"})
_SHOWN_CHARS = 120
_PYTHON_NAMED = re.compile(r"(?:python|cpython-?)?(3\.\d+)(?:\.\d+)?")
_WITHOUT_NVCC = re.compile(r"_SKIP_CUDA_BUILD$")  # Source: Dao-AILab/flash-attention: setup.py
_NO_CACHE = frozenset({"--no-cache", "--no-cache-dir"})  # pip takes the beginning of an option for it


NO_CUDA = CudaVersion(0, 0)


class Pinned(NamedTuple):
    """A Python package that a line installs."""

    spec: str  # as it is written, variables put in
    build: str | None  # by its index; None where that is not known
    environment: str
    tool: str
    source: Place
    cuda: str = ""  # of conda's, "11.8" by what the same line pins beside it
    is_anew: bool = False  # put in place of the same release, too
    tags: tuple[str, ...] | None = ("",)  # of the indexes that are read, "" for the default one; None if unknown
    is_upgrade: bool = False  # the newest release in place of one that would do
    beside: tuple[str, ...] = ()  # the requirements of the same command
    is_base: bool = False  # of the base image, with what is compiled for its release
    active: str = ""  # the virtual environment that PATH selects for a command without a path
    nvcc: bool | None = True  # whether nvcc is there by then; True where it does not matter
    lock: LockUse | None = None  # a lock file or project, whose packages the command installs; `spec` is empty
    python: str = ""  # "3.12" where the command or its project names it
    may_not_run: bool = False  # it stands in a condition or a loop
    channel: str = ""  # of conda's, the one that decides
    driver_cuda: CudaVersion | None = None  # as conda's solver sees it, NO_CUDA if it sees no driver; None if unknown


class Compiled(NamedTuple):
    """A command that needs nvcc, and whether it is there by then."""

    command: str
    source: Place
    nvcc: bool | None


class Sourced(NamedTuple):
    """An address or path that pip installs from, and whether nvcc is there by then."""

    text: str
    source: Place
    nvcc: bool | None


class Ran:
    """What the RUN lines of a stage have done so far."""

    def __init__(self, files: Copied) -> None:
        self.files = files
        self.nvcc: bool | None = None
        self.fetched: dict[str, str] = {}  # addresses of the files that lines download
        self.prefixes: set[str] = set()  # in which a conda is installed
        self.taken: list[DockerfileLine] = []  # installers of conda that stop at such a directory
        self.channels: tuple[str, ...] = ()  # that conda of the base image has by itself
        self.drivers: list[DockerfileLine] = []
        self.trees: list[DockerfileTree] = []
        self.compiles: list[Compiled] = []
        self.exports: list[DockerfileLine] = []
        self.caches: list[DockerfileLine] = []
        self.unread: list[DockerfileLine] = []
        self.may_bring: list[DockerfileLine] = []
        self.pinned: list[Pinned] = []
        self.asked: list[Pinned] = []  # of an index that is known, by a command that must succeed
        self.apk: set[str] = set()
        self.venvs: set[str] = set()  # that lines make
        self.pythons: set[str] = set()  # "3.11" of each Python that the system's packages bring, "" for its own
        self.unjudged: list[DockerfileLine] = []  # that may install a framework, and do not say which
        self.piped: list[DockerfileLine] = []  # addresses whose script a shell runs
        self.exported: dict[str, LockUse] = {}  # requirements files that lines write of a lock file, by their path
        self.pips: list[DockerfilePip] = []
        self.refused: list[DockerfileLine] = []  # commands that stop the build
        self.may_have_pip = True
        self.sets_index = False  # whether a line may give pip another index for all commands
        self.apt_updates: list[DockerfileLine] = []
        self.targets: list[DockerfileTargets] = []
        self.has_new_key = False  # whether NVIDIA's package source has its new key, or is gone
        self.frees_pip = False  # whether a line lets pip install into the system's Python
        self.has_new_pip = False
        self.python_lines: dict[str, Place] = {}  # of the Pythons that packages bring, by "3.13"
        self.moves_pip = False  # whether a line changes which Python pip or python3 stands for
        self.addresses: list[Sourced] = []  # what pip installs from addresses and paths
        self.cloned: dict[str, str] = {}  # addresses that git cloned, by their directories

    def copy(self) -> Ran:
        """The same, for a stage that starts from this one."""
        made = Ran(self.files.copy())
        made.nvcc, made.channels, made.may_have_pip = self.nvcc, self.channels, self.may_have_pip
        made.sets_index = self.sets_index
        for name in (
            "drivers",
            "trees",
            "exports",
            "caches",
            "unread",
            "may_bring",
            "pinned",
            "unjudged",
            "piped",
            "apt_updates",
        ):
            setattr(made, name, list(getattr(self, name)))
        made.has_new_key, made.frees_pip, made.has_new_pip = self.has_new_key, self.frees_pip, self.has_new_pip
        made.exported, made.cloned, made.fetched = dict(self.exported), dict(self.cloned), dict(self.fetched)
        made.prefixes, made.taken = set(self.prefixes), list(self.taken)
        made.python_lines, made.moves_pip = dict(self.python_lines), self.moves_pip
        made.apk, made.pythons, made.venvs = set(self.apk), set(self.pythons), set(self.venvs)
        return made  # without what was compiled and asked for, which stands in its own stage

    def take(self, other: Ran, sources: tuple[str, ...]) -> None:
        """COPY --from of these paths: environments below them come along, and a toolkit may."""
        wanted = [one.rstrip("/") for one in sources]
        for one in other.pinned:
            place = one.environment if one.environment.startswith("/") else "/usr/local"
            if any(
                place == path or place.startswith(f"{path}/") or path.startswith("/usr/local/lib/python")
                for path in wanted
            ):
                self.pinned.append(one)
        if any(path in other.venvs or _ENVIRONMENT.search(path) or path in ("", "/usr/local") for path in wanted):
            self.unjudged += other.unjudged
        if any("cuda" in path or path in ("", "/usr", "/usr/local") or is_open(path) for path in wanted):
            self.nvcc = True if other.nvcc else None
        elif other.nvcc and other.prefixes.intersection(wanted):
            self.nvcc = True  # conda's


def run(text: str, flags: Mapping[str, str], known: Mapping[str, str], ran: Ran, source: Source) -> None:
    """Take in the commands of a RUN line; `source` says where a character of it stands."""
    found = list(calls(text, known))
    ran.files.changed(text, found)
    there = ran.files.mounted(flags.get("mount", ""))
    for call in found:
        if (activated := _activated(call)) and not call.may_not_run:
            place = there.at(activated)
            ran.venvs.add(place)
            known = {**known, "PATH": f"{place}/bin:{known.get('PATH', '')}"}
        if call.program == "rm" and any(_DRIVER_FILES.search(word.text) for word in call.words):
            ran.drivers.clear()  # what lies below is whited out
        _of_system(call, ran, source)
        targets_of(call, known, ran, source)
        _installs(call, known, ran, source, there)
        _written(call, ran, source, there)
        if (written := exported_lock(call, there, known)) and not call.may_not_run:
            ran.exported[written[0]] = written[1]
        _from_clone(call, ran, source, there)
        there.workdir = moved(call, there.workdir)
        if not call.may_not_run and not call.may_fail:
            _compiles(call, ran, source)
        _fetches(call, ran, there)
        if not _runs_fetched(call, ran, source, there):
            _reads(call, ran, source)
    _pipes(found, ran, source)
    _exports_alone(found, ran, source)
    _leaves(found, flags, known, ran, source)


def _written(call: Call, ran: Ran, source: Source, there: Copied) -> None:
    """`cat > FILE <<EOF` and `echo TEXT > FILE`: a file whose lines stand in the Dockerfile."""
    file = call.writes
    if file is None or call.appends or call.may_not_run or is_open(file.text):
        return
    if call.program == "cat" and call.text is not None:
        text, at = call.text, call.text_at
    elif call.program == "echo" and len(call.words) == 2 and "\\n" not in call.words[1].text:
        text, at = call.words[1]
    else:
        return
    if is_open(text):
        return
    for files in {id(one): one for one in (ran.files, there)}.values():
        place = there.at(file.text)
        files.write(place, text, source(at))


def _installs(call: Call, known: Mapping[str, str], ran: Ran, source: Source, there: Copied) -> None:
    for word in system_packages(call):
        _package(word, call, ran, source(word.at))
    for word in call.words:
        _runfile(word, call, ran, source(word.at))
    ran.venvs |= {there.at(word.text) for word in made_environments(call)}
    if locked(call) and not installs_nothing(call):
        if call.may_not_run:
            what = f"may run {call.program}, which installs what a lock file or a project lists"
            ran.unjudged.append(DockerfileLine(what, source(call.words[0].at)))
        else:
            _from_lock(call, known, ran, source, there)
    pins = python_packages(call, known)
    _locks_as_requirements(call, pins, ran, source)
    _not_judged(call, pins, ran, source, there)
    if pins is None:
        return
    given = tuple(Line(word.text, source(word.at)) for word in pins.specs)
    if pins.tool == "conda":
        cuda = _override({**known, **call.given}.get("CONDA_OVERRIDE_CUDA", ""))
        named = Environment("", given, Listed(), pins.indexes)
        _conda(pins, call, ran, [named, *(_environment(word, there, known) for word in pins.files)], cuda)
        return
    listed = Listed(specs=given)
    for word in pins.files:
        if use := ran.exported.get(there.at(word.text)):
            at = source(word.at)
            ran.pinned.append(Pinned("", None, pins.environment, tool=pins.tool, source=at, tags=("",), lock=use))
        else:
            listed = listed.joined(_listed(word, there, known))
    for word in pins.constraints:
        told = _listed(word, there, known)
        listed = listed.joined(told._replace(specs=(), constraints=told.specs + told.constraints))
    every = tuple(Word(one.spec, 0) for one in listed.specs)
    _by_system_pip(call, pins._replace(specs=every), {**known, **call.given}, ran, source)
    _pins(pins, listed, call, ran, _active(known, ran) or _found_by_uv(pins, call, ran, there))


def _locks_as_requirements(call: Call, pins: Pins | None, ran: Ran, source: Source) -> None:
    """Lock files of tools that pip or uv is told to read as requirements."""
    if pins is None or pins.tool not in {"pip", "uv"} or call.may_not_run or call.may_fail:
        return
    for word in pins.files:
        if tool := TOOLS.get(posixpath.basename(word.text)):
            what = f"{_shortly(word.text)} is a lock file of {tool}, not a requirements file"
            instead = "write uv sync --frozen" if tool == "uv" else f"install with {tool}"
            ran.refused.append(DockerfileLine(what, source(word.at), instead))


def _from_clone(call: Call, ran: Ran, source: Source, there: Copied) -> None:
    """`git clone ADDRESS [DIRECTORY]`, and `python setup.py install` below such a directory."""
    texts = [word.text for word in call.words]
    if call.may_not_run:
        return
    if texts[:2] == ["git", "clone"]:
        address = next((number for number, text in enumerate(texts) if "://" in text or text.startswith("git@")), 0)
        if not address or any(map(is_open, texts[address : address + 2])):
            return
        named = texts[address + 1] if address + 1 < len(texts) else ""
        folder = posixpath.basename(texts[address].rstrip("/")).removesuffix(".git")
        ran.cloned[there.at(folder if named.startswith("-") or not named else named)] = texts[address]
    elif call.program.startswith("python") and "setup.py" in texts and not _BUILDS.isdisjoint(texts):
        place = there.workdir
        while place not in ran.cloned and place not in {"/", ""}:
            place = posixpath.dirname(place)
        if place in ran.cloned:
            at = call.words[texts.index("setup.py")].at
            ran.addresses.append(Sourced(_of_clone(ran.cloned[place]), source(at), ran.nvcc))


def _of_clone(address: str) -> str:
    return f"the clone of {shown(address)}"


def _of_system(call: Call, ran: Ran, source: Source) -> None:
    """What decides whether apt and the pip of the system work later on."""
    text = " ".join(one.text for one in call.words)
    ran.has_new_key = ran.has_new_key or bool(_NEW_KEY.search(text))
    ran.frees_pip = ran.frees_pip or bool(_FREES_PIP.search(text))
    links = call.program == "ln" and _OTHER_PYTHON.search(text)
    moves = links or "get-pip" in text or call.program in {"update-alternatives", "ensurepip"}
    ran.moves_pip = ran.moves_pip or bool(moves)
    brings = call.program in SYSTEM_PROGRAMS and _BRINGS_PIP.search(text)
    ran.sets_index = ran.sets_index or bool(re.search(r"pip3? config|pip\.conf|uv\.toml|FIND_LINKS|find-links", text))
    ran.may_have_pip = ran.may_have_pip or bool(brings or call.program not in _BRINGS_NO_PIP)
    is_update = call.program in {"apt-get", "apt"} and any(one.text == "update" for one in call.words)
    if is_update and not ran.has_new_key and call.sign in {"&&", ""} and not call.may_not_run:
        ran.apt_updates.append(DockerfileLine("apt-get update", source(call.words[0].at)))


def _by_system_pip(call: Call, pins: Pins, given: Mapping[str, str], ran: Ran, source: Source) -> None:
    """A command of the pip that the system's packages bring; another one may stand before it on a changed PATH."""
    first = call.words[0].text
    is_bare = first in {"pip", "pip3"} or (first in {"python3", "python"} and pins.tool == "pip")
    if not is_bare or pins.environment or "PATH" in given or call.may_not_run or call.may_fail:
        return
    if ran.pythons and not ran.may_have_pip:
        instead = "write RUN apt-get update && apt-get install -y python3-pip before it"
        ran.refused.append(DockerfileLine("the image has no pip", source(call.words[0].at), instead))
    names = tuple(dict.fromkeys(name_of(one.text) for one in pins.specs))
    if not any(word.text in {"-r", "--requirement"} for word in call.words) and names == ("pip",) and pins.is_upgrade:
        ran.has_new_pip = True
    allows = given.get("PIP_BREAK_SYSTEM_PACKAGES", "") not in {"", "0", "false"}
    other = [(name, at) for name, at in ran.python_lines.items() if name]
    made = DockerfilePip(
        source=source(call.words[0].at),
        breaks=any(one.text == "--break-system-packages" for one in call.words),
        is_allowed=allows or ran.frees_pip,
        is_upgraded=ran.has_new_pip,
        names=names,
        other_python=DockerfileLine(other[0][0], other[0][1]) if len(other) == 1 and not ran.moves_pip else None,
    )
    ran.pips.append(made)


def targets_of(call: Call, known: Mapping[str, str], ran: Ran, source: Source) -> None:
    """The compute capabilities that CMake and PyTorch's extensions are told to compile for.

    Source: CMake, "CUDA_ARCHITECTURES" (a bare number is machine code and PTX); PyTorch, torch.utils.cpp_extension.
    """
    given = {**known, **call.given}
    for word in call.words if call.program == "cmake" else ():
        found = re.fullmatch(r"-DCMAKE_CUDA_ARCHITECTURES(?::STRING)?=[\"']?([\w;-]+)[\"']?", word.text)
        if found and (targets := _capabilities(found[1].split(";"), is_cmake=True)):
            ran.targets.append(DockerfileTargets(shown(word.text), source(word.at), *targets))
    listed = given.get("TORCH_CUDA_ARCH_LIST", "")
    builds = call.program in {"pip", "pip3", "uv", "python", "python3", "poetry"}
    if builds and listed and not is_open(listed) and (targets := _capabilities(re.split(r"[;\s]+", listed))):
        what = f"TORCH_CUDA_ARCH_LIST={listed}"
        if not any(one.what == what for one in ran.targets):
            ran.targets.append(DockerfileTargets(what, source(call.words[0].at), *targets))


def _capabilities(parts: list[str], *, is_cmake: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Those of machine code and of PTX; None if one of them is no number."""
    code, ptx = [], []
    for one in filter(None, parts):
        found = re.fullmatch(r"(\d+)\.?(\d)[af]?(-real|-virtual|\+PTX)?", one)
        if found is None:
            return None
        name = f"{found[1]}.{found[2]}"
        code += [name] if found[3] != "-virtual" else []
        ptx += [name] if found[3] in {"-virtual", "+PTX"} or (is_cmake and not found[3]) else []
    return tuple(code), tuple(ptx)


def _active(known: Mapping[str, str], ran: Ran) -> str:
    """The virtual environment that PATH puts first, of those that a line made; "" for none."""
    places = (one.removesuffix("/bin") for one in known.get("PATH", "").split(":") if one.endswith("/bin"))
    return next((one for one in places if one in ran.venvs), "")


def _found_by_uv(pins: Pins, call: Call, ran: Ran, there: Copied) -> str:
    """The `.venv` of the working directory, which uv finds by itself; "" for none."""
    place = there.at(".venv")
    is_system = any(one.text == "--system" for one in call.words)
    return place if pins.tool == "uv" and not is_system and place in ran.venvs else ""


def _not_judged(call: Call, pins: Pins | None, ran: Ran, source: Source, there: Copied) -> None:
    """What may bring a framework and is not read: addresses, files that were not found."""
    if call.may_not_run:
        return
    for word in pins.others if pins else ():
        if not (pins and _from_project(word, pins, ran, source, there)):
            cloned = ran.cloned.get(there.at(word.text))
            text = _of_clone(cloned) if cloned else shown(word.text)
            ran.addresses.append(Sourced(text, source(word.at), ran.nvcc))
    for word in pins.files if pins else ():
        name = _named(word, there)
        if pins and word.text.endswith("pyproject.toml") and _from_project(word, pins, ran, source, there):
            continue
        if name is None or there.context.text(name) is None:
            ran.unjudged.append(DockerfileLine(f"reads {_shortly(word.text)}, which was not found", source(word.at)))
        elif posixpath.basename(name).startswith("pylock."):
            ran.unjudged.append(DockerfileLine(f"installs what {_shortly(word.text)} lists", source(word.at)))


def _from_lock(call: Call, known: Mapping[str, str], ran: Ran, source: Source, there: Copied) -> None:
    """`uv sync` and its like, with the lock file or project of the build context."""
    use, at = lock_use(call, there, known), source(call.words[0].at)
    needs_lock = not _FROZEN.isdisjoint(one.text for one in call.words)
    if not use.lock and (needs_lock or not (use.project and use.tool in {"uv", "poetry", "pdm", "pipenv"})):
        what = f"runs {call.program}, which installs what a lock file or a project lists: none was found"
        ran.unjudged.append(DockerfileLine(what, at))
        return
    environment = environment_of(call, there, known)
    if environment:
        ran.venvs.add(environment)
    python = next(filter(None, map(_PYTHON_NAMED.fullmatch, (known.get("UV_PYTHON", ""),))), None)
    made = Pinned("", None, environment, tool=call.program, source=at, tags=("",), lock=use)
    ran.pinned.append(made._replace(python=python[1] if python else ""))


def _from_project(word: Word, pins: Pins, ran: Ran, source: Source, there: Copied) -> bool:
    """Whether a word names a directory with a pyproject.toml; its requirements are then installed."""
    use = project_use(word.text, there, pins.tool)
    if use is None:
        return False
    at = source(word.at)
    setup = there.context.text(posixpath.join(posixpath.dirname(use.project), "setup.py")) or ""
    if "CUDAExtension" in setup:  # Source: PyTorch, torch.utils.cpp_extension
        ran.compiles.append(Compiled(f"{pins.tool} install {_shortly(word.text)}", at, ran.nvcc))
    tags = pins.tags((), has_main=False, is_whole=True)
    ran.pinned.append(Pinned("", None, pins.environment, tool=pins.tool, source=at, tags=tags, lock=use))
    return True


def _shortly(text: str) -> str:
    return shown(text)[:_SHOWN_CHARS]


def _named(word: Word, there: Copied) -> str | None:
    """The file of the context that a word names, None where that is not known."""
    return None if is_open(word.text) or "://" in word.text else there.named(there.at(word.text))


def _listed(word: Word, there: Copied, known: Mapping[str, str]) -> Listed:
    name = _named(word, there)
    return requirements(name, there.context, known) if name else Listed(is_whole=False)


def _environment(word: Word, there: Copied, known: Mapping[str, str]) -> Environment | None:
    name = _named(word, there)
    return environment(name, there.context, known) if name else None


def _package(word: Word, call: Call, ran: Ran, source: Place) -> None:
    name = re.split(r"[=:]", word.text, maxsplit=1)[0]
    if (python := _SYSTEM_PYTHON.fullmatch(name)) and not call.may_not_run:
        ran.pythons.add(python[1] or "")
        if python[1]:
            ran.python_lines.setdefault(f"3.{python[1]}", source)
    if is_open(name):
        _half_known(name.partition(OPEN)[0], word, call, ran, source)
        return
    if call.program == "apk":
        ran.apk.add(name)
        return
    if _DRIVER.fullmatch(name) and not call.may_not_run:
        toolkit = _TOOLKIT.fullmatch(name.replace("-runtime", ""))
        instead = f"cuda-toolkit{name[4:]}" if toolkit and re.fullmatch(r"cuda-\d+-\d+", name) else ""
        ran.drivers.append(DockerfileLine(f"the package {name}", source, instead))
    if call.may_not_run:
        ran.nvcc = None if _COMPILER.fullmatch(name) else ran.nvcc
        return
    if name == "nvidia-cuda-toolkit":
        ran.trees.append(DockerfileTree(f"the package {name}", source, "distribution"))
    elif (found := _TOOLKIT.fullmatch(name)) and not name.startswith("cuda-libraries"):
        release = f"{found[1]}.{found[2]}" if found[2] else ""
        ran.trees.append(DockerfileTree(f"the package {name}", source, release))
    if _COMPILER.fullmatch(name):
        ran.nvcc = True


def _half_known(start: str, word: Word, call: Call, ran: Ran, source: Place) -> None:
    """A package of which only the beginning of its name is known."""
    if re.match(_COMPILER_STARTS, start) and not call.may_not_run:
        ran.nvcc = True
    elif any(_may_be(start, one) for one in ("cuda-nvcc", "cuda-0", "nvidia-cuda-toolkit")):
        ran.nvcc = ran.nvcc or None
    if any(_may_be(start, one) for one in _DRIVER_STARTS):
        ran.unread.append(DockerfileLine(f"installs {shown(word.text)}", source, installs=True))


def _may_be(start: str, name: str) -> bool:
    """Whether a name that begins so may begin with the other; any digit is a 0."""
    start = re.sub(r"\d", "0", start)
    return start.startswith(name) or name.startswith(start)


def _runfile(word: Word, call: Call, ran: Ran, source: Place) -> None:
    """An installer that is run, not the address that it is fetched from."""
    if call.program in {"wget", "curl", "rm", "chmod", "aria2c", "echo", "mv", "cp"} or call.may_not_run:
        return
    name = word.text.rpartition("/")[2]
    if _DRIVER_RUN.fullmatch(name):
        ran.drivers.append(DockerfileLine(name, source))
    elif found := _RUNFILE.fullmatch(name):
        given = {one.text for one in call.words}
        if "--driver" in given or not {"--toolkit", "--toolkitpath"} & {one.partition("=")[0] for one in given}:
            ran.drivers.append(DockerfileLine(name, source, f"{name} --silent --toolkit"))
        ran.trees.append(DockerfileTree(name, source, found[1]))
        ran.nvcc = True


def _pins(pins: Pins, listed: Listed, call: Call, ran: Ran, active: str = "") -> None:
    build = pins.build(listed.indexes, is_whole=listed.is_whole)
    tags = pins.tags(listed.indexes, has_main=listed.has_main, is_whole=listed.is_whole)
    compiles = build is not None and not call.may_fail and not any(map(_WITHOUT_NVCC.search, call.given))
    for one in () if call.may_not_run else listed.others:
        name = re.match(r"[\w.-]+(?=\s*@)", one.spec)
        if name:
            ran.pinned.append(Pinned(name[0], None, pins.environment, tool=pins.tool, source=one.source, tags=None))
        else:
            ran.addresses.append(Sourced(shown(one.spec), one.source, ran.nvcc))
    for one in constrained(listed):
        if call.may_not_run:
            ran.pinned = [each for each in ran.pinned if name_of(each.spec) != name_of(one.spec)]
            ran.pinned.append(Pinned(one.spec, None, "", tool=pins.tool, source=one.source, may_not_run=True))
            continue
        pinned = Pinned(
            one.spec,
            build,
            pins.environment,
            tool=pins.tool,
            source=one.source,
            is_anew=pins.is_anew,
            tags=tags,
            is_upgrade=pins.is_upgrade,
            active=active,
            beside=tuple(each.spec for each in listed.specs if each.spec != one.spec),
            nvcc=ran.nvcc if compiles else True,
        )
        ran.pinned.append(pinned)
        if build is not None and not call.may_fail:
            ran.asked.append(pinned)
        if name_of(one.spec).startswith("nvidia-cuda-nvcc"):
            ran.nvcc = True if ran.nvcc else None


def _conda(
    pins: Pins,
    call: Call,
    ran: Ran,
    environments: list[Environment | None],
    driver_cuda: CudaVersion | None,
) -> None:
    """Which of its builds conda takes, its solver decides; the release of CUDA stands in what is pinned beside it."""
    packages = tuple(line for one in environments if one for line in one.packages)
    if call.may_not_run:
        may = (line.spec.rpartition("::")[2] for line in packages)
        ran.pinned += [
            Pinned(spec, None, "", tool="conda", source=line.source, may_not_run=True)
            for spec, line in zip(may, packages, strict=True)
        ]
        return
    named = pins.environment or next((one.name for one in environments if one and one.name), "")
    if any(name_of(line.spec.rpartition("::")[2]) in _CONDA_NVCC for line in packages):
        ran.nvcc = True
    channels = (*(name for one in environments if one for name in one.channels), *ran.channels)
    ran.pinned += conda_pins(packages, named, channels, driver_cuda)
    for one in filter(None, environments):
        of_pip = pins._replace(environment=named, tool="pip", files=())
        _pins(of_pip, one.pip, call, ran)


def _override(value: str) -> CudaVersion | None:
    """The CUDA of conda's virtual package; a build has no driver."""
    try:
        return CudaVersion.parse(value) if value else NO_CUDA
    except VersionError:
        return None


def conda_pins(
    packages: tuple[Line, ...], environment: str, channels: tuple[str, ...], driver_cuda: CudaVersion | None
) -> list[Pinned]:
    """What conda is asked for: a release counts with the CUDA that is pinned beside it.

    A bare name is the newest release of the channel that goes first; NVIDIA's has no frameworks.
    """
    first = next((one for one in channels if one != "nvidia"), "")
    parts = [(_CONDA_SPEC.match(line.spec.rpartition("::")[2].replace(" ", "")), line) for line in packages]
    cuda = {found[2] for found, _ in parts if found and found[1] in _CONDA_CUDA and found[2]}
    is_by_channel = any(found and found[1] == "pytorch-cuda" for found, _ in parts)  # its own channel has it alone
    made = []
    for found, line in parts:
        if found is None or found[1] in _CONDA_CUDA:
            continue
        is_told = bool(found[2]) and len(cuda) == 1
        named, sign, bare = line.spec.rpartition("::")
        one = Pinned(found[1], None, environment, tool="conda", source=line.source, tags=None)
        if bare.strip() == found[1]:
            one = one._replace(channel=named if sign else first, driver_cuda=driver_cuda)
        if len(cuda) == 1 and not found[2] and line.spec.rpartition("::")[2] == found[1] and is_by_channel:
            one = one._replace(cuda=min(cuda))
        made.append(one._replace(spec=f"{found[1]}=={found[2]}", cuda=min(cuda)) if is_told else one)
    return made


def _compiles(call: Call, ran: Ran, source: Source) -> None:
    given = " ".join(call.given.values())
    builds = call.program == "nvcc" or (
        call.program == "cmake" and any(_BUILDS_CUDA.search(one.text) for one in call.words)
    )
    builds = builds or (bool(_BUILDS_CUDA.search(given)) and call.program.startswith(("pip", "python", "uv")))
    if builds and "/" not in call.words[0].text:
        text = shown(" ".join(one.text for one in call.words))[:_SHOWN_CHARS]
        ran.compiles.append(Compiled(text, source(call.words[0].at), ran.nvcc))


def _reads(call: Call, ran: Ran, source: Source) -> None:
    """What may do anything: a script, a program of the build's own."""
    first = call.words[0].text
    if _activated(call):
        return
    if _TOOL.fullmatch(call.program) and not any(one.text.endswith(".py") for one in call.words):
        return
    is_script = call.program in _SCRIPTS and (
        any(not one.text.startswith("-") for one in call.words[1:]) or call.program == "make"
    )
    if (
        is_open(first)
        or is_script
        or (first.startswith(("/", "./")) and not first.startswith(_INSTALLED))
        or first.endswith((".sh", ".py"))
    ):
        text = shown(" ".join(one.text for one in call.words))[:_SHOWN_CHARS]
        ran.unread.append(DockerfileLine(f"runs {text}", source(call.words[0].at)))
        ran.nvcc = True if ran.nvcc else None


def _fetches(call: Call, ran: Ran, there: Copied) -> None:
    """`wget ADDRESS -O FILE` and `curl -o FILE ADDRESS`."""
    texts = [one.text for one in call.words]
    addresses = [one for one in texts if "://" in one]
    if call.program in {"wget", "curl"} and len(addresses) == 1:
        named = [
            after
            for option, after in itertools.pairwise(texts)
            if option in {"--output", "--output-document"} or re.fullmatch(r"-[a-zA-Z]*(?:O|o)", option)
        ]
        file = call.writes.text if call.writes else next((one for one in named if "://" not in one), "")
        ran.fetched[_at_home(there, file or posixpath.basename(addresses[0]))] = addresses[0]
    elif call.program == "rm":
        ran.prefixes -= {one.rstrip("/") for one in texts}


def _at_home(there: Copied, text: str) -> str:
    return there.at(re.sub(r"^(?:~|\$\{?HOME\}?)(?=/)", "/root", text))


def _runs_fetched(call: Call, ran: Ran, source: Source, there: Copied) -> bool:
    """A script that a line downloads: of conda's installers the directory is told.

    Source: the installers' own help ("-f: no error if install prefix already exists", "-u: update an existing").
    """
    words = call.words[1:] if call.program in _SHELLS else call.words
    script = next((one for one in words if not one.text.startswith("-")), None)
    address = ran.fetched.get(_at_home(there, script.text)) if script else None
    if script is None or address is None or call.may_not_run:
        return False
    at = source(script.at)
    ran.piped.append(DockerfileLine(shown(address), at))
    if re.search(r"(?:[Mm]ini(?:conda|forge)|[Mm]ambaforge|Anaconda)\d?-", address):
        texts = [one.text for one in call.words]
        prefix = next((after for option, after in itertools.pairwise(texts) if re.fullmatch(r"-[bfus]*p", option)), "")
        forced = any(re.fullmatch(r"-[bsp]*[fu][bfusp]*", one) for one in texts)
        prefix = prefix.rstrip("/")
        if prefix in ran.prefixes and not forced:
            ran.taken.append(DockerfileLine(prefix, at))
        ran.prefixes |= {prefix} - {""}
    return True


def _activated(call: Call) -> str:
    """The virtual environment whose script of activation a shell reads; "" for any other command."""
    script = call.words[1].text if call.program in {".", "source"} and len(call.words) > 1 else ""
    return script.removesuffix("/bin/activate") if script.endswith("/bin/activate") and not is_open(script) else ""


def _pipes(found: list[Call], ran: Ran, source: Source) -> None:
    """`curl ADDRESS | sh`: a script that the file does not hold."""
    for fetches, runs in itertools.pairwise(found):
        is_shell = runs.program in _SHELLS and all(word.text.startswith("-") for word in runs.words[1:2])
        if fetches.program not in {"curl", "wget"} or not is_shell:
            continue
        for word in fetches.words[1:]:
            if "://" in word.text and not runs.may_not_run:
                ran.piped.append(DockerfileLine(shown(word.text), source(word.at)))


def _exports_alone(found: list[Call], ran: Ran, source: Source) -> None:
    """A RUN that does nothing but export: the shell ends, and its variables with it."""
    if not found or any(one.program != "export" for one in found):
        return
    for call in found:
        for word in call.words[1:]:
            name, sign, value = word.text.partition("=")
            if sign and name == "LD_LIBRARY_PATH":
                line = f"ENV {name}={shown(value)}"
                ran.exports.append(
                    DockerfileLine(f"RUN export {name} works only in this one RUN", source(word.at), line)
                )


def _leaves(found: list[Call], flags: Mapping[str, str], known: Mapping[str, str], ran: Ran, source: Source) -> None:
    """Lists of packages and downloads that nothing of the same RUN takes away."""
    removed = " ".join(word.text for call in found if call.program in {"rm", "find"} for word in call.words[1:])
    cached = "type=cache" in flags.get("mount", "")
    for call in found:
        at = source(call.words[0].at)
        texts = {word.text for word in call.words}
        if call.program in {"apt-get", "apt"} and "update" in texts and not cached and "/var/lib/apt" not in removed:
            ran.caches.append(DockerfileLine("apt's package lists", at, "&& rm -rf /var/lib/apt/lists/*"))
        pins = python_packages(call, known)
        kept = pins is not None and pins.tool == "pip" and _NO_CACHE.isdisjoint(texts) and not cached
        if kept and not _is_off(known, call) and ".cache" not in removed and "purge" not in _purges(found):
            ran.caches.append(DockerfileLine("pip's downloads", at, "--no-cache-dir"))


def _is_off(known: Mapping[str, str], call: Call) -> bool:
    said = {**known, **call.given}.get("PIP_NO_CACHE_DIR", "")
    return bool(said)


def _purges(found: list[Call]) -> set[str]:
    return {word.text for call in found if call.program.startswith("pip") for word in call.words}
