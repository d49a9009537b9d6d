"""The parent: one child for a trial, watched and killed in time. No library of CUDA is ever loaded in this process."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

from compat.base.paths import import_path
from doctor.commands.verify.cudnn_trial.events import Reading
from doctor.commands.verify.cudnn_trial.outcome import Ending, Order, Outcome
from doctor.host.supervised_child import Ended, Program, watch_all

_START = (
    "import json, sys; told = json.load(open(sys.argv[1], encoding='utf-8')); sys.path[:] = told['path']; "
    "from doctor.commands.verify.cudnn_trial.worker import main; main(told['order'], told['events'])"
)
# Libraries that programs of all kinds share: a directory with one of them is not searched before the system's own.
_SHARED = ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libssl.so.3", "libcrypto.so.3")


def run(order: Order, environ: Mapping[str, str] | None = None) -> Outcome:
    """Try one copy of cuDNN on one GPU; never raises for what the copy does.

    `environ` is what the child's environment is made from, this process' own by default. Raises OSError where there is
    no room for its files; the child is killed before a KeyboardInterrupt goes on.
    """
    (found,) = run_together((order,), environ)
    return found


def run_together(orders: Sequence[Order], environ: Mapping[str, str] | None = None) -> tuple[Outcome, ...]:
    """The same of several trials at the same time, one process each."""
    readings = [Reading() for _ in orders]
    with tempfile.TemporaryDirectory(prefix="gpudoctor-", ignore_cleanup_errors=True) as folder:
        programs = [
            _program(_placed(order, rank, len(orders), folder), os.environ if environ is None else environ)
            for rank, order in enumerate(orders)
        ]
        hears = (reading.hear for reading in readings)
        all_ended = watch_all(tuple(zip(programs, hears, strict=True)))
    return tuple(map(_outcome, orders, readings, all_ended))


def _placed(order: Order, rank: int, together: int, folder: str) -> Order:
    """Which of them it is, and where they meet."""
    library = order.library and os.path.abspath(order.library)
    return order._replace(library=library, rank=rank, together=together, meeting=folder)


def _outcome(order: Order, reading: Reading, ended: Ended) -> Outcome:
    log = reading.log(ended.seconds)
    return Outcome(
        library=order.library and os.path.abspath(order.library),
        gpu=order.gpu,
        level=order.level,
        stages=log.stages,
        rows=log.rows,
        ending=Ending(kind=ended.kind, code=ended.code, stage=log.stage, doing=log.doing, stderr=ended.stderr),
    )


def _program(order: Order, environ: Mapping[str, str]) -> Program:
    """With the file that tells the child what to do; CuPy may be in a user's directory that -I leaves out."""
    folder = os.path.join(order.meeting, str(order.rank))
    os.mkdir(folder)
    events, told = os.path.join(folder, "events"), os.path.join(folder, "order")
    content = {"path": import_path(), "order": order._asdict(), "events": events}
    with open(told, "w", encoding="utf-8") as stream:
        json.dump(content, stream)
    return Program(
        argv=(sys.executable, "-I", "-B", "-c", _START, told),
        environ=child_environment(order, environ, folder),
        events=events,
        timeout_s=order.timeout_s,
        silence_s=order.stage_timeout_s,
    )


def child_environment(order: Order, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment of a trial: what is searched for libraries must stand in it before a process starts.

    This copy's directory comes first, then those of the order. A variable that would turn TF32 on or off is left out;
    CuPy keeps what it compiles in the trial's own directory.
    """
    name = "PATH" if sys.platform == "win32" else "LD_LIBRARY_PATH"
    searched = [one for one in (*_own_directories(order.library), *order.library_dirs, environ.get(name, "")) if one]
    made = {key: value for key, value in environ.items() if key not in {"NVIDIA_TF32_OVERRIDE", name}}
    made["CUPY_CACHE_DIR"] = os.path.join(folder, "cupy")
    return made | ({name: os.pathsep.join(searched)} if searched else {})


def _own_directories(library: str) -> list[str]:
    """Where the copy lies: where the path leads if only the main library is linked there.

    None where its neighbours would shadow the system's libraries, or where there is no copy.
    """
    if not library:
        return []
    directory = os.path.dirname(library)
    if not any(name.startswith(("libcudnn_", "cudnn_")) for name in _names_in(directory)):
        directory = os.path.dirname(os.path.realpath(library))
    return [] if any(os.path.exists(os.path.join(directory, name)) for name in _SHARED) else [directory]


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []  # the child will say that the library cannot be opened
