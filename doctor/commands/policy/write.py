"""Write a policy from a machine that works, as goss does: what is there is what is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.policy import POLICY_FILE
from doctor.model.facts.seen import Seen, value_or
from doctor.output.toml import inline, quoted

_GIB = 1 << 30


def policy_text(facts: Facts, pythons: tuple[str, ...] = ()) -> str:
    """TOML with a line for each thing that was seen, each as narrow as a job may depend on it.

    `pythons`: the environments that were asked for, so that whoever judges by it looks at the same.
    """
    lines = [f"# {POLICY_FILE}: what this project asks of a machine; `gpudoctor check` judges by it.", "", "[require]"]
    lines += [f"{key} = {value}" for key, value in _machine(facts)]
    frameworks = dict(_frameworks(facts))
    lines += ["", "[require.frameworks]", *(f"{quoted(name)} = {inline(value)}" for name, value in frameworks.items())]
    lines += ["", "[environments]", f"python = [{', '.join(map(quoted, pythons))}]"] if pythons else []
    lines += [
        *("", "[findings]", "forbid = []", ""),
        *("# [[findings.allow]]", '# code = "persistence-off"', '# reason = "why, and who said so"'),
        "# expires = 2027-01-31",
    ]
    return "\n".join(lines) + "\n"


def _machine(facts: Facts) -> Iterator[tuple[str, str]]:
    if isinstance(facts.driver.release, Seen):
        yield "driver", quoted(f">={facts.driver.release.value}")
    gpus = value_or(facts.gpus, ())
    names = tuple(dict.fromkeys(gpu.name.value for gpu in gpus if isinstance(gpu.name, Seen)))
    if gpus and names:
        yield "gpu", quoted(names[0]) if len(names) == 1 else f"[{', '.join(map(quoted, names))}]"
        yield "gpu_count", str(len(gpus))
    sizes = [gpu.memory_bytes.value for gpu in gpus if isinstance(gpu.memory_bytes, Seen)]
    if sizes and len(sizes) == len(gpus):
        yield "gpu_memory", quoted(f">={round(min(sizes) / _GIB)}")
    capabilities = [gpu.capability.value for gpu in gpus if isinstance(gpu.capability, Seen)]
    if capabilities and len(capabilities) == len(gpus):
        low, high = min(capabilities), max(capabilities)
        yield "compute_capability", quoted(f"=={low}" if low == high else f">={low},<={high}")
    toolkits = [one.cuda.value for one in value_or(facts.toolkit.toolkits, ()) if isinstance(one.cuda, Seen)]
    if toolkits:
        yield "cuda", quoted(f"=={toolkits[0]}.*")
    copies = [one.version.value for one in value_or(facts.cudnn, ()) if isinstance(one.version, Seen)]
    if copies:
        yield "cudnn", quoted(f"=={copies[0]}")


def _frameworks(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of all environments that were looked at, as each of them has it."""
    found: dict[str, list[Framework]] = {}
    for environment in value_or(facts.environments, ()):
        for one in value_or(environment.frameworks, ()):
            found.setdefault(one.package, []).append(one)
    for package, those in sorted(found.items()):
        builds = {one.version.partition("+")[2] or value_or(one.build, "") for one in those}
        build = {"build": builds.pop()} if len(builds) == 1 and "" not in builds else {}
        yield package, {**_version({one.version.partition("+")[0] for one in those}), **build}


def _version(releases: set[str]) -> dict[str, str]:
    """The range from the oldest to the newest; nothing where one of them is no version."""
    from packaging.version import InvalidVersion, Version  # late: only with a policy

    try:
        first, *_, last = sorted([*releases, *releases], key=Version)
    except InvalidVersion:
        return {}
    return {"version": f"=={first}" if len(releases) == 1 else f">={first},<={last}"}
