"""A running process: its environment, and the files that are mapped in it, held against the prediction."""

from __future__ import annotations

from compat.base.paths import key_of
from compat.base.record import NamedTuple
from doctor.commands.which.answer import Item, WhichAnswer
from doctor.commands.which.product import Product
from doctor.host import BadRequest, HostError
from doctor.host.live import LiveHost

_MAPS_BYTES = 64 << 20
_HOLDS, _DOES_NOT_HOLD, _CANNOT_BE_TOLD = 0, 1, 4


class Running(NamedTuple):
    """A process, as /proc or Windows shows it."""

    pid: int
    host: LiveHost  # with the variables of that process
    python: str  # its interpreter, as it was called
    mapped: tuple[str, ...]  # files, in the order of their addresses, or of their loading

    def uses(self, folder: str) -> bool:
        """Whether a file below a directory is mapped."""
        try:
            real = self.key(self.host.real_path(folder))
        except HostError:
            return False
        return any(self.key(path).startswith(f"{real}/") for path in self.mapped)

    def key(self, path: str) -> str:
        """What spellings of one path have in common."""
        return key_of(path, self.host.os_family)


class Line(NamedTuple):
    """One library of the process."""

    path: str
    predicted: bool
    note: str


class Checked(NamedTuple):
    """How the prediction did."""

    pid: int
    lines: tuple[Line, ...]
    verdict: str
    status: int


def running(pid: int) -> Running:
    """Read a process; raises BadRequest for one that is not there, not ours to read, or in a container."""
    looking = LiveHost({})
    return _on_windows(pid) if looking.os_family == "windows" else _on_linux(pid, looking)


def _on_windows(pid: int) -> Running:
    from doctor.host import windows_process  # late: only Windows has such processes

    try:
        seen = windows_process.view(pid)
    except OSError as error:
        raise BadRequest(f"process {pid} cannot be read: {error}") from error
    host = LiveHost({**seen.environ, "PWD": seen.directory})
    # The python.exe of a virtual environment starts that of its base, and waits for it.
    in_venv = host.is_file(f"{seen.started_by.rpartition('/Scripts/')[0]}/pyvenv.cfg")
    return Running(pid, host, seen.started_by if in_venv else seen.program, seen.mapped)


def _on_linux(pid: int, looking: LiveHost) -> Running:
    root = f"/proc/{pid}"
    try:
        maps = looking.read_text(f"{root}/maps", _MAPS_BYTES)
        variables = looking.read_text(f"{root}/environ", 4 << 20)
        command = looking.read_text(f"{root}/cmdline", 4 << 20).split("\0")
        program = looking.link_target(f"{root}/exe")
        here = looking.link_target(f"{root}/cwd")
        elsewhere = looking.link_target(f"{root}/ns/mnt") != looking.link_target("/proc/self/ns/mnt")
    except HostError as error:
        raise BadRequest(f"process {pid} cannot be read: {error}") from error
    if elsewhere:
        raise BadRequest(
            f"process {pid} sees other files (a container): run gpudoctor in there, with its own process id"
        )
    environ = dict(one.split("=", 1) for one in variables.split("\0") if "=" in one)
    host = LiveHost({**environ, "PWD": here})
    mapped = [f"/{line.partition('/')[2]}" for line in maps.splitlines() if ".so" in line and "/" in line]
    return Running(pid, host, _python(host, command[0], program, here), tuple(dict.fromkeys(mapped)))


def _python(host: LiveHost, called: str, program: str, here: str) -> str:
    """The interpreter as it was called, which says the virtual environment; where that leads elsewhere, the program."""
    folders = host.environ.get("PATH", "").split(":")
    asked = [called] if called.startswith("/") else [f"{here}/{called}"] if "/" in called else []
    asked += [f"{folder}/{called}" for folder in folders if folder and "/" not in called]
    asked.append(f"{host.environ.get('VIRTUAL_ENV', '')}/bin/python")
    for path in asked:
        try:
            if host.real_path(path) == host.real_path(program):
                return path
        except HostError:
            continue
    return program


def compared(answers: tuple[WhichAnswer, ...], process: Running, product: Product) -> Checked:
    """Whether every mapped library of the product was predicted."""
    items = [item for one in answers for item in one.items if item.path and not item.undone]
    predicted = {process.key(item.path) for item in items}
    lines = []
    for path in process.mapped:
        plain = path.removesuffix(" (deleted)")
        name = plain.rpartition("/")[2]
        if product.matches(plain) or product.is_dll(name):
            note = "the file has been replaced or removed since" if plain != path else ""
            lines.append(Line(plain, process.key(plain) in predicted or _is_part(name, plain, items, process), note))
    if not lines:
        verdict = f"process {process.pid} has not loaded {product.name}, or not yet"
        return Checked(process.pid, (), verdict, _CANNOT_BE_TOLD)
    wrong = [line for line in lines if not line.predicted]
    if wrong:
        verdict = f"the prediction does not hold: {wrong[0].path} was not predicted"
        return Checked(process.pid, tuple(lines), verdict, _DOES_NOT_HOLD)
    many = "library" if len(lines) == 1 else "libraries"
    verdict = f"the prediction holds: {len(lines)} {many} of {product.name}, each where it was predicted"
    return Checked(process.pid, tuple(lines), verdict, _HOLDS)


def _is_part(name: str, path: str, items: list[Item], process: Running) -> bool:
    """Whether it is a DLL that no library names, in the directory of one that was predicted: cuDNN opens its parts."""
    if process.host.os_family != "windows" or any(name.lower() == item.name.lower() for item in items):
        return False
    folder = process.key(path).rpartition("/")[0]
    return any(folder == process.key(item.path).rpartition("/")[0] for item in items)
