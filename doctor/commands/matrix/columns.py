"""Rows as sheets: for each row type the columns that matter to a reader, in a reader's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from compat.base.record import NamedTuple
from compat.version import CodeTarget
from doctor.commands.matrix.view import Line, Sheet, Table, without_empty_columns

Cell = Callable[[Any], str]
UNKNOWN = "?"


class Layout(NamedTuple):
    """A heading, the columns (title and what stands there), and what names a row in its note ("": the first cell)."""

    heading: str
    columns: tuple[tuple[str, Cell], ...]
    label: Cell = lambda _: ""


def sheet_of(table: Table) -> Sheet:
    """One table of rows as a sheet; a confidence is shown only where it is not high."""
    layout = LAYOUTS[type(table.rows[0]).__name__]
    titles = (*(title for title, _ in layout.columns), "confidence")
    lines = (
        Line(
            (*(cell(row) for _, cell in layout.columns), _confidence(row)),
            row.source,
            row.note,
            layout.label(row),
        )
        for row in table.rows
    )
    return without_empty_columns(Sheet(layout.heading, titles, tuple(lines)))


def _confidence(row: Any) -> str:
    unsure = ", ".join(getattr(row, "unsure", ()))
    return ("" if row.confidence == "high" else row.confidence) + (f", {unsure} inferred" if unsure else "")


def pins_sheet(rows: Iterable[Any]) -> Sheet | None:
    """What the builds of one release ask for, one column a build; None when they ask for nothing."""
    asking = [row for row in rows if row.pins]
    if not asking:
        return None
    names = sorted({name for row in asking for name in row.pins})
    lines = (Line((name, *(row.pins.get(name, "") for row in asking))) for name in names)
    return Sheet("What the builds need", ("package", *(_build_name(row) for row in asking)), tuple(lines))


def _build_name(row: Any) -> str:
    same = row.versions.startswith("==")
    return " ".join(part for part in ("" if same else row.versions, row.build, *row.os, *row.arch) if part)


def text_of(value: Any) -> str:
    """A cell: "?" for the unknown, "" for what is known to be empty."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}{specifier}" for name, specifier in value.items())
    if isinstance(value, tuple) and not hasattr(value, "_fields") and type(value) is tuple:
        return ", ".join(map(text_of, value))
    return str(value)


def span(low: Any, high: Any) -> str:
    """A range, "5.0 to 9.0"; open and unknown ends are named."""
    if low == high:
        return text_of(low)
    return f"{text_of(low)} to {text_of(high)}"


def pythons(versions: tuple[str, ...] | None) -> str:
    """Python versions with runs drawn together: "3.9-3.13, 3.13t"."""
    if versions is None:
        return UNKNOWN
    plain = sorted(tuple(map(int, one.split("."))) for one in versions if one.replace(".", "").isdigit())
    runs = []
    for _, group in groupby(enumerate(plain), key=lambda item: (item[1][0], item[1][-1] - item[0])):
        members = [".".join(map(str, version)) for _, version in group]
        runs.append(members[0] if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join([*runs, *(one for one in versions if not one.replace(".", "").isdigit())])


def targets(values: tuple[CodeTarget, ...] | None) -> str:
    """Code for GPUs: "sm 70 75 80, PTX 90"."""
    if values is None:
        return UNKNOWN
    kinds = {kind: [str(one).partition("_")[2] for one in values if one.kind == kind] for kind in ("sm", "compute")}
    said = ((title, kinds[kind]) for title, kind in (("sm", "sm"), ("PTX", "compute")))
    return ", ".join(f"{title} {' '.join(names)}" for title, names in said if names)


def exact(specifier: str | None) -> str:
    """A PEP 440 specifier to read: "==2.9.1" is 2.9.1, "==12.*" is 12.x."""
    if specifier is None:
        return UNKNOWN
    if specifier.startswith("==") and "," not in specifier:
        return specifier[2:].replace(".*", ".x")
    return specifier.replace(",", ", ")


def _cuda_of(row: Any) -> str:
    return "none" if row.cuda == "" else exact(row.cuda)


def _cudnn_of(row: Any) -> str:
    if row.cudnn_accepts == "":
        return "none"
    built = "" if row.cudnn is None else str(row.cudnn)
    accepts = exact(row.cudnn_accepts) if row.cudnn_accepts else ""
    return f"{built} ({accepts})" if built and accepts and accepts != built else built or accepts or UNKNOWN


def _platform(row: Any) -> str:
    return f"{'/'.join(row.os)} {'/'.join(row.arch)}"


def _parts(names: tuple[str, ...] | None) -> str:
    return text_of(names and tuple(name.partition(".so")[0].removeprefix("libcudnn_") for name in names))


def _column(name: str) -> Cell:
    return lambda row: text_of(getattr(row, name))


def _columns(**titles: str) -> tuple[tuple[str, Cell], ...]:
    return tuple((title, _column(name)) for name, title in titles.items())


def _digest(row: Any) -> str:
    digests = row.sha256 if isinstance(row.sha256, tuple) else (row.sha256,)
    return ", ".join(UNKNOWN if one is None else one for one in digests)


LAYOUTS: dict[str, Layout] = {
    "FrameworkRow": Layout(
        "Builds",
        (
            ("release", lambda row: exact(row.versions)),
            ("build", _column("build")),
            ("platform", _platform),
            ("Python", lambda row: pythons(row.python)),
            ("CUDA", _cuda_of),
            ("cuDNN", _cudnn_of),
            ("its libraries", _column("libraries")),
            ("GPU code", lambda row: targets(row.targets)),
            ("glibc", _column("glibc")),
        ),
        lambda row: " ".join(filter(None, (exact(row.versions), row.build, _platform(row)))),
    ),
    "ToolkitRow": Layout(
        "Toolkits and their drivers",
        _columns(
            release="release",
            driver_floor_linux="needs (Linux)",
            driver_floor_windows="needs (Windows)",
            toolkit_driver_linux="came with (Linux)",
            toolkit_driver_windows="came with (Windows)",
        ),
    ),
    "TargetsRow": Layout(
        "What its compiler builds for",
        (
            ("CUDA", _column("cuda")),
            ("capability", lambda row: span(row.capability_min, row.capability_max)),
            ("GPU code", lambda row: targets(row.sm)),
        ),
    ),
    "CompilerRow": Layout(
        "Host compilers",
        (
            ("toolkit", lambda row: span(row.release_min, row.release_max).replace(".999", ".x")),
            ("gcc", lambda row: span(row.gcc_min, row.gcc_max)),
            ("clang", lambda row: span(row.clang_min, row.clang_max)),
            ("MSVC (_MSC_VER)", lambda row: span(row.msc_min, row.msc_max)),
        ),
    ),
    "PackagedCompilerRow": Layout("Compilers that a distribution has as packages", _columns(id="release", gcc="g++")),
    "BranchRow": Layout(
        "Driver branches",
        (
            *_columns(branch="branch", windows_last="on Windows up to", cuda_max="its CUDA", kind="kind"),
            ("support ends", lambda row: text_of(row.end_of_life and row.end)),
        ),
    ),
    "GenerationRow": Layout(
        "Generation",
        (
            *_columns(name="generation", capabilities="capability", cuda_first="CUDA from"),
            ("CUDA to", lambda row: text_of(row.cuda_last) if row.dropped else "still built for"),
            ("last driver", lambda row: text_of(row.driver_last) if row.driver_dropped else "still driven"),
            ("open kernel module", _column("open_module")),
        ),
    ),
    "ChipRow": Layout("Chips by PCI id", _columns(id="chip", capability="capability", devices="device ids")),
    "GpuRow": Layout("Products", _columns(name="name", capabilities="capability", family="family", aliases="also")),
    "CudnnRow": Layout(
        "Releases",
        (
            *_columns(version="release", full_versions="builds", soname="SONAME", header="version header"),
            ("parts beside it", lambda row: _parts(row.parts_linux)),
        ),
    ),
    "CudnnBuildRow": Layout(
        "Builds",
        (
            ("release", _column("version")),
            ("built for", lambda row: f"CUDA {row.cuda_major}"),
            ("runs with CUDA", lambda row: span(row.cuda_min, row.cuda_max)),
            ("capability", lambda row: span(row.capability_min, row.capability_max)),
            *_columns(driver_linux="driver (Linux)", driver_windows="driver (Windows)"),
        ),
        lambda row: f"{row.version} for CUDA {row.cuda_major}",
    ),
    "CudnnCompanionRow": Layout(
        "Libraries of others that it loads",
        (("library", _column("name")), ("cuDNN", lambda row: exact(row.versions)), ("on", _column("os_family"))),
    ),
    "SupportRow": Layout(
        "Frameworks that compile for the card, and the oldest they support",
        (
            ("framework", lambda row: f"{row.package} {exact(row.versions)}"),
            ("capability", lambda row: f"from {row.capability_min} on"),
        ),
    ),
    "NewestRow": Layout(
        "Frameworks that refuse newer cards",
        (
            ("framework", lambda row: f"{row.package} {exact(row.versions)}"),
            ("capability", lambda row: f"up to {row.capability_max}"),
        ),
    ),
    "PtxRow": Layout(
        "PTX that is reported not to load",
        (
            ("framework", lambda row: f"{row.package} {exact(row.versions)}"),
            ("capability", lambda row: f"from {row.capability_min} on"),
            ("the driver answers", _column("error")),
            ("verdict", _column("kind")),
        ),
    ),
    "CudnnWarningRow": Layout(
        "Frameworks that only warn of a release",
        (
            ("framework", lambda row: f"{row.package} {exact(row.versions)}"),
            ("warns of cuDNN", lambda row: exact(row.cudnn)),
        ),
    ),
    "LibraryRow": Layout(
        "Names of CUDA's libraries",
        (
            ("CUDA", lambda row: exact(row.cuda)),
            *_columns(stem="library", soname="SONAME", dll="DLL", wheel="wheel"),
        ),
    ),
    "ToolRow": Layout(
        "Programs that frameworks start",
        (
            *_columns(name="program", asker="asked by"),
            ("releases", lambda row: exact(row.versions)),
            ("CUDA", lambda row: exact(row.cuda)),
            ("oldest", _column("oldest")),
            ("passed over", lambda row: ", ".join(row.refused)),
        ),
    ),
    "AskedRow": Layout(
        "Libraries that frameworks open by name",
        (
            ("framework", lambda row: f"{row.package} {exact(row.versions)}"),
            ("libraries", lambda row: ", ".join(row.stems)),
        ),
    ),
    "TraitsRow": Layout(
        "Frameworks, whatever their release",
        (
            *_columns(id="framework", distributions="distributions", one_directory="one directory"),
            *_columns(runs_on="runs on the CUDA of", gpu="GPU code from", compiles="compiles for the card"),
            *_columns(driver_compiles="the driver compiles"),
            *_columns(tagged="versions name the build", any_python="pure Python", followers="change with it"),
            ("asked for as", lambda row: ", ".join(row.asked_as.values())),
            *_columns(module="directory", opens="opens CUDA at"),
            ("finds wheels", lambda row: exact(row.finds_wheels)),
            ("nearest library", lambda row: exact(row.nearest)),
            ("or a program calls", lambda row: ", ".join(f"{call} ({one})" for call, one in row.preload.items())),
            *_columns(own_tools="carries ptxas", extended="is extended", cudnn_with="cuDNN only beside"),
        ),
    ),
    "ConflictRow": Layout(
        "Known conflicts",
        (
            ("conflict", _column("id")),
            ("together", _column("when")),
            *_columns(severity="severity", summary="what happens", remedy="remedy"),
        ),
    ),
    "AbiRow": Layout(
        "What releases need to be imported",
        _columns(package="package", versions="releases", os="for", needs="needs", severity="severity", effect="else"),
    ),
    "CompanionRow": Layout("What companions require", _columns(package="package", versions="releases", needs="needs")),
    "WheelIndexRow": Layout(
        "Wheel indexes", _columns(package="package", build="build", versions="releases", url="address")
    ),
    "ChannelRow": Layout(
        "Channels",
        (
            ("package", lambda row: f"{row.package} {exact(row.versions)}".rstrip()),
            *_columns(channel="channel", os="for", arch="processor", cuda="CUDA", targets="code", command="command"),
        ),
    ),
    "RepositoryRow": Layout(
        "Package repositories",
        _columns(
            distribution="distribution",
            versions="versions",
            arches="for",
            manager="manager",
            cuda="CUDA",
            cudnn="cuDNN",
            url="address",
        ),
    ),
    "ThirdPartyRow": Layout(
        "What the driver's packages need beside",
        _columns(distributions="distributions", versions="versions", package="EPEL", builder="its own repository"),
    ),
    "OwnPackageRow": Layout(
        "Distributions' own packages",
        _columns(distribution="distribution", version="version", product="product", package="package", release="is"),
    ),
    "OwnDriverRow": Layout(
        "Driver branches in distributions' own packages",
        (
            *_columns(distribution="distribution", branch="branch"),
            ("packages", lambda row: ", ".join(f"nvidia-driver-{row.branch}{flavour}" for flavour in row.flavours)),
            ("is", lambda row: ", ".join(f"{at}: {branch or 'none'}" for at, branch in row.brings.items())),
        ),
    ),
    "CudnnWheelRow": Layout(
        "Wheels",
        (
            *_columns(id="distribution", cuda_major="CUDA"),
            ("releases", lambda row: ", ".join(map(str, row.releases))),
        ),
    ),
    "SigningKeyRow": Layout("Signing keys of the repositories", _columns(id="key", fingerprint="fingerprint")),
    "PageRow": Layout("Pages", _columns(id="page", url="address")),
    "XidRow": Layout(
        "Xids",
        _columns(xid="Xid", mnemonic="mnemonic", description="says", fault="fault", resolution="NVIDIA advises"),
    ),
    "StatusRow": Layout(
        "Status codes",
        (
            *_columns(code="code", name="name", library="library"),
            ("releases", lambda row: exact(row.versions) or "all"),
            *_columns(meaning="means", advice="do"),
        ),
    ),
    "CudnnArchiveRow": Layout(
        "Archives",
        (
            ("archive", _column("id")),
            ("CUDA", _column("cuda")),
            ("platform", lambda row: f"{row.os} {row.arch}"),
            ("layout", _column("layout")),
            ("SHA-256", _digest),
            ("digest from", lambda row: row.digest_from or "nobody"),
        ),
    ),
    "CudnnLayoutRow": Layout(
        "Archive layouts",
        (
            ("layout", _column("id")),
            ("cuDNN", lambda row: exact(row.versions)),
            *_columns(
                root="top folder",
                headers="headers",
                libs_linux="libraries (Linux)",
                libs_windows="libraries (Windows)",
                dlls="DLLs",
                version_header="version header",
                installer_dlls="DLLs of the Windows installer",
            ),
        ),
    ),
    "CudaInstallerRow": Layout(
        "Installers",
        (
            ("release", _column("release")),
            ("platform", lambda row: f"{row.os} {row.arch}"),
            ("kind", _column("kind")),
            ("driver inside", lambda row: "none" if row.has_no_driver else text_of(row.driver_bundled)),
            ("SHA-256", _digest),
            ("address", _column("url")),
        ),
    ),
    "ForwardCompatRow": Layout(
        "Forward-compatibility packages",
        _columns(id="package", cuda="CUDA", libcuda="libcuda inside", base_branches="driver branches under it"),
    ),
    "ComponentRow": Layout(
        "Components",
        (
            *_columns(release="CUDA", component="component", version="release", title="what it is"),
            ("platforms", lambda row: ", ".join(row.sha256)),
            ("SHA-256", lambda row: ", ".join(row.sha256.values())),
        ),
    ),
    "InstallerOptionsRow": Layout(
        "Options of installers",
        (
            ("kind", _column("kind")),
            ("CUDA", lambda row: exact(row.versions)),
            ("options", lambda row: " ".join(row.options)),
            ("removed by", lambda row: " ".join(row.removes)),
        ),
    ),
    "NameRow": Layout("Names of packages", _columns(id="name", package="package")),
    "ScriptRow": Layout("Installation scripts", _columns(id="script", addresses="addresses", brings="brings")),
    "CompiledRow": Layout(
        "Packages that need nvcc", _columns(id="package", repositories="source", when="at", unless="unless")
    ),
    "UnpublishedRow": Layout(
        "What a plain pip install does not bring",
        (("package", lambda row: f"{row.package} {exact(row.versions)}"), *_columns(instead="instead")),
    ),
    "ExtraRow": Layout(
        "What only an extra brings",
        (
            ("package", lambda row: f"{row.package} {exact(row.versions)}"),
            *_columns(extra="extra", asks="installs", build="build", brings="brings"),
        ),
    ),
    "CardPlatformRow": Layout("Cards of one kind of machine", _columns(cards="cards", os="system", arch="processor")),
    "JetpackRow": Layout("Jetson's systems", _columns(id="L4T", jetpack="JetPack", cuda_major="CUDA up to")),
    "SystemLibraryRow": Layout("Libraries of the system", _columns(id="library", apt="package of Debian and Ubuntu")),
    "AbsentRow": Layout(
        "What there is no build for",
        (
            ("package", lambda row: f"{row.package or 'any with CUDA'} {exact(row.versions)}".rstrip()),
            *_columns(os="system", arch="processor", cards="cards", gpu_only="GPU builds only", summary="why"),
        ),
    ),
    "SystemRow": Layout(
        "What a system has",
        (
            *_columns(id="system", glibc="glibc"),
            ("Pythons", lambda row: "; ".join(f"{name}: {what}" for name, what in (row.pythons or {}).items()) or "?"),
        ),
    ),
    "CondaRow": Layout("Installers of conda", _columns(os="system", arch="processor", url="address")),
    "DeclaredRow": Layout(
        "Pythons that a maker names",
        (
            ("package", lambda row: f"{row.package} {exact(row.versions)}"),
            *_columns(python="Python", conda="from conda"),
        ),
    ),
    "PipRow": Layout("The pip of a system", _columns(id="system", pip="pip", refuses="needs an environment")),
    "AgedImageRow": Layout(
        "Images with NVIDIA's old package key",
        _columns(image="image", variant="variant", versions="releases"),
    ),
    "VariableRow": Layout(
        "Environment variables",
        (
            ("variables", lambda row: ", ".join(row.variables)),
            ("read by", lambda row: f"{row.reader} {row.versions}".strip()),
            *_columns(valid="valid values", then="other values"),
        ),
    ),
    "WithdrawnImageRow": Layout("Deleted nvidia/cuda tags", _columns(release="CUDA", instead="instead")),
    "ImageRow": Layout("Container images", _columns(release="CUDA", image="image")),
    "ManifestRow": Layout(
        "Redistributable manifests",
        _columns(product="product", release="release", released="dated", url="address", sha256="SHA-256"),
    ),
}
