"""The Python environment of a stack: the one that is in use, else a new one with a Python that the build has.

Sources: PEP 668; uv's documentation (`uv venv --python`, which fetches a Python; from 3.8 on); Python's documentation,
"Using Python on Windows" (an installation for all users is in Program Files); pip's changelog (19.3 is the first that
takes manylinux2014; ensurepip of Python 3.8 brought 19.2).
"""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.build import release_key
from compat.matrix import Matrix
from compat.need import CreateEnvironment
from compat.overlap import YES, overlap
from compat.platform_row import CondaRow, DeclaredRow, SystemRow
from doctor.commands.install.package_solve import NotSolved, Solved
from doctor.model.facts import Facts
from installers.choose import plan_for
from installers.methods.environment import made
from installers.packages import install, manager_of, refresh
from installers.plan import Target
from installers.repository import REBUILDS_OF_RHEL
from installers.step import Step
from installers.steps.already import Already
from installers.steps.by_hand import ByHand
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command, Inverse
from installers.steps.download import Download
from installers.steps.note import Note
from installers.steps.unless import Unless

_WHERE, _WHERE_ON_WINDOWS = ".venv", "C:\\{name}"  # the second is absolute: settings of the framework name it
_UV = ".uv"  # an environment that holds uv alone
_CONDA, _CONDA_OF_ALL = ".conda", "C:\\ProgramData\\miniforge3"  # its installer's directory for all users
_MINGW = ("libpython", "m2w64-toolchain")  # g++ for Windows, and Python's library for it; both of conda-forge
_LIBPYTHON = ("2.7", "3.5", "3.6", "3.7")  # conda-forge/libpython-feedstock
_OLDEST_OF_UV = "3.8"
_OLD_PIP = "3.8"  # Pythons up to here come with a pip that may not take the wheels of their time
# The first pip that a Python cannot run: pip 8 of Ubuntu 16.04 does not look, and takes it all the same. Source: pip's
# news of 19.2 (3.4), 21.0 (2.7 and 3.5), 22.0 (3.6), 24.1 (3.7), 25.1 (3.8).
_LAST_PIP = (
    ("2.7", "pip<21"),
    ("3.4", "pip<19.2"),
    ("3.5", "pip<21"),
    ("3.6", "pip<22"),
    ("3.7", "pip<24.1"),
    ("3.8", "pip<25.1"),
)
_WHY = "a Python that has a wheel of this build"


class Environment(NamedTuple):
    """The steps to it, and the target inside it."""

    steps: tuple[Step, ...]
    target: Target


def own_of(target: Target, facts: Facts | None) -> str:
    """The interpreter that is kept: of an environment in use, or one that was named for another machine."""
    if facts is None:
        return target.python
    return target.python if target.environment_kind not in {"", "system", "windows"} else ""


def glibc_of(target: Target, matrix: Matrix) -> str:
    """The C library of a distribution's release; "" where no row knows."""
    row = system_row(target, matrix)
    return (row.glibc or "") if row else ""


def system_row(target: Target, matrix: Matrix) -> SystemRow | None:
    """What a system has as packages."""
    rows: tuple[SystemRow, ...] = matrix.rows("platform", "systems")
    name, version = target.distribution, target.distribution_version
    if target.os_family == "windows":
        name, version = "windows", ""
    name = "rhel" if name in REBUILDS_OF_RHEL else name
    among = {name if not version else "", f"{name}-{version}", f"{name}-{version.partition('.')[0]}"}
    return next((row for row in rows if row.id in among), None)


def directory_of(found: Solved, target: Target) -> str:
    """The directory of a new environment; MinGW, which Theano needs on Windows, is found by its full path alone."""
    is_absolute = target.os_family == "windows" and _compiles(found)
    return _WHERE_ON_WINDOWS.format(name=found.name) if is_absolute else _WHERE


def _compiles(found: Solved) -> bool:
    """Whether it compiles on the machine, with whatever CUDA is there."""
    return found.row is not None and found.row.cuda is None


def make(found: Solved, own: str, target: Target, matrix: Matrix) -> Environment:
    """Nothing where an environment is kept; raises NotSolved where no way to a Python for it is known."""
    if own:
        kept = (Already(f"the environment of {own}"),) if target.live else ()
        return Environment(kept, target)
    declared = _declared(found, matrix)
    pythons = found.pythons or (tuple(sorted(declared.python, key=release_key, reverse=True)) if declared else ())
    if not pythons:
        raise NotSolved(f"the Python for {found.name} {found.versions} is unknown: give an environment with --python")
    where = directory_of(found, target)
    row = system_row(target, matrix)
    of_system = [one for one in pythons if row and one in (row.pythons or {})]
    inside = target._replace(
        environment_kind="",
        externally_managed=False,
        installed=frozenset(),
        releases=(),
        prefix=where,
        installers=(),
        keeper="",
        project="",
    )
    if declared and target.os_family == "windows" and _compiles(found):
        oldest = min(pythons, key=lambda one: (one not in _LIBPYTHON, release_key(one)))
        return _with_conda(oldest, (*declared.conda, *_MINGW), inside, matrix)
    if declared and declared.conda:
        return _with_conda(pythons[0], declared.conda, inside, matrix)
    if of_system and row:
        return _of_system(of_system[0], (row.pythons or {})[of_system[0]], inside, matrix)
    if target.os_family == "linux" and _takes_uv(row) and release_key(pythons[0]) >= release_key(_OLDEST_OF_UV):
        return _with_uv(pythons[0], row, inside, matrix)
    return _with_conda(pythons[0], (), inside, matrix)


def _declared(found: Solved, matrix: Matrix) -> DeclaredRow | None:
    """The row of the newest release that may come: of a range, an installer takes the newest."""
    rows: tuple[DeclaredRow, ...] = matrix.rows("platform", "declared")
    of_package = [row for row in reversed(rows) if row.package == found.name]
    return next((row for row in of_package if overlap((row.versions, found.versions)) == YES), None)


def _of_system(python: str, packages: str, target: Target, matrix: Matrix) -> Environment:
    windows = target.os_family == "windows"
    base = f"C:\\Program Files\\Python{python.replace('.', '')}\\python.exe" if windows else ""
    first = _winget(packages, f"Python {python}", base) if windows else _installed(packages, python, target)
    [make_it] = plan_for(CreateEnvironment(target.prefix, python), target._replace(tool="pip"), matrix).steps
    if windows and isinstance(make_it, Command):
        make_it = make_it._replace(argv=(base, "-m", "venv", target.prefix))
    elif python.startswith("2.") and isinstance(make_it, Command):
        make_it = make_it._replace(argv=(f"python{python}", "-m", "virtualenv", target.prefix))
    inside = target._replace(python=made(target.prefix, target).python, tool="pip")
    return Environment((*first, *_once(inside, make_it), *_newer_pip(python, inside)), inside)


def _installed(packages: str, python: str, target: Target) -> tuple[Step, ...]:
    """The system's own packages of a Python."""
    return (*refresh(target), install(target, *packages.split(), why=f"Python {python}"))


def _winget(package: str, what: str, base: str) -> tuple[Step, ...]:
    """For all users, so that it lies where it is known to."""
    words = (
        "--exact",
        "--id",
        package,
        "--scope",
        "machine",
        "--accept-source-agreements",
        "--accept-package-agreements",
    )
    inverse = Inverse((("winget", "uninstall", "--exact", "--id", package),))
    command = Command(("winget", "install", *words), what, needs_root=True, timeout_s=3600, inverse=inverse)
    return (Unless(what, path=base), command, Unless("", ends=True))


def _with_uv(python: str, row: SystemRow | None, target: Target, matrix: Matrix) -> Environment:
    """uv, in an environment of its own made by the system's Python, fetches the Python that the system has not."""
    base = max(row.pythons or {}, key=release_key) if row and row.pythons else ""
    first = _installed((row.pythons or {})[base], base, target) if row and base else ()
    if not first and manager_of(target) == "apt" and not target.live:
        first = _installed("python3-venv", "3", target)  # of whichever release: Debian and Ubuntu keep venv apart
    uv = f"{_UV}/bin/uv"
    holder = plan_for(CreateEnvironment(_UV, base), target._replace(tool="pip"), matrix).steps
    fetch = Command((f"{_UV}/bin/python", "-m", "pip", "install", "uv"), "uv, which downloads Pythons",
                    inverse=NOTHING_TO_TAKE_BACK)  # fmt: skip
    [make_it] = plan_for(CreateEnvironment(target.prefix, python), target._replace(tool="uv"), matrix).steps
    if isinstance(make_it, Command):
        make_it = make_it._replace(argv=(uv, "venv", "--seed", *make_it.argv[2:]), why=_WHY)
    inside = target._replace(python=made(target.prefix, target).python, tool="pip")
    holding = (Unless("uv", path=uv), *holder, fetch, Unless("", ends=True))
    return Environment((*first, *holding, *_once(inside, make_it)), inside)


def _takes_uv(row: SystemRow | None) -> bool:
    """Whether the system's Python installs uv; of a system that nobody named it is tried."""
    return row is None or any(release_key(one) >= release_key(_OLDEST_OF_UV) for one in row.pythons or ())


def _with_conda(python: str, besides: tuple[str, ...], target: Target, matrix: Matrix) -> Environment:
    """conda-forge has every release of Python, and packages that no index of wheels has."""
    why = f"{'it' if besides else f'no package of Python {python} is known here; it'} is from conda-forge"
    first, conda = _conda(why, target, matrix)
    [make_it] = plan_for(CreateEnvironment(target.prefix, python), target._replace(tool="conda"), matrix).steps
    if isinstance(make_it, Command):
        make_it = make_it._replace(argv=(conda, *make_it.argv[1:]))
    inside = target._replace(python=made(target.prefix, target._replace(tool="conda")).python, tool="pip")
    more: tuple[Step, ...] = ()
    if besides:
        argv = (conda, "install", "-y", "-p", target.prefix, "-c", "conda-forge", *besides)
        removal = (conda, "remove", "-y", "-p", target.prefix, *besides)
        what = f"{', '.join(besides)}: needed for the GPU, and not available as wheels"
        more = (Command(argv, what, timeout_s=3600, inverse=Inverse((removal,))),)
    return Environment((*first, *_once(inside, make_it), *more, *_newer_pip(python, inside)), inside)


def _conda(why: str, target: Target, matrix: Matrix) -> tuple[tuple[Step, ...], str]:
    """What installs conda, and its program; one that is there is used."""
    if target.conda:
        return (), target.conda
    if target.os_family == "windows":
        program = f"{_CONDA_OF_ALL}\\Scripts\\conda.exe"
        text = "Windows 7 has no winget: install a Miniforge with Python 3.8 there, for all users"
        old = Note(text, "3.9 needs Windows 8.1")
        return (*_winget("CondaForge.Miniforge3", "conda", program), old), program
    rows: tuple[CondaRow, ...] = matrix.rows("platform", "conda")
    row = next((one for one in rows if (one.os, one.arch) == (target.os_family, target.arch)), None)
    if row is None:
        return (ByHand("install conda, for example Miniforge", why),), "conda"
    name = row.url.rpartition("/")[2]
    program, words = f"{_CONDA}/bin/conda", ("bash", name, "-b", "-p", _CONDA)
    gone = Inverse((("rm", "-r", "--", _CONDA),), names=(_CONDA,), present=("test", "-e"))
    own = Command(words, "conda, in a directory of its own", timeout_s=3600, inverse=gone, staged=(name,))
    fetch = Download(url=row.url, to=name, sha256=(row.sha256,), size_bytes=None, digest_from="one", why=why)
    steps = (Unless("conda", path=program), fetch, own, Unless("", ends=True))
    return steps, program


def _once(inside: Target, *steps: Step) -> tuple[Step, ...]:
    return (Unless("the environment", path=inside.python), *steps, Unless("", ends=True))


def _newer_pip(python: str, target: Target) -> tuple[Step, ...]:
    if release_key(python) > release_key(_OLD_PIP):
        return ()
    newest = next(pip for oldest, pip in _LAST_PIP if release_key(python) <= release_key(oldest))
    argv = (target.python, "-m", "pip", "install", "--upgrade", newest)
    left = "the former pip is not restored"
    return (Command(argv, "a pip version that supports these wheels", inverse=Inverse(left=left)),)
