"""Questions that the tables answer. A question that no row covers raises Uncovered; it is never guessed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from compat.base.errors import GpudoctorError
from compat.load import DATA, RowReader, load_file, tables_of
from compat.row import (
    AbiRow,
    AskedRow,
    BranchRow,
    ChipRow,
    CompanionRow,
    CompilerRow,
    ConflictRow,
    CudnnBuildRow,
    CudnnCompanionRow,
    CudnnRow,
    CudnnWarningRow,
    FrameworkRow,
    GenerationRow,
    GpuRow,
    LibraryRow,
    NewestRow,
    PageRow,
    PtxRow,
    RepositoryRow,
    SupportRow,
    TargetsRow,
    ToolkitRow,
    ToolRow,
    WheelIndexRow,
    XidRow,
)
from compat.specifier import accepts
from compat.version import ComputeCapability, CudaVersion, CudnnVersion, DriverRelease

if TYPE_CHECKING:
    from compat.artefact import CudnnArchiveRow, CudnnLayoutRow  # at run time only an installation reads such rows
    from compat.platform_row import CompiledRow, VariableRow  # at run time few questions need such rows

__all__ = ["Matrix", "Uncovered", "accepts", "known"]

# How the variables of variable.json begin: PATH and LD_LIBRARY_PATH, which are always set, must not open the file.
_VARIABLES = (
    "CUBLAS_", "CUDA_CA", "CUDA_D", "CUDA_FORCE", "CUDA_LAUNCH", "CUDA_MODULE", "CUPY_", "JAX_", "NCCL_", "NUMBA_",
    "NVIDIA_D", "OLLAMA_", "PYTORCH_", "TF_", "TORCH_", "XLA_",
)  # fmt: skip

Item = dict[str, Any]
T = TypeVar("T")


class Uncovered(GpudoctorError):
    """No row answers; `judge.ask` turns this into the answer UNKNOWN."""

    def __init__(self, what: str, nearest: str = "", *, known: str = "") -> None:
        """`known` is what of it has a row: the release of a build that has none."""
        if known:
            super().__init__(f"{known} is known, but its {what} is not")
        else:
            super().__init__(f"no matrix row covers {what}" + (f"; the nearest is {nearest}" if nearest else ""))


def known(row: Any, column: str) -> Any:
    """The value of a column; raises Uncovered where the row does not say."""
    value = getattr(row, column)
    if value is None:
        raise Uncovered(f"{column.replace('_', ' ')} of {row.id}")
    return value


def _first(rows: Iterable[T], test: Callable[[T], bool]) -> T | None:
    return next((row for row in rows if test(row)), None)


def _nearest(names: Iterable[tuple[Any, str]], wanted: Any) -> str:
    """The name whose key is the largest at or below `wanted`, else the smallest above it."""
    ordered = sorted(names)
    below = [name for key, name in ordered if key <= wanted]
    return below[-1] if below else ordered[0][1] if ordered else ""


_cudnn_version = lru_cache(maxsize=1024)(CudnnVersion.parse)


def _release_key(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


Answer = TypeVar("Answer", bound=Callable[..., Any])


def _remembered(look_up: Answer) -> Answer:
    """Answer the same question from memory: the solver asks for the same few rows thousands of times."""

    def answer(self: Matrix, *question: Any) -> Any:
        key = (look_up.__name__, *question)
        if key not in self._answers:
            self._answers[key] = look_up(self, *question)
        return self._answers[key]

    answer.__doc__ = look_up.__doc__
    return answer  # type: ignore[return-value]


class Matrix:
    """All tables, each read when it is first asked for."""

    def __init__(self, data: str = DATA, overlay: str = "") -> None:
        """`overlay` is a directory with rows of the user's ("" for none); see compat/overlay.py."""
        self._data = data
        self._overlay = overlay
        self._files: dict[str, dict[str, Any]] = {}
        self._tables: dict[tuple[str, str], tuple[Any, ...]] = {}
        self._readers: dict[tuple[str, str], RowReader] = {}
        self._releases: dict[tuple[str, str], tuple[FrameworkRow, ...]] = {}
        self._answers: dict[tuple[Any, ...], Any] = {}

    @classmethod
    def of_user(cls) -> Matrix:
        """The shipped tables with the user's own rows laid over them."""
        from compat.overlay import folder  # late: only who judges on a user's behalf asks for it

        return cls(overlay=folder())

    @property
    def has_overlay(self) -> bool:
        """Whether there are rows of the user's."""
        return bool(self._overlay) and os.path.isdir(self._overlay)

    @property
    def overlay_problems(self) -> tuple[GpudoctorError, ...]:
        """What is wrong with files of the overlay, all of them; a damaged one is ignored."""
        if not self.has_overlay:
            return ()
        from compat.overlay import problems  # late: hardly anybody has an overlay

        return problems(self._overlay)

    @property
    def files_read(self) -> tuple[str, ...]:
        """The products whose file has been opened so far."""
        return tuple(sorted(self._files))

    @_remembered
    def has(self, product: str) -> bool:
        """Whether there is a file for this product; schema.json is the form of them all."""
        if product == "schema" or os.path.basename(product) != product:
            return False
        return os.path.isfile(os.path.join(self._data, f"{product}.json")) or self._has_own(product)

    def as_of(self, product: str = "cuda") -> str:
        """The date of a product's rows (ISO); that of the CUDA tables stands for the knowledge as a whole."""
        return str(self._file(product)["as_of"])

    @_remembered
    def toolkit(self, cuda: CudaVersion) -> ToolkitRow:
        """The first release of this CUDA version; raises Uncovered."""
        wanted = str(cuda)
        found: list[ToolkitRow] = self._where("cuda", "toolkits", lambda item: item["cuda"] == wanted)
        if not found:
            raise Uncovered(f"CUDA {cuda}", self._near("cuda", "toolkits", "cuda", cuda, CudaVersion.parse))
        return min(found, key=lambda row: _release_key(row.release))

    @_remembered
    def cudas_within(self, specifier: str) -> tuple[CudaVersion, ...]:
        """The CUDA versions with a toolkit that a specifier admits, oldest first."""
        toolkits: tuple[ToolkitRow, ...] = self.rows("cuda", "toolkits")
        return tuple(sorted({one.cuda for one in toolkits if accepts(specifier, one.cuda)}))

    def driver_floor(self, cuda: CudaVersion, os_family: str) -> DriverRelease:
        """The oldest driver on which programs built with this CUDA start; raises Uncovered."""
        if os_family not in {"linux", "windows"}:
            raise Uncovered(f"the oldest driver for CUDA {cuda} on {os_family}")
        floor: DriverRelease = known(self.toolkit(cuda), f"driver_floor_{os_family}")
        return floor

    @_remembered
    def branch(self, release: DriverRelease, os_family: str = "linux") -> BranchRow:
        """The branch a driver release belongs to; raises Uncovered.

        On Linux a release is numbered as its branch; on Windows it counts on from there, as far as the row's
        `windows_last`: 572.16 is of branch 570, 475.14 of 470.
        """
        number = release.branch

        def covers(item: Item) -> bool:
            last = item["windows_last"] if os_family == "windows" else None
            return bool(item["branch"] <= number <= (last or item["branch"]))

        found: list[BranchRow] = self._where("driver", "branches", covers)
        if not found:
            raise Uncovered(f"driver branch {number}", self._near("driver", "branches", "branch", number, int))
        return max(found, key=lambda row: row.branch)

    @_remembered
    def targets(self, cuda: CudaVersion) -> TargetsRow:
        """What the compiler of this CUDA version can build for; raises Uncovered."""
        wanted = str(cuda)
        found: list[TargetsRow] = self._where("cuda", "targets", lambda item: item["cuda"] == wanted)
        if not found:
            near = self._near("cuda", "targets", "cuda", cuda, CudaVersion.parse)
            raise Uncovered(f"the targets of CUDA {cuda}", near)
        return found[0]

    def first_cuda_for(self, gpu: ComputeCapability) -> CudaVersion:
        """The first CUDA version that builds for this GPU; raises Uncovered."""
        generation = self.generation(gpu)
        first: CudaVersion = known(generation, "cuda_first")
        return first

    @_remembered
    def generation(self, gpu: ComputeCapability) -> GenerationRow:
        """The part of a generation that has this compute capability; raises Uncovered."""
        wanted = str(gpu)
        found: list[GenerationRow] = self._where("gpu", "generations", lambda item: wanted in item["capabilities"])
        if not found:
            raise Uncovered(f"compute capability {gpu}")
        return found[0]

    @_remembered
    def chip(self, device_id: int) -> ChipRow:
        """The chip of a card by its PCI device id, which needs no driver; raises Uncovered."""
        wanted = f"{device_id:04x}"
        found: list[ChipRow] = self._where("chip", "devices", lambda item: wanted in item["devices"])
        if not found:
            raise Uncovered(f"the chip of PCI device 10de:{wanted}")
        return found[0]

    def gpu(self, name: str) -> GpuRow:
        """A product by the name that the driver, or a person, gives it; raises Uncovered."""
        wanted = _product_key(name)
        found: list[GpuRow] = self._where(
            "gpu", "products", lambda item: wanted in map(_product_key, (item["name"], *item["aliases"]))
        )
        if not found:
            raise Uncovered(f"the GPU {name!r}")
        return found[0]

    def compilers(self, release: str) -> CompilerRow:
        """The host compilers that a toolkit release ("12.4.1", or "12.4") accepts; raises Uncovered."""
        key = _release_key(release)[:3]
        found: list[CompilerRow] = self._where(
            "compiler",
            "hosts",
            lambda item: _release_key(item["release_min"])[: len(key)] <= key <= _release_key(item["release_max"]),
        )
        if not found:
            near = self._near("compiler", "hosts", "release_min", key, _release_key)
            raise Uncovered(f"the host compilers of CUDA {release}", near)
        return found[0]

    @_remembered
    def cudnn(self, version: CudnnVersion) -> CudnnRow:
        """A cuDNN release, by its first three parts (the last patch of 5.1 by its two); raises Uncovered."""
        release = version.release
        found: list[CudnnRow] = self._where(
            "cudnn", "releases", lambda item: _cudnn_version(item["version"]).agrees_with(release)
        )
        if not found:
            raise Uncovered(f"cuDNN {release}", self._near("cudnn", "releases", "version", release, CudnnVersion.parse))
        return found[-1]

    @_remembered
    def cudnn_always(self, major: int, os_family: str) -> tuple[str, ...]:
        """The parts that every release of a major has; () where that is not known of one of them."""
        listed = "parts_windows" if os_family == "windows" else "parts_linux"
        rows = self._where("cudnn", "releases", lambda item: _cudnn_version(item["version"]).major == major)
        sets = [frozenset(getattr(row, listed) or ()) for row in rows]
        return tuple(sorted(frozenset.intersection(*sets))) if sets else ()

    @_remembered
    def cudnn_is_uniform(self, major: int, os_family: str) -> bool:
        """Whether every release of a major is known to have the same parts: up to 7 there is but one library."""
        listed = "parts_windows" if os_family == "windows" else "parts_linux"
        rows = self._where("cudnn", "releases", lambda item: _cudnn_version(item["version"]).major == major)
        return len({getattr(row, listed) for row in rows}) == 1 and getattr(rows[0], listed) is not None

    @_remembered
    def cudnn_build(self, version: CudnnVersion, cuda_major: int) -> CudnnBuildRow:
        """A cuDNN release as built for one CUDA major; raises Uncovered."""
        release = str(self.cudnn(version).version)
        found: list[CudnnBuildRow] = self._where(
            "cudnn", "builds", lambda item: item["version"] == release and item["cuda_major"] == cuda_major
        )
        if not found:
            raise Uncovered(f"cuDNN {release} for CUDA {cuda_major}")
        return found[0]

    @_remembered
    def cudnn_builds_within(self, specifier: str, cuda_major: int) -> tuple[CudnnBuildRow, ...]:
        """The builds for one CUDA major of every release that a specifier admits, oldest first."""
        full = {one.version: one.full_versions or (one.version,) for one in self.rows("cudnn", "releases")}
        builds: tuple[CudnnBuildRow, ...] = self.rows("cudnn", "builds")
        return tuple(
            build
            for build in sorted(builds, key=lambda build: build.version)
            if build.cuda_major == cuda_major
            and any(accepts(specifier, version) for version in full.get(build.version, (build.version,)))
        )

    def cudnn_companions(self, version: CudnnVersion, os_family: str) -> tuple[str, ...]:
        """Names of the libraries of others that a cuDNN release loads on an operating system; mostly none."""
        rows: tuple[CudnnCompanionRow, ...] = self.rows("cudnn", "companions")
        return tuple(row.name for row in rows if row.os_family == os_family and accepts(row.versions, version.release))

    def cudnn_archives(self, version: CudnnVersion, os_family: str, arch: str) -> tuple[CudnnArchiveRow, ...]:
        """The archives of a cuDNN release for a platform, one a CUDA version; none where NVIDIA asks for a login."""
        found: list[CudnnArchiveRow] = self._where(
            "cudnn-archive",
            "archives",
            lambda item: (
                item["os"] == os_family
                and item["arch"] == arch
                and _cudnn_version(item["version"]).agrees_with(version)
            ),
        )
        return tuple(found)

    def cudnn_layout(self, version: CudnnVersion) -> CudnnLayoutRow:
        """Where things are in the archives of a cuDNN release; raises Uncovered."""
        rows: tuple[CudnnLayoutRow, ...] = self.rows("cudnn-archive", "layouts")
        found = _first(rows, lambda row: accepts(row.versions, version))
        if not found:
            raise Uncovered(f"the layout of the archives of cuDNN {version}")
        return found

    @_remembered
    def supports_from(self, package: str, version: str) -> SupportRow | None:
        """The row that names the oldest GPUs of a framework that compiles for the card available, if there is one."""
        names = (package, package.partition("-cu")[0])
        rows: tuple[SupportRow, ...] = self.rows("gpu", "supported")
        return _first(rows, lambda row: row.package in names and accepts(row.versions, version))

    @_remembered
    def supports_to(self, package: str, version: str) -> NewestRow | None:
        """The row that names the newest GPUs of a release that refuses newer ones, if there is one."""
        names = (package, package.partition("-cu")[0])
        rows: tuple[NewestRow, ...] = self.rows("gpu", "newest")
        return _first(rows, lambda row: row.package in names and accepts(row.versions, version))

    @_remembered
    def ptx_reported(self, package: str, version: str, gpu: ComputeCapability) -> PtxRow | None:
        """The row that says that the PTX of this release is reported not to load on this card, if there is one."""
        rows: tuple[PtxRow, ...] = self.rows("gpu", "ptx")
        own = (row for row in rows if row.package == package and row.capability_min <= gpu)
        return next((row for row in own if accepts(row.versions, version.partition("+")[0])), None)

    def only_warns(self, package: str, version: str, cudnn: CudnnVersion) -> CudnnWarningRow | None:
        """The row that says that a framework release warns of this cuDNN and goes on, if there is one."""
        rows: tuple[CudnnWarningRow, ...] = self.rows("cudnn", "warnings")
        return _first(
            rows, lambda row: row.package == package and accepts(row.versions, version) and accepts(row.cudnn, cudnn)
        )

    def framework(
        self, package: str, version: str, build: str = "", os_family: str = "linux", arch: str = "x86_64"
    ) -> FrameworkRow:
        """One build of a framework release on a platform; raises Uncovered.

        `version` may carry a local part ("2.9.1+cu128"); `build` "" takes the release's first row, and a release
        that comes in one build only is found by any name of its build.
        """
        public = version.partition("+")[0]
        here = [row for row in self.framework_rows(package, public) if os_family in row.os and arch in row.arch]
        found = [row for row in here if not build or row.build == build]
        found = found or [row for row in here if not row.build and (row.cuda == "") is (build == "cpu")]
        if not found:
            release, platform = f"{package} {public}", f"on {os_family} {arch}"
            if self.framework_rows(package, public):
                raise Uncovered(f"{build} build {platform}".lstrip(), known=release)
            what = f"{release} ({build}) {platform}" if build else f"{release} {platform}"
            raise Uncovered(what, self._nearest_release(package, public))
        return found[0]

    def framework_rows(self, package: str, version: str) -> tuple[FrameworkRow, ...]:
        """Every row of a framework release (no local part), all builds and platforms; empty when there is none."""
        key = (package, version)
        if key not in self._releases:
            admits: Callable[[Item], bool] = lambda item: accepts(item["versions"], version)  # noqa: E731
            self._releases[key] = tuple(self._where(package, "builds", admits)) if self.has(package) else ()
        return self._releases[key]

    def library(self, stem: str, cuda: CudaVersion) -> LibraryRow:
        """A library of CUDA ("libcudart") under the name that this version of it has; raises Uncovered."""
        rows: tuple[LibraryRow, ...] = self.rows("libraries", "sonames")
        found = _first(rows, lambda row: row.stem == stem and accepts(row.cuda, cuda))
        if not found:
            raise Uncovered(f"{stem} of CUDA {cuda}")
        return found

    def library_named(self, name: str) -> LibraryRow:
        """A library of CUDA by its SONAME or the name of its DLL; raises Uncovered."""
        rows: tuple[LibraryRow, ...] = self.rows("libraries", "sonames")
        found = _first(rows, lambda row: name == row.soname or name.lower() == row.dll.lower())
        if not found:
            raise Uncovered(f"the library {name}")
        return found

    def asked_by(self, package: str, version: str) -> AskedRow:
        """The libraries that a framework opens by name; raises Uncovered."""
        rows: tuple[AskedRow, ...] = self.rows("libraries", "asked")
        public = version.partition("+")[0]
        found = _first(rows, lambda row: row.package == package and accepts(row.versions, public))
        if not found:
            raise Uncovered(f"the libraries that {package} {version} opens by name")
        return found

    def tool(self, name: str, asker: str, cuda: CudaVersion) -> ToolRow | None:
        """Which releases of a program a framework takes; None where no limit is known."""
        rows: tuple[ToolRow, ...] = self.rows("libraries", "tools")
        return _first(rows, lambda row: (row.name, row.asker) == (name, asker) and accepts(row.cuda, cuda))

    def uses_tool(self, name: str, package: str, version: str) -> bool:
        """Whether this release of a framework asks for a tool; yes where nothing is known to the contrary."""
        rows: tuple[ToolRow, ...] = self.rows("libraries", "tools")
        found = _first(rows, lambda row: (row.name, row.asker) == (name, package))
        return found is None or not found.versions or accepts(found.versions, version.partition("+")[0])

    def conflicts(self) -> tuple[ConflictRow, ...]:
        """Known conflicts between packages."""
        rows: tuple[ConflictRow, ...] = self.rows("conflicts", "known")
        return rows

    def abi(self, package: str, version: str, os_family: str) -> tuple[AbiRow, ...]:
        """What this release needs besides what its metadata says."""
        rows: tuple[AbiRow, ...] = self.rows("conflicts", "abi")
        own = (row for row in rows if row.package == package and os_family in row.os)
        return tuple(row for row in own if accepts(row.versions, version.partition("+")[0]))

    @_remembered
    def companion(self, package: str, version: str) -> CompanionRow | None:
        """What a release without rows of builds requires of a framework, as torchvision of torch."""
        found = self._where("conflicts", "companions", lambda item: item["package"] == package)
        return _first(found, lambda row: accepts(row.versions, version.partition("+")[0]))

    def compiled_for(self, package: str, base: str, release: str) -> Iterator[AbiRow]:
        """The releases of a package that are compiled for this release of another one, the newest first."""
        for row in self.rows("conflicts", "abi"):
            if row.package == package and accepts(row.needs.get(base, "<0"), release):
                yield row

    def newest_build(self, package: str) -> str:
        """The last build that an index is known to serve of a package that ended, "cu130"; "" for any other."""
        rows: tuple[WheelIndexRow, ...] = self.rows("index", "wheels")
        return next((row.build for row in rows if row.package == package), "")

    def compiled_in_use(self, names: frozenset[str]) -> tuple[CompiledRow, ...]:
        """Of these packages, those that call nvcc when they run; not where another one has the compiled kernels."""
        rows = self._where("package", "compiled", lambda item: item["when"] == "use" and item["id"] in names)
        return tuple(row for row in rows if not names.intersection(row.unless))

    def values_of(self, variable: str) -> tuple[VariableRow, ...]:
        """The values that programs accept for an environment variable; none where no row speaks of it."""
        if not variable.startswith(_VARIABLES):
            return ()
        return tuple(self._where("variable", "values", lambda item: variable in item["variables"]))

    def xid(self, code: int) -> XidRow:
        """An error code of the kernel module; raises Uncovered."""
        rows: tuple[XidRow, ...] = self.rows("xid", "codes")
        found = _first(rows, lambda row: row.xid == code)
        if not found:
            raise Uncovered(f"Xid {code}")
        return found

    def wheel_index(self, package: str, build: str, version: str = "") -> WheelIndexRow:
        """Where this build of a package (and of this release) is served; raises Uncovered."""
        rows: tuple[WheelIndexRow, ...] = self.rows("index", "wheels")
        found = _first(
            rows,
            lambda row: (
                row.package == package
                and row.build == build
                and (not version or not row.versions or accepts(row.versions, version))
            ),
        )
        if not found:
            raise Uncovered(f"a package index for {package} {version} ({build})".replace("  ", " "))
        return found

    def repository(self, distribution: str, version: str, arch: str, table: str = "repositories") -> RepositoryRow:
        """NVIDIA's package repository for a distribution ("ubuntu", "24.04") and machine; raises Uncovered."""
        rows: tuple[RepositoryRow, ...] = self.rows("index", table)
        major = version.partition(".")[0]
        found = _first(
            rows,
            lambda row: (
                row.distribution == distribution
                and arch in row.arches
                and (not row.versions or version in row.versions or major in row.versions)
            ),
        )
        if not found:
            raise Uncovered(f"NVIDIA's package repository for {distribution} {version} on {arch}".replace("  ", " "))
        return found

    def page(self, name: str) -> PageRow:
        """A page for a person to open, by its id; raises Uncovered."""
        rows: tuple[PageRow, ...] = self.rows("index", "pages")
        found = _first(rows, lambda row: row.id == name)
        if not found:
            raise Uncovered(f"a page for {name}")
        return found

    def row_named(self, name: str) -> Any:
        """The row that an answer names, "torch.builds[torch-2.9.1-cu128-linux]"; raises Uncovered."""
        product, table, row_id = name.removesuffix("]").replace("[", ".", 1).split(".", 2)
        found = _first(self.rows(product, table), lambda row: row.id == row_id)
        if not found:
            raise Uncovered(f"a row {name}")
        return found

    def rows(self, product: str, table: str) -> tuple[Any, ...]:
        """All rows of one table, read and checked once."""
        key = (product, table)
        if key not in self._tables:
            self._tables[key] = tuple(self._where(product, table, bool))
        return self._tables[key]

    def _where(self, product: str, table: str, test: Callable[[Item], bool]) -> list[Any]:
        """The rows whose JSON object passes; only these are parsed, for a table of hundreds costs milliseconds."""
        reader = self._readers.get((product, table))
        if reader is None:
            reader = self._readers[product, table] = RowReader(tables_of(product)[table], f"{product}.{table}")
        return [reader.read(item) for item in self._file(product)["tables"][table] if test(item)]

    def _near(self, product: str, table: str, column: str, wanted: Any, parse: Callable[[Any], Any]) -> str:
        items = self._file(product)["tables"][table]
        return _nearest(((parse(item[column]), str(item[column])) for item in items), wanted)

    def _file(self, product: str) -> dict[str, Any]:
        if product not in self._files:
            self._files[product] = self._merged(product) if self._has_own(product) else load_file(product, self._data)
        return self._files[product]

    def _has_own(self, product: str) -> bool:
        return bool(self._overlay) and os.path.isfile(os.path.join(self._overlay, f"{product}.json"))

    def _merged(self, product: str) -> dict[str, Any]:
        """The shipped rows with the user's over them; a damaged file of the user's is told by a rule, not here."""
        from compat.overlay import OverlayDamaged, empty, load, merged

        is_shipped = os.path.isfile(os.path.join(self._data, f"{product}.json"))
        shipped = load_file(product, self._data) if is_shipped else empty(product)
        try:
            return merged(product, shipped, load(product, self._overlay))
        except OverlayDamaged:
            return shipped

    @_remembered
    def _nearest_release(self, package: str, version: str) -> str:
        if not self.has(package):
            return ""
        releases = {
            item["versions"].removeprefix("==")
            for item in self._file(package)["tables"]["builds"]
            if item["versions"].startswith("==")
        }
        return _nearest(((_release_key(release), release) for release in releases), _release_key(version))


def _product_key(name: str) -> str:
    """The name without its maker and case: "NVIDIA GeForce RTX 4090" and "geforce rtx 4090" are one product."""
    words = name.casefold().replace("-", " ").split()
    return " ".join(word for word in words if word not in {"nvidia", "graphics", "device"})
