"""The maintainer's way: new rows go into the tables, and those that are there stay as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from compat.load import DATA, load_file
from compat.matrix import Matrix
from doctor.commands.refresh.compare import NEW, SAME, compare
from doctor.commands.refresh.index import Connection, Index
from doctor.commands.refresh.run import Source
from doctor.commands.refresh.shipped import refresh_shipped
from doctor.commands.refresh.web import Web
from tests.commands.refresh.server import torch_wheel, wheel


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


def test_a_build_that_is_shipped_under_another_name_is_not_new() -> None:
    """The row of the same release and CUDA counts, whatever its build is called; one with another CUDA does not."""
    shipped = next(row for row in Matrix().rows("paddlepaddle-gpu", "builds") if row.versions == "==2.6.2")
    read = shipped._replace(id="paddlepaddle-gpu-2.6.2-cu118", build="cu118")
    assert compare(read, Matrix()).shipped == (shipped.id,)
    assert compare(read._replace(cuda="==12.0"), Matrix()).kind == NEW
    mac = next(row for row in Matrix().rows("ctranslate2", "builds") if row.id == "ctranslate2-4.8.5-cpu-macos")
    assert compare(mac._replace(id="ctranslate2-4.8.5-macos", build="", cuda=None), Matrix()).kind == SAME
