"""Facts about a Dockerfile, beside what it says that the image will hold."""

from compat.base.record import NamedTuple
from doctor.model.facts.seen import Fact, Place


class DockerfileBase(NamedTuple):
    """What a stage starts from."""

    image: str  # "nvidia/cuda:12.8.1-devel-ubuntu24.04", `${NAME}` for what is not known
    source: Place  # "Dockerfile:1"
    release: str  # of CUDA, "12.8.1"; "" where the name does not say it
    variant: str  # "base", "runtime", "devel", "" where the name does not say it
    system: str  # "ubuntu24.04", "" where the name does not say it
    flags: str = ""  # of its FROM line, "--platform=linux/amd64"
    stage: str = ""  # the name that the line gives the stage, as it is written


class DockerfileLine(NamedTuple):
    """Something that a line does."""

    what: str  # "the package cuda-drivers", "nvcc -o app app.cu"
    source: Place  # "Dockerfile:12"
    instead: str = ""  # what would do the same without the fault, "" where nothing is known
    installs: bool = False  # packages of which only the build knows the names


class DockerfileTree(NamedTuple):
    """A CUDA toolkit that a line brings into the system's directories."""

    what: str  # "the base image nvidia/cuda:12.8.1-devel-ubuntu24.04", "the package cuda-toolkit-12-8"
    source: Place
    cuda: str  # "12.8", "distribution" for the distribution's own, "" where only the build decides


class DockerfileCompile(NamedTuple):
    """A command that needs nvcc."""

    command: str
    source: Place
    has_nvcc: Fact[bool]  # whether nvcc is there when it runs
    base: DockerfileBase


class DockerfileAsked(NamedTuple):
    """A package that pip or uv is asked for, by the Python of a stage whose C library is musl."""

    package: str  # "torch"
    versions: str  # "==2.9.1", "" for any
    source: Place
    base: DockerfileBase


class DockerfilePip(NamedTuple):
    """A command that installs with the pip of the system's own Python."""

    source: Place
    breaks: bool  # whether it names --break-system-packages
    is_allowed: bool  # whether a variable, or a file that was deleted, lets it install
    is_upgraded: bool  # whether a line before it put a newer pip in place
    names: tuple[str, ...]  # what it installs
    system: str = ""  # whose packages bring pip, "debian-12"; "" if unknown
    other_python: DockerfileLine | None = None  # another Python that packages bring, which gets nothing of it


class DockerfileTargets(NamedTuple):
    """The compute capabilities that a line compiles for."""

    what: str  # "-DCMAKE_CUDA_ARCHITECTURES=80;90"
    source: Place
    code: tuple[str, ...]  # "9.0" of machine code
    ptx: tuple[str, ...]  # "9.0" that newer GPUs compile from


class ProjectRequirement(NamedTuple):
    """What a project asks for beside its lock file."""

    name: str
    versions: str  # "==2.8.0"; "" for any
    marker: str
    source: Place
    lock: str  # the file, "uv.lock"
    locked: tuple[str, ...]  # the releases of it in the lock file
    build: str = ""  # of the index that its source names, "cu128"; "" for none


class ProjectSource(NamedTuple):
    """The package index that a project names for one package."""

    name: str  # of the package; "" for an index that only such a source could choose
    registry: str  # the name that the project gives it
    marker: str
    source: Place
    is_used: bool  # whether the project asks for the package itself


class DockerfileService(NamedTuple):
    """A service of a compose file, which is started from the image."""

    name: str
    source: Place  # "compose.yaml:4"
    gpus: Fact[str]  # the key that gives it GPUs, "deploy.resources.reservations.devices"; "" for none
    fault: DockerfileLine | None  # a request for GPUs that Compose refuses


class DockerfileFacts(NamedTuple):
    """What a Dockerfile does on the way to one stage."""

    stage: str  # its name, else its number from 0
    base: DockerfileBase  # that the image starts from, through its stages
    drivers: tuple[DockerfileLine, ...]  # that bring libraries of the driver into the image
    trees: tuple[DockerfileTree, ...]
    compiles: tuple[DockerfileCompile, ...]  # in every stage that is built for it
    paths: tuple[DockerfileLine, ...]  # of LD_LIBRARY_PATH, that do not do what they look like
    caches: tuple[DockerfileLine, ...]  # that stay in a layer of the image
    unread: tuple[DockerfileLine, ...]  # that may install anything: scripts, names that only the build knows
    on_musl: tuple[DockerfileAsked, ...] = ()  # in every stage that is built for it
    may_bring: tuple[DockerfileLine, ...] = ()  # that name CUDA or its libraries, or copy from elsewhere
    service: DockerfileService | None = None  # of the compose file that names the Dockerfile
    wheels: tuple[DockerfileLine, ...] = ()  # files that an address or a path names
    uses: tuple[DockerfileCompile, ...] = ()  # packages that call nvcc when they are used
    lines: tuple[DockerfileLine, ...] = ()  # that name a package, as they are written
    python: str = ""  # of the image's own pip, "3.12"; "" if no line tells it
    unjudged: tuple[DockerfileLine, ...] = ()  # that may install a framework, and do not say which
    pips: tuple[DockerfilePip, ...] = ()
    refused: tuple[DockerfileLine, ...] = ()  # commands of pip and uv that stop the build, with the reason
    apt_updates: tuple[DockerfileLine, ...] = ()  # before a line that puts NVIDIA's new package key in place
    targets: tuple[DockerfileTargets, ...] = ()
    no_wheels: tuple[DockerfileLine, ...] = ()  # locked packages without a file for the platform and Python
    requirements: tuple[ProjectRequirement, ...] = ()  # of projects with a lock file
    sources: tuple[ProjectSource, ...] = ()  # of these projects
    taken: tuple[DockerfileLine, ...] = ()  # directories with a conda, into which an installer of conda goes
