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

from compat.matrix import Matrix, Uncovered, accepts
from compat.spec import Spec, parse_spec
from doctor.check.finding import Finding, Remedy, Report, Severity
from doctor.facts.seen import value_or
from doctor.host.root import RootHost
from doctor.rules.shared.cards import generations
from installers import effect as effects
from installers.requirement import exact_version
from tests.lab import cudnn_tree, parts
from tests.lab.case import HEALTHY_NVML, Case, Examined, examine
from tests.lab.cases.frameworks import CUPY
from tests.lab.cases.known import ONNX
from tests.lab.cases.libraries import FINDING
from tests.lab.cases.other_cuda import nccl
from tests.lab.cases.speech import ctranslate2
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import HOME
from tests.lab.pe_file import pe_bytes

MATRIX = Matrix()
_FOLLOWERS = {"torchvision": {"2.9.1": "0.24.1"}, "torchaudio": {"2.9.1": "2.9.1"}}  # by the torch that they go with
_VARIABLES = (effects.VariableSet, effects.VariableUnset, effects.EntryRemoved)
_DRIVERS = {470: "470.256.02", 535: "535.309.01", 550: "550.163.01", 570: "570.195.03", 580: "580.95.05"}


class NotCarriedOut(Exception):
    """The lab has no such thing; the message says what."""


class Cured(NamedTuple):
    """What became of one finding."""

    case: str
    code: str
    outcome: str  # "cured", "advice", "not carried out", "NOT CURED"
    why: str = ""


def outcome_of(examined: Examined, root: Path) -> list[Cured]:
    """For each root finding of a case: its first remedy on a tree of its own, and the second check."""
    case, report = examined.case, examined.report
    found = [one for one in report.findings if not one.explained_by and one.severity is not Severity.INFO]
    return [_one(case, one, report, root / str(number)) for number, one in enumerate(found)]


def _one(case: Case, finding: Finding, report: Report, root: Path) -> Cured:
    remedy = finding.remedies[0] if finding.remedies else None
    if remedy is None:
        return Cured(case.name, finding.code, "NOT CURED", "it has no remedy")
    if not remedy.proven:
        return Cured(case.name, finding.code, "advice", remedy.summary)
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
    if any(isinstance(one, _VARIABLES) for one in done):
        case = _in_bash(remedy, case, root)
    for one in done:
        if not isinstance(one, _VARIABLES):
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
    lines = [line for line in remedy.commands if re.match(r"(export |unset )?[A-Z_]+|#|module |sed -i.*~/", line)]
    script = "\n".join((MODULE, *(f"export {name}" for name in before), *lines, "env -0"))
    ran = subprocess.run(
        ["bash", "-ec", script], env={**before, "HOME": f"{root}{HOME}"}, capture_output=True, check=True, timeout=20
    )
    pairs = (item.partition("=") for item in ran.stdout.decode().split("\0") if item)
    after = {name: value for name, _, value in pairs if name not in {"_", "SHLVL", "PWD", "OLDPWD"}}
    after["HOME"] = before.get("HOME", "")
    gone = {name: "" for name in before if name not in after}
    return case._replace(environ={**case.environ, **gone, **{n: v for n, v in after.items() if before.get(n) != v}})


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


def _site(python: str, report: Report) -> str:
    for environment in value_or(report.facts.environments, ()):
        if environment.interpreter == python:
            if value_or(report.facts.system.family, "") == "windows":
                raise NotCarriedOut("the lab's index has wheels for Linux only")
            return value_or(environment.sites, ())[0]
    raise NotCarriedOut(f"the lab makes no environment of {python}")


def _removed(one: effects.DistributionsRemoved, case: Case, root: Path, report: Report) -> Case:
    """As pip removes: every file that RECORD lists, whoever else has it."""
    site = Path(root, _site(one.python, report).lstrip("/"))
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
        _install(_following(parse_spec(requirement), Path(root, site.lstrip("/"))), site, root, **how)
    return case


def _following(spec: Spec, place: Path) -> Spec:
    """What a resolver takes of a follower of torch, which is there: its release and build for that torch."""
    if spec.name not in _FOLLOWERS:
        return spec
    found = re.search(r"__version__ = '([\d.]+)\+(\w+)'", (place / "torch/version.py").read_text())
    if not found or found[1] not in _FOLLOWERS[spec.name]:
        raise NotCarriedOut(f"the lab's index has no {spec.name} for this torch")
    return spec._replace(versions=f"=={_FOLLOWERS[spec.name][found[1]]}", build=found[2])


def _newest(spec: Spec) -> str:
    """What the lab's index has of a range: the newest cuDNN that it can lay, and the newest ONNX Runtime with a row."""
    if spec.name == "onnxruntime-gpu":
        rows = [row.versions.lstrip("=").removesuffix(".*") for row in MATRIX.rows(spec.name, "builds")]
        found = [f"{one}.0" if one.count(".") == 1 else one for one in rows if re.fullmatch(r"[\d.]+", one)]
        return max((one for one in found if accepts(spec.versions, one)), key=cudnn_tree.numbers_of, default="")
    if re.fullmatch(r"nvidia-cudnn-cu\d+", spec.name):
        rows = [str(one) for row in MATRIX.rows("cudnn", "releases") for one in row.full_versions]
        fit = [one for one in rows if accepts(spec.versions, one) and cudnn_tree.numbers_of(one)[0] in cudnn_tree.PARTS]
        return max(fit, key=cudnn_tree.numbers_of, default="")
    return ""


def _install(spec: Spec, site: str, root: Path, *, anew: bool = False, alone: bool = False) -> None:
    place = Path(root, site.lstrip("/"))
    version = (exact_version(spec.versions) or _newest(spec)) + (f"+{spec.build}" if spec.build else "")
    for name, pin in _extra(spec, version).items():
        _install(Spec(name, pin, "", ()), site, root)
    if (place / f"{spec.name.replace('-', '_')}-{version}.dist-info").exists() and not anew:
        return
    lay, required = _wheel(spec, version, site)
    _take_away(place, spec.name)
    lay(root)
    for name, pin in {} if alone else required.items():
        _install(Spec(name, pin, "", ()), site, root)


def _extra(spec: Spec, version: str) -> Mapping[str, str]:
    """NVIDIA's wheels that an extra brings, tensorflow[and-cuda]; raises NotCarriedOut for another one."""
    if spec.extras and spec.name != "tensorflow":
        raise NotCarriedOut(f"the lab's index does not know the extra of {spec}")
    pins = _row(spec.name, version).pins if spec.extras and spec.name == "tensorflow" else {}
    return {name: pin for name, pin in (pins or {}).items() if name.startswith("nvidia-")}


def _wheel(spec: Spec, version: str, site: str) -> tuple[parts.Part, Mapping[str, str]]:
    """What the lab's index has under a name; raises NotCarriedOut."""
    cudnn = re.fullmatch(r"nvidia-cudnn-cu(\d+)", spec.name)
    if cudnn and version and cudnn_tree.numbers_of(version)[0] in cudnn_tree.PARTS:
        return parts.cudnn_wheel(version, int(cudnn[1]), site=site), {}
    if spec.name == "torch" and version:
        row = _row("torch", version)
        pins = {name: pin for name, pin in (row.pins or {}).items() if name.startswith("nvidia-cudnn")}
        pin = next(iter(pins.values()), f"=={row.cudnn}")
        return parts.torch(version, exact_version(pin), site=site, pinned=bool(pins)), pins
    if spec.name == "tensorflow" and version:
        return parts.package("tensorflow", version, _tensorflow(_row("tensorflow", version)), site=site), {}
    if spec.name == "nvidia-cuda-cupti-cu12":
        cupti = {"nvidia/cuda_cupti/lib/libcupti.so.12": elf_bytes("libcupti.so.12")}
        return parts.package(spec.name, version or "12.9.79", cupti, site=site), {}
    if spec.name == "nvidia-nccl-cu12":
        return parts.package(
            spec.name, version or "2.27.5", {"nvidia/nccl/lib/libnccl.so.2": nccl("12.9")}, site=site
        ), {}
    sonames = [row.soname for row in MATRIX.rows("libraries", "sonames") if row.wheel == spec.name]
    if sonames and (major := re.search(r"-cu(1[12])$", spec.name)):
        folder = spec.name.removeprefix("nvidia-").rpartition("-cu")[0].replace("-", "_")
        tree = {f"nvidia/{folder}/lib/{name}": elf_bytes(name) for name in sonames}
        return parts.package(spec.name, version or f"{major[1]}.8.0", tree, site=site), {}
    if spec.name == "numpy" and spec.versions == "<2":
        return parts.package("numpy", "1.26.4", {"numpy/__init__.py": ""}, site=site), {}
    if spec.name in _FOLLOWERS and version:
        return parts.package(
            spec.name, version, {f"{spec.name}/version.py": f"__version__ = '{version}'\n"}, site=site
        ), {}
    if spec.name == "onnxruntime-gpu" and version:
        provider = {"onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(needed=("libcudnn.so.9",))}
        return parts.package(spec.name, version, {**ONNX, **provider}, site=site), {}
    if spec.name.startswith(("cupy-cuda", "ctranslate2")) and version:
        is_cupy = spec.name != "ctranslate2"
        return parts.package(spec.name, version, CUPY, site=site) if is_cupy else ctranslate2(version), {}
    if spec.name == "nvidia-cuda-nvcc-cu12":
        root = "nvidia/cuda_nvcc"
        tree = {f"{root}/bin/ptxas": parts.ptxas("12.9.86"), f"{root}/{parts.LIBDEVICE}": b"BC"}
        return parts.package(spec.name, "12.9.86", tree, site=site), {}
    raise NotCarriedOut(f"the lab's index has no wheel of {spec}")


def _tensorflow(row: Any) -> Mapping[str, str | bytes]:
    """The published build, as its row has it."""
    cuda, cudnn = (re.findall(r"[\d.]+", str(text))[0] for text in (row.cuda, row.cudnn))
    targets = ", ".join(f'"{one}"' for one in row.targets)
    told = f'("cuda_version", "{cuda}"), ("cudnn_version", "{cudnn.partition(".")[0]}"), ("is_cuda_build", True)'
    said = f'build_info = dict([{told}, ("cuda_compute_capabilities", [{targets}])])\n'
    return {**FINDING, "tensorflow/python/platform/build_info.py": said}


def _row(name: str, version: str) -> Any:
    release, _, build = version.partition("+")
    try:
        return next(row for row in MATRIX.framework_rows(name, release) if row.build == build and "linux" in row.os)
    except (Uncovered, StopIteration) as error:
        raise NotCarriedOut(f"no row of the matrix says what {name} {version} brings") from error


def _cudnn(one: effects.CudnnInstalled, case: Case, root: Path, report: Report) -> Case:
    version = exact_version(one.spec)
    if case.machine != "x86_64" or value_or(report.facts.system.family, "") == "windows":
        raise NotCarriedOut("the lab lays archives of cuDNN for x86-64 Linux only")
    if not version:
        rows = [row.version for row in MATRIX.rows("cudnn", "releases") if accepts(one.spec, row.version)]
        version = str(max(rows, default=""))
    if not version or cudnn_tree.numbers_of(version)[0] not in cudnn_tree.PARTS:
        raise NotCarriedOut(f"the lab has no cuDNN {one.spec}")
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
    (root / "dev" / "kmsg").unlink(missing_ok=True)
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
    """The very command of the remedy, which real sed runs."""
    first = next(each for each in report.findings if each.remedies)
    line = next(each for each in first.remedies[0].commands if each.startswith("sed "))
    subprocess.run(["bash", "-ec", line], env={**case.variables(), "HOME": f"{root}{HOME}"}, check=True, timeout=20)
    return case


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
