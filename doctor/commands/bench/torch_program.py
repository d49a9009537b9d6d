"""Train a network on torch's CPU, in the interpreter of the user's environment, for the row beside ours.

Started by `doctor.host.user_interpreter` as text. Plain Python of 3.6 and later, torch of 1.0 and later. Arguments: the
job (`doctor.commands.bench.job.write`) and the file for what it says: the events of `doctor.commands.bench.worker`, of
which "samples" is its own. Layers, first weights, optimisers and the way of timing are those of `layers`, `start`,
`optimisers` and `timing`; everything is computed by torch's public operators. The images are noise, as their content
costs no time.
"""

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # and annotations are texts: those of 3.6 know no tuple[...]
    from typing import Any, NoReturn

LEAST_STEPS, MOST_STEPS, LEAST_WARMUP, MOST_WARMUP = 3, 50, 2, 5  # as in timing.py
BATCHES = 4  # of different images, as in images.py


def say(event: str, value: "Any") -> None:
    """Write an event."""
    with open(sys.argv[2], "a") as stream:
        stream.write(json.dumps({"event": event, "what" if event == "doing" else "value": value}) + "\n")


class Model:
    """The layers of a network, whose weights are made when their inputs are first seen."""

    def __init__(self, torch: "Any", layers: "list[dict[str, Any]]") -> None:
        self.torch, self.layers = torch, layers
        self.weights = {}  # type: dict[str, tuple[Any, Any]]

    def loss(self, images: "Any", labels: "Any") -> "Any":
        """Of all heads together."""
        given, total = {"data": images}, 0.0  # type: dict[str, Any], Any
        for one in self.layers:
            inputs = [given[name] for name in one["inputs"]]
            if one["kind"].endswith("-loss"):
                total = total + one["weight"] * self.head(one["kind"], inputs[0], labels)
            else:
                given[one["name"]] = self.layer(one, *inputs)
        return total

    def head(self, kind: str, scores: "Any", labels: "Any") -> "Any":
        """The mean loss of one head."""
        functional = self.torch.nn.functional
        if kind == "softmax-loss":
            return functional.cross_entropy(scores, labels)
        return functional.binary_cross_entropy_with_logits(scores[:, 0], labels.to(scores.dtype))

    def layer(self, said: "dict[str, Any]", *inputs: "Any") -> "Any":
        """What a layer makes of its inputs; a kind that `layers` does not have raises KeyError."""
        functional, kind, x = self.torch.nn.functional, said["kind"], inputs[0]
        if kind == "conv":
            weights, biases = self.learned(said, (x.shape[1] // said["groups"], said["kernel"], said["kernel"]))
            return functional.conv2d(x, weights, biases, said["stride"], said["padding"], 1, said["groups"])
        if kind == "dense":
            return functional.linear(x, *self.learned(said, (x.shape[1],)))
        if kind == "pool":
            pool = functional.max_pool2d if said["method"] == "max" else functional.avg_pool2d
            sizes = {"kernel_size": said["kernel"], "stride": said["stride"], "padding": said["padding"]}
            return pool(x, ceil_mode=said["rounding"] == "ceil", **sizes)
        if kind == "lrn":
            return functional.local_response_norm(x, said["size"], said["alpha"], said["beta"], said["k"])
        if kind == "dropout":
            return functional.dropout(x, said["rate"])
        if kind == "concat":
            return self.torch.cat(inputs, 1)
        return {"relu": functional.relu, "flatten": lambda x: x.reshape(len(x), -1)}[kind](x)

    def learned(self, said: "dict[str, Any]", shape: "tuple[int, ...]") -> "tuple[Any, Any]":
        """Weights and biases of a layer, whose outputs each see inputs of that shape."""
        if said["name"] not in self.weights:
            outputs, ins, window = said["filters" if said["kind"] == "conv" else "units"], 1, 1
            for place, size in enumerate(shape):
                ins, window = ins * size, window * (size if place else 1)
            if said["init"] == "gaussian":
                weights = self.torch.randn(outputs, *shape) * said["std"]
            else:
                far = {"glorot": 6.0 / (ins + outputs * window), "xavier": 3.0 / ins, "torch": 1.0 / ins}[said["init"]]
                weights = (2 * self.torch.rand(outputs, *shape) - 1) * far**0.5
            biases = self.torch.full((outputs,), float(said["bias"]))
            self.weights[said["name"]] = weights.requires_grad_(), biases.requires_grad_()
        return self.weights[said["name"]]

    def optimiser(self, said: "dict[str, Any]") -> "Any":
        """Over all weights, biases apart."""
        weights, biases = ([one[place] for one in self.weights.values()] for place in (0, 1))
        optim, kind, rate = self.torch.optim, said["kind"], said["rate"]
        if kind == "sgd":
            decay = said.get("weight_decay", 0.0)
            of_biases = {"lr": rate * said.get("bias_rate", 1.0), "weight_decay": decay * said.get("bias_decay", 1.0)}
            groups = [{"params": weights}, dict(of_biases, params=biases)]
            return optim.SGD(groups, lr=rate, momentum=said.get("momentum", 0.0), weight_decay=decay)
        if kind == "rmsprop":
            return optim.RMSprop(weights + biases, lr=rate, alpha=said["decay"], eps=said["epsilon"])
        if kind == "adadelta":
            return optim.Adadelta(weights + biases, lr=rate, rho=said["decay"], eps=said["epsilon"])
        return optim.Adam(weights + biases, lr=rate, betas=(said["beta_1"], said["beta_2"]), eps=said["epsilon"])


class Training:
    """Steps of one network, each of which is timed."""

    def __init__(self, torch: "Any", network: "dict[str, Any]", batch: int) -> None:
        torch.manual_seed(1)
        self.batch, self.losses = batch, []  # type: int, list[float]
        self.images = torch.randint(256, (BATCHES * batch, *network["shape"]), dtype=torch.uint8)
        self.labels = torch.randint(network["classes"], (BATCHES * batch,))
        self.model = Model(torch, network["layers"])
        self.model.loss(*self.taken())  # makes the weights
        self.optimiser = self.model.optimiser(network["optimiser"])

    def taken(self) -> "tuple[Any, Any]":
        """The next images, with their labels."""
        first = len(self.losses) % BATCHES * self.batch
        part = slice(first, first + self.batch)
        return self.images[part].float().mul_(1 / 255).sub_(0.5), self.labels[part]

    def step(self) -> float:
        """One step's seconds."""
        started = time.perf_counter()
        images, labels = self.taken()
        self.optimiser.zero_grad()
        loss = self.model.loss(images, labels)
        loss.backward()
        self.optimiser.step()
        taken = time.perf_counter() - started
        self.losses.append(loss.item())
        return taken


def train(job: "dict[str, Any]") -> None:
    """Warm up, and time steps."""
    say("doing", "loading")
    import torch

    say("machine", {"torch": str(torch.__version__)})
    say("doing", "building the network")
    order, network = job["order"], job["network"]
    training = Training(torch, network, order["batch"] or network["batch"])
    say("doing", "warming up")
    warmup = [training.step() for _ in range(LEAST_WARMUP)]
    while len(warmup) < MOST_WARMUP and sum(warmup[1:]) + warmup[-1] < order["seconds"] / 10:
        warmup.append(training.step())
    fitting = int(min(MOST_STEPS, order["seconds"] / max(warmup[-1], 1e-9)))
    wanted, seconds = order["steps"] or max(LEAST_STEPS, fitting), []  # type: int, list[float]
    while len(seconds) < wanted:
        say("doing", f"step {len(seconds) + 1} of {wanted}")
        seconds.append(training.step())
    losses = training.losses[0], training.losses[-1]
    say("samples", {"warmup_steps": len(warmup), "seconds": seconds, "losses": losses})


def main() -> "NoReturn":
    """All of it; the process ends at once, as exit handlers can hang."""
    with open(sys.argv[1]) as stream:
        job = json.load(stream)
    try:
        train(job)
    except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit included
        words = str(error).strip().splitlines() or [""]
        say("lack", {"needs": "", "why": f"{type(error).__name__}: {words[0]}"})
    say("end", None)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
