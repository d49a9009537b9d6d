"""What a Dockerfile says that its image will hold, as facts; what only the build decides is unseen."""

from __future__ import annotations

import platform as this
from collections.abc import Iterator
from typing import Any

from compat.base.choice import NoSuchName
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import default_build, gpu_packages
from compat.matrix import Matrix
from compat.spec import Spec, parse_spec
from compat.traits import traits_of
from compat.version import CudaVersion
from doctor.commands.dockerfile.build import Built, Dockerfile, Stage
from doctor.commands.dockerfile.compose import Service
from doctor.commands.dockerfile.run import Pinned
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileAsked, DockerfileCompile, DockerfileFacts, DockerfileTree
from doctor.model.facts.environment import ConfigurationFacts, Distribution, Environment, Framework, Variable
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.loader import FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, WhyNot, all_unseen, value_or
from doctor.model.facts.system import SystemFacts, common_machine
from doctor.model.facts.toolkit import Toolkit, ToolkitFacts, ToolkitName
from doctor.planned.planned import framework_of
from doctor.probes import independent_unseen
from doctor.rules.shared.builds import platform_of
from doctor.rules.shared.products import known_product
from doctor.script.expand import is_open, shown

_HIDDEN = Unseen("a Dockerfile does not show it: check the image that is built, with --image", WhyNot.NOT_SHOWN)
_PATH = "LD_LIBRARY_PATH"
_NVIDIA, _REQUIRE, _RELEASE = "NVIDIA_", "NVIDIA_REQUIRE_CUDA", "CUDA_VERSION"
_PYTHON = "python"


class Asked(NamedTuple):
    """A Dockerfile, and what of it shall be judged."""

    dockerfile: Dockerfile
    target: str  # a stage, "" for the last
    platform: str  # "linux/arm64", "" for what FROM says, else this machine's
    name: str  # of the file
    service: Service | None = None  # of a compose file, that starts the image


def facts_of(asked: Asked, matrix: Matrix) -> Facts:
    """The image that a stage becomes; what a service adds to its environment counts like ENV.

    Raises DockerfileError.
    """
    stage = asked.dockerfile.target(asked.target)
    built = asked.dockerfile.build(stage)
    for variable, (value, source) in asked.service.environment.items() if asked.service else ():
        built.env[variable], built.set_in[variable] = value, source
    told = _told(asked.dockerfile, stage, built)._replace(service=asked.service.told if asked.service else None)
    bare = Facts.unseen(Machine("dockerfile", asked.name), _HIDDEN)._replace(
        system=_system(built, asked.platform or stage.platform),
        toolkit=_toolkit(built),
        configuration=_configuration(built),
        loader=_loader(built),
        code_tools=_HIDDEN,
        dlls=_HIDDEN,
        independent=independent_unseen(_HIDDEN),
        image=Seen(_image(built), Place(asked.name)),
        dockerfile=_HIDDEN,
    )
    told = told._replace(on_musl=tuple(_on_musl(asked.dockerfile, bare)))
    return bare._replace(
        environments=Seen(tuple(_environments(built, bare, matrix)), Place(asked.name)),
        dockerfile=Seen(told, Place(asked.name)),
    )


def _system(built: Built, platform: str) -> SystemFacts:
    system, _, arch = platform.partition("/")
    if is_open(platform) or not arch:
        system, arch = "linux", this.machine()
    arch = arch.partition("/")[0]
    identity, release = built.base.distribution
    unseen: SystemFacts = all_unseen(SystemFacts, _HIDDEN)
    source = built.base.told.source
    return unseen._replace(
        family=Seen(system, "the platform"),
        machine=Seen(common_machine(arch), "the platform"),
        distribution_id=Seen(identity, source) if identity else _HIDDEN,
        distribution_version=Seen(release, source) if release else _HIDDEN,
        jetson=Seen("", source),
        wsl=Seen(0, source),
    )


def _toolkit(built: Built) -> ToolkitFacts:
    """The base image's own; what packages bring is told by their lines."""
    told = built.base.told
    if not told.release:
        return ToolkitFacts(Seen((), told.source) if built.base.is_plain and not built.ran.trees else _HIDDEN, _HIDDEN)
    cuda = CudaVersion.parse(".".join(told.release.split(".")[:2]))
    path = f"/usr/local/cuda-{cuda}"
    nvcc: Fact[str] = _HIDDEN
    if told.variant == "devel":
        nvcc = Seen(f"{path}/bin/nvcc", told.source)
    elif not built.ran.nvcc:
        nvcc = Unseen(f"{told.image} has no nvcc")
    one = Toolkit(
        path=path,
        links=("/usr/local/cuda",),
        kind="directory",
        cuda=Seen(cuda, told.source),
        release=Seen(told.release, told.source),
        nvcc=nvcc,
        has_headers=Seen(True, told.source) if told.variant == "devel" else _HIDDEN,
        library_dir=Seen(f"{path}/lib64", told.source),
    )
    names = (ToolkitName("/usr/local/cuda", "/usr/local/cuda", Seen(path, told.source)),)
    return ToolkitFacts(Seen((one,), told.source), Seen(names, told.source))


def _configuration(built: Built) -> ConfigurationFacts:
    """Its ENV lines; what a base image sets besides is its own."""
    unseen: ConfigurationFacts = all_unseen(ConfigurationFacts, _HIDDEN)
    set_here = tuple(
        Variable(name, shown(value), str(built.set_in[name]), built.set_in[name])
        for name, value in sorted(built.env.items())
    )
    return unseen._replace(variables=Seen(set_here, "ENV"))


def _loader(built: Built) -> LoaderFacts:
    unseen: LoaderFacts = all_unseen(LoaderFacts, _HIDDEN)
    folders = [one for one in built.env.get(_PATH, "").split(":") if one]
    search = tuple(
        SearchDir(
            shown(one),
            FoundBy.LIBRARY_PATH,
            not is_open(one) and not _is_left_out(one, built),
            written=shown(one),
            set_in=str(built.set_in.get(_PATH, "")),
            set_at=built.set_in.get(_PATH),
        )
        for one in folders
    )
    return unseen._replace(search=Seen(search, "ENV"))


def _is_left_out(folder: str, built: Built) -> bool:
    """Stubs are of the development packages, which NVIDIA's smaller images leave out."""
    small = built.base.told.variant in {"base", "runtime"} and not built.ran.trees and built.ran.nvcc is False
    return small and folder.rstrip("/").endswith("/stubs")


def _image(built: Built) -> ImageFacts:
    """Its configuration, as far as its own lines and an official base decide it."""
    given = {name: value for name, value in built.env.items() if name.startswith(_NVIDIA) and not is_open(value)}
    requires, release = built.env.get(_REQUIRE), built.env.get(_RELEASE, built.base.told.release)
    if not requires and release and not is_open(release) and (built.base.is_plain or requires is not None):
        given[_RELEASE] = release  # which NVIDIA's runtime reads where nothing is required
    return ImageFacts(
        format="Dockerfile",
        names=(),
        digest="",
        platform="",
        user="",
        command=(),
        has_config=True,
        gpu_env=tuple(sorted(given.items())),
        layers=(),
        read_bytes=0,
        unpacked_bytes=0,
        kept_bytes=0,
    )


def _told(dockerfile: Dockerfile, stage: Stage, built: Built) -> DockerfileFacts:
    base, ran = built.base.told, built.ran
    trees = tuple(ran.trees)
    if base.release:
        cuda = ".".join(base.release.split(".")[:2])
        trees = (DockerfileTree(f"the base image {base.image}", base.source, cuda), *trees)
    compiles = tuple(
        DockerfileCompile(
            one.command,
            one.source,
            Unseen(f"whether {each.base.told.image} or a line before {one.source} brings nvcc is not known")
            if one.nvcc is None
            else Seen(one.nvcc, each.base.told.source),
            each.base.told,
        )
        for _, each in sorted(dockerfile.used.items())
        for one in each.ran.compiles
    )
    return DockerfileFacts(
        stage=stage.name or str(stage.number),
        base=base,
        drivers=tuple(ran.drivers),
        trees=trees,
        compiles=compiles,
        paths=(*((built.path_fault,) if built.path_fault else ()), *ran.exports),
        caches=tuple(ran.caches),
        unread=tuple(ran.unread),
        may_bring=(*ran.may_bring, *ran.unread),
    )


def _on_musl(dockerfile: Dockerfile, facts: Facts) -> Iterator[DockerfileAsked]:
    """What pip or uv is asked for where Alpine's own Python runs it: conda brings one of glibc."""
    for _, each in sorted(dockerfile.used.items()):
        if each.base.distribution[0] != "alpine" or any(one.tool == "conda" for one in each.ran.pinned):
            continue
        for one in each.ran.asked:
            text, _, marker = one.spec.partition(";")
            try:
                spec = known_product(parse_spec(text))
            except (GpudoctorError, NoSuchName):
                continue
            is_there = any(spec.name in name for name in each.ran.apk)
            if "conda" not in one.environment and not is_there and _holds(marker.strip(), each.base.python, facts):
                yield DockerfileAsked(spec.name, spec.versions, one.source, each.base.told)


class _Held(NamedTuple):
    """A pin that counts."""

    spec: Spec
    source: Place
    cuda: str  # by what conda is asked for beside it
    before: str = ""  # another pin of the package that a line before gives, as pip and uv put the later in its place


def _environments(built: Built, facts: Facts, matrix: Matrix) -> list[Environment]:
    """One for each place that lines install into, with what they pin; the last pin of a package counts."""
    places: dict[str, dict[str, _Held]] = {}
    pinned = [*built.ran.pinned]
    if built.base.framework:
        pinned.insert(0, Pinned(built.base.framework, "", "", tool="pip", source=built.base.told.source))
    for one in pinned:
        python = built.base.python if not one.environment else ""
        _put(places, one, python, facts, matrix)
    return [_environment(place, dict(held), built, facts, matrix) for place, held in places.items()]


def _put(places: dict[str, dict[str, _Held]], one: Pinned, python: str, facts: Facts, matrix: Matrix) -> None:
    """A framework without one exact release is whatever the day of the build brings: nothing can be said of it."""
    text, _, marker = one.spec.partition(";")
    holds = _holds(marker.strip(), python, facts)
    try:
        spec = known_product(parse_spec(text))
    except (GpudoctorError, NoSuchName):
        return
    if holds is False:
        return
    held = places.setdefault(one.environment if not is_open(one.environment) else "", {})
    earlier = held.pop(spec.name, None)
    if not spec.extras and not spec.build and spec.name not in gpu_packages(spec.name):
        return  # jax and onnxruntime alone are for the CPU: their GPU code is in another package
    is_exact = spec.versions.startswith("==") and not set(spec.versions[2:]) & set("*,=<>!~")
    if is_open(one.spec) or not is_exact or holds is None:
        return
    if traits_of(spec.name).tagged and not spec.build and one.tool != "conda":
        build = one.build if one.build != "" else _default(spec, facts, matrix)
        if not build:
            return
        spec = spec._replace(build=build)
    is_there = earlier is not None and earlier.spec.versions == spec.versions and not one.is_anew
    if earlier and is_there and not parse_spec(text).build:  # of another index: pip and uv leave what is installed
        held[spec.name] = earlier
        return
    before = f"{earlier.spec} of {earlier.source}" if earlier and earlier.spec != spec else ""
    held[spec.name] = _Held(spec, one.source, one.cuda, before)


def _holds(marker: str, python: str, facts: Facts) -> bool | None:
    """Whether a requirement's marker holds in the image; None where a Python decides that is not known."""
    if not marker:
        return True
    if not python and ("python" in marker or "implementation" in marker):
        return None
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    family = value_or(facts.system.family, "")
    values = {
        "platform_system": family.capitalize(),
        "sys_platform": family,
        "os_name": "posix",
        "platform_machine": value_or(facts.system.machine, ""),
        "python_version": python,
        "python_full_version": python,
        "extra": "",
    }
    try:
        return Marker(marker).evaluate(values)
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):  # of brackets in brackets
        return None


def _default(spec: Spec, facts: Facts, matrix: Matrix) -> str:
    """Return the build that pip installs without an index of its own; "" if no row says which one."""
    row = default_build(spec.name, spec.versions[2:], *platform_of(facts), matrix)
    return row.build if row else ""


def _environment(place: str, held: dict[str, _Held], built: Built, facts: Facts, matrix: Matrix) -> Environment:
    python = built.base.python
    prefix = shown(place) or _PYTHON
    bare = Environment(
        prefix=prefix,
        asked_by="the Dockerfile",
        interpreter=f"{prefix}/bin/python" if prefix.startswith("/") else _PYTHON,
        kind="conda" if any(one.cuda for one in held.values()) else "venv",
        python=Seen(python, built.base.told.source) if python and not place else _HIDDEN,
        sites=_HIDDEN,
        distributions=_HIDDEN,
        frameworks=_HIDDEN,
        overlaps=_HIDDEN,
        externally_managed=False,
        installers=("pip",),
        extensions=_HIDDEN,
        incomplete=_HIDDEN,
    )
    found = tuple(_by_conda(one, prefix) if one.cuda else _pinned(one, bare, facts, matrix) for one in held.values())
    listed = tuple(
        Distribution(name=one.package, version=one.version, site="", metadata="", kind="wheel", hidden_by="")
        for one in found
    )
    return bare._replace(frameworks=Seen(found, "its pins"), distributions=Seen(listed, "its pins"))


def _pinned(one: _Held, bare: Environment, facts: Facts, matrix: Matrix) -> Framework:
    """The build that a pin means; its facts are the row's, and cited by the line that asks for it."""
    made, source = framework_of(one.spec, bare, facts, matrix), one.source
    cited: dict[str, Any] = {
        name: Seen(value.value, source._replace(label=f"{source}; {value.how}"))
        for name in ("build", "cuda", "cudnn", "targets", "requires")
        if isinstance(value := getattr(made, name), Seen)
    }
    instead = f", in place of {one.before}" if one.before else ""
    return made._replace(note=f"pinned in {source}{instead}", pinned_at=source, **cited)


def _by_conda(one: _Held, prefix: str) -> Framework:
    """A build of conda's, of which no row speaks: its CUDA is the one that is pinned beside it."""
    return Framework(
        package=one.spec.name,
        version=one.spec.versions[2:],
        path="",
        build=_HIDDEN,
        cuda=Seen(CudaVersion.parse(".".join(one.cuda.split(".")[:2])), one.source),
        cudnn=_HIDDEN,
        targets=_HIDDEN,
        requires=_HIDDEN,
        environment=prefix,
        note=f"pinned in {one.source}, by conda",
        pinned_at=one.source,
    )
