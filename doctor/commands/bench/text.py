"""The benchmark for people: every network's paths under each other, the articles' figures beside them."""

from __future__ import annotations

from doctor.commands.bench.outcome import STRATEGIES, Choice
from doctor.commands.bench.results_table import (
    Comparison,
    Line,
    Report,
    article_lines,
    busy,
    choices_of,
    comparisons,
    lack_lines,
    machine_line,
    notes_of,
    seconds,
    shape,
    spread_s,
    throttling,
    times,
)
from doctor.output.document import TextStyle
from doctor.output.page import Page

_HEADS = ("s per epoch", "quartiles", "x CPU", "article", "x CPU")
_WIDTHS = (13, 21, 7, 9, 7)
_LABEL, _BUSY = 15, 6


def render(report: Report, terminal: TextStyle) -> str:
    """Text for 80 columns."""
    page = Page(terminal)
    if not report.bench.timings and report.bench.lacks:
        for line in lack_lines(report.bench.lacks):
            page.paragraph(f"Nothing was measured: {line}", hang=2)
        return page.text()
    page.paragraph(machine_line(report.bench), hang=2)
    shown = comparisons(report)
    for one in shown:
        _network(page, one)
    _choices(page, report)
    _told(page, "The articles' machines", article_lines(shown))
    _told(page, "To be known", (*throttling(report.bench), *notes_of(report.bench)))
    _told(page, "Not measured", lack_lines(report.bench.lacks))
    return page.text()


def _network(page: Page, one: Comparison) -> None:
    subject, measured = one.subject, [line.timing for line in one.lines if line.timing]
    images = measured[0].images_per_epoch if measured else subject.images_per_epoch
    dot = page.symbol("·", "-")
    size = shape(subject.shape) if page.symbol("×", "") else "x".join(map(str, subject.shape))
    page.gap()
    page.line(page.paint("bold", subject.name) + f" {dot} {images:,} images of {size}")
    is_told = any(timing.gpu_busy_percent is not None for timing in measured)
    page.line(page.paint("dim", "  " + "".ljust(_LABEL) + _cells(_HEADS) + ("busy".rjust(_BUSY) if is_told else "")))
    for line in one.lines:
        # A long label takes the blanks before the first number; how busy the GPU was comes last, where that was told.
        cells = _cells(_numbers(page, line)).lstrip()
        share = busy(line.timing, none="").rjust(_BUSY)
        page.line("  " + (line.label + cells.rjust(_LABEL + sum(_WIDTHS) - len(line.label)) + share).rstrip())
    batches = sorted({(timing.batch, timing.dtype, timing.data) for timing in measured})
    for batch, dtype, data in batches:
        page.paragraph(f"  batch {batch}, {dtype}, {data} data", colour="dim", hang=4)


def _numbers(page: Page, line: Line) -> tuple[str, ...]:
    none = page.symbol("–", "-")
    timing = line.timing
    article = f"{line.article_s} s" if line.article_s is not None else none
    theirs = times(line.article_times_cpu, none=none)
    if timing is None:
        return ("not measured", "", none, article, theirs)
    low, high = map(seconds, spread_s(timing))
    return (seconds(timing.epoch_s), f"{low}{none}{high}", times(line.times_cpu, none=none), article, theirs)


def _cells(texts: tuple[str, ...]) -> str:
    return "".join(text.rjust(width) for text, width in zip(texts, _WIDTHS, strict=True))


def _choices(page: Page, report: Report) -> None:
    """The algorithm that each strategy takes; every algorithm stands in JSON and on the Markdown page."""
    for subject in report.subjects:
        groups = choices_of(report.bench, subject.name)
        if not groups:
            continue
        page.gap()
        page.line(page.paint("bold", f"{subject.name}: cuDNN's algorithms by workspace"))
        for group in groups:
            page.line(f"  {group.layer} {group.direction}")
            for strategy in STRATEGIES:
                page.line(f"    {strategy.ljust(18)}{_choice(group.taken(strategy))}")


def _choice(choice: Choice | None) -> str:
    if choice is None:
        return "none"
    return f"{choice.algorithm.ljust(24)}{choice.ms:9.3f} ms{choice.workspace_bytes / 2**20:9.1f} MiB"


def _told(page: Page, title: str, lines: tuple[str, ...]) -> None:
    if not lines:
        return
    page.gap()
    page.line(page.paint("bold", title))
    for line in lines:
        page.paragraph(f"  {line}", hang=4)
