"""The row types of files to download and of status codes: tables that a diagnosis never opens.

They stand apart from `compat.row` because defining a row type costs start-up time; `compat.load.tables_of` reads them
when one of their products is asked for. The last four columns are those of every row (see `compat.row`).

`digest_from` says how far a digest can be trusted: "manifest" (NVIDIA's own redistributable manifest carries it),
"several" (independent packagers agree), "one" (a single packager's recipe, which may hold a stale line: compare, and
report a difference, but do not call the file forged) or "" (no digest is known).
"""

from compat.base.record import NamedTuple
from compat.version import CudaVersion, CudnnVersion, DriverRelease


class CudnnArchiveRow(NamedTuple):
    """One cuDNN archive. File cudnn-archive.json, table archives; the id is the file's name.

    Where two files share a name, their folder comes before it.
    """

    id: str
    version: CudnnVersion  # as many parts as are known
    cuda: str  # what its name says: "12" is every CUDA 12, "10.1" is that version (see the builds of cuDNN)
    os: str  # "linux", "windows", "macos"
    arch: str  # "x86_64", "sbsa", "jetson", "ppc64le", "arm64"
    url: str
    sha256: tuple[str, ...]  # several: the file was replaced under its name, and each digest was the right one once
    size_bytes: int | None
    digest_from: str
    layout: str  # id of a row of table layouts
    source: str
    read_on: str
    confidence: str
    note: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.url.rpartition("/")[2]


class CudnnLayoutRow(NamedTuple):
    """Where things are in the archives of a range of cuDNN releases. File cudnn-archive.json, table layouts.

    Directories are below `root`; "" is `root` itself. `dlls` holds the DLLs, `libs_windows` the import libraries.
    """

    id: str
    versions: str  # PEP 440 specifier on the cuDNN release
    root: str  # "cuda", or "{stem}" for the archive's name without .tgz, .tar.xz or .zip
    headers: str
    libs_linux: str
    libs_windows: str | None
    dlls: str | None
    version_header: str  # the header that carries the version macros
    windows_installer: str | None  # URL of the .exe, {release} in place of "9.10.2"; "" where there is none
    installer_dlls: str | None  # where that puts the DLLs, {cuda} in place of "12.9"; "" where there is none
    source: str
    read_on: str
    confidence: str
    note: str


_FIRST_WITHOUT_DRIVER = 13


class CudaInstallerRow(NamedTuple):
    """One installer of the CUDA toolkit. File cuda-installer.json, table installers; the id is the file's name."""

    id: str
    release: str  # "12.4.1"; up to CUDA 10 the build number, "10.2.89"
    cuda: CudaVersion
    os: str
    arch: str
    kind: str  # "runfile", "exe", "exe-network" (a small file that downloads the rest)
    url: str
    sha256: str | None
    digest_from: str
    driver_bundled: DriverRelease | None  # by its name; see `has_no_driver`
    source: str
    read_on: str
    confidence: str
    note: str

    @property
    def has_no_driver(self) -> bool:
        """Whether it carries none, as the Windows installers since CUDA 13."""
        return self.os == "windows" and self.cuda.major >= _FIRST_WITHOUT_DRIVER


class InstallerOptionsRow(NamedTuple):
    """How an installer of the CUDA toolkit works without asking. File cuda-installer.json, table options.

    In an option {home} stands for the CUDA directory and {cuda} for "12.8". The driver is left as it is.
    """

    id: str
    kind: str  # "runfile", "exe"
    versions: str  # PEP 440 specifier on the CUDA version
    options: tuple[str, ...]
    removes: tuple[str, ...]  # the command that removes the toolkit again; () where there is none to name
    source: str
    read_on: str
    confidence: str
    note: str


class ManifestRow(NamedTuple):
    """One redistributable manifest, which lists the parts of a release with digests. File redist.json, manifests."""

    id: str
    product: str  # "cuda", "cudnn", "nvshmem"
    release: str
    url: str
    sha256: str  # of the manifest itself
    digest_from: str  # "several": a copy of the file and an independent pin agree
    released: str | None  # ISO date that the manifest gives, which may be that of its re-issue
    source: str
    read_on: str
    confidence: str
    note: str


class ComponentRow(NamedTuple):
    """One component of a CUDA release, as its manifest lists it. File redist-component.json, table components.

    The archive is COMPONENT/PLATFORM/COMPONENT-PLATFORM-VERSION-archive.tar.xz (.zip on Windows) beside the manifest.
    What belongs to the driver, Nsight, samples and documentation are left out. The source is the manifest on NVIDIA's
    server for downloads; its whole address and digest are in redist.json.
    """

    id: str
    release: str  # of the toolkit, "12.8.1"
    component: str  # "cuda_cudart"
    version: str  # of the component, "12.8.90"
    title: str  # "CUDA Runtime (cudart)"
    sha256: dict[str, str]  # by platform: "linux-x86_64", "linux-sbsa", "windows-x86_64"
    size_bytes: dict[str, int]
    source: str
    read_on: str
    confidence: str
    note: str


class ForwardCompatRow(NamedTuple):
    """One forward-compatibility package: a newer libcuda beside an older kernel module. File forward-compat.json.

    It works on data-centre GPUs, some RTX boards of NVIDIA's list and Jetson only: elsewhere CUDA answers 804.
    """

    id: str  # the package's name, "cuda-compat-12-8"
    cuda: CudaVersion  # that programs then may use
    libcuda: DriverRelease | None  # a release of the libcuda in it; later updates of the package carry later ones
    base_branches: tuple[int, ...] | None  # driver branches that NVIDIA names as good under it
    source: str
    read_on: str
    confidence: str
    note: str


class StatusRow(NamedTuple):
    """One status code of a library. File status.json, table codes."""

    id: str
    library: str  # "nvml", "cuda" (runtime), "cuda-driver", "cudnn", "cublas", ...
    versions: str  # PEP 440 specifier on the library's releases with this number; "" for all
    code: int
    name: str
    meaning: str  # in our words
    advice: str
    source: str
    read_on: str
    confidence: str
    note: str


ARTEFACT_TABLES: dict[str, dict[str, type]] = {
    "cuda-installer": {"installers": CudaInstallerRow, "options": InstallerOptionsRow},
    "cudnn-archive": {"archives": CudnnArchiveRow, "layouts": CudnnLayoutRow},
    "forward-compat": {"packages": ForwardCompatRow},
    "redist": {"manifests": ManifestRow},
    "redist-component": {"components": ComponentRow},
    "status": {"codes": StatusRow},
}
