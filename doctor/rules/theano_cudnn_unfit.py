"""The cuDNN that Theano compiles and links with does not fit Theano, or its header is of another release.

Where it looks: dnn.include_path and dnn.library_path, else dnn.base_path, else the root of CUDA (cuda.root, CUDA_ROOT,
the nvcc on PATH), else the compiler's own directories. Source: theano/configdefaults.py at the tags rel-0.8.2,
rel-0.9.0 and rel-1.0.5 (default_cuda_root, default_dnn_base_path).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compat.matrix import Matrix, Uncovered, accepts
from compat.need import Advice, InstallCudnn, Need
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework, Setting
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule, Subjects
from doctor.rules.shared.subjects import FRAMEWORKS
from doctor.rules.shared.theano import can_be_set, setting_need

_GPU_DEVICES = ("gpu", "cuda")
_ROOTS = ("CUDA_ROOT", "nvcc on PATH")  # the first that leads somewhere


def _theanos(facts: Facts) -> Iterator[Framework]:
    return (one for one in FRAMEWORKS.of(facts) if one.package.startswith("theano"))


def check(theano: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """The copy in the directory that the settings name, else in the toolkit's, else in the system's."""
    said = {one.name: one for one in facts.configuration.settings.get() if one.program == "theano" and one.value}
    _need_use(said)
    folder = _folder(said, "library_path", ("lib64", "lib"), facts)
    copy = _copy_in(folder, facts)
    if copy is None:
        if "dnn.enabled" in said and said["dnn.enabled"].value == "True":
            text = f"Install cuDNN {_accepted(theano, matrix)} into {folder[0] if folder else 'the CUDA toolkit'}."
            return bad(f"{theano.label} must use cuDNN (dnn.enabled = True), but finds none", Advice(text))
        raise NotApplicable("Theano finds no cuDNN and continues without it")
    version, accepted = copy.version.get(), _accepted(theano, matrix)
    needs = _needs(accepted, copy, said["device"], facts)
    folders = _folder(said, "include_path", ("include",), facts)
    # The release of the header that the compiler takes: in the directory that is named, else the copy's own.
    named = [one for one in facts.cudnn.get() if value_or(one.header_path, "").rpartition("/")[0] in folders]
    header = next((one.header_version for one in (*named, copy) if isinstance(one.header_version, Seen)), None)
    if isinstance(header, Seen) and header.value[:2] != version[:2]:
        return _bad(
            theano, copy, (f"is compiled with the header of {header.value}: this causes an error"), accepted, needs
        )
    if accepts(accepted, version):
        return ok(f"{theano.label} works with {copy.label}")
    newer = _is_newer(version, accepted)
    what = f"is {'newer' if newer else 'older'} than {theano.label} supports ({accepted})"
    found = _bad(theano, copy, what, accepted, needs)
    return found._replace(severity=Severity.WARNING if newer else Severity.ERROR)


def _need_use(said: Mapping[str, Setting]) -> None:
    """Raise NotApplicable where Theano asks for no cuDNN."""
    device, enabled = said.get("device"), said.get("dnn.enabled")
    if not device or not device.value.startswith(_GPU_DEVICES):
        raise NotApplicable("Theano's settings have no GPU")
    if enabled and enabled.value == "False":
        raise NotApplicable("dnn.enabled = False: Theano uses no cuDNN")


def _accepted(theano: Framework, matrix: Matrix) -> str:
    """What this release takes, by the matrix; raises Uncovered."""
    rows = matrix.framework_rows("theano", theano.version.partition("+")[0])
    found = next((row.cudnn_accepts for row in rows if row.cudnn_accepts), "")
    if not found:
        raise Uncovered(f"the cuDNN of theano {theano.version}")
    return found


def _folder(said: Mapping[str, Setting], option: str, below: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The directories that an option, or a root, names; by the paths that toolkits really have."""
    named, base = said.get(f"dnn.{option}"), said.get("dnn.base_path") or said.get("cuda.root")
    if named:
        return (_real(named.value, facts),)
    root = _real(base.value, facts) if base else _root(facts)
    return tuple(f"{root}/{name}" for name in below) if root else ()


def _root(facts: Facts) -> str:
    names = {one.name: value_or(one.leads_to, "") for one in value_or(facts.toolkit.names, ())}
    return next((names[name] for name in _ROOTS if names.get(name)), "")


def _real(path: str, facts: Facts) -> str:
    path = path.rstrip("/")
    for one in value_or(facts.toolkit.toolkits, ()):
        for link in one.links:
            if path == link or path.startswith(f"{link}/"):
                return f"{one.path}{path[len(link) :]}"
    return path


def _copy_in(folders: tuple[str, ...], facts: Facts) -> CudnnCopy | None:
    """The copy with libraries in one of these, else the system's; raises UnseenError."""
    copies = [one for one in facts.cudnn.get() if value_or(one.parts, ())]
    own = next((one for folder in folders for one in copies if one.path == folder), None)
    return own or next((one for one in copies if one.origin == "distribution"), None)


def _is_newer(version: CudnnVersion, accepted: str) -> bool:
    """Whether it is only the upper bound that refuses it."""
    floor = ",".join(one for one in accepted.split(",") if one.startswith(">"))
    return bool(floor) and accepts(floor, version)


def _needs(accepted: str, copy: CudnnCopy, device: Setting, facts: Facts) -> tuple[Need, ...]:
    """The right one in its place in a toolkit; Theano without cuDNN; both as text where neither can be done."""
    around = (one for one in value_or(facts.toolkit.toolkits, ()) if copy.path.startswith(f"{one.path}/"))
    cuda = next((value_or(one.cuda, None) for one in around), None)
    major = cuda.major if cuda else value_or(copy.cuda_major, 0)
    right = (InstallCudnn(accepted, cuda=str(cuda.major)),) if cuda else ()
    if can_be_set(facts):
        return (*right, setting_need(device, "dnn", "enabled", "False", facts))
    for_cuda = f" for CUDA {major}" if major else ""
    text = f"Install cuDNN {accepted}{for_cuda} instead of it (header and library), or set dnn.enabled = False."
    return (*right, Advice(text))


def _bad(theano: Framework, copy: CudnnCopy, what: str, accepted: str, needs: tuple[Need, ...]) -> Answer:
    return bad(
        f"{copy.label}, which {theano.label} uses, {what}",
        *needs,
        evidence=(
            Evidence(f"cuDNN {copy.version.get()}", file=copy.path),
            Evidence(accepted, label="matrix, theano.builds"),
        ),
    )


RULE = Rule(Subjects("Theano installation", _theanos), check, blocks_verdict=False)
