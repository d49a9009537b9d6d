"""`matrix refresh` from the command line: what is written, what is said, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat import overlay
from compat.load import DATA
from compat.matrix import Matrix
from doctor import cli
from doctor.commands.refresh import listing
from doctor.commands.refresh import run as refreshing
from doctor.commands.refresh.channels import channel_indexes
from doctor.commands.refresh.index import Index
from doctor.commands.refresh.table import text_of
from tests.commands.refresh.server import Manners, serving, torch_wheel, wheel

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this machine is configured, and the user's rows lie here."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv(overlay.VARIABLE, str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def refresh(own: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*argv: str) -> tuple[int, dict[str, Any]]:
        status = cli.execute(["matrix", "refresh", *argv, "--format", "json"])
        said = capsys.readouterr()
        assert said.err == ""
        return status, json.loads(said.out)

    return run


@pytest.mark.parametrize(
    "manners",
    [
        Manners(),
        Manners(has_json=True),
        Manners(has_metadata=True),
        Manners(has_json=True, has_metadata=True),
        Manners(has_ranges=False),
    ],
)
def test_over_http(tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch, manners: Manners) -> None:
    torch_wheel(tmp_path / "files", "99.0.0")
    torch_wheel(tmp_path / "files", "100.0.0rc1")
    with serving(tmp_path, manners) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")
        status, said = refresh("torch")
    [product] = said["products"]
    assert (status, product["newest_served"], product["problems"]) == (0, "99.0.0", [])
    assert [(row["kind"], row["row"]["id"]) for row in product["rows"]] == [("new", "torch-99.0.0-cu128")]
    assert product["written"] == str(own / "torch.json")
    assert Matrix(overlay=str(own)).framework("torch", "99.0.0", "cu128").cuda == "==12.8"
    assert said["indexes"] == [{"url": f"{server.url}/simple", "said_by": "PIP_INDEX_URL"}]


@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_FIND_LINKS"])
def test_from_a_directory(
    tmp_path: Path, own: Path, refresh: Run, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_wheel(tmp_path / "simple" / "torch", "99.0.0")
    place = tmp_path / "simple"
    monkeypatch.setenv(variable, str(place / "torch") if "LINKS" in variable else place.as_uri())
    if "LINKS" in variable:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
    status, said = refresh("torch")
    assert status == 0
    assert [row["row"]["id"] for row in said["products"][0]["rows"]] == ["torch-99.0.0-cu128"]


def test_dry_run_writes_nothing(tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    torch_wheel(tmp_path, "99.0.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    status, said = refresh("torch", "--dry-run")
    assert (status, said["dry_run"], said["products"][0]["written"]) == (0, True, "")
    assert not own.exists()


def test_again_replaces_and_keeps(tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "98.0.0").rename(tmp_path / "kept")
    for version in ("98.0.0", "99.0.0"):
        path = torch_wheel(tmp_path, version)
        assert refresh("torch")[0] == 0
        path.unlink()
    torch_wheel(tmp_path, "99.0.0", python="cp313")
    refresh("torch")
    rows = json.loads((own / "torch.json").read_text())["tables"]["builds"]
    assert [(row["versions"], row["python"]) for row in rows] == [("==98.0.0", ["3.12"]), ("==99.0.0", ["3.13"])]


def test_a_known_release_is_compared(tmp_path: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "2.9.1")
    assert refresh("torch")[1]["products"][0]["rows"] == []
    [row] = refresh("torch", "--releases", "1")[1]["products"][0]["rows"]
    assert (row["kind"], row["shipped"]) == ("differs", ["torch-2.9.1-cu128"])
    assert [one["column"] for one in row["differences"]] == ["python", "targets", "pins"]


def test_what_cannot_be_read_is_said(tmp_path: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path, "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", {})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    status, said = refresh("torch")
    assert status == 4
    assert "torch 99.0.0 (linux/x86_64): " in said["products"][0]["problems"][0]
    assert said["products"][0]["written"] == ""


def test_an_unreachable_index(refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")
    status, said = refresh("torch")
    assert (status, said["products"][0]["problems"]) == (4, ["http://127.0.0.1:9/simple/torch/: no connection"])


@pytest.mark.parametrize("style", ["text", "json"])
def test_credentials_are_never_printed_or_stored(
    tmp_path: Path, own: Path, style: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch_wheel(tmp_path / "files", "99.0.0")
    with serving(tmp_path, Manners(credentials="me:s3cret")) as server:
        bad = server.url.replace("//", "//me:wr0ng@")
        monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//me:s3cret@") + "/simple?token=t0ken")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{bad.replace('127.0.0.1', 'localhost')}/simple")
        status = cli.execute(["matrix", "refresh", "torch", "--format", style])
    said = capsys.readouterr()
    assert "torch-99.0.0-cu128" in said.out
    assert status == 0
    everything = said.out + said.err + "".join(path.read_text() for path in own.iterdir())
    assert not [word for word in ("s3cret", "wr0ng", "t0ken", "me:") if word in everything]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["troch"], "no product to refresh 'troch'; did you mean torch"),
        (["caffe"], "no product to refresh 'caffe'"),
        (["torch", "--releases", "0"], "--releases needs a number from 1 on"),
        (["torch", "--timeout", "0"], "--timeout needs seconds, more than 0"),
        (["--manifests", "/dev/zero"], "--manifests /dev/zero: it does not exist"),
        (["torch", "--format", "csv"], "no format 'csv'"),
        (["torch", "--python", "/nowhere/python"], "/nowhere/python"),
    ],
)
def test_bad_usage_is_one_line(own: Path, argv: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["matrix", "refresh", *argv]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert why in said.err


@pytest.mark.parametrize(
    "said", [{}, {"release_label": "13.9.0", "release_product": "cuda"}, {"release_product": "tensorrt", "trt": {}}]
)
def test_a_manifest_of_nothing(tmp_path: Path, own: Path, said: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "redistrib_13.9.0.json"
    path.write_text(json.dumps(said))
    assert cli.execute(["matrix", "refresh", "--manifests", str(path)]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert f"--manifests {path}: no manifest there has a component of CUDA or cuDNN" in printed.err


def test_no_index_and_no_pip(tmp_path: Path, own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    assert cli.execute(["matrix", "refresh", "torch", "--python", str(tmp_path / "env")]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "pip and uv have no configured package index, and no pip shows its default (" in said.err
    assert "--python" in said.err


def test_text(tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    torch_wheel(tmp_path, "2.9.1")
    assert cli.execute(["matrix", "refresh", "torch", "jax", "--releases", "2"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for text in (
        "index     file://",
        "torch  known up to 2.9.1, served up to 99.0.0",
        "differs: torch-2.9.1-cu128",
        "new: torch-99.0.0-cu128",
        "No index serves a wheel of: jax",
        "The shipped data is from 20",
        " ago",
    ):
        assert text in said.out
    assert all(len(line) <= 80 or "/" in line for line in said.out.splitlines())


def test_a_damaged_overlay_is_written_anew(
    tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.mkdir()
    (own / "torch.json").write_text("{")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    status, said = refresh("torch")
    assert status == 0
    assert "; it is written again" in said["products"][0]["problems"][0]
    assert overlay.load("torch", str(own))["tables"]["builds"]


def test_a_link_in_the_overlay_is_replaced_not_followed(
    tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.mkdir()
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(text_of(overlay.empty("torch")))
    before = elsewhere.read_bytes()
    (own / "torch.json").symlink_to(elsewhere)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    status, said = refresh("torch")
    assert status == 0
    assert said["products"][0]["problems"] == [f"{own / 'torch.json'} is a symlink: a regular file replaces it"]
    assert elsewhere.read_bytes() == before
    assert not (own / "torch.json").is_symlink()
    assert overlay.load("torch", str(own))["tables"]["builds"]


@pytest.mark.parametrize("below", ["", "below"])
def test_where_a_broken_link_leads_nothing_is_made(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], below: str
) -> None:
    own.symlink_to(tmp_path / "nowhere")
    monkeypatch.setenv(overlay.VARIABLE, str(own / below))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    assert cli.execute(["matrix", "refresh", "torch"]) == 2
    assert f"{own}: the symlink points to a path that does not exist" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


def test_an_unwritable_overlay(tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(overlay.VARIABLE, str(tmp_path / "file" / "below"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    assert cli.execute(["matrix", "refresh", "torch"]) == 2


SLOW_WRITER = """
import os, sys, time
import doctor.output.write
def stop(source, target):
    print("replacing", flush=True)
    time.sleep(60)
os.replace = stop
from doctor import cli
sys.exit(cli.execute(["matrix", "refresh", "torch"]))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_while_writing_it_leaves_the_old_rows(
    tmp_path: Path, own: Path, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the last instant before the new file takes the old one's place."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "98.0.0")
    assert cli.execute(["matrix", "refresh", "torch"]) == 0
    before = (own / "torch.json").read_bytes()
    torch_wheel(tmp_path, "99.0.0")
    root = Path(__file__).parents[3]
    env = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, "-c", SLOW_WRITER], stdout=subprocess.PIPE, env=env, text=True) as child:
        assert child.stdout
        while child.stdout.readline().strip() != "replacing":
            assert child.poll() is None
        time.sleep(0.05)
        child.send_signal(how)
        child.wait(20)
    assert (own / "torch.json").read_bytes() == before
    assert Matrix(overlay=str(own)).framework("torch", "98.0.0").build == "cu128"
    monkeypatch.undo()


def test_products_are_those_with_readers() -> None:
    known = refreshing.refreshable()
    assert {"torch", "tensorflow", "jax-cuda12-plugin", "onnxruntime-gpu", "cudnn", "cuda"} <= set(known)
    assert not {"caffe", "index", "conflicts", "gpu"} & set(known)
    assert refreshing.chosen(["Jax_CUDA12.plugin", "cupy-cuda99x"]) == ("jax-cuda12-plugin", "cupy-cuda99x")


def test_a_package_that_is_not_shipped(
    tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    requires = ('cuda-toolkit==99.*; extra == "ctk"',)
    wheel(tmp_path, "cupy_cuda99x-20.0-cp312-cp312-manylinux_2_28_x86_64.whl", {"cupy/x.py": ""}, requires)
    assert refresh("cupy-cuda99x")[0] == 0
    matrix = Matrix(overlay=str(own))
    assert matrix.has("cupy-cuda99x")
    row = matrix.framework("cupy-cuda99x", "20.0")
    assert (row.cuda, row.pins) == ("==99.*", {})  # nobody is told to install it with that extra


def test_one_product_stops_no_other(tmp_path: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "99.0.0")
    whole = listing.wheels_of

    def failing(project: str, *rest: Any) -> Any:
        if project == "jax":
            raise RuntimeError("odd")
        return whole(project, *rest)

    monkeypatch.setattr("doctor.commands.refresh.run.wheels_of", failing)
    status, said = refresh("jax", "torch")
    jax, torch = said["products"]
    assert status == 4
    assert jax["problems"] == ["gpudoctor itself failed: RuntimeError: odd"]
    assert [row["row"]["id"] for row in torch["rows"]] == ["torch-99.0.0-cu128"]


def test_one_deadline_for_everything(tmp_path: Path, own: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that would be read is not, once the time is used up; nothing half read is written."""
    torch_wheel(tmp_path / "files", "99.0.0")
    with serving(tmp_path, Manners()) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")
        status, said = refresh("torch", "jax", "--timeout", "0.000001")
    assert status == 4
    for product in said["products"]:
        assert "s is over (raise it with --timeout)" in product["problems"][0]
        assert product["rows"] == []
    assert not own.exists()


def test_a_row_of_many_releases_hides_none(tmp_path: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch has one row for the CPU builds of all releases up to its newest: that does not make a release known."""
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    path = data / "torch.json"
    path.write_text(path.read_text().replace("<=2.15.0", "<=99.0.0"))
    monkeypatch.setattr("doctor.commands.refresh.command.Matrix", lambda: Matrix(str(data)))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    torch_wheel(tmp_path, "98.0.0")
    assert [row["row"]["id"] for row in refresh("torch")[1]["products"][0]["rows"]] == ["torch-98.0.0-cu128"]


def test_the_makers_own_index(tmp_path: Path, refresh: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read only if it is asked for, and only where the newest releases are; the user's own index comes first."""
    named = channel_indexes("torchvision", Matrix())
    assert {index.said_by for index in named} >= {"torch's index for cu130", "torch's index for cu132"}
    assert not any(index.said_by.endswith(("cu118", "cpu")) for index in named)
    torch_wheel(tmp_path / "mine", "99.0.0")
    torch_wheel(tmp_path / "theirs", "99.0.0", tag="cu132", local="+cu132")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "mine"))
    own = Index.of(str(tmp_path / "theirs"), "torch's index for cu132", is_flat=True)
    monkeypatch.setattr(refreshing, "channel_indexes", lambda *_: (own,))
    for option, builds in (((), ["cu128"]), (("--channels",), ["cu128", "cu132"])):
        status, said = refresh("torch", "--dry-run", *option)
        [product] = said["products"]
        assert (status, sorted(row["row"]["build"] for row in product["rows"])) == (0, builds)
