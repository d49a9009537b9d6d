"""The row types of the matrix, one class a table.

In every column None means unknown; what is known to be empty is an empty text, list or mapping.
Every row ends with where it comes from: `source` is something a reader can open, `read_on` an ISO date,
`confidence` is high (read from the artefact or its maker's own text), medium or low, `note` is prose.
"""

from compat.base.record import NamedTuple
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease


class ToolkitRow(NamedTuple):
    """One CUDA toolkit release and the drivers it knows. File cuda.json, table toolkits.

    `driver_floor_*` is the oldest driver on which its programs start (minor-version compatibility, CUDA 11 on);
    `toolkit_driver_*` is the driver released with it, which NVIDIA calls corresponding: never a floor.
    """

    id: str
    release: str  # "12.4.1"
    cuda: CudaVersion
    driver_floor_linux: DriverRelease | None
    driver_floor_windows: DriverRelease | None
    toolkit_driver_linux: DriverRelease | None
    toolkit_driver_windows: DriverRelease | None
    source: str
    read_on: str
    confidence: str
    note: str


class TargetsRow(NamedTuple):
    """What the compiler of one CUDA version can build for. File cuda.json, table targets."""

    id: str
    cuda: CudaVersion
    sm: tuple[CodeTarget, ...]
    capability_min: ComputeCapability
    capability_max: ComputeCapability
    source: str
    read_on: str
    confidence: str
    note: str


class CompilerRow(NamedTuple):
    """The host compilers one range of toolkits accepts; major versions, _MSC_VER numbers. File compiler.json."""

    id: str
    release_min: str  # toolkit release, inclusive, "12.2.1"
    release_max: str  # inclusive; "12.4.999" is every release of 12.4
    gcc_min: int | None
    gcc_max: int | None
    clang_min: int | None
    clang_max: int | None
    msc_min: int | None
    msc_max: int | None
    reads_flags: bool | None  # its nvcc takes -ccbin from NVCC_PREPEND_FLAGS; the names stand in the program
    reads_ccbin: bool | None  # and a path from NVCC_CCBIN
    source: str
    read_on: str
    confidence: str
    note: str


class PackagedCompilerRow(NamedTuple):
    """The g++-N that one release of a distribution has as packages. File compiler.json, table packaged."""

    id: str  # "ubuntu-22.04": its id and version in /etc/os-release
    gcc: tuple[int, ...]  # major versions
    source: str
    read_on: str
    confidence: str
    note: str


class BranchRow(NamedTuple):
    """One driver branch. File driver.json, table branches."""

    id: str
    branch: int
    windows_last: int | None  # highest number seen on Windows releases of it: 573 for 570; None: none was read
    cuda_max: CudaVersion | None  # what nvidia-smi prints as "CUDA Version"
    kind: str  # "production", "new-feature", "long-term", "legacy" or ""
    end_of_life: str | None  # ISO date or month; "" while nothing is announced
    source: str
    read_on: str
    confidence: str
    note: str
    ended_earlier: bool = False  # `end_of_life` is a bound: it ended then or before

    @property
    def end(self) -> str:
        """The end as text: "2025-12", "at the latest 2022-03"."""
        return f"at the latest {self.end_of_life}" if self.ended_earlier else self.end_of_life or ""


class GenerationRow(NamedTuple):
    """One GPU generation, or those compute capabilities of it that share their CUDA and driver history. File gpu.json.

    `cuda_first` and `cuda_last` are the toolkits whose compiler builds for exactly these capabilities; code for a lower
    minor of the same major runs on them too.
    """

    id: str
    name: str  # "Ada Lovelace"
    capabilities: tuple[ComputeCapability, ...]
    cuda_first: CudaVersion | None
    cuda_last: CudaVersion | None  # None while it is not dropped or it is unknown: see `dropped`
    dropped: bool
    driver_last: int | None  # last branch that drives it; None while `driver_dropped` is false
    driver_dropped: bool
    open_module: str  # "no", "yes" (both flavours work) or "only"
    source: str
    read_on: str
    confidence: str
    note: str


class ChipRow(NamedTuple):
    """The cards that carry one chip, by what PCI shows of them without a driver. File chip.json, table devices."""

    id: str  # the chip, "gp102"
    capability: ComputeCapability
    devices: tuple[str, ...]  # PCI device ids, four hexadecimal digits
    source: str
    read_on: str
    confidence: str
    note: str


class GpuRow(NamedTuple):
    """One product by the name that the driver reports. File gpu.json, table products."""

    id: str
    name: str
    aliases: tuple[str, ...]
    capabilities: tuple[ComputeCapability, ...]  # several: boards of that name carry different chips
    family: str
    source: str
    read_on: str
    confidence: str
    note: str


class SupportRow(NamedTuple):
    """The oldest GPUs that a framework which compiles for the card available supports. File gpu.json, table supported.

    The builds of these list no targets; their CUDA would compile for older cards than their makers support.
    """

    id: str
    package: str  # "cupy" stands for cupy-cuda12x, "tensorrt" for tensorrt-cu12
    versions: str  # PEP 440 specifier
    capability_min: ComputeCapability
    source: str
    read_on: str
    confidence: str
    note: str


class NewestRow(NamedTuple):
    """The newest GPUs that releases take which refuse every newer one, PTX or not. File gpu.json, table newest."""

    id: str
    package: str  # "tensorrt" stands for tensorrt-cu12
    versions: str  # PEP 440 specifier
    capability_max: ComputeCapability
    source: str
    read_on: str
    confidence: str
    note: str


class PtxRow(NamedTuple):
    """Builds whose PTX is reported not to load on newer cards. File gpu.json, table ptx."""

    id: str
    package: str
    versions: str  # PEP 440 specifier
    capability_min: ComputeCapability  # of the oldest card that it is reported for; every newer one counts
    error: str  # what the driver answers
    kind: str  # "bad" where every report in `source` says so, "unknown" where they differ
    source: str
    read_on: str
    confidence: str
    note: str


class CudnnRow(NamedTuple):
    """One cuDNN release. File cudnn.json, table releases."""

    id: str
    version: CudnnVersion  # three parts
    full_versions: tuple[CudnnVersion, ...]
    soname: str  # "libcudnn.so.9"
    header: str  # file that carries the version macros
    parts_linux: tuple[str, ...] | None  # SONAMEs beside the main library
    parts_windows: tuple[str, ...] | None  # DLL names beside the main library
    source: str
    read_on: str
    confidence: str
    note: str


class CudnnBuildRow(NamedTuple):
    """One cuDNN release as built for one CUDA major. File cudnn.json, table builds."""

    id: str
    version: CudnnVersion
    cuda_major: int
    cuda_min: CudaVersion | None
    cuda_max: CudaVersion | None
    capability_min: ComputeCapability | None
    capability_max: ComputeCapability | None
    driver_linux: DriverRelease | None
    driver_windows: DriverRelease | None
    source: str
    read_on: str
    confidence: str
    note: str


class CudnnCompanionRow(NamedTuple):
    """A library of someone else's that a range of cuDNN releases loads. File cudnn.json, table companions."""

    id: str
    versions: str  # PEP 440 specifier on the cuDNN release
    os_family: str
    name: str  # "zlibwapi.dll"
    source: str
    read_on: str
    confidence: str
    note: str


class CudnnWheelRow(NamedTuple):
    """The wheel of cuDNN for one CUDA major. File cudnn.json, table wheels."""

    id: str  # its distribution
    cuda_major: int
    releases: tuple[CudnnVersion, ...]  # all that the package index has, four parts each
    source: str
    read_on: str
    confidence: str
    note: str


class CudnnWarningRow(NamedTuple):
    """A framework that looks at the release of cuDNN when it starts, and only warns. File cudnn.json, table warnings.

    What its row of builds accepts is what it is meant for; a release that is neither accepted nor warned of is refused.
    """

    id: str
    package: str
    versions: str  # PEP 440 specifier on the framework's release
    cudnn: str  # PEP 440 specifier on the cuDNN releases that it warns of, and goes on with
    source: str
    read_on: str
    confidence: str
    note: str


class FrameworkRow(NamedTuple):
    """One build of one framework release. File <package>.json, table builds."""

    id: str
    package: str
    versions: str  # PEP 440 specifier; "==2.9.1" for a single release
    build: str  # "cu128", "cpu", "rocm6.4", "opencl"; "" where a release has only one
    os: tuple[str, ...]  # "linux", "windows", "macos"
    arch: tuple[str, ...]  # "x86_64", "sbsa", "jetson", "ppc64le"
    python: tuple[str, ...] | None  # "3.12"
    cuda: str | None  # PEP 440 specifier on the CUDA version it needs; "" for a CPU build
    cudnn: CudnnVersion | None  # the one it was compiled against
    cudnn_accepts: str | None  # PEP 440 specifier on the one it loads; "" where it uses none
    libraries: str | None  # CUDA: "bundled", in "wheels" it requires (NVIDIA's, torch's), the "system"'s; "" for none
    targets: tuple[CodeTarget, ...] | None  # what its kernels were built for
    glibc: str | None  # "2.28"
    pins: dict[str, str] | None  # distribution -> PEP 440 specifier
    source: str
    read_on: str
    confidence: str  # "low": whether there is such a build is not certain
    note: str
    unsure: tuple[str, ...] = ()  # columns that were inferred, or on which sources disagree


class TraitsRow(NamedTuple):
    """What is true of a framework whatever its release. File frameworks.json, table traits.

    A framework without a row has none of these: it has a directory and a CUDA of its own, and every build is
    published under its own name.
    """

    id: str  # the framework, "tensorflow"
    distributions: tuple[str, ...]  # under which it is published; "*" stands for any text
    one_directory: bool  # they unpack into the same one: the last that is installed overwrites the others
    runs_on: str  # whose CUDA it uses, "torch"; "" for one with its own
    gpu: tuple[str, ...]  # distributions with GPU code, best first; () where each is published with it
    compiles: bool  # for the card that it meets, so that a build needs no code for it
    driver_compiles: str  # releases that compile to PTX of the CUDA beside it, which no older driver takes; "" for none
    tagged: bool  # versions carry the build, "2.9.1+cu128"
    any_python: bool  # pure Python: one wheel for all
    asked_as: dict[str, str]  # distribution -> what an installer is asked for so that CUDA comes along; {major} is its
    followers: tuple[str, ...]  # distributions that are built against one release of it and change with it
    module: (
        str  # the directory of its package, "jax_plugins/xla_cuda{major}"; "" where it is called as the distribution
    )
    opens: str  # CUDA's libraries: at "import", which fails without, at its "start", at a "call"; "" where not known
    finds_wheels: str  # releases whose process finds the wheels of CUDA's libraries by itself, ">=2.14"; "" for none
    nearest: str  # releases that take the nearest library of torch's CUDA major where its own is missing; "" for none
    finds_runtime: str  # releases that take the library for the libcudart.so that they find, not for torch's CUDA
    preload: dict[str, str]  # what a program calls so that they are found -> releases that have it
    instead: dict[str, str]  # a finding -> the one that is about this framework and speaks in its place
    own_tools: bool  # it carries the compiler's tools (ptxas, libdevice) inside
    extended: bool  # compiled extensions of other packages work on its tensors
    cudnn_with: tuple[str, ...]  # the distributions beside which alone it uses cuDNN; () for by itself
    brings: dict[str, str]  # an extra -> the distributions of its release that come along, "a-plugin a-lib"
    dependency: bool  # another package mostly asks for it, and its build for the CPU may be what is meant
    cpu_for: tuple[str, ...]  # distributions that ask for its build for the CPU and run it there
    same_minor: bool  # when imported it refuses what it follows where that is of another CUDA minor, not major alone
    source: str
    read_on: str
    confidence: str
    note: str
    backends: tuple[str, ...] = ()  # packages of which it needs one that no metadata asks for; its default first


class ConflictRow(NamedTuple):
    """Packages that do not work together. File conflicts.json, table known."""

    id: str
    when: dict[str, str]  # distribution -> PEP 440 specifier; all present and matching
    severity: str
    summary: str
    remedy: str
    source: str
    read_on: str
    confidence: str
    note: str


class AbiRow(NamedTuple):
    """What a release needs besides what its metadata says, to be imported. File conflicts.json, table abi.

    `needs` has a specifier for each distribution ("": any release, but it must be there), for "python" and for "glibc".
    """

    id: str
    package: str
    versions: str  # PEP 440 specifier
    os: tuple[str, ...]
    needs: dict[str, str]  # distribution, "python" or "glibc" -> PEP 440 specifier of the releases that will do
    python: str  # PEP 440 specifier on the Pythons on which others could be taken
    severity: str  # "error" where it cannot be imported with another
    effect: str  # what fails, a clause: "it cannot be imported"
    source: str
    read_on: str
    confidence: str
    note: str


class CompanionRow(NamedTuple):
    """What a release that has no rows of builds requires of a framework. File conflicts.json, table companions."""

    id: str
    package: str  # "torchvision"
    versions: str  # PEP 440 specifier
    needs: dict[str, str]  # distribution -> PEP 440 specifier, as its metadata has it
    source: str
    read_on: str
    confidence: str
    note: str


class LibraryRow(NamedTuple):
    """The name that one of CUDA's libraries is asked for by. File libraries.json, table sonames."""

    id: str
    stem: str  # "libcudart"
    cuda: str  # PEP 440 specifier on the CUDA version that it belongs to
    soname: str  # "libcudart.so.12"
    dll: str  # "cudart64_12.dll"
    wheel: str  # distribution that brings it, "nvidia-cuda-runtime-cu12"
    source: str
    read_on: str
    confidence: str
    note: str


class ToolRow(NamedTuple):
    """Which releases of a program a framework starts. File libraries.json, table tools."""

    id: str
    name: str  # "ptxas"
    asker: str  # "xla", or one framework, "tensorflow"
    versions: str  # PEP 440 specifier on the asker's release that asks for it at all; "" is every one
    cuda: str  # PEP 440 specifier on the CUDA that the asker was built with; "" is any
    oldest: str  # release that it takes at least, "11.8.0"; "" is any
    refused: tuple[str, ...]  # newer ones that it passes over all the same
    source: str
    read_on: str
    confidence: str
    note: str


class AskedRow(NamedTuple):
    """The libraries that a framework opens by name, so that its own files do not list them. Table asked."""

    id: str
    package: str
    versions: str  # PEP 440 specifier
    stems: tuple[str, ...]  # "libcudart"
    source: str
    read_on: str
    confidence: str
    note: str


class WheelIndexRow(NamedTuple):
    """Where the wheels of one build of a framework are served from. File index.json, table wheels."""

    id: str
    package: str
    build: str  # "cu128", "cpu"
    versions: str  # PEP 440 specifier on the releases that are served there; "" for all of that build
    url: str
    source: str
    read_on: str
    confidence: str
    note: str


CONDA_FORGE = "conda-forge"  # the channel


class ChannelRow(NamedTuple):
    """Who serves builds of a package. File index.json, table channels.

    Rows of builds speak of the package index and of what `covered` says; of any other channel only this row speaks.
    """

    id: str  # "conda-forge-tensorflow"
    package: str
    channel: str  # "conda-forge", "vLLM's index", "NVIDIA's containers"
    versions: str  # PEP 440 specifier on the releases that it is known to serve; "" where that is not known
    os: tuple[str, ...]
    arch: tuple[str, ...]
    cuda: tuple[CudaVersion, ...]  # those that it has builds for; () where that is not known
    targets: tuple[CodeTarget, ...] | None  # what their kernels were built for
    covered: bool  # whether rows of builds speak of what it serves
    command: str  # {versions} is the release
    source: str
    read_on: str
    confidence: str
    note: str


class RepositoryRow(NamedTuple):
    """NVIDIA's package repository for one distribution. File index.json, tables repositories, local and
    machine-learning (the packages of cuDNN up to 8.0).

    One of table local is a package that holds the repository of one CUDA release: {release} is "12.8.1", {cuda} "12-8",
    {driver} the release of the driver that came with it, {arch} the processor as the package manager names it.
    """

    id: str
    distribution: str  # "ubuntu", "rhel" (also its rebuilds), "wsl" (any distribution inside WSL 2 with apt)
    versions: tuple[str, ...]  # of the distribution, "24.04"; () is every version, put in place of {version}
    arches: tuple[str, ...]  # "x86_64", "sbsa", "jetson": the machines that this row speaks of
    manager: str  # "apt" (the URL is a keyring package), "yum", "dnf", "dnf5", "zypper" (the URL is a .repo file)
    url: str  # {arch} stands for x86_64, sbsa or arm64 (Jetson), {version} for the distribution's major version
    cuda: str | None  # PEP 440 specifier: the toolkits in it, "12.8"; None where that is not known
    cudnn: str | None  # PEP 440 specifier: the releases of cuDNN in it; None where that is not known
    source: str
    read_on: str
    confidence: str
    note: str


class ThirdPartyRow(NamedTuple):
    """What NVIDIA's driver packages need from outside a distribution. File index.json, table third-party.

    {version} stands for the distribution's major version, {machine} for x86_64 or aarch64.
    """

    id: str
    distributions: tuple[str, ...]  # "rhel", "rocky"
    versions: tuple[str, ...]  # major versions of the distribution
    package: str  # name or address of the package that makes EPEL known, which has DKMS
    builder: str  # name of the distribution's own repository that EPEL leans on; "" for none
    source: str
    read_on: str
    confidence: str
    note: str


class OwnPackageRow(NamedTuple):
    """CUDA or cuDNN in a distribution's own repository. File index.json, table own."""

    id: str
    distribution: str  # "debian"
    version: str  # "12", "24.04"
    product: str  # "cuda", "cudnn"
    package: str  # "nvidia-cuda-toolkit"
    release: str  # the package's version as the index spells it, "11.8.89~11.8.0-5~deb12u1"
    component: str  # "non-free"
    source: str
    read_on: str
    confidence: str
    note: str


class OwnDriverRow(NamedTuple):
    """One driver branch in a distribution's own repository. File index.json, table drivers.

    Packages stay when a branch ends: nvidia-driver-590 of Ubuntu 24.04 brings 595.
    """

    id: str  # "ubuntu-580"
    distribution: str  # "ubuntu"
    branch: int
    flavours: tuple[str, ...]  # what follows "nvidia-driver-580": "", "-open", "-server", "-server-open"
    brings: dict[str, int]  # release of the distribution -> the branch that its package brings; 0 where there is none
    source: str
    read_on: str
    confidence: str
    note: str


class SigningKeyRow(NamedTuple):
    """A key that NVIDIA signs its package repositories with. File index.json, table keys."""

    id: str  # its name in the repositories, "3bf863cc"
    fingerprint: str  # 40 hexadecimal digits, upper case
    source: str
    read_on: str
    confidence: str
    note: str


class ImageRow(NamedTuple):
    """A container image with a CUDA toolkit and cuDNN. File index.json, table images."""

    id: str  # its tag
    release: str  # "12.8.1"
    image: str  # "nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04"
    source: str
    read_on: str
    confidence: str
    note: str


class PageRow(NamedTuple):
    """A page for a person to open. File index.json, table pages."""

    id: str  # "driver", "cudnn", "cuda", "zlib"
    url: str
    source: str
    read_on: str
    confidence: str
    note: str


class XidRow(NamedTuple):
    """One error code of the kernel module, "NVRM: Xid (PCI:0000:01:00): 79, ...". File xid.json, table codes.

    `fault` is whose fault it tells of: "gone" (the card left the bus), "hardware", "software" (program or driver),
    "either", "event" (nothing is wrong). `resolution` is NVIDIA's immediate one, "RESTART_APP", "RESET_GPU".
    """

    id: str
    xid: int
    mnemonic: str
    description: str
    fault: str
    resolution: str | None
    source: str
    read_on: str
    confidence: str
    note: str


# product file -> table -> row type; any file that is not named here or below is a framework with one table, builds.
TABLES: dict[str, dict[str, type]] = {
    "cuda": {"toolkits": ToolkitRow, "targets": TargetsRow},
    "compiler": {"hosts": CompilerRow, "packaged": PackagedCompilerRow},
    "driver": {"branches": BranchRow},
    "chip": {"devices": ChipRow},
    "gpu": {
        "generations": GenerationRow,
        "products": GpuRow,
        "supported": SupportRow,
        "newest": NewestRow,
        "ptx": PtxRow,
    },
    "cudnn": {
        "releases": CudnnRow,
        "builds": CudnnBuildRow,
        "companions": CudnnCompanionRow,
        "warnings": CudnnWarningRow,
        "wheels": CudnnWheelRow,
    },
    "libraries": {"sonames": LibraryRow, "tools": ToolRow, "asked": AskedRow},
    "conflicts": {"known": ConflictRow, "abi": AbiRow, "companions": CompanionRow},
    "frameworks": {"traits": TraitsRow},
    "index": {
        "wheels": WheelIndexRow,
        "channels": ChannelRow,
        "repositories": RepositoryRow,
        "local": RepositoryRow,
        "machine-learning": RepositoryRow,
        "third-party": ThirdPartyRow,
        "own": OwnPackageRow,
        "drivers": OwnDriverRow,
        "keys": SigningKeyRow,
        "images": ImageRow,
        "pages": PageRow,
    },
    "xid": {"codes": XidRow},
}
# files to download and status codes, whose row types are in compat/artefact.py
ARTEFACT_PRODUCTS = ("cuda-installer", "cudnn-archive", "forward-compat", "redist", "redist-component", "status")
# names, extras, platforms and variables, whose row types are in compat/platform_row.py
PLATFORM_PRODUCTS = ("package", "platform", "variable")
FRAMEWORK_TABLES: dict[str, type] = {"builds": FrameworkRow}
