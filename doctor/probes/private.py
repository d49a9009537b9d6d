"""Words that name the users and the machine: read only where a report is to be redacted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from doctor.host import Host, HostError
from doctor.host.files import lines_of
from doctor.host.optional_reads import names_of, text_of

_USER_VARIABLES = (
    *("USER", "LOGNAME", "USERNAME", "SUDO_USER", "DOAS_USER", "NB_USER", "JUPYTERHUB_USER"),
    *("SLURM_JOB_USER", "SLURM_JOB_ACCOUNT", "PBS_O_LOGNAME", "LSFUSER"),
)
_HOST_VARIABLES = (
    *("HOSTNAME", "COMPUTERNAME", "HOST", "SLURMD_NODENAME", "SLURM_SUBMIT_HOST", "SLURM_JOB_NODELIST", "PBS_O_HOST"),
)
_DMI = ("product_serial", "product_uuid", "board_serial", "chassis_serial", "chassis_asset_tag", "board_asset_tag")
_NUMBER_FILES = (
    *("/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id"),
    *(f"/sys/class/dmi/id/{name}" for name in _DMI),
)
_NUMBER_CHARS = range(5, 65)
_PASSWD_BYTES = 4 << 20
_ACCOUNTS_AT_MOST = 100_000
_HOSTS_BYTES = 1 << 20
_FIRST_PERSON, _LAST_PERSON = 1000, 60000  # UID_MIN and UID_MAX of login.defs(5); systemd's own users come above


class PrivateWords(NamedTuple):
    """What a shared report must not hold. Empty texts are never among them."""

    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()  # directories
    hosts: tuple[str, ...] = ()  # short and full names
    serials: tuple[str, ...] = ()  # numbers of the machine: DMI, machine-id


def look(host: Host) -> PrivateWords:
    """Accounts of people by /etc/passwd, the directories of homes, and variables; names of the host."""
    people = list(_people(host))
    variables = [host.environ.get(name, "") for name in _USER_VARIABLES]
    below = [name for folder in ("/home", "/Users", "C:/Users") for name in names_of(host, folder)]
    homes = [host.environ.get("HOME", ""), host.environ.get("USERPROFILE", ""), *(home for _, home in people)]
    return PrivateWords(
        users=_distinct([*variables, *(name for name, _ in people), *below]),
        homes=_distinct(home.rstrip("/\\") for home in homes),
        hosts=_distinct(_hosts(host)),
        serials=_distinct(_serials(host)),
    )


def _people(host: Host) -> Iterator[tuple[str, str]]:
    """Name and home of each account of a person."""
    try:
        for line in lines_of(host, "/etc/passwd", _PASSWD_BYTES, _ACCOUNTS_AT_MOST):
            account = line.split(":")
            if len(account) > 5 and _is_person(account[2]):
                yield account[0], account[5]
    except HostError:
        return


def _is_person(uid: str) -> bool:
    return uid.isascii() and uid.isdigit() and len(uid) < 10 and _FIRST_PERSON <= int(uid) <= _LAST_PERSON


def _hosts(host: Host) -> Iterator[str]:
    """The longest first: a full name holds the short one."""
    own = {text_of(host, "/etc/hostname", _HOSTS_BYTES).strip(), host.name if host.is_live else ""}
    own |= {host.environ.get(name, "") for name in _HOST_VARIABLES}
    short = {name.partition(".")[0] for name in own} - {"", "localhost"}
    for line in text_of(host, "/etc/hosts", _HOSTS_BYTES).splitlines():
        names = line.partition("#")[0].split()[1:]
        if any(name.partition(".")[0] in short for name in names):
            own.update(names)
    yield from sorted((own | short) - {"localhost", "localhost.localdomain"}, key=len, reverse=True)


def _serials(host: Host) -> Iterator[str]:
    """Numbers with a digit: makers write "Default string" and "To be filled by O.E.M." where they have none."""
    for path in _NUMBER_FILES:
        number = text_of(host, path, _HOSTS_BYTES).strip()
        if len(number) in _NUMBER_CHARS and any(one.isdigit() for one in number):
            yield number


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))
