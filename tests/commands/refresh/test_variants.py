"""Wheel variants: found by their names, explained by what the index says of them, and never taken for plain wheels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.commands.refresh.index import Connection, Index
from doctor.commands.refresh.listing import wheels_of
from doctor.commands.refresh.variants import label_of
from doctor.commands.refresh.web import Web
from doctor.pyenv.variant import properties

SCHEMA = "https://variants-schema.wheelnext.dev/v0.0.3.json"
MEANT = {"nvidia": {"cuda_version_lower_bound": ["12.8"]}}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64-cu128.whl", "cu128"),
        ("torch-2.9.0-1-cp312-cp312-manylinux_2_28_x86_64-00000000.whl", "00000000"),
        ("torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl", ""),
        ("torch-2.9.0-3-cp312-cp312-manylinux_2_28_x86_64.whl", ""),  # a build number, no label
        ("torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64-CU128.whl", ""),
        ("torch-not-a-wheel.whl", ""),
        ("torch-2.9.0.tar.gz", ""),
    ],
)
def test_the_label_of_a_file_name(name: str, label: str) -> None:
    assert label_of(name) == label


def test_what_labels_stand_for() -> None:
    text = json.dumps({"$schema": SCHEMA, "variants": {"cu128": MEANT, "null": {}}})
    assert properties(text) == {"cu128": ("nvidia :: cuda_version_lower_bound :: 12.8",), "null": ()}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            json.dumps({"$schema": "https://variants-schema.wheelnext.dev/v9.json", "variants": {}}),
            "none that is known",
        ),
        ("{}", "not a variants.json"),
        ("[", "not a variants.json"),
        (json.dumps({"$schema": SCHEMA, "variants": {"cu128": ["nvidia"]}}), "not a variants.json"),
    ],
)
def test_what_is_not_known(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        properties(text)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"$schema": SCHEMA, "variants": {"cu128": MEANT}}, "cu128 (nvidia :: cuda_version_lower_bound :: 12.8): pip"),
        ({"$schema": "other", "variants": {}}, "their schema other is none that is known; pip"),
        (None, "the index does not say what they mean; pip"),
    ],
)
def test_an_index_with_variants(tmp_path: Path, table: object, said: str) -> None:
    folder = tmp_path / "torch"
    folder.mkdir()
    plain, variant = (f"torch-99.0-cp312-cp312-manylinux_2_28_x86_64{end}.whl" for end in ("", "-cu128"))
    names = [plain, variant]
    if table:
        (folder / "torch-99.0-variants.json").write_text(json.dumps(table))
        names.append("torch-99.0-variants.json")
    (folder / "index.html").write_text("".join(f'<a href="{name}">{name}</a>' for name in names))
    index = Index.of(str(tmp_path), "test")
    found, (note,) = wheels_of("torch", [index], Web(Connection((index,), has_default=True, timeout_s=5)))
    assert [one.name for one in found] == [plain]
    assert note.startswith("torch-99.0: variant wheels cu128")
    assert said in note
