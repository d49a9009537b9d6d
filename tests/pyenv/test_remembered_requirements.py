"""What installed packages lack is remembered until one of their METADATA files changes."""

from __future__ import annotations

import os
from pathlib import Path

from doctor.host.live import LiveHost
from doctor.host.snapshot import Snapshot
from doctor.model.facts.environment import Distribution
from doctor.pyenv.requirements import unmet_among


def test_it_is_read_again_when_a_file_changes(tmp_path: Path) -> None:
    folder = tmp_path / "my_ops-1.0.dist-info"
    folder.mkdir()
    ops = Distribution("my-ops", "1.0", str(tmp_path), str(folder), "wheel", "")

    def lacking(text: str) -> list[str]:
        (folder / "METADATA").write_text(text, encoding="utf-8")
        os.utime(tmp_path, (1, 1))  # as when a file is edited in place
        host = Snapshot(LiveHost({"GPUDOCTOR_CACHE": str(tmp_path / "cache")}))
        found = [one.wanted for one in unmet_among(host, (ops,), "3.12.1")]
        host.memory.save()
        assert [one.wanted for one in unmet_among(host, (ops,), "3.12.1")] == found
        return found

    assert lacking("Requires-Dist: click>=8\n") == ["click>=8"]
    assert lacking("Requires-Dist: click>=8\n") == ["click>=8"]
    assert lacking("Requires-Dist: rich>=13.0\n") == ["rich>=13.0"]
