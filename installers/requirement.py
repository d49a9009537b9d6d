"""What a need's version specifier says about the version to ask for."""

from __future__ import annotations

from compat.build import is_default_build
from compat.row import FrameworkRow
from compat.specifier import clauses
from compat.traits import traits_of


def wanted_version(specifier: str) -> str:
    """The version that a specifier names as its lower end: "12.8" for "==12.8.*", "580.65.06" for ">=580.65.06".

    "" where it names none ("", "<13").
    """
    named = [version.removesuffix(".*") for name, version in clauses(specifier) if name in {"==", "~=", ">="}]
    return max(named, key=lambda text: (len(text.split(".")), text), default="")


def exact_version(specifier: str) -> str:
    """The version of an exact specifier ("2.9.1" for "==2.9.1"), "" for every other."""
    if specifier.startswith("==") and "," not in specifier and not specifier.endswith("*"):
        return specifier.removeprefix("==").strip()
    return ""


def spoken(specifier: str) -> str:
    """A specifier for a sentence, with a blank before it: " 9.10.2", " 12.8", " 580 or newer"; others as they are."""
    exact = exact_version(specifier)
    if exact:
        return f" {exact}"
    if specifier.startswith("==") and specifier.endswith(".*") and "," not in specifier:
        return f" {specifier[2:-2]}"
    if specifier.startswith(">=") and "," not in specifier:
        return f" {specifier.removeprefix('>=')} or newer"
    return f" {specifier}" if specifier else ""


def requirement_of(row: FrameworkRow, versions: str) -> str:
    """What to ask an installer for to get the build of a row: "torch==2.9.1+cu130", "jax[cuda12]==0.7.0".

    `versions` is a specifier within the row's. The build is named where it is not the one that the package index
    serves: of that one the row was read, and the wheel's name, which its source tells, carries no local version.
    """
    asked = traits_of(row.package).asked_as.get(row.package, "")
    if asked and row.libraries == "wheels":
        return f"{asked}{versions}"
    local = f"+{row.build}" if row.build and exact_version(versions) and not is_default_build(row) else ""
    return f"{row.package}{versions}{local}"
