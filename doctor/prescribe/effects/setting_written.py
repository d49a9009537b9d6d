"""A setting stands in a framework's own configuration file."""

from __future__ import annotations

from doctor.host.lenient import text_of
from doctor.host.overlay import Overlay
from doctor.prescribe.world import World
from installers.effect import SettingWritten


def apply(effect: SettingWritten, world: World) -> World:
    """The file as the installer would leave it."""
    from installers.edit import merged
    from installers.steps.edit_text import EditText

    if world.host is None:
        return world
    settings = ((effect.name, effect.value),) if effect.value else ()
    step = EditText(path=effect.path, section=effect.section, settings=settings, lines=(), why="", once=(effect.name,))
    text = merged(text_of(Overlay(world.host, world.changes), effect.path), step)
    files = {**world.changes.files, effect.path: text.encode()}
    return world.with_changes(world.changes._replace(files=files))
