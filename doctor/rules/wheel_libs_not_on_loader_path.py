"""A library lies in a wheel of the environment, and the framework that asks for it by name does not look there."""

from __future__ import annotations

import posixpath

from compat.matrix import Matrix
from compat.need import Need
from doctor.facts import Facts
from doctor.facts.environment import Framework
from doctor.facts.seen import Seen, Unseen
from doctor.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.judging.builds import import_symptoms
from doctor.judging.cuda_libraries import names_of, need_use, not_found, with_directories
from doctor.rule import Rule
from doctor.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Of the names that the loader does not find, those of which a wheel has the file."""
    need_use(framework, facts)
    missing = tuple(one for one in not_found(framework, facts) if isinstance(one.intended, Seen))
    if not missing:
        return ok(f"no wheel has a library that {framework.label} asks for in vain")
    files = tuple(one.intended.get() for one in missing)
    folders = tuple(sorted({posixpath.dirname(path) for path in files}))
    by_program = _is_opened_by_programs(framework)
    return bad(
        f"{framework.label} does not find {names_of(missing)}, which is in {folders[0]}",
        *((_preload(),) if framework.package.startswith("onnxruntime") else ()),
        with_directories(folders, facts),
        severity=Severity.WARNING if by_program else Severity.ERROR,
        evidence=tuple(
            Evidence(path, one.path.why if isinstance(one.path, Unseen) else "")
            for path, one in zip(files, missing, strict=True)
        ),
        explains=(
            Symptom("tf-cannot-dlopen-gpu-libs", framework.label),
            Symptom("nvrtc-missing", framework.label),
            *import_symptoms(framework),
        ),
    )


def _is_opened_by_programs(framework: Framework) -> bool:
    """ONNX Runtime and CuPy leave it to the program, which may import torch first."""
    return framework.package.startswith(("onnxruntime", "cupy"))


def _preload() -> Need:
    return Need("by-hand", "Call onnxruntime.preload_dlls() in the program before it makes a session.")


RULE = Rule("A wheel's library is not where the loader looks", INSTALLED_FRAMEWORKS, check, matters=False)
