"""The row types of names of packages, of extras, of platforms without builds, and of environment variables.

Only a question opens these tables, so that a diagnosis need not define their types. The last four columns are those of
every row (see `compat.row`).
"""

from compat.base.record import NamedTuple
from compat.version import ComputeCapability


class NameRow(NamedTuple):
    """A name that people give a package. File package.json, table names; the id is that name, normalised."""

    id: str  # "pytorch"
    package: str  # "torch"; "" where the name stands for nothing that the matrix knows, and `note` says what it is
    source: str
    read_on: str
    confidence: str
    note: str


class ExtraRow(NamedTuple):
    """What comes only where an extra of a package is asked for. File package.json, table extras."""

    id: str
    package: str
    versions: str  # PEP 440 specifier
    extra: str  # "and-cuda"
    asks: str  # the package whose GPU code it asks for, "jax-cuda12-plugin"; "" for the package itself
    build: str  # how the build begins that it asks for, "cuda12" of jaxlib; "" where there is but one
    brings: tuple[str, ...]  # "cuda", "cudnn"; [] where they are taken from the system
    source: str
    read_on: str
    confidence: str
    note: str


class ScriptRow(NamedTuple):
    """An installation script that people pipe to a shell. File package.json, table scripts."""

    id: str
    addresses: tuple[str, ...]  # without "https://"
    brings: str  # "driver", "" for nothing that a GPU stack is made of
    instead: str  # what does the same without the driver; "" for nothing known
    source: str
    read_on: str
    confidence: str
    note: str


class CompiledRow(NamedTuple):
    """A package that needs nvcc. File package.json, table compiled."""

    id: str  # the package
    repositories: tuple[str, ...]  # owner/name of the source that an address names
    when: str  # "install" from these addresses, "source" from the package index too, "use" after any installation
    unless: tuple[str, ...]  # packages that hold the compiled kernels
    source: str
    read_on: str
    confidence: str
    note: str


class UnpublishedRow(NamedTuple):
    """Releases that a plain `pip install` does not bring with GPU code. File package.json, table unpublished."""

    id: str
    package: str
    versions: str  # PEP 440 specifier; "" is every release
    instead: str  # how people get it: "CNTK for GPUs is the package cntk-gpu"; {requirement} is "'flash-attn==2.*'"
    source: str
    read_on: str
    confidence: str
    note: str


class CardPlatformRow(NamedTuple):
    """The machines that cards sit in, where these are of one kind. File platform.json, table cards."""

    id: str
    cards: tuple[str, ...]  # ids of gpu.products
    os: tuple[str, ...]
    arch: str  # "jetson", "sbsa"
    source: str
    read_on: str
    confidence: str
    note: str


class AbsentRow(NamedTuple):
    """A platform that there is known to be no build for. File platform.json, table absent.

    Only such a row is a "no": a platform that no row of builds speaks of is not known.
    """

    id: str
    package: str  # "" is every package that uses CUDA
    versions: str  # PEP 440 specifier on the package's release; "" is every one
    os: tuple[str, ...]  # "windows"; "musl" is a Linux with that C library
    arch: tuple[str, ...]  # () is every one
    cards: tuple[ComputeCapability, ...]  # those that it holds for, () is every one
    gpu_only: bool  # whether builds without GPU code may be there all the same
    summary: str  # "JAX has no CUDA wheels for Windows"
    source: str
    read_on: str
    confidence: str
    note: str


class SystemRow(NamedTuple):
    """What a system has before anything is installed on it. File platform.json, table systems."""

    id: str  # "ubuntu-22.04", "rhel-9" (also its rebuilds), "fedora-42"; "windows" has what winget has
    glibc: str | None  # "2.35"; "" on a system without it
    pythons: dict[str, str] | None  # "3.12" -> the packages of it that make environments, "python3 python3-pip"
    source: str
    read_on: str
    confidence: str
    note: str


class CondaRow(NamedTuple):
    """An installer of conda. File platform.json, table conda."""

    id: str
    os: str
    arch: str
    url: str
    sha256: str
    source: str
    read_on: str
    confidence: str
    note: str


class DeclaredRow(NamedTuple):
    """The Pythons that the maker of a package names, where it has no wheels that tell. Table declared.

    Others may do, too: this is what a new environment is made with, and nothing that an installed one is judged by.
    """

    id: str
    package: str
    versions: str  # PEP 440 specifier
    python: tuple[str, ...]  # "3.6"
    conda: tuple[str, ...]  # what it needs for the GPU that conda alone has, "pygpu"
    source: str
    read_on: str
    confidence: str
    note: str


class SystemLibraryRow(NamedTuple):
    """The package of Debian and Ubuntu with a library that programs expect of a system. platform.json, table libraries.

    Distributions with RPM packages are asked for the library itself: each package provides the names of its own.
    """

    id: str  # SONAME, "libz.so.1"
    apt: str  # "zlib1g"
    source: str
    read_on: str
    confidence: str
    note: str


class JetpackRow(NamedTuple):
    """What a major release of Jetson's system runs. File platform.json, table jetpacks; the id is that of L4T."""

    id: str  # "36"
    jetpack: str  # "6"
    cuda_major: int  # newest CUDA major that its driver runs, without a compatibility package
    source: str
    read_on: str
    confidence: str
    note: str


class PipRow(NamedTuple):
    """The pip of a system's own Python. File platform.json, table pips; the id is that of the system."""

    id: str  # "ubuntu-22.04"
    pip: str  # "22.0.2"
    refuses: bool  # whether it refuses to install outside of an environment (PEP 668)
    source: str
    read_on: str
    confidence: str
    note: str


class AgedImageRow(NamedTuple):
    """Images that hold NVIDIA's package source with the key that ended on 2022-04-27. Table aged-images."""

    id: str
    image: str  # "pytorch/pytorch"
    variant: str  # what the tag holds, "devel"
    versions: str  # PEP 440 specifier on the first number of the tag
    source: str
    read_on: str
    confidence: str
    note: str


class VariableRow(NamedTuple):
    """The values that a program accepts for environment variables. File variable.json, table values."""

    id: str
    variables: tuple[str, ...]
    reader: str  # the distribution that reads them, "torch"; "" for CUDA, NCCL and programs that are no distribution
    versions: str  # PEP 440 specifier on the reader's release; "" for any
    values: str  # a regular expression for the value without blanks around it; "" where no value has an effect
    valid: str  # the same as text, "0 and 1"
    choices: tuple[str, ...]  # the values, where they are few: one of them may be meant
    then: str  # what comes of any other value
    severity: str  # "error", "warning", "info"
    gpus: int  # with fewer GPUs the value does not matter
    source: str
    read_on: str
    confidence: str
    note: str


PLATFORM_TABLES: dict[str, dict[str, type]] = {
    "package": {
        "names": NameRow,
        "extras": ExtraRow,
        "scripts": ScriptRow,
        "compiled": CompiledRow,
        "unpublished": UnpublishedRow,
    },
    "platform": {
        "cards": CardPlatformRow,
        "absent": AbsentRow,
        "libraries": SystemLibraryRow,
        "jetpacks": JetpackRow,
        "systems": SystemRow,
        "conda": CondaRow,
        "declared": DeclaredRow,
        "pips": PipRow,
        "aged-images": AgedImageRow,
    },
    "variable": {"values": VariableRow},
}
