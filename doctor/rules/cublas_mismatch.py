"""Libraries of CUDA that belong together come from different releases."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.model.resolution import describe_resolution
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.cuda_libraries import both_releases, dotted, is_older, predicted, release_of
from doctor.rules.shared.cudnn_use import out_of_variable
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS

_CUBLAS, _LT, _LINK = "libcublas.so.", "libcublasLt.so.", "libnvJitLink.so."


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """cuBLAS and cuBLASLt must be of one release; nvJitLink at least the one that came with cuSPARSE and cuSOLVER."""
    found = {one.soname: one for one in predicted(framework, facts) if isinstance(one.path, Seen)}
    main, lt, link = (_named(start, found) for start in (_CUBLAS, _LT, _LINK))
    if not (main and lt) and not link:
        raise NotApplicable(f"{framework.label} loads neither cuBLAS nor nvJitLink")
    if main and lt:
        releases = [release_of(one.path.get(), one.soname, facts, matrix) for one in (main, lt)]
        if all(releases) and releases[0] != releases[1]:
            said = f"cuBLAS {dotted(releases[0])} with cuBLASLt {dotted(releases[1])}"
            return _bad(framework, said, (main, lt), facts)
    if link and isinstance(link.intended, Seen) and is_older(link, facts, matrix):
        loaded, own = map(dotted, both_releases(link, facts, matrix))
        return _bad(framework, f"nvJitLink {loaded} instead of its own {own}", (link,), facts)
    return ok(f"the cuBLAS and nvJitLink that {framework.label} loads have one version")


def _named(start: str, found: dict[str, Prediction]) -> Prediction | None:
    return next((one for name, one in found.items() if name.startswith(start)), None)


def _bad(framework: Framework, said: str, parts: tuple[Prediction, ...], facts: Facts) -> Answer:
    stray = next((one for one in parts if one.intended != one.path), parts[-1])
    return bad(
        f"{framework.label} will load {said}: undefined symbols",
        out_of_variable(stray) or Advice(f"Delete or move {stray.path.get()} ({describe_resolution(stray.way)})."),
        evidence=tuple(Evidence(describe_resolution(one.way), file=one.path.get()) for one in parts),
        explains=import_symptoms(framework),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
