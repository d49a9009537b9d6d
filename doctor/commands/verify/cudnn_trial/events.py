"""What the child writes while it works, one JSON object a line, and how that becomes stages and rows.

    {"event": "begin", "stage": "load"}
    {"event": "doing", "what": "libcudnn_ops.so.9"}
    {"event": "row", ...}                            the fields of a Row
    {"event": "end", ...}                            the fields of a Stage

The child may die in any line. The reader believes nothing else: what it cannot read, or what comes in another order,
makes the stage that is concerned a "cut-off" one, and nothing behind it counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TextIO

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.outcome import STAGES, Fault, Row, Stage
from doctor.host.supervised_child import Event, events_of

_ENDS = {"passed", "failed", "missing"}
_ROWS = {"right", "wrong", "declined", "too-big", "failed"}


class EventWriter:
    """The child's side; every line is given to the system at once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def begin(self, stage: str) -> None:
        """A stage begins."""
        self._write({"event": "begin", "stage": stage})

    def doing(self, what: str) -> None:
        """What is about to be done, which may be the last thing."""
        self._write({"event": "doing", "what": what})

    def row(self, row: Row) -> None:
        """One algorithm was tried."""
        self._write({"event": "row", **row._asdict()})

    def end(self, stage: Stage) -> None:
        """A stage came to its end."""
        fault = stage.fault._asdict() if stage.fault else None
        self._write({"event": "end", **stage._asdict(), "fault": fault, "facts": dict(stage.facts)})

    def _write(self, event: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(event, allow_nan=False) + "\n")
        self._stream.flush()


class Log(NamedTuple):
    """What the events come to."""

    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]
    stage: str  # the one that was under way at the end, "" for none
    doing: str  # within it


class _Unreadable(Exception):
    """A line that the child's side does not write, or not there."""


def read_events(written: bytes, elapsed_s: float) -> Log:
    """Read what was written in so many seconds. A last line without an end is one that was being written: left out."""
    reading = Reading()
    for event in events_of(written):
        reading.hear(event)
    return reading.log(elapsed_s)


class Reading:
    """What was heard of a child so far."""

    def __init__(self, stages: tuple[str, ...] = STAGES) -> None:
        """`stages`: those that it may go through."""
        self._known = stages
        self._stages: list[Stage] = []
        self._rows: list[Row] = []
        self._stage = ""
        self._doing = ""
        self._is_trusted = True

    def hear(self, event: Event | None) -> None:
        """One event; nothing counts from the first on that is none."""
        if not self._is_trusted:
            return
        try:
            self._take(event)
        except _Unreadable:
            # What the last stage said can no longer be told from what was written over it.
            self._is_trusted = False
            if not self._stage and self._stages:
                self._stage = self._stages.pop().name

    def _take(self, event: Event | None) -> None:
        takers = {"begin": self._begin, "doing": self._do, "row": self._row, "end": self._end}
        taker = takers.get(str(event.pop("event", ""))) if event else None
        if event is None or taker is None:
            raise _Unreadable
        taker(event)

    def log(self, elapsed_s: float) -> Log:
        """What it comes to after so many seconds; a stage that was cut off took what the others have not taken."""
        stages = list(self._stages)
        if self._stage:
            rest_s = max(elapsed_s - sum(one.seconds for one in stages), 0.0)
            stages.append(
                Stage(name=self._stage, status="cut-off", seconds=round(rest_s, 3), fault=None, lacks="", facts={})
            )
        return Log(tuple(stages), tuple(self._rows), self._stage, self._doing)

    def _begin(self, event: dict[str, Any]) -> None:
        name = event.get("stage")
        begun = {one.name for one in self._stages}
        if self._stage or name not in self._known or name in begun:
            raise _Unreadable
        self._stage, self._doing = str(name), ""

    def _do(self, event: dict[str, Any]) -> None:
        self._demand_stage()
        self._doing = str(event.get("what", ""))

    def _row(self, event: dict[str, Any]) -> None:
        self._demand_stage()
        row: Row = Row(**_fields(Row, event))
        if row.status not in _ROWS:
            raise _Unreadable
        self._rows.append(row)

    def _end(self, event: dict[str, Any]) -> None:
        self._demand_stage()
        told = event.pop("fault", None)
        fault = None if told is None else Fault(**_fields(Fault, told))
        stage = Stage(**_fields(Stage, event, fault=fault))
        if stage.name != self._stage or stage.status not in _ENDS or (stage.status == "failed") != (fault is not None):
            raise _Unreadable
        self._stages.append(stage)
        self._stage = self._doing = ""

    def _demand_stage(self) -> None:
        if not self._stage:
            raise _Unreadable


_PLAIN: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float)}


def _fields(kind: Any, told: Any, **known: Any) -> dict[str, Any]:
    """The fields of a value, each of its type."""
    wanted = {name: _PLAIN.get(one, (Mapping,)) for name, one in kind.__annotations__.items() if name not in known}
    if not isinstance(told, dict) or told.keys() != wanted.keys():
        raise _Unreadable
    for name, types in wanted.items():
        if not isinstance(told[name], types) or isinstance(told[name], bool):
            raise _Unreadable
    return {**told, **known}
