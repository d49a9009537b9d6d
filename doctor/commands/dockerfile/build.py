"""What the instructions of a Dockerfile do, stage by stage, without carrying any out.

Source: the Dockerfile reference ("FROM", "ARG", "ENV", "COPY --from", "ONBUILD", multi-stage builds).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.commands.dockerfile.context import Context, Copied
from doctor.commands.dockerfile.run import Ran, run
from doctor.model.facts.dockerfile import DockerfileLine
from doctor.model.facts.seen import Place
from doctor.script.base import Base, base_of
from doctor.script.expand import LITERAL, OPEN, VALUE_AT_MOST_CHARS, OpenQuote, expand, is_open, shown, words
from doctor.script.parse import STAGES_AT_MOST, DockerfileError, Instruction, Script, heredocs

_PATH = "LD_LIBRARY_PATH"
_FLAG = re.compile(r"\s*--([a-z][a-z-]*)(?:=(\S*))?(?=\s|$)")
_NO_DRIVER = re.compile(r"(?:^|/)(?:libcuda\.so|libnvidia-ml\.so|libnvidia-ptxjitcompiler\.so|NVIDIA-Linux-[^/]*\.run)")


class Stage(NamedTuple):
    """One stage as it stands in the file."""

    number: int
    name: str  # "" for none
    image: str  # what it starts from: an image or an earlier stage, variables put in
    platform: str
    flags: str  # of the line, as they are written
    written: str  # the name, with its capitals
    source: Place
    instructions: tuple[Instruction, ...]


# What a RUN or COPY line names that may bring libraries of CUDA: its own names, and what installs more than it names.
_MAY_BRING = re.compile(
    r"cuda|cudnn|cublas|nvidia|nvinfer|tensorrt|torch|conda|mamba|pixi|poetry|pipenv|pdm |uv sync|setup\.py|install \."
    r"| -[re] |--requirement|--editable|accelerate|ultralytics|diffusers|sentence.transformers|timm|lightning",
    re.IGNORECASE,
)
_PROGRAMS = re.compile(r"/(?:usr/(?:local/)?)?s?bin(?:/|$)")
_LISTS = re.compile(r"poetry|pipenv|pdm |uv sync|install \.| -[re] |--requirement|--editable")  # what is read
# NVIDIA's wheels are read, too: they are packages of an environment, and bring no library of the system.
_BRINGS_NONE = re.compile(r"cupy-cuda\d+x?|nvidia-[a-z-]+-cu1\d(?=[=<>~!'\"\s]|$)|NVIDIA_\w+|CUDA_VISIBLE_DEVICES")


class Built:
    """What a stage has come to."""

    def __init__(self, base: Base, files: Copied) -> None:
        self.base = base
        self.env: dict[str, str] = {}
        self.set_in: dict[str, Place] = {}
        self.args: dict[str, str] = {}
        self.ran = Ran(files)
        self.path_fault: DockerfileLine | None = None  # of the ENV line of LD_LIBRARY_PATH
        if base.nvcc is not None:
            self.ran.nvcc = base.nvcc
        self.ran.prefixes |= {base.prefix} - {""}
        is_system = base.is_plain and base.distribution[0] in {"ubuntu", "debian"}
        is_cuda = bool(base.told.release) and not base.framework
        has_python = base.python or base.told.image.partition(":")[0].endswith("python")
        self.ran.may_have_pip = bool(has_python) or not (is_system or is_cuda)
        if base.told.image.startswith("condaforge/"):
            self.ran.channels = ("conda-forge",)

    def copy(self) -> Built:
        """What a stage begins with that starts from this one: its ARG lines do not count there."""
        made = Built(self.base, self.ran.files)
        made.env, made.set_in, made.path_fault = dict(self.env), dict(self.set_in), self.path_fault
        made.ran = self.ran.copy()
        return made

    @property
    def known(self) -> dict[str, str]:
        """The variables that are known; what the base image sets is not."""
        return {**self.args, **self.env}


class Dockerfile:
    """The stages of a file, and what one of them comes to."""

    def __init__(
        self, script: Script, shown_name: str, given: Mapping[str, str] = {}, context: Context | None = None
    ) -> None:
        """`given` are the values of --build-arg, which count for what an ARG line names; raises DockerfileError."""
        self._context = context or Context("")
        self._name, self._escape, self._given = shown_name, script.escape, given
        self._global: dict[str, str] = {}
        self.stages = tuple(self._stages(script))
        self._named = {one.name: one.number for one in self.stages if one.name}
        self.used: dict[int, Built] = {}  # every stage that the target needs
        self._lines = {
            number: line
            for one in script.instructions
            if not one.file
            for number, line in _lines_of(one, script.escape)
        }

    def source(self, one: Instruction, at: int = 0) -> Place:
        """File and line of a character of an instruction."""
        return Place(one.file or self._name, one.line_at(at))

    def line(self, place: Place) -> str:
        """A line as it is written, of the file or of one of the context; "" for any other."""
        return self._lines.get(place.line, "") if place.file == self._name else self._context.line(place)

    def _words(self, one: Instruction, text: str) -> list[tuple[int, str]]:
        """Raises DockerfileError where BuildKit does: at the end of the instruction it still looks for a quote."""
        try:
            return words(text, self._escape)
        except OpenQuote as error:
            raise DockerfileError(f"{self.source(one)}: {one.keyword}: a quote {error}") from error

    def _stages(self, script: Script) -> list[Stage]:
        found: list[Stage] = []
        bodies: list[list[Instruction]] = []
        for one in script.instructions:
            if one.keyword == "FROM":
                found.append(self._stage(one, len(found)))
                bodies.append([])
            elif bodies:
                bodies[-1].append(one)
            elif one.keyword == "ARG":
                pairs = self._pairs(one, self._global)
                self._global.update({name: self._given.get(name, value) for name, (value, _) in pairs.items()})
            else:
                raise DockerfileError(f"{self.source(one)}: {one.keyword} comes before the first FROM")
            if len(found) > STAGES_AT_MOST:
                raise DockerfileError(f"{self._name}: it has more than {STAGES_AT_MOST} stages")
        if not found:
            raise DockerfileError(f"{self._name}: it has no FROM")
        return [one._replace(instructions=tuple(body)) for one, body in zip(found, bodies, strict=True)]

    def _stage(self, one: Instruction, number: int) -> Stage:
        flags, start = _flags(one.text)
        said = [text for _, text in self._words(one, one.text[start:])]
        if len(said) not in (1, 3) or (len(said) == 3 and said[1].lower() != "as"):
            raise DockerfileError(f"{self.source(one)}: write 'FROM IMAGE' or 'FROM IMAGE AS NAME'")
        image = expand(said[0], self._global)
        if not image:
            raise DockerfileError(f"{self.source(one)}: FROM has no image, because {said[0][:60]} is empty")
        name = said[2].lower() if len(said) == 3 else ""
        platform = expand(flags.get("platform", ""), self._global)
        return Stage(
            number=number,
            name=name,
            image=image,
            platform=platform,
            flags=one.text[:start].strip(),
            written=said[2] if len(said) == 3 else "",
            source=self.source(one),
            instructions=(),
        )

    def target(self, name: str) -> Stage:
        """The stage of that name or number, the last one for ""; raises DockerfileError."""
        if not name:
            return self.stages[-1]
        number = self._named.get(name.lower(), int(name) if re.fullmatch(r"\d{1,6}", name) else -1)
        if not 0 <= number < len(self.stages):
            there = ", ".join(self._named) or f"0 to {len(self.stages) - 1}"
            raise DockerfileError(f"{self._name} has no stage {name}; it has {there[:200]}")
        return self.stages[number]

    def build(self, stage: Stage) -> Built:
        """What a stage comes to, with all that it is made of; the earlier ones first."""
        for number in sorted(self._needed(stage)):
            self.used[number] = self._made(self.stages[number])
        return self.used[stage.number]

    def _needed(self, stage: Stage) -> set[int]:
        """The stage, what it starts from, and what it copies from."""
        found, left = set(), [stage.number]
        while left:
            number = left.pop()
            if number in found:
                continue
            found.add(number)
            one = self.stages[number]
            asked = [self._earlier(one.image, number)]
            asked += [self._earlier(_flags(each.text)[0].get("from", ""), number) for each in one.instructions]
            left += [each for each in asked if each is not None]
        return found

    def _earlier(self, name: str, before: int) -> int | None:
        """The number of an earlier stage that a name stands for; None for an image."""
        number = self._named.get(name.lower())
        if number is None and re.fullmatch(r"\d{1,6}", name):
            number = int(name)
        return number if number is not None and number < before else None

    def _made(self, stage: Stage) -> Built:
        below = self._earlier(stage.image, stage.number)
        base = base_of(stage.image, stage.source)
        base = base._replace(told=base.told._replace(flags=stage.flags, stage=stage.written))
        files = Copied(self._context, is_plain=base.is_plain)
        built = self.used[below].copy() if below is not None else Built(base, files)
        for one in stage.instructions:
            self._apply(one, built, stage)
        return built

    def _apply(self, one: Instruction, built: Built, stage: Stage) -> None:
        if one.keyword == "ARG":
            for name, (value, _) in self._pairs(one, {**self._global, **built.known}).items():
                is_bare = value == f"{OPEN}{name}{OPEN}"
                default = self._global.get(name, value) if is_bare else value
                built.args[name] = self._given.get(name, default)
        elif one.keyword == "ENV":
            self._env(one, built)
        elif one.keyword == "RUN":
            flags, start = _flags(one.text)
            text = " " * start + one.text[start:]  # offsets stay those of the instruction
            open_lines = len(built.ran.unjudged) + len(built.ran.unread)
            run(text, flags, built.known, built.ran, lambda at: self.source(one, at))
            is_read = open_lines == len(built.ran.unjudged) + len(built.ran.unread)
            rest = (_LISTS if is_read else _BRINGS_NONE).sub("", _BRINGS_NONE.sub("", one.text))
            if found := _MAY_BRING.search(rest):
                built.ran.may_bring.append(DockerfileLine(f"names {found[0]}", self.source(one)))
        elif one.keyword == "SHELL":
            built.ran.frees_pip = built.ran.frees_pip or "conda" in one.text or "mamba" in one.text
        elif one.keyword == "WORKDIR":
            built.ran.files.workdir = built.ran.files.at(expand(one.text.strip(), built.known))
        elif one.keyword in {"COPY", "ADD"}:
            self._copy(one, built, stage)

    def _is_environment(self, flags: Mapping[str, str], sources: list[str], stage: Stage) -> bool:
        """Whether COPY takes Python environments of another stage alone, which hold no libraries of the system."""
        number = self._earlier(flags.get("from", ""), stage.number)
        places = {one.environment for one in self.used[number].ran.pinned} if number is not None else set()
        return all(one.rstrip("/") in places and one.startswith("/") for one in sources)

    def _env(self, one: Instruction, built: Built) -> None:
        known = built.known
        if built.base.is_plain:
            known.setdefault(_PATH, "")
        for name, (value, at) in self._pairs(one, known).items():
            source = self.source(one, at)
            built.env[name], built.set_in[name] = value.replace(LITERAL, "$"), source
            if name == _PATH:
                built.path_fault = _unlike(value, source)

    def _pairs(self, one: Instruction, known: Mapping[str, str]) -> dict[str, tuple[str, int]]:
        """What ENV or ARG gives, and where; every value is made of what was known before the line."""
        found: dict[str, tuple[str, int]] = {}
        said = self._words(one, one.text)
        if one.keyword == "ENV" and said and "=" not in said[0][1]:  # the old form: one name, the rest is its value
            name, _, rest = one.text.strip().partition(" ")
            return {name: (expand(rest.strip(), known)[:VALUE_AT_MOST_CHARS], 0)}
        for at, word in said:
            name, sign, value = word.partition("=")
            if re.fullmatch(r"[A-Za-z_]\w*", name):
                found[name] = (expand(value, known) if sign else f"{OPEN}{name}{OPEN}", at)
        return found

    def _copy(self, one: Instruction, built: Built, stage: Stage) -> None:
        flags, start = _flags(one.text)
        said = [expand(text, built.known) for _, text in self._words(one, one.text[start:].partition("\n")[0])]
        if len(said) < 2:
            return
        *sources, to = said
        is_elsewhere = "from" in flags or one.keyword == "ADD" or bool(_PROGRAMS.match(to)) or to == "/"
        built.ran.may_have_pip = built.ran.may_have_pip or is_elsewhere
        built.ran.frees_pip = built.ran.frees_pip or any("pip.conf" in text for text in said)
        is_local = "from" not in flags and not any("://" in text or _MAY_BRING.search(text) for text in sources)
        if (
            not _PROGRAMS.match(to)
            and not self._is_environment(flags, sources, stage)
            and (not is_local or re.match(r"/(?:usr|opt|lib|etc)\b", to))
        ):
            built.ran.may_bring.append(DockerfileLine(f"copies to {shown(to)}", self.source(one)))
        for text in sources:
            if _NO_DRIVER.search(text) and "stubs/" not in text:
                built.ran.drivers.append(DockerfileLine(f"{one.keyword} {shown(text)}", self.source(one)))
        from_stage = self._earlier(flags.get("from", ""), stage.number)
        if from_stage is not None:
            built.ran.take(self.used[from_stage].ran, tuple(sources))
            built.ran.files.take(self.used[from_stage].ran.files, sources, to)
            _take_exported(self.used[from_stage].ran, built.ran, sources, to)
        elif "from" not in flags and sources[0].startswith("<<"):
            self._copy_text(one, to, built)
        elif "from" not in flags:
            built.ran.files.put(sources, to)
        else:
            built.ran.files.hide(to)
        if (
            from_stage is None
            and "from" in flags
            and any("cuda" in text or is_open(text) or text == "/" for text in sources)
        ):
            built.ran.nvcc = None

    def _copy_text(self, one: Instruction, to: str, built: Built) -> None:
        """COPY <<EOF FILE: the lines up to the one that ends them."""
        first, _, text = one.text.partition("\n")
        bodies = [end for _, end in heredocs(first)]
        if len(bodies) == 1 and not to.endswith("/") and not is_open(to):
            lines = text.split("\n")
            body = "\n".join(lines[: lines.index(bodies[0])] if bodies[0] in lines else lines[:-1])
            built.ran.files.write(to, expand(body, built.known), self.source(one, len(first) + 1))
        else:
            built.ran.files.hide(to)


def _take_exported(other: Ran, own: Ran, sources: list[str], to: str) -> None:
    """COPY --from of a requirements file that a lock file was exported to."""
    for text in sources:
        if use := other.exported.get(other.files.at(text)):
            into = to.endswith("/") or to in {".", ".."}
            place = own.files.at(to)
            own.exported[posixpath.join(place, posixpath.basename(text)) if into else place] = use


def _lines_of(one: Instruction, escape: str) -> Iterator[tuple[int, str]]:
    """The lines of a RUN, with what the parser takes away: the keyword, and the sign that the line goes on."""
    ends = (*one.starts[1:], len(one.text))
    parts = list(zip(one.numbers, one.starts, ends, strict=True)) if one.keyword == "RUN" else []
    for place, (number, start, end) in enumerate(parts):
        text = one.text[start:end].rstrip("\n").rstrip()
        goes_on = place + 1 < len(parts) and "<<" not in one.text
        yield number, ("" if place else "RUN ") + text.lstrip(" " * (not place)) + (f" {escape}" if goes_on else "")


def _unlike(value: str, source: Place) -> DockerfileLine | None:
    """A part that nobody will put a value into: Docker leaves `$` in single quotes alone, and knows no `~`."""
    for part in value.split(":"):
        if LITERAL in part:
            name = part.replace(LITERAL, "$")
            return DockerfileLine(
                f"{name} is not expanded: it is quoted or escaped", source, "use double quotes, or none"
            )
        if part.startswith("~"):
            return DockerfileLine(f"the loader does not expand ~ in {part}", source, "write the whole path")
    return None


def _flags(text: str) -> tuple[dict[str, str], int]:
    """The flags that an instruction begins with, and where they end; of several mounts all, one after the other."""
    found: dict[str, str] = {}
    at = 0
    while said := _FLAG.match(text, at):
        found[said[1]] = f"{found[said[1]]} {said[2] or ''}" if said[1] in found else said[2] or ""
        at = said.end()
    return found, at
