"""What the child wrote becomes stages and rows; nothing else does."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from doctor.commands.verify.cudnn_trial.events import EventWriter, read_events
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Ending, Fault, Outcome, Row, Stage

FAULT = Fault("cudnn", "cudnnCreate", 1001, "CUDNN_STATUS_NOT_INITIALIZED", "no device")
LOAD = Stage("load", "passed", 0.25, None, "", {"path": "/a", "preloaded": ["/b"]})
ROW = Row("forward", "GEMM", "fp32", 2, "3x3", "right", 0.0, 0.0, 4096)


def written(*steps: Any) -> bytes:
    """As the child writes it: a text begins a stage, "... x" is about to be done, a Row is tried, a Stage ends."""
    stream = io.StringIO()
    writer = EventWriter(stream)
    for step in steps:
        if isinstance(step, Row):
            writer.row(step)
        elif isinstance(step, Stage):
            writer.end(step)
        elif step.startswith("... "):
            writer.doing(step[4:])
        else:
            writer.begin(step)
    return stream.getvalue().encode()


def line(**event: Any) -> bytes:
    return json.dumps(event).encode() + b"\n"


def test_what_goes_in_comes_out() -> None:
    failed = Stage("version", "failed", 0.5, FAULT, "", {})
    missing = Stage("device", "missing", 0.0, None, "driver", {"also_lacks": ["cupy"]})
    log = read_events(written("load", "... x", LOAD, "version", ROW, failed, "device", missing), 9.0)
    assert log == ((LOAD, failed, missing), (ROW,), "", "")


def test_paths_that_are_no_utf8_survive() -> None:
    odd = LOAD._replace(facts={"path": "/caf\udce9"})
    assert read_events(written("load", odd), 1.0).stages == (odd,)


def test_a_stage_that_was_cut_off_has_the_time_that_is_left() -> None:
    log = read_events(written("load", LOAD, "version", "... cudnnGetVersion"), 2.0)
    assert log.stages == (LOAD, Stage("version", "cut-off", 1.75, None, "", {}))
    assert (log.stage, log.doing) == ("version", "cudnnGetVersion")


def test_what_was_being_done_is_of_the_stage_that_is_under_way() -> None:
    assert read_events(written("load", "... a", LOAD, "version"), 1.0).doing == ""


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_half_written_last_line_is_left_out(cut: int) -> None:
    whole = written("load", "... x", LOAD, "version", ROW)
    log = read_events(whole[:-cut], 1.0)
    assert log.rows == ()
    assert log.stages[0] == LOAD


def test_no_truncation_passes_a_stage_too_many() -> None:
    """However early the child died, a stage counts only once its end stands there whole."""
    whole = written("load", LOAD, "version", LOAD._replace(name="version"))
    for length in range(len(whole)):
        passed = [one.name for one in read_events(whole[:length], 1.0).stages if one.status == "passed"]
        ends = sum(b'"event": "end"' in one for one in whole[:length].split(b"\n")[:-1])
        assert passed == ["load", "version"][:ends]


END = {"event": "end", **LOAD._asdict()}
ROW_EVENT = {"event": "row", **ROW._asdict()}
BAD_LINES = {
    "not JSON": b"Segmentation fault\n",
    "not text": b"\xff\xfe\n",
    "an empty line": b"\n",
    "no object": b"[1]\n",
    "deep": b"[" * 100_000 + b"\n",
    "no event": line(stage="load"),
    "an unknown event": line(event="passed", stage="load"),
    "a stage within a stage": line(event="begin", stage="version"),
    "an unknown stage": line(event="begin", stage="bench"),
    "the same stage again": line(event="begin", stage="load"),
    "the end of another stage": line(**{**END, "name": "version"}),
    "an unknown status": line(**{**END, "status": "fine"}),
    "cut off is not said by the child": line(**{**END, "status": "cut-off"}),
    "failed without a fault": line(**{**END, "status": "failed"}),
    "passed with a fault": line(**{**END, "fault": FAULT._asdict()}),
    "half a fault": line(**{**END, "status": "failed", "fault": {"kind": "cuda"}}),
    "a fault that is none": line(**{**END, "status": "failed", "fault": "cuda"}),
    "a missing field": line(**{name: value for name, value in END.items() if name != "facts"}),
    "a field too many": line(**END, more=1),
    "seconds that are none": line(**{**END, "seconds": "soon"}),
    "facts that are none": line(**{**END, "facts": ["x"]}),
    "a row of an unknown status": line(**{**ROW_EVENT, "status": "ok"}),
    "a row that is half": line(event="row", direction="forward"),
    "a row of other types": line(**{**ROW_EVENT, "difference": None}),
    "a row with a truth": line(**{**ROW_EVENT, "workspace_bytes": True}),
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
@pytest.mark.parametrize("is_before", [True, False], ids=["before the end", "after it"])
def test_a_stage_is_not_believed_when_its_events_are_not(bad: bytes, is_before: bool) -> None:
    """Neither the stage in which that was written, nor, between two, the one before; nor anything behind it."""
    later = written("version", LOAD._replace(name="version"))
    text = written("load") + bad + written(LOAD) + later if is_before else written("load", LOAD) + bad + later
    log = read_events(text, 1.0)
    if not is_before and bad == BAD_LINES["a stage within a stage"]:
        assert log.stages[0] == LOAD  # there it is the next one, which then begins twice
        assert log.stages[1].status == "cut-off"
        return
    assert [(one.name, one.status) for one in log.stages] == [("load", "cut-off")]
    assert log.rows == ()


@pytest.mark.parametrize("text", [b"", b"\n", b"junk", line(**END), line(**ROW_EVENT)])
def test_what_does_not_begin_comes_to_nothing(text: bytes) -> None:
    assert read_events(text, 1.0) == ((), (), "", "")


def outcome(stages: tuple[Stage, ...], ending: Ending) -> Outcome:
    return Outcome("/a", 0, "load", stages, (), ending)


LOADED = tuple(LOAD._replace(name=name) for name in LEVELS["load"])


@pytest.mark.parametrize(
    ("stages", "ending", "has_passed"),
    [
        (LOADED, Ending("exited", 0, "", "", ""), True),
        (LOADED, Ending("exited", 70, "", "", ""), False),
        (LOADED, Ending("signal", 6, "", "", ""), False),
        (LOADED, Ending("timed-out", 0, "", "", ""), False),
        (LOADED, Ending("not-started", 0, "", "", ""), False),
        (LOADED[:-1], Ending("exited", 0, "", "", ""), False),
        ((), Ending("exited", 0, "", "", ""), False),
        ((*LOADED[:-1], LOADED[-1]._replace(status="missing")), Ending("exited", 0, "", "", ""), False),
        ((*LOADED[:-1], LOADED[-1]._replace(status="cut-off")), Ending("exited", 0, "", "", ""), False),
    ],
)
def test_only_a_child_that_came_to_its_end_has_passed(
    stages: tuple[Stage, ...], ending: Ending, has_passed: bool
) -> None:
    assert outcome(stages, ending).has_passed is has_passed
