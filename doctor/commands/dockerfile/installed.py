"""What the requirements of a plan install, one after the other: the release and build of each package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import default_build, gpu_packages, is_rider, release_key
from compat.matrix import Matrix, accepts
from compat.newest import Where, newest, newest_beside
from compat.row import ChannelRow, CompanionRow, FrameworkRow
from compat.spec import Spec, parse_spec
from compat.specifier import marker_holds
from compat.traits import traits_of
from compat.version import CodeTarget
from doctor.commands.dockerfile.requirements import name_of
from doctor.commands.dockerfile.run import Pinned
from doctor.model.facts import Facts
from doctor.model.facts.dockerfile import DockerfileLine
from doctor.model.facts.seen import Place, value_or
from doctor.rules.shared.builds import platform_of
from doctor.rules.shared.products import NoRows, named_product
from doctor.script.expand import is_open, shown

# PyTorch's conda channel gets no releases after this one. Source: pytorch/pytorch#138506.
_LAST_OF_CHANNEL = "<=2.5.1"


class Held(NamedTuple):
    """A package that a line installs, and that nothing later replaces."""

    spec: Spec
    source: Place
    cuda: str  # by what conda is asked for beside it
    before: Spec | None = None  # another release of the package that an earlier line installs
    before_at: Place | None = None
    asked_as: str = ""  # the requirement, where it names no release
    from_index: str = ""  # the build of the index that decided
    brought_by: str = ""  # the package that requires it, where no line names it
    beside: tuple[str, ...] = ()  # the requirements of the same command
    targets: tuple[CodeTarget, ...] | None = None  # of a build of conda's

    @property
    def version(self) -> str:
        """The version that an environment would list: "2.9.1+cu128"."""
        return version_of(self.spec)


class Places:
    """What lines install, by environment; the last release of a package counts."""

    def __init__(self, python: str, facts: Facts, matrix: Matrix) -> None:
        """`python` is that of environments that do not name theirs, "3.12"; "" if unknown."""
        self._facts, self._matrix, self._own = facts, matrix, python
        self.held: dict[str, dict[str, Held]] = {}  # with rows, by environment and package
        self.others: dict[str, dict[str, Held]] = {}  # without
        self.unjudged: list[DockerfileLine] = []
        self._pythons: dict[str, str] = {}  # that a project or its command names, by environment
        self._late: list[tuple[Spec, str, Pinned]] = []  # whose release what stands beside them decides
        rows = matrix.rows("package", "unpublished")
        self._without_wheels = frozenset(row.package for row in rows if not row.versions)
        self._of_base: frozenset[str] = frozenset()  # what a base image holds beside its framework

    def python_of(self, environment: str) -> str:
        """Return the Python of an environment, "3.12"; "" if no line tells it."""
        if environment in self._pythons:
            return self._pythons[environment]
        if re.fullmatch(r"3\.\d+", environment):
            return environment
        return self._own if environment.startswith("/") or not environment else ""

    def may_put(self, one: Pinned) -> None:
        """Note a requirement of a command that may not run."""
        text = one.spec.partition(";")[0]
        try:
            named_product(parse_spec(name_of(text)))
        except (GpudoctorError, NoRows):
            return
        self.unjudged.append(DockerfileLine(f"may install {shown(text)[:80]}", one.source))

    def _product(self, spec: Spec) -> Spec | None:
        """Return the framework that a package is; None for opencv-python, whose wheels are for the CPU."""
        known = None if is_rider(spec.name, self._matrix) else named_product(spec)
        is_plain = known is not None and known.name != spec.name and known.name in self._without_wheels
        return None if is_plain else known

    def put(self, one: Pinned, brought_by: str = "") -> None:
        """Take a requirement in, in the order of the lines; `brought_by` is the package that requires it."""
        if one.python:
            self._pythons[one.environment] = one.python
        text, _, marker = one.spec.partition(";")
        holds = holds_in(marker.strip(), self.python_of(one.environment), self._facts)
        place = one.environment if not is_open(one.environment) else ""
        try:
            spec = parse_spec(name_of(text) if is_open(text) else text)
            known = self._product(spec)
        except NoRows:
            known = None
        except GpudoctorError:
            if self._matrix.has(name_of(text)):
                self.unjudged.append(DockerfileLine(f"installs {shown(text)[:80]}, which cannot be read", one.source))
            return
        if known is None:
            if holds and not is_open(one.spec):
                self._put_other(spec, place, one)
            return
        if holds is False:
            return
        held = self.held.setdefault(place, {})
        if one.is_base:
            self._of_base = frozenset(traits_of(known.name).followers)
        earlier = held.get(known.name)
        may_stay = not (one.is_upgrade or one.is_anew or known.build or one.tags is None or is_exact(known))
        if earlier and may_stay and accepts(known.versions, earlier.spec.versions[2:]):
            return  # Requirement already satisfied
        held.pop(known.name, None)
        chosen = None if holds is None or is_open(one.spec) else self._chosen(known, one)
        if chosen is None and traits_of(known.name).runs_on and one.tags is not None:
            return  # it runs on the CUDA of another
        if chosen is None:
            self.unjudged.append(DockerfileLine(f"installs {shown(one.spec)[:80]}, version unknown", one.source))
        else:
            held[known.name] = self._after(earlier, chosen, one)._replace(brought_by=brought_by, beside=one.beside)
            self._bring(held[known.name].spec, place, one)

    def settle(self) -> None:
        """Choose the newest releases that fit the frameworks beside them, when all lines are read.

        Sources: pip's documentation, "Dependency Resolution"; the rows' METADATA.
        """
        for spec, place, one in self._late:
            others, held = self.others.setdefault(place, {}), self.held.get(place, {})
            if spec.name not in others and (version := self._fitting(spec, place, held)):
                chosen = spec._replace(versions=f"=={version}")
                others[spec.name] = Held(chosen, one.source, "", asked_as=str(spec))

    def _fitting(self, spec: Spec, place: str, held: Mapping[str, Held]) -> str:
        if spec.name.startswith("nvidia-"):
            return self._cudnn(spec, [self._pins(one.spec).get(spec.name, "") for one in held.values()])
        if not self._matrix.has(spec.name):
            return ""
        platform, base = platform_of(self._facts), traits_of(spec.name).runs_on
        there = held.get(base)

        def fits(row: FrameworkRow) -> bool:
            wanted = (row.pins or {}).get(base, "")
            return accepts(wanted, there.spec.versions[2:]) if wanted and there else not wanted

        where = Where(platform.os_family, platform.arch, self.python_of(place))
        return newest_beside(spec, where, fits, self._matrix)

    def _cudnn(self, spec: Spec, pins: Iterable[str] = ()) -> str:
        """Return the newest release of a wheel of cuDNN; "" for another package."""
        wheels = next((row for row in self._matrix.rows("cudnn", "wheels") if row.id == spec.name), None)
        wanted = [one for one in (spec.versions, *pins) if one]
        releases = sorted(map(str, wheels.releases), key=release_key, reverse=True) if wheels else ()
        return next((one for one in releases if all(accepts(each, one) for each in wanted)), "")

    def _put_other(self, spec: Spec, place: str, one: Pinned) -> None:
        """A package without builds of its own, which may require a framework."""
        if one.tool == "conda" and not is_exact(spec):
            return  # conda takes one that fits
        row = self._matrix.companion(spec.name, spec.versions[2:]) if is_exact(spec) else None
        if not is_exact(spec) and spec.name in self._of_base and not one.is_upgrade:
            return  # Requirement already satisfied
        if not is_exact(spec) and (row := self._newest_companion(spec, one)):
            spec = spec._replace(versions=row.versions)
        if not is_exact(spec) and one.is_upgrade and not one.beside and (version := self._cudnn(spec)):
            spec = spec._replace(versions=f"=={version}")  # pip does not ask what is installed already
        if is_exact(spec):
            built = spec._replace(build=spec.build or self._build_of_follower(spec, row, one))
            self.others.setdefault(place, {})[spec.name] = Held(built, one.source, "")
        if row:
            self._bring_these(spec, row.needs, place, one)
        elif is_exact(spec):
            self._bring(spec, place, one)
        elif one.tags == ("",):
            self._late.append((spec, place, one))

    def _build_of_follower(self, spec: Spec, row: CompanionRow | None, one: Pinned) -> str:
        """Return the build of torchvision that the default index serves: that of its torch there; "" if unknown."""
        is_there = one.tool == "conda" or one.build != "" or spec.name in self._of_base
        for name, versions in row.needs.items() if row and not is_there else ():
            if spec.name in traits_of(name).followers and versions.startswith("=="):
                return _default(Spec(name, versions, "", ()), self._facts, self._matrix)
        return ""

    def _newest_companion(self, spec: Spec, one: Pinned) -> CompanionRow | None:
        """The newest release of a package without builds; None if unknown, or if its framework decides which fits."""
        named = {name_of(text) for text in one.beside}
        rows = [row for row in self._matrix.rows("conflicts", "companions") if row.package == spec.name]
        row = max(rows, key=lambda each: release_key(each.versions), default=None)
        if row is None or not accepts(spec.versions, row.versions[2:]) or named & row.needs.keys():
            return None
        builds = self._matrix.rows(spec.name, "builds") if self._matrix.has(spec.name) else ()
        is_last = all(release_key(each.versions) <= release_key(row.versions) for each in builds)
        return row if is_last else None

    def _bring(self, spec: Spec, place: str, one: Pinned) -> None:
        """What the build's own row pins of the framework that it runs on."""
        base, pins = traits_of(spec.name).runs_on, self._pins(spec)
        if base in pins:
            self._bring_these(spec, {base: pins[base]}, place, one)

    def _bring_these(self, spec: Spec, needs: Mapping[str, str], place: str, one: Pinned) -> None:
        named = {name_of(each) for each in one.beside}
        for name, versions in needs.items():
            there = self.held.get(place, {}).get(name)
            fits = there is not None and accepts(versions, there.spec.versions[2:])
            if name not in named and not fits:
                again = one._replace(spec=f"{name}{versions}", is_anew=False, is_upgrade=False, cuda="")
                self.put(again, brought_by=f"{spec.name} {spec.versions[2:]}")

    def _chosen(self, spec: Spec, one: Pinned) -> Held | None:
        """Return the release and build that the tool takes; None if no row tells it."""
        if is_exact(spec):
            if traits_of(spec.name).tagged and not spec.build and one.tool != "conda":
                build = one.build if one.build != "" else _default(spec, self._facts, self._matrix)
                return Held(spec._replace(build=build), one.source, one.cuda) if build else None
            return Held(spec, one.source, one.cuda)
        platform = platform_of(self._facts)
        where = Where(platform.os_family, platform.arch, self.python_of(one.environment))
        if one.tool == "conda" and one.cuda and traits_of(spec.name).tagged:
            build = f"cu{one.cuda.replace('.', '')}"
            last = newest(spec._replace(versions=_LAST_OF_CHANNEL), (build,), where, self._matrix)
            return Held(spec._replace(versions=f"=={last.version}"), one.source, one.cuda) if last else None
        if one.tool == "conda":
            return self._of_channel(spec, one, where)
        if one.tags is None:
            return None
        limited = spec._replace(versions=",".join(filter(None, (spec.versions, *self._limits(spec, one)))))
        taken = newest(limited, one.tags, where, self._matrix)
        if taken is None:
            return None
        if (named := self._exact(one)) and not traits_of(spec.name).tagged:

            def fits(row: FrameworkRow) -> bool:
                return all(accepts(wanted, named[name]) for name, wanted in (row.pins or {}).items() if name in named)

            taken = taken._replace(version=newest_beside(limited, where, fits, self._matrix) or taken.version)
        exact = spec._replace(versions=f"=={taken.version}", build=taken.build)
        index = "" if "" in one.tags else one.tags[0]
        asked = str(spec) if one.source.file else ""
        return Held(exact, one.source, "", asked_as=asked, from_index=index)

    def _of_channel(self, spec: Spec, one: Pinned, where: Where) -> Held | None:
        """Return the newest release of conda's channel: a build with CUDA needs the virtual package `__cuda`.

        conda makes it from the driver or CONDA_OVERRIDE_CUDA: without one the solver takes the CPU build. Source:
        conda-forge/pytorch-cpu-feedstock, tensorflow-feedstock, onnxruntime-feedstock, jaxlib-feedstock (`__cuda`);
        conda-forge/cuda-version-feedstock (`__cuda >=` the major).
        """
        names = {spec.name, *gpu_packages(spec.name)}
        rows: list[ChannelRow] = [
            row
            for row in self._matrix.rows("index", "channels")
            if row.channel == one.channel and row.package in names and row.versions.startswith("==") and row.cuda
            if where.os_family in row.os and where.arch in row.arch
        ]
        found = [row for row in rows if one.driver_cuda is None or row.cuda[-1].major <= one.driver_cuda.major]
        if not found and (not rows or not has_cpu_build(spec.name, self._matrix) or name_of(one.spec).endswith("-gpu")):
            return None
        row = max(found or rows, key=lambda each: each.cuda[-1])
        exact = spec._replace(versions=row.versions, build="" if found or not traits_of(spec.name).tagged else "cpu")
        cuda = str(row.cuda[-1]) if found else ""
        targets = row.targets if found else None
        return Held(exact, one.source, cuda, asked_as=spec.name, from_index=one.channel, targets=targets)

    def _exact(self, one: Pinned) -> dict[str, str]:
        """The releases that the same command names."""
        found = {}
        for text in one.beside:
            try:
                spec = parse_spec(text.partition(";")[0])
            except GpudoctorError:
                continue
            if is_exact(spec):
                found[spec.name] = spec.versions[2:]
        return found

    def _limits(self, spec: Spec, one: Pinned) -> Iterator[str]:
        """What packages of the same command require of it: torchvision==0.15.2 takes torch 2.0.1."""
        for name, version in self._exact(one).items():
            row = self._matrix.companion(name, version)
            needs = row.needs if row else self._pins(Spec(name, f"=={version}", "", ()))
            yield from (needs[each] for each in needs if each == spec.name)

    def _pins(self, spec: Spec) -> Mapping[str, str]:
        """What its build requires; of the wheels of a release its set-up takes the one that fits what is there."""
        rows = self._matrix.framework_rows(spec.name, spec.versions[2:]) if traits_of(spec.name).runs_on else ()
        return next((row.pins for row in rows if row.pins and row.build != "release"), {})

    def _after(self, earlier: Held | None, chosen: Held, one: Pinned) -> Held:
        """What is installed then: pip and uv leave the same release, of another index too."""
        is_there = earlier is not None and earlier.spec.versions == chosen.spec.versions and not one.is_anew
        if earlier and is_there and not parse_spec(one.spec.partition(";")[0]).build:
            return earlier
        if earlier is None or earlier.spec == chosen.spec:
            return chosen
        return chosen._replace(before=earlier.spec, before_at=earlier.source)


def has_cpu_build(package: str, matrix: Matrix) -> bool:
    """Return whether a package has CPU builds beside those with CUDA."""
    return matrix.has(package) and any(row.build == "cpu" for row in matrix.rows(package, "builds"))


def version_of(spec: Spec) -> str:
    """Return the version that a spec with one release names, with its build."""
    return spec.versions[2:] + (f"+{spec.build}" if spec.build else "")


def is_exact(spec: Spec) -> bool:
    """Return whether a spec names one release."""
    return spec.versions.startswith("==") and not set(spec.versions[2:]) & set("*,=<>!~")


def holds_in(marker: str, python: str, facts: Facts) -> bool | None:
    """Whether a requirement's marker holds in the image; None where a Python decides that is not known."""
    if not marker:
        return True
    if not python and ("python" in marker or "implementation" in marker):
        return None
    family = value_or(facts.system.family, "")
    values = {
        "platform_system": {"macos": "Darwin"}.get(family, family.capitalize()),
        "sys_platform": {"windows": "win32", "macos": "darwin"}.get(family, family),
        "os_name": "nt" if family == "windows" else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "platform_machine": value_or(facts.system.machine, ""),
        "python_version": python,
        "python_full_version": python,
        "extra": "",
    }
    return marker_holds(marker, values)


def _default(spec: Spec, facts: Facts, matrix: Matrix) -> str:
    """Return the build that pip installs without an index of its own; "" if no row says which one."""
    row = default_build(spec.name, spec.versions[2:], *platform_of(facts), matrix)
    return row.build if row else ""
