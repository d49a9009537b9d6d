"""Write a setting into the configuration file of a framework's own."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ChangeSetting
from installers.effect import SettingWritten
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.edit_text import EditText


def plan(need: ChangeSetting, target: Target, matrix: Matrix) -> Plan:
    """The option stands once in its section then."""
    edit = EditText(
        path=need.file,
        section=need.section,
        settings=((need.name, need.value),),
        lines=(),
        why=f"{need.name} is then {need.value}",
        once=(need.name,),
    )
    effect = SettingWritten(need.program, need.file, need.section, need.name, value=need.value)
    return Plan(f"set {need.name} = {need.value} under [{need.section}] in {need.file}", (edit,), (effect,))


METHOD = Method(ChangeSetting, "a framework's setting", plan)
