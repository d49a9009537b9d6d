"""torch's CPU beside ours: a stand-in for how its program is started and listened to, the real one for its numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from doctor.commands.bench import measure, timing, torch_program
from doctor.commands.bench.command import Options, _torch, bench
from doctor.commands.bench.encode import bench_schema
from doctor.commands.bench.networks import content_of, load
from doctor.commands.bench.outcome import TORCH, Network, Order
from doctor.commands.bench.results_table import ways
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.output.document import TextStyle
from tests.commands.bench.small import branched, straight
from tests.wheels import TORCH_WHEELS, fetch, unpack

HERE = Path(__file__).parent


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_TORCH_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PYTHONPATH", str(HERE / "stand_in_torch"))
    return tmp_path / "log"


def order(*networks: Network) -> Order:
    torch = (sys.executable, str(HERE / "stand_in_torch" / "torch"))
    return Order(networks, ("cpu",), steps=3, seconds=0.5, threads=1, torch=torch)


def test_it_is_measured_beside_the_cpu(log: Path) -> None:
    doing: list[str] = []
    done = measure.run(order(branched()), lambda one: doing.append(f"{one.path} {one.doing}"))
    ours, theirs = done.timings
    assert (ours.path, theirs.path, theirs.pool, theirs.dtype, theirs.data) == ("cpu", TORCH, None, "fp32", "synthetic")
    assert (theirs.batch, theirs.steps, theirs.images_per_epoch, theirs.clock) == (8, 3, 80, "perf_counter")
    assert theirs.epoch_s == theirs.step_s_median * 10 > 0
    assert theirs.losses[0] == 3.0 > theirs.losses[1]
    assert done.machine.torch == "1.0+stand.in"
    assert done.machine.numpy
    assert doing[-1] == f"{TORCH} step 3 of 3"
    said = log.read_text().splitlines()
    shapes = ["conv2d 8 4 5 4|relu 8 4 5 4|lrn 8 4 5 4|pool 8 4 2 2|conv2d 8 4 2 2", "linear 8 3|loss", "linear 8 7"]
    assert all(shape in "|".join(said) for shape in shapes)
    assert "SGD 5 0.05 0.9 0.001 0.1 0.0" in said  # biases learn twice as fast, and do not decay
    assert said.count("step") == said.count("backward") == theirs.warmup_steps + 3
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    ("fault", "networks", "why"),
    [
        ("import", 2, "every network was not measured with torch: ImportError: libtorch_cpu.so: cannot open"),
        ("exit", 2, "every network was not measured with torch: the child ended with status 3 while loading"),
        ("operator", 1, "small was not measured with torch: RuntimeError: could not create a primitive"),
    ],
)
def test_one_that_fails_is_one_line_and_nothing_is_lacking(
    log: Path, monkeypatch: pytest.MonkeyPatch, fault: str, networks: int, why: str
) -> None:
    monkeypatch.setenv("FAKE_TORCH_FAULT", fault)
    paths: list[str] = []
    done = measure.run(order(*(straight(),) * networks), lambda one: paths.append(one.path))
    assert [one.path for one in done.timings] == ["cpu"] * networks
    assert done.lacks == ()
    (note,) = (one for one in done.notes if "torch" in one)
    assert note.startswith(why)
    assert "\n" not in note
    assert TORCH not in {path for path, _, _ in ways(done)}
    assert paths.count(TORCH) <= 2  # "loading", once


def test_what_others_may_change_is_not_run(log: Path, tmp_path: Path) -> None:
    done = measure.run(order(straight()), host=RootHost(str(tmp_path)))
    assert [one.path for one in done.timings] == ["cpu"]
    assert [one.startswith("every network was not measured with torch: ") for one in done.notes if "torch" in one]
    assert not log.exists()


def test_the_environment_s_torch_is_found_and_shown(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `--python`; without a distribution of that name there is no row."""
    monkeypatch.delenv("PYTHONPATH")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = (venv / "lib").glob("python*/site-packages")
    options = Options(("lenet",), "cpu", python=str(venv), batch=2, steps=3)
    assert _torch(options, None, LiveHost()) == ()
    (site / "torch").symlink_to(HERE / "stand_in_torch" / "torch")
    (site / "torch-1.0.dist-info").mkdir()
    (site / "torch-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.0\n")
    text, status = bench(options._replace(style="json"), TextStyle(), lambda _: None)
    assert status == 0
    told = json.loads(text)
    jsonschema.Draft202012Validator(bench_schema()).validate(told)
    assert [one["path"] for one in told["comparisons"]] == ["cpu", TORCH, "gpu", "gpu", "gpu+cudnn"]
    assert told["comparisons"][1]["times_cpu"] == told["timings"][0]["epoch_s"] / told["timings"][1]["epoch_s"]
    (tmp_path / "saved.json").write_text(text)
    shown = {
        style: bench(Options(saved=str(tmp_path / "saved.json"), style=style), TextStyle(), lambda _: None)[0]
        for style in ("text", "markdown", "svg")
    }
    assert "  CPU, torch " in shown["text"]
    assert "torch 1.0+stand.in" in shown["text"]
    assert max(map(len, shown["text"].splitlines())) <= 80
    assert "| network | images | batch | CPU | CPU, torch | GPU, no pool |" in shown["markdown"]
    assert "| torch | 1.0+stand.in |" in shown["markdown"]
    assert 'class="torch"' in shown["svg"]


def test_as_many_steps_as_ours() -> None:
    for name in ("LEAST_STEPS", "MOST_STEPS", "LEAST_WARMUP", "MOST_WARMUP"):
        assert getattr(torch_program, name) == getattr(timing, name)


# With our own images and first weights: the loss, and the weights after one step.
COMPARED = """
import json, sys
import numpy, torch
from doctor.commands.bench import images, networks, torch_program
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.model import Model
for content in json.load(open(sys.argv[1])):
    network = networks.parse(json.loads(json.dumps(content)), content["name"])
    backend = HostBackend()
    ours, theirs = Model(network, backend, 2), torch_program.Model(torch, content["layers"])
    pixels, labels = images.Images(*images.made_up(network, 2), backend, 2).take()
    for one in ours.layers:
        if one.weights:
            theirs.weights[one.layer.name] = tuple(torch.tensor(w).requires_grad_() for w in one.weights)
    loss = theirs.loss(torch.tensor(pixels), torch.tensor(labels))
    optimiser = theirs.optimiser(content["optimiser"])
    loss.backward()
    optimiser.step()
    ours.train(pixels, labels)
    numpy.testing.assert_allclose(loss.item(), ours.loss(), rtol=1e-4, err_msg=network.name)
    for one in ours.layers:
        # Of the layer's largest weight: a bias that began at 0 is a sum in which nearly all cancels, and its last
        # digits are the processor's.
        largest = max((abs(mine).max() for mine in one.weights), default=0)
        for mine, other in zip(one.weights, theirs.weights.get(one.layer.name, ())):
            far = abs(mine - other.detach().numpy()).max()
            print(network.name, one.layer.name, far / max(largest, 1e-6))
"""


@pytest.mark.slow
def test_the_real_one_computes_the_same(tmp_path: Path) -> None:
    """Every network: the same loss and the same new weights, but for what is rounded; dropout is left out."""
    for requirement in TORCH_WHEELS:
        unpack(fetch(requirement), tmp_path / "site")
    every = [content_of(one) for one in (branched(), straight())]
    every += [content_of(load(name)) for name in ("caffenet", "cifar10", "googlenet", "mnist")]
    for content in every:
        for layer in content["layers"]:
            layer.update({"rate": 0.0} if layer["kind"] == "dropout" else {})
    (tmp_path / "networks").write_text(json.dumps(every))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path / "site"), str(HERE.parent.parent.parent)))}
    argv = [sys.executable, "-c", COMPARED, str(tmp_path / "networks")]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    far = {" ".join(words[:2]): float(words[2]) for words in map(str.split, done.stdout.splitlines())}
    assert len(far) > 80
    assert max(far.values()) < 5e-3, {name: one for name, one in far.items() if one >= 5e-3}
    torch = (sys.executable, str(tmp_path / "site" / "torch"))
    timed = Order((load("lenet"),), ("cpu",), steps=3, threads=1, torch=torch)
    (_, theirs) = measure.run(timed, host=LiveHost(environ)).timings
    assert theirs.path == TORCH
    assert theirs.losses[0] == pytest.approx(2.3, abs=0.2)
