"""What was seen of a real environment, one file each in `recorded/`: its wheels, and where its libraries were mapped.

`python -m tests.real --record ENVIRONMENT ...` writes them. A path below the site directory is relative; "nothing" was
searched for and not found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.real.judge import Verdict
from tests.real.machine import site_of

FOLDER = Path(__file__).with_name("recorded")
_OF_THE_STACK = re.compile(
    r"(nvidia|cuda|cupy|torch|triton|jax|tensorflow|keras|onnxruntime|xformers|bitsandbytes|numba|ctranslate2|paddle|"
    r"mxnet|libcudf|librmm|cudf|rmm|vllm|flash|deepspeed)"
)


class Recorded(NamedTuple):
    """One environment."""

    name: str
    python: str  # "3.11"
    wheels: tuple[str, ...]  # "torch==2.9.1"
    observed: Mapping[str, Mapping[str, str]]  # framework -> library -> file


def recorded() -> Iterator[Recorded]:
    """All of them."""
    for path in sorted(FOLDER.glob("*.json")):
        found = json.loads(path.read_text())
        yield Recorded(path.stem, found["python"], tuple(found["wheels"]), found["observed"])


def record(prefix: Path, verdict: Verdict) -> Path:
    """Write the file of an environment that was judged."""
    site = site_of(prefix.absolute())
    observed = {
        one.name: {
            row["name"]: row["observed"].removeprefix(f"{site}/")
            for row in one.rows
            if row["equal"] in {"yes", "replayed"}
        }
        for one in verdict.compared
        if one.known
    }
    found = {"python": site.parent.name.removeprefix("python"), "wheels": _wheels(site), "observed": observed}
    path = FOLDER / f"{prefix.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    return path


def _wheels(site: Path) -> list[str]:
    names = (path.name.removesuffix(".dist-info").rpartition("-") for path in site.glob("*.dist-info"))
    pins = sorted(f"{name.replace('_', '-').lower()}=={version}" for name, _, version in names)
    return [pin for pin in pins if _OF_THE_STACK.match(pin)]
