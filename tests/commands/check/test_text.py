"""The headline of a report: a tick only where everything that matters was judged, and there was something to judge."""

from __future__ import annotations

import pytest

from compat.need import Advice
from doctor.commands.check import command
from doctor.commands.check.text import render
from doctor.diagnose import exit_status
from doctor.model.facts import Facts
from doctor.model.finding import Remedy, Severity, Status
from doctor.output.document import TextStyle
from doctor.output.page import Page, show_remedies
from installers.plan import Plan
from tests.machine import environment, framework, gpu, machine, report_on, seen, unseen, without_driver

BARE = machine(environments=seen((environment()._replace(frameworks=seen(())),)))


def headline(facts: Facts, *, symbols: bool = True) -> str:
    return render(report_on(facts), TextStyle(symbols=symbols)).splitlines()[0]


def test_a_tick_for_a_healthy_machine_with_a_framework() -> None:
    assert headline(machine(environments=seen((environment(framework()),)))) == "✓ No fault found"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (BARE, "The Python environment has no GPU framework"),
        (without_driver(), "· No fault found in the files"),
        (machine(environments=seen(())), "No Python environment found"),
        (machine(environments=unseen("no listing")), "? Some checks could not run (listed below)"),
        (
            BARE._replace(gpus=unseen("NVML does not answer"), pci=unseen("no sysfs")),
            "? Some checks could not run (listed below)",
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
    assert page.text().splitlines()[1:] == ["    copy them to C:\\cuda\\bin", "      & 'C:/a b/python.exe' -V"]


def test_no_gpu_is_the_last_line_of_the_stack() -> None:
    report = report_on(without_driver())
    text = render(report, TextStyle(symbols=True))
    stack = text.partition("The stack\n")[2].partition("\n\n")[0].splitlines()
    assert stack[-1] == "  GPU       No GPU here; files of the environment checked"
    assert "no-nvidia-gpu" not in text
    assert (report.verdict, exit_status(report, Severity.ERROR), exit_status(report, Severity.INFO)) == ("no-gpu", 0, 1)
    expected = report_on(without_driver()._replace(gpu_expected_by="--expect-gpu"))
    assert render(expected, TextStyle(symbols=True)).startswith("✗ this machine has no NVIDIA GPU\n")
    assert (expected.verdict, exit_status(expected, Severity.ERROR)) == ("no-gpu", 1)


def test_every_unknown_can_be_listed() -> None:
    """One that leaves the verdict open is listed in any case; the last line says how to see the others."""
    facts = machine(environments=seen((environment(framework()),)))
    facts = facts._replace(driver=facts.driver._replace(dkms=unseen("no dkms"), fabric_manager=unseen("no systemd")))
    report = report_on(facts._replace(system=facts.system._replace(shm_bytes=unseen("no /dev/shm"))))
    hidden = [one for one in report.answers if one.kind is Status.UNKNOWN and not one.blocks_verdict]
    brief, whole = (render(report, TextStyle(), is_verbose=one) for one in (False, True))
    assert hidden
    assert f"{len(hidden)} unknown (to list them: gpudoctor check -v)" in " ".join(brief.split())
    for one in (each for each in report.answers if each.kind is Status.UNKNOWN):
        assert one.code in whole
    assert "check -v" not in whole


def test_a_rule_that_the_user_named_and_that_is_unknown_gets_no_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """power-thermal leaves nobody in doubt by itself; who asks for it alone wants its answer."""
    one = gpu()
    hot = machine(gpus=seen((one._replace(now=one.now._replace(throttle_reasons=unseen())),)))
    monkeypatch.setattr(command, "look", lambda *_: hot)
    monkeypatch.setattr(command, "Snapshot", lambda host: host)
    report = command.report_of(command.CheckSubject(only=("power-thermal",), policy=""), 0.0)
    assert {one.kind for one in report.answers} == {Status.UNKNOWN}
    assert (report.verdict, exit_status(report, Severity.ERROR)) == ("unknown", 4)
    assert render(report, TextStyle()).startswith("?")


def test_what_is_pasted_holds_no_comment() -> None:
    """An interactive zsh runs "# In ~/.bashrc, delete `…`" as a command, and what stands between the backquotes."""
    here = "sudo chroot /mnt /bin/bash -es <<'INSIDE'\n# in the image\nunset A\nINSIDE"
    commands = ("# In ~/.bashrc, line 1, delete `export A=b`. Then, in this shell:", "unset A", "# on the host:", here)
    page = Page(TextStyle())
    show_remedies(page, (Remedy("x", Advice("x"), Plan("x", ()), commands),))
    _, *shown = page.text().splitlines()
    pasted = [line[6:] for line in shown if line.startswith("      ")]
    assert pasted == ["unset A", *here.splitlines()]
    read = [line for line in shown if not line.startswith("      ")]
    assert read == ["    In ~/.bashrc, line 1, delete `export A=b`. Then, in this shell:", "    on the host:"]
