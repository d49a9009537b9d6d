"""`python -m tests.real [--toolkit RELEASE=DIR] ENVIRONMENT ... [NAME=VALUE ...]`: a row for each environment.

Each is put on a GPU machine of the lab (`machine.py`), where `gpudoctor check` judges it, and each of its frameworks is
imported for real beside the prediction. {site} in a value is the environment's site-packages. Exit 1 where `check` says
anything, or a prediction differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.real import page
from tests.real.judge import Compared, Verdict, judge
from tests.real.machine import Toolkit, site_of
from tests.real.recorded import record

_HEAD = "| environment | check | unknown | framework | libraries | yes | replayed | refused | different | unobserved |"


def _rows(verdict: Verdict) -> list[str]:
    """Lines of the table: the environment with its first framework, then the others."""
    first = f"| {verdict.name} | {', '.join(verdict.findings) or 'silent'} | {len(verdict.open)} |"
    lines = []
    for one in verdict.compared or ():
        counts = [str(one.count(kind)) for kind in ("yes", "replayed", "refused", "no", "unobserved")]
        lines.append(
            f" {one.label if one.known else f'{one.label} (not known)'} | {len(one.rows)} | {' | '.join(counts)} |"
        )
    lines = lines or [" none | | | | | | |"]
    return [first + lines[0], *(f"| | | |{line}" for line in lines[1:])]


def _details(verdict: Verdict) -> list[str]:
    lines = [f"  {verdict.name}: exit {verdict.status}" * (verdict.status != 0)]
    lines += [f"  {verdict.name}: {text}" for text in (*verdict.details, *(f"UNKNOWN {one}" for one in verdict.open))]
    for one in verdict.compared:
        lines += [f"  {verdict.name}: {one.label}: {text}" for text in _differences(one)]
    return [line for line in lines if line]


def _differences(one: Compared) -> list[str]:
    wrong = [row for row in one.rows if row["equal"] == "no"]
    failed = [one.failed] * bool(one.failed)
    if not one.known:
        return [*failed, f"no card says what it opens: {' '.join(row['observed'] for row in wrong)}"]
    return failed + [f"{row['name']}: predicted {row['predicted']}, observed {row['observed']}" for row in wrong]


def main(argv: list[str]) -> int:
    """Print the table, and what is wrong behind it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", action="store_true", help="also what the programs wrote")
    parser.add_argument("--toolkit", help="RELEASE=DIR: the machine has this CUDA, with the libraries of the directory")
    parser.add_argument("--record", action="store_true", help="write what was seen for the tests (recorded.py)")
    parser.add_argument("--page", metavar="CIRCUMSTANCES", help="add rows for docs/which.md")
    parser.add_argument("--only", choices=("check", "loader"), help="one half")
    parser.add_argument("arguments", nargs="+", metavar="ENVIRONMENT or NAME=VALUE")
    asked = parser.parse_args(argv)
    environ = dict(one.split("=", 1) for one in asked.arguments if "=" in one)
    release, _, libraries = (asked.toolkit or "").partition("=")
    cuda = Toolkit(release, Path(libraries)) if release else None
    sys.stdout.write(f"{_HEAD}\n{'|---' * 10}|\n")
    wrong: list[str] = []
    for prefix in (Path(one) for one in asked.arguments if "=" not in one):
        verdict = judge(prefix, environ=environ, cuda=cuda, only=asked.only)
        sys.stdout.write("\n".join(_rows(verdict)) + "\n")
        sys.stdout.flush()
        wrong += _details(verdict)
        if asked.page:
            wrong += [line for one in verdict.compared for line in page.rows(one, asked.page, str(site_of(prefix)))]
        if asked.record:
            record(prefix, verdict)
        if asked.v:
            wrong += [one.said for one in verdict.compared]
    sys.stdout.write("\n".join(["", *wrong]) + "\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
