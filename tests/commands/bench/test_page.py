"""A benchmark as text, JSON and Markdown: the same numbers, all of them, and nothing that breaks the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat.base.choice import NoSuchName
from compat.base.errors import DataError
from doctor.commands.bench.articles import article_on, articles, ratio_of, seconds_of
from doctor.commands.bench.document import BenchDocument
from doctor.commands.bench.encode import BENCH_SCHEMA, NotABench, bench_schema, decode_bench, encode_bench
from doctor.commands.bench.networks import names
from doctor.commands.bench.results_table import Report, choices_of, comparisons, seconds, times
from doctor.model.schema import as_text
from doctor.output.document import TextStyle
from doctor.output.write import format_for
from tests.commands.bench.made import ALL, FOUR, report

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "bench.schema.json"
PAGES = sorted((COMMITTED.parent / "benchmarks").glob("bench-*.json"))
CASES = [report(ALL), report(FOUR, paths=("cpu",)), report({}, paths=("cpu",)), report(FOUR, notes=("a note",))]


def shown(style: str, one: Report, *, symbols: bool = True, chart: str = "") -> str:
    return format_for(style, BenchDocument).render(BenchDocument(one), TextStyle(symbols=symbols, picture=chart))


def schema_of_today() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(COMMITTED.read_text(encoding="utf-8"))
    return loaded


def test_the_committed_schema_is_current() -> None:
    current = as_text(bench_schema())
    assert COMMITTED.read_text(encoding="utf-8") == current, (
        "run: python -m doctor.commands.bench.encode > docs/bench.schema.json"
    )


@pytest.mark.parametrize("one", CASES)
def test_what_is_written_satisfies_it_and_comes_back_whole(one: Report) -> None:
    written = json.loads(shown("json", one))
    jsonschema.Draft202012Validator(schema_of_today()).validate(written)
    assert decode_bench(written) == one


@pytest.mark.parametrize("saved", PAGES, ids=lambda path: str(path.stem))
def test_the_committed_pages_and_charts_are_what_their_measurements_give(saved: Path) -> None:
    written = json.loads(saved.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema_of_today()).validate(written)
    one, chart = decode_bench(written), saved.with_suffix(".svg")
    advice = f"run: gpudoctor bench --show {saved.name} --format markdown --output {saved.stem}.md"
    assert chart.read_text(encoding="utf-8") == shown("svg", one), advice
    assert saved.with_suffix(".md").read_text(encoding="utf-8") == shown("markdown", one, chart=chart.name), advice


def test_there_is_a_committed_page() -> None:
    assert PAGES


def test_a_later_release_may_add_and_not_take_away() -> None:
    written = encode_bench(report(FOUR))
    written["machine"]["surprise"] = 1
    jsonschema.Draft202012Validator(schema_of_today()).validate(written)
    del written["machine"]["cpu"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema_of_today()).validate(written)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", "gpudoctor.report/1"),
        ("machine", None),
        ("machine", {"cpu": 1}),
        ("timings", [{}]),
        ("timings", 3),
        ("lacks", ["text"]),
        ("networks", [{"name": "lenet"}]),
        ("notes", [1]),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(key: str, value: Any) -> None:
    written = {**encode_bench(report(FOUR)), key: value}
    with pytest.raises(NotABench) as refused:
        decode_bench(written)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [None, [], "text", {"schema": BENCH_SCHEMA}])
def test_what_is_no_benchmark_is_refused(value: Any) -> None:
    with pytest.raises(NotABench):
        decode_bench(value)


def test_text_names_every_path_and_puts_the_article_beside_it() -> None:
    text = shown("text", report({"cifar10": 61.3}))
    rows = {line[2:17].strip(): line.split() for line in text.splitlines() if line.startswith(("  CPU", "  GPU"))}
    assert rows["CPU"][-6:] == ["61.3", "57.0–68.7", "1.0", "152", "s", "1.0"]
    assert rows["GPU, no pool"][-3:] == ["27", "s", "5.6"]
    assert rows["GPU"][-3:] == ["20", "s", "7.6"]
    assert rows["GPU + cuDNN"][-6:] == ["1.23", "1.14–1.37", "50", "7", "s", "22"]
    assert "i7-6700HQ, GTX 1060" in text
    assert "2017" in text
    assert "WINOGRAD" in text


@pytest.mark.parametrize("symbols", [True, False])
@pytest.mark.parametrize("one", CASES)
def test_text_keeps_to_80_columns(one: Report, symbols: bool) -> None:
    text = shown("text", one, symbols=symbols)
    assert max(map(len, text.splitlines())) <= 80
    assert symbols or text.isascii()
    assert "?" not in text
    rows = [line for line in text.splitlines() if re.match(r"  (CPU|GPU)[^:]*  ", line)]
    rows = [line for line in rows if "not measured" not in line]
    assert all(len(re.split(r"  +", line.strip())) == 6 for line in rows), rows  # label, five cells


def test_text_says_what_was_not_measured() -> None:
    text = shown("text", report(FOUR, paths=("cpu",)))
    assert text.count("not measured") == 3 * len(FOUR)
    assert "no NVIDIA GPU is here" in text
    assert shown("text", report({}, paths=("cpu",))) == "Nothing was measured: GPU: no NVIDIA GPU is here\n"


def test_throttling_is_told() -> None:
    for style in ("text", "markdown"):
        text = shown(style, report(FOUR))
        assert "GPU after: 66 degrees C, 1980 MHz" in text
        assert "held back by sw-power-cap" in text


def test_markdown_holds_command_machine_chart_tables() -> None:
    text = shown("markdown", report(ALL), chart="bench.svg")
    for words in (
        "gpudoctor bench cifar10 mnist",
        "2026-11-21",
        "NVIDIA H200",
        "](bench.svg)",
        "GPU + CNMeM",
        "about 20× its CPU",
        "| 152 s | 27 s | 20 s | 7 s |",
        "WINOGRAD, 0.012 ms, 9.0 MiB",
        "declined: CUDNN_STATUS_NOT",
    ):
        assert words in text, words
    assert "](" not in shown("markdown", report(FOUR)).replace("](http", "")


@pytest.mark.parametrize("one", CASES)
def test_markdown_tables_are_even(one: Report) -> None:
    hostile = one._replace(subjects=tuple(each._replace(note="a | b\nc <script>") for each in one.subjects))
    width = 0
    for line in shown("markdown", hostile).splitlines():
        cells = line.replace("\\|", "").count("|")
        assert not (cells and width) or cells == width, line
        width = cells
    assert "<script" not in shown("markdown", hostile)


def test_an_unknown_format() -> None:
    with pytest.raises(NoSuchName, match="markdown"):
        format_for("markdwn", BenchDocument)


@pytest.mark.parametrize(
    ("network", "ratios"),
    [
        ("cifar10", {"GPU, no pool": 152 / 27, "GPU": 152 / 20, "GPU + cuDNN": 152 / 7}),
        ("dogs-vs-cats", {"GPU, no pool": 526 / 41, "GPU": None, "GPU + cuDNN": 526 / 38}),
        ("mnist", {"GPU, no pool": 58 / 18, "GPU": None, "GPU + cuDNN": 58 / 9}),
        ("googlenet", {"GPU, no pool": None, "GPU": 11, "GPU + cuDNN": 20}),
        ("lenet", {"GPU, no pool": None, "GPU": None, "GPU + cuDNN": None}),
    ],
)
def test_the_articles_ratios(network: str, ratios: dict[str, float | None]) -> None:
    [one] = comparisons(report({network: 10.0}))
    assert {line.label: line.article_times_cpu for line in one.lines if line.path != "cpu"} == ratios


def test_the_articles_are_of_networks_that_there_are() -> None:
    named = [name for row in articles() for name in row.networks]
    assert len(named) == len(set(named))
    assert set(named) <= set(names())
    for row in articles():
        assert row.source
        assert row.confidence in {"high", "medium", "low"}
        assert (row.cpu_s is None) != (row.cudnn_ratio is None)


def test_native_caffe_follows_from_the_two_ratios_of_its_article() -> None:
    row = article_on("alexnet")
    assert row is not None
    assert ratio_of(row, "gpu", True) == round(20 / 1.8)
    assert seconds_of(row, "gpu+cudnn", True) is None


def test_a_damaged_table_of_articles(tmp_path: Path) -> None:
    file = tmp_path / "articles.json"
    for content in ("{", '{"rows": [{}]}', "[]"):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(DataError):
            articles.__wrapped__(str(file))


def test_ratios_need_both_sides() -> None:
    [one] = comparisons(report({"mnist": 10.0}, paths=("gpu True", "gpu+cudnn")))
    assert [line.times_cpu for line in one.lines] == [None] * 4


def test_choices_are_grouped_by_layer_and_direction() -> None:
    [group] = choices_of(report({"lenet": 1.0}).bench, "lenet")
    fastest, free = group.taken("fastest"), group.taken("no-workspace")
    assert (group.layer, group.direction, len(group.choices)) == ("conv1", "forward", 4)
    assert fastest is not None
    assert free is not None
    assert (fastest.algorithm, free.algorithm) == ("WINOGRAD", "IMPLICIT_GEMM")
    assert group.taken("limited-workspace") is None


@pytest.mark.parametrize(("value", "text"), [(1234.5, "1,234"), (99.96, "100"), (27.44, "27.4"), (0.0714, "0.0714")])
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.853, "0.85"), (1.0, "1.0"), (7.61, "7.6"), (21.7, "22")])
def test_times(value: float | None, text: str) -> None:
    assert times(value) == text
