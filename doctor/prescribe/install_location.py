"""Where the packages that a remedy changes lie: not always in the site that the environment's own pip fills."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from compat.need import ChangePackages, Need, as_json
from doctor.model.facts.environment import Base, Environment
from doctor.model.facts.seen import value_or

_OF_THE_SYSTEM = ("/usr/lib/", "/usr/lib64/")  # what the distribution's packages fill: pip writes below /usr/local


class Place(NamedTuple):
    """As `installers.plan.Target` has it."""

    site: str = ""
    into: str = ""
    runner: str = ""
    externally_managed: bool = False
    by_pip: bool = False
    writable: bool = True
    brings_uv: bool = False


def place_of(need: Need | None, environment: Environment | None) -> Place:
    """The site of what a need names, else of the frameworks there; the environment's own where that is not one."""
    if environment is None:
        return Place()
    sites = value_or(environment.sites, ())
    found = (_of_distributions(need, environment) or _of_frameworks(environment)) & {*sites}
    site = next(iter(found)) if len(found) == 1 else ""
    base = environment.base
    managed = environment.externally_managed
    if site and base is not None and not is_reached(site, environment) and _is_of(site, base):
        return Place(
            site=site,
            runner=base.interpreter,
            externally_managed=base.externally_managed,
            by_pip=not site.startswith(_OF_THE_SYSTEM),
            writable=site not in environment.closed,
        )
    if site and not _is_below(site, environment.prefix) and not _is_the_users(site, environment):
        if found_by_uv := _by_uv(site, environment):
            return found_by_uv
        site = site if is_reached(site, environment) else ""
    own = site or next((one for one in sites if environment.kind in {"venv", "conda"}), "")
    by_pip = managed and bool(site) and not site.startswith(_OF_THE_SYSTEM)
    into = site if _is_the_users(site, environment) else ""
    return Place(
        site=site,
        into=into,
        externally_managed=managed,
        by_pip=by_pip,
        writable=own not in environment.closed,
    )


def _by_uv(site: str, environment: Environment) -> Place | None:
    """A directory that no Python has for its own: pip's --target replaces all of nvidia/ there, uv one package."""
    if environment.installers not in {("uv",), ("pip",)}:
        return None
    brings_uv = environment.installers == ("pip",)
    return Place(site, site, writable=site not in environment.closed, brings_uv=brings_uv)


def is_reached(place: str, environment: Environment) -> bool:
    """Whether an installer changes it: in an environment pip and uv leave alone what lies outside, in ~/.local too."""
    return environment.kind not in {"venv", "conda"} or _is_below(place, environment.prefix)


def _is_below(place: str, prefix: str) -> bool:
    return place.startswith(f"{prefix.rstrip('/')}/")


_USERS = re.compile(r"/\.local/lib/python[^/]*/|/Python/Python\d+/site-packages$")  # Python's documentation, "site"


def _is_the_users(site: str, environment: Environment) -> bool:
    """Whether `pip install --user` put it there; a directory on PYTHONPATH lies outside of the prefix as well."""
    if environment.kind in {"venv", "conda"} or _is_below(site, environment.prefix):
        return False
    return _USERS.search(site.replace("\\", "/")) is not None


def _is_of(site: str, base: Base) -> bool:
    prefix = base.prefix.rstrip("/")
    return site.startswith((f"{prefix}/lib", f"{prefix}/local/lib"))


def _of_distributions(need: Need | None, environment: Environment) -> set[str]:
    names = {as_json(need).product} if need else set()
    if isinstance(need, ChangePackages):
        names = {*need.remove, *(re.split(r"[^\w.-]", one)[0] for one in need.install)}
    there = (one for one in value_or(environment.distributions, ()) if one.name in names and not one.hidden_by)
    return {one.site for one in there}


def _of_frameworks(environment: Environment) -> set[str]:
    return {one.path.rpartition("/")[0] for one in value_or(environment.frameworks, ()) if one.path}
