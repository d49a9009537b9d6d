"""A compiled extension of torch asks for names that the installed torch does not define."""

from __future__ import annotations

from collections.abc import Iterable

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Extension, Lacking
from doctor.model.facts.seen import Seen
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.extensions import EXTENSION_PACKAGES, ExtensionPackage, building_again, in_use
from doctor.rules.shared.rule import NotApplicable, Rule


def check(package: ExtensionPackage, facts: Facts, matrix: Matrix) -> Answer:
    """BAD where a library that would be loaded lacks a name; few of many may be for another torch on purpose."""
    modules = in_use(package, facts)
    if not modules:
        raise NotApplicable("it has no library for torch's CUDA: see extension-built-for-other-cuda")
    found = {one: one.lacking.value for one in modules if isinstance(one.lacking, Seen)}
    lacking = {one: what for one, what in found.items() if what.how_many}
    if lacking:
        return _bad(package, modules, lacking, facts)
    for one in modules:
        one.lacking.get()
    return ok(f"{package.torch.label} defines all symbols that {package.label} needs")


def _bad(
    package: ExtensionPackage, modules: tuple[Extension, ...], lacking: dict[Extension, Lacking], facts: Facts
) -> Answer:
    other_abi = any(one.other_abi for one in lacking.values())
    first, what = next(iter(lacking.items()))
    built = "with the other ABI of std::string" if other_abi else "against another torch"
    abi = " and its ABI of std::string (`torch.compiled_with_cxx11_abi()`)" if other_abi else ""
    return bad(
        f"{package.label} was built {built} than {package.torch.label}: undefined symbol {what.names[0]}",
        Advice(
            f"install the build of {first.distribution} for torch {package.torch.version}{abi}, or "
            f"{building_again(package, facts)}"
        ),
        severity=Severity.ERROR if _stops_import(modules, lacking) else Severity.WARNING,
        evidence=tuple(Evidence(_text(what), file=one.path) for one, what in lacking.items()),
        explains=(Symptom("extension-built-for-other-cuda", package.label),),
    )


def _stops_import(modules: tuple[Extension, ...], lacking: Iterable[Extension]) -> bool:
    """Whether the import loads one that lacks a name: its own code names it; else most of them being wrong tells."""
    wrong = tuple(lacking)
    return 2 * len(wrong) > len(modules) or any(one.is_named_in_init for one in wrong)


def _text(what: Lacking) -> str:
    more = f" and {what.how_many - len(what.names)} more" if what.how_many > len(what.names) else ""
    return f"needs {', '.join(what.names)}{more}, which no torch library defines"


RULE = Rule(EXTENSION_PACKAGES, check, blocks_verdict=False)
