"""What a dump of an environment says: fields with the lines that say them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, partial
from typing import Any

from compat.base.discover import load_one, names_in
from compat.base.paths import text_beside
from compat.base.record import NamedTuple
from compat.version import CudaVersion
from doctor.commands.explain import dumps as dumps_package
from doctor.messages.reading import Line, Reading
from doctor.model.facts.seen import Place


class Field(Enum):
    """What can be told of a machine."""

    SYSTEM = "operating system"  # "Ubuntu 22.04.5 LTS (x86_64)", "Microsoft Windows 11 Pro"
    PLATFORM = "platform"  # Python's platform.platform(): "Linux-6.8.0-45-generic-x86_64-with-glibc2.39"
    FAMILY = "family of the operating system"  # "linux", "windows", "macos": where no other field tells
    MACHINE = "machine type"  # "x86_64"
    KERNEL = "kernel"
    GLIBC = "glibc"  # "2.35"
    CONTAINER = "container"  # "docker"
    DRIVER = "driver"  # "535.104.05"
    DRIVER_CUDA = "CUDA of the driver"  # "12.2"
    GPU = "GPU"  # "NVIDIA A10", with its number before it: "0 NVIDIA A10"
    CAPABILITY = "compute capability"  # with the number of its GPU before it: "0 8.6"
    PYTHON = "Python"  # "3.10.12"
    PACKAGE = "package"  # "torch==2.1.0+cu121"
    CONDA_PACKAGE = "conda package"  # the same, of conda
    DRIVER_PACKAGE = "driver package"  # its release: what is installed, where no line names the loaded one
    FLAVOUR = "flavour of the kernel module"  # "open", "proprietary"
    MODULE = "loaded kernel module"  # "nvidia_uvm", "nouveau"
    DKMS = "DKMS"  # "nvidia 550.54.14 6.8.0-45-generic installed"
    SECURE_BOOT = "Secure Boot"  # "on", "off"
    KERNEL_LOG = "kernel log"  # a line of it
    CUDA_FAILS = "CUDA does not start"
    CUDA_WORKS = "CUDA starts"  # only where a program says that it did
    TORCH_CUDA = "CUDA of torch's build"  # "12.1", "None"
    NVCC = "release of nvcc"  # of that on PATH, "12.4.131"
    NVCC_PATH = "nvcc"  # its path
    BUILDER = "release of torch's nvcc"  # of that with which torch builds extensions, "12.4"
    CUDART = "library of the CUDA runtime"  # its path, links followed
    VARIABLE = "variable"  # "CUDA_HOME=/usr/local/cuda"
    ALL_VARIABLES = "all variables"  # only where the dump lists all that are set, of those that it knows
    CUDNN_FILE = "library of cuDNN"  # its path, links followed


class Said(NamedTuple):
    """A field, its value, and the line that says it."""

    field: Field
    value: str
    line: int
    file: str = ""  # of an archive; "" for the text itself

    @property
    def at(self) -> Place:
        """Where evidence says that it stands."""
        place = Place(self.file, self.line)
        return place._replace(label=place.in_words) if self.file else place


class Dump(NamedTuple):
    """One format."""

    title: str  # the command that prints it
    mark: str  # pattern that a text with such a dump holds
    tell: Callable[[tuple[Line, ...]], Iterator[Said]]
    source: str  # project and file of the program that prints it


@cache
def all_dumps() -> dict[str, Dump]:
    """Every format, by the name of its file: rows, or a module where lines depend on those before them."""
    rows = {name[:-5]: _of_rows(name) for name in os.listdir(dumps_package.__path__[0]) if name.endswith(".json")}
    return {**rows, **{name: load_one(dumps_package, name, "DUMP", Dump) for name in names_in(dumps_package)}}


def _of_rows(file_name: str) -> Dump:
    told: dict[str, Any] = json.loads(text_beside(str(dumps_package.__file__), file_name))
    keys = {key: Field[name] for key, name in told.get("keys", {}).items()}
    return Dump(told["title"], told["mark"], partial(_by_rows, keys, told["lines"]), told["source"])


_Rows = list[tuple[str, dict[str, str]]]


def _by_rows(keys: Mapping[str, Field], rows: _Rows, lines: tuple[Line, ...]) -> Iterator[Said]:
    """The first row that fits a line tells what it says; {1} is a group of its pattern."""
    yield from keyed(lines, keys) if keys else ()
    patterns = [(re.compile(pattern), says) for pattern, says in rows]
    for line in lines:
        fits = ((found, says) for pattern, says in patterns if (found := pattern.search(line.text)))
        for found, says in [first] if (first := next(fits, None)) else ():
            named = {name: _Part(text or "") for name, text in found.groupdict().items()}
            numbered = [_Part(text) for text in (found[0], *found.groups(""))]
            for each in named.get("each", "").split(","):  # "GPU 0,1,2"
                values = {field: text.format(*numbered, **{**named, "each": each}) for field, text in says.items()}
                yield from (Said(Field[field], value, line.number) for field, value in values.items() if value)


_MACHINES = {"amd64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64", "AArch64": "aarch64"}


class _Part(str):
    """A part of a line, in the form that the row asks for: {2:dotted} makes 8.6 of 86."""

    __slots__ = ()

    def __format__(self, form: str) -> str:
        text = str(self)
        forms: dict[str, Callable[[], str]] = {
            "": lambda: text,
            "cuda": lambda: str(CudaVersion.from_encoded(int(text))),
            "dotted": lambda: f"{text[:-1]}.{text[-1]}",
            "lower": text.lower,
            "machine": lambda: _MACHINES.get(text, text),
        }
        return forms[form]()


class Told(NamedTuple):
    """All that the dumps of a text say."""

    titles: tuple[str, ...]  # of the dumps, () where the text holds none
    said: tuple[Said, ...]

    def located(self, at: Callable[[int], Place]) -> Told:
        """Return the same, each line where it stands in its own file."""
        said = (one._replace(file=place.file, line=place.line) for one in self.said for place in [at(one.line)])
        return self._replace(said=tuple(said))

    def of(self, field: Field) -> tuple[Said, ...]:
        """What is shown of a field, each value once."""
        found: dict[str, Said] = {}
        for one in self.said:
            if one.field is field:
                found.setdefault(one.value, one)
        return tuple(found.values())


def tell(reading: Reading) -> Told:
    """Read every dump that a text holds."""
    text = "\n".join(line.text for line in reading.lines)
    there = [dump for dump in all_dumps().values() if re.search(dump.mark, text, re.MULTILINE)]
    said = (one for dump in there for one in dump.tell(reading.lines))
    return Told(tuple(dump.title for dump in there), tuple(dict.fromkeys(said)))


def keyed(lines: Iterable[Line], keys: Mapping[str, Field], sign: str = ":") -> Iterator[Said]:
    """Lines "key: value"; a value that says that nothing was found is none."""
    for line in lines:
        key, found, value = line.text.partition(sign)
        field = keys.get(key.strip().lower()) if found else None
        if field and value.strip() and not _NOTHING.match(value.strip()):
            yield Said(field, value.strip(), line.number)


_NOTHING = re.compile(
    r"(?i)could not collect|n/?a$|none$|no cuda|no version|unknown|\(unavailable\)|not found|_no response_|no$|<"
)
