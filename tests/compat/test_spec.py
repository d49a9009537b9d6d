"""Specs: names, specifiers, builds, extras."""

from __future__ import annotations

import pytest

from compat.spec import BadSpec, Spec, parse_spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("torch", Spec("torch", "", "", ())),
        ("Jax_CUDA12.plugin", Spec("jax-cuda12-plugin", "", "", ())),
        ("torch==2.6.0", Spec("torch", "==2.6.0", "", ())),
        ("torch==2.6.0+cu124", Spec("torch", "==2.6.0", "cu124", ())),
        ("torch>=2.4+cu124,<2.8", Spec("torch", ">=2.4,<2.8", "cu124", ())),
        (" torch >= 2.4, < 2.8 ", Spec("torch", ">=2.4,<2.8", "", ())),
        ("torch+cu128", Spec("torch", "", "cu128", ())),
        ("jax[cuda12]==0.7.0", Spec("jax", "==0.7.0", "", ("cuda12",))),
        ("tensorflow[and-cuda]", Spec("tensorflow", "", "", ("and-cuda",))),
        ("jaxlib==0.4.25+cuda12.cudnn89", Spec("jaxlib", "==0.4.25", "cuda12.cudnn89", ())),
        ("cudnn==9.10.2", Spec("cudnn", "==9.10.2", "", ())),
        ("torch==2.*", Spec("torch", "==2.*", "", ())),
        ("torch==2.6.0 ,", Spec("torch", "==2.6.0", "", ())),  # as pip takes it
    ],
)
def test_what_a_user_writes(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    "text",
    [
        *("", "==2.0", "torch 2 0", "torch=2.0", "torch==", "torch==2.0+", "-torch", "a;b", "a" * 9 + "["),
        *("torch==2.6.0,,", "torch>=2,,<3", "torch>=2, ,<3", "torch,", "torch,>=2", "torch==2.6.0+cu124,,"),
    ],
)
def test_what_is_no_spec(text: str) -> None:
    with pytest.raises(BadSpec, match="is not a package with a version specifier"):
        parse_spec(text)


@pytest.mark.parametrize("text", ["torch==\uff12.9.1", "torch==" + "9" * 5000, "a" * 100_000, "torch==2.9\u200b"])
def test_what_would_be_read_as_something_else(text: str) -> None:
    with pytest.raises(BadSpec, match="is not a package with a version specifier") as error:
        parse_spec(text)
    assert len(str(error.value)) < 200
