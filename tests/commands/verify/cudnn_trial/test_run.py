"""The parent: whatever the child does, there is an outcome, in time, within bounds, and none that passes by mistake."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doctor.commands.verify.cudnn_trial import run as module
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Ending, Order, Outcome
from doctor.commands.verify.cudnn_trial.run import child_environment, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX processes")
ORDER = Order("/opt/cudnn/lib/libcudnn.so.9", level="load", stage_timeout_s=20.0, timeout_s=20.0)
# What a child has at hand in these tests: `say` writes events, `whole` a stage that passed.
PRELUDE = """
import json, os, signal, sys, time
told = json.load(open(sys.argv[1]))
events = open(told["events"], "ab", buffering=0)
def say(**event): events.write(json.dumps(event).encode() + b"\\n")
def whole(name):
    say(event="begin", stage=name)
    say(event="end", name=name, status="passed", seconds=0.0, fault=None, lacks="", facts={})
def half():
    events.write(b'{"ev')
    os.kill(os.getpid(), signal.SIGBUS)
LEVEL = ("load", "version", "parts", "plans", "mapped")
"""
ALL_PASS = "for name in LEVEL: whole(name)\n"


def played(monkeypatch: pytest.MonkeyPatch, script: str, order: Order = ORDER) -> Outcome:
    """The outcome of a child that does this instead of a trial."""
    monkeypatch.setattr(module, "_START", PRELUDE + script)
    return run(order)


def test_the_play_itself_can_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = played(monkeypatch, ALL_PASS)
    assert outcome.has_passed
    assert tuple(one.name for one in outcome.stages) == LEVELS["load"]
    assert outcome.ending == Ending("exited", 0, "", "", "")


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("", Ending("exited", 0, "", "", "")),
        ("os.unlink(told['events']); open(told['events'], 'w')", Ending("exited", 0, "", "", "")),
        ("sys.exit(7)", Ending("exited", 7, "", "", "")),
        (ALL_PASS + "os._exit(1)", Ending("exited", 1, "", "", "")),
        (ALL_PASS + "os.kill(os.getpid(), signal.SIGSEGV)", Ending("signal", signal.SIGSEGV, "", "", "")),
        (ALL_PASS + "events.write(b'junk\\n')", Ending("exited", 0, "mapped", "", "")),
        ("for name in LEVEL[:-1]: whole(name)", Ending("exited", 0, "", "", "")),
        (
            "for name in LEVEL[:-1]: whole(name)\nsay(event='begin', stage='mapped')",
            Ending("exited", 0, "mapped", "", ""),
        ),
        ("say(event='begin', stage='load'); os.abort()", Ending("signal", signal.SIGABRT, "load", "", "")),
        (
            "say(event='begin', stage='load'); say(event='doing', what='libcudnn.so.9'); half()",
            Ending("signal", signal.SIGBUS, "load", "libcudnn.so.9", ""),
        ),
        ("os.write(2, b'Could not load library x')", Ending("exited", 0, "", "", "Could not load library x")),
    ],
)
def test_no_such_end_has_passed(monkeypatch: pytest.MonkeyPatch, script: str, ending: Ending) -> None:
    outcome = played(monkeypatch, script)
    assert outcome.ending == ending
    assert not outcome.has_passed


@pytest.mark.parametrize(
    ("script", "order"),
    [
        ("time.sleep(60)", ORDER._replace(stage_timeout_s=0.5)),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", ORDER._replace(stage_timeout_s=0.5)),
        ("while True: say(event='doing', what='x'); time.sleep(0.1)", ORDER._replace(timeout_s=1.0)),
    ],
    ids=["no event", "deaf", "events for ever"],
)
def test_a_child_is_killed_in_time(monkeypatch: pytest.MonkeyPatch, script: str, order: Order) -> None:
    begun = time.monotonic()
    outcome = played(monkeypatch, "say(event='begin', stage='load')\n" + script, order)
    assert time.monotonic() - begun < 25
    assert outcome.ending.kind == "timed-out"
    assert (outcome.ending.stage, outcome.stages[0].status) == ("load", "cut-off")
    assert 0.3 < outcome.stages[0].seconds < 25


def test_time_that_brings_events_is_not_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "for name in LEVEL: whole(name); time.sleep(0.4)\n"
    assert played(monkeypatch, slow, ORDER._replace(stage_timeout_s=1.0)).has_passed


def test_a_grandchild_dies_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"import subprocess; p = subprocess.Popen(['sleep', '60']); open({str(note)!r}, 'w').write(str(p.pid))"
    played(monkeypatch, script + "; time.sleep(60)", ORDER._replace(stage_timeout_s=1.0))
    for _ in range(100):
        stat = Path(f"/proc/{note.read_text()}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the grandchild lived on")


@pytest.mark.parametrize(
    "flood",
    [
        "while True: events.write(b'x' * 1000000)",
        'line = b\'{"event": "doing", "what": "\' + b\'x\' * 1000 + b\'"}\\n\'\nwhile True: events.write(line * 1000)',
    ],
    ids=["one endless line", "endless lines"],
)
def test_a_flood_of_events_is_cut_off(monkeypatch: pytest.MonkeyPatch, flood: str) -> None:
    begun = time.monotonic()
    outcome = played(monkeypatch, ALL_PASS + flood)
    assert time.monotonic() - begun < 25
    assert outcome.ending.kind == "timed-out"
    assert not outcome.has_passed


@pytest.mark.skipif(sys.platform != "linux", reason="sealed memory")
def test_a_flood_of_words_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    flood = "try:\n    while True: os.write(2, b'y' * 1000000)\nexcept OSError: pass\n"
    outcome = played(monkeypatch, flood + ALL_PASS)
    assert outcome.has_passed
    assert outcome.ending.stderr == "y" * 4096


def test_the_last_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = played(monkeypatch, "os.write(2, b'x' * 10000 + b'\\xff the end')")
    assert outcome.ending.stderr.endswith(" the end")
    assert len(outcome.ending.stderr.encode()) <= 4096


def test_one_that_cannot_be_killed_is_abandoned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    note, killpg = tmp_path / "pid", os.killpg
    monkeypatch.setattr(os, "killpg", lambda pid, number: None)  # as if it were stuck in the kernel
    begun = time.monotonic()
    script = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(30)"
    outcome = played(monkeypatch, script, ORDER._replace(stage_timeout_s=1.0))
    assert time.monotonic() - begun < 25
    assert outcome.ending.kind == "timed-out"
    pid = int(note.read_text())
    killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


INTERRUPTED = """
import sys
from doctor.commands.verify.cudnn_trial import run
from doctor.commands.verify.cudnn_trial.outcome import Order
run._START = {script!r}
try:
    run.run(Order("/a", level="load"))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_control_c_kills_the_child(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = (
        PRELUDE
        + f"open({str(note)!r}, 'w').write(str(os.getpid()))\nos.rename({str(note)!r}, {str(note)!r} + '.whole')"
    )
    program = INTERRUPTED.format(script=script + "\ntime.sleep(60)")
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    whole = note.with_suffix(".whole")
    for _ in range(200):
        if whole.exists():
            break
        time.sleep(0.05)
    parent.send_signal(signal.SIGINT)
    said, _ = parent.communicate(timeout=10)
    assert said == "interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(whole.read_text()), 0)


def test_what_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    outcome = run(ORDER)
    assert outcome.ending.kind == "not-started"
    assert "No such file" in outcome.ending.stderr
    assert not outcome.has_passed


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    played(monkeypatch, "open(os.path.join(os.path.dirname(told['events']), 'more'), 'w')\n" + ALL_PASS)
    assert list(tmp_path.iterdir()) == []


def test_the_child_imports_what_this_process_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CuPy may lie in a user's directory; PYTHONPATH and the user's site are not looked at for themselves."""
    (tmp_path / "a_module_of_the_user.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    script = "sys.path[:] = told['path']\nimport a_module_of_the_user, doctor.commands.verify.cudnn_trial.worker\n"
    assert played(monkeypatch, script + ALL_PASS).has_passed


def test_the_parent_loads_no_library() -> None:
    script = (
        "import sys; from doctor.commands.verify.cudnn_trial.run import run; "
        "from doctor.commands.verify.cudnn_trial.outcome import Order; "
        "run(Order('/a', 'load')); print({'numpy', 'cupy', 'doctor.commands.verify.cudnn_trial.cudnn_api'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


SYSTEM = ("libc.so.6", "libstdc++.so.6", "libz.so.1")


@pytest.mark.parametrize(
    ("neighbour", "before", "after"),
    [
        ("libcudnn_ops.so.9", "", "{own}:/cublas"),
        ("libcudnn_ops.so.9", "/x", "{own}:/cublas:/x"),
        *((name, "", "/cublas") for name in SYSTEM),
    ],
)
def test_what_is_searched_for_libraries(tmp_path: Path, neighbour: str, before: str, after: str) -> None:
    (tmp_path / neighbour).touch()
    order = ORDER._replace(library=f"{tmp_path}/libcudnn.so.9", library_dirs=("/cublas",))
    made = child_environment(order, {"LD_LIBRARY_PATH": before}, "/t")
    assert made["LD_LIBRARY_PATH"] == after.format(own=tmp_path)


@pytest.mark.parametrize(("parts", "expected"), [((), "real"), (("libcudnn_ops.so.9",), "linked")])
def test_a_link_is_followed_only_where_it_stands_alone(tmp_path: Path, parts: tuple[str, ...], expected: str) -> None:
    """A directory of links is a copy of its own: what it lacks must not be found where the links lead."""
    real, linked = tmp_path / "real", tmp_path / "linked"
    real.mkdir()
    linked.mkdir()
    for name in ("libcudnn.so.9", *parts):
        (real / name).touch()
        (linked / name).symlink_to(real / name)
    made = child_environment(ORDER._replace(library=f"{linked}/libcudnn.so.9"), {}, "/t")
    assert made["LD_LIBRARY_PATH"] == str(tmp_path / expected)


def test_the_environment_is_the_users_but_for_what_would_bend_the_trial() -> None:
    """CUDA_VISIBLE_DEVICES set to nothing hides every GPU: it must arrive so."""
    users = {"NVIDIA_TF32_OVERRIDE": "1", "CUDA_VISIBLE_DEVICES": "", "HOME": "/h", "LD_LIBRARY_PATH": ""}
    order = ORDER._replace(library="/usr/lib/x86_64-linux-gnu/none/libcudnn.so.9")
    made = child_environment(order, users, "/t")
    assert made == {
        "CUDA_VISIBLE_DEVICES": "",
        "HOME": "/h",
        "CUPY_CACHE_DIR": "/t/cupy",
        "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/none",
    }
