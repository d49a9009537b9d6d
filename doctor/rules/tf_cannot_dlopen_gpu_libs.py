"""TensorFlow opens CUDA's libraries by name, does not find one, and goes on without any GPU."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AssignVariable, InstallToolkit, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Unseen
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import build_row, cuda_of, finds_wheels
from doctor.rules.shared.cuda_libraries import names_of, need_use, not_found, toolkit_for, wheels_for
from doctor.rules.shared.dlls import cuda_there
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """One that is missing of those that TensorFlow insists on is enough; cuDNN has a finding of its own."""
    if not framework.package.startswith(("tensorflow", "tf-nightly")):
        raise NotApplicable("only for TensorFlow")
    need_use(framework, facts)
    if facts.system.family.get() == "windows":
        return cuda_there(framework, facts, matrix)
    missing = not_found(framework, facts)
    if not missing:
        return ok(f"{framework.label} finds every library that it opens")
    cuda = cuda_of(framework, facts, matrix).value
    row = matrix.asked_by("tensorflow", framework.version)
    insists = {matrix.library(stem, cuda).soname for stem in row.stems}
    lacks = tuple(one for one in missing if one.soname in insists)
    if not lacks:
        return ok(f"{framework.label} finds every library that it requires")
    knows_wheels = bool(build_row(framework, facts, matrix).pins)  # its extra, and where it looks
    by_wheels = wheels_for(lacks, framework, facts, matrix) if knows_wheels else ()
    toolkit = toolkit_for(lacks[0].soname, framework, facts, matrix)
    here: tuple[Need, ...] = tuple(one for one in toolkit if isinstance(one, AssignVariable))
    return bad(
        f"{framework.label} will not use the GPU: it opens {names_of(lacks)}, but the loader does not find it",
        *((*by_wheels, *here) if finds_wheels(framework) else (*here, *by_wheels)),
        InstallToolkit(f"=={cuda}.*"),
        evidence=(
            Evidence(f"opens {', '.join(sorted(insists))}", label=f"matrix, {row.id}"),
            *(
                Evidence(
                    one.path.why if isinstance(one.path, Unseen) else "",
                    label=(f"the loader's search for {one.soname}"),
                )
                for one in lacks
            ),
        ),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
