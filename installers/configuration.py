"""Plans that configure a framework or the loader; what the files hold now is told to them, never read here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from installers.effect import SettingWritten, VariableSet
from installers.plan import Plan
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.edit_text import EditText
from installers.steps.set_variable import SetVariable
from installers.steps.write_file import WriteFile

# What each kind of back end calls things. Sources: Theano/Theano:theano/configdefaults.py and doc/library/config.txt at
# rel-0.8.2, rel-0.9.0 and rel-1.0.5; theano/sandbox/cuda/__init__.py@rel-0.8.2, theano/gpuarray/__init__.py@rel-1.0.5.
_POOL = {"gpu": ("lib", "cnmem"), "cuda": ("gpuarray", "preallocate")}
_INCLUDING = ("global", "optimizer_including")  # tags with ":" between them
_CUDNN = {"gpu": ("global", "optimizer_including", "cudnn"), "cuda": ("dnn", "enabled", "True")}
# With 1, and with a share above 0.95, either back end takes 95%: theano/sandbox/cuda/cuda_ndarray.cu@rel-0.8.2,
# CudaNdarray_gpu_init (config.txt there says .985), and theano/gpuarray/__init__.py@rel-1.0.5, init_dev. Above 1 both
# count in MB. Without a pool the old back end asks the driver for each piece; gpuarray keeps what is freed (its
# negative values turn that off).
_POOL_MOST = 0.95
_PATHS = {
    "include_path": "directory of cudnn.h",
    "library_path": "directory for the linker",
    "base_path": "directory of cuDNN, with include, lib64 (on Windows lib\\x64) and bin",
    "bin_path": "directory that cuDNN is loaded from",
}
_NO_POOL = {
    "gpu": "no pool: each block of memory comes from the driver and returns to it",
    "cuda": "no memory is reserved at the start; freed memory is kept for reuse",
}
_GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"


class TheanoOrder(NamedTuple):
    """What .theanorc must say; "" leaves a setting as it is."""

    path: str
    device: str  # "gpu", "gpu0" (the back end up to 0.8), "cuda", "cuda0" (gpuarray), "cpu"
    back_end: str  # "gpu" or "cuda"
    pool: str = ""  # share of the memory to reserve at the start: "0" none, "1" all
    cudnn: bool = True
    flags: str = ""  # for nvcc, added to those that are there
    paths: tuple[tuple[str, str], ...] = ()  # options of [dnn] and their directories


class Line(NamedTuple):
    """One setting that stands in the file."""

    section: str
    key: str
    value: str


def theano_plan(order: TheanoOrder, lines: tuple[Line, ...]) -> Plan:
    """The settings of each section that is concerned, in one edit each; and what is there twice, made one line."""
    wanted = dict(_wanted(order))
    held = _values(lines)
    for where, values in held.items():
        if where == ("nvcc", "flags") and (len(values) > 1 or order.flags):
            # All words in their order, each once; of two `-arch=` the later one, since nvcc takes one only.
            words = list(dict.fromkeys(word for value in (*values, order.flags) for word in value.split()))
            arches = [word for word in words if word.startswith("-arch=")]
            wanted[where] = " ".join(word for word in words if word not in arches[:-1]), _why_flags(values)
        elif where == _INCLUDING and where in wanted:
            wanted[where] = ":".join(dict.fromkeys((*values[-1].split(":"), "cudnn"))), wanted[where][1]
        elif len(values) > 1 and where not in wanted:
            wanted[where] = values[-1], f"appears {len(values)} times; the last one counts and is kept"
    if order.flags:
        wanted.setdefault(("nvcc", "flags"), (order.flags, "for Theano's compiler"))
    edits = [_edit(order.path, section, wanted, held) for section in dict.fromkeys(section for section, _ in wanted)]
    check = Check("Theano's settings must be well formed and agree", ("theanorc-misconfigured",))
    settings = tuple(
        SettingWritten(program="theano", path=one.path, section=one.section, name=key, value=value)
        for one in edits
        for key, value in one.settings
    )
    return Plan(f"configure Theano in {order.path}", (*edits, check), settings)


def _wanted(order: TheanoOrder) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Section and key: value, and why."""
    yield ("global", "device"), (order.device, "the device that Theano uses")
    yield (
        ("global", "floatX"),
        ("float32", "the default is float64: slow on most GPUs, and the old back end keeps it on the CPU"),
    )
    if order.device == "cpu":
        return
    if order.cudnn:
        section, key, value = _CUDNN[order.back_end]
        yield (section, key), (value, "use cuDNN; if it fails, Theano stops with a message")
    if order.pool:
        yield _POOL[order.back_end], (order.pool, _pool(float(order.pool), order.back_end))
    for key, value in order.paths:
        yield ("dnn", key), (value, _PATHS[key])


def _pool(share: float, back_end: str) -> str:
    """What a share of the memory means."""
    if not share:
        return _NO_POOL[back_end]
    most = ", Theano's maximum" if share >= _POOL_MOST else ""
    return f"{min(share, _POOL_MOST):.0%} of the memory is reserved at the start{most}"


def _values(lines: tuple[Line, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in lines:
        where = (line.section, line.key)
        found[where] = (*found.get(where, ()), line.value)
    return found


def _why_flags(values: tuple[str, ...]) -> str:
    if len(values) > 1:
        return f"appears {len(values)} times: joined (Python 3 refuses it, Python 2 uses the last one)"
    return "added to the existing flags"


def _edit(
    path: str,
    section: str,
    wanted: dict[tuple[str, str], tuple[str, str]],
    held: dict[tuple[str, str], tuple[str, ...]],
) -> EditText:
    mine = {key: told for (where, key), told in wanted.items() if where == section}
    once = tuple(key for key in mine if len(held.get((section, key), ())) > 1)
    why = "; ".join(f"{key}: {told[1]}" for key, told in mine.items())
    return EditText(
        path=path,
        section=section,
        settings=tuple((key, told[0]) for key, told in mine.items()),
        lines=(),
        why=why,
        once=once,
    )


def keras_plan(path: str, text: str, back_end: str) -> Plan:
    """The back end in keras.json; its other keys and its form stay. Raises ValueError for what is no JSON object."""
    content = json.loads(text) if text.strip() else {}
    if not isinstance(content, dict):
        raise ValueError("the file is not a JSON object")  # noqa: TRY004 - of what is read, not of what is passed
    wanted = {**content, "backend": back_end}
    new, changes = re.subn(r'("backend"\s*:\s*)"[^"\\]*"', lambda match: f"{match[1]}{json.dumps(back_end)}", text)
    if changes != 1 or json.loads(new) != wanted:
        new = json.dumps(wanted, indent=4, ensure_ascii=False)
    why = f"Keras uses {back_end}; its other settings stay"
    write = WriteFile(path, tuple(new.splitlines()), why)
    return Plan(
        f"let Keras use {back_end}",
        (write,),
        (SettingWritten(program="keras", path=path, section="", name="backend", value=back_end),),
    )


def keras_unread(path: str, back_end: str) -> Plan:
    """The same where nobody has read the file: what stands in it must not be lost."""
    text = f'add this to {path}\n{{"backend": "{back_end}"}}'
    effect = SettingWritten(program="keras", path=path, section="", name="backend", value=back_end)
    return Plan(f"let Keras use {back_end}", (ByHand(text, f"Keras uses {back_end}"),), (effect,))


def growth_plan(script: str) -> Plan:
    """TensorFlow takes memory as it needs it; `script` is what the user's shell reads, "" where there is none.

    Source: tensorflow.org, guide "Use a GPU", "Limiting GPU memory growth".
    """
    why = "by default TensorFlow reserves almost all GPU memory"
    steps: list[Step] = [SetVariable(_GROWTH, "true", f"{why}; for this shell:")]
    if script:
        steps.insert(
            0,
            EditText(
                path=script, section="", settings=(), lines=(f"export {_GROWTH}=true",), why=f"{why}; for new shells:"
            ),
        )
    return Plan("let TensorFlow reserve GPU memory as needed", tuple(steps), (VariableSet(_GROWTH, "true", script),))


def overridden(name: str, value: str, file: str) -> ByHand:
    """A variable of the environment that wins over the file."""
    return ByHand(f"unset this variable: {name}={value}", f"it overrides {file}")
