"""Copies of cuDNN and predictions that the tests of several rules share."""

from __future__ import annotations

from typing import Any

from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework, Variable
from doctor.model.facts.loader import FoundBy, Outcome, SearchDir, Way
from tests.machine import (
    CUDNN_9_PARTS,
    configuration,
    cudnn_copy,
    cudnn_part,
    environment,
    framework,
    loader,
    machine,
    prediction,
    seen,
    unseen,
)

OPT = "/opt/cudnn/lib"
CUDNN_8_PARTS = (
    "libcudnn.so.8",
    "libcudnn_adv_infer.so.8",
    "libcudnn_adv_train.so.8",
    "libcudnn_cnn_infer.so.8",
    "libcudnn_cnn_train.so.8",
    "libcudnn_ops_infer.so.8",
    "libcudnn_ops_train.so.8",
)
BY_VARIABLE = Way(FoundBy.LIBRARY_PATH, "libtorch_cuda.so", OPT, OPT, "~/.bashrc, line 118")


def parts(version: str, directory: str, names: tuple[str, ...] | None = None) -> Any:
    """The libraries of a release in a directory."""
    usual = CUDNN_8_PARTS if version.startswith("8") else CUDNN_9_PARTS
    return seen(tuple(cudnn_part(name, version, directory) for name in names or usual))


def other(release: str = "9.5.1", directory: str = OPT, rank: int | None = 0, /, **changes: Any) -> CudnnCopy:
    """An unpacked archive that no package owns, first on the loader's path."""
    return cudnn_copy(
        release,
        directory,
        origin="directory",
        owner="",
        environment="",
        parts=parts(release, directory),
        header_version=unseen("no header"),
        missing=unseen("no package lists these files"),
        search_rank=unseen("not searched") if rank is None else seen(rank),
    )._replace(**changes)


def path_variable(*directories: str, **changes: Any) -> dict[str, Any]:
    """The facts of LD_LIBRARY_PATH with these directories, set in ~/.bashrc."""
    entries = tuple(SearchDir(one, FoundBy.LIBRARY_PATH, True, set_in="~/.bashrc, line 118") for one in directories)
    default = SearchDir("/usr/lib/x86_64-linux-gnu", FoundBy.DEFAULT, True)
    variable = Variable("LD_LIBRARY_PATH", ":".join(directories), "~/.bashrc, line 118")
    return {
        "loader": loader(search=seen((*entries, default)), **changes),
        "configuration": configuration(variables=seen((variable,))),
    }


def shadowed(version: str = "9.5.1", **changes: Any) -> Facts:
    """torch 2.9.1 with its own 9.10.2, and another release in LD_LIBRARY_PATH that it loads instead."""
    soname = "libcudnn.so.9"
    told = prediction(f"{OPT}/{soname}", way=BY_VARIABLE)
    facts = path_variable(OPT, predictions=seen((told,)))
    return machine(cudnn=seen((cudnn_copy(), other(version))), **facts)._replace(**changes)


def loading(copy: CudnnCopy, *more: CudnnCopy, torch: Framework | None = None, **changes: Any) -> Facts:
    """torch loads the main library of this copy; the other copies are there too."""
    name = copy.parts.get()[0].path if copy.parts.get() else f"{copy.path}/libcudnn.so.9"
    told = prediction(name, intended=unseen("pins none"))
    return machine(
        cudnn=seen((copy, *more)),
        loader=loader(predictions=seen((told,))),
        environments=seen((environment(torch or framework()),)),
    )._replace(**changes)


def nothing_found(torch: Framework, *copies: CudnnCopy, missing: bool = True, **changes: Any) -> Facts:
    """The whole search found no cuDNN for this framework."""
    outcome = Outcome.MISSING if missing else Outcome.UNREAD
    why = unseen("no such file on the path")
    told = prediction(outcome=outcome, way=None)._replace(path=why, intended=unseen("no wheel"))
    told = told._replace(asker=torch.package)
    return machine(
        cudnn=seen(copies),
        loader=loader(predictions=seen((told,))),
        environments=seen((environment(torch),)),
    )._replace(**changes)
