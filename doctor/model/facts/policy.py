"""What a project asks of its machines: gpudoctor.toml, as values."""

from compat.base.record import NamedTuple
from doctor.model.facts.seen import Place

POLICY_FILE = "gpudoctor.toml"


class Requirement(NamedTuple):
    """One thing that a machine must have."""

    key: str  # "require.driver", "require.frameworks.torch"
    name: str  # "driver", or the distribution of a framework
    wanted: str  # a specifier, a pattern, or a number; "" for any
    build: str  # of a framework, "cu128"; "" for any
    source: Place  # "gpudoctor.toml:4"

    @property
    def label(self) -> str:
        """How findings name it."""
        return self.key


class PolicyException(NamedTuple):
    """A finding that is put up with, until a day."""

    code: str
    reason: str
    expires: str  # the last day, "2027-01-31"
    is_over: bool  # that day is gone
    source: Place  # file and line

    @property
    def label(self) -> str:
        """How findings name it."""
        return f"exception for {self.code}"


class Forbidden(NamedTuple):
    """A finding that is an error, however mild it is otherwise."""

    code: str
    source: Place


class Policy(NamedTuple):
    """All of it; empty where there is no file."""

    path: str = ""  # as the user named it, "" for none
    requirements: tuple[Requirement, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    environments: tuple[str, ...] = ()  # to look at, where nobody named one
    driver: str = ""  # version to check a disk or image for
    gpus: tuple[str, ...] = ()  # names of cards, likewise
    limitation: str = ""  # why only what it demands counts: another user could have written it; "" where all of it does

    @property
    def allowed(self) -> frozenset[str]:
        """The codes with an exception that is not over."""
        return frozenset(one.code for one in self.exceptions if not one.is_over)
