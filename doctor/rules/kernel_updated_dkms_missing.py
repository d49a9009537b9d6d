"""The kernel changed, and no nvidia module was built for it."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, BuildKernelModule, InstallDriver, InstallModulePackage, Need, RestartMachine
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import DkmsBuild, follows, kernel_order
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.cards import driver_needed, generations, last_branch
from doctor.rules.shared.conditions import module_is_loaded, need_own_kernel
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_linux

_GONE, _DKMS = "gone", "dkms"
_RIVALS = frozenset({"nouveau", "nova_core"})
_COMPILER = r"((?:gcc|g\+\+|clang)-\d{1,2})'?: (?:command )?(?:not found|No such file)"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Look for a module of the running kernel (on a root: of its newest) among those of other kernels."""
    need_linux(facts)
    live = facts.machine.kind == "live"
    if live:
        need_own_kernel(facts)
        if module_is_loaded(facts):
            return ok("the running kernel has its nvidia module")
    # Kernels with a module of their own; raises NotApplicable where neither file nor DKMS knows one.
    files, builds = facts.driver.module_files.get(), _builds(facts)
    if not files and not builds:
        raise NotApplicable("no nvidia kernel module is installed, for any kernel")
    others = frozenset({one.kernel for one in files} | {one.kernel for one in builds if one.state == "installed"})
    kernel = facts.system.kernel.get()
    if kernel in others:
        return ok(f"an nvidia module is installed for kernel {kernel}")
    answer = bad(
        _summary(facts, kernel, others),
        *_needs(facts, matrix, kernel, others),
        evidence=_evidence(facts, kernel),
        explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes"), Symptom("nouveau-in-use")),
    )
    return answer if live else answer._replace(severity=Severity.WARNING)


def _builds(facts: Facts) -> tuple[DkmsBuild, ...]:
    return tuple(one for one in value_or(facts.driver.dkms, ()) if one.module.startswith("nvidia"))


def _failed(facts: Facts, kernel: str) -> DkmsBuild | None:
    return next((one for one in _builds(facts) if (one.kernel, one.state) == (kernel, "failed")), None)


def _summary(facts: Facts, kernel: str, others: frozenset[str]) -> str:
    of = f", only for {', '.join(sorted(others))}" if others else "; DKMS has the driver but no built module"
    if value_or(facts.driver.module_source, "") == _GONE:
        return f"the modules of the running kernel {kernel} were deleted; the nvidia module exists{of}"
    failed = _failed(facts, kernel)
    if failed:
        return f"no nvidia module is built for kernel {kernel}{of}: DKMS failed to build {failed.release} for it"
    return f"no nvidia module is built for kernel {kernel}{of}"


def _needs(facts: Facts, matrix: Matrix, kernel: str, others: frozenset[str]) -> tuple[Need, ...]:
    """A newer kernel that has its module only wants a restart into it; else whoever makes modules here makes one."""
    source = value_or(facts.driver.module_source, _DKMS)
    if source == _GONE:
        return (RestartMachine(),)
    older = [other for other in others if kernel_order(other) < kernel_order(kernel)]
    back = (_started(max(older, key=kernel_order)),) if older and facts.machine.kind == "live" else ()
    restart = (RestartMachine(),) if any(follows(other, kernel) for other in others) else ()
    return (*restart, *_made(facts, matrix, kernel, source), *back)


def _made(facts: Facts, matrix: Matrix, kernel: str, source: str) -> tuple[Need, ...]:
    """While another driver holds the card the new module cannot be loaded: modprobe fails."""
    held = any(card.driver in _RIVALS for card in value_or(facts.pci, ()))
    failed = _failed(facts, kernel)
    if source not in {_DKMS, ""}:
        return (InstallModulePackage(kernel, source, load=not held),)
    rebuilt = BuildKernelModule(kernel, load=not held)
    if failed is None:
        return (rebuilt,) if source else (driver_needed(facts, matrix),)
    import re  # late: few builds fail

    compiler = re.search(_COMPILER, failed.why)
    return (rebuilt._replace(packages=(compiler[1],)),) if compiler else _newer(facts, matrix, failed)


def _newer(facts: Facts, matrix: Matrix, failed: DkmsBuild) -> tuple[Need, ...]:
    """A later branch, where one drives the card: the one that is there is older than the kernel."""
    branch, last = int(failed.release.partition(".")[0]), last_branch(generations(facts, matrix))
    need = driver_needed(facts, matrix)
    if last is not None and last <= branch:
        text = f"Keep a kernel that supports driver {branch}: no newer branch supports this card."
        return (Advice(text),)
    return (
        need if last is not None or not isinstance(need, InstallDriver) else need._replace(versions=f">={branch + 1}"),
    )


def _started(kernel: str) -> Need:
    text = f"In the boot menu, start kernel {kernel}, which has its module (GRUB: 'Advanced options')."
    return Advice(text)


def _evidence(facts: Facts, kernel: str) -> tuple[Evidence, ...]:
    return (
        Evidence.of(facts.system.kernel, f"kernel {kernel}"),
        *(Evidence(f"for kernel {one.kernel}", file=one.path) for one in value_or(facts.driver.module_files, ())[:4]),
        *(
            Evidence(
                f"{one.module} {one.release}: {one.state}" + (f" for {one.kernel}" if one.kernel else ""), label="DKMS"
            )
            for one in _builds(facts)
        ),
        *(Evidence(one.why, label="make.log") for one in _builds(facts) if one.why and one.kernel == kernel),
    )


RULE = Rule(MACHINE, check)
