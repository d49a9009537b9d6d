from __future__ import annotations

from pathlib import Path

import pytest

from compat import overlay
from compat.matrix import Matrix
from compat.need import as_json
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules
from tests.machine import machine

CODE = "matrix-overlay-damaged"


@pytest.mark.parametrize(
    ("text", "kind"),
    [(None, Status.NOT_APPLICABLE), ("whole", Status.OK), ("", Status.BAD), ('{"schema": "x"}', Status.BAD)],
)
def test_matrix_overlay_damaged(tmp_path: Path, text: str | None, kind: Status) -> None:
    folder = tmp_path / "own"
    if text is not None:
        folder.mkdir()
        from doctor.commands.refresh.table import text_of

        (folder / "torch.json").write_text(text_of(overlay.empty("torch")) if text == "whole" else text)
    [answer] = judge(machine(), Matrix(overlay=str(folder)), load_rules([CODE]))
    assert answer.kind is kind
    if kind is Status.BAD:
        assert answer.severity is Severity.WARNING
        assert str(folder / "torch.json") in answer.evidence[0].detail
        assert "Delete it" in as_json(answer.needs[0]).spec
