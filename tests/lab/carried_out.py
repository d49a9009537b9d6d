"""The first remedy of every fault, carried out on the lab's own tree, and what the second check says then.

Variables are set by bash, which runs the very commands of the remedy; links and files are changed in the tree; wheels
come from a small index that the lab builds; what package managers and a restart do is laid by the lab's own parts.
What cannot be carried out is told with its reason.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compat.matrix import accepts
from compat.spec import Spec, parse_spec
from compat.version import CudnnVersion
from doctor.host.root import RootHost
from doctor.model.facts.seen import value_or
from doctor.model.finding import Finding, Remedy, Report, Severity
from doctor.rules.shared.cards import generations
from installers import effect as effects
from installers.edit import merged
from installers.requirement import exact_version
from installers.steps.edit_line import EditLine, edited
from installers.steps.edit_text import EditText
from tests.lab import cudnn_tree, index, parts
from tests.lab.case import HEALTHY_NVML, Case, Examined, examine
from tests.lab.cases import windows
from tests.lab.elf_file import elf_bytes
from tests.lab.index import MATRIX, NotCarriedOut
from tests.lab.parts import HOME
from tests.lab.pe_file import pe_bytes

_VARIABLES = (effects.VariableSet, effects.VariableUnset, effects.EntryRemoved)
_DRIVERS = {470: "470.256.02", 535: "535.309.01", 550: "550.163.01", 570: "570.195.03", 580: "580.95.05"}


class Cured(NamedTuple):
    """What became of one finding."""

    case: str
    code: str
    outcome: str  # "cured", "advice", "not carried out", "NOT CURED"
    why: str = ""


def outcome_of(examined: Examined, laid: Path, root: Path) -> list[Cured]:
    """For each root finding of a case: its first remedy on a tree of its own, and the second check.

    The last one is carried out on the tree that was examined, which changes by it.
    """
    case, report = examined.case, examined.report
    found = [one for one in report.findings if not one.explained_by and one.severity is not Severity.INFO]
    trees = [root / str(number) for number in range(1, len(found))] + [laid]
    return [_one(case, one, report, tree) for one, tree in zip(found, trees, strict=False)]


def _one(case: Case, finding: Finding, report: Report, root: Path) -> Cured:
    remedy = finding.remedies[0] if finding.remedies else None
    if remedy is None:
        return Cured(case.name, finding.code, "NOT CURED", "it has no remedy")
    if not remedy.proven:
        return Cured(case.name, finding.code, "advice", remedy.summary)
    if not root.exists():
        case.build(root)
    try:
        after = carry_out(remedy, case, root, report)
    except NotCarriedOut as error:
        return Cured(case.name, finding.code, "not carried out", str(error))
    return Cured(case.name, finding.code, *_judged(finding, report, examine(after, root).report))


def _judged(finding: Finding, before: Report, after: Report) -> tuple[str, str]:
    """Silent about the finding, and about everything that was not wrong before."""
    known = {(one.code, _bare(one.subject)) for one in before.findings} - {(finding.code, _bare(finding.subject))}
    left = [
        one
        for one in after.findings
        if one.severity is not Severity.INFO and (one.code, _bare(one.subject)) not in known
    ]
    return ("NOT CURED", f"{left[0].code}: {left[0].summary}") if left else ("cured", "")


def _bare(subject: str) -> str:
    """Without releases and the directory of the tree: the same thing is called so before and after."""
    return re.sub(r"/tmp/\S+|\d+(\.\d+)+(\+\w+)?", "", subject)


def carry_out(remedy: Remedy, case: Case, root: Path, report: Report) -> Case:
    """Change the tree, and return the case with the variables of its next process; raises NotCarriedOut."""
    done = remedy.plan.effects or ()
    is_windows = value_or(report.facts.system.family, "") == "windows"
    if not is_windows and any(isinstance(one, _VARIABLES) for one in done):
        case = _in_bash(remedy, case, root)
    for one in done:
        if is_windows or not isinstance(one, _VARIABLES):
            case = _KINDS.get(type(one), _unknown)(one, case, root, report)
    return case


def _unknown(one: Any, case: Case, root: Path, report: Report) -> Case:
    raise NotCarriedOut(f"the lab has no {type(one).__name__}")


# What `module unload` does to the shell, as the module files of the lab have it.
MODULE = """module() {
  LD_LIBRARY_PATH=$(printf %s "$LD_LIBRARY_PATH" | tr : '\\n' | grep -v "/$2/" | paste -sd:)
}"""


def _in_bash(remedy: Remedy, case: Case, root: Path) -> Case:
    """Paste those commands that change variables or the user's scripts, and read what the shell has then."""
    if case.where == "root":
        raise NotCarriedOut("the variables of an image are those of its configuration")
    before = case.variables()
    for step in remedy.plan.steps:
        if isinstance(step, EditLine):
            path = Path(step.path.replace("~", f"{root}{HOME}", 1))
            path.write_text(edited(path.read_text(), step))
    lines = [line for line in remedy.commands if re.match(r"(export |unset )?[A-Z_]+|#|module ", line)]
    script = "\n".join((MODULE, *(f"export {name}" for name in before), *lines, "env -0"))
    ran = subprocess.run(
        ["bash", "-ec", script], env={**before, "HOME": f"{root}{HOME}"}, capture_output=True, check=True, timeout=20
    )
    pairs = (item.partition("=") for item in ran.stdout.decode().split("\0") if item)
    after = {name: value for name, _, value in pairs if name not in {"_", "SHLVL", "PWD", "OLDPWD"}}
    after["HOME"] = before.get("HOME", "")
    gone = {name: "" for name in before if name not in after}
    return case._replace(environ={**case.environ, **gone, **{n: v for n, v in after.items() if before.get(n) != v}})


def _set(one: effects.VariableSet, case: Case, root: Path, report: Report) -> Case:
    """On Windows, whose PowerShell the lab has not."""
    return case._replace(environ={**case.environ, one.name: one.value})


def _added(one: effects.EntryAdded, case: Case, root: Path, report: Report) -> Case:
    """The same for a directory, which comes first."""
    entries = filter(None, (one.entry, case.environ.get(one.name, "")))
    return case._replace(environ={**case.environ, one.name: ";".join(entries)})


def _given(one: effects.GpusGiven, case: Case, root: Path, report: Report) -> Case:
    """The runtime brings the host's nodes and libraries into the container, whose driver is the host's."""
    release = value_or(report.facts.driver.release, "") or _DRIVERS[580]
    parts.together(parts.driver(str(release)), parts.loaded_module(str(release)))(root)
    parts.without("/usr/lib/modules/*")(root)
    environ = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "all"}
    return _nodes(one, case._replace(environ={**case.environ, **environ}), root, report)


def _inside(path: str, root: Path) -> Path:
    folder, _, name = path.rpartition("/")
    host = RootHost(str(root))
    return Path(root, host.real_path(folder).removeprefix("C:").lstrip("/"), name)


def _link(one: effects.LinkMade, case: Case, root: Path, report: Report) -> Case:
    cudnn_tree.link(_inside(one.path, root), one.text)
    return case


def _file(one: effects.FileRemoved, case: Case, root: Path, report: Report) -> Case:
    path = _inside(one.path, root)
    if not one.pattern:
        path.rename(path.with_name(f"{path.name}.bak"))
        return case
    found = [each for each in path.parent.glob(one.pattern) if each.is_symlink() or each.is_file()]
    aside = path.with_name(f"{path.name}.aside")
    aside.mkdir()
    for each in found:
        each.rename(aside / each.name)
    return case


def _below(path: str, root: Path) -> Path:
    """A path of the machine, of Windows' C: as well, in its tree."""
    return root / path.removeprefix("C:").lstrip("/")


def _site(python: str, report: Report) -> str:
    for environment in value_or(report.facts.environments, ()):
        if environment.interpreter == python:
            return value_or(environment.sites, ())[0]
    raise NotCarriedOut(f"the lab makes no environment of {python}")


def _removed(one: effects.DistributionsRemoved, case: Case, root: Path, report: Report) -> Case:
    """As pip removes: every file that RECORD lists, whoever else has it."""
    site = _below(_site(one.python, report), root)
    for name in one.names:
        _take_away(site, name)
    return case


def _take_away(site: Path, name: str) -> None:
    for info in site.glob("*.dist-info"):
        if info.name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower() != name:
            continue
        record = info / "RECORD"
        for line in record.read_text().splitlines() if record.exists() else ():
            (site / line.partition(",")[0]).unlink(missing_ok=True)
        shutil.rmtree(info, ignore_errors=True)


def _installed(one: effects.DistributionsInstalled, case: Case, root: Path, report: Report) -> Case:
    """What is there at that release is left alone, as pip leaves it, unless it is reinstalled."""
    site = _site(one.python, report)
    how = {"anew": one.anew, "alone": one.alone}
    for requirement in one.requirements:
        _install(index.following(parse_spec(requirement), _below(site, root)), site, root, **how)
    return case


def _install(spec: Spec, site: str, root: Path, *, anew: bool = False, alone: bool = False) -> None:
    place = _below(site, root)
    version = (exact_version(spec.versions) or index.newest(spec)) + (f"+{spec.build}" if spec.build else "")
    for name, pin in index.extra(spec, version).items():
        _install(Spec(name, pin, "", ()), site, root)
    if _is_there(spec, version, place) and not anew:
        return
    lay, required = index.wheel(spec, version, site)
    _take_away(place, spec.name)
    lay(root)
    for name, pin in {} if alone else required.items():
        _install(Spec(name, pin, "", ()), site, root)


def _is_there(spec: Spec, version: str, place: Path) -> bool:
    """At that release; of a range any within it, as a resolver leaves it."""
    stem = spec.name.replace("-", "_")
    if exact_version(spec.versions):
        return (place / f"{stem}-{version}.dist-info").exists()
    found = [one.name.removeprefix(f"{stem}-").removesuffix(".dist-info") for one in place.glob(f"{stem}-*.dist-info")]
    return any(accepts(spec.versions, one) for one in found)


def _dlls(version: str) -> tuple[str, ...]:
    """The parts of a release, by the names that the matrix has for Windows: "ops" of cudnn_ops64_9.dll."""
    names = MATRIX.cudnn(CudnnVersion.parse(version)).parts_windows or ()
    found = [re.fullmatch(r"cudnn_(\w+)64_\d+\.dll", name) for name in names]
    return ("", *(one[1] for one in found if one))


def _cudnn(one: effects.CudnnInstalled, case: Case, root: Path, report: Report) -> Case:
    version = exact_version(one.spec)
    if case.machine != "x86_64":
        raise NotCarriedOut("the lab lays archives of cuDNN for x86-64 only")
    if not version:
        rows = [row.version for row in MATRIX.rows("cudnn", "releases") if accepts(one.spec, row.version)]
        version = str(max(rows, default=""))
    if not version or cudnn_tree.numbers_of(version)[0] not in cudnn_tree.PARTS:
        raise NotCarriedOut(f"the lab has no cuDNN {one.spec}")
    if value_or(report.facts.system.family, "") == "windows":
        home = one.directory.replace("\\", "/").removesuffix("/bin")
        parts.together(
            parts.at(f"{home}/bin".removeprefix("C:"), cudnn_tree.dlls_of, version, parts=_dlls(version)),
            parts.at(f"{home}/include".removeprefix("C:"), cudnn_tree.header_of, version),
        )(root)
        return case
    if not one.directory:
        cudnn_tree.debian_of(root, f"{'.'.join(map(str, cudnn_tree.numbers_of(version)))}.1-1", one.cuda_major)
        return case
    directory = Path(root, RootHost(str(root)).real_path(one.directory).lstrip("/"))
    cudnn_tree.copy_of(directory, version, chain=True, header=directory.parent / "include")
    return case


def _toolkit(one: effects.ToolkitInstalled, case: Case, root: Path, report: Report) -> Case:
    exact = exact_version(one.spec)
    rows = [row.release for row in MATRIX.rows("cuda", "toolkits") if f"{row.release}.".startswith(one.spec[2:-1])]
    release = exact or max(rows, key=lambda text: [*map(int, text.split("."))], default="")
    if not release or not one.spec.startswith("=="):
        raise NotCarriedOut(f"the lab lays one release of CUDA, not {one.spec}")
    release = release if release.count(".") > 1 else f"{release}.0"
    if value_or(report.facts.system.family, "") == "windows":
        windows.toolkit(release)(root)
        home = one.directory.replace("\\", "/")
        return _added(effects.EntryAdded("PATH", f"{home}/bin"), case, root, report)
    parts.toolkit(release, usual=one.linked, path=one.directory)(root)
    return case


def _driver(one: effects.DriverInstalled, case: Case, root: Path, report: Report) -> Case:
    """The packages and, with the restart that follows, the module; NVML answers for the same cards."""
    if "STUB_NVML_GPU0" not in case.nvml and case.nvml.get("STUB_NVML_GPUS", "0") == "0":
        case = case._replace(nvml={**case.nvml, **_usual_card()})
    exact = exact_version(one.spec)
    branch = re.search(r"\d+", one.spec)
    release = exact or _DRIVERS.get(int(branch[0]) if branch else 580, "")
    if not release:
        raise NotCarriedOut(f"the lab has no driver {one.spec}")
    cuda = str(MATRIX.branch(parts_release(release)).cuda_max)
    flavour = one.flavour or _usual_flavour(report)
    parts.together(parts.UNLOADED, parts.driver(release, flavour=flavour, kernel=_kernel(root)))(root)
    major, minor = map(int, cuda.split("."))
    answers = {"STUB_NVML_INIT": "0", "STUB_NVML_DRIVER": release, "STUB_NVML_CUDA": str(1000 * major + 10 * minor)}
    return _restarted(one, case._replace(nvml={**case.nvml, **answers, "STUB_NVML_ABORT": ""}), root, report)


def _usual_flavour(report: Report) -> str:
    """What a package manager chooses that asks which card there is."""
    rows = generations(report.facts, MATRIX)
    return "proprietary" if any(row.open_module == "no" for row in rows) else "open"


def parts_release(release: str) -> Any:
    """The release of a driver as the matrix compares it."""
    from compat.version import DriverRelease

    return DriverRelease.parse(release)


def _usual_card() -> dict[str, str]:
    return {name: value for name, value in HEALTHY_NVML.items() if name.startswith("STUB_NVML_GPU")}


def _kernel(root: Path) -> str:
    """The one that runs; on a disk the newest."""
    if not (root / "proc/sys/kernel/osrelease").exists():
        return max((path.name for path in root.glob("usr/lib/modules/*")), default=parts.KERNEL)
    return (root / "proc/sys/kernel/osrelease").read_text().strip()


def _modules(root: Path) -> list[Path]:
    """The driver's modules on disk, that of the running kernel first, then the newest."""
    found = [*root.glob("usr/lib/modules/*/**/nvidia.ko"), *root.glob("usr/lib/modules/*/**/nvidia-current.ko")]
    kernels = root / "usr/lib/modules"
    return sorted(found, key=lambda one: (one.relative_to(kernels).parts[0] == _kernel(root), str(one)), reverse=True)


def _restarted(one: Any, case: Case, root: Path, report: Report) -> Case:
    """The module that is on disk is the one that runs, bound to the card; the log is new."""
    modules = _modules(root)
    if not modules:
        raise NotCarriedOut("no module lies there to start")
    kernel = modules[0].relative_to(root / "usr/lib/modules").parts[0]
    if (root / "proc/sys/kernel").is_dir():  # a disk has none
        (root / "proc/sys/kernel/osrelease").write_text(f"{kernel}\n")
    said = re.search(rb"version=([\d.]+)", modules[0].read_bytes())
    release = said[1].decode() if said else "580.95.05"
    log = root / "dev/kmsg"
    if log.exists() and "firmware" in log.read_text() and not (root / f"lib/firmware/nvidia/{release}").is_dir():
        return case  # the next start says the same
    log.unlink(missing_ok=True)
    cards = list(root.glob("sys/bus/pci/devices/*"))
    lay = [parts.card(int((card / "device").read_text(), 16), card.name) for card in cards]
    parts.together(*lay, parts.loaded_module(release))(root)
    nvml = {**case.nvml, "STUB_NVML_INIT": "0", "STUB_NVML_ERRORS": ""}
    if nvml.get("STUB_NVML_GPUS", "0") == "0":
        nvml |= {"STUB_NVML_GPUS": "1"} if "STUB_NVML_GPU0" in nvml else _usual_card()
    nvml["STUB_NVML_DRIVER"] = release
    return case._replace(nvml=nvml)


def _left(one: effects.LibrariesRemoved, case: Case, root: Path, report: Report) -> Case:
    """What ldconfig makes of those that are left: the newest of each name is linked."""
    folder, release = root / one.path.lstrip("/").rpartition("/")[0], one.path.partition(".so.")[2]
    for path in folder.glob(f"lib*.so.{release}"):
        path.unlink()
    for link in (path for path in folder.glob("lib*.so.1") if path.is_symlink() and not path.exists()):
        link.unlink()
        link.symlink_to(max(path.name for path in folder.glob(f"{link.name.removesuffix('.1')}.*")))
    return case._replace(nvml={**case.nvml, "STUB_NVML_INIT": "0", **_usual_card(), "STUB_NVML_GPUS": "1"})


def _built(one: effects.ModuleBuilt, case: Case, root: Path, report: Report) -> Case:
    modules = _modules(root)
    said = re.search(rb"version=([\d.]+)", modules[0].read_bytes()) if modules else None
    if said is None:
        raise NotCarriedOut("no module lies there to build again")
    parts.module_file(said[1].decode(), kernel=one.kernel or parts.KERNEL)(root)
    return case


def _nodes(one: Any, case: Case, root: Path, report: Report) -> Case:
    nodes = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm")
    parts.together(parts.files(dict.fromkeys(nodes, "")), parts.mode(0o666, *nodes))(root)
    return case._replace(nvml={**case.nvml, "STUB_NVML_INIT": "0", **_usual_card()})


def _opened(one: effects.NodeOpened, case: Case, root: Path, report: Report) -> Case:
    """The mode of a node; NVML answers whoever may open them."""
    if one.group:
        raise NotCarriedOut("the lab's user is in the groups that he is in")
    parts.mode(0o666, one.path)(root)
    case = case._replace(closed=tuple(path for path in case.closed if path != one.path))
    return case._replace(nvml={**case.nvml, "STUB_NVML_INIT": "0", **_usual_card()})


def _mode(one: effects.ComputeModeSet, case: Case, root: Path, report: Report) -> Case:
    name = f"STUB_NVML_GPU{one.gpu}"
    return case._replace(nvml={**case.nvml, name: re.sub(r"compute_mode=\d", "compute_mode=0", case.nvml[name])})


def _memory(one: effects.SharedMemoryGiven, case: Case, root: Path, report: Report) -> Case:
    return case._replace(shm_bytes=one.size_bytes)


def _reloaded(one: effects.ModuleReloaded, case: Case, root: Path, report: Report) -> Case:
    """CUDA starts then: what the stub was told to answer was nvidia_uvm's state."""
    return case._replace(environ={name: value for name, value in case.environ.items() if name != "STUB_CUDA_INIT"})


def _signed(one: effects.ModuleSigned, case: Case, root: Path, report: Report) -> Case:
    """The module is signed, and the kernel takes it."""
    modules = _modules(root)
    said = re.search(rb"version=([\d.]+)", modules[0].read_bytes()) if modules else None
    if said is None:
        raise NotCarriedOut("no module lies there to sign")
    parts.module_file(said[1].decode(), signed=True, kernel=_kernel(root))(root)
    return case


def _fabric(one: effects.FabricManagerInstalled, case: Case, root: Path, report: Report) -> Case:
    parts.files({"/var/lib/dpkg/status": parts.fabric_package(one.release)})(root)
    return case


def _compiler(one: effects.HostCompilerInstalled, case: Case, root: Path, report: Report) -> Case:
    parts.files({one.path: f"#!/bin/sh\necho {one.path.rpartition('-')[2]}.1.0\n"})(root)
    return case


def _service(one: effects.ServiceRunning, case: Case, root: Path, report: Report) -> Case:
    """A process of that name; of the persistence daemon NVML tells."""
    if "fabricmanager" not in one.unit:
        raise NotCarriedOut(f"the lab has no {one.unit}")
    parts.files({"/proc/4711/comm": "nv-fabricmanage\n"})(root)  # the kernel keeps 15 letters
    return case


def _package(one: effects.SystemPackageInstalled, case: Case, root: Path, report: Report) -> Case:
    """cuDNN's packages, all files again."""
    if one.name == "nvidia-modprobe":
        parts.MODPROBE(root)
        return case
    if found := re.fullmatch(r"nvidia-firmware-\d+(?:-server)?-([\d.]+)", one.name):
        parts.files(
            dict.fromkeys((f"/lib/firmware/nvidia/{found[1]}/gsp_{each}.bin" for each in ("ga10x", "tu10x")), "")
        )(root)
        return case
    copy = next((each for each in value_or(report.facts.cudnn, ()) if each.owner.startswith(f"{one.name} ")), None)
    if copy is None or not one.anew:
        raise NotCarriedOut(f"the lab has no package {one.name}")
    release = copy.owner.partition(" ")[2]
    cuda = re.search(r"-cuda-(\d+)", one.name)
    cudnn_tree.debian_of(root, release, int(cuda[1]) if cuda else 12)
    return case


def _searched(one: effects.DirectorySearched, case: Case, root: Path, report: Report) -> Case:
    """The cache that the real ldconfig makes of the tree."""
    parts.files({"/etc/ld.so.conf.d/lab.conf": f"{one.directory}\n"})(root)
    with (root / "etc/ld.so.conf").open("a") as file:
        file.write("include /etc/ld.so.conf.d/*.conf\n")
    done = subprocess.run(["/sbin/ldconfig", "-X", "-r", str(root)], capture_output=True, check=False)
    if done.returncode:
        raise NotCarriedOut("only root may let ldconfig make the cache of a tree")
    return case


def _setting(one: effects.SettingWritten, case: Case, root: Path, report: Report) -> Case:
    """The edit that --fix makes."""
    step = next(each for each in _first(report).plan.steps if isinstance(each, EditText))
    path = Path(step.path.replace("~", f"{root}{HOME}", 1))
    path.write_text(merged(path.read_text() if path.exists() else "", step))
    return case


def _first(report: Report) -> Remedy:
    return next(each for each in report.findings if each.remedies).remedies[0]


def _cpp_runtime(one: effects.CppRuntimeInstalled, case: Case, root: Path, report: Report) -> Case:
    names = {each.name for needs in value_or(report.facts.dlls, ()) for each in value_or(needs.dlls, ())}
    runtime = (name for name in names if "140" in name)
    parts.files({f"/Windows/System32/{name.lower()}": pe_bytes() for name in runtime})(root)
    return case


def _done(one: Any, case: Case, root: Path, report: Report) -> Case:
    """What the next effect, the restart, makes true."""
    return case


def _library(one: effects.SystemLibraryInstalled, case: Case, root: Path, report: Report) -> Case:
    parts.files({f"{parts.LIB}/{one.soname}": elf_bytes(one.soname)})(root)
    return case


_KINDS: Mapping[type, Callable[[Any, Case, Path, Report], Case]] = {
    effects.LinkMade: _link,
    effects.VariableSet: _set,
    effects.EntryAdded: _added,
    effects.GpusGiven: _given,
    effects.CppRuntimeInstalled: _cpp_runtime,
    effects.SettingWritten: _setting,
    effects.FileRemoved: _file,
    effects.DistributionsRemoved: _removed,
    effects.DistributionsInstalled: _installed,
    effects.CudnnInstalled: _cudnn,
    effects.ToolkitInstalled: _toolkit,
    effects.DriverInstalled: _driver,
    effects.LibrariesRemoved: _left,
    effects.Restarted: _restarted,
    effects.ModuleLoaded: _restarted,
    effects.ModuleReloaded: _reloaded,
    effects.ModuleBuilt: _built,
    effects.ModuleKeptAway: _done,
    effects.NodesMade: _nodes,
    effects.NodeOpened: _opened,
    effects.SharedMemoryGiven: _memory,
    effects.ComputeModeSet: _mode,
    effects.ModuleSigned: _signed,
    effects.ServiceRunning: _service,
    effects.HostCompilerInstalled: _compiler,
    effects.FabricManagerInstalled: _fabric,
    effects.SystemPackageInstalled: _package,
    effects.SystemLibraryInstalled: _library,
    effects.DirectorySearched: _searched,
}
