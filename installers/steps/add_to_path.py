"""A directory to enter into Path, the user's own in the registry of Windows.

`setx` is not used: it cuts a value at 1024 characters and writes the machine's entries into the user's. Sources:
Microsoft, "setx"; "Environment Variables" (where the registry has them, which message tells the programs that run).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from compat.base.paths import key_of
from compat.base.record import NamedTuple
from installers.render.bash import quote
from installers.render.powershell import literal
from installers.step import FILES, Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_OWN = "Environment"  # below HKEY_CURRENT_USER
_MACHINES = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
_NAME = "Path"


class AddToPath(NamedTuple):
    """A directory, which comes first in the user's part of Path."""

    directory: str
    why: str


def _apply(step: AddToPath, run: Run) -> None:
    """Where neither the user's nor the machine's Path names it, it is entered; raises OSError."""
    winreg: Any = importlib.import_module("winreg")  # late: only Windows has it
    own, machines = _read(winreg, winreg.HKEY_CURRENT_USER, _OWN), _read(winreg, winreg.HKEY_LOCAL_MACHINE, _MACHINES)
    wanted = key_of(step.directory, "windows")
    if any(key_of(winreg.ExpandEnvironmentStrings(one), "windows") == wanted for one in _parts(own, machines)):
        return
    before, kind = own or ("", winreg.REG_EXPAND_SZ)
    after = ";".join(filter(None, (step.directory, before)))
    run.record("add_to_path", {"before": own and list(own), "after": after, "directory": step.directory})
    _write(winreg, after, kind)


def _undo(data: Any) -> None:
    """As it was; where somebody changed Path since, the one entry is taken out."""
    winreg: Any = importlib.import_module("winreg")
    now = _read(winreg, winreg.HKEY_CURRENT_USER, _OWN)
    if now is None or now == (data["before"] and tuple(data["before"])):
        return
    if now[0] == data["after"]:
        _write(winreg, *(data["before"] or (None, 0)))
        return
    parts = now[0].split(";")
    if data["directory"] in parts:
        parts.remove(data["directory"])
        _write(winreg, ";".join(parts), now[1])


def _parts(*values: tuple[str, int] | None) -> list[str]:
    return [part for value in values if value for part in value[0].split(";") if part]


def _read(winreg: Any, root: Any, path: str) -> tuple[str, int] | None:
    """The value as it is written, and its kind; None where there is none."""
    try:
        with winreg.OpenKey(root, path) as key:
            text, kind = winreg.QueryValueEx(key, _NAME)
    except FileNotFoundError:
        return None
    return str(text), int(kind)


def _write(winreg: Any, text: str | None, kind: int) -> None:
    """Set the user's Path, or remove it, and tell the programs that run."""
    with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, _OWN, 0, winreg.KEY_SET_VALUE) as key:
        if text is None:
            winreg.DeleteValue(key, _NAME)
        else:
            winreg.SetValueEx(key, _NAME, 0, kind, text)
    import ctypes

    everybody, setting_changed, unless_hung, within_ms = 0xFFFF, 0x1A, 2, 1000
    send = getattr(ctypes, "WinDLL")("user32").SendMessageTimeoutW  # noqa: B009 - no such name outside Windows
    send(everybody, setting_changed, 0, ctypes.c_wchar_p(_OWN), unless_hung, within_ms, None)


def _powershell(step: AddToPath, _: Target) -> Lines:
    """In the registry itself: GetEnvironmentVariable would put the values of `%NAME%` in for good.

    Setting a variable tells the programs that run; one that is not there serves for that.
    """
    directory = literal(step.directory)
    parts = "($path -split ';' | ForEach-Object { $_.TrimEnd('\\') })"
    is_new = f"{parts} -notcontains {literal(step.directory.rstrip(chr(92)))}"
    return (
        "$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)",
        f"$path = [string] $key.GetValue('{_NAME}', '', 'DoNotExpandEnvironmentNames')",
        f"if ({is_new}) {{ $key.SetValue('{_NAME}', ({directory} + ';' + $path).TrimEnd(';'), 'ExpandString') }}",
        "$key.Close()",
        "[Environment]::SetEnvironmentVariable('GPUDOCTOR', $null, 'User')",
        f"$env:{_NAME} = {directory} + ';' + $env:{_NAME}",
    )


KIND = StepType(
    AddToPath,
    title=lambda step: f"add {step.directory} to your Path",
    bash=Shell(lambda step, _: (f'export PATH={quote(step.directory)}"${{PATH:+:$PATH}}"',)),
    powershell=Shell(_powershell),
    apply=_apply,
    undo=_undo,
    taken_back=lambda _: FILES,
    configures=True,
)
