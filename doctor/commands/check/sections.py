"""A report as a page draws it: title, the stack from the card up, tables of cards, environments and libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.reason import NO, YES
from doctor.changes import relevance
from doctor.commands.check.stack import is_cpu_build, stack_lines
from doctor.commands.check.text import counts, plural
from doctor.diagnose import NO_GPU
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Answer, Report, Severity, Status
from doctor.model.resolution import describe_resolution
from doctor.output.sections import Cell, Layer, Table

if TYPE_CHECKING:
    from compat.can import BuildVerdict

_LAYERS = ("System", "GPU", "Driver", "Toolkit", "cuDNN", "Python")  # by the labels of the stack, from the card up
_LINES = 16  # of a layer
_RELEASES = 12  # of a framework, the newest, in the table of its builds
_TITLES = {"Toolkit": "CUDA toolkit"}
# The layer in which a part of the stack is fixed.
_OF_PART = {
    **dict.fromkeys((relevance.DRIVER, relevance.KERNEL, relevance.BOOT), "Driver"),
    **dict.fromkeys((relevance.TOOLKIT, relevance.COMPILER), "Toolkit"),
    relevance.CUDNN: "cuDNN",
    **dict.fromkeys((relevance.CONTAINER, relevance.SETTING), "System"),
}
# A setting is of the layer that it spoils: by the beginning of the code, or of one that it explains.
_SPOILED = (("cudnn", "cuDNN"), ("forward-compat", "Driver"), ("cuda-visible", "GPU"), ("ld-library", "Python"))
_VERDICTS = {"healthy": "no fault found", "no-gpu": "no GPU", "unknown": "not everything could be checked"}


def title(report: Report) -> str:
    """ "GPU stack of HOST: 2 errors"."""
    found = [one.severity for one in report.findings if not one.explained_by and one.code != NO_GPU]
    errors, warnings = found.count(Severity.ERROR), found.count(Severity.WARNING)
    words = [plural(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    return (
        f"GPU stack of {report.facts.machine.name}: {', '.join(words) or _VERDICTS.get(report.verdict, report.verdict)}"
    )


def layers(report: Report) -> tuple[Layer, ...]:
    """The stack with each cause in the layer in which it is fixed."""
    answers = {(one.code, one.subject): one for one in report.answers if one.kind is Status.BAD}
    codes: dict[str, list[tuple[Severity, str]]] = {}
    for one in report.findings:
        if not one.explained_by and one.severity is not Severity.INFO:
            place = _layer_of(answers.get((one.code, one.subject)), one.subject, report.facts)
            codes.setdefault(place, []).append((one.severity, one.code))
    lines: dict[str, list[str]] = {name: [] for name in _LAYERS}
    place = ""
    for label, text in stack_lines(report.facts):
        name, _, number = label.partition(" ")
        place = name or place
        lines.setdefault(place, []).append(f"{number}: {text}" if number else text)
    unseen = _unseen(report.facts)
    absent = {"GPU", "Driver"} if report.facts.machine.is_running and report.facts.has_gpu is False else set()
    return tuple(
        Layer(
            _TITLES.get(name, name),
            _shortened(told),
            _mark(codes.get(name, []), is_unknown=name in unseen - absent, is_there=name in {*_LAYERS} - absent),
            tuple(dict.fromkeys(code for _, code in codes.get(name, ()))),
        )
        for name, told in lines.items()
        if told
    )


def _shortened(lines: list[str]) -> tuple[str, ...]:
    """Return the lines of a layer; of 64 cards or 48 environments only the first: tables and text have all."""
    more = len(lines) - _LINES
    return (*lines[:_LINES], f"and {more} more lines") if more > 1 else tuple(lines)


def _mark(found: list[tuple[Severity, str]], *, is_unknown: bool, is_there: bool) -> str:
    if found:
        return min((one for one, _ in found), key=lambda one: one.rank).value
    return "unknown" if is_unknown else "ok" if is_there else ""


def _unseen(facts: Facts) -> set[str]:
    """The layers of which nothing is known."""
    seen = {
        "GPU": facts.gpus,
        "Driver": facts.driver.release,
        "Toolkit": facts.toolkit.toolkits,
        "cuDNN": facts.cudnn,
        "Python": facts.environments,
    }
    return {name for name, fact in seen.items() if isinstance(fact, Unseen)}


def _layer_of(answer: Answer | None, subject: str, facts: Facts) -> str:
    """Where it is fixed by its first need; else whose subject it is."""
    needs = answer.needs[:1] if answer else ()
    for part in sorted(relevance.parts_of(needs), key=[*_OF_PART].index):
        return _spoiled(answer) if answer and part == relevance.SETTING else _OF_PART[part]
    if packages := relevance.packages_of(needs):
        return "cuDNN" if all(one.startswith("nvidia-cudnn") for one in packages) else "Python"
    if subject in {one.label for one in value_or(facts.gpus, ())} | {one.label for one in value_or(facts.pci, ())}:
        return "GPU"
    if subject in {one.label for one in value_or(facts.cudnn, ())}:
        return "cuDNN"
    return "System" if subject == facts.machine.label else "Python"


def _spoiled(answer: Answer) -> str:
    codes = (answer.code, *(one.code for one in answer.explains))
    return next((layer for start, layer in _SPOILED if any(code.startswith(start) for code in codes)), "System")


def about(report: Report, version: str) -> tuple[str, ...]:
    """When and by what it was made, and the counts."""
    made = [report.made_at.replace("T", " ").replace("Z", " UTC")] if report.made_at else []
    return (" · ".join([*made, f"gpudoctor {version}"]), " · ".join(counts(report)))


def tables(report: Report) -> tuple[Table, ...]:
    """Cards, environments, which file is loaded for each library, and what is in order."""
    facts = report.facts
    passed = sorted({(one.code, one.subject, one.why) for one in report.answers if one.kind is Status.OK})
    cards = ("card", "memory", "compute capability", "PCIe", "ECC", "used")
    packages = ("environment", "Python", "package", "CUDA", "cuDNN", "code for")
    gpus, environments = value_or(facts.gpus, ()), value_or(facts.environments, ())
    found = (
        Table("Cards", cards, tuple(map(_card, gpus)), is_open=len(gpus) > 1),
        Table("Python environments", packages, tuple(_packages(facts)), is_open=len(environments) > 1),
        *_builds(facts),
        Table("Which file is loaded", ("library", "for", "file", "because"), tuple(_loaded(facts))),
        Table("Checks without a fault", ("check", "of", "result"), tuple(passed)),
    )
    return tuple(one for one in found if one.rows)


def _card(gpu: Gpu) -> tuple[str, ...]:
    memory, used = value_or(gpu.memory_bytes, 0), gpu.now.memory_used_bytes
    link = f"{gpu.link_generation_max.value}.0 " if isinstance(gpu.link_generation_max, Seen) else ""
    ecc = ("on" if gpu.ecc_enabled.value else "off") if isinstance(gpu.ecc_enabled, Seen) else ""
    return (
        gpu.label,
        f"{memory / 2**30:.0f} GiB" if memory else "",
        str(value_or(gpu.capability, "")),
        f"{link}x{gpu.link_width.value}" if isinstance(gpu.link_width, Seen) else link,
        ecc,
        f"{used.value / 2**30:.1f} GiB" if isinstance(used, Seen) else "",
    )


def _packages(facts: Facts) -> Iterator[tuple[str, ...]]:
    """A row for each framework; an environment without one has a row, too."""
    for each in value_or(facts.environments, ()):
        frameworks = value_or(each.frameworks, ())
        names = {one.package for one in frameworks}
        where = (each.prefix, str(value_or(each.python, "")))
        if not frameworks:
            why = each.frameworks.why if isinstance(each.frameworks, Unseen) else "no GPU framework"
            yield (*where, why, "", "", "")
        for one in frameworks:
            without = "CPU build" if is_cpu_build(one, names) else ""
            cuda = str(one.cuda.value) if isinstance(one.cuda, Seen) else without
            targets = [str(target) for target in value_or(one.targets, ())]
            yield (*where, one.label, cuda, str(value_or(one.cudnn, "")), " ".join(targets))


def _builds(facts: Facts) -> Iterator[Table]:
    """Which releases work with this card and driver, of the first framework that has builds for several CUDAs."""
    from compat.can import ranked  # late: only a page asks
    from compat.matrix import Matrix
    from compat.spec import parse_spec
    from doctor.planned.planned import circumstances_of

    matrix = Matrix.of_user()
    for each in value_or(facts.environments, ()):
        where = circumstances_of(facts, ".".join(value_or(each.python, "").split(".")[:2]))
        if not where.capabilities or where.driver is None:
            continue
        for one in value_or(each.frameworks, ()):
            judged = [found for found in ranked(parse_spec(one.package), where, matrix) if found.build]
            cells = {(found.release, found.build.build): _verdict(found) for found in judged if found.build}
            builds = sorted(
                {build for _, build in cells if re.fullmatch(r"cu\d+", build)}, key=lambda name: int(name[2:])
            )
            if len(builds) <= 1:
                continue
            releases = sorted({release for release, build in cells if build in builds}, reverse=True)[:_RELEASES]
            shown = [build for build in builds if any((release, build) in cells for release in releases)]
            rows = [
                (Cell(".".join(map(str, release))), *(cells.get((release, build), Cell("")) for build in shown))
                for release in releases
            ]
            yield Table(f"Builds of {one.package} for this card and driver", ("release", *shown), tuple(rows))
            return


def _verdict(found: BuildVerdict) -> Cell:
    against = [one.brief for one in found.reasons if one.kind != "ok"]
    mark = {YES: "ok", NO: "error"}.get(found.verdict, "unknown")
    return Cell(": ".join((found.verdict, *against[:1])), mark)


def _loaded(facts: Facts) -> Iterator[tuple[str, ...]]:
    """A row for each answer; those for whom it is the same stand together."""
    askers: dict[tuple[str, str, str], list[str]] = {}
    for one in value_or(facts.loader.predictions, ()):
        path = one.path.value if isinstance(one.path, Seen) else one.damaged or "none" if one.missing else "unknown"
        because = describe_resolution(one.way) if isinstance(one.path, Seen) else one.path.why
        if isinstance(one.path, Seen) and isinstance(one.intended, Seen) and not one.is_as_intended:
            because += f"; meant: {one.intended.value}"
        askers.setdefault((one.soname, path, because), []).append(one.asker)
    for (name, path, because), who in sorted(askers.items()):
        yield (name, ", ".join(dict.fromkeys(who)), path, because)
