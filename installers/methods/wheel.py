"""Install, reinstall or remove a Python distribution in the environment concerned, with its own interpreter.

Sources: PyTorch, "Get Started" (`--index-url` of the build); TensorFlow, "Install TensorFlow with pip"
(`tensorflow[and-cuda]`); JAX, "Installation" (`jax[cuda12]`, `jax[cuda13]`); pip's user guide (`--force-reinstall`,
`--no-deps`); PEP 668 (externally managed environments); uv's documentation (`uv pip install --python`), whose
environments carry no pip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compat.build import cpu_in_place_of, follows, is_served_by_default
from compat.matrix import Matrix, Uncovered
from compat.need import CreateEnvironment, InstallPackage, RemovePackage
from compat.overlap import NO, overlap
from compat.row import AbiRow
from compat.spec import Spec, parse_spec
from compat.specifier import accepts
from compat.traits import traits_of
from installers.effect import DistributionsInstalled, DistributionsRemoved, Effect
from installers.method import Method
from installers.methods.environment import made, removal
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.requirement import exact_version, wanted_version
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command, Inverse
from installers.steps.note import Note

_BROUGHT_ALONG = "packages that were installed or changed with it stay"


def serves(need: InstallPackage | RemovePackage, target: Target) -> bool:
    """Any distribution name."""
    return is_distribution(need.name)


def is_distribution(name: str) -> bool:
    """Whether a name is one that a package index may have, and nothing that a shell or an index reads otherwise."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None


_LOCAL = re.compile(r"cu\d|cpu|rocm")  # builds whose wheels carry them in their version


def plan(need: InstallPackage | RemovePackage, target: Target, matrix: Matrix) -> Plan:
    """By what must become true of it."""
    if isinstance(need, RemovePackage):
        gone = DistributionsRemoved(_python(target), (need.name,), target.site)
        if owned := by_owner(target, need.name, removed=True):
            return Plan(f"remove {need.name}", (owned,), (gone,))
        steps = (*_getting_pip(target), _uninstall(target, need.name), *_kept(target, need.name, removed=True))
        return Plan(f"remove {need.name}", _guarded(target, steps), (gone,))
    first, inside = _own_environment(target)
    if need.reinstall:
        return _again(need, target, matrix)
    followed = need.build or _build_followed(need.name, inside) or _build_kept(need, inside)
    need = need._replace(build=followed or _build_for_cuda(need.name, need.versions, inside, matrix))
    served = parse_spec(f"{need.name}{need.versions}")._replace(build=need.build)
    wanted, index = _requirement(need, inside, matrix), index_of(served, matrix)[1]
    along = _going_with(need, _companions(need.name, inside) if need.build else (), matrix)
    leading = tuple(f"{name}=={version.partition('+')[0]}" for name, version in _leaders(need.name, inside))
    if owned := by_owner(inside, wanted, *along, *leading, index=index):
        return Plan(_summary(need, wanted), (*first, owned), (*_first_effects(target), *_effects(need, inside, matrix)))
    steps = (*first, *_guarded(inside, (*_getting_pip(inside), *_install(need, inside, matrix))))
    steps += _kept(inside, wanted, index=index)
    return Plan(
        _summary(need, wanted), rehearsed(steps, inside), (*_first_effects(target), *_effects(need, inside, matrix))
    )


def _again(need: InstallPackage, target: Target, matrix: Matrix) -> Plan:
    """The very build that is there, from the index that it came from; raises Uncovered if it is unknown.

    The package index has another build under the same release, and none with a local version ("2.9.1+cu126").
    """
    first, inside = _own_environment(target)
    there = dict(inside.releases).get(need.name, "")
    spec = parse_spec(f"{need.name}{need.versions or (there and f'=={there}')}")
    same = not spec.build and exact_version(spec.versions) == there.partition("+")[0]
    build = there.partition("+")[2] if same else spec.build
    index: tuple[str, ...] = ()
    if build:
        spec = spec._replace(build=build)
        index = ("--index-url", matrix.wheel_index(_served_as(spec.name), build, _release_served(spec)).url)
    argv = _installer(inside, "--force-reinstall", "--no-deps", str(spec), *index)
    why = "reinstall all its files, and no other package"
    again = Command(argv, why, inverse=Inverse(left="its old files are not kept"))
    anew = DistributionsInstalled(
        python=_python(inside),
        requirements=(str(spec),),
        anew=True,
        alone=True,
        tool=_tool(inside),
        site=inside.site,
    )
    steps = (*first, *_guarded(inside, (*_getting_pip(inside), again)))
    return Plan(f"reinstall {need.name}{need.versions}", steps, (*_first_effects(target), anew))


def _build_followed(package: str, target: Target) -> str:
    """The build of what a follower is compiled against, where its version names one: the follower must be of it too."""
    builds = (release.partition("+")[2] for _, release in _leaders(package, target))
    return next((one for one in builds if _LOCAL.match(one)), "")


def _build_kept(need: InstallPackage, target: Target) -> str:
    """The build that is there, for a range of releases that names none: the package index would bring another one."""
    build = dict(target.releases).get(need.name, "").partition("+")[2]
    return build if need.versions and not exact_version(need.versions) and _LOCAL.match(build) else ""


def _build_for_cuda(package: str, spec: str, target: Target, matrix: Matrix) -> str:
    """Return the CUDA build in place of the CPU build that the package index serves here; "" if a CPU build may come.

    A CUDA build that is there must not become a CPU build. The new one is the newest that is not newer than it, or the
    oldest.
    """
    there, release = dict(target.releases).get(package, "").partition("+")[2], exact_version(spec)
    if not release or not re.fullmatch(r"cu\d+", there):
        return ""
    rows = matrix.framework_rows(package, release)
    here = [row for row in rows if target.os_family in row.os and target.arch in row.arch]
    builds = [row.build for row in here if cpu_in_place_of(row, release, target.os_family, target.arch, matrix)]
    builds.sort(key=lambda build: int(build.removeprefix("cu")))
    return next((one for one in reversed(builds) if int(one[2:]) <= int(there[2:])), next(iter(builds), ""))


def _served_as(package: str) -> str:
    """The package whose index serves it: that of torch has torchvision's builds as well."""
    return follows(package) or package


def _release_served(spec: Spec) -> str:
    """The release by which an index is told; a follower is numbered otherwise than what it follows."""
    return exact_version(spec.versions) if _served_as(spec.name) == spec.name else ""


def _tool(target: Target) -> str:
    return "pip" if _has_pip(target) else "uv"


def _first_effects(target: Target) -> tuple[Effect, ...]:
    return () if _is_ours(target) else (made(".venv", target),)


# Of a snap and of a Flatpak: read-only in every release. Sources: snapcraft.io/docs/system-snap-directory;
# docs.flatpak.org/en/latest/sandbox-permissions.html and flatpak(1), "file system layout".
_SEALED = re.compile(r"^(?:/snap/|/var/lib/snapd/|/var/lib/flatpak/)|/\.local/share/flatpak/")


def _is_sealed(target: Target) -> bool:
    return _SEALED.search(f"{target.prefix or target.python}/") is not None


def _is_ours(target: Target) -> bool:
    """Whether pip may change it, or has done so before: what it put into the system's Python is fixed there."""
    return not _is_sealed(target) and (not target.externally_managed or target.by_pip)


def _effects(need: InstallPackage, target: Target, matrix: Matrix) -> tuple[Effect, ...]:
    """What is removed first, then what is installed; a build is named as its index tells it apart."""
    requirement = _requirement(need, target, matrix)
    spec = parse_spec(requirement)
    label, _ = index_of(spec._replace(build=need.build), matrix)
    names = (need.name, *(_companions(need.name, target) if need.build else ()))
    along = _going_with(need, names[1:], matrix)
    build = (label or _build_of(need, matrix)) if exact_version(need.versions) else ""
    wanted = (str(spec._replace(build=build)), *along)
    gone = (DistributionsRemoved(_python(target), names, target.site),) if _leaves(need, requirement, target) else ()
    return (*gone, DistributionsInstalled(_python(target), wanted, tool=_tool(target), site=target.site))


def _build_of(need: InstallPackage, matrix: Matrix) -> str:
    """A build that its number does not tell apart, but the index that it comes from: PaddlePaddle's cu126."""
    rows = matrix.rows(need.name, "builds") if need.build and matrix.has(need.name) else ()
    return need.build if any(row.build == need.build for row in rows) else ""


def together(requirements: tuple[str, ...], target: Target, matrix: Matrix) -> Plan:
    """Install several at once, so that one resolver sees what all of them require: "torch==2.9.1+cu128", "jax[cuda12]".

    A build that the package index does not serve comes from an index of its own beside it, and its local version keeps
    any other build out. uv takes a package from the first index that has it, unless it is told to look at all of them
    (its documentation, "Packages that exist on multiple indexes").
    """
    first, inside = _own_environment(target)
    spelled, served = [], []
    for asked in map(parse_spec, requirements):
        followed = asked.build or _build_followed(asked.name, inside)
        one = asked._replace(build=followed or _build_for_cuda(asked.name, asked.versions, inside, matrix))
        is_default = is_served_by_default(one, inside.os_family, inside.arch, matrix)
        is_other = "+" in dict(inside.releases).get(one.name, "")  # it would count as installed already
        label, url = ("", "") if is_default and not is_other else index_of(one, matrix)
        spelled.append(str(one._replace(build=label)))
        served.append((label, url))
    indexes = [word for option in index_options(served) for word in option]
    if indexes and not _has_pip(inside):
        indexes += ["--index-strategy", "unsafe-best-match"]
    argv, names = _installer(inside, *spelled, *indexes), tuple(parse_spec(one).name for one in requirements)
    why = "all in one command, so that one resolver sees all requirements"
    command = Command(argv, why, inverse=_earlier(inside, *names))
    effect = DistributionsInstalled(_python(inside), tuple(spelled), tool=_tool(inside), site=inside.site)
    owned = by_owner(inside, *spelled) if not indexes else None
    steps = (
        (*first, owned)
        if owned
        else (*first, *_guarded(inside, (*_getting_pip(inside), command)), *_kept(inside, *spelled))
    )
    return Plan(f"install {', '.join(spelled)}", steps, (*_first_effects(target), effect))


_DRY_RUN_SINCE = (22, 2)  # of pip


def rehearsed(steps: tuple[Step, ...], target: Target) -> tuple[Step, ...]:
    """With a dry run of what comes, where something is removed before: an index that lacks it costs nothing then.

    Sources: pip's news of 22.2 (`--dry-run`, with `--ignore-installed` to ask for what is there as well); uv's
    documentation (`uv pip install --dry-run --reinstall`).
    """
    removes = [at for at, one in enumerate(steps) if isinstance(one, Command) and "uninstall" in one.argv]
    pip = re.match(r"(\d+)\.(\d+)", dict(target.releases).get("pip", ""))
    knows = (int(pip[1]), int(pip[2])) >= _DRY_RUN_SINCE if pip else not _has_pip(target)
    if not removes or not knows:
        return steps
    again = "--ignore-installed" if _has_pip(target) else "--reinstall"
    comes = [one for one in steps[removes[0] :] if isinstance(one, Command) and "install" in one.argv]
    dry = tuple(_dry_run(one, again) for one in comes)
    return (*steps[: removes[0]], *dry, *steps[removes[0] :])


def _dry_run(command: Command, again: str) -> Command:
    at = command.argv.index("install") + 1
    options = tuple(one for one in ("--quiet", "--dry-run", again) if one not in command.argv)
    argv = (*command.argv[:at], *options, *command.argv[at:])
    return command._replace(
        argv=argv,
        why="check that the new version is available before removing the old",
        inverse=NOTHING_TO_TAKE_BACK,
        rehearses=True,
    )


def index_of(one: Spec, matrix: Matrix) -> tuple[str, str]:
    """The local version that names a build, and the index that serves it; "" for none."""
    try:
        url = matrix.wheel_index(_served_as(one.name), one.build, _release_served(one)).url if one.build else ""
    except Uncovered:
        return "", ""
    return (one.build if traits_of(_served_as(one.name)).tagged and _LOCAL.match(one.build) else ""), url


def index_options(served: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """pip's options for the indexes of builds, each with its local version ("" where its name carries none).

    A build that its version does not tell apart must come from its index alone: the package index serves another one
    under the same version, and pip would choose by the platform tag.
    """
    urls = dict.fromkeys(url for label, url in sorted(served, key=lambda one: one[0] != "") if url)
    alone = any(url and not label for label, url in served)
    return tuple(("--index-url" if alone and at == 0 else "--extra-index-url", url) for at, url in enumerate(urls))


def _own_environment(target: Target) -> tuple[tuple[Step, ...], Target]:
    """The steps to an environment that pip may change, and the target inside it; mostly none, and the same."""
    if _is_ours(target):
        return (), target
    text = f"{_python(target)} belongs to the operating system, and pip refuses to change it (PEP 668)"
    if _is_sealed(target):
        text = f"{_python(target)} belongs to a snap or a Flatpak, whose files are read-only"
    gone = removal(CreateEnvironment(".venv"), target)
    argv = (_python(target), "-m", "venv", ".venv")
    make = Command(argv, "create a virtual environment in this directory", inverse=gone)
    inside = target._replace(
        python=".venv/bin/python",
        prefix="" if _is_sealed(target) else target.prefix,
        installed=frozenset(),
        externally_managed=False,
        installers=(),
        keeper="",
        site="",
        writable=True,
    )
    return (Note(f"{text}: use a virtual environment"), make), inside


def _summary(need: InstallPackage, wanted: str = "") -> str:
    """An extra is what is new where the package itself is there: "install tensorflow[and-cuda]==2.20.0"."""
    if "[" in wanted:
        return f"install {wanted}"
    return f"install {need.name}{need.versions}{f' built for {need.build}' if need.build else ''}"


def _install(need: InstallPackage, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    """Another build of the same release counts as installed already, so it is removed first."""
    requirement, leaders = _requirement(need, target, matrix), _leaders(need.name, target)
    if not need.build:
        argv = _installer(target, requirement, *(f"{name}=={version}" for name, version in leaders))
        return (Command(argv, need.name, inverse=_earlier(target, need.name)),)
    names = (need.name, *(_companions(need.name, target)))
    steps: tuple[Step, ...] = ()
    if _leaves(need, requirement, target):
        steps = (_uninstall(target, *names),)
    try:
        served, release = next(iter(leaders), (need.name, exact_version(need.versions)))
        row = matrix.wheel_index(served, need.build, release.partition("+")[0])
    except Uncovered:
        back = _absent(target, names[:1]) if steps else _earlier(target, need.name)
        return (*steps, Command(_installer(target, requirement), _summary(need), inverse=back))
    kept = (f"{name}=={version}" for name, version in leaders)
    along = _going_with(need, names[1:], matrix)
    of_leader = f"{served}=={release.partition('+')[0]}" if leaders else f"{need.name}{need.versions}"
    spec = parse_spec(of_leader)._replace(build=need.build)
    index: tuple[str, ...]
    if is_served_by_default(spec, target.os_family, target.arch, matrix):
        index, why = (), _summary(need)
    else:
        index, why = ("--index-url", row.url), f"the index with {need.build} builds"
    argv = _installer(target, requirement, *along, *kept, *index)
    return (*steps, Command(argv, why, inverse=_absent(target, names)))


def _leaves(need: InstallPackage, requirement: str, target: Target) -> bool:
    """Whether what is there is removed first: not where its extra brings all of it that has GPU code."""
    by_extra = need.versions and traits_of(need.name).runs_on and parse_spec(requirement).extras
    return bool(need.build) and need.name in target.installed and not by_extra


def _requirement(need: InstallPackage, target: Target, matrix: Matrix) -> str:
    asked, major = traits_of(need.name).asked_as.get(need.name, ""), re.match(r"cu(?:da)?(1[1-9])", need.build)
    if "{major}" in asked:
        asked = asked.format(major=major[1]) if major else ""
    elif need.build == "cpu" or (asked and not _brings_cuda(need, target, matrix)):
        asked = ""
    if not need.versions:
        asked = asked or _made_for(need.name, _leaders(need.name, target), matrix)
    return f"{asked or need.name}{need.versions}"


def _going_with(need: InstallPackage, followers: tuple[str, ...], matrix: Matrix) -> tuple[str, ...]:
    """What follows a package, as it is asked for beside the release of it that comes."""
    release = wanted_version(need.versions)
    return tuple(_made_for(one, ((need.name, release),) if release else (), matrix) for one in followers)


def _made_for(follower: str, leaders: Iterable[tuple[str, str]], matrix: Matrix) -> str:
    """A follower without the releases that do not go with these, as rows know: "torchaudio<2.11"."""
    rows: tuple[AbiRow, ...] = matrix.rows("conflicts", "abi")
    there = dict(leaders)
    for row in (one for one in rows if one.package == follower and one.versions.startswith(">=")):
        if any(name in there and not accepts(wanted, there[name]) for name, wanted in row.needs.items()):
            return f"{follower}<{row.versions.removeprefix('>=')}"
    return follower


def _brings_cuda(need: InstallPackage, target: Target, matrix: Matrix) -> bool:
    """Whether CUDA comes with some release that is asked for as wheels, on this operating system."""
    rows = (row for row in matrix.rows(need.name, "builds") if not row.os or target.os_family in row.os)
    return any(row.libraries == "wheels" and overlap((need.versions, row.versions)) != NO for row in rows)


def _companions(package: str, target: Target) -> tuple[str, ...]:
    return tuple(name for name in traits_of(package).followers if name in target.installed)


def _leaders(package: str, target: Target) -> tuple[tuple[str, str], ...]:
    """What a follower is built against, at the release that is there: the resolver shall change the follower alone."""
    return tuple(one for one in target.releases if package in traits_of(one[0]).followers)


def _python(target: Target) -> str:
    return target.python or ("python" if target.os_family == "windows" else "python3")


def interpreter(target: Target) -> str:
    """The interpreter of the environment that is installed into: a new one where the system owns the target's."""
    return _own_environment(target)[1].python


def _runner(target: Target) -> str:
    """The interpreter whose site it goes to."""
    return target.runner or _python(target)


def _where(target: Target, *users: str) -> tuple[str, ...]:
    """Options that say where: PEP 668's own for what pip put there before, pip's for the user's site, uv's for any."""
    forced = ("--break-system-packages",) if target.externally_managed else ()
    into = users if _has_pip(target) else ("--target", target.into)
    return (*forced, *(into if target.into else ()))


def _has_pip(target: Target) -> bool:
    """Where nothing is known of the environment, pip is what one tries."""
    if target.tool:
        return target.tool != "uv"
    if target.installers:
        return "uv" not in target.installers
    return not target.installed or "pip" in target.installed


def _getting_pip(target: Target) -> tuple[Step, ...]:
    """Python brings pip along, and puts it into an environment that has none.

    Debian and Ubuntu keep it apart: their package python3-venv has it (Debian's README.venv of Python); for the
    system's own Python it refuses, and names python3-pip (their ensurepip/__init__.py).
    """
    if target.brings_uv:
        return (_getting_uv(target),)
    if target.tool or target.installers not in {("ensurepip",), ("none",)}:
        return ()
    first: tuple[Step, ...] = ()
    if manager_of(target) == "apt" and re.fullmatch(r"/usr/bin/python[\d.]*", _python(target)):
        pip = install(target, "python3-pip", why="this Python has no pip, and uv is not installed")
        return (*refresh(target), pip._replace(prepares=True))
    if target.installers == ("none",):
        if manager_of(target) != "apt":
            return (ByHand("neither pip nor uv is installed: install one of them first"),)
        venv = install(target, "python3-venv", why="ensurepip, a separate package on Debian")
        first = (*refresh(target), venv._replace(prepares=True))
    argv = (_python(target), "-m", "ensurepip", "--upgrade")
    gone = Inverse(((_python(target), "-m", "pip", "uninstall", "-y", "pip"),))
    why = "this environment has no pip, and uv is not installed"
    return (*first, Command(argv, why, inverse=gone, prepares=True))


_UV = "gpudoctor-uv"  # a directory beside, so that nothing is added to the environment


def _getting_uv(target: Target) -> Command:
    """For a directory of `pip install --target`, in which pip itself replaces whole directories, or nothing.

    Source: pip's `_handle_target_dir` (commands/install.py): with --upgrade shutil.rmtree of each top directory.
    """
    why = f"into a separate directory: pip would replace all of nvidia/ in {target.into}"
    return Command(
        (_python(target), "-m", "pip", "install", "--target", _UV, "uv"), why, inverse=_UV_STAYS, prepares=True
    )


_UV_STAYS = Inverse(left=f"{_UV} can be removed")

_KEEPERS = {  # each with its option that names the project
    "uv": "--project",
    "poetry": "--directory",
    "pdm": "--project",
    "pixi": "--manifest-path",
    "pipenv": "",
}


def by_owner(target: Target, *requirements: str, removed: bool = False, index: str = "") -> Command | None:
    """The command of the tool whose lock file rules the environment: what pip changes there, its next sync takes back.

    None where nothing is kept, where the project does not name what is removed, and for an index that this tool is not
    told on its command line. `uv add --index NAME=URL` writes that index as the source of what is added (uv 0.13.9).
    Sources: the command lines of uv (`add --project`), poetry (`add --directory`), pdm (`add --project`), pipenv
    (`install --index`, PIPENV_PIPFILE) and pixi (`add --manifest-path`).
    """
    keeper = target.keeper
    names = tuple(parse_spec(one).name for one in requirements)
    if keeper not in _KEEPERS or not target.project or (removed and not {*names} <= target.declared):
        return None
    if index and keeper not in {"uv", "pipenv"}:
        return None
    source: tuple[str, ...] = ()
    if index:
        source = ("--index", f"{index.rstrip('/').rpartition('/')[2]}={index}" if keeper == "uv" else index)
    verb = ("uninstall" if removed else "install") if keeper == "pipenv" else "remove" if removed else "add"
    pypi = ("--pypi",) if keeper == "pixi" else ()
    where = (_KEEPERS[keeper], target.project) if _KEEPERS[keeper] else ()
    first = ("env", f"PIPENV_PIPFILE={target.project}/Pipfile") if keeper == "pipenv" else ()
    argv = (*first, keeper, verb, *pypi, *where, *source, *(names if removed else requirements))
    left = Inverse(left="the project's manifest and lock file change with it: your version control has the former ones")
    return Command(argv, f"{keeper} keeps this environment equal to its lock file", inverse=left, timeout_s=3600)


def _kept(target: Target, *requirements: str, removed: bool = False, index: str = "") -> tuple[Step, ...]:
    """What pip changes where the owner is unknown by one command."""
    if not target.keeper:
        return ()
    names = ", ".join(requirements)
    if removed and {*requirements} <= target.declared:
        return (ByHand(f"delete {names} from the project's pyproject.toml, or {target.keeper} brings it back"),)
    if removed and target.project:
        return (Note(f"the project does not list {names}: if {target.keeper} installs it again, remove what needs it"),)
    told = f"name {' '.join(requirements)}" + (f" and the index {index}" if index else "")
    return (ByHand(f"{told} in the project, or {target.keeper} undoes this at the next sync"),)


def _installer(target: Target, *arguments: str) -> tuple[str, ...]:
    if _has_pip(target):
        return (_runner(target), "-m", "pip", "install", *_where(target, "--user"), *arguments)
    spelled = tuple("--reinstall" if one == "--force-reinstall" else one for one in arguments)
    return (_uv(target), "pip", "install", "--python", _runner(target), *_where(target), *spelled)


def _uv(target: Target) -> str:
    return f"{_UV}/bin/uv" if target.brings_uv else "uv"


def _uninstall(target: Target, *names: str) -> Command:
    why = "uninstall the current build"
    return Command(_removing(target, *names), why, inverse=_back(target, names))


def _removing(target: Target, *names: str) -> tuple[str, ...]:
    if _has_pip(target):
        return (_runner(target), "-m", "pip", "uninstall", "-y", *_where(target), *names)
    return (_uv(target), "pip", "uninstall", "--python", _runner(target), *_where(target), *names)


def _earlier(target: Target, *names: str) -> Inverse:
    """The releases that were there; what was not there is removed."""
    new = tuple(name for name in names if name not in target.installed)
    old = _back(target, tuple(name for name in names if name in target.installed))
    commands = (*_absent(target, new).commands, *old.commands)
    return Inverse(commands, old.left or _BROUGHT_ALONG)


def _absent(target: Target, names: tuple[str, ...]) -> Inverse:
    return Inverse((_removing(target, *names),) if names else (), _BROUGHT_ALONG)


def _back(target: Target, names: tuple[str, ...]) -> Inverse:
    """A local version, "2.9.1+cu128", tells a build that another index serves: that one is not kept anywhere."""
    known = dict(target.releases)
    wanted = tuple(f"{name}=={known[name]}" for name in names if name in known)
    commands = (_installer(target, "--no-deps", *wanted),) if wanted else ()
    unknown = [name for name in names if name not in known]
    if unknown:
        return Inverse(commands, f"the old version of {', '.join(unknown)} is unknown")
    local = "; a build with a + in its version needs --index-url of the index that it came from"
    return Inverse(commands, f"{_BROUGHT_ALONG}{local if any('+' in one for one in wanted) else ''}" if wanted else "")


def _guarded(target: Target, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """What to know about the environment before anything in it is changed."""
    if _is_sealed(target):
        where = target.prefix or target.python
        return (ByHand(f"{where} is in a snap or a Flatpak, whose files are read-only: use another environment"),)
    if not target.writable and target.is_root and target.live:
        where = target.site or target.prefix
        text = f"{where} is read-only even for root: make an environment elsewhere, or mount it for writing first"
        return (ByHand(text), *steps)
    if not target.writable:
        steps = tuple(one._replace(needs_root=True) if isinstance(one, Command) else one for one in steps)
    if target.externally_managed and target.by_pip:
        text = "this package is in the operating system's Python, which pip refuses to change (PEP 668)"
        return (Note(f"{text}; use a virtual environment in future"), *steps)
    if target.externally_managed:
        return (Note("the operating system owns this environment: use its package manager if pip refuses"), *steps)
    if target.environment_kind == "conda":
        return (Note("a conda environment: if conda installed the package, change it with conda instead"), *steps)
    return steps


METHOD = Method((InstallPackage, RemovePackage), "a Python distribution", plan, serves, rank=90)
