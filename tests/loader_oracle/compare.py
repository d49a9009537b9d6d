"""Predicted against observed, library by library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from doctor.host import Host
from doctor.host.live import LiveHost
from doctor.loader.cache import whole_cache
from doctor.loader.cards import family_of, loading_of
from doctor.loader.simulate import Simulated, simulate
from doctor.model.facts.environment import Environment, Framework
from doctor.probes import environment, loader
from tests.loader_oracle.observe import CUDA, Observed


class Row(NamedTuple):
    """One library."""

    name: str
    predicted: str  # real path, or "nothing"
    observed: str  # real path, "nothing", or "not asked for"
    replayed: bool = False  # seen only where a library with the asker's search path asked for it
    refused: bool = False  # the loader picked the file, and its symbols did not fit those of the process

    @property
    def equal(self) -> str:
        """ "yes", "no", "replayed" or "refused" (and equal), or "unobserved" for what was not reached."""
        if self.observed == "not asked for":
            return "unobserved"
        if self.predicted != self.observed:
            return "no"
        return "refused" if self.refused else "replayed" if self.replayed else "yes"


def predict(python: str, name: str, environ: Mapping[str, str]) -> tuple[Environment, Framework | None, Simulated]:
    """The simulated process of one framework in one environment of this machine."""
    return predict_on(LiveHost({"HOME": "/nonexistent", "PWD": "/", **environ}), python, name)


def predict_on(host: Host, python: str, name: str) -> tuple[Environment, Framework | None, Simulated]:
    """The same on any machine: the process of a framework, which is its family's first distribution with steps."""
    search = loader.look(host)
    search = search._replace(cache=whole_cache(host))
    (one,) = environment.look(host, (python,)).get()
    of_name = (each for each in one.frameworks.get() if family_of(each.package) == name)
    framework = next((each for each in of_name if loading_of(each.package)), None)
    return one, framework, simulate(host, search, one, framework)


def compare(simulated: Simulated, observed: Observed, replayed: Observed | None = None) -> list[Row]:
    """A row for every CUDA library that was predicted or observed; what was not reached, from the replay."""
    rows = _compare(simulated, observed)
    again = {row.name: row for row in _compare(simulated, replayed)} if replayed else {}
    return [
        again[row.name]._replace(replayed=True) if row.equal == "unobserved" and row.name in again else row
        for row in rows
    ]


def predicted_files(simulated: Simulated) -> dict[str, str]:
    """Each CUDA library of a process by its name, with its real path, or "nothing" where it is asked for in vain."""
    process, found = simulated.process, dict[str, str]()
    for one in process.mapped:
        if CUDA.match(one.library.name):
            name = one.library.soname or one.library.name
            name = one.library.name if name in found else name  # a repaired wheel's copy keeps its SONAME
            found[name] = process.host.real_path(one.library.path)
    for question in process.asked:
        in_vain = not question.optional and (question.failure or question.undone)
        if in_vain and CUDA.match(question.name) and "/" not in question.name:
            found.setdefault(question.name, "nothing")
    return found


def _compare(simulated: Simulated, observed: Observed) -> list[Row]:
    predicted = predicted_files(simulated)
    there = set(predicted.values())
    mapped = {path for path in observed.mapped if CUDA.match(path.rpartition("/")[2])}
    rows = [_row(name, path, mapped, observed) for name, path in sorted(predicted.items())]
    names = {row.observed for row in rows}
    rows += [Row(path.rpartition("/")[2], "nothing", path) for path in sorted(mapped - there - names)]
    return rows


def _row(name: str, path: str, mapped: set[str], observed: Observed) -> Row:
    if path in mapped:
        return Row(name, path, path)
    if path != "nothing" and observed.picked.get(name) == path:
        return Row(name, path, path, refused=True)
    stem = name.split(".so", maxsplit=1)[0]
    other = sorted(one for one in mapped if one.rpartition("/")[2].split(".so")[0] == stem)
    if other:
        return Row(name, path, other[0])
    asked = any(one.rpartition("/")[2].startswith(f"{stem}.so") for one in observed.asked)
    return Row(name, path, "nothing" if asked else "not asked for")
