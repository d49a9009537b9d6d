"""A text to ask elsewhere with, where nothing in a log is known: what was printed, on what, and what it is not."""

from __future__ import annotations

from doctor import __version__
from doctor.commands.explain.dump import Field, tell
from doctor.messages.reading import Reading
from doctor.messages.signature import families

_LAST_LINES = 40
_LINE_CHARS = 300
_SHOWN = (Field.SYSTEM, Field.PLATFORM, Field.PYTHON, Field.DRIVER, Field.DRIVER_CUDA, Field.GPU, Field.PACKAGE)


def text_to_post(reading: Reading) -> str:
    """Markdown. The reading must have been redacted; what a form of the project asks besides is for its user to add."""
    told = tell(reading)
    rows = [(field.value, [one.value for one in told.of(field)]) for field in _SHOWN]
    machine = [f"- {name}: {', '.join(values[:8])}" for name, values in rows if values]
    last = [line.text[:_LINE_CHARS].replace("```", "'''") for line in reading.lines if line.text.strip()][-_LAST_LINES:]
    known = sum(len(family.signatures) for family in families().values())
    return "\n".join(
        (
            "### Last lines of output",
            "```text",
            *last,
            "```",
            "### Environment",
            *(machine or ["- (versions of the program, the driver and the system: `gpudoctor check --redact`)"]),
            "### Ruled out",
            f"- gpudoctor {__version__}: this text has none of its {known} messages of a broken GPU stack",
        )
    )
