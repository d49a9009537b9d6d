"""What `gpudoctor policy init` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.policy.write import policy_text
from doctor.diagnose import answers_under_policy
from doctor.host import BadRequest
from doctor.host.choice import host_of
from doctor.host.snapshot import Snapshot
from doctor.model.facts.policy import POLICY_FILE
from doctor.model.finding import Severity, Status
from doctor.output.write import write_file
from doctor.probes import ProbeRequest, look
from doctor.rules.shared.engine import root_causes


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    pythons: tuple[str, ...] = ()
    root: str | None = None
    output: str = POLICY_FILE  # "-" is standard output
    is_forced: bool = False  # also from a machine that does not work


def init(options: Options) -> str:
    """What to print; raises BadRequest for a file that is there, and for a machine that does not work."""
    if options.output != "-" and os.path.exists(options.output):
        raise BadRequest(f"{options.output} is there already: name another file with --output, or take it away")
    matrix, host = Matrix.of_user(), Snapshot(host_of(options.root))
    facts = look(host, ProbeRequest(options.pythons))
    answers = answers_under_policy(facts, matrix)
    explained = root_causes(answers)  # which `check` does not show by themselves
    wrong = (one for one in answers if one.kind is Status.BAD and one.severity is Severity.ERROR)
    errors = {one.code for one in wrong if (one.code, one.subject) not in explained}
    if errors and not options.is_forced:
        raise BadRequest(f"gpudoctor check finds errors ({', '.join(sorted(errors))}): fix them first, or use --force")
    text = policy_text(facts, () if options.root else tuple(_asked(options)))
    if options.output == "-":
        return text
    write_file(options.output, text)
    return f"{options.output} is written; `gpudoctor check` judges by it from now on.\n"


def _asked(options: Options) -> Iterator[str]:
    """The environments that were named; a relative path is one from where the file lies."""
    moves = os.path.dirname(options.output) not in {"", "."}
    for one in options.pythons:
        yield os.path.abspath(one) if moves and os.path.exists(one) else one
