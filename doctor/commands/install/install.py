"""What `gpudoctor install` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re

from compat.base.choice import one_of
from compat.base.errors import GpudoctorError
from compat.base.paths import key_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.need import InstallCudnn, InstallPackage, InstallToolkit, Need, as_json
from compat.platform import absent
from compat.spoken import architecture_of, distribution_of, system_of
from compat.target import TargetMachine
from compat.version import CudaVersion, CudnnVersion
from doctor.commands.install.driver_choice import MODULES as _MODULES
from doctor.commands.install.driver_choice import DriverOrder, driver_plan
from doctor.commands.install.package_choice import PackageOrder, package_plan
from doctor.host import Host
from doctor.host.paths import is_same_place
from doctor.model.encode import encode_plan
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.output.document import TextStyle
from doctor.output.formats.json import encoded
from doctor.output.page import Page
from doctor.prescribe.target import target_of
from doctor.rules.shared.cudnn_use import built_for, right_copy
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import FRAMEWORKS
from installers.bundle import from_directory
from installers.choose import methods_for, plan_for
from installers.cuda_order import CudaOrder, cuda_of
from installers.effect import ToolkitInstalled
from installers.errors import nearest
from installers.method import ARCHIVE, COMPONENTS, PREFIX, Method
from installers.methods.cudnn_archive import NoSuchArchive, Order, archive_plan
from installers.methods.wheel import interpreter
from installers.mirrors import from_mirror
from installers.nvcc_host import accepted_compiler
from installers.own_directory import nvcc_on_path
from installers.packages import DISTRIBUTIONS, PACKAGE_MANAGERS, manager_of
from installers.plan import Plan, Target
from installers.render import commands, for_administrators, kept_first, told_lines, undone_by, undone_if_new
from installers.render.parts import numbered
from installers.requirement import spoken, wanted_version
from installers.step import Step, kind_of
from installers.steps.add_to_path import AddToPath
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.note import Note

SCHEMA = "gpudoctor.plan/1"
_SYSTEMS = ("linux", "windows", "wsl")
_ARCHES = ("x86_64", "sbsa", "jetson", "ppc64le")
_ARCHIVE = "archive"  # the way that a directory of one's own asks for
_SCRIPTS, _PLAYBOOK = {"linux": "bash", "windows": "powershell"}, "ansible"
_GIB = 1 << 30
_USUAL = "/usr/local/cuda"  # the CUDA directory of a Linux machine that names none


class InstallOrder(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    product: str
    version: str = ""
    method: str = ""
    cuda: str = ""
    home: str = ""
    archive: str = ""
    sha256: str = ""
    os_family: str = ""
    arch: str = ""
    python: str = ""
    script: str = ""
    style: str = "text"
    prefix: str = ""
    components: str = ""
    module: str = ""
    any_name: bool = False  # a distribution or release that the matrix does not know
    distribution: str = ""  # "ubuntu-24.04", "rocky-9": a plan for another machine
    framework: str = ""  # of a stack: "torch", "tensorflow==1.4"
    gpus: tuple[str, ...] = ()  # of a stack or a driver, as people name them
    mirror: str = ""  # address that has NVIDIA's files under NVIDIA's paths
    source: str = ""  # directory that has the files under their names


class BadOrder(GpudoctorError):
    """What was asked for cannot be planned as it was said."""


class Prepared(NamedTuple):
    """A plan, and the machine that it is for."""

    plan: Plan
    target: Target
    facts: Facts | None  # None for another machine, named by --os or --arch


def ask(asked: InstallOrder, terminal: TextStyle) -> str:
    """The text to print: the steps, the plan as JSON, or a script.

    Raises BadOrder, NoSuchName, VersionError, NoSuchArchive and Uncovered for what the user got wrong.
    """
    one_of("format", asked.style, ("text", "json"))
    matrix = Matrix.of_user()
    return shown(prepare(asked, matrix), asked.script, asked.style, matrix, terminal)


def shown(prepared: Prepared, script: str, style: str, matrix: Matrix, terminal: TextStyle) -> str:
    """A plan as a script for a shell, as JSON or as numbered steps; raises NoSuchName, BadOrder."""
    one_of("format", style, ("text", "json"))
    if script:
        return script_of(script, prepared)
    if style == "json":
        return encoded(_encoded(prepared, matrix)) + "\n"
    return _page(prepared, terminal)


def prepare(asked: InstallOrder, matrix: Matrix) -> Prepared:
    """The plan for what was asked; of a machine that --os or --arch names, nothing here is read."""
    asked = _on_its_board(_checked(asked), matrix)
    if asked.os_family or asked.arch or asked.distribution:
        return _planned(asked, _elsewhere(asked), None, matrix)
    need_cuda_here(host_with("").os_family, matrix)
    from doctor.probes import ProbeRequest  # late, as what follows: another machine's plan needs no probes
    from doctor.probes import look as look_at

    facts = look_at(host_with(asked.prefix or asked.home), ProbeRequest((asked.python,) if asked.python else ()))
    target = target_of(facts, InstallPackage(asked.product, interpreter=_interpreter(facts)))
    _need_64_bits(asked, target, facts)
    found = _planned(asked, target, facts, matrix)
    return found._replace(plan=_without_what_is_so(found.plan, facts))


def _on_its_board(asked: InstallOrder, matrix: Matrix) -> InstallOrder:
    """Return the order with the architecture of the only boards that have a named GPU, unless this may be one."""
    if asked.arch or not asked.gpus:
        return asked
    from compat.cards import gpu_cards_of  # late: mostly the machine shows its cards
    from doctor.commands.matrix.can import machine_arch

    arch = machine_arch(gpu_cards_of(asked.gpus, matrix), matrix)
    is_elsewhere = asked.os_family or asked.distribution or host_with("").kernel_machine() == "x86_64"
    return asked._replace(arch=arch) if arch != "x86_64" and is_elsewhere else asked


def need_cuda_here(os_family: str, matrix: Matrix) -> None:
    """Raise BadOrder on a system that there is no CUDA for."""
    row = absent("", "", TargetMachine(os_family=os_family, arch=""), matrix)
    if row:
        raise BadOrder(f"{row.summary}: for another machine, use --os linux or --os windows")


def _need_64_bits(asked: InstallOrder, target: Target, facts: Facts) -> None:
    """Raise BadOrder where wheels would go into a Python of 32 bits: none with CUDA was ever published for one."""
    if asked.framework:
        from doctor.commands.install.stack_environment import own_of  # late: only this order composes plans

        is_for_python = own_of(target, facts) != ""
    else:
        is_for_python = asked.product not in {"cuda", "cudnn", "driver"} or asked.method == "wheel"
    short = {one.interpreter for one in value_or(facts.environments, ()) if value_or(one.machine, "") == "i386"}
    if is_for_python and not asked.any_name and target.python in short:
        raise BadOrder(
            f"{target.python} is a 32-bit Python, and CUDA wheels need a 64-bit Python: give one with --python"
        )


def _without_what_is_so(plan: Plan, facts: Facts) -> Plan:
    """Without the directories that Path has already."""
    searched = {key_of(one.path, "windows") for one in value_or(facts.loader.search, ())}
    is_so = (isinstance(one, AddToPath) and key_of(one.directory, "windows") in searched for one in plan.steps)
    return plan._replace(steps=tuple(one for one, done in zip(plan.steps, is_so, strict=True) if not done))


def _planned(asked: InstallOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Prepared:
    if not asked.framework:
        return Prepared(_plan(asked, target, facts, matrix), target, facts)
    from doctor.commands.install.stack import StackOrder, stack_plan  # late: only this order composes plans

    named_arch = facts is not None or asked.arch != ""
    order = StackOrder(asked.framework, asked.version, asked.gpus, named_arch)
    stack = stack_plan(order, target, facts, matrix)
    return Prepared(stack.plan, stack.target, facts)


def host_with(home: str, libraries: str = "") -> Host:
    """This machine, with a CUDA directory and one of libraries that it need not have told of; "" for none."""
    from doctor.host.live import LiveHost

    environ = dict(os.environ)
    if home:
        environ["CUDA_HOME"] = home
    if libraries:
        environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (environ.get("LD_LIBRARY_PATH"), libraries)))
    return LiveHost(environ)


def _checked(asked: InstallOrder) -> InstallOrder:
    inside = re.fullmatch(r"wsl2?(?:[\s:_-]+(.+))?", asked.distribution.strip().casefold())
    if inside:
        asked = asked._replace(os_family="wsl", distribution=inside[1] or "")
    asked = asked._replace(
        os_family=asked.os_family and system_of(asked.os_family, _SYSTEMS),
        arch=asked.arch and architecture_of(asked.arch, _ARCHES),
        method=asked.method and _method_name(asked),
        module=asked.module and one_of("kernel module", asked.module, _MODULES),
    )
    if asked.method:
        _require_method(asked)
    if asked.prefix and asked.home:
        raise BadOrder("use only one of --prefix (a new directory) and --cuda-home (a CUDA directory)")
    if asked.cuda and "." in asked.cuda:
        CudaVersion.parse(asked.cuda)
    elif asked.cuda and not re.fullmatch(r"[0-9]+", asked.cuda):
        raise BadOrder(f"{asked.cuda!r} is not a CUDA version such as 12.8")
    if asked.script and asked.style != "text":
        raise BadOrder("--script prints a script: omit --format")
    paths = {
        "prefix": asked.prefix,
        "cuda-home": asked.home,
        "archive": asked.archive,
        "bundle": asked.source,
        "python": asked.python,
    }
    for name, said in paths.items():
        if not said.isprintable():
            raise BadOrder(f"--{name} {said!r} contains characters that cannot be printed")
    digest = asked.sha256.lower()
    if digest and (len(digest) != 64 or set(digest) - set("0123456789abcdef")):
        raise BadOrder("--sha256 needs the 64 hexadecimal digits of `sha256sum FILE`")
    source = _absolute(asked.source, asked.os_family)
    prefix, home = (_absolute(one, asked.os_family) for one in (asked.prefix, asked.home))
    archive = _absolute(asked.archive, asked.os_family)  # a script works from any directory
    return asked._replace(sha256=digest, prefix=prefix, home=home, archive=archive, source=source)


def _method_name(asked: InstallOrder) -> str:
    """Return the name of the method; that of a package manager (apt, dnf) is "packages"."""
    return "packages" if asked.method.casefold() in PACKAGE_MANAGERS else asked.method


def _require_method(asked: InstallOrder) -> Method:
    """The method of that name, which takes all that is shown; raises BadOrder, NoSuchName."""
    known = methods_for(asked.product)
    if not known:
        raise BadOrder(f"{asked.product} has only one installation method: omit --method")
    method = known[one_of("method", asked.method, known)]
    for option, is_said in ((ARCHIVE, asked.archive), (PREFIX, asked.prefix), (COMPONENTS, asked.components)):
        if is_said and option not in method.options:
            raise BadOrder(f"--method {asked.method} has no option --{option}: omit it")
    return method


def _absolute(directory: str, os_family: str) -> str:
    """Another machine's directory is taken as it is shown."""
    return os.path.abspath(os.path.expanduser(directory)) if directory and not os_family else directory


def _elsewhere(asked: InstallOrder) -> Target:
    wsl = asked.os_family == "wsl"
    family = "linux" if wsl else asked.os_family or "linux"
    arch = asked.arch or "x86_64"
    if family == "windows" and arch != "x86_64":
        raise BadOrder(f"for Windows, gpudoctor knows only x86_64, not {arch}")
    name, version = _distribution(asked.distribution or ("ubuntu" if wsl else ""), family)  # what WSL installs
    return Target(
        os_family=family,
        distribution=name,
        distribution_version=version,
        arch=arch,
        wsl=wsl,
        live=False,
        python=asked.python,
        environment_kind="",
        cuda_major=0,
    )


def _distribution(said: str, os_family: str) -> tuple[str, str]:
    """Name and version of "ubuntu-24.04", "opensuse-leap-15.6", "wsl-ubuntu-24.04"; raises BadOrder, NoSuchName."""
    if not said:
        return "", ""
    name, version = distribution_of(said)
    if os_family != "linux" or not name:
        raise BadOrder(f"{said!r} is not a Linux distribution such as ubuntu-24.04 or rocky-9")
    return one_of("distribution", name, DISTRIBUTIONS), version


def _interpreter(facts: Facts) -> str:
    return next((one.interpreter for one in value_or(facts.environments, ())), "")


def _plan(asked: InstallOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    if asked.mirror and asked.source:
        raise BadOrder("give only one of --mirror (an address) and --bundle (a directory)")
    plan = _plan_of(asked, target, facts, matrix)
    if asked.mirror:
        return from_mirror(plan, asked.mirror)
    return from_directory(plan, asked.source, here=facts is not None) if asked.source else plan


def _plan_of(asked: InstallOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    if asked.product == "cudnn":
        return _cudnn(asked, target, facts, matrix)
    if asked.product == "cuda":
        return _with_compiler(_cuda(asked, target, facts, matrix), target, matrix)
    if asked.product == "driver":
        return driver_plan(DriverOrder(asked.version, asked.module, asked.gpus), target, facts, matrix)
    order = PackageOrder(asked.product, asked.version, asked.cuda, asked.any_name)
    return _and_looked_for(*package_plan(order, target, facts, matrix))


def _cuda(asked: InstallOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    asked = _with_a_way(asked, target)
    ordered = _require_method(asked).ordered if asked.method else None
    if ordered:
        if facts is not None:
            _need_no_other(asked, facts)
        home, parts = asked.prefix or asked.home, tuple(filter(None, asked.components.split(",")))
        if asked.components and not parts:
            raise BadOrder("--components needs names, as in cudart,nvcc")
        version = asked.version or _newest_for(target)
        order = CudaOrder(
            version=version,
            home=home,
            own=asked.prefix != "",
            components=parts,
            archive=asked.archive,
            sha256=asked.sha256,
        )
        plan = ordered(order, target, matrix)
        return _with_path(plan, _usual_home(version), target) if asked.method == "local" else plan
    version = asked.version if re.fullmatch(r"[0-9]{1,2}", asked.version) else _minor(asked.version, matrix)
    spec = f"=={version}.*" if version else ""
    plan = _by_method(asked, InstallToolkit(spec, asked.home), target, matrix)
    if asked.method in {"", "packages"} and manager_of(target) in {"apt", "yum", "dnf", "zypper"}:
        plan = _with_path(plan, _usual_home(version), target)
    return _and_looked_for(plan, InstallToolkit(spec))


def _usual_home(version: str) -> str:
    return f"/usr/local/cuda-{version}" if "." in version else _USUAL


def _with_path(plan: Plan, home: str, target: Target) -> Plan:
    """With the line by which nvcc is found, before the check; a conda environment has its own."""
    if target.environment_kind == "conda" or not any(isinstance(step, Command) for step in plan.steps):
        return plan
    return _before_check(plan, nvcc_on_path(home))


def _before_check(plan: Plan, *steps: Step) -> Plan:
    at = next((at for at, step in enumerate(plan.steps) if isinstance(step, Check)), len(plan.steps))
    return plan._replace(steps=(*plan.steps[:at], *steps, *plan.steps[at:]))


def _with_compiler(plan: Plan, target: Target, matrix: Matrix) -> Plan:
    """With a word on the compiler that nvcc calls, where a whole toolkit comes."""
    cudas = [wanted_version(one.spec) for one in plan.effects or () if isinstance(one, ToolkitInstalled)]
    return _before_check(plan, *accepted_compiler(cuda_of(cudas[0]), target, matrix)) if cudas and cudas[0] else plan


def _minor(version: str, matrix: Matrix) -> str:
    """Major and minor of a release; raises Uncovered for one that there is none of, or that is newer than the rows."""
    return str(matrix.toolkit(CudaVersion.parse(version)).cuda) if version else ""


def _with_a_way(asked: InstallOrder, target: Target) -> InstallOrder:
    """A directory of one's own asks for archives, and so do components."""
    if not asked.method and (asked.prefix or asked.components):
        return asked._replace(method=_ARCHIVE)
    if asked.archive and not asked.method:
        raise BadOrder("give the kind of the file: --method runfile, exe or local")
    for name in _require_method(asked).names if asked.method else ():
        if name.method == asked.method and name.os_family not in {"", target.os_family}:
            raise BadOrder(f"{asked.method} is for {name.os_family}, but this plan is for {target.os_family}")
    return asked


def _newest_for(target: Target) -> str:
    """The newest CUDA major that the driver runs; "" if unknown: then the order must give it."""
    return str(target.cuda_major) if target.cuda_major else ""


def _need_no_other(asked: InstallOrder, facts: Facts) -> None:
    """Raise BadOrder where the directory holds another CUDA: two of them in one place are neither."""
    home = (asked.prefix or asked.home).rstrip("/")
    for one in value_or(facts.toolkit.toolkits, ()):
        cuda = value_or(one.cuda, None)
        inside = home in {one.path, *one.links}
        if home and inside and cuda and not f"{asked.version}.".startswith(f"{cuda}."):
            raise BadOrder(f"{one.path} contains CUDA {cuda}: give another directory for CUDA {asked.version}")


def _and_looked_for(plan: Plan, need: Need) -> Plan:
    """With a last step that looks for what was installed, where gpudoctor installs something at all."""
    if any(isinstance(step, Check) for step in plan.steps) or not any(isinstance(one, Command) for one in plan.steps):
        return plan
    shown = as_json(need)
    name = {"cuda": "CUDA", "cudnn": "cuDNN"}.get(shown.product, shown.product)
    why = f"expected: {name}{spoken(shown.spec)} found, no errors"
    return plan._replace(steps=(*plan.steps, Check(why, (), need)))


def _by_method(asked: InstallOrder, need: Need, target: Target, matrix: Matrix) -> Plan:
    if not asked.method:
        return plan_for(need, target, matrix)
    if asked.method == "conda" and target.environment_kind not in {"", "conda"}:
        raise BadOrder(f"{target.prefix} is not a conda environment: give its interpreter with --python")
    return _require_method(asked).plan(need, target, matrix)


def _cudnn(asked: InstallOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Plan:
    if not asked.version:
        need, asked = _wanted(asked, facts, matrix)
        if not (asked.method or asked.home or asked.prefix or asked.archive):
            plan = plan_for(need, target_of(facts, need) if facts else target, matrix)
            return _and_looked_for(plan, need)
    if asked.method not in {"", _ARCHIVE}:
        build = asked.cuda if asked.method == "packages" else asked.cuda.partition(".")[0]
        need = InstallCudnn(f"=={asked.version}", asked.home, build)
        plan = _by_method(asked, need, target, matrix)
        return _and_looked_for(plan, _of_method(asked, need, target))
    said, said_home = asked.cuda, asked.home
    if facts is not None and not asked.prefix:
        asked = _at_a_toolkit(asked, facts)
    version, home = CudnnVersion.parse(asked.version), asked.prefix or asked.home
    order = Order(
        version=version, cuda=asked.cuda, home=home, archive=asked.archive, sha256=asked.sha256, own=asked.prefix != ""
    )
    try:
        plan = archive_plan(order, target, matrix)
    except NoSuchArchive as error:
        if said == asked.cuda:
            raise
        raise BadOrder(f"{error} ({home} contains CUDA {asked.cuda}; for another one, use --cuda-version)") from error
    if home.startswith(f"{_USUAL}-") and not said_home and facts is not None:
        plan = _with_a_note(plan, home, facts)
    is_usual = not (asked.method or said_home or asked.prefix or asked.archive)
    return _or_by_packages(plan, asked, target, matrix) if is_usual and target.distribution else plan


def _or_by_packages(plan: Plan, asked: InstallOrder, target: Target, matrix: Matrix) -> Plan:
    """With a word on the packages of the distribution, where they have that release: an upgrade keeps them whole."""
    need = InstallCudnn(f"=={asked.version}", "", asked.cuda)
    try:
        other = _by_method(asked._replace(method="packages", home=""), need, target, matrix)
    except (GpudoctorError, Uncovered):
        return plan
    if not any(isinstance(step, Command) for step in other.steps):
        return plan
    words = ("gpudoctor", "install", "cudnn", asked.version, *(("--cuda-version", asked.cuda) if asked.cuda else ()))
    where = ("--distribution", asked.distribution) if asked.distribution else ()
    note = Note(f"it is also available as a package: {' '.join((*words, *where, '--method', 'packages'))}")
    return plan._replace(steps=(*plan.steps, note))


def _with_a_note(plan: Plan, home: str, facts: Facts) -> Plan:
    """What is at /usr/local/cuda, where the plan is for a directory beside it."""
    there = next((one for one in value_or(facts.toolkit.toolkits, ()) if _USUAL in {one.path, *one.links}), None)
    if there is None or there.path == home:
        return plan
    what = f"CUDA {value_or(there.cuda, 'of an unknown version')}"
    note = Note(
        f"{_USUAL} is {what} and is not changed", f"this plan is for {home}; for another directory, use --cuda-home"
    )
    return plan._replace(steps=(note, *plan.steps))


def _of_method(asked: InstallOrder, need: InstallCudnn, target: Target) -> Need:
    """What to look for: a wheel is a distribution, and a package's copy lies where the distribution keeps libraries."""
    if asked.method != "wheel":
        return need._replace(directory="")
    major = need.cuda or str(target.cuda_major or 12)
    return InstallPackage(f"nvidia-cudnn-cu{major}", f"{need.versions.removesuffix('.*')}.*", interpreter(target))


def _wanted(asked: InstallOrder, facts: Facts | None, matrix: Matrix) -> tuple[Need, InstallOrder]:
    """The cuDNN that the first installed framework with one was built for; raises BadOrder."""
    if facts is None:
        raise BadOrder("for another machine, give the cuDNN version, as in gpudoctor install cudnn 9.10.2")
    for framework in _frameworks(facts):
        try:
            built = built_for(framework, facts, matrix).value
        except (NotApplicable, UnseenError, Uncovered):
            continue
        cuda = value_or(framework.cuda, None)
        wanted = asked._replace(version=str(built), cuda=asked.cuda or (str(cuda) if cuda else ""))
        return right_copy(framework, built, facts, matrix), wanted
    raise BadOrder("no installed framework requires a cuDNN: give a version, as in gpudoctor install cudnn 9.10.2")


def _frameworks(facts: Facts) -> tuple[Framework, ...]:
    try:
        return tuple(FRAMEWORKS.of(facts))
    except UnseenError:
        return ()


def _at_a_toolkit(asked: InstallOrder, facts: Facts) -> InstallOrder:
    """With the toolkit of this machine that is meant: the one that is named, else /usr/local/cuda, else the newest."""
    toolkits = [one for one in value_or(facts.toolkit.toolkits, ()) if one.kind in {"directory", "windows"}]
    versions = [(one.cuda.value, one) for one in toolkits if isinstance(one.cuda, Seen)]
    if asked.home:
        _need_same_major(asked, asked.home, versions)
        return asked
    fitting = [pair for pair in versions if not asked.cuda or f"{pair[0]}.".startswith(f"{asked.cuda}.")]
    usual = [pair for pair in fitting if _USUAL in pair[1].links]
    found = usual or sorted(fitting, key=lambda pair: pair[0])
    if not found:
        return _beside(asked, versions)
    cuda, toolkit = found[-1]
    home = toolkit.path.replace("/", "\\") if toolkit.kind == "windows" else toolkit.path
    return asked._replace(cuda=asked.cuda or str(cuda), home=_USUAL if usual else home)


def _beside(asked: InstallOrder, known: list[tuple[CudaVersion, Toolkit]]) -> InstallOrder:
    """Where /usr/local/cuda is another CUDA, the directory that NVIDIA's own installers take for the one asked for."""
    major = asked.cuda.partition(".")[0]
    other = any(_USUAL in {one.path, *one.links} and str(cuda.major) != major for cuda, one in known)
    if not asked.cuda or not other:
        return asked
    if "." not in asked.cuda:
        raise BadOrder(f"{_USUAL} contains another CUDA: add --cuda-version {asked.cuda}.Y, --cuda-home or --prefix")
    return asked._replace(home=f"{_USUAL}-{asked.cuda}")


def _need_same_major(asked: InstallOrder, home: str, known: list[tuple[CudaVersion, Toolkit]]) -> None:
    for cuda, toolkit in known:
        is_there = any(is_same_place(home, one, host_with("")) for one in (toolkit.path, *toolkit.links))
        if is_there and asked.cuda and asked.cuda.partition(".")[0] != str(cuda.major):
            other = "" if asked.home else "; for another directory, use --cuda-home or --prefix"
            raise BadOrder(f"{home} contains CUDA {cuda}; a cuDNN for CUDA {asked.cuda} does not work there{other}")


def script_of(shell: str, prepared: Prepared) -> str:
    """A script of the same plan; raises NoSuchName, BadOrder."""
    one_of("kind of script", shell, (*_SCRIPTS.values(), _PLAYBOOK))
    if shell == _PLAYBOOK and prepared.target.os_family == "linux":
        from installers.render import ansible  # late, as the scripts

        return ansible.playbook(prepared.plan, prepared.target)
    if shell != _SCRIPTS[prepared.target.os_family]:
        raise BadOrder(f"a plan for {prepared.target.os_family} needs a {_SCRIPTS[prepared.target.os_family]} script")
    if shell == "bash":
        from installers.render import script_bash  # late: only one of the two is needed

        return script_bash.script(prepared.plan, prepared.target)
    from installers.render import script_powershell

    return script_powershell.script(prepared.plan, prepared.target)


def _encoded(prepared: Prepared, matrix: Matrix) -> dict[str, object]:
    target = prepared.target
    return {
        "schema": SCHEMA,
        "matrix_as_of": matrix.as_of(),
        "target": {"os": target.os_family, "arch": target.arch, "live": target.live},
        "plan": encode_plan(prepared.plan),
        "commands": list(commands(prepared.plan, target)),
    }


def _page(prepared: Prepared, terminal: TextStyle) -> str:
    plan, target = prepared.plan, prepared.target
    page = Page(terminal)
    page.paragraph(plan.summary[:1].upper() + plan.summary[1:], colour="bold")
    _space(page, prepared)
    if for_administrators(plan, target):
        page.paragraph("Run all of it in a PowerShell started as administrator.", colour="yellow")
    _lines(
        page,
        "First back up the files that will be replaced (--apply does this automatically):",
        kept_first(plan, target),
    )
    for number, step in numbered(shown_steps(plan.steps)):
        page.gap()
        show_step(page, number, step, target)
    undo = "To undo it by hand (after --apply: gpudoctor install rollback):"
    _lines(page, undo, undone_by(plan, target))
    _lines(page, "What this plan brought besides, if it was not there before:", undone_if_new(plan, target))
    return page.text()


def _lines(page: Page, title: str, lines: tuple[str, ...]) -> None:
    if lines:
        page.gap()
        page.paragraph(title)
        for line in lines:
            page.verbatim(line, indent=6)


def shown_steps(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Those that a person reads: an attempt that changes nothing is made by gpudoctor alone."""
    return tuple(step for step in steps if kind_of(step).title(step) and not getattr(step, "rehearses", False))


def show_step(page: Page, number: int, step: Step, target: Target) -> None:
    """What a step does, why, and the lines to type for it; a note has no number."""
    kind = kind_of(step)
    title = kind.title(step)
    page.paragraph(f"{number:2}. {title}" if number else title[:1].upper() + title[1:], hang=4 if number else 0)
    if kind.reason(step):
        page.paragraph(f"    {kind.reason(step)}", colour="dim", hang=4)
    for line in told_lines(step, target):
        page.verbatim(line, indent=6)


def _space(page: Page, prepared: Prepared) -> None:
    """How much is downloaded; on this machine also what is free where the files go."""
    kinds = [(step, kind_of(step)) for step in prepared.plan.steps]
    download_bytes = sum(kind.size_bytes(step) for step, kind in kinds)
    if download_bytes:
        size = f"{download_bytes / _GIB:.1f} GiB"
        page.paragraph(f"The download is {size}; unpacked and copied, about three times that.")
    if prepared.facts is None:
        return
    from shutil import disk_usage  # late: only a plan for this machine asks

    shown = set()
    for place in dict.fromkeys(path for step, kind in kinds for path in kind.fills(step)):
        try:
            device = os.stat(nearest(place)).st_dev
            if device not in shown:
                page.paragraph(f"Free in {place}: {disk_usage(nearest(place)).free / _GIB:.1f} GiB")
            shown.add(device)
        except OSError as error:
            page.paragraph(f"{place}: {error.strerror or error}", colour="yellow")
