"""framework-not-read: what could not be read is no health."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.model.finding import Status
from tests.machine import SITE, environment, loader, machine, prediction, seen, system, unseen
from tests.rules.case import answer

CODE = "framework-not-read"


def closed(*paths: str) -> Any:
    return machine(environments=seen((environment(not_read=paths),)))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (closed(f"{SITE}/torch/version.py"), Status.UNKNOWN),
        (closed(f"{SITE}/torch"), Status.UNKNOWN),
        (closed(f"{SITE}/torch-2.9.1.dist-info/RECORD"), Status.UNKNOWN),
        (closed("/elsewhere/torch/version.py"), Status.OK),  # of another environment's site
        (
            machine(loader=loader(cache=unseen("/etc/ld.so.cache is damaged"), predictions=seen((prediction(),)))),
            Status.UNKNOWN,
        ),
        (machine(loader=loader(search=unseen(), predictions=seen((prediction(),)))), Status.UNKNOWN),
        (machine(loader=loader(search=unseen(), predictions=seen(()))), Status.OK),  # it opens nothing that is known
        (machine(loader=loader(search=unseen()), system=system(family=seen("macos"))), Status.OK),
        (machine(environments=unseen()), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    assert found.blocks_verdict
