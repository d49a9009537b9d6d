"""Words of a text that say where the program ran: patterns for `Means.given` and `Means.unless`."""

from __future__ import annotations

from doctor.messages.signatures import table

BOXED, BLACKWELL, JETSON = ("|".join(table("_shared")[name]) for name in ("boxed", "blackwell", "jetson"))
TOOLKIT = (
    r"CUDA(?:/cuDNN)? ?(?:version|toolkit|runtime)?[ :=]*v?(?:7|8|9|1\d)(?:\.\d+)+|cuda[-_ ](?:7|8|9|1\d)\.\d"
    r"|release \d+\.\d, V|\bcuda ?\d\d\.\d"
)  # a release of CUDA that the text names


def name_of(words: str) -> str:
    """Return the error that the runtime describes with these words, or with a sentence that has them."""
    names: dict[str, str] = table("_statuses")["said"]
    return names[min((text for text in names if words.lower() in text.lower()), key=len)]
