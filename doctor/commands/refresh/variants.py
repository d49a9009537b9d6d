"""Wheel variants on an index: wheels of one release for one platform, with a label at the end of their name.

Sources: PEP 817 and PEP 825 (draft), file names and the file `{name}-{version}-variants.json`, which says what a label
stands for. An installer that does not know them takes none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.utils import parse_wheel_filename

from doctor.commands.refresh.web import Unreachable, Web
from doctor.pyenv.variant import properties

_LABEL = re.compile(r"[0-9a-z_.]{1,16}")
_SHOWN_AT_MOST = 20


def label_of(name: str) -> str:
    """The label of a variant wheel by its file name; "" for a plain wheel and for what is no wheel."""
    plain, _, label = name.removesuffix(".whl").rpartition("-")
    if not name.endswith(".whl") or _is_wheel(name) or not _LABEL.fullmatch(label):
        return ""
    return label if _is_wheel(f"{plain}.whl") else ""


def _is_wheel(name: str) -> bool:
    try:
        parse_wheel_filename(name)
    except ValueError:  # InvalidWheelFilename, and what int() says of 5,000 digits
        return False
    return True


def notes(files: Iterable[tuple[str, str]], web: Web) -> tuple[str, ...]:
    """One line for each release that has variants, from the names and addresses of a project's files."""
    labels: dict[str, dict[str, None]] = {}
    tables: dict[str, str] = {}
    for name, url in files:
        label = label_of(name)
        if label:
            labels.setdefault("-".join(name.split("-")[:2]), {})[label] = None
        elif name.endswith("-variants.json"):
            tables[name.removesuffix("-variants.json")] = url
    return tuple(_note(release, list(found), tables.get(release, ""), web) for release, found in labels.items())


def _note(release: str, labels: list[str], url: str, web: Web) -> str:
    try:
        page = web.page(url) if url else None
        meant = properties(page.content.decode("utf-8", "replace")) if page else {}
        why = "" if page else "the index does not say what they mean; "
    except (Unreachable, ValueError) as error:
        meant, why = {}, f"their meaning is unknown, {error}; "
    shown = [f"{one} ({', '.join(meant[one])})" if meant.get(one) else one for one in labels[:_SHOWN_AT_MOST]]
    return f"{release}: variant wheels {', '.join(shown)}: {why}pip uses none of them, and no row is made from them"
