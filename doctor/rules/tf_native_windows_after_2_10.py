"""TensorFlow on native Windows, in a release that has no GPU code for it any more."""

from __future__ import annotations

from compat.build import covers, gpu_packages, is_cuda_row, name_of, release_key
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.row import FrameworkRow
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import has_wheel, installed
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of, need_gpu

_WSL, _OF_DOCKER = 2, "docker-desktop"  # Docker's own distributions are nobody's to work in
_WHOLE = "tensorflow-intel"
_PACKAGES = ("tensorflow", "tensorflow-gpu", _WHOLE)


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """BAD for a release newer than the last one that was published with CUDA for Windows."""
    if framework.package not in _PACKAGES:
        raise NotApplicable(f"{framework.package} is not TensorFlow")
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on native Windows")
    names = {one.name for one in installed(environment_of(framework, facts))}
    if framework.package == _WHOLE and "tensorflow" in names:
        raise NotApplicable("checked with the tensorflow package that requires it")
    if facts.is_running:
        need_gpu(facts)
    last = _last_with_cuda(matrix)
    if release_key(framework.version) <= release_key(last.versions) or covers(last, framework.version):
        return ok(f"TensorFlow up to {name_of(last)} uses the GPU on native Windows")
    return _bad(framework, facts, last)


def _last_with_cuda(matrix: Matrix) -> FrameworkRow:
    """The newest release of TensorFlow with a CUDA build for Windows; raises Uncovered."""
    rows: list[FrameworkRow] = [
        row
        for package in gpu_packages("tensorflow")
        if matrix.has(package)
        for row in matrix.rows(package, "builds")
        if "windows" in row.os and is_cuda_row(row)
    ]
    if not rows:
        raise Uncovered("TensorFlow with CUDA on Windows")
    return max(rows, key=lambda row: release_key(row.versions))


def _bad(framework: Framework, facts: Facts, last: FrameworkRow) -> Answer:
    is_meant = facts.is_running or "gpus" in facts.assumed
    return bad(
        f"{framework.label} has no GPU code on native Windows; {name_of(last)} is the last version with it",
        Advice(_in_wsl(facts)),
        _old(last, environment_of(framework, facts)),
        severity=Severity.ERROR if is_meant else Severity.WARNING,
        evidence=(
            Evidence.of(facts.system.family, "native Windows"),
            Evidence(f"the last build with CUDA {last.cuda} for Windows", label=f"matrix, {last.id}"),
        ),
        explains=(Symptom("cpu-only-wheel", framework.label), Symptom("framework-wants-other-cuda", framework.label)),
    )


def _old(last: FrameworkRow, environment: Environment) -> Need:
    """The last release with CUDA; as text where it has no wheel for the environment's Python.

    Later ones keep their files in tensorflow-intel (METADATA of tensorflow 2.11.0 to 2.18.0 for Windows), which would
    stay, and own the same files.
    """
    if has_wheel(last, environment):
        if any(one.name == _WHOLE for one in installed(environment)):
            return ChangePackages((f"{last.package}{last.versions}",), environment.interpreter, (_WHOLE,))
        return InstallPackage(last.package, last.versions, environment.interpreter)
    pythons = last.python or ()
    return Advice(
        f"create an environment with Python {pythons[-1]} and install {last.package}{last.versions} "
        f"there: it has wheels only for Python {', '.join(pythons)}"
    )


def _in_wsl(facts: Facts) -> str:
    """Which Linux of WSL to use, where Windows says which are there: the default one, else one of WSL 2."""
    there = sorted(
        value_or(facts.system.wsl_distributions, ()), key=lambda one: (one.version != _WSL, not one.is_default)
    )
    there = [one for one in there if not one.name.startswith(_OF_DOCKER)]
    if not there:
        return "install WSL 2, and TensorFlow for Linux inside it, which uses the GPU"
    name, version, _ = there[0]
    first = "" if version == _WSL else f"convert {name} to WSL 2 (wsl --set-version {name} 2), "
    return (
        f"{first}install TensorFlow for Linux inside {name} (wsl -d {name}): it uses the GPU; run gpudoctor there too"
    )


RULE = Rule(FRAMEWORKS, check)
