"""What several tests of the installer start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installers import trees


@pytest.fixture
def cuda(tmp_path: Path) -> Path:
    """A CUDA directory."""
    return trees.toolkit(tmp_path)


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """An archive of cuDNN."""
    return trees.archive(tmp_path)
