"""What dumps say of a machine as facts, which the rules of `check` judge; what no dump says is unseen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from compat.base.errors import GpudoctorError
from compat.build import is_cuda_row
from compat.cards import NoGpuName, gpu_card_of
from compat.load import is_framework, products
from compat.matrix import Matrix, Uncovered, accepts
from compat.platform import machine_of
from compat.row import FrameworkRow
from compat.spec import Spec, normal
from compat.traits import traits_of
from compat.version import ComputeCapability, CudaVersion, DriverRelease
from doctor.commands.explain.dump import Field, Told
from doctor.commands.explain.installed import configuration_of, cudnn_of, toolkit_of
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import CudaStart, DkmsBuild, DriverFacts, Nvml
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.gpu import Gpu, GpuNow
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, UnseenError, WhyNot, all_unseen, value_or
from doctor.model.facts.system import SystemFacts
from doctor.planned.framework_from_row import framework_of_no_row, framework_of_row
from doctor.probes import independent_unseen
from doctor.rules.shared.builds import platform_of

_CUDA_FAILS = Unseen("the text says that CUDA does not start, but not why", WhyNot.FAILS)
_HIDDEN = Unseen("the text does not show it")
_DISTRIBUTIONS = (  # as os-release and lsb_release name them, and the id by which the matrix knows them
    *(
        ("Ubuntu", "ubuntu"),
        ("Debian GNU/Linux", "debian"),
        ("Red Hat Enterprise Linux", "rhel"),
        ("Rocky Linux", "rocky"),
    ),
    *(("AlmaLinux", "almalinux"), ("CentOS", "centos"), ("Fedora", "fedora"), ("Amazon Linux", "amzn")),
    *(("openSUSE Leap", "opensuse-leap"), ("Linux Mint", "linuxmint"), ("Arch Linux", "arch")),
)
_RELEASE = re.compile(r"(?:^|[^\w.])(\d+(?:\.\d+)?)(?:[^\w]|\.\d|$)")
_MACHINES = r"x86_64|aarch64|ppc64le|amd64|AMD64|arm64"
_NOTE = "as the text says"
_TORCH = "torch"
_PYTHON = "python"  # what the text's environment is called; commands are for the shell in which that one is active


def facts_of(told: Told, name: str, matrix: Matrix) -> Facts:
    """The machine that a text is about; `name` says where the text came from."""
    system = _system(told, matrix)
    bare = Facts.unseen(Machine("dump", name), _HIDDEN)._replace(
        system=system,
        driver=_driver(told),
        gpus=_gpus(told, matrix),
        toolkit=toolkit_of(told),
        configuration=configuration_of(told),
        independent=independent_unseen(Unseen("not looked for")),
    )
    known = bare._replace(environments=_environments(told, bare, matrix))
    return known._replace(cudnn=cudnn_of(told, known, matrix))


def _only(told: Told, field: Field) -> Fact[str]:
    """The value of a field; unseen where the text has several, which may be of several machines."""
    values = told.of(field)
    if not values:
        return _HIDDEN
    if len({one.value for one in values}) > 1:
        return Unseen(f"the text shows several: {', '.join(one.value for one in values[:4])}")
    return Seen(values[0].value, values[0].at)


def _part(fact: Fact[str], value: Any) -> Any:
    """Something that was read from a fact; unseen where it holds nothing of the kind."""
    if isinstance(fact, Unseen):
        return fact
    return _HIDDEN if value in (None, "") else Seen(value, fact.how)


def _system(told: Told, matrix: Matrix) -> SystemFacts:
    named, platform = _only(told, Field.SYSTEM), _only(told, Field.PLATFORM)
    text, bare = value_or(named, ""), value_or(platform, "")
    either = named if isinstance(named, Seen) else platform
    identity, version = _distribution(text)
    windows_machine = " ".join(one.value for one in told.of(Field.PYTHON) if "MSC v." in one.value)
    machine = re.search(_MACHINES, f"{bare} {text} {value_or(_only(told, Field.MACHINE), '')} {windows_machine}")
    kernel = re.match(rf"Linux-(.+?)-(?:{_MACHINES})", bare)
    glibc, secure = _only(told, Field.GLIBC), _only(told, Field.SECURE_BOOT)
    number = re.search(r"(\d{1,6}\.\d{1,6})$", value_or(glibc, ""))
    unseen: SystemFacts = all_unseen(SystemFacts, _HIDDEN.why)
    return unseen._replace(
        family=_part(either, _family(f"{text} {bare}")) if isinstance(either, Seen) else _family_by_signs(told),
        distribution=named,
        distribution_id=_part(named, identity),
        distribution_version=_part(named, version),
        machine=Seen(machine[0], _shown_at(told, either)) if machine else _machine_of_cards(told, matrix),
        kernel=_part(platform, kernel and kernel[1]),
        glibc=_part(glibc, number and number[1] if number and number[1] not in _OLD_PYTHONS else None),
        kernel_log=_all(told, Field.KERNEL_LOG),
        secure_boot=_part(secure, value_or(secure, "") == "on"),
        wsl=_part(platform, 2 if "microsoft-standard" in bare.lower() else 0),
        jetson=_part(platform, "") if isinstance(platform, Unseen) else Seen("", platform.how),
    )


_OLD_PYTHONS = frozenset({"2.2.5", "2.9", "2.10"})  # before 3.8, platform.libc_ver looked into the interpreter's file


def _family(text: str) -> str:
    if re.search(r"(?i)windows", text):
        return "windows"
    if re.search(r"(?i)mac ?os|darwin", text):
        return "macos"
    known = any(name in text for name, _ in _DISTRIBUTIONS) or re.search(r"(?i)\blinux", text)
    return "linux" if known else ""


def _distribution(text: str) -> tuple[str, str]:
    for name, identity in _DISTRIBUTIONS:
        if found := re.search(rf"{name}(.*)", text):
            version = _RELEASE.search(found[1])
            return identity, version[1] if version else ""
    return "", ""


def _shown_at(told: Told, either: Fact[str]) -> str | Place:
    """Return where the text shows what the machine is: its system, the machine itself, or the line of its Python."""
    shown = (*told.of(Field.MACHINE), *told.of(Field.PYTHON))
    return either.how if isinstance(either, Seen) else shown[0].at


def _family_by_signs(told: Told) -> Fact[str]:
    """Return the system by nvidia-smi's table, a path, or the compiler that Python was built with."""
    signs = {one.value: one.at for one in told.of(Field.FAMILY)}
    for one in told.of(Field.PYTHON):
        if sign := re.search(r"\[(GCC)\b|(MSC) v\.", one.value):
            signs.setdefault("linux" if sign[1] else "windows", one.at)
    return Seen(*signs.popitem()) if len(signs) == 1 else _HIDDEN


_OF_CARDS = {"": "x86_64", "x86_64": "x86_64", "sbsa": "aarch64"}


def _machine_of_cards(told: Told, matrix: Matrix) -> Fact[str]:
    """Return the architecture of the machines that a card sits in: x86_64 but for NVIDIA's own CPUs."""
    for one in told.of(Field.GPU):
        try:
            machine = machine_of(gpu_card_of(one.value.partition(" ")[2], matrix).id, matrix)
        except (Uncovered, NoGpuName):
            continue
        arch = _OF_CARDS.get(machine.arch if machine else "")
        return Seen(arch, one.at._replace(label=f"{one.at}: the GPU's machines")) if arch else _HIDDEN
    return _HIDDEN


def _driver(told: Told) -> DriverFacts:
    release, cuda = _only(told, Field.DRIVER), _only(told, Field.DRIVER_CUDA)
    if not told.of(Field.DRIVER):
        release = _only(told, Field.DRIVER_PACKAGE)
    unseen: DriverFacts = all_unseen(DriverFacts, _HIDDEN.why)
    started, failed = told.of(Field.CUDA_WORKS), told.of(Field.CUDA_FAILS)
    listed = told.of(Field.GPU)
    asked = told.of(Field.DRIVER) or started  # NVML, or CUDA itself
    return unseen._replace(
        nvml=Seen(Nvml("", "ok", "", 0), listed[0].at) if listed and asked else _HIDDEN,
        flavour=_only(told, Field.FLAVOUR),
        modules_loaded=_all(told, Field.MODULE),
        dkms=_dkms(told),
        module_release=_parsed(release, DriverRelease.parse) if told.of(Field.FLAVOUR) else _HIDDEN,
        release=_parsed(release, DriverRelease.parse),
        cuda=_parsed(cuda, CudaVersion.parse),
        cuda_start=Seen(CudaStart("ok", 0, "", "the text says so"), started[0].at)
        if started and not failed
        else _CUDA_FAILS
        if failed
        else _HIDDEN,
    )


def _all(told: Told, field: Field) -> Fact[tuple[str, ...]]:
    lines = told.of(field)
    return Seen(tuple(one.value for one in lines), lines[0].at) if lines else _HIDDEN


def _dkms(told: Told) -> Fact[tuple[DkmsBuild, ...]]:
    lines = told.of(Field.DKMS)
    return Seen(tuple(DkmsBuild(*one.value.split(" ")) for one in lines), lines[0].at) if lines else _HIDDEN


def _parsed(fact: Fact[str], parse: Any) -> Any:
    if isinstance(fact, Unseen):
        return fact
    try:
        return Seen(parse(fact.value.strip()), fact.how)
    except (GpudoctorError, ValueError):
        return Unseen(f"{fact.value[:40]!r} is not a version")


def _gpus(told: Told, matrix: Matrix) -> Fact[tuple[Gpu, ...]]:
    by_number: dict[int, str] = {}
    lines: dict[int, Place] = {}
    for one in told.of(Field.GPU):
        number, _, name = one.value.partition(" ")
        if _short(by_number.setdefault(int(number), _whole(name))) != _short(name):
            return Unseen("the text shows GPUs of several machines")
        lines.setdefault(int(number), one.at)
    known = {int(n): (text, one.at) for one in told.of(Field.CAPABILITY) for n, _, text in [one.value.partition(" ")]}
    if not by_number:
        return _HIDDEN
    return Seen(
        tuple(_gpu(number, name, lines[number], known.get(number), matrix) for number, name in by_number.items()),
        min(lines.values()),
    )


def _whole(name: str) -> str:
    return re.sub(r"\.\.\.?$", "", name).strip()


def _short(name: str) -> str:
    """The name without its maker, as older drivers print it."""
    return re.sub(r"(?i)^nvidia ", "", _whole(name)).lower()


def _gpu(number: int, name: str, how: Place, said: tuple[str, Place] | None, matrix: Matrix) -> Gpu:
    unseen: Gpu = all_unseen(Gpu, _HIDDEN.why)
    now: GpuNow = all_unseen(GpuNow, _HIDDEN.why)
    capability: Fact[ComputeCapability] = _HIDDEN
    if said:
        capability = _parsed(Seen(*said), ComputeCapability.parse)
    else:
        try:
            card = gpu_card_of(name, matrix)
            if len(card.capabilities) == 1:
                capability = Seen(card.capabilities[0], how._replace(label=f"{how}, and the matrix, gpu.products"))
        except (Uncovered, NoGpuName) as error:
            capability = Unseen(str(error))
    return unseen._replace(
        number=number, name=Seen(name, how), capability=capability, now=now, refused="", refused_code=0
    )


def _environments(told: Told, facts: Facts, matrix: Matrix) -> Fact[tuple[Environment, ...]]:
    packages = [*told.of(Field.PACKAGE), *told.of(Field.CONDA_PACKAGE)]
    python = _only(told, Field.PYTHON)
    if not packages:
        return _HIDDEN
    number = re.match(r"\d+\.\d+(?:\.\d+)?", value_or(python, ""))
    by_conda = {normal(one.value.partition("==")[0]) for one in told.of(Field.CONDA_PACKAGE)} & {"torch", "pytorch"}
    made = tuple(_frameworks(told, facts, matrix))
    return Seen(
        (
            Environment(
                prefix=_PYTHON,
                asked_by="the text",
                interpreter=_PYTHON,
                kind="conda" if by_conda else "venv",
                python=_part(python, number and number[0]),
                sites=_HIDDEN,
                distributions=Unseen("the text lists only some of the packages"),
                frameworks=Seen(made, "the text"),
                overlaps=_HIDDEN,
                externally_managed=False,
                installers=("pip",),
            ),
        ),
        "the text",
    )


def _frameworks(told: Told, facts: Facts, matrix: Matrix) -> Iterable[Framework]:
    seen: dict[str, set[str]] = {}
    where: dict[tuple[str, str], Place] = {}
    for one in (*told.of(Field.PACKAGE), *told.of(Field.CONDA_PACKAGE)):
        name, _, version = one.value.partition("==")
        package = "torch" if normal(name) == "pytorch" else normal(name)
        seen.setdefault(package, set()).add(version)
        where.setdefault((package, version), one.at)
    cuda = _only(told, Field.TORCH_CUDA)
    for package, versions in seen.items():
        public = {one.partition("+")[0] for one in versions}
        if package in products() and is_framework(package) and len(public) == 1 and _is_framework(package):
            version = max(versions, key=len)  # with its local part, where it is told
            said = cuda if package == _TORCH else _HIDDEN
            yield _framework(
                package,
                version,
                Seen(said.value, where[package, version]) if isinstance(said, Seen) else said,
                facts,
                matrix,
            )


def _is_framework(package: str) -> bool:
    """Return whether it has a CUDA of its own, or a remedy for torch must bring it along: torchvision."""
    return not traits_of(package).runs_on or package in traits_of(_TORCH).followers


def _framework(package: str, version: str, said: Fact[str], facts: Facts, matrix: Matrix) -> Framework:
    """The build that the text names, from its row; what the text says of its CUDA counts more than the row."""
    public, _, local = version.partition("+")
    build = local or ("cpu" if value_or(said, "") == "None" else "")
    spec = Spec(package, f"=={public}", build, ())
    row = _row(spec, public, said, facts, matrix)
    made = framework_of_row(row, spec, _PYTHON, matrix, _NOTE) if row else framework_of_no_row(spec, _PYTHON, _NOTE)
    made = made._replace(version=version if local or not row else made.version)
    if re.fullmatch(r"\d+\.\d+.*", value_or(said, "")) and not isinstance(made.cuda, Seen):
        made = made._replace(cuda=_parsed(_part(said, ".".join(value_or(said, "").split(".")[:2])), CudaVersion.parse))
    return made


def _row(spec: Spec, public: str, said: Fact[str], facts: Facts, matrix: Matrix) -> FrameworkRow | None:
    """The row of that build on that platform; None where it is not clear which."""
    try:
        platform = platform_of(facts)
    except UnseenError:
        return None
    rows = matrix.framework_rows(spec.name, public)
    here = [row for row in rows if platform.os_family in row.os and platform.arch in row.arch]
    cuda = ".".join(value_or(said, "").split(".")[:2])
    if spec.build:
        here = [row for row in here if row.build == spec.build]
    elif re.fullmatch(r"\d+\.\d+", cuda):
        here = [row for row in here if is_cuda_row(row) and accepts(row.cuda or "", CudaVersion.parse(cuda))]
    elif traits_of(spec.name).tagged:
        return None  # a tagged package without a tag may be any of its builds
    return here[0] if here and (len({row.build for row in here}) == 1 or not traits_of(spec.name).tagged) else None
