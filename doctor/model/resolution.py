"""The sentences about how a loader comes to a file: made where they are printed, from what is known."""

from __future__ import annotations

from doctor.model.facts.loader import FoundBy, Way

_SENTENCES = {
    FoundBy.PROGRAM: "it is the program",
    FoundBy.ABSOLUTE: "it is asked for by its path",
    FoundBy.RPATH: "RPATH of {of}, which comes before every variable",
    FoundBy.RUNPATH: "RUNPATH of {of}",
    FoundBy.CACHE: "it is in ld.so.cache",
    FoundBy.DEFAULT: "{folder} is a default directory",
    FoundBy.LOADED: "it is loaded already, as {entry}",
    FoundBy.PATHFINDER: "cuda.pathfinder opens it by its path: {entry}",
    FoundBy.BESIDE: "it lies beside {of}",
    FoundBy.APPLICATION: "it lies beside the interpreter",
    FoundBy.ADDED: "it is in {folder}, which the environment adds to the search",
    FoundBy.KNOWN: "it is one of Windows' KnownDLLs, which {folder} always gives",
    FoundBy.SYSTEM: "it is in a directory of the system",
    FoundBy.CURRENT: "it is in the current directory",
    FoundBy.PATH: "PATH names {folder}",
}


def describe_resolution(way: Way | None) -> str:
    """Why it is this file; "" where nothing is found."""
    if way is None:
        return ""
    if way.rule is FoundBy.PRELOAD:
        return f"{way.set_in if way.set_in.startswith('/') else way.rule.value} names it"
    if way.rule is FoundBy.LIBRARY_PATH:
        later = f" and is searched before the RUNPATH of {_name(way.of)}" if way.of else ""
        return f"LD_LIBRARY_PATH names {way.folder}{later}"
    if way.rule is FoundBy.ABSOLUTE and way.of:
        return f"{_name(way.of)} opens it by its path"
    return _SENTENCES[way.rule].format(of=_name(way.of), folder=way.folder, entry=way.entry)


def _name(path: str) -> str:
    """The file, with its package where the name alone says nothing."""
    parts = path.split("/")
    return "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]
