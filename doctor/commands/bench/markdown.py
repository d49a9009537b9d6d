"""The benchmark as a Markdown page: the command, the machine, the chart, and every number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.commands.bench.article_row import ArticleRow
from doctor.commands.bench.articles import article_on, ratio_of, seconds_of
from doctor.commands.bench.outcome import STRATEGIES, Choice, Machine, Timing
from doctor.commands.bench.results_table import (
    Choices,
    Comparison,
    Report,
    busy,
    choices_of,
    comparisons,
    lack_lines,
    notes_of,
    seconds,
    shape,
    spread_s,
    throttling,
    times,
    ways,
)
from doctor.commands.matrix.view_markdown import cell, table

_MIB = 1 << 20
_TITLE = "Training networks on the CPU, on the GPU, and on the GPU with cuDNN"


def render(report: Report, chart: str) -> str:
    """The whole page."""
    shown, labels = comparisons(report), tuple(label for _, _, label in ways(report.bench))
    blocks = [f"# {_TITLE}", _opening(report)]
    blocks += [f"![Seconds per training epoch, as a chart]({chart})"] if chart else []
    blocks += [
        "## Seconds per epoch",
        _epochs(shown, labels),
        "## How many times as fast as the CPU",
        _ratios(shown, labels),
    ]
    blocks += _articles(report)
    blocks += ["## Every measurement", _timings(report.bench.timings)] if report.bench.timings else []
    blocks += _choices(report)
    blocks += _list("To be known", (*throttling(report.bench), *notes_of(report.bench)))
    blocks += _list("Not measured", lack_lines(report.bench.lacks))
    head = ("network", "what it is", "weights", "source", "note")
    rows = [(one.name, one.title, f"{one.parameters:,}", one.source, one.note) for one in report.subjects]
    blocks += ["## The networks", table([head, *rows])]
    return "\n\n".join(blocks) + "\n"


def _opening(report: Report) -> str:
    rows = [("machine", ""), *_machine(report.bench.machine)]
    return f"Measured on {report.bench.measured_on} with\n\n```sh\n{report.command}\n```\n\n{table(rows)}"


def _machine(one: Machine) -> list[tuple[str, ...]]:
    cuda = f"runtime {one.cuda_runtime}" if one.cuda_runtime else ""
    rows = (
        ("CPU", f"{one.cpu}, {one.cores} cores, {one.threads} threads"),
        ("system", one.system),
        ("Python, NumPy", f"{one.python}, {one.numpy}" if one.numpy else one.python),
        ("BLAS", one.blas),
        ("torch", one.torch),
        ("GPU", f"{one.gpu}, compute capability {one.capability}" if one.gpu else ""),
        ("driver, CUDA, CuPy", ", ".join(filter(None, (one.driver, cuda, one.cupy)))),
        ("cuDNN", " ".join(filter(None, (one.cudnn, one.cudnn_path)))),
    )
    return [row for row in rows if row[1]]


def _epochs(shown: Sequence[Comparison], labels: tuple[str, ...]) -> str:
    head = ("network", "images", "batch", *labels)
    return table([head, *((*_size(one), *(_epoch(line.timing) for line in one.lines)) for one in shown)])


def _size(one: Comparison) -> tuple[str, str, str]:
    timings = [line.timing for line in one.lines if line.timing]
    images = timings[0].images_per_epoch if timings else one.subject.images_per_epoch
    batches = dict.fromkeys(timing.batch for timing in timings) or {one.subject.batch: None}
    return one.subject.name, f"{images:,} of {shape(one.subject.shape)}", ", ".join(map(str, batches))


def _epoch(timing: Timing | None) -> str:
    if timing is None:
        return "–"
    low, high = map(seconds, spread_s(timing))
    return f"{seconds(timing.epoch_s)} s ({low} to {high})"


def _ratios(shown: Sequence[Comparison], labels: tuple[str, ...]) -> str:
    head = ("network", *labels, "the article says")
    rows = [(one.subject.name, *(times(line.times_cpu) for line in one.lines), _theirs(one)) for one in shown]
    return (
        table([head, *rows])
        + "\n\nA figure is the median of a step, times the steps of an epoch; the brackets above have the same of the "
        "quartiles. "
        "GPU is CuPy (im2col, then a product of matrices by cuBLAS), with and without its memory pool; with cuDNN "
        "nothing differs but the convolutions."
    )


def _theirs(one: Comparison) -> str:
    told = [
        f"{line.label} {times(line.article_times_cpu)}"
        for line in one.lines
        if line.article_times_cpu is not None and line.path != "cpu"
    ]
    return ", ".join(told) or "–"


def _articles(report: Report) -> list[str]:
    rows = dict.fromkeys(filter(None, (article_on(one.name) for one in report.subjects)))
    if not rows:
        return []
    head = ("networks", "CPU", "GPU", "GPU + CNMeM", "GPU + cuDNN", "machine", "software", "year", "source")
    return ["## What the articles measured", table([head, *map(_article, rows)])]


def _article(row: ArticleRow) -> tuple[str, ...]:
    figures = [_figure(row, path, pool) for path, pool in (("cpu", None), ("gpu", False), ("gpu", True))]
    place = (row.machine, row.software, str(row.year), row.source)
    return (", ".join(row.networks), *figures, _figure(row, "gpu+cudnn", True), *place)


def _figure(row: ArticleRow, path: str, pool: bool | None) -> str:
    """Seconds, else a ratio; a dash where the article has neither."""
    seconds_there, ratio = seconds_of(row, path, pool), ratio_of(row, path, pool)
    if seconds_there is not None:
        return f"{seconds_there} s"
    return "–" if ratio is None else f"about {ratio:.0f}× its CPU" if path != "cpu" else "1"


def _timings(timings: Iterable[Timing]) -> str:
    head = ("network", "path", "pool", "dtype", "batch", "steps", "ms a step: median", "quartiles", "extremes")
    tail = ("GPU busy", "clock", "data", "MiB held", "loss, first to last")
    return table([(*head, *tail), *map(_timing, timings)])


def _timing(one: Timing) -> tuple[str, ...]:
    pool = {None: "–", True: "on", False: "off"}[one.pool]
    return (
        *(one.network, one.path, pool, one.dtype, str(one.batch), f"{one.steps} after {one.warmup_steps}"),
        _ms(one.step_s_median),
        f"{_ms(one.step_s_low)} to {_ms(one.step_s_high)}",
        f"{_ms(one.step_s_fastest)} to {_ms(one.step_s_slowest)}",
        *(busy(one), one.clock, one.data, f"{one.peak_bytes / _MIB:,.0f}" if one.peak_bytes else "–"),
        f"{one.losses[0]:.3f} to {one.losses[1]:.3f}",
    )


def _ms(seconds_: float) -> str:
    return seconds(seconds_ * 1000)


def _choices(report: Report) -> list[str]:
    blocks: list[str] = []
    for subject in report.subjects:
        groups = choices_of(report.bench, subject.name)
        if groups:
            head = ("layer", "direction", *STRATEGIES)
            rows = [(one.layer, one.direction, *(_taken(one.taken(name)) for name in STRATEGIES)) for one in groups]
            blocks += [f"## Algorithms by workspace: {subject.name}", table([head, *rows])]
            blocks += [_every(groups)]
    return blocks


def _taken(choice: Choice | None) -> str:
    return "none" if choice is None else f"{choice.algorithm}, {choice.ms:.3f} ms, {_mib(choice.workspace_bytes)}"


def _every(groups: Iterable[Choices]) -> str:
    """Every algorithm, folded away."""
    head = ("layer", "direction", "problem", "algorithm", "ms", "workspace", "status")
    rows = [
        (one.layer, one.direction, one.problem, one.algorithm, _time(one), _space(one), _status(one))
        for group in groups
        for one in group.choices
    ]
    return f"<details><summary>Every algorithm</summary>\n\n{table([head, *rows])}\n\n</details>"


def _time(choice: Choice) -> str:
    return f"{choice.ms:.3f}" if choice.status == "ran" else "–"


def _space(choice: Choice) -> str:
    return _mib(choice.workspace_bytes) if choice.status in {"ran", "too-big"} else "–"


def _status(choice: Choice) -> str:
    return f"{choice.status}: {choice.detail}" if choice.detail else choice.status


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:,.1f} MiB"


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "\n".join(f"- {cell(line)}" for line in lines)] if lines else []
