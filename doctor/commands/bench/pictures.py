"""Real pictures to train on: `train/<class>/*.jpg`, read by Pillow in a child, sized for the network."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from compat.base.process import Launch, run_process
from compat.base.record import NamedTuple
from doctor.commands.bench.outcome import Network
from doctor.host import BadRequest

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures_worker.py")
_BATCHES = 64  # more than a run trains on, warm-up included: reading all of a large set would teach nothing
_BYTES_AT_MOST = 1 << 30
_TIMEOUT_S = 900


class Pictures(NamedTuple):
    """What was read for one network."""

    folder: str  # with x.npy (uint8, N,C,H,W) and y.npy (int64, N)
    classes: tuple[str, ...]  # their order is that of the labels
    found: int  # files that are called pictures
    read: int
    bad: int  # of those that were tried
    skipped: tuple[tuple[str, str], ...]  # the first of the bad ones, and why

    @property
    def usable(self) -> int:
        """How many images an epoch over all of them would have, as far as it is known."""
        return self.found - self.bad


def pictures_for(network: Network, directory: str, batch: int, into: str) -> Pictures:
    """Read what a network is to be trained on; raises BadRequest for what is not there or not fit for it."""
    folder = os.path.join(directory, "train")
    if not os.path.isdir(folder):
        raise BadRequest(f"--data {directory}: there is no directory {folder} with a directory a class in it")
    channels, height, width = network.shape
    at_most = min(_BATCHES * batch, max(batch, _BYTES_AT_MOST // (channels * height * width)))
    order = {"directory": folder, "shape": network.shape, "at_most": at_most, "into": into}
    answer = _ask(order, directory)
    if "missing" in answer:
        raise BadRequest(f"--data needs {answer['missing']}, which is not installed: install 'gpudoctor[bench]'")
    skipped = tuple((str(name), str(why)) for name, why in answer["skipped"])
    counts = (answer["found"], answer["read"], answer["bad"])
    return _fit(network, directory, batch, Pictures(into, tuple(answer["classes"]), *counts, skipped))


def _ask(order: dict[str, Any], directory: str) -> dict[str, Any]:
    given = json.dumps(order).encode()
    try:
        done = run_process(Launch((sys.executable, _WORKER), given=given, ends_with_us=True), _TIMEOUT_S)
        answer: dict[str, Any] = json.loads(done.stdout)
    except OSError as error:
        why = str(error)
    except ValueError:
        is_late = done.status is None
        why = f"not done after {_TIMEOUT_S} s" if is_late else "the process that read them ended without an answer"
    else:
        return answer
    raise BadRequest(f"--data {directory}: the pictures could not be read: {why}")


def _fit(network: Network, directory: str, batch: int, pictures: Pictures) -> Pictures:
    if not pictures.classes:
        raise BadRequest(f"--data {directory}: train has no directory, so there is no class")
    if len(pictures.classes) > network.classes:
        raise BadRequest(
            f"--data {directory}: {len(pictures.classes)} classes are more than {network.name} can tell apart, "
            f"{network.classes}"
        )
    if not pictures.read:
        first = f"; the first: {': '.join(pictures.skipped[0])}" if pictures.skipped else ""
        raise BadRequest(f"--data {directory}: of {pictures.found} pictures none could be read{first}")
    if pictures.read < batch:
        raise BadRequest(
            f"--data {directory}: {pictures.read} pictures are too few for a step of {network.name}, which takes "
            f"{batch}; --batch says otherwise"
        )
    return pictures


def notes_on(network: Network, pictures: Pictures) -> tuple[str, ...]:
    """What a reader must know of the data: how many were read, and which were not."""
    notes = [f"{network.name}: {pictures.read:,} of {pictures.found:,} pictures, {len(pictures.classes)} classes"]
    if pictures.bad:
        named = ", ".join(f"{name} ({why})" for name, why in pictures.skipped[:3])
        more = " and others" if pictures.bad > 3 else ""
        notes.append(f"{network.name}: {pictures.bad:,} pictures could not be read and were passed over: {named}{more}")
    return tuple(notes)
