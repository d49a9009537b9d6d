"""The benchmark as a chart: one self-contained SVG, readable on light and on dark ground, and without colours."""

from __future__ import annotations

from compat.base.paths import text_beside
from doctor.commands.bench.canvas import Canvas, room_for, width_of
from doctor.commands.bench.outcome import TORCH
from doctor.commands.bench.results_table import (
    Comparison,
    Line,
    Report,
    article_lines,
    comparisons,
    lack_lines,
    machine_line,
    seconds,
    shape,
    spread_s,
    times,
)
from doctor.commands.bench.scale import Scale, scale_for
from doctor.output.page import wrap

_WIDTH, _LEFT, _RIGHT, _MARGIN = 920, 132.0, 600.0, 20.0
_COLUMNS = (("seconds", 684.0), ("× CPU", 742.0), ("article: s", 826.0), ("× CPU", 896.0))  # where they end
_BAR, _GAP, _HEADING, _BELOW = 18.0, 7.0, 26.0, 12.0
_BODY, _SMALL = 12.5, 11.5  # font sizes
_STYLES = {"cpu": "cpu", TORCH: "torch", "gpu False": "plain", "gpu True": "pool", "gpu+cudnn": "cudnn"}
_TITLE = "Seconds per training epoch"


def render(report: Report) -> str:
    """Bars of what was measured; what was not is named below them."""
    canvas = Canvas(_WIDTH)
    shown = [one for one in comparisons(report) if _bars(one)]
    scale = scale_for([value for one in shown for line in _bars(one) for value in _values(line)], _LEFT, _RIGHT)
    y = _head(canvas, report, shown)
    y = _plot(canvas, shown, scale, y) if shown else y
    y = _foot(canvas, report, shown, y)
    return canvas.document(y, text_beside(__file__, "svg.css"), _TITLE, _description(report, shown))


def _bars(comparison: Comparison) -> list[Line]:
    return [line for line in comparison.lines if line.timing]


def _values(line: Line) -> list[float]:
    measured = [line.timing.epoch_s, *spread_s(line.timing)] if line.timing else []
    return [*measured, *([float(line.article_s)] if line.article_s is not None else [])]


def _style(line: Line) -> str:
    return _STYLES[f"{line.path} {line.pool}" if line.path == "gpu" else line.path]


def _head(canvas: Canvas, report: Report, shown: list[Comparison]) -> float:
    """Title, machine, legend; returns where the plot may begin."""
    canvas.text(_MARGIN, 32, _TITLE, "head")
    canvas.text(_MARGIN + width_of(_TITLE, 19), 32, "less is better", "dim")
    y = _paragraph(canvas, f"{machine_line(report.bench)}; {report.bench.measured_on}", 53)
    return _legend(canvas, shown, y + 8) + 46


def _legend(canvas: Canvas, shown: list[Comparison], y: float) -> float:
    x = _MARGIN
    for style, label in {_style(line): line.label for one in shown for line in _bars(one)}.items():
        canvas.box(x, y - 10, 12, 12, style)
        x = _named(canvas, x + 18, y, label)
    if shown:
        _whisker(canvas, x, x + 18, y - 4)
        x = _named(canvas, x + 24, y, "quartiles of steps")
    if any(_values(line)[3:] for one in shown for line in _bars(one)):
        _diamond(canvas, x + 6, y - 4)
        _named(canvas, x + 18, y, "the article's machine")
    return y


def _named(canvas: Canvas, x: float, y: float, label: str) -> float:
    canvas.text(x, y, label, "body")
    return x + width_of(label, _BODY) + 22


def _plot(canvas: Canvas, shown: list[Comparison], scale: Scale, y: float) -> float:
    for tick in scale.ticks:
        canvas.text(scale.at(tick), y - 6, f"{tick:,.10g}", "dim", anchor="middle")
    kind = ", logarithmic" if scale.is_logarithmic else ""
    canvas.text(_LEFT, y - 22, f"seconds{kind}", "dim")
    for label, x in _COLUMNS:
        canvas.text(x, y - 6, label, "dim", anchor="end")
    for one in shown:
        y = _group(canvas, one, scale, y)
    return y


def _group(canvas: Canvas, one: Comparison, scale: Scale, y: float) -> float:
    bars = _bars(one)
    canvas.text(_MARGIN, y + 17, one.subject.name, "strong")
    canvas.text(_MARGIN + width_of(one.subject.name, 14) + 8, y + 17, _size(one), "dim")
    y += _HEADING
    end = y + len(bars) * (_BAR + _GAP)
    for tick in scale.ticks:
        canvas.path(f"M{scale.at(tick):.1f} {y - 4:.1f}V{end - _GAP + 4:.1f}", "grid")
    for number, line in enumerate(bars):
        _bar(canvas, line, scale, y + number * (_BAR + _GAP))
    return end + _BELOW


def _size(one: Comparison) -> str:
    """What an epoch was, and by how many images it was gone through."""
    timings = [line.timing for line in _bars(one) if line.timing]
    batches = ", ".join(str(number) for number in dict.fromkeys(timing.batch for timing in timings))
    return f"{timings[0].images_per_epoch:,} images of {shape(one.subject.shape)}, batch {batches}"


def _bar(canvas: Canvas, line: Line, scale: Scale, y: float) -> None:
    timing = line.timing
    if timing is None:
        return
    end, middle = scale.at(timing.epoch_s), y + _BAR / 2
    canvas.text(_LEFT - 8, middle + 4, line.label, "body", anchor="end")
    canvas.box(_LEFT, y, max(end - _LEFT, 1.0), _BAR, _style(line))
    low, high = (scale.at(one) for one in spread_s(timing))
    _whisker(canvas, low, high, middle)
    if line.article_s is not None:
        _diamond(canvas, scale.at(line.article_s), middle)
    article_s = "" if line.article_s is None else str(line.article_s)
    numbers = (seconds(timing.epoch_s), times(line.times_cpu), article_s, times(line.article_times_cpu, none=""))
    for (_, x), text, style in zip(_COLUMNS, numbers, ("strong", "body", "dim", "dim"), strict=True):
        canvas.text(x, middle + 4, text, style, anchor="end")


def _whisker(canvas: Canvas, low: float, high: float, y: float) -> None:
    canvas.path(f"M{low:.1f} {y - 4:.1f}v8m0 -4H{high:.1f}m0 -4v8", "spread")


def _diamond(canvas: Canvas, x: float, y: float) -> None:
    canvas.path(f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", "article")


def _foot(canvas: Canvas, report: Report, shown: list[Comparison], y: float) -> float:
    """The articles' machines, what was not measured, and what a reader must know; returns the height."""
    told = [f"Article on {line}" for line in article_lines(shown)]
    told += [f"Not measured: {line}" for line in lack_lines(report.bench.lacks)]
    y += 12
    for line in [*told, *report.bench.notes, report.command]:
        y = _paragraph(canvas, line, y)
    return y + 4


def _paragraph(canvas: Canvas, text: str, y: float) -> float:
    """Lines in small print; returns where the next may stand."""
    for line in wrap(text, room_for(_WIDTH - 2 * _MARGIN, _SMALL)):
        canvas.text(_MARGIN, y, line, "dim")
        y += 16
    return y


def _description(report: Report, shown: list[Comparison]) -> str:
    """Every number of the chart, for those who do not see it."""
    told = [
        f"{one.subject.name}: "
        + ", ".join(f"{line.label} {seconds(line.timing.epoch_s)} seconds" for line in one.lines if line.timing)
        for one in shown
    ]
    return f"Measured on {machine_line(report.bench)}. " + (". ".join(told) or "Nothing was measured") + "."
