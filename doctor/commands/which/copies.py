"""Every other copy of a library: those that the search passes over or comes to later, and those it never sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.commands.which.product import Product
from doctor.host import Host
from doctor.host.optional_reads import names_of, real_path_of
from doctor.loader.process import LoadRequest, Process
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import UnseenError, value_or
from doctor.model.resolution import describe_resolution

_NAMES_AT_MOST = 5000  # of one directory
_ENTRIES_AT_MOST = 200
_SYSTEM = ("/usr/local/lib", "/usr/lib64", "/usr/lib", "/opt/cuda/lib64", "/usr/lib/wsl/lib")


class Copy(NamedTuple):
    """A file of the same name that is not the one."""

    path: str  # real path
    why: str  # why it lost


def losers(host: Host, process: Process, question: LoadRequest, environment: Environment) -> tuple[Copy, ...]:
    """The other copies of a name that was asked for, in the order of the search, then those out of its reach."""
    name = question.name.rpartition("/")[2]
    winner = question.mapped.library.path if question.mapped else ""
    known = {real_path_of(host, winner)} if winner else set()
    found: list[Copy] = []
    for path, why in (*_in_the_search(process, question, name), *_out_of_reach(host, process, environment, name)):
        real = real_path_of(host, path)
        if real not in known:
            known.add(real)
            found.append(Copy(real, why))
    return tuple(found)


def _in_the_search(process: Process, question: LoadRequest, name: str) -> Iterator[tuple[str, str]]:
    asker = question.by.library if question.by else None
    chain = question.by.loaded_by if question.by else ()
    try:
        for one in process.search.candidates(question.name, asker, chain, process.machine):
            yield one.path, one.passed_over or f"comes later: {describe_resolution(one.place.way)}"
    except UnseenError:
        return
    if "/" in question.name:
        for one in process.search.candidates(name, None, (), process.machine):
            yield one.path, one.passed_over or f"the winner is opened by its path; {describe_resolution(one.place.way)}"


def _out_of_reach(host: Host, process: Process, environment: Environment, name: str) -> Iterator[tuple[str, str]]:
    for folder in folders(host, process, environment):
        if host.is_file(f"{folder}/{name}"):
            yield f"{folder}/{name}", "no rule of the search leads there"


def folders(host: Host, process: Process, environment: Environment) -> tuple[str, ...]:
    """Where copies of CUDA's libraries lie: wheels, packages, conda, the search itself, toolkits."""
    found = []
    for site in value_or(environment.sites, ()):
        found += [f"{site}/nvidia/{name}/lib" for name in names_of(host, f"{site}/nvidia")[:_ENTRIES_AT_MOST]]
        found += [f"{site}/torch/lib", f"{site}/cusparselt/lib"]
    found.append(f"{environment.prefix}/lib")
    search = process.search.facts
    found += [one.path for one in value_or(search.search, ())]
    found += [
        one.path.rpartition("/")[0] for one in value_or(search.cache, ()) if re.match("lib(cu|nv|nccl)", one.soname)
    ]
    for name in names_of(host, "/usr/local"):
        if name.startswith(("cuda", "cudnn")):
            root = f"/usr/local/{name}"
            found += [f"{root}/lib64", f"{root}/lib", f"{root}/lib64/stubs"]
            found += [f"{root}/targets/{each}/lib" for each in names_of(host, f"{root}/targets")[:_ENTRIES_AT_MOST]]
    return tuple(dict.fromkeys((*found, *_SYSTEM)))


def known_names(host: Host, process: Process, environment: Environment, product: Product) -> tuple[str, ...]:
    """The names under which copies of a product are there, those of the main library and the newest major first."""
    found: set[str] = set()
    for folder in folders(host, process, environment):
        for name in names_of(host, folder)[:_NAMES_AT_MOST]:
            if product.matches(name) and re.fullmatch(r"[\w-]+\.so\.\d+(\.0)?", name):
                found.add(name)
    return tuple(sorted(found, key=lambda name: (len(name.partition(".so")[0]), -_major(name), name)))


def _major(name: str) -> int:
    digits = name.partition(".so.")[2].partition(".")[0]
    return int(digits[:4]) if digits.isdigit() else 0
