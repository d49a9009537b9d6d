"""What `check`'s own rules say of the copies that are tried, and what was found instead of a copy.

Without a GPU the engines and heuristics of cuDNN 9 are opened by nobody: only the inventory of the files misses them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from compat.matrix import Uncovered
from compat.need import Advice, DropFromPath, InstallCudnn, InstallPackage
from doctor.commands.verify.contents import of_contents
from doctor.commands.verify.findings import rooted
from doctor.commands.verify.subject import Chosen, Known, Subject, displacing
from doctor.diagnose import answers_under_policy
from doctor.loader.cards import loading_of
from doctor.messages import cause as codes
from doctor.model.facts import Facts
from doctor.model.facts.loader import FoundBy
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Status, Symptom, bad, unknown
from doctor.model.resolution import describe_resolution
from doctor.rules.shared.cudnn_use import is_jit_edition, reinstall_need
from doctor.rules.shared.engine import load_rules

_MISSING = "cudnn-missing"
_CPU_BUILD = "cpu-only-wheel"
_JIT_LACKS = "engines_precompiled"
_OF_COPIES = (codes.INCOMPLETE, codes.MIXED, codes.ZLIB_MISSING)
_OF_FRAMEWORKS = (codes.SHADOWED, codes.PART_MISSING, _MISSING, "cudnn-wrong-major")


def answers_around(
    chosen: Chosen, known: Known, level: str, tried: Iterable[Answer], planned: Container[Subject]
) -> tuple[Answer, ...]:
    """What the rules say of the same copies and frameworks, and what is wrong where there is nothing to try.

    `planned` are those of the copies that were made to open their engines, whatever came of it.
    """
    found = list(_of_rules(chosen, known, level))
    blamed = {one.subject for one in found if one.kind is Status.BAD}
    found += [unknown(why)._replace(code=_MISSING, subject=who) for who, why in chosen.unknown if who not in blamed]
    for subject in chosen.subjects:
        found += _of_displaced(subject, known)
        found += of_contents(subject.copy, known.host, known.facts, every=level == "full")
        found += () if subject in planned else _of_jit_edition(subject, known, level)
        if not subject.library:
            without_main = bad(
                f"{subject.label} has parts, but no main library that programs could open",
                reinstall_need(subject.copy, known.facts),
                evidence=(Evidence("no libcudnn.so or cudnn64 DLL", file=subject.copy.path),),
            )._replace(code=codes.INCOMPLETE, subject=subject.label)
            found.append(without_main)
    if not chosen.subjects and not any(one.kind is Status.BAD for one in (*found, *tried)):
        found += _of_cpu_builds(known) or (_nothing_found(known.facts),)
    return tuple(found)


def _of_rules(chosen: Chosen, known: Known, level: str) -> Iterator[Answer]:
    """The rules about the copies that were tried, and about the frameworks that load them; no others'."""
    mine = tuple(one.copy for one in chosen.subjects)
    others = tuple(one for one in value_or(known.facts.cudnn, ()) if one not in mine)
    about = known.facts._replace(cudnn=Seen((*mine, *others), "files"))
    labels = {*(one.label for one in mine), *(one.label for one in chosen.frameworks)}
    said = answers_under_policy(
        about, known.matrix, load_rules((*_OF_COPIES, *(_OF_FRAMEWORKS if chosen.frameworks else ())))
    )
    kept = [one for one in said if one.subject in labels and one.kind in {Status.BAD, Status.UNKNOWN}]
    for answer in kept:
        on_copy = answer.code in _OF_COPIES
        if answer.kind is Status.UNKNOWN:
            # what was computed is known; only a copy that was merely loaded may lack what it did not use
            yield answer._replace(blocks_verdict=on_copy and answer.blocks_verdict and level == "load")
        else:
            yield rooted(answer._replace(severity=Severity.ERROR), answer.subject) if on_copy else answer


def _of_displaced(subject: Subject, known: Known) -> Iterator[Answer]:
    """A copy that was named, and whose parts a program gets from elsewhere: the trial pins them, a program does not."""
    if subject.frameworks:
        return  # ld-library-path-shadowing knows better what these load
    found = displacing(subject, known.host, known.facts)
    if not found:
        return
    name, path, way = found[0]
    entry = path.rpartition("/")[0]
    need = (
        DropFromPath(way.rule.value, way.entry, way.set_in)
        if way.rule is FoundBy.LIBRARY_PATH and way.entry
        else Advice(f"Take {entry} off the loader's path.")
    )
    yield bad(
        f"a program that opens {subject.library} gets {name} from {entry}",
        need,
        evidence=tuple(Evidence(f"{other}: {describe_resolution(how)}", file=one) for one, other, how in found),
        explains=(Symptom(codes.MIXED, subject.label), Symptom(codes.PART_MISSING, subject.label)),
    )._replace(code=codes.SHADOWED, subject=subject.label)


def _of_jit_edition(subject: Subject, known: Known, level: str) -> Iterator[Answer]:
    """Without the precompiled engines it is NVIDIA's JIT edition, or damaged: no package says which, a trial does."""
    copy = subject.copy
    if copy.owner or level != "load" or not isinstance(copy.version, Seen):
        return
    if isinstance(copy.parts, Seen) and is_jit_edition(copy):
        return
    try:
        listed = known.matrix.cudnn(copy.version.value).parts_linux or ()
    except Uncovered:
        return  # the rule about the copy's files says so
    there = {part.name for part in value_or(copy.parts, ())}
    if any(_JIT_LACKS in name and name not in there for name in listed):
        why = f"{copy.label} has no precompiled engines: NVIDIA's JIT edition has none, another is damaged"
        yield unknown(f"{why}; level conv tells")._replace(code=codes.INCOMPLETE, subject=copy.label)


def _of_cpu_builds(known: Known) -> tuple[Answer, ...]:
    """Where every framework is built for the CPU, none would load a cuDNN: to be said, and no cuDNN to be installed."""
    environments = value_or(known.facts.environments, ())
    loading = [one for each in environments for one in value_or(each.frameworks, ()) if loading_of(one.package)]
    if not loading or not all(one.is_cpu_build for one in loading):
        return ()
    said = answers_under_policy(known.facts, known.matrix, load_rules((_CPU_BUILD,)))
    labels = ", ".join(one.label for one in loading)
    why = f"{labels}: built for the CPU only, so that nothing here loads a cuDNN; --cudnn names a copy to try"
    open_question = unknown(why)._replace(code=_MISSING, subject=known.facts.machine.label)
    return tuple(one for one in said if one.kind is Status.BAD) or (open_question,)


def _nothing_found(facts: Facts) -> Answer:
    """No copy at all: a wheel for the environment where there is one, else the system's; nothing without a card."""
    if facts.has_gpu is False:
        why = "there is no cuDNN here, and no NVIDIA GPU that could use one: nothing to try"
        return unknown(why)._replace(code=_MISSING, subject=facts.machine.label)
    # Of the newest toolkit, which programs would be built with; else what the driver runs; else the usual one.
    toolkits = [one.cuda.value for one in value_or(facts.toolkit.toolkits, ()) if isinstance(one.cuda, Seen)]
    cuda = max(toolkits, default=value_or(facts.driver.cuda, None))
    major = str(cuda.major) if cuda else "12"
    environment = next((one for one in value_or(facts.environments, ()) if one.kind in {"venv", "conda"}), None)
    wheel = (InstallPackage(f"nvidia-cudnn-cu{major}", interpreter=environment.interpreter),) if environment else ()
    looked = ", ".join(one.label for one in value_or(facts.environments, ())) or "no Python environment was found"
    return bad(
        "there is no cuDNN here: nothing to try",
        *wheel,
        InstallCudnn(cuda=major),
        evidence=(Evidence(f"looked in {looked}, in the toolkits and along the loader's path", label="files"),),
    )._replace(code=_MISSING, subject=facts.machine.label)
