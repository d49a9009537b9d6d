"""The maintainer's way: new rows go into the tables, and those that are there stay as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from compat.load import DATA, load_file
from compat.matrix import Matrix
from doctor.refresh.index import Connection, Index
from doctor.refresh.run import Source
from doctor.refresh.shipped import refresh_shipped
from doctor.refresh.web import Web
from tests.refresh.server import torch_wheel, wheel


def test_new_rows_are_added_to_the_tables(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    torch_wheel(tmp_path / "wheels", "99.0.0")
    torch_wheel(tmp_path / "wheels", "2.9.1")
    connection = Connection((Index.of(str(tmp_path / "wheels"), "test", is_flat=True),), has_default=True)
    source = Source(connection, Web(connection), Matrix(str(data)), "2030-01-02")
    said = refresh_shipped(["torch"], source, str(data), newest=2)
    assert "differs: torch-2.9.1-cu128" in said
    before, after = load_file("torch")["tables"]["builds"], load_file("torch", str(data))["tables"]["builds"]
    assert after[:-1] == before
    assert after[-1]["id"] == "torch-99.0.0-cu128"
    assert json.loads((data / "torch.json").read_text())["as_of"] == "2030-01-02"
    assert Matrix(str(data)).as_of() == "2030-01-02"


def test_a_wheel_for_another_processor_is_added_to_its_row(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    both = "Requires-Dist: cupy-cuda12x>=12", "Requires-Dist: numba>=0.60"
    for machine in ("x86_64", "aarch64"):
        name = f"cudf_cu12-99.0.0-cp312-cp312-manylinux_2_24_{machine}.whl"
        wheel(tmp_path / "wheels", name, {"cudf/a.py": ""}, tuple(one.removeprefix("Requires-Dist: ") for one in both))
        connection = Connection((Index.of(str(tmp_path / "wheels"), "test", is_flat=True),), has_default=True)
        source = Source(connection, Web(connection), Matrix(str(data)), "2030-01-02", gaps=True)
        refresh_shipped(["cudf-cu12"], source, str(data))
    [row] = [one for one in load_file("cudf-cu12", str(data))["tables"]["builds"] if one["versions"] == "==99.0.0"]
    assert row["arch"] == ["x86_64", "sbsa"]
    assert row["source"].count(".whl") == 2
    assert row["cuda"] == "==12.*"
