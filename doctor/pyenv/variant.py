"""Which variant an installed wheel is: `variant.json` beside its METADATA, which plain wheels have not.

Sources: PEP 817 and PEP 825 (draft); it has the form of an index's `{name}-{version}-variants.json`, with one label.
"""

from __future__ import annotations

import re

from doctor.host import Host, HostError
from doctor.model.facts.environment import Distribution

_NONE = "their description is not a variants.json of PEP 817"
_SCHEMAS = re.compile(r"https://variants-schema\.wheelnext\.dev/v0\.0\.[23]\.json")  # of the format that is read here
_AT_MOST_BYTES = 64 << 10
_SHOWN_AT_MOST = 20


def variant_note(host: Host, one: Distribution) -> str:
    """What a framework's note says of its variant, "" for a plain wheel; that it is unknown where it cannot be read."""
    path = f"{one.metadata}/variant.json"
    if not one.metadata.endswith(".dist-info") or not host.exists(path):
        return ""
    try:
        variants = properties(host.read_text(path, _AT_MOST_BYTES))
    except (HostError, ValueError) as error:
        return f"a wheel variant, which one is unknown: {error} ({path})"
    if len(variants) != 1:
        return f"a wheel variant, which one is unknown: {path} has {len(variants)} labels"
    [(label, meant)] = variants.items()
    return f"the wheel variant {label}" + (f": {', '.join(meant[:_SHOWN_AT_MOST])}" if meant else "")


def properties(text: str) -> dict[str, tuple[str, ...]]:
    """What each label stands for, "nvidia :: cuda_version_lower_bound :: 12.8"; raises ValueError, by reason."""
    from doctor.host.documents import parse_json  # late: hardly any wheel has one

    try:
        content = parse_json(text)
    except ValueError as error:
        raise ValueError(_NONE) from error
    try:
        schema = str(content["$schema"])
        if not _SCHEMAS.fullmatch(schema):
            raise ValueError(f"their schema {schema} is none that is known")
        return {
            str(label): tuple(
                f"{namespace} :: {feature} :: {value}"
                for namespace, features in spaces.items()
                for feature, values in features.items()
                for value in values
            )
            for label, spaces in content["variants"].items()
        }
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(_NONE) from error
