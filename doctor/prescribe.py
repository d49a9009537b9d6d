"""From needs to remedies: the machine as `installers` must know it, a plan, and its commands."""

from __future__ import annotations

from collections.abc import Iterable

from compat.matrix import Matrix
from compat.need import Need
from doctor.facts import Facts
from doctor.facts.environment import Environment
from doctor.facts.seen import Seen, value_or
from doctor.finding import Remedy
from installers.choose import NoMethod, plan_for
from installers.plan import ByHand, Plan, Target
from installers.render import commands


def prescribe(needs: Iterable[Need], facts: Facts, matrix: Matrix) -> tuple[Remedy, ...]:
    """One remedy a need, in their order."""
    return tuple(_remedy(need, facts, matrix) for need in needs)


def _remedy(need: Need, facts: Facts, matrix: Matrix) -> Remedy:
    target = target_of(facts, need)
    try:
        plan = plan_for(need, target, matrix)
    except NoMethod as error:
        # the finding is right all the same: the report must show it, and what is lacking
        text = f"bring about: {' '.join(filter(None, need))}"
        plan = Plan(text, (ByHand(text, f"{error}. {error.hint}"),))
    return Remedy(plan.summary, need, plan, commands(plan, target))


def target_of(facts: Facts, need: Need) -> Target:
    """What a plan for this need must know of the machine and of the environment concerned."""
    system = facts.system
    environment = _environment_of(need, facts)
    cuda = value_or(facts.driver.cuda, None)
    return Target(
        os_family=value_or(system.family, ""),
        distribution=value_or(system.distribution_id, ""),
        distribution_version=value_or(system.distribution_version, ""),
        arch=_arch(facts),
        wsl=value_or(system.wsl, 0) > 0,
        live=facts.machine.kind == "live",
        python=environment.interpreter if environment else "",
        environment_kind=environment.kind if environment else "",
        cuda_major=cuda.major if cuda else 0,
        prefix=environment.prefix if environment else "",
        installed=_installed(environment),
        externally_managed=environment is not None and environment.externally_managed,
        is_root=value_or(system.is_root, False),
        container=value_or(system.container, ""),
        user=value_or(system.sudo_user, "") or value_or(system.user, ""),
        kernel=value_or(system.kernel, ""),
        releases=_releases(environment),
    )


def _arch(facts: Facts) -> str:
    """The platform as NVIDIA names its downloads."""
    if value_or(facts.system.jetson, ""):
        return "jetson"
    machine = value_or(facts.system.machine, "")
    return {"aarch64": "sbsa", "amd64": "x86_64", "AMD64": "x86_64"}.get(machine, machine)


def _environment_of(need: Need, facts: Facts) -> Environment | None:
    """The environment that a need names by its interpreter, its prefix or a path inside it; None without a name."""
    for one in value_or(facts.environments, ()):
        inside = need.where == one.prefix or need.where.startswith(f"{one.prefix.rstrip('/')}/")
        if need.where == one.interpreter or (inside and one.kind != "system") or _in_a_site(need.where, one):
            return one
    return None


def _in_a_site(where: str, environment: Environment) -> bool:
    sites = environment.sites.value if isinstance(environment.sites, Seen) else ()
    return any(where.startswith(f"{site}/") for site in sites)


def _installed(environment: Environment | None) -> frozenset[str]:
    return frozenset(name for name, _ in _releases(environment))


def _releases(environment: Environment | None) -> tuple[tuple[str, str], ...]:
    if environment is None:
        return ()
    return tuple((one.name, one.version) for one in value_or(environment.distributions, ()) if not one.hidden_by)
