"""One line of a script of the user's, deleted or changed.

A file that was edited since the plan was made is left alone, unless the line stands in it once, elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.errors import CannotChange
from installers.render.bash import said
from installers.render.comments import comment
from installers.step import FILES, Lines, Shell, StepType
from installers.text_file import directory_of, replace_text

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_SHOWN_AT_MOST = 120  # characters of a line, which may be a long list


class EditLine(NamedTuple):
    """A line as it was read, and what it becomes. Without a number it is every line of that text, indented or not."""

    path: str  # "~/.bashrc"
    line: int  # counted from 1; 0 where no number is known
    before: str
    after: str | None  # None to delete it
    why: str
    by_root: bool = False  # this user may not write the file
    then_shell: bool = False  # the next step is for the shell at work


def edited(text: str, step: EditLine) -> str:
    """Return the text with the line edited; raises CannotChange if it is not there any more."""
    rows = text.splitlines(keepends=True)
    if not step.line:
        return "".join("" if row.strip() == step.before.strip() else row for row in rows)
    found = [at for at, row in enumerate(rows) if row.rstrip("\r\n") == step.before]
    if step.line - 1 in found:
        found = [step.line - 1]
    if len(found) != 1:
        raise CannotChange(f"{_where(step)}, has changed since it was read")
    row = rows[found[0]]
    end = row[len(row.rstrip("\r\n")) :]
    rows[found[0]] = "" if step.after is None else f"{step.after}{end}"
    return "".join(rows)


def _where(step: EditLine) -> str:
    return f"{step.path}, line {step.line}" if step.line else step.path


def _apply(step: EditLine, run: Run) -> None:
    if not step.by_root:
        replace_text(step.path, lambda text: edited(text, step), run)


def _typed(step: EditLine, _: Target) -> Lines:
    """Words: an edit is done in an editor, or by `check --fix`."""
    verb, to = ("delete", "") if step.after is None else ("change", f" to `{_short(step.after)}`")
    by_root = "As root: " if step.by_root else ""
    then = ". Then, in this shell:" if step.then_shell else ""
    return comment(f"{by_root}In {_where(step)}, {verb} `{_short(step.before)}`{to}{then}")


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}…"


def _told(step: EditLine) -> Lines:
    """The difference, as `diff` shows it."""
    return (f"- {step.before}", *(() if step.after is None else (f"+ {step.after}",)))


KIND = StepType(
    EditLine,
    title=lambda step: f"{'as root, ' if step.by_root else ''}edit {_where(step)}",
    told=_told,
    bash=Shell(_typed, said(_typed)),
    powershell=Shell(_typed),
    apply=_apply,
    elsewhere=lambda step: step.by_root,
    writes=lambda step: () if step.by_root else (directory_of(step.path),),
    taken_back=lambda step: "" if step.by_root else FILES,
    configures=True,
)
