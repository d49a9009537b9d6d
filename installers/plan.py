"""A plan is data: printing, scripting and applying use this same object. Its steps are in `steps/`, one kind a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple

if TYPE_CHECKING:
    from installers.effect import Effect
    from installers.step import Step


class Target(NamedTuple):
    """What a plan is made for; never read from the machine by `installers` itself. "" is not known."""

    os_family: str  # "linux", "windows"
    distribution: str  # "ubuntu", "debian", "rhel", "fedora", ...
    distribution_version: str  # "24.04"
    arch: str  # "x86_64", "sbsa", "jetson"
    wsl: bool
    live: bool  # the machine is the one we run on
    python: str  # interpreter of the environment concerned
    environment_kind: str  # "venv", "conda", "system", ...
    cuda_major: int  # newest CUDA major that the driver runs; 0 where unknown
    prefix: str = ""  # directory of the environment concerned
    installed: frozenset[str] = frozenset()  # distributions in that environment, normalised names
    externally_managed: bool = False  # PEP 668: pip refuses to change that environment
    is_root: bool = False  # commands run as root already
    container: str = ""  # "" none, "docker", "podman", "kubernetes", ...: the driver belongs to its host
    user: str = ""  # login name
    kernel: str = ""  # kernel release that runs, "6.8.0-87-generic"
    tool: str = ""  # who makes environments and installs into them: "pip", "uv", "conda"; "" for whoever is there
    releases: tuple[tuple[str, str], ...] = ()  # the release of each of `installed`, where it is known
    installers: tuple[str, ...] = ()  # who can install there: "pip", "uv", "ensurepip", "none"; () where nobody looked
    keeper: str = ""  # whose lock file rules the environment: "uv", "poetry", "pdm", "pipenv", "pixi", "hatch"
    project: str = ""  # the directory of that lock file
    declared: frozenset[str] = frozenset()  # the distributions that the project's manifest names
    conda: str = ""  # the program that changes a conda environment there: "conda", "mamba", "micromamba"
    runner: str = ""  # the interpreter that installs, where it is another one: the base's, for what is in its site
    site: str = ""  # the directory on sys.path where what is concerned lies; "" for the environment's own
    into: str = ""  # the same, where an installer must be told so: pip by --user, uv by --target
    by_pip: bool = False  # pip put it there, though the operating system manages that Python: it is fixed in place
    writable: bool = True  # False: this user may not change that directory
    brings_uv: bool = False  # uv is not in that environment, and is fetched beside it first
    driver_by: str = ""  # who brought the driver that is there: "runfile", "rpmfusion", "" for anybody else
    derivative: str = ""  # the system's own ID where `distribution` is what it is made of, "pop"
    may_be_root: bool = True  # False: this user is in no group that sudo admits, as far as can be seen


class Plan(NamedTuple):
    """Steps in order, and what they bring about."""

    summary: str  # imperative, one line: "install NVIDIA driver 580 or newer"
    steps: tuple[Step, ...]
    effects: tuple[Effect, ...] | None = None  # what is true afterwards, in order; () nothing by itself; None: unsaid
