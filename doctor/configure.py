"""What `gpudoctor install config` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from compat.matrix import Matrix
from compat.need import Need
from compat.specifier import accepts
from doctor.choice import one_of
from doctor.facts import Facts
from doctor.facts.environment import Setting
from doctor.facts.seen import UnseenError, value_or
from doctor.host import Host, HostError, Missing
from doctor.install import BadOrder, Prepared, host_with
from doctor.prescribe import target_of
from doctor.subjects import FRAMEWORKS
from installers.configuration import (
    LOADER_DIRECTORY,
    Line,
    TheanoOrder,
    growth_plan,
    keras_plan,
    loader_plan,
    overridden,
    theano_plan,
)
from installers.plan import ByHand, Check, EditText, Plan, Step

# Keras 1 to 3: keras/backend/__init__.py and keras/src/backend/__init__.py.
KERAS_BACK_ENDS = ("cntk", "jax", "openvino", "tensorflow", "theano", "torch")
# theano/configdefaults.py, DeviceParam: rel-0.8.2 and rel-0.9.0 take gpu*, rel-1.0.5 refuses it. In 0.8 the gpuarray
# back end is a preview, from 0.9 on the one to use (NEWS.txt at rel-0.9.0).
_GPUARRAY_IS_A_PREVIEW = "<0.9"
_OLD_BACK_END_IS_GONE = ">=0.10.0b1"
_SETTINGS_BYTES = 256 << 10
_DEVICE = re.compile(r"(?P<kind>gpu|cuda|)(?P<number>\d*)|cpu")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SLOW_MODES = {
    "DebugMode": "it computes every value several times over, to find faults",
    "DEBUG_MODE": "it computes every value several times over, to find faults",
    "FAST_COMPILE": "it leaves out most optimisations",
    "NanGuardMode": "it looks at every value for NaN",
}
_IDLE_POOL = ByHand(
    "take cnmem under [lib] out of the file",
    "it does nothing with this back end: --cnmem SHARE sets [gpuarray] preallocate in its place",
)


class TheanoAsked(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    device: str = ""
    cnmem: str = ""
    version: str = ""
    flags: str = ""
    cudnn_home: str = ""
    cudnn: bool = True


def theano(asked: TheanoAsked, matrix: Matrix) -> Prepared:
    """The plan for .theanorc of this user; raises BadOrder."""
    return theano_of(asked, matrix, *_machine())


def theano_of(asked: TheanoAsked, matrix: Matrix, host: Host, facts: Facts) -> Prepared:
    """The same for a machine that was looked at."""
    windows = host.os_family == "windows"
    path, settings = _theano_file(host, facts)
    version = asked.version or _installed("theano", facts)
    back_end = _back_end(version, asked.device, matrix)
    held = {one.name: one.value for one in settings}
    order = TheanoOrder(
        path=path,
        device=_device(asked.device, held.get("device", ""), back_end),
        back_end=back_end,
        pool=_pool(asked.cnmem),
        cudnn=asked.cudnn,
        flags=_flags(asked.flags, version),
        paths=_cudnn_paths(asked.cudnn_home, version, frozenset(held), windows=windows),
    )
    plan = theano_plan(order, tuple(map(_line, filter(_is_option, settings))))
    idle = "lib.cnmem" in held and back_end == "cuda"
    more = (*((_IDLE_POOL,) if idle else ()), *_by_hand(settings, path), *_flags_that_win(plan, facts))
    more = (*more, *_modes(facts))
    return _prepared(facts, plan, more)


def keras(back_end: str) -> Prepared:
    """The plan for keras.json of this user; raises NoSuchName, BadOrder."""
    one_of("back end", back_end, KERAS_BACK_ENDS)
    host, facts = _machine()
    folder = host.environ.get("KERAS_HOME") or f"{_home(host)}/.keras"
    path = f"{folder}/keras.json"
    try:
        text = _text_of(host, path)
        if "\ufffd" in text:  # `read_text` puts it in place of what is no UTF-8: that would be lost
            raise BadOrder(f"{path} is no UTF-8 text and is left as it is")
        plan = keras_plan(path, text, back_end)
    except (ValueError, RecursionError) as error:
        raise BadOrder(f"{path} is no valid JSON and is left as it is: {error}") from error
    own = host.environ.get("KERAS_BACKEND", "")
    return _prepared(facts, plan, (overridden("KERAS_BACKEND", own, path),) if own not in {"", back_end} else ())


def tensorflow() -> Prepared:
    """The plan for this user's shell; on Windows the variable alone."""
    host, facts = _machine()
    shell = host.environ.get("SHELL", "").rpartition("/")[2]
    script = {"zsh": ".zshrc", "bash": ".bashrc"}.get(shell, ".profile")
    return _prepared(facts, growth_plan("" if host.os_family == "windows" else f"{_home(host)}/{script}"))


def loader(directory: str, name: str, below: str = LOADER_DIRECTORY) -> Prepared:
    """The plan for the loader of this machine; raises BadOrder."""
    host, facts = _machine()
    if host.os_family != "linux":
        raise BadOrder("only Linux has directories of a loader: elsewhere, add the directory to PATH")
    if not _NAME.fullmatch(name):
        raise BadOrder(f"--name {name!r} is no name of a file: letters, digits, '.', '_' and '-'")
    directory = directory.rstrip("/") or "/"
    if not directory.startswith("/") or set(directory) & set(" \t\r\n#,:="):
        raise BadOrder(f"{directory!r} is no directory that ldconfig takes: whole from / on, without blanks")
    if not host.is_dir(directory):
        raise BadOrder(f"{directory} is not there")
    return _prepared(facts, loader_plan(directory, name, below))


def _machine() -> tuple[Host, Facts]:
    from doctor.probes import Request, look  # late: bad input must not wait for the probes

    host = host_with("")
    return host, look(host, Request())


def _prepared(facts: Facts, plan: Plan, more: tuple[Step, ...] = ()) -> Prepared:
    target = target_of(facts, Need("configuration", "", ""))
    before = plan.steps[:-1] if isinstance(plan.steps[-1], Check) else plan.steps
    return Prepared(plan._replace(steps=(*before, *more, *plan.steps[len(before) :])), target, facts)


def _home(host: Host) -> str:
    home = host.environ.get("HOME") or host.environ.get("USERPROFILE") or os.path.expanduser("~")
    return home.replace("\\", "/").rstrip("/")


def _text_of(host: Host, path: str) -> str:
    """ "" where there is no file yet; raises BadOrder."""
    try:
        return host.read_text(path, _SETTINGS_BYTES)
    except Missing:
        return ""
    except HostError as error:
        raise BadOrder(str(error)) from error


# --- Theano -------------------------------------------------------------------------------------------------------


def _theano_file(host: Host, facts: Facts) -> tuple[str, tuple[Setting, ...]]:
    """The file that Theano reads last, whose settings win; and what it holds."""
    windows = host.os_family == "windows"
    name = ".theanorc.txt" if windows else ".theanorc"
    listed = [one for one in host.environ.get("THEANORC", "").split(";" if windows else ":") if one]
    shown = listed[-1].replace("\\", "/") if listed else f"~/{name}"
    path = f"{_home(host)}{shown[1:]}" if shown.startswith("~/") else shown
    _text_of(host, path)  # what is there and cannot be read must not look like nothing
    settings = value_or(facts.configuration.settings, ())
    return path, tuple(one for one in settings if one.source.startswith(f"{shown}, line "))


def _is_option(setting: Setting) -> bool:
    return not setting.name.startswith("[") and setting.problem not in {
        "stands above the first [section]",
        "has no value",
    }


def _line(setting: Setting) -> Line:
    section, _, key = setting.name.rpartition(".")
    if setting.name.startswith("global."):  # an option with a point in its name, under [global]
        section, key = "global", setting.name.removeprefix("global.")
    return Line(section or "global", key, setting.value)


def _by_hand(settings: tuple[Setting, ...], path: str) -> tuple[ByHand, ...]:
    """What no edit of single lines mends."""
    faults = [one for one in settings if not _is_option(one)]
    return tuple(ByHand(f"correct {path}: {one.name}: {one.problem}", one.source) for one in faults)


def _flags_that_win(plan: Plan, facts: Facts) -> tuple[ByHand, ...]:
    """THEANO_FLAGS wins over every file."""
    mine = {
        key if step.section == "global" else f"{step.section}.{key}": value
        for step in plan.steps
        if isinstance(step, EditText)
        for key, value in step.settings
    }
    flags = [one for one in value_or(facts.configuration.settings, ()) if one.source == "THEANO_FLAGS"]
    return tuple(
        ByHand(f"take {one.name}={one.value} out of THEANO_FLAGS", "it wins over every file")
        for one in flags
        if mine.get(one.name, one.value) != one.value
    )


def _installed(package: str, facts: Facts) -> str:
    """The release that is installed, "" for none."""
    try:
        found = [one.version for one in FRAMEWORKS.of(facts) if one.package == package]
    except UnseenError:
        return ""
    return found[0].partition("+")[0] if found else ""


def _back_end(version: str, device: str, matrix: Matrix) -> str:
    """ "gpu" for the one of Theano's first releases, else "cuda"; in 0.9 there are both. Raises BadOrder."""
    if not version:
        return "cuda"
    if not matrix.framework_rows("theano", version):
        raise BadOrder(f"no Theano {version} is known: --theano takes a release such as 1.0.5")
    asks_for_old = device.startswith("gpu") and not accepts(_OLD_BACK_END_IS_GONE, version)
    return "gpu" if asks_for_old or accepts(_GPUARRAY_IS_A_PREVIEW, version) else "cuda"


def _is_gpuarray_only(version: str) -> bool:
    return not version or accepts(_OLD_BACK_END_IS_GONE, version)


def _flags(flags: str, version: str) -> str:
    """Raises BadOrder for what Theano refuses. Source: theano/configdefaults.py@rel-0.9.0, filter_nvcc_flags."""
    flags = _one_line("--nvcc-flags", flags)
    for word in flags.split():
        if not word.startswith("-"):
            raise BadOrder(f"--nvcc-flags: Theano stops at {word!r}: an option and its value are one word, -arch=sm_30")
    if flags and _is_gpuarray_only(version):
        raise BadOrder("--nvcc-flags: Theano calls nvcc up to 0.9 only; --theano 0.9.0 says that it is such a release")
    return flags


def _modes(facts: Facts) -> Iterator[ByHand]:
    """The mode in force, where it is one that slows every function. Source: Theano's doc/tutorial/modes.txt."""
    modes = [one for one in value_or(facts.configuration.settings, ()) if one.name == "mode"]
    for one in modes[-1:]:
        if one.value in _SLOW_MODES:
            yield ByHand(f"take mode={one.value} out of {one.source} for real work", _SLOW_MODES[one.value])


def _device(asked: str, held: str, back_end: str) -> str:
    """With the number of the one that is set now, where no other is asked for; raises BadOrder."""
    match = _DEVICE.fullmatch(asked or held)
    if asked and match is None:
        raise BadOrder(f"--device {asked!r} is no device: {back_end}, {back_end}0, 0 or cpu")
    if asked == "cpu":
        return asked
    kind, number = (match["kind"], match["number"]) if match else ("", "")
    if asked and kind not in {"", back_end}:
        raise BadOrder(f"--device {asked} is of the other back end: this Theano's is {back_end}{number or ''}")
    return f"{back_end}{number or ''}"


def _pool(cnmem: str) -> str:
    try:
        share = float(cnmem or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise BadOrder(f"--cnmem {cnmem!r} is no share of the memory: 0 is off, 1 all, 0.8 four fifths")
    return f"{share:g}" if cnmem else ""


def _cudnn_paths(home: str, version: str, held: frozenset[str], *, windows: bool) -> tuple[tuple[str, str], ...]:
    """Options of [dnn]; from 1.0 on one names the directory, and the others only where they are set already.

    Source: theano/configdefaults.py@rel-1.0.5: what is loaded is bin_path, which base_path alone gives a default.
    """
    home = _one_line("--cudnn-home", home).rstrip("/\\")
    if not home:
        return ()
    library = f"{home}\\lib\\x64" if windows else f"{home}/lib64"
    below = (("include_path", f"{home}\\include" if windows else f"{home}/include"), ("library_path", library))
    if not _is_gpuarray_only(version):
        return below
    below = (*below, ("bin_path", f"{home}\\bin" if windows else library))
    return (("base_path", home), *(one for one in below if f"dnn.{one[0]}" in held))


def _one_line(option: str, text: str) -> str:
    if any(not one.isprintable() for one in text):
        raise BadOrder(f"{option} takes one line of text")
    return text.strip()
