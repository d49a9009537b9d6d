"""The answer, as every format takes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.commands.which.answer import Item, WhichAnswer
from doctor.commands.which.live import Checked
from doctor.model.encode import encode
from doctor.model.resolution import describe_resolution
from doctor.output.document import TextStyle
from doctor.output.page import Page

_HANG = 17  # columns: those of "as predicted"

SCHEMA = "gpudoctor.which/1"
ANSWERS = {0: "found", 1: "not-found", 4: "unknown"}
LIVE = {0: "holds", 1: "does-not-hold", 4: "unknown"}


class WhichDocument:
    """The answers about one library; see `doctor.output.document.Document`."""

    indent = 2

    def __init__(
        self,
        library: str,
        answers: tuple[WhichAnswer, ...] = (),
        checked: Checked | None = None,
        status: int = 4,
        *,
        unknown: str = "",
    ) -> None:
        """`unknown`: why no prediction can be made at all, "" where there are some."""
        self._library, self._answers = library, answers
        self._checked, self._status, self._unknown = checked, status, unknown

    def plain(self) -> dict[str, Any]:
        """Schema `gpudoctor.which/1`; `answer` is "found", "not-found" or "unknown"."""
        answer = _answer(self._answers, self._checked, self._status)
        told: dict[str, Any] = {"schema": SCHEMA, "library": self._library, "answer": answer}
        told["subjects"] = [_subject(one) for one in self._answers]
        if self._unknown:
            told["unknown"] = self._unknown
        if self._checked:
            told["live"] = {
                "pid": self._checked.pid,
                "prediction": LIVE[self._checked.status],
                "verdict": self._checked.verdict,
                "libraries": [line._asdict() for line in self._checked.lines],
            }
        return told

    def text(self, style: TextStyle) -> str:
        """A paragraph for each subject, in which libraries that share place and reasons stand together.

        Of a subject for which all is as for another one that is all it says: torchvision, which imports torch.
        """
        if self._unknown:
            return f"{self._library}\n  {'unknown':9} {self._unknown}\n"
        page = Page(style)
        shown: list[WhichAnswer] = []
        for one in self._answers:
            same = next((each for each in shown if each.items and each._replace(subject=one.subject) == one), None)
            page.gap()
            if same and same.subject.framework:
                page.paragraph(f"{self._library} for {one.subject.label}", hang=2)
                page.row("as", f"for {same.subject.framework.label}")
                continue
            _subject_on(page, self._library, one)
            shown.append(one)
        if self._checked:
            page.gap()
            for line in _checked(self._checked):
                page.paragraph(line, hang=_HANG)
        return page.text()


def _answer(answers: tuple[WhichAnswer, ...], checked: Checked | None, status: int) -> str:
    if checked is None:
        return ANSWERS[status]
    return "not-found" if any(one.is_missing for one in answers) else "found" if answers else "unknown"


def _subject(answer: WhichAnswer) -> dict[str, Any]:
    environment, framework = answer.subject
    return {
        "environment": environment.prefix,
        "python": environment.interpreter,
        "framework": framework.label if framework else None,
        "libraries": [{**encode(item), "because": because_of(item)} for item in answer.items],
        "failure": answer.failure or None,
        "unknown": answer.unknown or None,
        "note": answer.note or None,
    }


def because_of(item: Item) -> str:
    """By what it is found, or why it is not."""
    return describe_resolution(item.way) or item.failure


def _subject_on(page: Page, library: str, answer: WhichAnswer) -> None:
    page.paragraph(f"{library} for {answer.subject.label}", hang=2)
    if not answer.items and not answer.unknown and not answer.failure:
        page.line("  it needs none")
    groups: dict[Any, list[Item]] = {}
    for item in answer.items:
        # What the items of a group share: everything but the file's own name.
        copies = tuple((_folder(copy.path), copy.why) for copy in item.copies)
        groups.setdefault(
            (_folder(item.path), item.path and because_of(item), item.chain, item.when, item.undone, copies), []
        ).append(item)
    for group in groups.values():
        _group_on(page, group)
    is_shown = any(not item.path and not item.optional for item in answer.items)  # as what such an item loads
    failure = "" if is_shown else answer.failure
    for label, text in (("fails", failure), ("unknown", answer.unknown), ("note", answer.note)):
        if text:
            page.row(label, text)


def _group_on(page: Page, items: list[Item]) -> None:
    first = items[0]
    one = len(items) == 1
    for item in items:
        page.paragraph(f"  {item.name}", hang=2)
    place = first.path if one else _folder(first.path)
    page.row("loads" if one else "load", place or "nothing", indent=4)
    page.row("because", because_of(first), indent=4)
    if first.undone:
        page.row("but", f"it is unmapped again: {first.undone}", indent=4)
    needed_by = " ← ".join(map(_name, first.chain)) or "its path"
    page.row("needed by", f"{needed_by}, {first.when}", indent=4)
    for number, copy in enumerate(first.copies):
        path = copy.path if one else _folder(copy.path)
        page.row("" if number else "not", f"{path}  ({copy.why})", indent=4)


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
