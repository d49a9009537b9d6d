"""Attacks by the thousand, each made by a seed: command lines, names, mutated reports, traps for root, kills."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import typer

from doctor import cli
from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.check.document import CheckDocument
from doctor.model.encode import encode_report
from doctor.output.document import TextStyle
from doctor.output.write import format_for
from tests.lab.case import examine
from tests.lab.cases import CASES

WITHIN_S = 60.0  # of a busy machine
STATUSES = {0, 1, 2, 4, 130}
FORMATS = ("github", "html", "json", "junit", "markdown", "prometheus", "sarif", "text")
ROOT = Path(__file__).resolve().parents[2]
_FAULT = re.compile(r"Traceback|a fault of gpudoctor itself|gpudoctor itself failed")

# Command lines

_COMMANDS = (
    *("check", "explain", "which", "gate", "run", "policy init", "verify", "bench"),
    *("matrix can", "matrix solve", "matrix show", "matrix list"),
    *("install cuda", "install cudnn", "install driver", "install package", "install stack", "install history"),
    *("install rollback", "install config theano", "install config loader"),
)
_NEVER = {"--apply", "--sudo", "--deep", "--fix", "--live", "--prune"}  # they change things, or start much
_VALUES = (
    *("", "-", "--", "a", "0", "-1", "1e999", "9" * 50, "nan", "inf", "12.8", "sm_90", "580", "3.12", "True", "null"),
    *("/", ".", "..", "missing", "folder", "report.json", "binary", "log", "link", "loop", "/dev/null"),
    *("/proc/self/maps", "~", "~nobody"),
    *("\x1b[2J", "\udcff", "é" * 300, "a" * 5_000, "a\nb", "$(x)", "'", '"', "%s%n", "../" * 300, "C:\\x"),
    *("torch", "torch==2.9.1", "torch==", "cudnn", "cuda", "json", "html", "JSON", "linux", "windows", "ubuntu-24.04"),
    *("x86_64", "H100", "RTX 4090", "error", "env", "all", "local", "1,2", "a=b", "=", "cudnn-missing", "RuntimeError"),
)


def _options() -> dict[str, tuple[list[str], int]]:
    """The options of each command, and how many arguments it has."""
    found = {}
    for line in _COMMANDS:
        words = line.split()
        command: Any = typer.main.get_command(cli._app(words))
        for word in words:
            command = command.commands[word]
        options = [name for one in command.params for name in one.opts if name.startswith("-")]
        arguments = sum(one.param_type_name == "argument" for one in command.params)
        found[line] = ([one for one in options if one not in _NEVER], arguments)
    return found


def lines(seeds: range) -> Iterator[str]:
    """Run random command lines, each in a copy of this process, with odd streams and variables."""
    options = _options()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            rng = random.Random(seed)
            argv = _line(rng, options)
            yield from _of_line(seed, argv, rng, Path(folder))


def _line(rng: random.Random, options: dict[str, tuple[list[str], int]]) -> list[str]:
    name = rng.choice(list(options))
    known, arguments = options[name]
    argv = [*name.split(), *(rng.choice(_VALUES) for _ in range(rng.choice((arguments, arguments, 0, 2))))]
    for _ in range(rng.randrange(4)):
        option = rng.choice(known) if known else "--x"
        argv += [option, rng.choice(_VALUES)] if rng.random() < 0.7 else [f"{option}={rng.choice(_VALUES)}"]
    if rng.random() < 0.1:
        rng.shuffle(argv)
    if name == "run":  # no other command is started
        argv = [*argv[: argv.index("--") if "--" in argv else 1], "--", "true"]
    if name == "bench":  # nothing is measured
        argv = [*argv, "--from", rng.choice(_VALUES)]
    return [one.replace("\0", "") for one in argv if one not in _NEVER]


def _of_line(seed: int, argv: list[str], rng: random.Random, folder: Path) -> Iterator[str]:
    here = folder / "here"
    here.mkdir()
    (here / "folder").mkdir()
    (here / "report.json").write_text('{"schema": "gpudoctor.report/1"}')
    (here / "binary").write_bytes(rng.randbytes(2_000))
    (here / "log").write_text("RuntimeError: CUDA error: out of memory\n")
    (here / "link").symlink_to("log")
    (here / "loop").symlink_to("loop")
    out, err = rng.choice(("file", "file", "closed", "full", "broken")), rng.choice(("file", "file", "file", "closed"))
    child = os.fork()
    if not child:
        try:
            _become(argv, rng, here, (folder / "out", folder / "err"), (out, err))
        except SystemExit as ended:
            os._exit(ended.code if isinstance(ended.code, int) else 1)
        except BaseException:  # noqa: BLE001 - a traceback is what is looked for
            os.write(2, b"Traceback of a foreign exception")
        os._exit(99)
    status = _status(child)
    shown = f"seed {seed}: {argv!r} out={out} err={err}"
    told = (folder / "err").read_text(errors="replace") if (folder / "err").exists() else ""
    if status not in STATUSES | ({125, 126, 127} if "run" in argv else set()):
        yield f"{shown}: status {status}: {told[-300:]}"
    elif _FAULT.search(told):
        yield f"{shown}: {told[-300:]}"
    elif status == 2 and len(told.splitlines()) > 12:
        yield f"{shown}: {len(told.splitlines())} lines of complaint"


def _become(
    argv: list[str], rng: random.Random, here: Path, files: tuple[Path, Path], streams: tuple[str, str]
) -> None:
    """Take the streams, the directory and the variables, and be the command."""
    os.chdir(here)
    for name in ("HOME", "LANG", "TERM", "PATH", "COLUMNS"):
        if rng.random() < 0.1:
            os.environ.pop(name, None)
        elif rng.random() < 0.1:
            os.environ[name] = rng.choice(("", "x", "0", "/dev/null"))
    os.environ.setdefault("HOME", str(here))
    os.environ["GPUDOCTOR_STATE"], os.environ["GPUDOCTOR_CACHE"] = str(here / "state"), ""
    if rng.random() < 0.05:
        shutil.rmtree(here)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(_stream(files[1], streams[1]), 2)
    os.dup2(_stream(files[0], streams[0]), 1)
    for number, kind in ((1, streams[0]), (2, streams[1])):
        if kind == "closed":
            os.close(number)
    sys.argv = ["gpudoctor", *argv]
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), _text(1, streams[0]), _text(2, streams[1])  # noqa: SIM115
    cli.main()


def _text(number: int, kind: str) -> Any:
    """What Python makes of a descriptor when it starts."""
    return None if kind == "closed" else open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _stream(path: Path, kind: str) -> int:
    if kind == "full":
        return os.open("/dev/full", os.O_WRONLY)
    if kind == "broken":
        reads, writes = os.pipe()
        os.close(reads)
        return writes
    return os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)


def _status(child: int) -> int:
    """Its exit status, negative for a signal; -9 too for one that hangs."""
    ends = time.monotonic() + WITHIN_S
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -9


# Hostile names

_SIGNS = (
    *("\x1b[2J", "\x1b]0;x\x07", "\u202e", "\u2066", "\x9b", "\x07", "\x08", "\r", "\n", "\n::error::x\n", "\t"),
    *("<script>x</script>", "]]>", "&", "'", '"', "|", "`", "$(touch x)", "**", "[a](http://x)", "<!--", "-->"),
    *(
        "\udcff",
        "\ufffe",
        "\u0000x"[1:],
        "é",
        "𝒳",
        "a" * 100,
        "{",
        "}",
        "\\",
        " ",
        "#",
        ";",
        "=",
        "*",
        "?",
        "--x",
        "-",
        "\u2028",
        "%0A::",
    ),
)
_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def names(seeds: range) -> Iterator[str]:
    """Check machines whose directories have hostile names; every format of each report."""
    case = next(one for one in CASES if one.name == "F23")
    for seed in seeds:
        rng = random.Random(seed)
        name = "".join(rng.choice(_SIGNS) for _ in range(rng.randrange(1, 6))).replace("/", "_")
        with tempfile.TemporaryDirectory() as folder:
            root = case.build(Path(folder) / "root")
            try:
                _spoil(root, name.encode("utf-8", "surrogateescape")[:200], rng)
            except OSError:
                continue  # no file system has such a name
            report = report_of(CheckSubject(root=str(root)), 0.0)
            for style in FORMATS:
                try:
                    text = format_for(style, CheckDocument).render(CheckDocument(report), TextStyle())
                    fault = _form_fault(style, text)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                    fault = f"{type(error).__name__}: {error}"
                if fault:
                    yield f"seed {seed}: {name!r} in {style}: {fault}"


def _spoil(root: Path, name: bytes, rng: random.Random) -> None:
    """Give the name to some directories that reports name."""
    top = os.fsencode(root)
    site = b"lib/python3.12/site-packages"
    for place in rng.sample(("opt", "home", "usr/local", "root"), 2):
        prefix = os.path.join(top, place.encode(), name)
        os.makedirs(os.path.join(prefix, site, b"torch-2.9.1.dist-info"), exist_ok=True)
        os.makedirs(os.path.join(prefix, site, b"torch", b"lib", name), exist_ok=True)
        for path, text in (
            (b"pyvenv.cfg", b"home = /usr/bin\nversion = 3.12.3\n"),
            (site + b"/torch-2.9.1.dist-info/METADATA", b"Name: torch\nVersion: 2.9.1+" + name + b"\n"),
            (site + b"/torch/version.py", b"__version__ = '2.9.1'\ncuda = '12.8'\n"),
            (site + b"/" + name + b".pth", b"/opt/" + name + b"\n"),
        ):
            with open(os.path.join(prefix, path), "wb") as file:
                file.write(text)


def _form_fault(style: str, text: str) -> str:
    """What is wrong with the form of a report, "" for nothing."""
    if style in {"json", "sarif"}:
        json.loads(text)
        return ""
    if style == "junit":
        ET.fromstring(text)
        return ""
    if steers := _STEERS.search(text):
        return f"a sign that steers: {steers[0]!r}"
    if style == "html" and "<script>x" in text:
        return "a tag of a name"
    if style == "github" and any("::error::x" in line[:12] for line in text.splitlines()):
        return "a command of a name"
    if style == "prometheus" and not all(
        re.match(r"#|$|[a-z_]+(\{([a-z_]+=\"([^\"\\]|\\.)*\",?)*\})? [-+.\deNa]+$", line) for line in text.split("\n")
    ):
        return "a line of another form"
    return ""


# Mutated reports

_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**70, 1e308, float("nan"), "", "x", "\x1b[2J", "\udcff", "9" * 5_000, [], {}, [[]]),
    *({"a": 1}, [None], "torch==2.9.1", "12.8", "sm_999", "/" * 5_000, ["x"] * 50, {"value": None, "how": 1}),
)


def reports(seeds: range) -> Iterator[str]:
    """Read saved reports that were changed in a few places, as `check --from` and `explain` do."""
    cases = [one for one in CASES if one.where != "pretended"][::40]
    with tempfile.TemporaryDirectory() as folder:
        texts = [json.dumps(encode_report(examine(one, one.build(Path(folder) / one.name)).report)) for one in cases]
        path = Path(folder) / "report.json"
        for seed in seeds:
            rng = random.Random(seed)
            path.write_bytes(_mutated(rng, rng.choice(texts)))
            style = rng.choice((*FORMATS, "text", "json"))
            argv = ["explain", str(path)] if rng.random() < 0.2 else ["check", "--from", str(path), "--format", style]
            started = time.thread_time()
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = execute(argv)
            if status not in STATUSES or _FAULT.search(err.getvalue()):
                yield f"seed {seed}: {argv[0]}: status {status}: {err.getvalue()[-300:]}"
            if time.thread_time() - started > WITHIN_S:
                yield f"seed {seed}: {time.thread_time() - started:.0f} s"
            if argv[0] == "check" and out.getvalue():
                try:
                    fault = _form_fault(style, out.getvalue())
                except Exception as error:  # noqa: BLE001
                    fault = f"{type(error).__name__}: {error}"
                if fault:
                    yield f"seed {seed}: {style}: {fault}"


def _mutated(rng: random.Random, text: str) -> bytes:
    report = json.loads(text)
    for _ in range(rng.randrange(1, 6)):
        _change(rng, report)
    changed = bytearray(json.dumps(report).encode("utf-8", "surrogatepass"))
    if rng.random() < 0.2:
        for _ in range(rng.randrange(1, 20)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.randrange(len(changed))] if rng.random() < 0.05 else changed)


def _change(rng: random.Random, value: Any) -> None:
    """Change one place, somewhere below."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.85:
            value = value[key]
            continue
        kind = rng.random()
        if kind < 0.2:
            del value[key]
        elif kind < 0.3 and isinstance(value, dict):
            value[rng.choice(("x", "", "\udcff", "value"))] = value.pop(key)
        else:
            value[key] = copy.deepcopy(rng.choice(_ODD))
        return


# Traps for root

_PROGRAMS = ("nvidia-smi", "python", "python3", "ptxas", "nvcc", "ldconfig", "gcc", "cc", "uname", "lspci", "git", "uv")
_MODULES = ("json", "site", "sitecustomize", "usercustomize", "torch", "pip", "encodings", "ctypes", "numpy", "doctor")
_LINES = (
    *("check", "check --python .venv", "check --json", "gate", "gate --python .venv", "which cudnn --python .venv"),
    *("which cudnn", "install torch --python .venv", "install cudnn", "policy init --output -", "check --deep"),
    *("check --deep --python .venv", "verify --level load", "verify --python .venv --level load", "run -- /bin/true"),
    *("matrix list", "explain log", "check --root ."),
)
_USER = 12345  # of nobody


def traps(seeds: range) -> Iterator[str]:
    """Run commands as root in another user's directory that is full of programs, links and modules of his."""
    for seed in seeds:
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            here, canary = Path(folder) / "here", Path(folder) / "canary"
            here.mkdir()
            line = rng.choice(_LINES)
            environ = _trapped(rng, here, canary)
            for path in (here, *here.rglob("*")):
                os.chown(path, _USER, _USER, follow_symlinks=False)
            argv = (sys.executable, "-c", _START, *line.split())
            try:
                ran = subprocess.run(
                    argv, cwd=here, env=environ, capture_output=True, text=True, check=False, timeout=WITHIN_S * 2
                )
            except subprocess.TimeoutExpired:
                yield f"seed {seed}: {line}: it hangs"
                continue
            if canary.exists():
                yield f"seed {seed}: {line}: {canary.read_text()!r} was run"
            if ran.returncode not in STATUSES or _FAULT.search(ran.stderr):
                yield f"seed {seed}: {line}: status {ran.returncode}: {ran.stderr[-300:]}"


# As an installed console script starts: not from the working directory.
_START = (
    f"import sys; sys.path = [one for one in sys.path if one]; sys.path.insert(0, {str(ROOT)!r}); "
    "sys.argv[0] = 'gpudoctor'; from gpudoctor import main; main()"
)


def _trapped(rng: random.Random, here: Path, canary: Path) -> dict[str, str]:
    """Lay the traps; returns the variables that lead to them."""

    def program(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if rng.random() < 0.2:
            (path.parent / f"{path.name}.real").symlink_to("/usr/bin/python3")
            path.symlink_to(f"{path.name}.real")
            return
        path.write_text(f"#!/bin/sh\necho {path.name} >> {canary}\n")
        path.chmod(0o755)

    def module(folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(f"open({str(canary)!r}, 'a').write({name!r})\n")

    site = here / ".venv/lib/python3.12/site-packages"
    for name in rng.sample(_MODULES, 4):
        module(here, name)
        module(site, name)
        module(here / ".local/lib/python3.12/site-packages", name)
    (site / "trap.pth").write_text(f"import os; open({str(canary)!r}, 'a').write('pth')\n")
    for name in ("python", "python3", *rng.sample(_PROGRAMS, 5)):
        if not (here / ".venv/bin" / name).is_symlink() and not (here / ".venv/bin" / name).exists():
            program(here / ".venv/bin" / name)
    (here / ".venv/pyvenv.cfg").write_text(f"home = {rng.choice(('/usr/bin', str(here / 'bin')))}\nversion = 3.12.3\n")
    for name in rng.sample(_PROGRAMS, 6):
        program(here / "bin" / name)
    (site / "torch-2.9.1.dist-info").mkdir()
    (site / "torch-2.9.1.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.9.1\n")
    (here / "log").write_text("RuntimeError: CUDA error: out of memory\n")
    (here / "gpudoctor.toml").write_text('[policy]\nskip = ["cudnn-missing"]\n')
    path = f"{here / 'bin'}:/usr/local/bin:/usr/bin:/bin" if rng.random() < 0.5 else "/usr/local/bin:/usr/bin:/bin"
    environ = {"PATH": path, "HOME": str(here) if rng.random() < 0.5 else "/root", "GPUDOCTOR_CACHE": ""}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME"):
        if rng.random() < 0.3:
            environ[name] = str(here / ".venv")
    return environ


# Kills


def kills(seeds: range) -> Iterator[str]:
    """Kill installations of archives and rollbacks; the next run has to finish or to undo them."""
    from tests.installers.test_apply import Killing, events_of, kill_at_event

    with tempfile.TemporaryDirectory() as folder, Killing(Path(folder)) as killing:
        events = {what: events_of(killing, what) for what in ("apply", "rollback")}
        after = killing.after()
        for seed in seeds:
            rng = random.Random(seed)
            what = rng.choice(("apply", "rollback"))
            event = rng.randrange(1, events[what] + 1)
            try:
                with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                    kill_at_event(killing, what, event, after)
            except Exception as error:  # noqa: BLE001 - an AssertionError, or whatever else
                yield f"seed {seed}: {what} killed at {event}: {type(error).__name__}: {str(error)[:200]}"


ATTACKS: dict[str, Callable[[range], Iterator[str]]] = {
    "lines": lines,
    "names": names,
    "reports": reports,
    "traps": traps,
    "kills": kills,
}
