"""What a child is told to measure, as a file of JSON."""

from __future__ import annotations

import json
from typing import Any

from compat.base.paths import import_path
from compat.base.record import NamedTuple
from doctor.commands.bench import networks
from doctor.commands.bench.outcome import TORCH, Network, Order


class Job(NamedTuple):
    """One measurement: one child's work."""

    network: Network
    path: str  # of outcome.PATHS, or TORCH
    pool: bool | None
    is_table: bool  # algorithms x workspaces, and not steps
    order: Order  # its networks and paths mean nothing here

    @property
    def what(self) -> str:
        """As a Lack names it."""
        return "choices" if self.is_table else self.path


def jobs(order: Order) -> tuple[Job, ...]:
    """Everything that an order comes to, network by network."""
    found = []
    bare = order._replace(networks=(), paths=())
    without_cudnn = bare._replace(library="", library_dirs=())
    for network in order.networks:
        for path in order.paths:
            pools = {"cpu": (None,), "gpu": order.pools, "gpu+cudnn": (True,)}[path]
            found += [Job(network=network, path=path, pool=pool, is_table=False, order=bare) for pool in pools]
            if path == "cpu" and order.torch:
                found.append(Job(network=network, path=TORCH, pool=None, is_table=False, order=without_cudnn))
        if order.has_choices and "gpu+cudnn" in order.paths:
            found.append(Job(network=network, path="gpu+cudnn", pool=True, is_table=True, order=bare))
    return tuple(found)


def write(job: Job, path: str) -> None:
    """Into a file, with where to import from: packages may lie where only this process knows."""
    content: dict[str, Any] = job._asdict()
    content["import_from"] = import_path()
    content["network"] = networks.content_of(job.network)
    content["order"] = {**job.order._asdict(), "data": dict(job.order.data)}
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(content, stream)


def read(path: str) -> Job:
    """Out of it."""
    with open(path, encoding="utf-8") as stream:
        content = json.load(stream)
    network = networks.parse(content["network"], content["network"]["name"])
    return Job(
        network=network,
        path=content["path"],
        pool=content["pool"],
        is_table=content["is_table"],
        order=Order(**content["order"]),
    )
