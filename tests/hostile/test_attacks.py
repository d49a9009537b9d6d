"""A sample of the attacks; SECURITY.md has the figures of the long runs, and says how to make them."""

from __future__ import annotations

import os
import sys

import pytest

from tests.hostile.attacks import ATTACKS, FORMATS, _form_fault

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and names that Windows has not")
FEW = {"lines": 40, "names": 4, "reports": 40, "kills": 6}


@pytest.mark.no_cover  # other tests run the same lines
@pytest.mark.parametrize("what", FEW)
def test_few(what: str) -> None:
    assert list(ATTACKS[what](range(7, 7 + FEW[what]))) == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be trapped")
def test_few_traps() -> None:
    assert list(ATTACKS["traps"](range(7, 13))) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("what", [*FEW, "traps"])
def test_many(what: str) -> None:
    if what == "traps" and os.geteuid() != 0:
        pytest.skip("only root can be trapped")
    assert list(ATTACKS[what](range(1, 101))) == []


@pytest.mark.parametrize("style", FORMATS)
def test_a_bad_form_would_be_seen(style: str) -> None:
    bad = {
        "html": "<script>x",
        "github": "::error::x",
        "prometheus": 'a{b="\n"} 1',
        "text": "\x1b[2J",
        "markdown": "\u202e",
    }
    try:
        assert _form_fault(style, bad.get(style, "{"))
    except (ValueError, SyntaxError):
        pass  # of a parser
