"""What `gpudoctor install config` does, apart from reading its command line and printing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.choice import one_of
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.specifier import accepts
from doctor.commands.install.config_target import Machine, machine, prepared, shell_script
from doctor.commands.install.install import BadOrder, Prepared
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import UnseenError
from doctor.rules.shared.subjects import FRAMEWORKS
from installers.configuration import Line, TheanoOrder, growth_plan, keras_plan, keras_unread, overridden, theano_plan
from installers.plan import Plan
from installers.steps.by_hand import ByHand
from installers.steps.edit_text import EditText

# Keras 1 to 3: keras/backend/__init__.py and keras/src/backend/__init__.py.
KERAS_BACK_ENDS = ("cntk", "jax", "openvino", "tensorflow", "theano", "torch")
# theano/configdefaults.py, DeviceParam: rel-0.8.2 and rel-0.9.0 take gpu*, rel-1.0.5 refuses it. In 0.8 the gpuarray
# back end is a preview, from 0.9 on the one to use (NEWS.txt at rel-0.9.0).
_GPUARRAY_IS_A_PREVIEW = "<0.9"
_OLD_BACK_END_IS_GONE = ">=0.10.0b1"
_DEVICE = re.compile(r"(?P<kind>gpu|cuda|)(?P<number>\d*)|cpu")
_SLOW_MODES = {
    "DebugMode": "it computes every value several times, to find errors",
    "DEBUG_MODE": "it computes every value several times, to find errors",
    "FAST_COMPILE": "it skips most optimisations",
    "NanGuardMode": "it checks every value for NaN",
}
_IDLE_POOL = ByHand(
    "delete `cnmem` from [lib] in the file",
    "this back end ignores it: --cnmem SHARE sets [gpuarray] preallocate instead",
)


class TheanoAsked(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    device: str = ""
    cnmem: str = ""
    version: str = ""
    flags: str = ""
    cudnn_home: str = ""
    cudnn: bool = True


def theano(asked: TheanoAsked, matrix: Matrix, os_family: str = "") -> Prepared:
    """The plan for .theanorc of this user, or for another system; raises BadOrder, NoSuchName."""
    return theano_of(asked, matrix, machine(os_family))


def theano_of(asked: TheanoAsked, matrix: Matrix, at: Machine) -> Prepared:
    """The same for a machine that was looked at."""
    path, settings = _theano_file(at)
    version = asked.version or _installed("theano", at)
    back_end = _back_end(version, asked.device, matrix)
    held = {one.name: one.value for one in settings}
    order = TheanoOrder(
        path=path,
        device=_device(asked.device, held.get("device", ""), back_end),
        back_end=back_end,
        pool=_pool(asked.cnmem),
        cudnn=asked.cudnn,
        flags=_flags(asked.flags, version),
        paths=_cudnn_paths(asked.cudnn_home, version, frozenset(held), windows=at.os_family == "windows"),
    )
    plan = theano_plan(order, tuple(map(_line, filter(_is_option, settings))))
    idle = "lib.cnmem" in held and back_end == "cuda"
    more = (*((_IDLE_POOL,) if idle else ()), *_by_hand(settings, path), *_flags_that_win(plan, at), *_modes(at))
    return prepared(at, plan, more)


def keras(back_end: str, os_family: str = "") -> Prepared:
    """The plan for keras.json of this user, or for another system; raises NoSuchName, BadOrder."""
    one_of("back end", back_end, KERAS_BACK_ENDS)
    at = machine(os_family)
    path = f"{at.variable('KERAS_HOME') or at.home() + '/.keras'}/keras.json"
    if at.host is None:
        return prepared(at, keras_unread(path, back_end))
    try:
        text = at.text_of(path)
        if "\ufffd" in text:  # `read_text` puts it in place of what is no UTF-8: that would be lost
            raise BadOrder(f"{path} is not UTF-8 text and is not changed")
        plan = keras_plan(path, text, back_end)
    except (ValueError, RecursionError) as error:
        raise BadOrder(f"{path} is not valid JSON and is not changed: {error}") from error
    own = at.variable("KERAS_BACKEND")
    return prepared(at, plan, (overridden("KERAS_BACKEND", own, path),) if own not in {"", back_end} else ())


def tensorflow(os_family: str = "") -> Prepared:
    """The plan for this user's shell, or for another system's; on Windows the variable alone. Raises NoSuchName."""
    at = machine(os_family)
    return prepared(at, growth_plan(shell_script(at)))


# --- Theano -------------------------------------------------------------------------------------------------------


def _theano_file(at: Machine) -> tuple[str, tuple[Setting, ...]]:
    """The file that Theano reads last, whose settings win; and what it holds."""
    windows = at.os_family == "windows"
    name = ".theanorc.txt" if windows else ".theanorc"
    listed = [one for one in at.variable("THEANORC").split(";" if windows else ":") if one]
    shown = listed[-1].replace("\\", "/") if listed else f"~/{name}"
    path = f"{at.home()}{shown[1:]}" if shown.startswith("~/") else shown
    at.text_of(path)  # what is there and cannot be read must not look like nothing
    return path, tuple(one for one in at.settings() if one.at and one.at.file == shown)


def _is_option(setting: Setting) -> bool:
    return not setting.name.startswith("[") and setting.problem not in {
        "is above the first [section]",
        "has no value",
    }


def _line(setting: Setting) -> Line:
    section, _, key = setting.name.rpartition(".")
    if setting.name.startswith("global."):  # an option with a point in its name, under [global]
        section, key = "global", setting.name.removeprefix("global.")
    return Line(section or "global", key, setting.value)


def _by_hand(settings: tuple[Setting, ...], path: str) -> tuple[ByHand, ...]:
    """What no edit of single lines fixes."""
    faults = [one for one in settings if not _is_option(one)]
    return tuple(ByHand(f"correct {path}: {one.name}: {one.problem}", one.source) for one in faults)


def _flags_that_win(plan: Plan, at: Machine) -> tuple[ByHand, ...]:
    """THEANO_FLAGS wins over every file."""
    mine = {
        key if step.section == "global" else f"{step.section}.{key}": value
        for step in plan.steps
        if isinstance(step, EditText)
        for key, value in step.settings
    }
    flags = [one for one in at.settings() if one.at is None]
    return tuple(
        ByHand(f"delete {one.name}={one.value} from THEANO_FLAGS", "it overrides every file")
        for one in flags
        if mine.get(one.name, one.value) != one.value
    )


def _installed(package: str, at: Machine) -> str:
    """The release that is installed, "" for none."""
    if at.facts is None:
        return ""
    try:
        found = [one.version for one in FRAMEWORKS.of(at.facts) if one.package == package]
    except UnseenError:
        return ""
    return found[0].partition("+")[0] if found else ""


def _back_end(version: str, device: str, matrix: Matrix) -> str:
    """ "gpu" for the one of Theano's first releases, else "cuda"; in 0.9 there are both. Raises BadOrder."""
    if not version:
        return "cuda"
    if not matrix.framework_rows("theano", version):
        raise BadOrder(f"Theano {version} is unknown: give --theano a version such as 1.0.5")
    asks_for_old = device.startswith("gpu") and not accepts(_OLD_BACK_END_IS_GONE, version)
    return "gpu" if asks_for_old or accepts(_GPUARRAY_IS_A_PREVIEW, version) else "cuda"


def _is_gpuarray_only(version: str) -> bool:
    return not version or accepts(_OLD_BACK_END_IS_GONE, version)


def _flags(flags: str, version: str) -> str:
    """Raises BadOrder for what Theano refuses. Source: theano/configdefaults.py@rel-0.9.0, filter_nvcc_flags."""
    flags = _one_line("--nvcc-flags", flags)
    for word in flags.split():
        if not word.startswith("-"):
            raise BadOrder(
                f"--nvcc-flags: Theano stops at {word!r}: write an option and its value as one word, -arch=sm_30"
            )
    if flags and _is_gpuarray_only(version):
        raise BadOrder("--nvcc-flags: Theano calls nvcc only up to version 0.9; for such a version add --theano 0.9.0")
    return flags


def _modes(at: Machine) -> Iterator[ByHand]:
    """The mode in force, where it is one that slows every function. Source: Theano's doc/tutorial/modes.txt."""
    modes = [one for one in at.settings() if one.name == "mode"]
    for one in modes[-1:]:
        if one.value in _SLOW_MODES:
            yield ByHand(f"for real work, delete mode={one.value} from {one.source}", _SLOW_MODES[one.value])


def _device(asked: str, held: str, back_end: str) -> str:
    """With the number of the one that is set now, where no other is asked for; raises BadOrder."""
    match = _DEVICE.fullmatch(asked or held)
    if asked and match is None:
        raise BadOrder(f"--device {asked!r} is not a device: {back_end}, {back_end}0, 0 or cpu")
    if asked == "cpu":
        return asked
    kind, number = (match["kind"], match["number"]) if match else ("", "")
    if asked and kind not in {"", back_end}:
        raise BadOrder(f"--device {asked} belongs to the other back end; this Theano uses {back_end}{number or ''}")
    return f"{back_end}{number or ''}"


def _pool(cnmem: str) -> str:
    try:
        share = float(cnmem or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise BadOrder(f"--cnmem {cnmem!r} is not a share of the memory: 0 is off, 1 is all, 0.8 is 80%")
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
    all_below = (*below, ("bin_path", f"{home}\\bin" if windows else library))
    return (("base_path", home), *(one for one in all_below if f"dnn.{one[0]}" in held))


def _one_line(option: str, text: str) -> str:
    if any(not one.isprintable() for one in text):
        raise BadOrder(f"{option} needs one line of text")
    return text.strip()
