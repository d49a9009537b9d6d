"""What a reader is shown of a benchmark: every network on all paths, and the articles' figures beside them."""

from __future__ import annotations

from collections.abc import Sequence

from compat.base.record import NamedTuple
from doctor.commands.bench.article_row import ArticleRow
from doctor.commands.bench.articles import article_on, ratio_of, seconds_of
from doctor.commands.bench.outcome import TORCH, Bench, Choice, Lack, Network, Timing
from doctor.model.facts.gpu import GpuNow
from doctor.model.facts.seen import Fact, Seen, value_or

# Path, memory pool (cuDNN's path always has it), and how a reader is told.
WAYS: tuple[tuple[str, bool | None, str], ...] = (
    ("cpu", None, "CPU"),
    (TORCH, None, "CPU, torch"),
    ("gpu", False, "GPU, no pool"),
    ("gpu", True, "GPU"),
    ("gpu+cudnn", True, "GPU + cuDNN"),
)


class Subject(NamedTuple):
    """A network as a reader must know it; its layers stand in its row."""

    name: str
    title: str
    shape: tuple[int, int, int]  # of one image: channels, height, width
    classes: int
    batch: int  # as its row says; a timing may have another
    images_per_epoch: int
    parameters: int
    source: str
    note: str


class Report(NamedTuple):
    """A benchmark with what is needed to read it."""

    command: str  # as it was typed
    subjects: tuple[Subject, ...]
    bench: Bench


class Line(NamedTuple):
    """One path of one network."""

    path: str
    pool: bool | None
    label: str
    timing: Timing | None  # None where it was not measured
    times_cpu: float | None  # how many times as fast as the CPU; None where one of the two is missing
    article_s: int | None  # seconds per epoch on the article's machine
    article_times_cpu: float | None


class Comparison(NamedTuple):
    """One network on all paths."""

    subject: Subject
    lines: tuple[Line, ...]
    article: ArticleRow | None


class Choices(NamedTuple):
    """All algorithms of one direction of one layer, and the one that each strategy takes."""

    layer: str
    direction: str
    problem: str
    choices: tuple[Choice, ...]

    def taken(self, strategy: str) -> Choice | None:
        """The algorithm that a strategy takes, None where none fits it."""
        return next((one for one in self.choices if strategy in one.strategies), None)


def subject_of(network: Network) -> Subject:
    """The network without its layers."""
    return Subject(*(getattr(network, name) for name in Subject._fields))


def ways(bench: Bench) -> tuple[tuple[str, bool | None, str], ...]:
    """All but torch's, which stands only where it was measured."""
    measured = {one.path for one in bench.timings}
    return tuple(one for one in WAYS if one[0] != TORCH or TORCH in measured)


def comparisons(report: Report) -> tuple[Comparison, ...]:
    """Every network, in the order in which they were asked for."""
    return tuple(_comparison(report.bench, subject) for subject in report.subjects)


def _comparison(bench: Bench, subject: Subject) -> Comparison:
    article = article_on(subject.name)
    on_cpu = bench.timing(subject.name, "cpu", None)
    lines = []
    for path, pool, label in ways(bench):
        timing = bench.timing(subject.name, path, pool)
        times_cpu = on_cpu.epoch_s / timing.epoch_s if on_cpu and timing and timing.epoch_s else None
        seconds = seconds_of(article, path, pool) if article else None
        lines.append(
            Line(
                path=path,
                pool=pool,
                label=f"{label}, TF32" if timing and timing.dtype == "tf32" else label,
                timing=timing,
                times_cpu=times_cpu,
                article_s=seconds,
                article_times_cpu=ratio_of(article, path, pool) if article else None,
            )
        )
    return Comparison(subject, tuple(lines), article)


def choices_of(bench: Bench, network: str) -> tuple[Choices, ...]:
    """The table algorithm x workspace of one network, a group a layer and direction, in the order measured."""
    groups: dict[tuple[str, str, str], list[Choice]] = {}
    for one in bench.choices:
        if one.network == network:
            groups.setdefault((one.layer, one.direction, one.problem), []).append(one)
    return tuple(Choices(*key, tuple(found)) for key, found in groups.items())


def spread_s(timing: Timing) -> tuple[float, float]:
    """Seconds per epoch at the lower and the upper quartile of the steps."""
    steps = timing.images_per_epoch / timing.batch
    return timing.step_s_low * steps, timing.step_s_high * steps


def seconds(value: float) -> str:
    """Three digits, as a reader wants seconds: 1,234  152  27.4  2.60  0.0714."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def shape(size: tuple[int, int, int]) -> str:
    """Channels, height and width of an image, multiplied."""
    return "×".join(map(str, size))


def times(value: float | None, *, none: str = "–") -> str:
    """A ratio: 0.85  1.0  7.6  22; a dash where there is none."""
    if value is None:
        return none
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def article_lines(shown: Sequence[Comparison]) -> tuple[str, ...]:
    """Where the figures beside ours come from, one line for all networks that were measured in the same place."""
    places: dict[str, list[str]] = {}
    for one in shown:
        if one.article:
            rounded = "" if one.article.cpu_s is not None else ", rounded"
            place = f"{one.article.machine}, {one.article.software}, {one.article.year}{rounded}"
            places.setdefault(place, []).append(one.subject.name)
    return tuple(f"{', '.join(names)}: {place}" for place, names in places.items())


def busy(timing: Timing | None, *, none: str = "–") -> str:
    """The share of time in which the GPU worked; a dash where that was not told."""
    known = timing is not None and timing.gpu_busy_percent is not None
    return f"{timing.gpu_busy_percent} %" if timing and known else none


def lack_line(lack: Lack) -> str:
    """What was not measured, and why, in one line."""
    labels = {"cpu": "CPU", "gpu": "GPU", "gpu+cudnn": "GPU + cuDNN", "choices": "table of algorithms"}
    where = " ".join(filter(None, (lack.network, labels.get(lack.path, lack.path))))
    return f"{where}: {lack.why}" if where else lack.why


def lack_lines(lacks: Sequence[Lack]) -> tuple[str, ...]:
    """Every lack once."""
    return tuple(dict.fromkeys(map(lack_line, lacks)))


def machine_line(bench: Bench) -> str:
    """The machine in one line: what computes, and with what."""
    one = bench.machine
    cpu = f"{one.cpu or 'CPU unknown'}, {one.cores} cores"
    parts = [cpu, one.blas or (f"NumPy {one.numpy}" if one.numpy else ""), one.gpu]
    parts += [f"torch {one.torch}" if one.torch else ""]
    parts += [f"driver {one.driver}" if one.driver else "", f"cuDNN {one.cudnn}" if one.cudnn else ""]
    return "; ".join(filter(None, parts))


def notes_of(bench: Bench) -> tuple[str, ...]:
    """What a reader must know of the run and of single measurements, each once."""
    of_timings = (f"{one.network}, {one.path}: {note}" for one in bench.timings for note in one.notes)
    return tuple(dict.fromkeys((*bench.notes, *of_timings)))


def throttling(bench: Bench) -> tuple[str, ...]:
    """How warm and how fast the GPU was before and after, and what held it back; nothing where none was measured."""
    readings = (("before", bench.machine.gpu_before), ("after", bench.machine.gpu_after))
    return tuple(f"GPU {when}: {_reading(now)}" for when, now in readings if now)


def _reading(now: GpuNow) -> str:
    held_back = value_or(now.throttle_reasons, None)
    parts = (
        _with_unit(now.temperature_c, "degrees C"),
        _with_unit(now.sm_clock_mhz, "MHz"),
        _with_unit(now.power_w, "W"),
        "throttling not told" if held_back is None else f"held back by {', '.join(held_back)}" if held_back else "",
    )
    return ", ".join(filter(None, parts)) or "no readings"


def _with_unit(fact: Fact[int] | Fact[float], unit: str) -> str:
    return f"{fact.value:.0f} {unit}" if isinstance(fact, Seen) else ""
