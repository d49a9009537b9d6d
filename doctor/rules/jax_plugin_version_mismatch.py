"""jax, jaxlib and the CUDA plugin are of different releases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import InstallPackage, Need
from compat.specifier import keeps
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms, installed
from doctor.rules.shared.pins import pin
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_BROUGHT = ("framework-wants-other-cuda", "cudart-soname-missing", "cudnn-missing")  # jax's extra brings libraries, too


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """A plugin must be of the release of a jaxlib that checks it, else of one that an extra of jax takes.

    jaxlib must be as jax asks for, and no newer than jax.

    Sources: jaxlib/plugin_support.py (check_plugin_version; jaxlib 0.4.34 has none),
    jax/_src/lib/__init__.py (check_jaxlib_version).
    """
    parts = {one.name: one for one in installed(environment) if _is_part(one.name)}
    if "jaxlib" not in parts or len(parts) == 1:
        raise NotApplicable("jaxlib and its plugins are not installed together")
    problems = [*_with_jax(parts, environment), *_with_plugins(parts, environment), *_halves(parts, environment)]
    if not problems:
        return ok("jax, jaxlib and the plugins fit together: " + _list(parts))
    return bad(
        "; ".join(problems),
        *_needs(parts, environment),
        evidence=tuple(Evidence.at(one.place, f"{one.name} {one.version}") for one in parts.values()),
        explains=tuple(_symptoms(environment)),
    )


def _is_part(name: str) -> bool:
    return name in ("jax", "jaxlib") or re.fullmatch(r"jax-cuda\d+-(plugin|pjrt)", name) is not None


def _release(one: Distribution) -> tuple[int, ...]:
    """The dotted number that JAX compares, without local and development parts."""
    match = re.match(r"\d+(?:\.\d+)*", one.version)
    return tuple(map(int, match[0].split("."))) if match else ()


def _with_jax(parts: dict[str, Distribution], environment: Environment) -> Iterator[str]:
    jax, jaxlib = parts.get("jax"), parts["jaxlib"]
    if jax is None:
        return
    if _release(jaxlib) > _release(jax):
        yield f"jaxlib {jaxlib.version} is newer than jax {jax.version}, which refuses it"
        return
    for asked in _jaxlib_pins(environment):
        if not keeps(asked, jaxlib.version.partition("+")[0]):
            yield f"jax {jax.version} requires jaxlib {asked}; {jaxlib.version} is installed"


def _jaxlib_pins(environment: Environment) -> Iterator[str]:
    frameworks = value_or(environment.frameworks, ())
    asked = (pin(text) for each in frameworks if each.package == "jax" for text in value_or(each.requires, ()))
    return (one.specifier for one in asked if one and one.name == "jaxlib" and not one.optional)


def _with_plugins(parts: dict[str, Distribution], environment: Environment) -> Iterator[str]:
    jaxlib = parts["jaxlib"]
    frameworks = value_or(environment.frameworks, ())
    refused = tuple(start for each in frameworks if each.package == "jaxlib" for start in each.refuses_others)
    for name, one in parts.items():
        if name.endswith("-plugin") and name.startswith(refused) and _release(one) != _release(jaxlib):
            yield f"{name} {one.version} does not fit jaxlib {jaxlib.version} and is not used"
        elif name.endswith("-plugin") and (outside := _outside(name, one, environment)):
            yield outside
        partner = parts.get(name.replace("-pjrt", "-plugin"))
        if name.endswith("-pjrt") and partner and _release(partner) != _release(one):
            yield f"{name} {one.version} does not fit {partner.name} {partner.version}"


def _outside(name: str, one: Distribution, environment: Environment) -> str:
    """Return that no extra of jax takes this release of a plugin; "" where one does, or none names it."""
    of_jax = next((each for each in value_or(environment.frameworks, ()) if each.package == "jax"), None)
    asked = filter(None, map(pin, value_or(of_jax.requires, ()) if of_jax else ()))
    taken = [each.specifier for each in asked if each.name == name and each.specifier]
    if of_jax is None or not taken or any(keeps(each, one.version.partition("+")[0]) for each in taken):
        return ""
    return f"{of_jax.label} takes {name} {taken[0]}; {one.version} is installed and may crash"


def _halves(parts: dict[str, Distribution], environment: Environment) -> Iterator[str]:
    """A plugin asks for its other half, which holds the compiler and is what JAX opens."""
    for each in value_or(environment.frameworks, ()):
        for one in filter(None, map(pin, value_or(each.requires, ()))):
            if one.name.endswith("-pjrt") and not one.optional and one.name not in parts:
                yield f"{each.label} requires {one.name}{one.specifier}, which is not installed: JAX sees no GPU"


def _needs(parts: dict[str, Distribution], environment: Environment) -> tuple[Need, ...]:
    """jax with its extra, which brings jaxlib and the plugin of the same release; jaxlib where there is no plugin."""
    jax = parts.get("jax", parts["jaxlib"])
    plugin = next((re.search(r"cuda\d+", name) for name in parts if name.endswith(("-plugin", "-pjrt"))), None)
    asked = next(_jaxlib_pins(environment), "")
    if plugin is None and asked and not keeps(asked, parts["jaxlib"].version.partition("+")[0]):
        return (InstallPackage("jaxlib", asked, environment.interpreter),)
    release, build = jax.version.partition("+")[0], plugin[0] if plugin else ""
    return (InstallPackage("jax", f"=={release}", environment.interpreter, build),)


def _symptoms(environment: Environment) -> Iterator[Symptom]:
    for framework in value_or(environment.frameworks, ()):
        if _is_part(framework.package):
            yield from import_symptoms(framework)
            yield from (Symptom(code, framework.label) for code in _BROUGHT if framework.package.startswith("jax-cuda"))


def _list(parts: dict[str, Distribution]) -> str:
    return ", ".join(f"{one.name} {one.version}" for one in parts.values())


RULE = Rule(ENVIRONMENTS, check)
