"""Settings merged into a text file: what stands there stays, in its order. A file that is missing is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, quoted_path
from installers.render.comments import comment
from installers.render.powershell import said
from installers.step import FILES, Lines, Shell, StepType
from installers.text_file import directory_of, replace_text

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class EditText(NamedTuple):
    """Settings and lines of one section."""

    path: str
    section: str  # "[section]" of an INI file that the settings belong to; "" for those before every section
    settings: tuple[tuple[str, str], ...]  # key, value: the key's line is replaced, or added at the section's end
    lines: tuple[str, ...]  # added to the end of the section unless one is there already
    why: str
    needs_root: bool = False
    once: tuple[str, ...] = ()  # keys of `settings` that must stand once: their other lines are taken out


def _apply(step: EditText, run: Run) -> None:
    from installers.edit import merged  # late: printing needs none of it

    replace_text(step.path, lambda text: merged(text, step), run)


def _told(step: EditText) -> Lines:
    head = (f"[{step.section}]",) if step.section else ()
    return (*head, *(f"{key} = {value}" for key, value in step.settings), *step.lines)


def _typed(step: EditText, _: Target) -> Lines:
    """An edit is done in an editor."""
    section = f"In {step.path}, in [{step.section}], set:" if step.section else f"In {step.path}, set:"
    settings = (f"  {key} = {value}" for key, value in step.settings)
    return tuple(line for text in (section, *settings, *step.lines) for line in comment(text))


def _bash_script(step: EditText, _: Target) -> Lines:
    where = f"edit {quoted_path(step.path)} {quote(step.section)}"
    settings = (f"{where} {quote(k)} {quote(v)}{' once' if k in step.once else ''}" for k, v in step.settings)
    return (*settings, *(f"{where} '' {quote(line)}" for line in step.lines))


def _powershell_script(step: EditText, _: Target) -> Lines:
    """Settings are merged into a file by `--apply` there, not by a script."""
    return said((f"to do by hand, in {step.path}:", *_told(step)))


KIND = StepType(
    EditText,
    title=lambda step: f"edit {step.path}",
    told=_told,
    bash=Shell(_typed, _bash_script, functions=lambda _: ("write.sh", "edit.sh")),
    powershell=Shell(_typed, _powershell_script),
    apply=_apply,
    writes=lambda step: (directory_of(step.path),),
    taken_back=lambda _: FILES,
    configures=True,
)
