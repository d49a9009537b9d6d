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
from compat.platform_row import DeclaredRow, SystemRow
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
from installers.steps.unless import Unless

_WHERE = ".venv"
_UV = ".uv"  # an environment that holds uv alone
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


def make(found: Solved, own: str, target: Target, matrix: Matrix) -> Environment:
    """Nothing where an environment is kept; raises NotSolved where no way to a Python for it is known."""
    if own:
        kept = (Already(f"the environment of {own}"),) if target.live else ()
        return Environment(kept, target)
    declared = _declared(found, matrix)
    pythons = found.pythons or (tuple(sorted(declared.python, key=release_key, reverse=True)) if declared else ())
    if not pythons:
        raise NotSolved(f"the Python for {found.name} {found.versions} is unknown: give an environment with --python")
    row = system_row(target, matrix)
    of_system = [one for one in pythons if row and one in (row.pythons or {})]
    inside = target._replace(
        environment_kind="",
        externally_managed=False,
        installed=frozenset(),
        releases=(),
        prefix=_WHERE,
        installers=(),
        keeper="",
        project="",
    )
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
    first = _winget(packages, python, base) if windows else _installed(packages, python, target)
    [make_it] = plan_for(CreateEnvironment(_WHERE, python), target._replace(tool="pip"), matrix).steps
    if windows and isinstance(make_it, Command):
        make_it = make_it._replace(argv=(base, "-m", "venv", _WHERE))
    inside = target._replace(python=made(_WHERE, target).python, tool="pip")
    return Environment((*first, *_once(inside, make_it), *_newer_pip(python, inside)), inside)


def _installed(packages: str, python: str, target: Target) -> tuple[Step, ...]:
    """The system's own packages of a Python."""
    return (*refresh(target), install(target, *packages.split(), why=f"Python {python}"))


def _winget(package: str, python: str, base: str) -> tuple[Step, ...]:
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
    command = Command(
        ("winget", "install", *words), f"Python {python}", needs_root=True, timeout_s=3600, inverse=inverse
    )
    return (Unless(f"Python {python}", path=base), command, Unless("", ends=True))


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
    [make_it] = plan_for(CreateEnvironment(_WHERE, python), target._replace(tool="uv"), matrix).steps
    if isinstance(make_it, Command):
        make_it = make_it._replace(argv=(uv, "venv", "--seed", *make_it.argv[2:]), why=_WHY)
    inside = target._replace(python=made(_WHERE, target).python, tool="pip")
    holding = (Unless("uv", path=uv), *holder, fetch, Unless("", ends=True))
    return Environment((*first, *holding, *_once(inside, make_it)), inside)


def _takes_uv(row: SystemRow | None) -> bool:
    """Whether the system's Python installs uv; of a system that nobody named it is tried."""
    return row is None or any(release_key(one) >= release_key(_OLDEST_OF_UV) for one in row.pythons or ())


def _with_conda(python: str, besides: tuple[str, ...], target: Target, matrix: Matrix) -> Environment:
    """conda-forge has every release of Python, and packages that no index of wheels has."""
    why = f"{'it' if besides else f'no package of Python {python} is known here; it'} is from conda-forge"
    first = ByHand("install conda, for example Miniforge", why)
    plan = plan_for(CreateEnvironment(_WHERE, python), target._replace(tool="conda"), matrix)
    inside = target._replace(python=made(_WHERE, target._replace(tool="conda")).python, tool="pip")
    more: tuple[Step, ...] = ()
    if besides:
        argv = ("conda", "install", "-y", "-p", _WHERE, "-c", "conda-forge", *besides)
        removal = ("conda", "remove", "-y", "-p", _WHERE, *besides)
        what = f"{', '.join(besides)}: needed for the GPU, and not available as wheels"
        more = (Command(argv, what, timeout_s=3600, inverse=Inverse((removal,))),)
    return Environment((first, *_once(inside, *plan.steps), *more), inside)


def _once(inside: Target, *steps: Step) -> tuple[Step, ...]:
    return (Unless("the environment", path=inside.python), *steps, Unless("", ends=True))


def _newer_pip(python: str, target: Target) -> tuple[Step, ...]:
    if release_key(python) > release_key(_OLD_PIP):
        return ()
    newest = next(pip for oldest, pip in _LAST_PIP if release_key(python) <= release_key(oldest))
    argv = (target.python, "-m", "pip", "install", "--upgrade", newest)
    left = "the former pip is not restored"
    return (Command(argv, "a pip version that supports these wheels", inverse=Inverse(left=left)),)
