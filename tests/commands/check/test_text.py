"""The headline of a report: a tick only where everything that matters was judged, and there was something to judge."""

from __future__ import annotations

import pytest

from compat.need import Advice
from doctor.commands.check.text import render
from doctor.model.facts import Facts
from doctor.model.finding import Remedy
from doctor.output.document import TextStyle
from doctor.output.page import Page, show_remedies
from installers.plan import Plan
from tests.machine import environment, framework, gpu, machine, report_on, seen, unseen

BARE = machine(environments=seen((environment()._replace(frameworks=seen(())),)))


def headline(facts: Facts, *, symbols: bool = True) -> str:
    return render(report_on(facts), TextStyle(symbols=symbols)).splitlines()[0]


def test_a_tick_for_a_healthy_machine_with_a_framework() -> None:
    assert headline(machine(environments=seen((environment(framework()),)))) == "✓ No fault found"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (BARE, "No GPU framework in the Python that was looked at"),
        (machine(environments=seen(())), "No Python environment was found"),
        (machine(environments=unseen("no listing")), "? Some checks could not run"),
        (
            BARE._replace(gpus=unseen("NVML does not answer"), pci=unseen("no sysfs")),
            "? Some checks could not run",
        ),
    ],
)
def test_no_tick(facts: Facts, said: str) -> None:
    assert said in headline(facts)
    assert "✓" not in headline(facts)
    assert headline(facts, symbols=False).isascii()


@pytest.mark.parametrize(
    ("asked_by", "said"),
    [
        ("VIRTUAL_ENV", " · active"),
        ("the project's .venv", " · the project's .venv"),
        ("python3 on PATH", " · python3 on PATH"),
        ("root", ""),
    ],
)
def test_which_environment_and_why(asked_by: str, said: str) -> None:
    here = environment(framework())._replace(asked_by=asked_by)
    text = render(report_on(machine(gpus=seen((gpu(),)), environments=seen((here,)))), TextStyle())
    line = next(one for one in text.splitlines() if one.startswith("  Python"))
    assert line.endswith(f"{here.prefix}{said}")


def test_what_is_said_of_windows_is_written_as_it_is_there() -> None:
    """The comments below a remedy; what is to be pasted stays as it was made."""
    commands = ("# copy them to C:/cuda/bin", "& 'C:/a b/python.exe' -V")
    remedy = Remedy("x", Advice("x"), Plan("x", ()), commands)
    page = Page(TextStyle())
    show_remedies(page, (remedy,))
    assert page.text().splitlines()[1:] == ["    # copy them to C:\\cuda\\bin", "    & 'C:/a b/python.exe' -V"]
