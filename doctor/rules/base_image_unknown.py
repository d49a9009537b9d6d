"""A Dockerfile starts from a tag that does not exist."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Advice
from compat.row import WithdrawnImageRow
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileBase
from doctor.model.finding import Answer, Evidence, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of, from_line
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_IMAGE = re.compile(r"(?:(?:docker\.io|nvcr\.io)/)?nvidia/cuda(?::(.*))?")
_TAG = re.compile(r"(\d+(?:\.\d+)+)((?:-(?:base|runtime|devel|cudnn\d*|tensorrt))*)((?:-[a-z]+[\d.]+)?)")
_UBUNTU = re.compile(r"ubuntu:\d+\.(\d+)")  # Source: Ubuntu's "Releases": YY.04 and YY.10
# CUDA from which tags have three parts, and from which "cudnn" stands without its number. Source: NVIDIA's
# container-images/cuda, doc/supported-tags.md and doc/unsupported-tags.md.
_THREE_PARTS, _CUDNN_BARE = (11, 3), (12, 4)
_LISTED = "https://hub.docker.com/r/nvidia/cuda lists the tags"
_ALL_KEPT = (11, 8)  # of releases before it, NVIDIA deleted tags: rows of the table withdrawn-images


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the tag with the form of NVIDIA's tags and with the releases of CUDA that have a row."""
    base = dockerfile_of(facts).base
    found = _IMAGE.fullmatch(base.image.partition("@")[0])
    if (ubuntu := _UBUNTU.fullmatch(base.image)) and ubuntu[1] not in {"04", "10"} and ubuntu[0] != "ubuntu:6.06":
        return bad(
            f"{base.image} does not exist: Ubuntu's releases are of April and October",
            Advice(f"{base.source}: {from_line(base, 'ubuntu:24.04')}"),
            evidence=(Evidence.at(base.source, f"FROM {base.image}"),),
        )
    if not found or "$" in base.image:
        raise NotApplicable("the form of the base image's tags is not known")
    tag = found[1] or "latest"
    if tag == "latest":
        return _bad(base, "nvidia/cuda has no tag latest", "", matrix)
    parts = _TAG.fullmatch(tag)
    if parts is None:
        return unknown(f"{base.source}: the tag form {tag} is unknown")
    release, variant = parts[1], parts[2]
    key, known = _key(release), [row.release for row in matrix.rows("cuda", "toolkits")]
    newest = max(map(_key, known))
    if release not in known and len(key) == 3 and key > newest and key[0] <= newest[0] + 1:
        return unknown(f"{base.source}: CUDA {release} is newer than all known versions")
    wrong = _wrong(release, variant, known)
    return _bad(base, wrong, release, matrix) if wrong else _deleted(base, release, known, matrix)


def _deleted(base: DockerfileBase, release: str, known: list[str], matrix: Matrix) -> Answer:
    """Look for a row of the deleted tag; one that a later patch release replaced may be deleted too."""
    rows: tuple[WithdrawnImageRow, ...] = matrix.rows("index", "withdrawn-images")
    key = _key(release)
    row = next(
        (row for row in rows if release == row.release or (not row.instead and key[:2] == _key(row.release))), None
    )
    if row and base.image.startswith("nvcr.io/"):
        return unknown(
            f"{base.source}: Docker Hub no longer has {base.image.partition('/')[2]}; nvcr.io was not checked"
        )
    if row:
        image = base.image.replace(f":{release}", f":{row.instead}", 1)
        instead = f"for example {from_line(base, image)}" if row.instead and base.system else _LISTED
        return bad(
            f"{base.image} does not exist any more: NVIDIA deleted it",
            Advice(f"instead of {base.source}, {instead}"),
            evidence=(Evidence.at(base.source, f"FROM {base.image}"), Evidence("deleted", label=f"matrix, {row.id}")),
        )
    later = [one for one in known if _key(one)[:2] == key[:2] and _key(one) > key]
    is_kept = any(release == row.instead for row in rows)
    if key < _ALL_KEPT and ((later and not is_kept) or not base.system):
        why = f"{later[-1]} replaced {release}" if later else "it names no system"
        return unknown(f"{base.source}: NVIDIA deletes old tags, and {why}: does {base.image} still exist?")
    return ok(f"{base.image} may exist")


def _wrong(release: str, variant: str, known: list[str]) -> str:
    """What no tag of NVIDIA's has, "" for nothing."""
    key = _key(release)
    if len(key) == 2 and key >= _THREE_PARTS:
        return f"nvidia/cuda tags have a version of three parts, but {release} has two"
    if len(key) > 2 and release not in known:
        return f"CUDA {release} does not exist"
    if not re.search("-(?:base|runtime|devel)", variant):
        return "the tag has none of base, runtime and devel"
    numbered = re.search(r"cudnn(\d+)", variant)
    if numbered and key >= _CUDNN_BARE:
        return f"from 12.4 on, nvidia/cuda tags have plain cudnn, not cudnn{numbered[1]}"
    return ""


def _key(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")[:3]))


def _bad(base: DockerfileBase, wrong: str, release: str, matrix: Matrix) -> Answer:
    start = release.rpartition(".")[0] if release.count(".") > 1 else release
    rows = [row.image for row in matrix.rows("index", "images") if start and row.release.startswith(f"{start}.")]
    instead = f"for example {from_line(base, rows[-1])}" if rows else _LISTED
    return bad(
        f"{base.image} does not exist: {wrong}",
        Advice(f"instead of {base.source}, {instead}"),
        evidence=(Evidence.at(base.source, f"FROM {base.image}"),),
    )


RULE = Rule(MACHINE, check)
