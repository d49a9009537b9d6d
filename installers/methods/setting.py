"""Write a setting into the configuration file of a framework's own."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import SettingWritten
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.edit_text import EditText


def serves(need: Need, target: Target) -> bool:
    """`build` names program, section and option."""
    return need.product == "setting" and len(need.build.split()) == 3


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The option stands once in its section then."""
    program, section, name = need.build.split()
    edit = EditText(
        path=need.where,
        section=section,
        settings=((name, need.spec),),
        lines=(),
        why=f"{name} is {need.spec} then",
        once=(name,),
    )
    effect = SettingWritten(program=program, path=need.where, section=section, name=name, value=need.spec)
    return Plan(f"set {name} = {need.spec} under [{section}] in {need.where}", (edit,), (effect,))


METHOD = Method("a framework's setting", serves, plan)
