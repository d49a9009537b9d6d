"""Plans that let programs find CUDA: the loader's own directories, PATH, and hooks of a conda environment.

A hook is a script that conda runs when an environment is activated or left: those of `etc/conda/activate.d` and
`etc/conda/deactivate.d` below its prefix whose suffix is that of the shell. Source: conda's guide "Managing
environments", "Saving environment variables"; for the order of things conda/conda:conda/activate.py, _yield_commands.
"""

from __future__ import annotations

from shlex import quote

from compat.base.record import NamedTuple
from installers.plan import Plan
from installers.steps.add_to_path import AddToPath
from installers.steps.by_hand import ByHand
from installers.steps.edit_text import EditText
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.write_file import WriteFile

LOADER_DIRECTORY = "/etc/ld.so.conf.d"
_BY = "written by gpudoctor, `install config`"


class Found(NamedTuple):
    """What programs are to find: a directory, in a variable that lists directories."""

    variable: str  # "LD_LIBRARY_PATH", "PATH"
    directory: str


def loader_plan(directory: str, name: str, below: str = LOADER_DIRECTORY) -> Plan:
    """The directory among those of the loader's cache. Source: ldconfig(8)."""
    path = f"{below}/{name}.conf"
    why = "every process then finds its libraries, services too"
    steps = (
        EditText(path=path, section="", settings=(), lines=(directory,), why=why, needs_root=True),
        RefreshLoader("the loader then finds the libraries"),
    )
    return Plan(f"let the loader search {directory}", steps)


def path_plan(directory: str, script: str) -> Plan:
    """The directory on PATH; `script` is what new shells read, "" where there is none, on Windows."""
    summary = f"let shells find the programs in {directory}"
    if not script:
        why = "new programs find it; the system part of Path comes before yours"
        return Plan(summary, (AddToPath(directory, why),))
    line = _export(Found("PATH", directory))
    steps = (
        EditText(path=script, section="", settings=(), lines=(line,), why="new shells use this CUDA's programs first"),
        ByHand(f"open a new shell, or run this in the current one\n{line}", "a shell reads the file only at its start"),
    )
    return Plan(summary, steps)


def hooks_plan(found: Found, prefix: str, name: str, *, windows: bool) -> Plan:
    """The directory in the variable while a conda environment is active, and out of it again when it is left."""
    hooks = {".bat": (_bat(found, name), _bat_back(found, name)), ".ps1": (_ps1(found), _ps1_back(found))}
    if not windows:
        hooks = {
            ".sh": ((f"# {_BY}: {found.directory} comes first in {found.variable}", _export(found)), _sh_back(found))
        }
    # `conda activate OTHER` from within works PATH out before the hooks run, and sets it after them.
    stays = "; before `conda activate OTHER`, deactivate this environment" * (found.variable == "PATH")
    whys = (
        f"after the next `conda activate`, {found.variable} begins with it in this environment",
        f"`conda deactivate` removes only that directory{stays}",
    )
    steps = tuple(
        WriteFile(f"{prefix}/etc/conda/{folder}/{name}{suffix}", lines, why)
        for suffix, both in hooks.items()
        for folder, lines, why in zip(("activate.d", "deactivate.d"), both, whys, strict=True)
    )
    return Plan(f"add {found.directory} to {found.variable} while {prefix} is active", steps)


def _export(found: Found) -> str:
    name = found.variable
    return f"export {name}={quote(found.directory)}${{{name}:+:${name}}}"


def _sh_back(found: Found) -> tuple[str, ...]:
    """Parameter expansion only: a hook is read by bash, zsh and dash alike, under `set -eu` as well."""
    name = found.variable
    return (
        f"# {_BY}: takes {found.directory} out of {name} again, once",
        f"_gpudoctor_directory={quote(found.directory)}",
        f'_gpudoctor_all=":${{{name}-}}:"',
        'case "$_gpudoctor_all" in',
        '*":$_gpudoctor_directory:"*)',
        '  _gpudoctor_rest="${_gpudoctor_all#*":$_gpudoctor_directory:"}"',
        '  _gpudoctor_all="${_gpudoctor_all%%":$_gpudoctor_directory:"*}:$_gpudoctor_rest"',
        '  _gpudoctor_all="${_gpudoctor_all#:}"',
        f'  export {name}="${{_gpudoctor_all%:}}"',
        f'  if [ -z "${name}" ]; then unset {name}; fi',
        "  unset _gpudoctor_rest",
        "  ;;",
        "esac",
        "unset _gpudoctor_directory _gpudoctor_all",
    )


def _flag(name: str) -> str:
    return "GPUDOCTOR_" + "".join(one if one.isascii() and one.isalnum() else "_" for one in name).upper()


def _bat(found: Found, name: str) -> tuple[str, ...]:
    """Nothing where the directory is there already: cmd replaces all occurrences, and that one must stay."""
    variable, directory = found
    return (
        f"@rem {_BY}: {directory} comes first in {variable}",
        f'@if not "%{variable}:{directory};=%"=="%{variable}%" goto :eof',
        f'@set "{variable}={directory};%{variable}%"',
        f'@set "{_flag(name)}=1"',
    )


def _bat_back(found: Found, name: str) -> tuple[str, ...]:
    variable, directory = found
    return (
        f"@rem {_BY}: takes {directory} out of {variable} again",
        f"@if not defined {_flag(name)} goto :eof",
        f'@set "{variable}=%{variable}:{directory};=%"',
        f'@set "{_flag(name)}="',
    )


def _ps1(found: Found) -> tuple[str, ...]:
    variable, directory = found
    return (
        f"# {_BY}: {directory} comes first in {variable}",
        f"$env:{variable} = {_literal(directory)} + ';' + $env:{variable}",
    )


def _ps1_back(found: Found) -> tuple[str, ...]:
    variable, directory = found
    return (
        f"# {_BY}: takes {directory} out of {variable} again, once",
        f"$gpudoctorParts = [Collections.Generic.List[string]] ($env:{variable} -split ';')",
        f"[void] $gpudoctorParts.Remove({_literal(directory)})",
        f"$env:{variable} = $gpudoctorParts -join ';'",
        "Remove-Variable gpudoctorParts",
    )


def _literal(text: str) -> str:
    from installers.render.powershell import literal  # late: Linux needs none of it

    return literal(text)
