"""The steps of `python -m tests.gpu`: each runs programs, keeps what they wrote, and says what came of it."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from doctor.commands.bench import networks
from doctor.commands.bench.command import SMALL
from tests.gpu.ratio import LEAST

ROOT = Path(__file__).resolve().parents[2]
GPUDOCTOR = (sys.executable, "-c", "from doctor.cli import main; main()")
# The small ones first.
NETWORKS = tuple(sorted(networks.names(), key=lambda name: (name not in SMALL, name)))
VERIFY_AT_MOST_S = 5.0  # `verify --level conv`, the whole process
NODE_AT_MOST_S = 60.0  # `verify --level node`, the whole process
WAYS: dict[str, tuple[str, ...]] = {"cupy": (), "torch": ("--framework", "torch"), "jax": ("--framework", "jax")}
RUNS = 3
LAST_PROBLEM_S = 20  # of the comparison's time, for the problem that is under way at its end
BENCH_SECONDS = 4  # for the steps of one network on one path: seven networks, four ways
_ASK = "import ctypes as c; d=c.CDLL('libcuda.so.1'); n=c.c_int(); d.cuInit(0); d.cuDeviceGetCount(c.byref(n)); "
_ASK += "b=c.create_string_buffer(99); d.cuDeviceGetName(b, 99, 0) if n.value else 0; print(b.value.decode())"


class Result(NamedTuple):
    """One line of the table."""

    what: str
    figure: str
    is_met: bool | None  # None where there is nothing to meet


class Stage(NamedTuple):
    """Where the steps are run."""

    folder: Path  # for what they wrote
    gpu: str
    end: float = math.inf  # of the step's time, by time.monotonic()

    def within(self, seconds: float) -> float:
        """So long, or as long as is left."""
        return min(seconds, max(self.end - time.monotonic(), 1.0))


class Ran(NamedTuple):
    """What became of a program."""

    status: int  # 124 where it took too long
    output: str
    seconds: float


def gpu_name() -> str:
    """The first GPU that the driver shows, "" for none; asked in a child, for a driver may crash."""
    done = ran((sys.executable, "-c", _ASK), 60)
    return done.output.strip() if done.status == 0 else ""


def ran(argv: tuple[str, ...], timeout_s: float, keep: Path | None = None) -> Ran:
    """Run a program from the top of the tree; its output is kept in a file, errors beside it."""
    begin = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=ROOT, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=timeout_s)
            status = process.returncode
        except subprocess.TimeoutExpired:
            status, (output, errors) = 124, _ended(process)
    seconds = time.perf_counter() - begin
    if keep:
        keep.write_bytes(output)
        if errors:
            keep.with_name(keep.name + ".errors.txt").write_bytes(errors)
    return Ran(status, output.decode("utf-8", "replace"), seconds)


def _ended(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Interrupted, so that it ends its own children, which would go on computing on the GPU; killed if it does not."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def machine(stage: Stage) -> list[Result]:
    """What the card and the packages are."""
    ran(("nvidia-smi", "-q") if _has("nvidia-smi") else (sys.executable, "-c", ""), 60, stage.folder / "nvidia-smi.txt")
    ran((sys.executable, "-m", "pip", "list"), 60, stage.folder / "packages.txt")
    return []


def _has(program: str) -> bool:
    from shutil import which

    return which(program) is not None


def tests(stage: Stage) -> list[Result]:
    """The suite's tests that are marked so: the files that have some, for others import what is not installed there."""
    files = [str(path.relative_to(ROOT)) for path in marked()]
    options = ("-m", "gpu", "-p", "no:cacheprovider", "-W", "default", "-q")  # warnings there are of others' releases
    done = ran((sys.executable, "-m", "pytest", *options, *files), stage.within(420), stage.folder / "tests.txt")
    last = done.output.strip().splitlines()[-1:] or ["no output"]
    return [Result("pytest -m gpu", last[0].strip("= "), done.status == 0)]


def marked() -> list[Path]:
    """The test files with tests for a GPU."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [path for path in files if re.search(r"^(@|pytestmark = )pytest\.mark\.gpu$", path.read_text("utf-8"), re.M)]


def check(stage: Stage) -> list[Result]:
    """The report of a real stack."""
    argv = (*GPUDOCTOR, "check", "--python", sys.executable, "--format", "json", "--redact")
    done = ran(argv, stage.within(60), stage.folder / "check.json")
    report = _json(done.output)
    codes = ", ".join(one["code"] for one in report.get("findings", ()))
    figure = f"{report.get('verdict', f'exit {done.status}')}{': ' + codes if codes else ''}, {done.seconds:.2f} s"
    return [Result("gpudoctor check", figure, done.status in {0, 1, 4} and bool(report))]


def verify(stage: Stage) -> list[Result]:
    """The proof: through CuPy, torch and JAX, and how long the everyday level takes."""
    results = []
    for way, extra in WAYS.items():
        if extra and find_spec(way) is None:
            results.append(Result(f"verify --level full, {way}", "not installed here", False))
            continue
        argv = (*GPUDOCTOR, "verify", "--python", sys.executable, "--level", "full", "--format", "json", *extra)
        done = ran(argv, stage.within(300), stage.folder / f"verify-{way}.json")
        results.append(Result(f"verify --level full, {way}", _said(done), done.status == 0))
    argv = (*GPUDOCTOR, "verify", "--python", sys.executable, "--level", "conv")
    runs = [ran(argv, stage.within(60), stage.folder / "verify-conv.txt") for _ in range(RUNS)]
    middle = statistics.median(one.seconds for one in runs)
    is_met = middle <= VERIFY_AT_MOST_S and all(one.status == 0 for one in runs)
    figure = f"{middle:.2f} s, median of {RUNS}, exit {runs[-1].status}"
    return [*results, Result(f"verify --level conv takes at most {VERIFY_AT_MOST_S:.0f} s", figure, is_met)]


def node(stage: Stage) -> list[Result]:
    """Is the machine ready to train: cuBLAS, NVRTC, copies, NCCL and cuDNN on every GPU."""
    argv = (*GPUDOCTOR, "verify", "--python", sys.executable, "--level", "node", "--format", "json")
    done = ran(argv, stage.within(2 * NODE_AT_MOST_S), stage.folder / "verify-node.json")
    gpus = _json(done.output).get("gpus", ())
    stages = [one for gpu in gpus for one in gpu["stages"]]
    left = sorted({one["name"] for one in stages if one["status"] != "passed"})
    figure = f"{_said(done)}, {len(gpus)} GPU(s)" + (f", not passed: {', '.join(left)}" if left else "")
    head = Result(f"verify --level node takes at most {NODE_AT_MOST_S:.0f} s", figure, done.status == 0)
    return [head._replace(is_met=head.is_met and done.seconds <= NODE_AT_MOST_S), *_speeds(gpus)]


def _speeds(gpus: Any) -> list[Result]:
    """What the copies came to: facts, without a criterion."""
    found = [(gpu["gpu"], one["now"].get("gb_per_s", {})) for gpu in gpus for one in gpu["stages"]]
    return [
        Result(f"  GPU {number}", ", ".join(f"{way} {speed} GB/s" for way, speed in told.items()), None)
        for number, told in found
        if told
    ]


def _said(done: Ran) -> str:
    report = _json(done.output)
    codes = ", ".join(one["code"] for one in report.get("findings", ()))
    return (
        f"exit {done.status}, {report.get('verdict', 'no report')}{': ' + codes if codes else ''}, {done.seconds:.1f} s"
    )


def bench(stage: Stage) -> list[Result]:
    """Every network on every path, each by a command of its own: what takes too long costs no other its figures.

    One report of them all, its page and its chart as they belong into docs/benchmarks.
    """
    name = f"bench-{re.sub(r'[^a-z0-9]+', '-', stage.gpu.lower()).strip('-')}"
    saved, page = stage.folder / f"{name}.json", stage.folder / f"{name}.md"
    argv = (*GPUDOCTOR, "bench", "--python", sys.executable, "--seconds", str(BENCH_SECONDS), "--format", "json")
    all_done = {one: ran((*argv, one), stage.within(300), stage.folder / f"{name}-{one}.json") for one in NETWORKS}
    reports = [report for one in all_done.values() if (report := _json(one.output))]
    saved.write_text(json.dumps(together(reports), indent=1) + "\n", encoding="utf-8")
    ran((*GPUDOCTOR, "bench", "--show", str(saved), "--format", "markdown", "--output", str(page)), 60)
    ran((*GPUDOCTOR, "bench", "--show", str(saved)), 60, stage.folder / f"{name}.txt")
    measured, lacks = (sum(len(one[what]) for one in reports) for what in ("timings", "lacks"))
    seconds = sum(one.seconds for one in all_done.values())
    figure = f"{len(reports)} of {len(NETWORKS)} networks, {measured} measured, {lacks} lacking, {seconds:.0f} s"
    is_met = all(one.status == 0 for one in all_done.values()) and page.is_file()
    missing = [Result(f"bench {one}", f"exit {done.status}", False) for one, done in all_done.items() if done.status]
    gains = [Result(f"bench {one}", *_gain(report, one)) for report in reports for one in _networks(report)]
    return [Result("bench all", figure, is_met), *gains, *missing]


def together(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Reports of one machine, of a network each, as one: with every command, every row, and every note once."""
    if not reports:
        return {}
    found = {**reports[0], "command": " && ".join(one["command"] for one in reports)}
    for name in ("networks", "comparisons", "timings", "choices", "lacks", "notes", "articles"):
        rows = [row for one in reports for row in one[name]]
        found[name] = [row for place, row in enumerate(rows) if row not in rows[:place]]
    return found


def _networks(report: dict[str, Any]) -> list[str]:
    return [one["name"] for one in report.get("networks", ())]


def _gain(report: dict[str, Any], network: str) -> tuple[str, None]:
    """Seconds per epoch on each path, and how many times as fast as the CPU."""
    lines = [one for one in report["comparisons"] if one["network"] == network and one["epoch_s"] is not None]
    words = [
        f"{one['path']}{' no pool' if one['pool'] is False else ''} {one['epoch_s']:.3g} s"
        + (f" ({one['times_cpu']:.0f}x)" if one["times_cpu"] is not None and one["path"] != "cpu" else "")
        for one in lines
    ]
    return ", ".join(words) or "not measured", None


def ratio(stage: Stage) -> list[Result]:
    """Our best convolution beside torch's."""
    saved = stage.folder / "ratio.json"
    saved.unlink(missing_ok=True)  # of a run before
    seconds = stage.within(600)
    argv = (sys.executable, "-m", "tests.gpu.ratio", "--seconds", f"{max(seconds - LAST_PROBLEM_S, 1):.0f}", str(saved))
    done = ran(argv, seconds, stage.folder / "ratio.txt")
    report = _json(saved.read_text(encoding="utf-8")) if saved.is_file() else {}
    if not report:
        last = done.output.strip().splitlines()[-1:] or [""]
        return [Result(f"convolutions at least {LEAST} of torch's", f"exit {done.status}: {last[0]}", False)]
    head, *rest = of_ratios(report["rows"])
    if done.status:  # what was not reached is in no row
        head = head._replace(figure=f"{head.figure}; cut off, exit {done.status}", is_met=False)
    return [head, *rest]


def of_ratios(rows: list[dict[str, Any]]) -> list[Result]:
    """The criterion, then each row that misses it, with what torch ran."""
    timed = [one for one in rows if not one["problem"]]
    low = [one for one in timed if one["ratio"] < LEAST or not one["is_right"]]
    missing = [one for one in rows if one["problem"]]
    mean = math.exp(statistics.fmean(math.log(one["ratio"]) for one in timed)) if timed else 0.0
    least = min((one["ratio"] for one in timed), default=0.0)
    figure = f"{len(timed) - len(low)} of {len(rows)} do, geometric mean {mean:.3f}, least {least:.3f}"
    head = Result(f"convolutions at least {LEAST} of torch's", figure, bool(timed) and not low and not missing)
    return [head, *(Result(f"  {_row(one)}", _reason(one), False) for one in (*low, *missing))]


def _row(one: dict[str, Any]) -> str:
    return f"{one['layer']} {one['dtype']} {one['layout']} {one['direction']}"


def _reason(one: dict[str, Any]) -> str:
    if one["problem"]:
        return str(one["problem"])
    wrong = "" if one["is_right"] else f", differs by {one['difference']:.2g}"
    ran_there = f"; torch ran {', '.join(one['torch_kernels'])}" if one["torch_kernels"] else ""
    return (
        f"{one['ratio']:.3f}: {one['ours_ms']:.3f} ms by {one['ours_by']}, {one['torch_ms']:.3f} ms{wrong}{ran_there}"
    )


def _json(text: str) -> dict[str, Any]:
    """A report, {} where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# The proofs first: the time on such a machine is short.
STEPS: dict[str, Callable[[Stage], list[Result]]] = {
    "machine": machine,
    "check": check,
    "verify": verify,
    "node": node,
    "ratio": ratio,
    "tests": tests,
    "bench": bench,
}
# How the time is shared out; a step that is asked for alone has it all.
SHARES = {"machine": 2, "check": 1, "verify": 12, "node": 3, "ratio": 20, "tests": 14, "bench": 34}
