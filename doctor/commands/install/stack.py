"""`gpudoctor install stack torch`: one plan from a bare machine to a network that trains, composed of the other plans.

Driver, toolkit and cuDNN (only where the build brings none), an environment, the framework, the proof. What is there
already is left out. The order is that of NVIDIA's installation guides: a toolkit, and whatever needs the GPU, comes
after the restart into the new driver.
"""

from __future__ import annotations

from compat.base.discover import names_in
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import accepted_cudas, compilers_for, gpu_packages, host_of
from compat.cards import gpu_cards_of
from compat.matrix import Matrix, Uncovered, accepts
from compat.need import InstallDriver, InstallPackage
from compat.platform import absent
from compat.platform_row import ExtraRow
from compat.row import ChannelRow, FrameworkRow, GenerationRow
from compat.spec import Spec, normal, parse_spec
from compat.target import TargetMachine
from compat.version import ComputeCapability, CudaVersion, DriverRelease
from doctor.commands.install import stack_environment, stack_libraries, stack_theano
from doctor.commands.install.driver_choice import driver_for, flavour_for
from doctor.commands.install.package_choice import solved_plan
from doctor.commands.install.package_solve import NoSuchRelease, NotSolved, Solved, solved, surroundings
from doctor.commands.install.stack_libraries import Libraries
from doctor.commands.matrix.can import machine_arch
from doctor.commands.verify import frameworks as verified_frameworks
from doctor.loader.cards import card_of
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.rules.shared.cards import generations, last_branch
from doctor.rules.shared.products import known_product
from installers.methods.driver import OPEN, branch_for
from installers.methods.wheel import interpreter
from installers.packages import manager_of, refresh
from installers.plan import Plan, Target
from installers.repository import ENDLESS, has_repository, repository_row, system, toolkits
from installers.step import Step
from installers.steps.already import Already
from installers.steps.check import Check
from installers.steps.command import Command
from installers.steps.pause import Pause
from installers.steps.prove import Prove
from installers.steps.reboot import Reboot
from installers.steps.unless import Unless
from installers.steps.write_file import WriteFile

# Keras 1 requires Theano, of any release; its own time was that of 0.8. Source: Keras-1.2.2.tar.gz, setup.py.
_HOST_OF_KERAS_1 = "theano==0.8.2"
# What their own makers name. Sources: torch/torch7:README.md; pytorch/pytorch, which took Caffe2 in.
_SUCCESSORS = {"torch7": "torch", "caffe2": "torch"}


class NoStack(GpudoctorError):
    """No rows make a whole stack of what was asked for, or the order does not say enough."""


class StackOrder(NamedTuple):
    """What was asked for."""

    framework: str  # "torch", "tensorflow==1.4", "jax[cuda12]"
    version: str = ""  # the release, where it is a word of its own
    gpus: tuple[str, ...] = ()  # as people name them; () for those of this machine
    named_arch: bool = True  # whether the processor of the target was said, or seen


class _Cards(NamedTuple):
    """The GPUs that must work."""

    capabilities: tuple[ComputeCapability, ...]
    families: tuple[str, ...]
    rows: tuple[GenerationRow, ...]


class Stack(NamedTuple):
    """A plan, and the machine with the environment that it is for."""

    plan: Plan
    target: Target


def stack_plan(asked: StackOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Stack:
    """The whole; raises NoStack, NotSolved, BadSpec, NoSuchName, Uncovered, and what the plans for its parts raise."""
    try:
        return _stack_plan(asked, target, facts, matrix)
    except (NoStack, NotSolved) as error:
        if target.os_family == "windows" and _is_for_wsl(asked, target, matrix):
            error.hint = "For WSL there is one: the same command with --os wsl, carried out there."
        raise


def _is_for_wsl(asked: StackOrder, target: Target, matrix: Matrix) -> bool:
    inside = target._replace(os_family="linux", wsl=True, distribution="ubuntu", distribution_version="", live=False)
    try:
        _stack_plan(asked, inside, None, matrix)
    except (GpudoctorError, Uncovered):
        return False
    return True


def _stack_plan(asked: StackOrder, target: Target, facts: Facts | None, matrix: Matrix) -> Stack:
    spec = _spec(asked)
    cards, target = _cards(asked, target, facts, matrix)
    _require_rows(spec, target, facts, matrix)
    own = stack_environment.own_of(target, facts)
    where, hold = _where(cards, target, own, facts, matrix)
    found, driver_stays = _solved(spec, where, hold, _newest(cards, target, matrix), matrix)
    row = found.row
    if row is not None and row.cuda == "":
        host = _host(found, row, matrix)
        stack = _stack_plan(asked._replace(framework=host, version=""), target, facts, matrix)
        return _upon(stack, host, found, matrix)
    if row is None or (row.pins is None and row.python is None):
        raise NoStack(_no_wheel(found, matrix))
    _require_known(found, row, cards, matrix)
    libraries = stack_libraries.choose(row, where, target, facts, matrix)
    driver = () if driver_stays else _driver(libraries.cuda_of(row, matrix), cards, target, facts, matrix)
    environment = stack_environment.make(found, own, target, matrix)
    framework = _framework(found, environment.target, facts, matrix)
    steps = (
        *_there(facts, driver_stays),
        *driver,
        *libraries.steps,
        *environment.steps,
        *framework,
        *_settings(found, libraries, environment.target, matrix),
        *_proof(found, row, environment.target),
    )
    return Stack(Plan(f"install {_named(found)} for {_spoken(asked, cards)}", steps), environment.target)


def _require_known(found: Solved, row: FrameworkRow, cards: _Cards, matrix: Matrix) -> None:
    """Raise NoStack if no build is known to work and its CUDA is older than a card."""
    if not found.doubts or not row.cuda:
        return
    try:
        known = all(compilers_for(one, accepted_cudas(row, matrix), matrix)[0] for one in cards.capabilities)
    except Uncovered:
        return
    if not known:
        names = tuple(one.sm for one in cards.capabilities)
        about = next((one for one in found.doubts if any(name in one for name in names)), found.doubts[0])
        raise NoStack(f"no build of {found.name} is known to work on {' and '.join(names)}: {about}")


def _spec(asked: StackOrder) -> Spec:
    spec = known_product(parse_spec(asked.framework))
    if not asked.version:
        return spec
    if spec.versions:
        raise NoStack(f"{asked.framework} already contains a version: omit {asked.version}")
    return known_product(parse_spec(f"{asked.framework}=={asked.version}"))


def _require_rows(spec: Spec, target: Target, facts: Facts | None, matrix: Matrix) -> None:
    """Raise NoStack for an extra, and for a release of a distribution, that no row knows."""
    plugins = {name.removeprefix(f"{spec.name}-").removesuffix("-plugin") for name in gpu_packages(spec.name)}
    rows: tuple[ExtraRow, ...] = matrix.rows("package", "extras")
    known = plugins - set(gpu_packages(spec.name)) | {row.extra for row in rows if row.package == spec.name}
    for extra in spec.extras:
        if extra not in known:
            raise NoStack(f"the extra {extra} of {spec.name} is unknown; known: {', '.join(sorted(known)) or 'none'}")
    if target.arch == "jetson":
        raise NoStack(f"on Jetson boards JetPack contains driver, CUDA and cuDNN: use gpudoctor install {spec.name}")
    if facts is not None or not target.distribution or manager_of(target) == "pacman":
        return
    if stack_environment.system_row(target, matrix) is None and not has_repository(target, matrix):
        raise NoStack(f"{system(target)} is unknown: give the release, as in --distribution ubuntu-24.04")


def _named(found: Solved) -> str:
    return f"{found.name} {found.versions.removeprefix('==')}".strip() + (f" ({found.build})" if found.build else "")


def _spoken(asked: StackOrder, cards: _Cards) -> str:
    names = asked.gpus or tuple(one.sm for one in cards.capabilities)
    return " and ".join(names)


def _no_wheel(found: Solved, matrix: Matrix) -> str:
    rows: tuple[ChannelRow, ...] = matrix.rows("index", "channels")
    ways = [f"`{row.command}` ({row.channel})" for row in rows if row.package == found.name]
    if found.name in _SUCCESSORS:
        ways.append(f"{_SUCCESSORS[found.name]}: gpudoctor install stack {_SUCCESSORS[found.name]}")
    instead = f". People use {' or '.join(ways)}" if ways else ": compile it by hand, with its libraries"
    return f"no wheel of {found.name} is known{instead}"


def _host(found: Solved, row: FrameworkRow, matrix: Matrix) -> str:
    """The framework that does the GPU work of one without GPU code."""
    if found.name == "keras" and accepts("<2", found.versions.removeprefix("==")):
        return _HOST_OF_KERAS_1
    host = host_of(row, matrix)
    return host if matrix.has(host) else "tensorflow"  # Keras says no more than "its backend"


def _upon(stack: Stack, host: str, found: Solved, matrix: Matrix) -> Stack:
    """The stack of the host, and then this one into the same environment."""
    plan, _ = solved_plan(found, stack.target._replace(installed=frozenset()), matrix)
    name, _, version = host.partition("==")
    config = f'{{"backend": "{name}", "image_dim_ordering": "th", "floatx": "float32", "epsilon": 1e-07}}'
    write = (WriteFile("~/.keras/keras.json", (config,), f"Keras uses {name}"),) if version else ()
    at = next(number for number, step in enumerate(stack.plan.steps) if isinstance(step, Check))
    proof = Prove((interpreter(stack.target), "-c", f"import {found.name}"), f"verify: {found.name} starts")
    steps = (*stack.plan.steps[:at], *plan.steps, *write, *stack.plan.steps[at:], proof)
    return Stack(Plan(f"{stack.plan.summary}, and {_named(found)}", steps), stack.target)


def _settings(found: Solved, libraries: Libraries, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    if found.name != "theano":
        return ()
    return stack_theano.settings(found.versions.removeprefix("=="), libraries.cuda, target, matrix)


# --- the cards and the place ------------------------------------------------------------------------------------------


def _cards(asked: StackOrder, target: Target, facts: Facts | None, matrix: Matrix) -> tuple[_Cards, Target]:
    """The cards that were named, else those of this machine; and the processor of the machines that they sit in."""
    if not asked.gpus:
        rows = generations(facts, matrix) if facts else ()
        seen = surroundings(target, facts)[0].capabilities if facts else ()
        capabilities = seen or tuple(dict.fromkeys(row.capabilities[-1] for row in rows))
        if not capabilities:
            where = "on this machine" if facts else "on another machine"
            raise NoStack(f'the GPU {where} is unknown: give it, as in --gpu "RTX 5090"')
        return _Cards(capabilities, (), rows), target
    named = gpu_cards_of(asked.gpus, matrix)
    arch = "" if asked.named_arch else machine_arch(named, matrix)
    capabilities = tuple(dict.fromkeys(chip for card in named for chip in card.capabilities))
    rows = tuple(dict.fromkeys(matrix.generation(one) for one in capabilities))
    families = tuple(dict.fromkeys(card.family for card in named))
    return _Cards(capabilities, families, rows), target._replace(arch=arch or target.arch)


def _where(
    cards: _Cards, target: Target, own: str, facts: Facts | None, matrix: Matrix
) -> tuple[TargetMachine, tuple[Spec, ...]]:
    """What must hold; the Python only of an environment that stays, and what is installed only there."""
    where, hold = surroundings(target, facts)
    glibc = where.glibc or stack_environment.glibc_of(target, matrix)
    python = where.python if own else ""
    return where._replace(
        arch=target.arch or where.arch,
        capabilities=cards.capabilities,
        families=cards.families,
        glibc=glibc,
        python=python,
    ), hold if own else ()


def _solved(
    spec: Spec, where: TargetMachine, hold: tuple[Spec, ...], newest: DriverRelease | None, matrix: Matrix
) -> tuple[Solved, bool]:
    """With the driver that runs, where something of what was asked for works on it; else with the newest available.

    What is installed stays, where it is what was asked for and is known to work.
    """
    same = {spec.name, *gpu_packages(spec.name)}
    there = next((one for one in hold if one.name in same and _admits(spec, one)), None)
    others = tuple(one for one in hold if one.name not in same)
    if where.driver is not None:
        for one in (there, spec):
            try:
                found = _tried(one, where, others, matrix) if one else None
            except NotSolved:
                continue
            if found and (one is spec or not found.doubts):
                return found, True
    return _tried(spec, where._replace(driver=newest), others, matrix), False


def _newest(cards: _Cards, target: Target, matrix: Matrix) -> DriverRelease | None:
    """The newest driver for the cards and the distribution; None where there is no last one."""
    last, made = last_branch(cards.rows), _newest_made(target, matrix)
    known = (*((DriverRelease.parse(str(last)),) if last else ()), *((made,) if made else ()))
    return min(known, key=lambda one: one.branch, default=None)


def _admits(spec: Spec, there: Spec) -> bool:
    return accepts(spec.versions, there.versions.removeprefix("==")) and spec.build in {"", there.build}


def _tried(spec: Spec, where: TargetMachine, hold: tuple[Spec, ...], matrix: Matrix) -> Solved:
    try:
        return solved(spec, where, hold, matrix)
    except NoSuchRelease as error:
        error.hint = ""
        raise
    except NotSolved as error:
        missing = (absent(name, spec.versions, where, matrix) for name in gpu_packages(spec.name))
        row = next((one for one in missing if one), None)
        if row:
            raise NotSolved(row.summary) from error
        raise


# --- the driver -------------------------------------------------------------------------------------------------------


def _there(facts: Facts | None, driver_stays: bool) -> tuple[Step, ...]:
    if facts is None or not driver_stays:
        return ()
    return (Already(f"the NVIDIA driver {value_or(facts.driver.release, '')}".rstrip()),)


def _driver(cuda: CudaVersion, cards: _Cards, target: Target, facts: Facts | None, matrix: Matrix) -> tuple[Step, ...]:
    """The driver of the last branch for a card that was dropped, else the oldest lasting one that will do."""
    if target.arch == "jetson":
        return ()  # it comes with the board's system
    last, floor = last_branch(cards.rows), _floor(cuda, cards, target, matrix)
    if last and floor and floor.branch > last:
        raise NoStack(f"CUDA {cuda} needs driver {floor} or newer, and {last} is the last branch for this GPU")
    spec = f"=={last}.*" if last else f">={floor}" if floor else ""
    flavour = flavour_for("", cards.rows)
    plan = driver_for(InstallDriver(_had(spec, floor, flavour, target, matrix), flavour), target, facts, matrix)
    check = next((step for step in plan.steps if isinstance(step, Check)), None)
    steps = tuple(step for step in plan.steps if not isinstance(step, (Check, Reboot)))
    on_windows = target.wsl or target.os_family == "windows"
    elsewhere = (
        "restart Windows after the driver is installed"
        if on_windows
        else "restart the container after its host has the driver"
        if target.container
        else ""
    )
    pause = Pause(
        elsewhere or "reboot",
        "the next steps need the driver",
        check.expects if check else (),
        check.finds if check else None,
        is_reboot=not elsewhere,
    )
    oldest = str(floor or last or 0)
    oldest += "" if "." in oldest else ".0"
    by_command = any(isinstance(one, Command) and not one.place for one in steps)
    lists = refresh(target) if by_command and steps[:1] != refresh(target) else ()  # a bare system may have none
    return (Unless("the NVIDIA driver", driver=oldest), *lists, *steps, pause, Unless("", ends=True))


def _had(spec: str, floor: DriverRelease | None, flavour: str, target: Target, matrix: Matrix) -> str:
    """The specifier, where NVIDIA made drivers as new for the distribution's release; else what there is of its time.

    Which branches Ubuntu's own packages are of is in no row: "" leaves the choice to it. Raises NoStack.
    """
    newest = _newest_made(target, matrix)
    if newest is None or branch_for(spec, matrix) <= newest.branch:
        return spec
    of_its_own = manager_of(target) == "apt" and target.distribution != "debian"
    if (floor and floor > newest) or (of_its_own and flavour == OPEN):
        raise NoStack(f"driver {floor} is needed, but {newest} is the newest for {system(target)}")
    return "" if of_its_own else f"=={newest.branch}.*"


def _newest_made(target: Target, matrix: Matrix) -> DriverRelease | None:
    """The driver of the last CUDA in a repository that is not continued; None for every other."""
    if target.wsl or target.container or target.os_family != "linux":
        return None
    try:
        row, cuda = repository_row(target, matrix), toolkits(target, matrix)[-1]
    except (Uncovered, GpudoctorError):
        return None
    return None if accepts(row.cuda or "", ENDLESS) else matrix.toolkit(cuda).toolkit_driver_linux


def _floor(cuda: CudaVersion, cards: _Cards, target: Target, matrix: Matrix) -> DriverRelease | None:
    """The oldest driver on which programs of this CUDA start, and that knows the cards.

    A card is known to the driver that came with the first CUDA that builds for it.
    """
    system = "windows" if target.os_family == "windows" or target.wsl else "linux"
    found: list[DriverRelease] = []
    try:
        found.append(matrix.driver_floor(cuda, system))
    except Uncovered:
        pass
    for row in cards.rows:
        try:
            toolkit = matrix.toolkit(row.cuda_first) if row.cuda_first else None
        except Uncovered:
            continue
        release = getattr(toolkit, f"toolkit_driver_{system}", None)
        found += [release] if release else []
    return max(found, default=None)


# --- the framework and the proof --------------------------------------------------------------------------------------


def _framework(found: Solved, target: Target, facts: Facts | None, matrix: Matrix) -> tuple[Step, ...]:
    if facts is not None and _is_installed(found, target):
        return (Already(_named(found)),)
    plan, _ = solved_plan(found, target, matrix)
    return plan.steps


def _is_installed(found: Solved, target: Target) -> bool:
    """The very release, with the build in its version where it carries one."""
    version = dict(target.releases).get(normal(found.name), "")
    release, _, local = version.partition("+")
    return found.versions == f"=={release}" and (not found.build or found.build == local or not local)


def _proof(found: Solved, row: FrameworkRow, target: Target) -> tuple[Step, ...]:
    name, python = found.name.partition("-gpu")[0], interpreter(target)
    need = InstallPackage(found.name, found.versions, python)
    steps: list[Step] = [Check(f"expected: {_named(found)} found, no errors", (), need)]
    if row.cuda is None and name != "theano":
        steps.append(Prove(("gpudoctor", "install", "config", name), "configure it for the GPU"))
    card = card_of(name)
    if card and card.proof:
        steps.append(Prove((python, "-c", card.proof), f"verify: {name} computes on the GPU"))
    words = ("--framework", name) if name in names_in(verified_frameworks) else ()
    steps.append(Prove(("gpudoctor", "verify", *words, "--python", python), "verify: run a convolution on the GPU"))
    return tuple(steps)
