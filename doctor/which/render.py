"""The answer as text and as JSON: the same content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from doctor.which.answer import Answer, Item
from doctor.which.live import Checked

SCHEMA = "gpudoctor.which/1"
ANSWERS = {0: "found", 1: "not-found", 4: "unknown"}
LIVE = {0: "holds", 1: "does-not-hold", 4: "unknown"}


def as_json(library: str, answers: tuple[Answer, ...], checked: Checked | None, status: int) -> str:
    """One document; `answer` is "found", "not-found" or "unknown"."""
    told: dict[str, Any] = {"schema": SCHEMA, "library": library, "answer": _answer(answers, checked, status)}
    told["subjects"] = [_subject(one) for one in answers]
    if checked:
        told["live"] = {
            "pid": checked.pid,
            "prediction": LIVE[checked.status],
            "verdict": checked.verdict,
            "libraries": [line._asdict() for line in checked.lines],
        }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def render_unknown(library: str, why: str, style: str) -> str:
    """The answer where no prediction can be made at all."""
    if style == "json":
        told = {"schema": SCHEMA, "library": library, "answer": "unknown", "subjects": [], "unknown": why}
        return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
    return f"{library}\n  {'unknown':9} {why}\n"


def _answer(answers: tuple[Answer, ...], checked: Checked | None, status: int) -> str:
    if checked is None:
        return ANSWERS[status]
    return "not-found" if any(one.is_missing for one in answers) else "found" if answers else "unknown"


def _subject(answer: Answer) -> dict[str, Any]:
    environment, framework = answer.subject
    return {
        "environment": environment.prefix,
        "python": environment.interpreter,
        "framework": framework.label if framework else None,
        "libraries": [{**item._asdict(), "copies": [one._asdict() for one in item.copies]} for item in answer.items],
        "failure": answer.failure or None,
        "unknown": answer.unknown or None,
        "note": answer.note or None,
    }


def as_text(library: str, answers: tuple[Answer, ...], checked: Checked | None) -> str:
    """A paragraph for each subject, in which libraries that share place and reasons stand together."""
    blocks = ["\n".join(_paragraph(library, one)) for one in answers]
    if checked:
        blocks.append("\n".join(_checked(checked)))
    return "\n\n".join(blocks) + "\n"


def _paragraph(library: str, answer: Answer) -> Iterator[str]:
    yield f"{library} for {answer.subject.label}"
    if not answer.items and not answer.unknown and not answer.failure:
        yield "  it asks for none"
    groups: dict[Any, list[Item]] = {}
    for item in answer.items:
        groups.setdefault(_likeness(item), []).append(item)
    for group in groups.values():
        yield from _group(group)
    for label, text in (("fails", answer.failure), ("unknown", answer.unknown), ("note", answer.note)):
        if text:
            yield f"  {label:9} {text}"


def _likeness(item: Item) -> tuple[Any, ...]:
    """What the items of a group share: everything but the file's own name."""
    copies = tuple((_folder(copy.path), copy.why) for copy in item.copies)
    return _folder(item.path), item.path and item.because, item.chain, item.when, item.undone, copies


def _group(items: list[Item]) -> Iterator[str]:
    first = items[0]
    one = len(items) == 1
    for item in items:
        yield f"  {item.name}"
    place = first.path if one else _folder(first.path)
    yield f"    {'loads' if one else 'load':9} {place or 'nothing'}"
    yield f"    {'because':9} {first.because}"
    if first.undone:
        yield f"    {'but':9} it is unmapped again: {first.undone}"
    yield f"    {'asked by':9} {' ← '.join(_name(path) for path in first.chain) or 'its path'}, {first.when}"
    for number, copy in enumerate(first.copies):
        path = copy.path if one else _folder(copy.path)
        yield f"    {'' if number else 'not':9} {path}  ({copy.why})"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _checked(checked: Checked) -> Iterator[str]:
    yield f"process {checked.pid}"
    for line in checked.lines:
        note = f"  ({line.note})" if line.note else ""
        yield f"  {'as predicted' if line.predicted else 'NOT predicted':14} {line.path}{note}"
    yield f"  {checked.verdict}"
