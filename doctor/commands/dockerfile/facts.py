"""What a Dockerfile says that its image will hold, as facts; what only the build decides is unseen."""

from __future__ import annotations

import platform as this
import re
from collections.abc import Iterator
from typing import Any

from compat.base.choice import NoSuchName
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import default_build, gpu_packages
from compat.matrix import Matrix
from compat.platform import extras_asked
from compat.platform_row import CompiledRow, ScriptRow, SystemRow
from compat.row import FrameworkRow
from compat.spec import Spec, parse_spec
from compat.specifier import keeps
from compat.traits import traits_of
from compat.version import CudaVersion
from doctor.commands.dockerfile.build import Built, Dockerfile, Stage
from doctor.commands.dockerfile.compose import Service
from doctor.commands.dockerfile.expanded import expanded
from doctor.commands.dockerfile.installed import Held, Places, has_cpu_build, holds_in, version_of
from doctor.commands.dockerfile.requirements import LOCAL_VERSION, name_of
from doctor.commands.dockerfile.run import Pinned
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import (
    DockerfileAsked,
    DockerfileCompile,
    DockerfileFacts,
    DockerfileLine,
    DockerfileTree,
)
from doctor.model.facts.environment import (
    ConfigurationFacts,
    Distribution,
    Environment,
    Framework,
    Overlap,
    Variable,
)
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.loader import FoundBy, LoaderFacts, SearchDir
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, WhyNot, all_unseen, value_or
from doctor.model.facts.system import SystemFacts, common_machine
from doctor.model.facts.toolkit import Toolkit, ToolkitFacts, ToolkitName
from doctor.planned.framework_from_row import framework_of_row
from doctor.planned.planned import PLANNED, framework_of
from doctor.probes import independent_unseen
from doctor.rules.shared.builds import platform_of
from doctor.rules.shared.pins import pin
from doctor.rules.shared.products import known_product
from doctor.script.expand import is_open, shown

_HIDDEN = Unseen("a Dockerfile does not show it: build the image, then check it with --image", WhyNot.NOT_SHOWN)
_PATH = "LD_LIBRARY_PATH"
_NVIDIA, _REQUIRE, _RELEASE = "NVIDIA_", "NVIDIA_REQUIRE_CUDA", "CUDA_VERSION"
_PYTHON = "python"
# Source: the files of nvidia_cudnn_cu11, cu12 and cu13 and of nvidia_nccl_cu11, cu12 and cu13.
_BOTH_MAJORS = re.compile(r"nvidia-(cudnn|nccl)-cu\d+")


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
    told = _with_scripts(told, built, matrix)._replace(on_musl=tuple(_on_musl(asked.dockerfile, bare)))
    told = _with_sources(told, asked.dockerfile, matrix)
    told = told._replace(refused=(*told.refused, *_without_index(asked.dockerfile, matrix)))
    environments, told = _environments(built, told, bare, matrix)
    told = told._replace(uses=tuple(_uses(environments, built, matrix)))
    places = {one.source for one in built.ran.pinned}
    lines = tuple(DockerfileLine(asked.dockerfile.line(one), one) for one in sorted(places))
    told = told._replace(python=_python(built, matrix), lines=lines)
    return bare._replace(
        environments=Seen(tuple(environments), Place(asked.name)), dockerfile=Seen(told, Place(asked.name))
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
        _compile(one.command, one.source, one.nvcc, each)
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
        wheels=tuple(DockerfileLine(_file(one.text), one.source) for one in ran.addresses if _is_wheel(one.text)),
        unjudged=(*_of_base(built), *ran.unjudged),
        pips=tuple(
            one._replace(system=_system_of_pip(each))
            for _, each in sorted(dockerfile.used.items())
            for one in each.ran.pips
        ),
        refused=tuple(one for _, each in sorted(dockerfile.used.items()) for one in each.ran.refused),
        apt_updates=tuple(ran.apt_updates),
        targets=tuple(one for _, each in sorted(dockerfile.used.items()) for one in each.ran.targets),
        taken=tuple(dict.fromkeys(one for _, each in sorted(dockerfile.used.items()) for one in each.ran.taken)),
    )


def _system_of_pip(built: Built) -> str:
    """The system whose packages bring pip, "debian-12"; "" where the base image has a Python of its own."""
    is_own = not built.base.python and built.ran.pythons
    return "-".join(built.base.distribution) if is_own and all(built.base.distribution) else ""


def _is_wheel(text: str) -> bool:
    return _file(text).endswith(".whl") and "*" not in text


def _file(text: str) -> str:
    return text.partition("#")[0].rpartition("/")[2].replace("%2B", "+")


def _with_scripts(told: DockerfileFacts, built: Built, matrix: Matrix) -> DockerfileFacts:
    """What scripts bring that a shell reads from an address, where a row knows them."""
    rows: tuple[ScriptRow, ...] = matrix.rows("package", "scripts")
    for one in built.ran.piped:
        address = one.what.partition("://")[2]
        row = next((row for row in rows if address.startswith(row.addresses)), None)
        if row is None:
            unread = DockerfileLine(f"runs the script of {one.what}", one.source)
            told = told._replace(unread=(*told.unread, unread))
        elif row.brings == "driver":
            driver = DockerfileLine(f"the script of {address}", one.source, row.instead)
            told = told._replace(drivers=(*told.drivers, driver))
    return told


def _with_sources(told: DockerfileFacts, dockerfile: Dockerfile, matrix: Matrix) -> DockerfileFacts:
    """Sources that nvcc compiles, in every stage; what no row knows was not read."""
    rows: tuple[CompiledRow, ...] = matrix.rows("package", "compiled")
    compiles, unjudged = list(told.compiles), list(told.unjudged)
    for _, stage in sorted(dockerfile.used.items()):
        for one in stage.ran.addresses:
            if _is_wheel(one.text):
                continue
            text = one.text.lower().replace("git@github.com:", "github.com/")
            if any(f"/{each}" in text for row in rows if row.when != "use" for each in row.repositories):
                command = one.text if " " in one.text else f"pip install {one.text}"
                compiles.append(_compile(command, one.source, one.nvcc, stage))
            else:
                unjudged.append(DockerfileLine(f"installs {one.text[:80]}", one.source))
        if any(name.endswith("_SKIP_CUDA_BUILD") for name in stage.env):
            continue
        compiles += [
            _compile(f"pip install {each.spec}", each.source, each.nvcc, stage)
            for each in stage.ran.pinned
            if each.nvcc is not True and name_of(each.spec) in {row.id for row in rows if row.when == "source"}
        ]
    return told._replace(compiles=tuple(compiles), unjudged=tuple(unjudged))


def _without_index(dockerfile: Dockerfile, matrix: Matrix) -> Iterator[DockerfileLine]:
    """Releases such as 2.0.0+cu118 that a command asks the default index for.

    Source: PEP 440, "Local version identifiers": a public index does not take such uploads.
    """
    addresses = {
        (name, row.build): row.url
        for row in matrix.rows("index", "wheels")
        for name in (row.package, *traits_of(row.package).followers)
    }
    for _, each in sorted(dockerfile.used.items()):
        sets = each.ran.sets_index or each.ran.frees_pip or any("FIND_LINKS" in name for name in each.known)
        if sets or not each.base.is_known or each.base.framework:
            continue
        there: set[str] = set()
        for one in each.ran.pinned:
            text = one.spec.partition(";")[0].strip()
            found = LOCAL_VERSION.fullmatch(text)
            address = addresses.get((name_of(text), found[1])) if found else None
            is_first, there = name_of(text) not in there, {*there, name_of(text)}
            if is_first and one in each.ran.asked and one.tags == ("",) and address:
                instead = f"add --extra-index-url {address}"
                yield DockerfileLine(f"the default package index has no {text}", one.source, instead)


def _compile(command: str, source: Place, nvcc: bool | None, stage: Built) -> DockerfileCompile:
    why = f"unknown: does {stage.base.told.image} or a line before {source} install nvcc?"
    return DockerfileCompile(
        command, source, Unseen(why) if nvcc is None else Seen(nvcc, stage.base.told.source), stage.base.told
    )


def _uses(environments: list[Environment], built: Built, matrix: Matrix) -> Iterator[DockerfileCompile]:
    """Packages that call nvcc when they are used, where no package beside them holds what it compiles."""
    rows: tuple[CompiledRow, ...] = matrix.rows("package", "compiled")
    for each in environments:
        there = {one.name: one for one in value_or(each.distributions, ())}
        for row in rows:
            if row.when == "use" and row.id in there and not there.keys() & {*row.unless}:
                one = there[row.id]
                yield _compile(
                    f"{one.name} {one.version}", one.pinned_at or built.base.told.source, built.ran.nvcc, built
                )


def _of_base(built: Built) -> Iterator[DockerfileLine]:
    base = built.base
    if not base.is_known:
        yield DockerfileLine(f"starts from {base.told.image}, whose contents are unknown", base.told.source)


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
            if "conda" not in one.environment and not is_there and holds_in(marker.strip(), each.base.python, facts):
                yield DockerfileAsked(spec.name, spec.versions, one.source, each.base.told)


def _python(built: Built, matrix: Matrix) -> str:
    """Return the Python that pip of the image belongs to, "3.12"; "" if no line tells it."""
    pythons = built.ran.pythons
    if built.base.python:
        return "" if pythons else built.base.python
    if len(pythons) == 1 and (only := next(iter(pythons))):
        return f"3.{only}"
    system = "-".join(built.base.distribution)
    rows: tuple[SystemRow, ...] = matrix.rows("platform", "systems")
    named = next((row.pythons for row in rows if row.id == system and row.pythons), {})
    own = next((python for python, packages in named.items() if packages.startswith(("python3-", "python3 "))), "")
    return own if pythons <= {"", own.partition(".")[2]} else ""


def _environments(
    built: Built, told: DockerfileFacts, facts: Facts, matrix: Matrix
) -> tuple[list[Environment], DockerfileFacts]:
    """Return one environment for each place that lines install into; add the lines that could not be judged."""
    pinned = [*built.ran.pinned]
    if built.base.framework:
        pinned.insert(0, Pinned(built.base.framework, "", "", tool="pip", source=built.base.told.source, is_base=True))
    placed = [one if one.environment else one._replace(environment=one.active) for one in pinned]
    python = Seen(_python(built, matrix), built.base.told.source)
    every, told = expanded(placed, python.value, told, facts, built.ran.files.context)
    found, unjudged = planned_environments(every, python, facts, matrix)
    names = _selected([one.prefix for one in found], built)
    return [one for one in found if one.prefix in names], told._replace(unjudged=(*told.unjudged, *unjudged))


def planned_environments(
    pinned: list[Pinned], python: Seen[str], facts: Facts, matrix: Matrix
) -> tuple[list[Environment], list[DockerfileLine]]:
    """Return what requirements install, by environment, and the lines that could not be judged.

    `python` is that of environments which do not name theirs, "3.12"; "" if unknown.
    """
    places = Places(python.value, facts, matrix)
    for one in pinned:
        (places.may_put if one.may_not_run else places.put)(one)
    places.settle()
    names = dict.fromkeys([*places.held, *places.others])
    found = [_environment(name, places, facts, matrix) for name in names]
    told = (
        one._replace(python=Seen(one.python.value, python.how)) if isinstance(one.python, Seen) else one
        for one in found
    )
    return list(told), places.unjudged


def _selected(names: list[str], built: Built) -> list[str]:
    """The environment whose programs ENV PATH puts first; all of them if it names none that holds a package."""
    for folder in built.env.get("PATH", "").split(":"):
        place = folder.removesuffix("/bin")
        if place in names and place.startswith("/") and folder.endswith("/bin"):
            return [place]
    return names


def _frameworks(places: Places, name: str, matrix: Matrix) -> dict[str, Held]:
    """Leave out what is only a front, as jax is: its build is in another package."""
    held = places.held.get(name, {})
    return {
        package: one
        for package, one in held.items()
        if one.spec.extras
        or one.spec.build
        or one.cuda
        or package in gpu_packages(package)
        or has_cpu_build(package, matrix)
    }


def _environment(place: str, places: Places, facts: Facts, matrix: Matrix) -> Environment:
    held, python = _frameworks(places, place, matrix), places.python_of(place)
    prefix = shown(place) or _PYTHON
    bare = Environment(
        prefix=prefix,
        asked_by="the Dockerfile",
        interpreter=f"{prefix}/bin/python" if prefix.startswith("/") else _PYTHON,
        kind="conda" if any(one.cuda for one in held.values()) else "venv",
        python=Seen(python, "the plan") if python else _HIDDEN,
        sites=_HIDDEN,
        distributions=_HIDDEN,
        frameworks=_HIDDEN,
        overlaps=_HIDDEN,
        externally_managed=False,
        installers=("pip",),
        extensions=_HIDDEN,
        incomplete=_HIDDEN,
        too_long=_HIDDEN,
    )
    found = tuple(_by_conda(one, prefix) if one.cuda else _pinned(one, bare, facts, matrix) for one in held.values())
    plain = {**places.held.get(place, {}), **places.others.get(place, {})}
    by_line = tuple(zip(held.values(), found, strict=True))
    replaced = {name for name, one in plain.items() if any(_replaces(*later, name, one) for later in by_line)}
    found += tuple(_companions(places.others.get(place, {}), prefix, matrix))
    found = tuple(one for one in found if one.package not in replaced)
    plain = {name: one for name, one in plain.items() if name not in replaced}
    conda = {name for name, one in held.items() if one.cuda}
    listed = tuple(
        _listed(one.package, one.version, one.pinned_at, "conda" if one.package in conda else "wheel") for one in found
    )
    names = {each.package for each in found}
    listed += tuple(_listed(name, one.version, one.source) for name, one in plain.items() if name not in names)
    shared = tuple(_shared(found))
    return bare._replace(
        frameworks=Seen(found, "its pins"),
        distributions=Seen(listed, "its pins"),
        overlaps=Seen(shared, "its pins") if shared else _HIDDEN,
    )


def _shared(frameworks: tuple[Framework, ...]) -> Iterator[Overlap]:
    """The libraries that wheels of two CUDA majors both bring under one name: those of cuDNN 9 and of NCCL."""
    brought: dict[str, dict[str, str]] = {}
    for one in frameworks:
        for each in filter(None, map(pin, value_or(one.requires, ()))):
            found = _BOTH_MAJORS.fullmatch(each.name)
            if found and (one.extras or not each.optional):
                brought.setdefault(found[1], {})[each.name] = each.specifier
    for library, wheels in brought.items():
        firsts = {found[1] for each in wheels.values() if (found := re.search(r"[=>]=\s*(\d+)", each))}
        if len(wheels) > 1 and len(firsts) == 1:
            owners = tuple(sorted(f"{name} {each.removeprefix('==')}" for name, each in wheels.items()))
            yield Overlap(f"nvidia/{library}/lib/lib{library}.so.{firsts.pop()}", owners, _HIDDEN)


def _listed(name: str, version: str, pinned_at: Place | None, kind: str = "wheel") -> Distribution:
    """A distribution that has no files yet."""
    return Distribution(name=name, version=version, site="", metadata="", kind=kind, hidden_by="", pinned_at=pinned_at)


def _replaces(later: Held, framework: Framework, name: str, one: Held) -> bool:
    """Return whether a later command installs what requires another release: pip then replaces the one that is there.

    What one command asks for is not replaced: pip stops at the conflict.
    """
    if later.source.file != one.source.file or not later.source.line > one.source.line > 0:
        return False
    asked = [each for each in map(pin, value_or(framework.requires, ())) if each and each.name == name]
    if not asked or name in map(name_of, later.beside):
        return False
    return any((framework.extras or not each.optional) and not keeps(each.specifier, one.version) for each in asked)


def _pinned(one: Held, bare: Environment, facts: Facts, matrix: Matrix) -> Framework:
    """The build that a pin means; its facts are the row's, and cited by the line that asks for it."""
    source, row = one.source, _cpu_row(one.spec, facts, matrix)
    made = (
        framework_of_row(row, one.spec, bare.prefix, matrix, PLANNED)
        if row
        else framework_of(one.spec, bare, facts, matrix)
    )
    cited: dict[str, Any] = {
        name: Seen(value.value, source._replace(label=f"{source}; {value.how}"))
        for name in ("build", "cuda", "cudnn", "targets", "requires")
        if isinstance(value := getattr(made, name), Seen)
    }
    instead = f", in place of {one.before} of {one.before_at}" if one.before else ""
    how = "current version, from" if one.asked_as else "pinned in"
    return made._replace(
        note=f"{how} {source}{instead}",
        pinned_at=source,
        asked_as=one.asked_as,
        from_index=one.from_index,
        brought_by=one.brought_by,
        extras=one.spec.extras,
        in_place_of=f"{one.before.name} {version_of(one.before)}" if one.before else "",
        **cited,
    )


def _cpu_row(spec: Spec, facts: Facts, matrix: Matrix) -> FrameworkRow | None:
    """The build of a package that another one serves for GPUs, as onnxruntime; None for any other package."""
    if extras_asked(spec, matrix) or spec.build or spec.name in gpu_packages(spec.name):
        return None
    return default_build(spec.name, spec.versions[2:], *platform_of(facts), matrix)


def _companions(others: dict[str, Held], prefix: str, matrix: Matrix) -> Iterator[Framework]:
    """What works on a framework and has no rows of builds: its requirement on that is known."""
    for name, one in others.items():
        row = matrix.companion(name, one.spec.versions[2:])
        if row and traits_of(name).runs_on in row.needs and not one.asked_as:
            requires = tuple(f"{each}{versions}" for each, versions in row.needs.items())
            yield _bare(one, prefix)._replace(requires=Seen(requires, f"matrix, {row.id}"))


def _bare(one: Held, prefix: str) -> Framework:
    """A package of which only its line is known."""
    return Framework(
        package=one.spec.name,
        version=one.version,
        path="",
        build=Seen(one.spec.build, one.source) if one.spec.build else _HIDDEN,
        cuda=_HIDDEN,
        cudnn=_HIDDEN,
        targets=_HIDDEN,
        requires=_HIDDEN,
        environment=prefix,
        note=f"pinned in {one.source}",
        pinned_at=one.source,
    )


def _by_conda(one: Held, prefix: str) -> Framework:
    """A build of conda's, of which no row speaks: its CUDA is the one that is pinned beside it."""
    cuda = Seen(CudaVersion.parse(".".join(one.cuda.split(".")[:2])), one.source)
    how = "current version, from" if one.asked_as else "pinned in"
    made = _bare(one, prefix)._replace(
        cuda=cuda, note=f"{how} {one.source}, by conda", asked_as=one.asked_as, from_index=one.from_index
    )
    return made._replace(targets=Seen(one.targets, one.source)) if one.targets else made
