"""Importing a framework kills its process."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallPackage, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Import
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.builds import imported
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import IMPORTS


def check(tried: Import, facts: Facts, matrix: Matrix) -> Answer:
    """A signal is BAD; an exception is told, and left to the rules about its cause and to `gpudoctor explain`."""
    if tried.state == "crashed":
        return bad(
            f"importing {tried.package} kills the process: {_last(tried.detail)}",
            _again(tried, facts),
            evidence=(Evidence(tried.detail, label=f"import of {tried.package} in a child process"),),
        )
    if tried.state == "failed":
        return unknown(f"importing {tried.package} fails, but not by a signal: {_last(tried.detail)}")
    return ok(f"{tried.package} can be imported" if tried.state == "ok" else "it did not crash")


def _last(detail: str) -> str:
    return detail.strip().rpartition("\n")[2]


def _again(tried: Import, facts: Facts) -> Need:
    """A crash without a known cause: the framework's own files come anew first, of the same release and build."""
    environment, framework = imported(tried, facts)
    if framework is None:
        return InstallPackage(tried.package, interpreter=environment.interpreter, reinstall=True)
    release, tag = f"=={framework.version.partition('+')[0]}", framework.version.partition("+")[2]
    return InstallPackage(tried.package, release, environment.interpreter, tag, reinstall=not tag)


RULE = Rule(IMPORTS, check)
