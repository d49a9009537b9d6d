"""What an installed package says about itself: METADATA, RECORD, and constants in its Python files, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from compat.base.record import NamedTuple
from compat.build import release_key
from compat.traits import is_known
from doctor.host import Host, HostError, Unreadable
from doctor.host.files import lines_of
from doctor.model.facts.environment import Distribution, Unmet
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

_HEADER_BYTES = 256 << 10  # the fields come before the long description
_SOURCE_BYTES = 256 << 10
RECORD_AT_MOST_BYTES = 8 << 20  # the largest known RECORD, tensorflow's, has 2 MB
RECORD_LINES_AT_MOST = 60_000
_QUOTED = re.compile(rb'(?m)^"([^",\n]*)",')
_REQUIREMENTS_AT_MOST = 500
_EXTRAS_AT_MOST = 50  # cuda-toolkit 13.2 has 29
_OF_CUDA = ("nvidia-", "cuda-", "libtpu", "pygpu")


def header(host: Host, path: str) -> str:
    """The fields of a METADATA or PKG-INFO file, without the description; raises HostError."""
    text = start_of(host, path, _HEADER_BYTES).replace("\r\n", "\n")
    return text.partition("\n\n")[0]


def start_of(host: Host, path: str, limit_bytes: int) -> str:
    """The first bytes of a file as text, undecodable ones replaced; raises HostError."""
    with host.open(path) as stream:
        try:
            return stream.read(limit_bytes).decode("utf-8", "replace")
        except OSError as error:
            raise Unreadable(path, str(error)) from error


def metadata_file(distribution: Distribution) -> str:
    """The file with the fields of a distribution."""
    if distribution.metadata.endswith(".dist-info"):
        return f"{distribution.metadata}/METADATA"
    if distribution.metadata.endswith(".egg"):
        return f"{distribution.metadata}/EGG-INFO/PKG-INFO"
    return f"{distribution.metadata}/PKG-INFO"


def fields(text: str, name: str) -> list[str]:
    """Every field of this name in a header."""
    start = f"{name}:"
    return [line[len(start) :].strip() for line in text.splitlines() if line.startswith(start)]


def matters(requirement: str) -> bool:
    """Whether a requirement is one on a GPU stack; numpy's and protobuf's versions do not matter."""
    name = re.match(r"\s*([\w.-]+)", requirement)
    return name is not None and (normal(name[1]).startswith(_OF_CUDA) or is_known(normal(name[1])))


def requires(host: Host, distribution: Distribution) -> Fact[tuple[str, ...]]:
    """The requirements on CUDA's wheels and companion packages that hold on this machine, extras aside, PEP 508."""
    path = metadata_file(distribution)
    try:
        lines = _requirements(host, distribution, path)
    except HostError as error:
        return Unseen(str(error))
    marks = {"os_family": host.os_family, "site": distribution.site}
    found = list(_that_hold(host, lines, marks))
    for one in tuple(found):
        if one.startswith("cuda-toolkit["):
            found += _of_toolkit(host, one, marks)
    return Seen(tuple(dict.fromkeys(found)), Place(path))


def unmet_of(host: Host, distribution: Distribution, there: Mapping[str, str]) -> Iterator[Unmet]:
    """Yield the requirements of a distribution that none of these releases by name meets; those on a GPU stack aside.

    A release that is newer than asked for mostly works, and NumPy's ABI has rows of its own: neither is told.

    A marker that cannot be evaluated leaves a requirement out. Raises HostError.
    """
    path = metadata_file(distribution)
    marks = {"os_family": host.os_family, "site": distribution.site}
    known = re.search(r"/python\d\.\d+t?/", distribution.site) is not None
    for line in _requirements(host, distribution, path)[:_REQUIREMENTS_AT_MOST]:
        requirement, _, marker = line.partition(";")
        found = re.match(r"\s*([\w.-]+)(?:\[[^\]]*\])?\s*([^@]*)$", tidy(requirement))
        name = normal(found[1]) if found else ""
        if not found or matters(requirement) or (name in there and not _is_too_old(name, found[2], there[name])):
            continue
        if not marker.strip() or (known and "extra" not in marker and _holds(host, marker, marks)):
            yield Unmet(distribution.name, name, found[2], Place(path), there=there.get(name, ""))


def _is_too_old(name: str, specifier: str, version: str) -> bool:
    lowest = [release_key(one) for one in specifier.split(",") if one.strip().startswith((">=", "~="))]
    return name != "numpy" and version[:1].isdigit() and any(release_key(version) < one for one in lowest)


def required_wheels(host: Host, distribution: Distribution) -> Iterator[str]:
    """Yield NVIDIA's wheels that a distribution requires, for an extra as well; none if its METADATA is unreadable."""
    with suppress(HostError):
        for line in _requirements(host, distribution, metadata_file(distribution)):
            name = re.match(r"[\w.-]+", line)
            if name and normal(name[0]).startswith("nvidia-"):
                yield normal(name[0])


def of_extras(host: Host, distribution: Distribution, beginning: str) -> tuple[str, ...]:
    """Return what its extras require whose name begins so, each release once, with the marker of its first extra."""
    found: dict[str, str] = {}
    with suppress(HostError):
        for line in _requirements(host, distribution, metadata_file(distribution))[:_REQUIREMENTS_AT_MOST]:
            requirement, _, marker = line.partition(";")
            if "extra" in marker and normal(requirement).startswith(beginning):
                found.setdefault(tidy(requirement), tidy(line))
    return tuple(found.values())


def _that_hold(host: Host, lines: list[str], marks: dict[str, str]) -> Iterator[str]:
    for line in lines[:_REQUIREMENTS_AT_MOST]:
        requirement, _, marker = line.partition(";")
        if matters(requirement) and (not marker.strip() or _holds(host, marker, marks)):
            yield tidy(requirement)


def _of_toolkit(host: Host, requirement: str, marks: dict[str, str]) -> Iterator[str]:
    """What NVIDIA's metapackage pins for the extras that it is asked for: the wheels are named nowhere else."""
    extras = [normal(one) for one in requirement.partition("[")[2].partition("]")[0].split(",")[:_EXTRAS_AT_MOST]]
    try:
        names = host.names(marks["site"])
        found = next((one for one in names if one.startswith("cuda_toolkit-") and one.endswith(".dist-info")), "")
        lines = fields(header(host, f"{marks['site']}/{found}/METADATA"), "Requires-Dist") if found else []
    except HostError:
        return  # the requirement itself stays
    for extra in extras:
        mine = [line for line in lines if f"'{extra}'" in line or f'"{extra}"' in line]
        yield from _that_hold(host, mine, {**marks, "extra": extra})


def _requirements(host: Host, distribution: Distribution, path: str) -> list[str]:
    """Requires-Dist lines, or those of an egg's requires.txt up to its first extra."""
    if distribution.metadata.endswith(".dist-info"):
        return fields(header(host, path), "Requires-Dist")
    text = start_of(host, path.replace("PKG-INFO", "requires.txt"), _HEADER_BYTES)
    return [line.strip() for line in text.partition("\n[")[0].splitlines() if line.strip()]


def tidy(requirement: str) -> str:
    """One spelling for "nvidia-cudnn-cu12 (==9.1.0.70)" and "nvidia-cudnn-cu12==9.1.0.70"."""
    return "".join(requirement.replace("(", "").replace(")", "").split())


def pinned(requirements: Fact[tuple[str, ...]], prefix: str) -> tuple[str, str] | None:
    """Name and version of the first requirement below this prefix that is pinned with "=="."""
    for requirement in getattr(requirements, "value", ()):
        name, _, version = requirement.partition("==")
        if name.startswith(prefix) and version and "," not in version and "*" not in version:
            return name, version
    return None


def normal(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    name = name.strip().lower().replace("_", "-").replace(".", "-")
    while "--" in name:
        name = name.replace("--", "-")
    return name


_MARKS = frozenset(("extra", "os_name", "platform_system", "sys_platform", "implementation_name"))
_MARKS |= {"platform_machine", "platform_python_implementation", "python_version", "python_full_version"}


def marker_holds(host: Host, marker: str, marks: dict[str, str]) -> bool:
    """Whether an environment marker certainly holds."""
    names = set(re.findall(r"[a-z_]+", re.sub(r"""\"[^\"]*\"|'[^']*'""", "", marker))) - {"and", "or", "in", "not"}
    return all(name in _MARKS and _mark(host, name, marks) != "?" for name in names) and _holds(host, marker, marks)


def _holds(host: Host, marker: str, marks: dict[str, str]) -> bool:
    """Whether an environment marker holds; the unknown counts as holding, an extra as not asked for."""
    tokens = re.findall(r"""\(|\)|"[^"]*"|'[^']*'|[\w.]+|[<>=!~]+""", marker)[:200]
    try:
        value, rest = _either(host, tokens, marks)
    except (IndexError, RecursionError):
        return True
    return value or bool(rest)


def _either(host: Host, tokens: list[str], marks: dict[str, str]) -> tuple[bool, list[str]]:
    value, tokens = _both(host, tokens, marks)
    while tokens and tokens[0] == "or":
        other, tokens = _both(host, tokens[1:], marks)
        value = value or other
    return value, tokens


def _both(host: Host, tokens: list[str], marks: dict[str, str]) -> tuple[bool, list[str]]:
    value, tokens = _one(host, tokens, marks)
    while tokens and tokens[0] == "and":
        other, tokens = _one(host, tokens[1:], marks)
        value = value and other
    return value, tokens


def _one(host: Host, tokens: list[str], marks: dict[str, str]) -> tuple[bool, list[str]]:
    if tokens[0] == "(":
        value, tokens = _either(host, tokens[1:], marks)
        return value, tokens[1:]
    if tokens[1] == "not":
        name, operator, other, rest = tokens[0], "not in", tokens[3], tokens[4:]
    else:
        name, operator, other, rest = tokens[0], tokens[1], tokens[2], tokens[3:]
    if name[0] in "\"'":
        return _compare(_mark(host, other, marks), operator, name, swapped=True), rest
    return _compare(_mark(host, name, marks), operator, other, swapped=False), rest


def _compare(known: str, operator: str, quoted: str, *, swapped: bool) -> bool:
    text = quoted.strip("\"'")
    if known == "?":
        return True
    if operator in {"==", "==="}:
        return known == text
    if operator == "!=":
        return known != text
    if operator in {"in", "not in"}:
        inside = text in known if swapped else known in text
        return inside == (operator == "in")
    left, right = (_number(text), _number(known)) if swapped else (_number(known), _number(text))
    order = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    return order.get(operator, True)


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,6}", text))


_PLATFORMS = {
    "linux": ("Linux", "linux", "posix"),
    "windows": ("Windows", "win32", "nt"),
    "macos": ("Darwin", "darwin", "posix"),
}


def _mark(host: Host, name: str, marks: dict[str, str]) -> str:
    """The value of a marker's variable on the host, "?" if it is unknown."""
    system, platform, os_name = _PLATFORMS[marks["os_family"]]
    plain = {"platform_system": system, "sys_platform": platform, "os_name": os_name, "extra": marks.get("extra", "")}
    plain |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    if name in plain:
        return plain[name]
    if name == "platform_machine":
        return _machine(host)
    if name == "python_full_version" and marks.get("python"):
        return marks["python"]
    if name in {"python_version", "python_full_version"}:
        found = re.search(r"/python(\d\.\d+)t?/", marks["site"])
        return found[1] if found else "?"
    return "?"


def _machine(host: Host) -> str:
    """The machine type, by the loader that every glibc program names."""
    if host.exists("/lib64/ld-linux-x86-64.so.2"):
        return "x86_64"
    return "aarch64" if host.exists("/lib/ld-linux-aarch64.so.1") else "?"


def constants_or_why(host: Host, path: str, silence: str) -> tuple[dict[str, str], str]:
    """Return the constants of a Python file, and why one lacks: `silence`, or that it cannot be read."""
    try:
        return constants(host, path), silence
    except HostError as error:
        return {}, str(error)


def constants(host: Host, path: str) -> dict[str, str]:
    """Module-level constants of a Python file as texts, read and not run; raises HostError.

    `cuda: Optional[str] = '12.8'` gives "12.8", `hip = None` gives "None", a list on one line its text.
    """
    found: dict[str, str] = {}
    for line in start_of(host, path, _SOURCE_BYTES).splitlines():
        name, _, value = line.partition("=")
        name = name.partition(":")[0].rstrip()
        while "=" in value and value.partition("=")[0].strip().isidentifier():
            value = value.partition("=")[2]  # `__version__ = version = '0.10.0'`
        literal = _literal(value.strip())
        if name.isidentifier() and literal is not None:
            found.setdefault(name, literal)
    return found


def _literal(text: str) -> str | None:
    """The text of a string, a list, a number, None, True or False; None for anything else."""
    if text[:1] in {"'", '"'}:
        content, end, _ = text[1:].partition(text[0])
        return content if end else None
    if text.startswith("["):
        content, end, _ = text.partition("]")
        return content + end if end else None
    word = text.partition("#")[0].strip()
    return word if word in {"None", "True", "False"} or word[:1].isdigit() else None


class Recorded(NamedTuple):
    """One line of a RECORD."""

    digest: str  # "sha256=..." as written, "" where there is none
    size_bytes: str  # as written, "" where there is none


def unquoted(record: bytes) -> bytes:
    """A RECORD with every path bare: a CSV writer may quote all of them, as in torchcodec 0.8.1 (PEP 376: csv).

    One with a comma, a quote or a line end keeps its quotes: no reader of ours looks for such a file.
    """
    return _QUOTED.sub(rb"\1,", record) if b'"' in record else record


def listed(line: str) -> tuple[str, str, str]:
    """Path, digest and size of a line of RECORD, "" for what it does not say; no path where it is none."""
    parts = line.rsplit(",", 2)
    if len(parts) < 3:
        return "", "", ""
    path, digest, size = parts
    return (path[1:-1].replace('""', '"') if path.startswith('"') else path), digest, size.strip()


def record(host: Host, distribution: Distribution) -> dict[str, Recorded]:
    """The files that a wheel lists as its own, by path relative to its site directory; raises HostError."""
    found = {}
    for line in lines_of(host, f"{distribution.metadata}/RECORD", RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST):
        path, digest, size = listed(line)
        if path:
            found[path] = Recorded(digest, size)
    return found
