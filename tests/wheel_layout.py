"""What a wheel has besides our packages: in an editable installation none of it, or it would hide the checkout."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FILES = {
    "gpudoctor.py": "gpudoctor/__init__.py",
    "doctor/cli/__main__.py": "gpudoctor/__main__.py",
    "doctor/py.typed": "gpudoctor/py.typed",
    "docs/rules": "gpudoctor/doctor/messages/pages",
}


class WheelLayout(BuildHookInterface):  # type: ignore[misc]
    """Found by hatchling: see pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel that is to be installed as it is."""
        if version != "editable":
            build_data["force_include"].update(_FILES)
