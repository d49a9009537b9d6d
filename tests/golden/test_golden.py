"""A share of the outputs is as approved; the harness sees what changes, and knows gpudoctor by one file."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.golden import area
from tests.golden.areas.install import METHODS
from tests.golden.areas.lab import PRINTED, SUFFIXES
from tests.golden.compare import Change, changes, counts, diffs
from tests.golden.product import LookedAtThisMachine, run
from tests.golden.store import DIGESTS, Digest, Texts, digest_of, pack, read_digests, write_digests
from tests.golden.work import Job, carry_out, carry_out_all, jobs_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lab's machines are laid on Linux")
HERE = Path(__file__).parent
SHARED = [name for name in area.names() if area.area_of(name).share]


@pytest.mark.no_cover  # other tests run the same lines
@pytest.mark.parametrize("name", SHARED)
def test_a_share_is_as_approved(name: str) -> None:
    jobs = jobs_of(name, share=True)
    assert jobs
    made = _made(jobs)
    approved = {one: digest for one, digest in read_digests(DIGESTS, name).items() if one in made}
    assert not _differences(name, approved, made)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("name", area.names())
def test_all_is_as_approved(name: str) -> None:
    assert not _differences(name, read_digests(DIGESTS, name), _made(jobs_of(name, share=False)))


def _made(jobs: list[Job]) -> dict[str, Digest]:
    return {one.name: one.digest for outputs in carry_out_all(jobs, 1) for one in outputs}


def _differences(name: str, approved: dict[str, Digest], made: dict[str, Digest]) -> str:
    found = "; ".join(counts(changes(name, approved, made)))
    return found and f"{found}: `python -m tests.golden {name}` shows them, `--approve` approves them"


def test_every_area_is_approved() -> None:
    assert {path.stem for path in DIGESTS.glob("*.txt")} == {*area.names()}
    assert all(read_digests(DIGESTS, name) for name in area.names())


def test_every_format_and_method_is_in_an_area(tmp_path: Path) -> None:
    assert _listed(run("check", "--help", folder=tmp_path).output, "format") == {PRINTED, *SUFFIXES}
    for product, methods in METHODS.items():
        page = run("install", product, "--help", folder=tmp_path).output
        assert _listed(page, "method") == {*methods} - {""}


def _listed(page: str, option: str) -> set[str]:
    """What a help page lists for an option: "text, json or sarif."."""
    found = re.search(rf"--{option} NAME +([^.]+)\.", page)
    assert found
    return {*re.findall(r"\w+", found[1])} - {"or"}


def test_one_file_names_the_product() -> None:
    ours = {"compat", "doctor", "gpudoctor", "installers"}
    for path in HERE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert path.name == "product.py" or not {name.partition(".")[0] for name in names} & ours, path


def test_the_machine_of_the_tests_is_never_looked_at(tmp_path: Path) -> None:
    with pytest.raises(LookedAtThisMachine):
        run("check", folder=tmp_path)


def test_a_job_is_made_the_same_way_twice() -> None:
    """In folders of other names; its outputs name the folder."""
    job = next(job for job in jobs_of("lab", share=False) if job.name == "win-toolkit-order")
    first, second = carry_out(job), carry_out(job)
    assert first == second
    assert len(first) > len(SUFFIXES)


def test_what_changes_is_shown(tmp_path: Path) -> None:
    texts = Texts(tmp_path / "texts.sqlite")
    versions = {"before": "same\nold\n", "after": "same\nnew\n", "other": "other\nold\n", "later": "other\nnew\n"}
    digest = {name: digest_of(text) for name, text in versions.items()}
    texts.add((digest[name], pack(text)) for name, text in versions.items())
    before = {"j/a": digest["before"], "j/b": digest["other"], "j/c": digest["other"]}
    write_digests(tmp_path, "area", before)
    assert read_digests(tmp_path, "area") == before
    found = changes("area", before, {"j/a": digest["after"], "j/b": digest["later"], "j/d": digest["later"]})
    assert list(counts(found)) == [
        "area: 2 changed, 1 gone, 1 new",
        "  a: 1 changed",
        "  b: 1 changed",
        "  c: 1 gone",
        "  d: 1 new",
    ]
    (shown,) = diffs(found, texts, 40)
    assert shown.names == ["area: j/a", "area: j/b"]
    assert shown.diff[-2:] == ["-old", "+new"]


def test_a_text_that_is_not_in_the_cache_is_named(tmp_path: Path) -> None:
    change = Change("area", "a/text", Digest("0" * 12, 1), Digest("1" * 12, 1))
    (shown,) = diffs([change], Texts(tmp_path / "texts.sqlite"), 40)
    assert "--base REV" in shown.diff[-1]


def test_a_change_of_the_product_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("schema", "all")
    before = {one.name: one.digest for one in carry_out(job)}
    outputs = area.area_of("schema").outputs
    changed = area.Area(lambda: ["all"], lambda *words: {name: f"{text} " for name, text in outputs(*words).items()})
    monkeypatch.setattr("tests.golden.work.area_of", lambda name: changed)
    assert len(changes("schema", before, {one.name: one.digest for one in carry_out(job)})) == len(before)
