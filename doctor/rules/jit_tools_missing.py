"""What a package compiles when it runs lacks the C compiler, Python.h, nvcc or a directory that can be written."""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice
from doctor.loader.cards.triton import RUN_TRITON
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import installed
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS, need_linux
from installers.packages import manager_by_id


class _Lack(NamedTuple):
    """What is not there, what comes of it, where it was looked for, and what to do."""

    text: str
    file: str
    advice: str


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """Information only: a program that never compiles works without it."""
    need_linux(facts)
    if not value_or(environment.frameworks, ()):
        raise NotApplicable("no framework is in it")
    found = [*_of_builds(environment, facts), *_of_nvcc(environment, facts, matrix)]
    if not found:
        return ok("what its packages compile with when they run is there")
    return bad(
        "; ".join(one.text for one in found),
        *(Advice(one.advice) for one in found),
        severity=Severity.INFO,
        evidence=tuple(
            Evidence(one.text, file=one.file) if one.file else Evidence("no gcc, no clang", label="PATH")
            for one in found
        ),
    )


def _of_builds(environment: Environment, facts: Facts) -> Iterator[_Lack]:
    """Yield what lacks for a C module of a package, and for keeping the result; raises UnseenError."""
    tools = [one for one in facts.code_tools.get() if one.environment == environment.prefix and one.builds]
    start = value_or(environment.start, None) if environment.start else None
    uses_it = any(one.name in RUN_TRITON for one in installed(environment))
    for one in tools[:1]:
        if uses_it and facts.machine.kind != "root" and not facts.compilers.get():
            yield _Lack(
                f"{one.builds} fail: no C compiler (gcc or clang) was found",
                "",
                f"Install a C compiler: {_command('gcc', 'gcc', facts)}.",
            )
        elif uses_it and start and start.header:
            name = start.header.split("/")[-2]
            yield _Lack(
                f"{one.builds} fail: {name} has no Python.h",
                start.header,
                f"Install the headers of this Python: {_command(f'{name}-dev', 'python3-devel', facts)}.",
            )
        if one.nameless:
            yield _Lack(
                "torch.compile fails: this user has no name, by which torch names its cache",
                "/etc/passwd",
                "Set TORCHINDUCTOR_CACHE_DIR to a directory that this user may write, or set USER to a name.",
            )
        if one.cache:
            yield _Lack(
                f"{one.builds} fail: this user may not write {one.cache}",
                one.cache,
                "Set TRITON_CACHE_DIR to a directory that this user may write.",
            )


def _command(apt: str, dnf: str, facts: Facts) -> str:
    """How the package is installed. Sources: the package search of Debian, of Fedora."""
    manager = manager_by_id(value_or(facts.system.distribution_id, ""))
    if manager == "apt":
        return f"sudo apt-get install {apt}"
    return f"sudo dnf install {dnf}" if manager == "dnf" else f"the distribution's package of {apt}"


def _of_nvcc(environment: Environment, facts: Facts, matrix: Matrix) -> Iterator[_Lack]:
    """Yield packages that compile with nvcc when they run, and whose kernels no other brings; raises UnseenError."""
    if any(isinstance(one.nvcc, Seen) for one in facts.toolkit.toolkits.get()):
        return
    there = {one.name: one for one in installed(environment)}
    for row in matrix.compiled_in_use(frozenset(there)):
        label = f"{row.id} {there[row.id].version}"
        kernels = f"install {' or '.join(row.unless)}, or " if row.unless else ""
        text = f"Install a CUDA toolkit with nvcc: gpudoctor install cuda. Or {kernels}do without these kernels."
        yield _Lack(
            f"{label} compiles some kernels with nvcc when it runs, and none was found", there[row.id].metadata, text
        )


RULE = Rule(ENVIRONMENTS, check, blocks_verdict=False)
