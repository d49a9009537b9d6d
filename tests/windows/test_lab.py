"""The lab's Windows machines, running: what is found on them live is what their disks show."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from doctor.host.root import RootHost
from doctor.host.snapshot import Snapshot
from doctor.model.encode import encode_report
from doctor.probes import ProbeRequest, look
from tests.lab.case import Case
from tests.lab.cases.windows import CASES, RUNTIME, SYSTEM
from tests.machine import report_on
from tests.windows.machine import HOME, Windows
from tests.windows.test_installed import card, driver

pytestmark = [pytest.mark.system, pytest.mark.slow]

_OWN = HOME.replace("\\", "/")  # of gpudoctor itself


class Disk:
    """The C: of a Windows, on which a machine's files are laid beside those that are there."""

    def __init__(self, windows: Windows) -> None:
        self._drive = windows.drive

    @contextmanager
    def of(self, case: Case, tree: Path) -> Iterator[None]:
        """With the files of a case; the C++ runtime that Wine brings is the case's."""
        case.build(tree)
        made: list[Path] = []
        aside = [(self._place(f"{SYSTEM}/{name}"), tree.with_name(f"{tree.name}-{name}")) for name in RUNTIME]
        for ours, kept in aside:
            ours.rename(kept)
        for path in sorted(tree.rglob("*")):
            place = self._place(path.relative_to(tree).as_posix())
            if not place.exists():
                made.append(place)
                place.mkdir() if path.is_dir() else shutil.copyfile(path, place)
        try:
            yield
        finally:
            for place in reversed(made):
                place.rmdir() if place.is_dir() else place.unlink()
            for ours, kept in aside:
                kept.rename(ours)

    def _place(self, below: str) -> Path:
        """Windows knows no case: under the names that are there."""
        place = self._drive
        for part in below.strip("/").split("/"):
            there = {one.name.lower(): one for one in place.iterdir()} if place.is_dir() else {}
            place = there.get(part.lower(), place / part)
        return place


_OF_THE_CARD = "nvcc-too-old-for-gpu-arch"


def on_the_disk(windows: Windows, case: Case) -> dict[str, Any]:
    host = Snapshot(RootHost(str(windows.drive), case.variables()))
    report: dict[str, Any] = encode_report(report_on(look(host, ProbeRequest(())), host))
    return report


def live(windows: Windows, case: Case, interpreters: list[str], environ: dict[str, str]) -> dict[str, Any]:
    said = {name: value.replace("/", "\\") for name, value in case.variables().items()}
    said["WINEPATH"] = said.pop("PATH")
    pythons = [word for one in interpreters for word in ("--python", one)]
    done = windows.doctor("check", "--format", "json", *pythons, environ={**environ, **said})
    report: dict[str, Any] = json.loads(done.out)
    return report


def roots(report: dict[str, Any], name: str) -> set[tuple[str, str]]:
    """Codes and subjects of the findings that no other explains; a disk has no card."""
    found = [one for one in report["findings"] if not one.get("explained_by") and one["code"] != _OF_THE_CARD]
    return {(one["code"], one["subject"].replace(name, "this machine").replace("\\", "/")) for one in found}


@pytest.mark.parametrize("half", [0, 1])  # so that two workers share them
def test_the_same_findings_live_and_from_the_disk(half: int, windows: Windows, tmp_path: Path) -> None:
    card(windows)
    environ = driver(windows, release="576.80", cuda="12.9")
    disk = Disk(windows)
    wrong = []
    for case in CASES[half::2]:
        with disk.of(case, tmp_path / case.name):
            offline = on_the_disk(windows, case)
            interpreters = [one["interpreter"] for one in offline["facts"]["environments"]]
            report = live(windows, case, [one for one in interpreters if _OWN not in one], environ)
        expected, found = roots(offline, str(windows.drive)), roots(report, "this machine")
        if found != expected or not {code for code, _ in expected} >= {*case.codes}:
            wrong.append((case.name, sorted(expected), sorted(found)))
    assert wrong == []
    assert len(CASES) >= 20
