"""The machine that `gpudoctor install config` writes settings for: this one, or another of which nothing is read."""

from __future__ import annotations

import os

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.spoken import system_of
from doctor.commands.install.install import BadOrder, Prepared, host_with, need_cuda_here
from doctor.host import Host, HostError, Missing
from doctor.model.facts import Facts
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import value_or
from doctor.prescribe.target import target_of
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.check import Check

_SYSTEMS = ("linux", "windows")
_SHELL_SCRIPTS = {"zsh": ".zshrc", "bash": ".bashrc"}
_SETTINGS_BYTES = 256 << 10


class Machine(NamedTuple):
    """Where settings go; without a host it is another machine."""

    os_family: str
    host: Host | None = None
    facts: Facts | None = None

    def variable(self, name: str) -> str:
        """A variable of the environment, "" where it is not set or nobody looks."""
        return self.host.environ.get(name, "") if self.host else ""

    def home(self) -> str:
        """The user's home directory; "~" on another machine."""
        if self.host is None:
            return "~"
        home = self.variable("HOME") or self.variable("USERPROFILE") or os.path.expanduser("~")
        return home.replace("\\", "/").rstrip("/")

    def text_of(self, path: str) -> str:
        """What a file of settings holds, "" where there is none yet; raises BadOrder."""
        try:
            return self.host.read_text(path, _SETTINGS_BYTES) if self.host else ""
        except Missing:
            return ""
        except HostError as error:
            raise BadOrder(str(error)) from error

    def lacks(self, directory: str) -> bool:
        """Whether a directory is known not to be there."""
        return self.host is not None and not self.host.is_dir(directory)

    def settings(self) -> tuple[Setting, ...]:
        """Settings of frameworks, those that win last."""
        return value_or(self.facts.configuration.settings, ()) if self.facts else ()


def machine(os_family: str) -> Machine:
    """This machine, or with "linux" or "windows" another one; raises NoSuchName."""
    if os_family:
        return Machine(system_of(os_family, _SYSTEMS))
    from doctor.probes import ProbeRequest, look  # late: bad input must not wait for the probes

    host = host_with("")
    need_cuda_here(host.os_family, Matrix.of_user())
    return Machine(host.os_family, host, look(host, ProbeRequest()))


def prepared(at: Machine, plan: Plan, more: tuple[Step, ...] = ()) -> Prepared:
    """The plan with steps added before its check, and whom it is for."""
    before = plan.steps[:-1] if plan.steps and isinstance(plan.steps[-1], Check) else plan.steps
    plan = plan._replace(steps=(*before, *more, *plan.steps[len(before) :]))
    if at.facts is None:
        return Prepared(
            plan,
            Target(
                os_family=at.os_family,
                distribution="",
                distribution_version="",
                arch="x86_64",
                wsl=False,
                live=False,
                python="",
                environment_kind="",
                cuda_major=0,
            ),
            None,
        )
    return Prepared(plan, target_of(at.facts), at.facts)


def shell_script(at: Machine) -> str:
    """What new shells of the user read; "" on Windows."""
    if at.os_family == "windows":
        return ""
    if at.host is None:
        return "~/.bashrc"
    shell = at.variable("SHELL").rpartition("/")[2]
    return f"{at.home()}/{_SHELL_SCRIPTS.get(shell, '.profile')}"
