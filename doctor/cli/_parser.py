"""How typer reads our command line and prints its help: options in groups, one example a line, whole summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import typer.core

from compat.base.choice import NoSuchName
from compat.base.errors import GpudoctorError
from doctor.output.document import WIDEST

if TYPE_CHECKING:
    from doctor.cli import Command

# Click leaves two columns free at the right side.
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": WIDEST + 2}
_OTHER = "Options"
_ENVIRONMENT = {"env", "environment", "interpreter", "venv"}  # --python takes all of them
_SUMMARY_AT_MOST = 1000  # characters: a summary is a sentence, and is never cut


class HelpfulCommand(typer.core.TyperCommand):
    """One command as its `Command` describes it."""

    def __init__(self, *, described: Command, **settings: Any) -> None:
        super().__init__(**settings)
        self._described = described

    @property
    def renamed(self) -> Mapping[str, str]:
        """Options of older releases, and their names of today."""
        return self._described.renamed

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; --json is short for --format json."""
        if any("--format" in one.opts for one in self.params):
            end = args.index("--") if "--" in args else len(args)
            args = [
                word for one in args[:end] for word in (("--format", "json") if one == "--json" else (one,))
            ] + args[end:]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, in the groups that they name."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if one.param_type_name == "argument" else _OTHER
                groups.setdefault(getattr(one, "rich_help_panel", None) or default, []).append(record)
        last = groups.pop(_OTHER, [])
        for title, records in {**groups, _OTHER: last}.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the exit statuses, and the examples, which are never wrapped."""
        if self._described.exits:
            with formatter.section("Exit status"):
                formatter.write_dl([(str(status), text) for status, text in self._described.exits.items()])
        formatter.write("\nExamples:\n" + "".join(f"  {one}\n" for one in self._described.examples))


class HelpfulGroup(typer.core.TyperGroup):
    """A group of commands."""

    below: Callable[[], Mapping[str, str]] | None = None  # the commands of its groups, with the group of each

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every command with its whole summary."""
        rows = [(name, one.get_short_help_str(_SUMMARY_AT_MOST)) for name, one in self._commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; raises NoSuchName with those of a similar name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            wrong = NoSuchName("command", args[0], [name for name, _ in self._commands(ctx)])
            longer = self._longer(args[0], ctx) if self.below else ""
            raise GpudoctorError(f"no command {args[0]!r}; did you mean {longer}?") if longer else wrong
        return super().resolve_command(ctx, args)

    def _longer(self, word: str, ctx: Any) -> str:
        """What a word is a part of: "matrix solve", "check --fix"; "" for none."""
        group = self.below().get(word) if self.below else ""
        having = (name for name, one in self._commands(ctx) if any(f"--{word}" in each.opts for each in one.params))
        return f"{group} {word}" if group else next((f"{name} --{word}" for name in having), "")

    def _commands(self, ctx: Any) -> Iterator[tuple[str, Any]]:
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                yield name, command


def complaint_of(error: Any) -> str:
    """Return what is wrong with a command line, from an error of click's, which newer typers contain."""
    name = getattr(error, "option_name", "")
    command = error.ctx.command if error.ctx else None
    if type(error).__name__ != "NoSuchOption" or command is None:
        return str(error.format_message().rstrip("."))
    today = getattr(command, "renamed", {}).get(name)
    if today:
        return f"{name} is now {today}: {error.ctx.command_path} {today}"
    known = {one[2:]: one for param in command.get_params(error.ctx) for one in param.opts if one.startswith("--")}
    if "format" in known:
        known["json"] = "--json"
    word = name.lstrip("-").casefold()
    parts = ["python"] if word in _ENVIRONMENT else [one for one in known if word in one.split("-")]
    near = [one for one in parts if one in known] or get_close_matches(word, known, n=3)
    advice = f"did you mean {' or '.join(known[one] for one in near)}?" if near else "-h lists the options"
    return f"no option {name!r}; {advice}"
