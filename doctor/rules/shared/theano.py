"""How a setting of Theano is put right where it stands: in a file, or in THEANO_FLAGS."""

from __future__ import annotations

from compat.need import AssignVariable, ChangeSetting, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import value_or

_FLAGS = "THEANO_FLAGS"


def setting_need(beside: Setting, section: str, name: str, value: str, facts: Facts) -> Need:
    """The need to have a setting in the file, or the variable, where another one stands; raises UnseenError."""
    if beside.at:
        return ChangeSetting(beside.at.file, beside.program, section, name, value=value)
    said = next((one.value for one in facts.configuration.variables.get() if one.name == _FLAGS), "")
    key = name if section == "global" else f"{section}.{name}"
    kept = [one for one in said.split(",") if one.strip() and one.partition("=")[0].strip() != key]
    return AssignVariable(_FLAGS, ",".join((*kept, f"{key}={value}")))


def can_be_set(facts: Facts) -> bool:
    """Whether such an edit is known here."""
    return value_or(facts.system.family, "") == "linux"
