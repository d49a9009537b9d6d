"""The machine and the environment concerned, as `installers` must know them to write a plan."""

from __future__ import annotations

from compat.need import Need, as_json
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.prescribe.install_location import place_of
from installers.plan import Target

# What sudo's own configuration admits: %sudo and %admin (Debian, Ubuntu), %wheel (RHEL, Fedora, SUSE, Arch),
# %google-sudoers (images of Google's cloud).
_ADMITTED = frozenset({"root", "sudo", "admin", "wheel", "google-sudoers"})


def target_of(facts: Facts, need: Need | None = None) -> Target:
    """What a plan for this need, or for none, must know of the machine and of the environment concerned."""
    system = facts.system
    environment = _environment_of(as_json(need).where if need else "", facts)
    place = place_of(need, environment)
    cuda = value_or(facts.driver.cuda, None)
    return Target(
        os_family=value_or(system.family, ""),
        distribution=_distribution(facts)[0],
        distribution_version=_distribution(facts)[1],
        arch=_arch(facts),
        wsl=value_or(system.wsl, 0) > 0,
        live=facts.machine.kind == "live",
        python=environment.interpreter if environment else "",
        environment_kind=environment.kind if environment else "",
        cuda_major=cuda.major if cuda else 0,
        prefix=environment.prefix if environment else "",
        installed=_installed(environment),
        externally_managed=place.externally_managed,
        is_root=value_or(system.is_root, False) or not facts.machine.is_running,  # `chroot` runs as root
        container=value_or(system.container, ""),
        user=value_or(system.sudo_user, "") or value_or(system.user, ""),
        kernel=value_or(system.kernel, ""),
        releases=_releases(environment),
        installers=("uv",) if place.brings_uv else environment.installers if environment else (),
        keeper=environment.keeper if environment else "",
        project=environment.project if environment else "",
        declared=frozenset(environment.declared) if environment else frozenset(),
        conda=environment.conda if environment else "",
        derivative=value_or(system.distribution_id, "") if value_or(system.base, ("", "")) != ("", "") else "",
        may_be_root=may_be_root(facts),
        driver_by=value_or(facts.driver.brought_by, ""),
        runner=place.runner,
        site=place.site,
        into=place.into,
        by_pip=place.by_pip,
        writable=place.writable,
        brings_uv=place.brings_uv,
    )


def _distribution(facts: Facts) -> tuple[str, str]:
    """Of a derivative what it is made of, as its packages are those; a rolling one (Kali) keeps its own name.

    "fedora-ostree" for Silverblue, Kinoite, Bazzite: the package manager of Fedora installs nothing there.
    """
    name, version = value_or(facts.system.distribution_id, ""), value_or(facts.system.distribution_version, "")
    base, of_base = value_or(facts.system.base, ("", ""))
    if base and of_base:
        return base, of_base
    return f"{name}-ostree" if value_or(facts.system.ostree, False) else name, version


def may_be_root(facts: Facts) -> bool:
    """Whether this user can run what needs root; True where unknown. A single user may be admitted besides."""
    system = facts.system
    if facts.machine.kind != "live" or value_or(system.is_root, False):
        return True
    groups = value_or(system.groups, None)
    return groups is None or not _ADMITTED.isdisjoint(groups) or value_or(system.family, "") != "linux"


def _arch(facts: Facts) -> str:
    """The platform as NVIDIA names its downloads."""
    if value_or(facts.system.jetson, ""):
        return "jetson"
    machine = value_or(facts.system.machine, "")
    return {"aarch64": "sbsa", "amd64": "x86_64", "AMD64": "x86_64"}.get(machine, machine)


def _environment_of(where: str, facts: Facts) -> Environment | None:
    """The environment that a need names by its interpreter, its prefix or a path inside it; None without a name.

    Of several that a path is in, the innermost: /opt/conda/envs/t is not /opt/conda.
    """
    known = value_or(facts.environments, ())
    named = [one for one in known if where == one.interpreter]
    inside = [one for one in known if _is_inside(where, one) or _in_a_site(where, one)]
    return next(iter(named or sorted(inside, key=lambda one: len(one.prefix), reverse=True)), None)


def _is_inside(where: str, environment: Environment) -> bool:
    prefix = environment.prefix.rstrip("/")
    return where == environment.prefix or (where.startswith(f"{prefix}/") and environment.kind != "system")


def _in_a_site(where: str, environment: Environment) -> bool:
    sites = environment.sites.value if isinstance(environment.sites, Seen) else ()
    return any(where.startswith(f"{site}/") for site in sites)


def _installed(environment: Environment | None) -> frozenset[str]:
    return frozenset(name for name, _ in _releases(environment))


def _releases(environment: Environment | None) -> tuple[tuple[str, str], ...]:
    if environment is None:
        return ()
    if isinstance(environment.distributions, Unseen):  # a text names its frameworks only
        return tuple((one.package, one.version) for one in value_or(environment.frameworks, ()))
    return tuple((one.name, one.version) for one in value_or(environment.distributions, ()) if not one.hidden_by)
