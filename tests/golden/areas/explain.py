"""Every message that `explain` is tested with, as text and as JSON; and every page of a code."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.commands.explain.broken import PRINTED
from tests.commands.explain.fresh import FRESH
from tests.commands.explain.held_out import REPORTS
from tests.commands.explain.messages import MESSAGES
from tests.commands.explain.texts import texts
from tests.commands.explain.unseen import UNSEEN
from tests.golden.area import Area, Outputs
from tests.golden.product import run

FILES = ("inventory", "fourth", "fifth", "sixth", "seventh", "eighth")
DUMPS = Path(PRINTED).parent / "dumps"
PAGES = "pages"


@cache
def _messages() -> dict[str, dict[str, str]]:
    """By job, texts by the digits of their digests: one that is added moves no other."""
    groups: dict[str, list[str]] = {
        "messages": [text for text, _ in MESSAGES],
        "reports": [text for _, text, _ in REPORTS],
        "fresh": [text for text, _ in FRESH],
        "unseen": [text for text, _ in UNSEEN],
        **{name: [text for text, _ in texts(f"{name}.txt")] for name in FILES},
    }
    found: dict[str, dict[str, str]] = {}
    for group, several in groups.items():
        for text in several:
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            found.setdefault(f"{group}-{digest[0]}", {})[digest] = text
    for path in (*PRINTED.glob("*.txt"), *DUMPS.glob("*.txt")):
        group = f"{path.parent.name}-{path.name[:2]}"
        found.setdefault(group, {})[path.stem] = path.read_text(encoding="utf-8")
    return found


def jobs() -> Sequence[str]:
    """Groups of messages; then the pages."""
    return [*_messages(), PAGES]


def outputs(job: str, folder: Path) -> Outputs:
    """Of each message the text, then the JSON; of a dump, what `check` says of it, too."""
    if job == PAGES:
        return _pages(folder)
    found = {}
    for name, text in _messages()[job].items():
        (folder / "log.txt").write_text(text, encoding="utf-8")
        ran = [run("explain", "log.txt", "--format", style, folder=folder) for style in ("text", "json")]
        if job.startswith("dumps"):
            ran += [run("check", "--from", "log.txt", "--format", style, folder=folder) for style in ("text", "json")]
        found[name] = "\n".join(one.text() for one in ran)
    return found


def _pages(folder: Path) -> Outputs:
    listed = run("explain", "--list", folder=folder)
    codes = [line.split()[0] for line in listed.output.splitlines()]
    found = {code: run("explain", code, folder=folder).text() for code in codes}
    return {"list": listed.text(), "search": run("explain", "--search", "libcudnn", folder=folder).text(), **found}


AREA = Area(jobs, outputs, 60)
