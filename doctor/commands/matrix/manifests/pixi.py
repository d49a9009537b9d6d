"""pixi.toml, with the platform tables of pixi 0.71 that took the place of `system-requirements`.

Source: pixi's documentation of 0.76, "Declaring virtual packages per platform", `pixi workspace platform add`
(`cuda = { driver, arch }` declares conda's `__cuda` and `__cuda_arch`), "Pypi dependencies"; CEP 46.
"""

from __future__ import annotations

from doctor.commands.matrix.manifest import Manifest, Project, Unwritable, Wheel
from doctor.output.toml import Value, inline

_SUBDIRS = {
    ("linux", "x86_64"): "linux-64",
    ("linux", "sbsa"): "linux-aarch64",
    ("linux", "jetson"): "linux-aarch64",
    ("linux", "ppc64le"): "linux-ppc64le",
    ("windows", "x86_64"): "win-64",
    ("macos", "x86_64"): "osx-64",
    ("macos", "sbsa"): "osx-arm64",
}


def render(project: Project) -> str:
    """A workspace for the one platform that was solved for; the wheels are pixi's PyPI dependencies."""
    lines = ["[workspace]", 'name = "gpu-environment"', 'channels = ["conda-forge"]', 'requires-pixi = ">=0.71"']
    lines += [f"platforms = [{inline(_platform(project))}]", "", "[dependencies]"]
    lines += [f'python = "{project.python}.*"' if project.python else 'python = "*"']
    lines += ["", "[pypi-dependencies]", *(f"{one.spec.name} = {inline(_dependency(one))}" for one in project.wheels)]
    return "\n".join(lines) + "\n"


def _platform(project: Project) -> dict[str, Value]:
    where = project.where
    subdir = _SUBDIRS.get((where.os_family, where.arch))
    if subdir is None:
        raise Unwritable(f"conda has no platform for {where.os_family} on {where.arch}")
    table: dict[str, Value] = {"platform": subdir}
    if project.cuda is not None:
        table = {"name": f"{subdir}-cuda", "platform": subdir, "cuda": _cuda(project)}
    return table | ({"glibc": where.glibc} if where.glibc else {})


def _cuda(project: Project) -> Value:
    """The driver's CUDA alone, or with the oldest of the cards."""
    cards = project.where.capabilities
    return {"driver": str(project.cuda), "arch": str(min(cards))} if cards else str(project.cuda)


def _dependency(wheel: Wheel) -> dict[str, Value]:
    local = f"+{wheel.spec.build}" if wheel.spec.build else ""
    table: dict[str, Value] = {"version": f"{wheel.spec.versions}{local}" or "*"}
    if wheel.spec.extras:
        table["extras"] = wheel.spec.extras
    return table | ({"index": wheel.address} if wheel.address else {})


MANIFEST = Manifest("pixi.toml", lambda name: name == "pixi.toml", render)
