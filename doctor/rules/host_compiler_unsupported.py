"""The C++ compiler that nvcc would call is newer or older than this nvcc accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Matrix, known
from compat.need import Advice, AssignVariable, InstallHostCompiler, Need
from compat.row import CompilerRow
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.system import Compiler
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import TOOLKITS

_FLAGS = "NVCC_PREPEND_FLAGS"
_COLUMNS = {"gcc": "gcc", "clang": "clang", "msvc": "msc"}


def check(toolkit: Toolkit, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the compiler with what the release's host_config.h accepts, by major version (_MSC_VER for MSVC)."""
    if not isinstance(toolkit.nvcc, Seen):
        raise NotApplicable(f"{toolkit.label} has no nvcc")
    named = {value_or(name.leads_to, "") for name in value_or(facts.toolkit.names, ())} - {""}
    if toolkit.path not in named and (named or toolkit.kind in {"conda", "wheels"}):
        raise NotApplicable(
            f"no variable, symlink or PATH entry points to {toolkit.label}, so it is not used by default"
        )
    row = matrix.compilers(toolkit.release.get())
    compiler = _used(toolkit.nvcc.value, facts.compilers.get(), row)
    version = compiler.version.get()
    accepted = _accepted(row, compiler.kind)
    if _fits(compiler, row):
        return ok(f"nvcc of CUDA {toolkit.release.get()} accepts {compiler.kind} {version}")
    return bad(
        (
            f"nvcc of CUDA {toolkit.release.get()} accepts {compiler.kind} {accepted}, "
            f"but it would call {compiler.path} ({version})"
        ),
        *_needs(row, facts, matrix),
        severity=Severity.WARNING,
        evidence=(
            Evidence.of(compiler.version, f"{compiler.label} is {version}"),
            Evidence.of(toolkit.release, f"CUDA {toolkit.release.get()}"),
            Evidence(f"{compiler.kind} {accepted}", label=f"matrix, compiler.hosts, {row.id}"),
        ),
        explains=(Symptom("gcc-too-new-for-nvcc"),),
    )


def _used(nvcc: str, compilers: tuple[Compiler, ...], row: CompilerRow) -> Compiler:
    """The compiler that this nvcc calls: told by a variable that it reads, else beside it, else on PATH."""
    directory = nvcc.rpartition("/")[0]
    unread = {_FLAGS: row.reads_flags, "NVCC_CCBIN": row.reads_ccbin}
    for compiler in compilers:
        if unread.get(compiler.chosen_by) is False:
            continue
        if compiler.chosen_by == "beside nvcc" and compiler.path.rpartition("/")[0] != directory:
            continue
        if compiler.chosen_by not in {"", "CC", "CXX"}:
            return compiler
    raise NotApplicable("no C++ compiler is on PATH")


def _number(compiler: Compiler) -> int:
    return int(compiler.version.get().partition(".")[0])


def _fits(compiler: Compiler, row: CompilerRow) -> bool:
    """Whether the compiler is within the row's bounds; an unknown lower bound excludes nothing."""
    column = _COLUMNS[compiler.kind]
    lowest = getattr(row, f"{column}_min") or 0
    return bool(lowest <= _number(compiler) <= known(row, f"{column}_max"))


def _accepted(row: CompilerRow, kind: str) -> str:
    column = _COLUMNS[kind]
    lowest, highest = getattr(row, f"{column}_min"), known(row, f"{column}_max")
    return f"{lowest} to {highest}" if lowest else f"up to {highest}"


def _needs(row: CompilerRow, facts: Facts, matrix: Matrix) -> Iterator[Need]:
    """Point nvcc at an accepted compiler that is installed; else install one."""
    for compiler in facts.compilers.get():
        if compiler.kind in {"gcc", "msvc"} and isinstance(compiler.version, Seen) and _fits(compiler, row):
            yield _naming(compiler.path, row, facts)
            return
    packaged = _packaged(row, facts, matrix)
    if packaged and row.reads_flags is not False:
        yield InstallHostCompiler(f"g++-{packaged}", _flags(f"/usr/bin/g++-{packaged}", facts))
    newest = f"gcc {row.gcc_max}" if value_or(facts.system.family, "") != "windows" else f"_MSC_VER {row.msc_max}"
    yield Advice(f"install a C++ compiler up to {newest} and pass it to nvcc with -ccbin, or install a newer CUDA")


def _naming(path: str, row: CompilerRow, facts: Facts) -> Need:
    """How this nvcc is told of a compiler: what it does not read is no remedy."""
    windows = value_or(facts.system.family, "") == "windows"
    if (row.reads_ccbin if windows else row.reads_flags) is False:
        return Advice(f"call nvcc with -ccbin {path} (it has no variable for this)")
    if windows:
        return AssignVariable("NVCC_CCBIN", path)
    return AssignVariable(_FLAGS, _flags(path, facts))


def _flags(path: str, facts: Facts) -> str:
    """Return the flags that are set, with this compiler in place of any other."""
    variables = {one.name: one.value for one in value_or(facts.configuration.variables, ())}
    kept = re.sub(r"(?:-ccbin|--compiler-bindir)[= ]+\S+", "", variables.get(_FLAGS, "")).strip()
    return f"-ccbin {path} {kept}".strip()


def _packaged(row: CompilerRow, facts: Facts, matrix: Matrix) -> int:
    """The newest accepted g++ that this release of the distribution has; 0 where none is known."""
    system = facts.system
    name, version = value_or(system.distribution_id, ""), value_or(system.distribution_version, "")
    base = value_or(system.base, ("", ""))  # Linux Mint has the compilers of its Ubuntu
    here = "-".join(base if all(base) else (name, version))
    found = [one.gcc for one in matrix.rows("compiler", "packaged") if one.id == here]
    fit = (one for one in (found[0] if found else ()) if row.gcc_max and (row.gcc_min or 0) <= one <= row.gcc_max)
    return max(fit, default=0)


RULE = Rule(TOOLKITS, check, blocks_verdict=False)
