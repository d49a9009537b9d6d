"""A setting stands in a framework's own configuration file."""

from __future__ import annotations

from doctor.host.optional_reads import text_of
from doctor.host.overlay import Overlay
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import SettingWritten


def apply(effect: SettingWritten, world: SimulatedMachine) -> SimulatedMachine:
    """The file as the installer would leave it."""
    from installers.edit import merged
    from installers.steps.edit_text import EditText

    if world.host is None:
        return world
    home = world.environ.get("HOME", "").rstrip("/")
    path = f"{home}{effect.path[1:]}" if effect.path.startswith("~/") and home else effect.path
    settings = ((effect.name, effect.value),)
    step = EditText(path=path, section=effect.section, settings=settings, lines=(), why="", once=(effect.name,))
    text = merged(text_of(Overlay(world.host, world.changes), path), step)
    files = {**world.changes.files, path: text.encode()}
    return world.with_changes(world.changes._replace(files=files))
