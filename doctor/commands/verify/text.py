"""A verification for people: the answer; each copy, stage by stage; what is wrong, how that is known, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.version import CudaVersion
from doctor.commands.check.text import show_finding
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Row, Stage
from doctor.commands.verify.node_text import node_page
from doctor.commands.verify.verification import FAILED, INCOMPLETE, PASSED, FrameworkTried, Tried, Verification
from doctor.diagnose import NO_GPU
from doctor.model.finding import Severity, Status
from doctor.output.document import TextStyle
from doctor.output.page import Page

_COLOURS = {PASSED: "green", FAILED: "red", INCOMPLETE: "yellow"}
_MARKS = {"passed": ("✓", "ok"), "failed": ("✗", "x"), "missing": ("·", "-"), "cut-off": ("✗", "x")}
_PROOFS = {
    "load": "loads, and its parts belong together; nothing was computed (level load)",
    "conv": "convolves, and every result is right",
    "full": "convolves in every number format, and every result is right",
}
_MIB, _GIB = 1 << 20, 1 << 30
_BUSY = 0.9  # less than that is free: CUDA and a desktop take a part of it themselves
_DIRECTIONS = ("forward", "backward-data", "backward-filter")
_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16")
_ALGORITHM_WIDTH, _CELL_WIDTH = 40, 7


def as_text(done: Verification, terminal: TextStyle) -> str:
    """Text for 80 columns; commands and paths are never broken."""
    page = Page(terminal)
    if [one.code for one in done.answers] == [NO_GPU]:
        page.paragraph(f"{page.symbol('✗', 'x')} {done.answers[0].why}", colour=_COLOURS[done.verdict], hang=2)
        return page.text()
    roots = [one for one in done.findings if not one.explained_by]
    if done.gpus:
        node_page(page, done)
    elif done.verdict != FAILED:
        mark = page.symbol("✓", "ok") if done.verdict == PASSED else "!"
        page.paragraph(f"{mark} {_answer(done)}", colour=_COLOURS[done.verdict], hang=2)
    for finding in roots:
        show_finding(page, finding)
    for copy in done.copies if not done.gpus else ():
        _copy(page, copy, done)
    for framework in done.frameworks:
        _framework(page, framework, done)
    _open_questions(page, done)
    page.gap()
    page.paragraph(f" {page.symbol('·', '-')} ".join(_counts(done)), colour="dim")
    return page.text()


def _answer(done: Verification) -> str:
    names = [_name(one) for one in done.copies] + [one.trial.framework for one in done.frameworks]
    who = " and ".join(dict.fromkeys(names)) or "cuDNN"
    if done.verdict == PASSED and done.target:
        return f"{who} has engines for compute capability {done.target}; nothing was computed"
    if done.verdict == PASSED:
        return f"{who} {_PROOFS[done.level]}"
    if done.missing:
        return f"{who}: {_so_far(done)}; {'; '.join(done.missing)}"
    return f"{who}: not everything could be tried; see below"


def _name(one: Tried) -> str:
    version = getattr(one.subject.copy.version, "value", "")
    return f"cuDNN {version}".rstrip()


def _so_far(done: Verification) -> str:
    """How far it came, which is something already."""
    passed = [stage.name for one in done.copies for stage in one.outcome.stages if stage.status == "passed"]
    return "it loads, and was not tried on a GPU" if set(LEVELS["load"]) <= set(passed) else "not tried on a GPU"


def _copy(page: Page, one: Tried, done: Verification) -> None:
    page.gap()
    page.line(page.paint("bold", one.subject.label))
    page.row("library", one.outcome.library)
    if one.subject.frameworks:
        page.row("loaded by", ", ".join(one.subject.frameworks))
    if one.subject.why:
        page.row("because", one.subject.why)
    _stages(page, one.outcome.stages, LEVELS[done.level])
    if one.lacks and done.verdict == FAILED:  # else it is the headline
        page.row("lacks", one.lacks)
    if done.level == "full" and one.outcome.rows:
        _table(page, one.outcome.rows)


def _framework(page: Page, one: FrameworkTried, done: Verification) -> None:
    trial = one.trial
    page.gap()
    page.line(page.paint("bold", f"{trial.framework} in {trial.environment}"))
    _stages(page, trial.stages, ())
    for row in trial.rows:
        page.row("", f"{_mark(page, _of_row(row))} {row.direction}")
    if trial.doubt:
        page.row("", f"{_mark(page, 'missing')} {trial.doubt}")
    if trial.compared:
        as_predicted = "all" if not trial.surprises else f"{trial.compared - len(trial.surprises)}"
        page.row("files", f"{trial.compared} mapped libraries compared, {as_predicted} as check predicts")
    if one.lacks and done.verdict == FAILED:
        page.row("lacks", one.lacks)


def _of_row(row: Row) -> str:
    return "passed" if row.status == "right" else "missing" if row.status == "declined" else "failed"


def _stages(page: Page, stages: Iterable[Stage], wanted: tuple[str, ...]) -> None:
    begun = set()
    for stage in stages:
        begun.add(stage.name)
        took = "" if stage.seconds < 0.05 else f" ({stage.seconds:.1f} s)"
        mark = page.symbol("·", "-") if stage.facts.get("not_asked") else _mark(page, stage.status)
        label = {"convolution": "convolve", "strategies": "workspace"}.get(stage.name, stage.name)
        page.row(label, f"{mark} {_told(stage)}{_taken(stage)}{took}")
    left = [name for name in wanted if name not in begun]
    if left:
        page.row("not tried", ", ".join(left))


def _taken(stage: Stage) -> str:
    """What it held of the GPU's memory, besides CUDA's own and the library's."""
    size_bytes = stage.facts.get("memory_bytes")
    return f", with {size_bytes / _MIB:.0f} MiB of the GPU" if isinstance(size_bytes, int) and size_bytes else ""


def _mark(page: Page, status: str) -> str:
    fancy, plain = _MARKS[status]
    return page.symbol(fancy, plain)


def _told(stage: Stage) -> str:
    """What a stage found, in a few words; the whole of it stands in the JSON."""
    if stage.fault:
        said = f"{stage.fault.name} ({stage.fault.status})" if stage.fault.status else stage.fault.name
        return f"{stage.fault.function} {said}".strip() or "failed"
    if stage.status != "passed":
        return {"missing": "not here", "cut-off": "the process ended here"}.get(stage.status, stage.status)
    words = _WORDS.get(stage.name)
    return (words(stage) if words else "") or "passed"


def _loaded(stage: Stage) -> str:
    files = stage.facts.get("preloaded")
    if not isinstance(files, (list, tuple)):
        return ""
    return f"{len(files) + 1} libraries opened by their paths" if files else "opened by its path"


def _version(stage: Stage) -> str:
    cudart = stage.facts.get("cudart_version")
    built = f", built with CUDA {CudaVersion.from_encoded(cudart)}" if isinstance(cudart, int) and cudart else ""
    return f"{stage.facts.get('version', '')}{built}"


def _parts(stage: Stage) -> str:
    parts = stage.facts.get("parts", {})
    if len(parts) == 1:
        return f"{next(iter(parts))} is the only part that can be asked, and fits"
    return f"{', '.join(parts)} are of one release" if parts else "one library, without parts"


def _mapped(stage: Stage) -> str:
    files = stage.facts.get("cudnn", ())
    number = "1 file" if len(files) == 1 else f"{len(files)} files"
    return f"{number} of this copy, and no other's" if files else ""


def _device(stage: Stage) -> str:
    if stage.facts.get("memory") == "host":
        return "in host memory: no GPU took part"
    name, capability = stage.facts.get("gpu", ""), stage.facts.get("compute_capability", "")
    free, total = (stage.facts.get(key) or 0 for key in ("free_bytes", "total_bytes"))
    space = f"{free / _GIB:.1f} of {total / _GIB:.1f} GiB free: others use it" if free < _BUSY * total else ""
    return ", ".join(filter(None, (f"{name} (compute capability {capability})" if capability else str(name), space)))


def _computed(stage: Stage) -> str:
    if stage.facts.get("not_asked"):
        return f"not asked: {stage.facts['not_asked']}"
    right = stage.facts.get("right")
    return f"{right} results right" if isinstance(right, int) else ""


def _strategies(stage: Stage) -> str:
    """The fastest of each pass, as cuDNN measured."""
    chosen = stage.facts.get("chosen", {})
    found = [(direction, each.get("fastest")) for direction, each in chosen.items()]
    words = [f"{direction} {one['algorithm']} {one['time_ms']:g} ms" for direction, one in found if one]
    return f"fastest: {', '.join(words)}" if words else ""


def _peers(stage: Stage) -> str:
    pairs = stage.facts.get("pairs", ())
    if not pairs:
        return "one GPU: nothing to copy between"
    direct = sum(bool(one["direct"]) for one in pairs)
    return f"{len(pairs)} copies between {stage.facts.get('gpus')} GPUs right, {direct} of them direct"


def _planned(stage: Stage) -> str:
    """What cuDNN planned, or why it was not asked."""
    first = stage.facts.get("planned")
    engines = stage.facts.get("engines", {})
    if first and len(engines) > 1:
        return ", ".join(f"{name} {number}" for name, number in engines.items()) + " engines"
    if first:
        return f"{first} for a GPU that was only described: engines and heuristics open"
    return f"not asked: {stage.facts.get('not_asked')}"


_WORDS = {
    "load": _loaded,
    "version": _version,
    "parts": _parts,
    "plans": _planned,
    "mapped": _mapped,
    "device": _device,
    "convolution": _computed,
    "graph": _computed,
    "matrix": _computed,
    "strategies": _strategies,
    "peers": _peers,
}


def _table(page: Page, rows: Iterable[Row]) -> None:
    """One line an algorithm, one column a number format: how many results were right, or what else."""
    rows = sorted(rows, key=lambda row: _DIRECTIONS.index(row.direction))
    dtypes = sorted({row.dtype for row in rows}, key=_DTYPES.index)
    page.gap()
    page.line(
        "  " + "results that are right".ljust(_ALGORITHM_WIDTH) + "".join(one.rjust(_CELL_WIDTH) for one in dtypes)
    )
    for direction, algorithm in dict.fromkeys((row.direction, row.algorithm) for row in rows):
        mine = [row for row in rows if (row.direction, row.algorithm) == (direction, algorithm)]
        cells = (_cell([row for row in mine if row.dtype == dtype], page) for dtype in dtypes)
        name = f"{direction} {algorithm}"[:_ALGORITHM_WIDTH]
        page.line(f"  {name.ljust(_ALGORITHM_WIDTH)}" + "".join(cell.rjust(_CELL_WIDTH) for cell in cells))
    page.paragraph(f"  {page.symbol('·', '-')} not offered; 5/7: two of seven are wrong or failed", colour="dim")


def _cell(rows: list[Row], page: Page) -> str:
    statuses = [row.status for row in rows]
    right, bad = statuses.count("right"), statuses.count("wrong") + statuses.count("failed")
    if bad:
        return f"{right}/{right + bad}"
    return str(right) if right else page.symbol("·", "-") if rows else ""


def _open_questions(page: Page, done: Verification) -> None:
    whys = [one.why for one in done.answers if one.kind is Status.UNKNOWN and one.blocks_verdict]
    if not whys:
        return
    page.gap()
    page.line(page.paint("bold", "Could not run"))
    for why in dict.fromkeys(whys):
        page.paragraph(f"  {why}", hang=4)


def _counts(done: Verification) -> Iterator[str]:
    roots = [one for one in done.findings if not one.explained_by]
    errors = sum(one.severity is Severity.ERROR for one in roots)
    yield f"{errors} {'error' if errors == 1 else 'errors'}"
    warnings = len(roots) - errors
    yield f"{warnings} {'warning' if warnings == 1 else 'warnings'}"
    if len(done.findings) > len(roots):
        yield f"{len(done.findings) - len(roots)} more explained by them"
    yield f"level {done.level}"
    yield f"{done.elapsed_s:.1f} s"
    yield f"matrix of {done.matrix_as_of}"
