"""The chart: its scale, and that nothing in it lies on anything else or outside it."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import NamedTuple

import pytest

from doctor.commands.bench.canvas import width_of
from doctor.commands.bench.results_table import Report
from doctor.commands.bench.scale import scale_for
from doctor.commands.bench.svg import render
from tests.commands.bench.made import ALL, ALL_PATHS, FOUR, report

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"head": 18.0, "dim": 11.5}
CASES = {
    "all": report(ALL, notes=("<b> & a note that is long enough to be wrapped " * 5,)),
    "four": report(FOUR),
    "cpu alone": report(FOUR, paths=("cpu",)),
    "one": report({"lenet": 0.0004}, paths=("cpu",)),
    "one in gpu": report({"mnist": 3.0}, paths=ALL_PATHS[1:]),
    "nothing": report({}, paths=("cpu",)),
}


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    text: str

    def covers(self, other: Box) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


def drawn(one: Report) -> ET.Element:
    return ET.fromstring(render(one))


def texts(root: ET.Element) -> list[Box]:
    boxes = []
    for element in root.iter(f"{SVG}text"):
        size = SIZES.get(element.get("class", ""), 12.5)
        text, x, y = element.text or "", float(element.get("x", "")), float(element.get("y", ""))
        width = width_of(text, size)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[element.get("text-anchor", "start")]
        boxes.append(Box(left, y - size * 0.8, left + width, y + size * 0.2, text))
    return boxes


def bars(root: ET.Element) -> list[Box]:
    rects = [one for one in root.iter(f"{SVG}rect") if one.get("class") != "ground"]
    places = [tuple(float(one.get(name, "")) for name in ("x", "y", "width", "height")) for one in rects]
    return [Box(x, y, x + width, y + height, "bar") for x, y, width, height in places]


@pytest.mark.parametrize("name", CASES)
def test_nothing_overlaps_or_lies_outside(name: str) -> None:
    root = drawn(CASES[name])
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    words, shapes = texts(root), bars(root)
    for one in (*words, *shapes):
        assert 0 <= one.left < one.right <= width, one
        assert 0 <= one.top < one.bottom <= height, one
    for one, other in combinations(words, 2):
        assert not one.covers(other), (one, other)
    for bar in shapes:
        assert not any(bar.covers(word) for word in words), bar


@pytest.mark.parametrize("name", CASES)
def test_it_stands_alone_and_tells_those_who_do_not_see_it(name: str) -> None:
    root = drawn(CASES[name])
    assert root.get("role") == "img"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    for one in CASES[name].subjects:
        assert one.name in (description.text or "")
    assert root.get("aria-labelledby", "").split() == [title.get("id"), description.get("id")]
    text = render(CASES[name])
    assert "prefers-color-scheme: dark" in text
    assert not [one for one in ("href", "url(", "@import", "<script") if one in text]


def test_bars_are_as_long_as_the_times_say() -> None:
    [cpu, slow, pool, cudnn] = [one for one in bars(drawn(report({"lenet": 100.0}))) if one.bottom - one.top == 18]
    left = cpu.left
    assert cudnn.left == left
    assert cpu.right > slow.right > pool.right > cudnn.right > left
    decade = (cpu.right - pool.right) / math.log10(1 / 0.06)
    assert cpu.right - slow.right == pytest.approx(decade * math.log10(1 / 0.12), abs=0.2)


def test_what_was_not_measured_is_said_and_not_drawn() -> None:
    root = drawn(CASES["cpu alone"])
    assert len([one for one in bars(root) if one.bottom - one.top == 18]) == len(FOUR)
    assert any("Not measured: GPU: no NVIDIA GPU is here" in one.text for one in texts(root))
    assert "GPU + cuDNN" not in {one.text for one in texts(root)}


def test_each_text_is_one_line_of_plain_signs() -> None:
    hostile = report(FOUR)._replace(command="gpudoctor bench --data '<a>&\x1b[31m\n'")
    assert all(one.text.isprintable() for one in texts(drawn(hostile)))


@pytest.mark.parametrize(
    ("values", "logarithmic", "first", "last"),
    [
        ([3.0, 4.0, 7.5], False, 0.0, 8.0),
        ([1.0], False, 0.0, 1.0),
        ([152, 27, 20, 7], True, 5.0, 200.0),
        ([0.02, 1_280_000], True, 0.01, 2_000_000.0),
        ([], False, 0.0, 1.0),
        ([0.0, math.inf, math.nan, 5.0], False, 0.0, 5.0),
    ],
)
def test_scale(values: list[float], logarithmic: bool, first: float, last: float) -> None:
    scale = scale_for(values, 100, 500)
    assert scale.is_logarithmic is logarithmic
    assert (scale.low, scale.high) == pytest.approx((first, last))
    assert (scale.at(scale.low), scale.at(scale.high)) == (100, 500)
    assert 2 <= len(scale.ticks) <= 10
    assert all(100 <= scale.at(one) <= 500 for one in (*values, *scale.ticks) if not math.isnan(one))
