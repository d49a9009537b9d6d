"""`matrix list` and `matrix show`: every product in every format, the right rows, one line for what is not there."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from compat.load import DATA, products, tables_of
from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.matrix.columns import LAYOUTS, exact, pythons, targets
from doctor.commands.matrix.pages import pages, write
from doctor.commands.matrix.show import ABOUT, shown
from tests.each import each

MATRIX = Matrix()
FORMATS = ("text", "json", "markdown", "csv")


@pytest.fixture(autouse=True)
def no_rows_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(tmp_path / "none"))


def _text(product: str, name: str = "") -> str:
    text, status = shown(product, name, "text", MATRIX)
    assert status == 0
    return text


@pytest.mark.no_cover  # a sweep over lines that others cover
@pytest.mark.parametrize("style", FORMATS)
@each("product", products())
def test_every_product_in_every_format(product: str, style: str) -> None:
    text, status = shown(product, "", style, MATRIX)
    assert status == 0
    assert text.endswith("\n")
    rows = sum(len(MATRIX.rows(product, table)) for table in tables_of(product))
    if style == "json":
        assert sum(map(len, json.loads(text)["tables"].values())) == rows
    if style == "csv":
        assert len(list(csv.reader(io.StringIO(text)))) == rows + 1


def test_every_row_type_has_its_columns() -> None:
    types = {row_type.__name__ for product in products() for row_type in tables_of(product).values()}
    assert types == set(LAYOUTS)
    assert set(ABOUT) <= set(products())


@pytest.mark.parametrize(
    ("product", "name", "wanted"),
    [
        # The driver table of the CUDA release notes: 12.4 GA came with 550.54.14, CUDA 12 starts on 525.60.13.
        ("cuda", "12.4", ["525.60.13", "550.54.14", "550.54.15", "is no floor", "cuda_12.4.1_550.54.15_linux.run"]),
        ("cuda", "12.4.1", ["550.54.15", "sm 50 52"]),
        (
            "cudnn",
            "9.10.2",
            ["9.10.2.21", "libcudnn.so.9", "CUDA 11", "CUDA 12", "_cuda12-archive.tar.xz", "archive-9.0"],
        ),
        ("cudnn", "5.1", ["5.1.10", "libcudnn.so.5", "sources disagree", "cudnn-8.0-linux-x64-v5.1.tgz"]),
        ("gpu", "RTX 5090", ["NVIDIA GeForce RTX 5090", "12.0", "Blackwell", "12.8"]),
        ("gpu", "NVIDIA GeForce GTX 1080 Ti", ["6.1", "Pascal"]),
        ("gpu", "9.0", ["H100", "Hopper"]),
        ("driver", "535.183", ["reports CUDA 12.2", "up to CUDA 12.9", "long-term"]),
        ("driver", "580", ["reports CUDA 13.0"]),
        # The code at Theano's tags; the articles of those years say otherwise.
        ("theano", "0.8.2", [">=4.0.7", "refuses below 4007", "warns above 5100", "articles of 2016 and 2017 say"]),
        ("theano", "0.8.1", [">=3.0.7, <5", "refuses below 3007"]),
        ("torch", "2.9.1", ["cu126", "cu128", "cu130", "9.10.2.21", "nvidia-cudnn-cu12", "==9.10.2.21"]),
        ("torch", "2.9.1+cu128", ["12.8", "sm 70 75 80 86 90 100 120"]),
        ("torch", "2.9", ["2.9.0", "2.9.1"]),
        ("theano", "0.8.*", ["0.8.2", ">=0.8.0, <0.8.2"]),
        ("gpu", "sm_89", ["RTX 4090", "Ada Lovelace"]),
        ("compiler", "12.2", ["12.2.0", "12.2.1 to 12.2.x"]),
        ("tensorflow", "2.15.0", ["tensorrt-libs", "==8.6.1"]),
        ("xid", "79", ["fallen off the bus", "RESTART"]),
        ("status", "1002", ["CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "mixed"]),
        ("status", "nvml", ["NVML_ERROR_DRIVER_NOT_LOADED"]),
        ("compiler", "12.4", ["6 to 13", "7 to 17"]),
        ("conflicts", "tensorflow", ["tensorflow"]),
        ("index", "torch", ["https://"]),
        ("cudnn-archive", "8.9.7", ["8.9.7.29_cuda12", "archive-8.8"]),
        ("cuda-installer", "10.2", ["cuda_10.2.89_440.33.01_linux.run", "440.33.01"]),
        ("forward-compat", "12.8", ["cuda-compat-12-8", "570.86.15"]),
        ("redist", "cudnn-9.10.2", ["redistrib_9.10.2.json"]),
        ("Flash_Attn", "", ["Ampere"]),
    ],
)
def test_shows(product: str, name: str, wanted: list[str]) -> None:
    text = _text(product, name)
    flowing = " ".join(text.split())
    assert [one for one in wanted if one not in text and one not in flowing] == []
    assert "Sources" in text
    assert "[1]" in text


@pytest.mark.parametrize("typed", ["torch==2.9.1", "pytorch=2.9.1", " torch == 2.9.1"])
def test_a_release_as_pip_or_conda_writes_it(typed: str) -> None:
    assert _text(typed, "") == _text("torch", "2.9.1")


@pytest.mark.parametrize(
    ("product", "name", "nearest"),
    [
        ("torch", "9.0", "2.15.0"),
        ("torch", "2.9.1+cu999", "2.9.1"),
        ("theano", "1.7", ">=1.0,<1.1"),
        ("cudnn", "9.10.9", "9.10.2"),
        ("cuda", "12.7", "12.6"),
        ("gpu", "RTX 5095", "NVIDIA GeForce RTX 5090"),
        ("driver", "999", "620"),
        ("xid", "9999", "1"),
        ("status", "1001001", ""),
        ("compiler", "6.0", "7.5"),
        ("cudnn-archive", "9.99", "9.2"),
        ("cuda-installer", "99.1", "13.4.1"),
        ("redist", "cuda-99", ""),
        ("forward-compat", "12.7", "12.6"),
        ("conflicts", "no-such-package", ""),
        ("index", "no-such-package", ""),
    ],
)
@pytest.mark.parametrize("style", FORMATS)
def test_what_no_row_covers_is_exit_4_and_names_the_nearest(
    style: str, product: str, name: str, nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = execute(["matrix", "show", product, name, "--format", style])
    printed = capsys.readouterr()
    assert status == 4
    assert "no matrix row covers" in printed.out
    assert nearest in printed.out
    if style == "text":
        assert len(printed.out.splitlines()) == 1
    if style == "json":
        assert json.loads(printed.out)["uncovered"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["tocrh"], "no product 'tocrh'; did you mean torch"),
        (["torch", "2.9.1", "--format", "jsn"], "no format 'jsn'; did you mean json?"),
        (["cudnn", "abc"], "'abc' is not a cuDNN version"),
        (["torch", "new"], "'new' is not a release of torch"),
        (["compiler", "new"], "'new' is not a CUDA version"),
        (["cuda", "new"], "'new' is not a CUDA version"),
        (["driver", "latest"], "'latest' is not a driver release"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = execute(["matrix", "show", *argv])
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize("style", FORMATS)
def test_the_list_names_every_product(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "list", "--format", style]) == 0
    printed = capsys.readouterr().out
    assert all(product in printed for product in products())
    if style == "json":
        (torch,) = [line for line in json.loads(printed)["products"] if line["product"] == "torch"]
        assert torch["rows"] == len(MATRIX.rows("torch", "builds"))
        assert torch["as_of"] == MATRIX.as_of("torch")


def test_rows_of_the_user_are_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(Path(DATA, "mmcv.json").read_text("utf-8"))
    content["tables"]["builds"][0].update(id="mmcv-own", versions="==77.1", source="an index of ours")
    (tmp_path / "mmcv.json").write_text(json.dumps(content))
    monkeypatch.setenv("GPUDOCTOR_MATRIX_OVERLAY", str(tmp_path))
    assert execute(["matrix", "show", "mmcv", "77.1"]) == 0
    assert "an index of ours" in capsys.readouterr().out


def test_json_gives_every_column_as_the_table_has_it() -> None:
    content = json.loads(shown("torch", "2.9.1+cu128", "json", MATRIX)[0])
    file = json.loads(Path(DATA, "torch.json").read_text("utf-8"))
    rows = [one for one in content["tables"]["torch.builds"] if one["build"] == "cu128"]
    assert rows
    assert all(row in file["tables"]["builds"] for row in rows)


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (("3.9", "3.10", "3.11"), "3.9-3.11"),
        (("2.7", "3.5", "3.6", "3.8"), "2.7, 3.5-3.6, 3.8"),
        (("3.13", "3.13t"), "3.13, 3.13t"),
        ((), ""),
        (None, "?"),
    ],
)
def test_pythons(versions: tuple[str, ...] | None, said: str) -> None:
    assert pythons(versions) == said


@pytest.mark.parametrize(("specifier", "said"), [("==2.9.1", "2.9.1"), ("==12.*", "12.x"), (">=1,<2", ">=1, <2")])
def test_exact(specifier: str, said: str) -> None:
    assert exact(specifier) == said


def test_targets() -> None:
    (row,) = [one for one in MATRIX.rows("torch", "builds") if one.id == "torch-1.7.0-cu110"]
    assert targets(row.targets) == "sm 37 50 60 70 75 80"
    assert targets(None) == "?"


def test_every_product_is_on_a_page_and_every_link_leads_to_one() -> None:
    made = pages(MATRIX)
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", made["README.md"]))
    assert linked == made.keys() - {"README.md"}
    assert all(f"[{product}]" in made["README.md"] for product in products())


def test_pages_of_products_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    write(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == pages(MATRIX).keys()
    assert all(path.stat().st_size < 100_000 for path in tmp_path.iterdir())


@each("product", products())
def test_a_row_of_every_product_is_found_by_its_id_or_refused_in_one_line(
    product: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`matrix show frameworks jax-plugin` was a fault of gpudoctor itself."""
    row = MATRIX.rows(product, next(iter(tables_of(product))))[0]
    assert execute(["matrix", "show", product, row.id]) in (0, 2, 4)
    assert "fault of gpudoctor" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("product", "name"), [("frameworks", "jax-plugin"), ("libraries", "libcudart"), ("chip", "gf100")]
)
def test_products_without_releases_are_shown_by_name(
    product: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", "show", product, name]) == 0
    assert name in capsys.readouterr().out
