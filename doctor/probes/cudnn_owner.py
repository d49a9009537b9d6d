"""Which package put a copy of cuDNN where it lies, and what it lists: RECORD of wheels, conda-meta, dpkg's lists."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from compat.base.record import NamedTuple
from compat.version import CudnnVersion, VersionError
from doctor.host import Host, HostError, Missing
from doctor.host.files import lines_of
from doctor.host.optional_reads import real_path_of
from doctor.loader.cudnn_library import parse_name
from doctor.model.facts.environment import Distribution
from doctor.model.facts.seen import Fact, Seen, Unseen
from doctor.probes.cudnn_places import CudnnPlace
from doctor.pyenv import dpkg
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST, listed

_CONDA_AT_MOST_BYTES = (
    1 << 20
)  # conda's record of cuDNN has some 10 KiB; nested lists take 24 times their text in memory
_LIST_AT_MOST_BYTES = 1 << 20  # dpkg's, of a package of cuDNN: 2 KiB
_FILES_AT_MOST = 500  # of cuDNN in one package: 25
_PACKAGES_AT_MOST = 20
_DPKG = "/var/lib/dpkg"


class Package(NamedTuple):
    """A package that lists files of cuDNN."""

    label: str  # "nvidia-cudnn-cu12 9.10.2.21"
    version: CudnnVersion | None  # where the package is cuDNN's own
    cuda_major: int | None
    files: Mapping[str, int | None]  # sizes by path; None where the list has none
    listed_in: str


def packages_of(host: Host, place: CudnnPlace) -> Fact[tuple[Package, ...]]:
    """The packages whose files may are in a place; Unseen where no list can be read."""
    try:
        if place.packages:
            return _seen(host, (_of_record(host, place, one) for one in place.packages), "RECORD")
        if place.origin == "conda":
            return _seen(host, _of_conda(host, place.site), "conda-meta")
        if place.origin in {"distribution", "toolkit"} and host.is_dir(f"{_DPKG}/info"):
            return _seen(host, _of_dpkg(host), "dpkg")
    except HostError as error:
        return Unseen(str(error))
    return Unseen("no package that lists its files was found")


def _seen(host: Host, packages: Iterable[Package], how: str) -> Fact[tuple[Package, ...]]:
    """These packages, their files under the real paths of their directories (lib64 of a venv is a link to lib)."""
    real: dict[str, str] = {}
    found = []
    for package in packages:
        files = {}
        for path, size in package.files.items():
            folder, _, name = path.rpartition("/")
            if folder not in real:
                real[folder] = real_path_of(host, folder)
            files[f"{real[folder]}/{name}"] = size
        found.append(package._replace(files=files))
    return Seen(tuple(found), how)


def owner_among(packages: Iterable[Package], paths: Iterable[str], sizes: Mapping[str, int]) -> Package | None:
    """The package to which most of these files belong: listed, with the size they have."""
    wanted = tuple(paths)

    def belonging(package: Package) -> int:
        return sum(package.files.get(path, -1) in (sizes.get(path), None) for path in wanted)

    best = max(packages, key=belonging, default=None)
    return best if best and (belonging(best) or not wanted) else None


def _of_record(host: Host, place: CudnnPlace, distribution: Distribution) -> Package:
    """Raises HostError: without RECORD (eggs, conda's own) nothing tells what belongs to the wheel."""
    record = f"{distribution.metadata}/RECORD"
    lines = lines_of(host, record, RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST)
    files = dict(islice(_record_lines(lines, place.site), _FILES_AT_MOST))
    is_cudnn = distribution.name.startswith("nvidia-cudnn")
    return Package(
        label=f"{distribution.name} {distribution.version}",
        version=_version(distribution.version) if is_cudnn else None,
        cuda_major=_digits_after(distribution.name, "-cu") if is_cudnn else None,
        files=files,
        listed_in=record,
    )


def _record_lines(lines: Iterable[str], site: str) -> Iterator[tuple[str, int | None]]:
    """Files of cuDNN with their sizes."""
    for line in lines:
        path, _, size = listed(line)
        if _is_cudnn_file(path):
            yield f"{site}/{path}", int(size) if size.isascii() and size.isdigit() and len(size) < 16 else None


def _is_cudnn_file(path: str) -> bool:
    """Whether it is one of cuDNN's own libraries or headers: frameworks have others with its name in theirs."""
    folder, _, name = path.rpartition("/")
    is_header = name.startswith("cudnn") and name.endswith(".h") and folder.endswith(("include", "-linux-gnu"))
    return is_header or parse_name(name) is not None


def _of_conda(host: Host, prefix: str) -> Iterator[Package]:
    try:
        names = host.names(f"{prefix}/conda-meta")
    except Missing:
        return
    for name in names:
        if name.startswith(("cudnn-", "libcudnn")) and name.endswith(".json"):
            package = _read_conda(host, prefix, f"{prefix}/conda-meta/{name}")
            if package:
                yield package


def _read_conda(host: Host, prefix: str, path: str) -> Package | None:
    from doctor.host.documents import parse_json  # late: only environments with conda's cuDNN need it

    try:
        told = parse_json(host.read_text(path, _CONDA_AT_MOST_BYTES))
        listed = told.get("paths_data", {}).get("paths") or [{"_path": one} for one in told.get("files", ())]
        files = {f"{prefix}/{one['_path']}": _conda_size(one) for one in listed if _is_cudnn_file(one["_path"])}
        label, version = f"{told['name']} {told['version']}", str(told["version"])
        depends = [one for one in told.get("depends", ()) if one.startswith(("cuda-version ", "cudatoolkit "))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # a damaged list owns nothing; the environment probe tells of damaged metadata
    cuda = _leading_number(depends[0].partition(" ")[2].lstrip(">=~")) if depends else None
    return Package(label=label, version=_version(version), cuda_major=cuda, files=files, listed_in=path)


def _conda_size(entry: Mapping[str, object]) -> int | None:
    """Conda records the size of a link's target for a link; prefix replacement changes no library of cuDNN."""
    size = entry.get("size_in_bytes")
    return size if isinstance(size, int) and entry.get("path_type") == "hardlink" else None


def _of_dpkg(host: Host) -> Iterator[Package]:
    """Debian's and NVIDIA's packages: libcudnn9-cuda-12, libcudnn8, and their -dev."""
    lists = [name for name in host.names(f"{_DPKG}/info") if name.startswith("libcudnn") and name.endswith(".list")]
    if not lists:
        return
    versions = dict(dpkg.installed(host, r"libcudnn[\w.+-]*"))
    for name in lists[:_PACKAGES_AT_MOST]:
        package = name.removesuffix(".list").partition(":")[0]
        version = versions.get(package, "")
        path = f"{_DPKG}/info/{name}"
        if not version:
            continue  # removed, its configuration kept
        lines = lines_of(host, path, _LIST_AT_MOST_BYTES, RECORD_LINES_AT_MOST)
        listed: dict[str, int | None] = dict.fromkeys(islice(filter(_is_cudnn_file, lines), _FILES_AT_MOST))
        cuda = _digits_after(package, "-cuda-") or _digits_after(version, "+cuda")
        yield Package(
            label=f"{package} {version}",
            version=_version(version.partition("-")[0]),
            cuda_major=cuda,
            files=listed,
            listed_in=path,
        )


def _version(text: str) -> CudnnVersion | None:
    try:
        return CudnnVersion.parse(text.partition("+")[0].partition(".post")[0])
    except VersionError:
        return None


def _digits_after(text: str, mark: str) -> int | None:
    return _leading_number(text.rpartition(mark)[2]) if mark in text else None


def _leading_number(text: str) -> int | None:
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    return int(digits) if digits and digits.isascii() and len(digits) < 4 else None
