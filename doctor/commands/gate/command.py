"""What `gpudoctor gate` does, apart from reading its command line and printing."""

from __future__ import annotations

import time
from collections.abc import Callable

from compat.base.choice import one_of
from compat.base.discover import code_of, load_one, names_in
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.check.command import policy_of
from doctor.commands.gate import dialects
from doctor.commands.gate.dialect import Dialect
from doctor.commands.gate.verdict import Verdict, failure, verdict_of
from doctor.diagnose import answers_under_policy
from doctor.host.choice import host_of
from doctor.host.snapshot import Snapshot
from doctor.probes import ProbeRequest, look

_PAUSE_S = 2.0  # between two looks


class Options(NamedTuple):
    """What the user asked for; the defaults are those of the command line."""

    dialect: str = "plain"
    pythons: tuple[str, ...] = ()
    within_s: float = 30.0
    retry_for_s: float = 0.0
    policy: str = ""  # a file; "" for none: where a scheduler happens to start it says nothing


def dialect_names() -> tuple[str, ...]:
    """Sorted."""
    return tuple(map(code_of, names_in(dialects)))


def dialect_of(name: str) -> Dialect:
    """Raises NoSuchName."""
    known = one_of("dialect", name, dialect_names())
    return load_one(dialects, known, "DIALECT", Dialect)


def look_once(options: Options) -> Verdict:
    """One look at this machine."""
    matrix, host = Matrix.of_user(), Snapshot(host_of(None))
    driver_s = max(0.5, options.within_s * 0.8)  # so that the verdict can name who did not answer
    policy = policy_of(options.policy)
    pythons = options.pythons or policy.environments
    facts = look(host, ProbeRequest(pythons, deep=False, driver_timeout_s=driver_s))
    facts = facts._replace(policy=policy, gpu_expected_by="gpudoctor gate")
    return verdict_of(facts, answers_under_policy(facts, matrix), matrix)


def gate(options: Options, look_now: Callable[[Options], Verdict] = look_once) -> Verdict:
    """A verdict in any case, looked for again while the driver may still be loading, if that was asked for."""
    until = time.monotonic() + options.retry_for_s
    is_stuck = False
    while True:
        verdict = _bounded(options, look_now)
        is_stuck |= verdict.is_stuck  # a look of before can still run
        left = until - time.monotonic()
        if not verdict.may_be_loading or left <= 0:
            return verdict._replace(is_stuck=is_stuck)
        time.sleep(min(_PAUSE_S, left))


def _bounded(options: Options, look_now: Callable[[Options], Verdict]) -> Verdict:
    """A look takes `within_s` at most: it runs in a thread, which is left behind where the system does not answer."""
    import threading

    told: list[Verdict] = []

    def run() -> None:
        told.append(_guarded(options, look_now))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(options.within_s)
    if told:
        return told[0]
    return failure(f"no verdict within {options.within_s:g} s")._replace(is_stuck=True)


def _guarded(options: Options, look_now: Callable[[Options], Verdict]) -> Verdict:
    try:
        return look_now(options)
    except GpudoctorError as error:
        return failure(str(error))
    except Exception as error:  # noqa: BLE001 - whatever fails, the gate stays closed, in its dialect
        return failure(f"gpudoctor itself failed: {type(error).__name__}: {error}")
