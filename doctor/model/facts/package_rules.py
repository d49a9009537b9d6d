"""What the package managers of a machine were told that makes them refuse."""

from compat.base.record import NamedTuple


class Constraint(NamedTuple):
    """A requirement that every installation must meet: pip's and uv's --constraint."""

    requirement: str  # "torch==2.8.0"
    source: str  # "/etc/pip/constraint.txt, line 3 (PIP_CONSTRAINT)"


class Hold(NamedTuple):
    """Packages that a package manager was told to leave alone."""

    manager: str  # "apt", "dnf", "zypper", "conda"
    pattern: str  # a name, or a pattern of the shell
    source: str  # the file that says so
    lifted_by: str  # the command that ends it, "" where the file is edited


class InstallerRules(NamedTuple):
    """What pip, or uv, reads before it installs; the sources are variables, or files with their section."""

    constraints: tuple[Constraint, ...] = ()
    no_index: str = ""  # who forbids every package index; "" nobody
    virtualenv_only: str = ""  # who forbids everything but virtual environments; "" nobody
    notes: tuple[str, ...] = ()  # what could not be read of it
