"""Lock files of every kind: which build each platform gets, with its line, and what is wrong with it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.check.text import render
from doctor.diagnose import exit_status
from doctor.host import BadRequest
from doctor.model.finding import Report, Severity
from doctor.output.document import TextStyle

X86, ARM, WINDOWS, MAC = "linux/amd64", "linux/arm64", "windows/amd64", "darwin/arm64"
WHL = "https://download.pytorch.org/whl"
CU129 = f"{WHL}/cu129"
PYPI = "https://example.org/simple"
UV = f"""version = 1
requires-python = ">=3.10"

[[package]]
name = "mine"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "onnxruntime", marker = "sys_platform == 'darwin'" }},
    {{ name = "torch", version = "2.8.0", source = {{ registry = "{PYPI}" }}, marker = "sys_platform != 'linux'" }},
    {{ name = "torch", version = "2.8.0", source = {{ registry = "{CU129}" }}, marker = "sys_platform == 'linux'" }},
]

[package.optional-dependencies]
old = [{{ name = "numpy" }}]

[package.dev-dependencies]
dev = [{{ name = "onnxruntime-gpu" }}]

[[package]]
name = "numpy"
version = "1.26.4"
source = {{ registry = "{PYPI}" }}

[[package]]
name = "onnxruntime"
version = "1.22.0"
source = {{ registry = "{PYPI}" }}

[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
source = {{ registry = "{PYPI}" }}

[[package]]
name = "torch"
version = "2.8.0"
source = {{ registry = "{PYPI}" }}

[[package]]
name = "torch"
version = "2.8.0"
source = {{ registry = "{WHL}/cu129" }}
"""
POETRY = f"""[[package]]
name = "torch"
version = "2.6.0"
groups = ["main"]
markers = "sys_platform == \\"linux\\""

[[package]]
name = "torch"
version = "2.6.0+cpu"
groups = ["main"]
markers = "sys_platform == \\"win32\\""
[package.source]
type = "legacy"
url = "{WHL}/cpu"

[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
optional = true
groups = ["main"]

[extras]
onnx = ["onnxruntime-gpu"]

[metadata]
python-versions = ">=3.10,<3.12"
"""
PDM = """[[package]]
name = "torch"
version = "2.6.0"
groups = ["default"]
marker = "sys_platform == 'linux'"

[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
groups = ["gpu"]
"""
PYLOCK = f"""lock-version = "1.0"
[[packages]]
name = "torch"
version = "2.8.0"
index = "{WHL}/cu126"
marker = "sys_platform == 'linux'"
[[packages]]
name = "torch"
marker = "sys_platform == 'win32'"
[[packages.wheels]]
url = "{WHL}/cpu/torch-2.8.0%2Bcpu-cp312-cp312-win_amd64.whl"
"""
PIPFILE = json.dumps(
    {
        "_meta": {"sources": [{"name": "pypi", "url": PYPI}, {"name": "torch", "url": f"{WHL}/cu124"}]},
        "default": {"torch": {"version": "==2.6.0", "index": "torch", "markers": "sys_platform == 'linux'"}},
        "develop": {"onnxruntime-gpu": {"version": "==1.22.0", "index": "pypi"}},
    },
    indent=1,
)
PIXI = f"""version: 6
environments:
  default:
    packages:
      linux-64:
      - conda: https://example.org/linux-64/numpy-1.26.4-py312_0.conda
      - pypi: {WHL}/cu124/torch-2.6.0%2Bcu124-cp312-cp312-linux_x86_64.whl
      win-64:
      - conda: https://example.org/win-64/pytorch-2.6.0-cpu_mkl_py312_0.conda
packages: []
"""
CONDA_LOCK = """version: 1
package:
- name: pytorch
  version: 2.6.0
  manager: conda
  platform: linux-64
  url: https://example.org/linux-64/pytorch-2.6.0-cuda126_generic_py312_0.conda
- name: pytorch
  version: 2.6.0
  manager: conda
  platform: win-64
  url: https://example.org/win-64/pytorch-2.6.0-cpu_generic_py312_0.conda
"""
YML = "name: a\ndependencies:\n- python=3.12\n- pip:\n  - torch==2.6.0\n"
TXT = f"--index-url {WHL}/cu124\ntorch==2.6.0 --hash=sha256:0\nnumpy==1.26.4\n"


def checked(folder: Path, name: str, text: str, platform: str = X86, **more: Any) -> Report:
    (folder / name).write_text(text)
    subject = CheckSubject(lock=str(folder / name), platform=platform, policy="", **more)
    return report_of(subject, time.perf_counter())


def builds(said: Report) -> dict[str, str]:
    """Each framework with its build and line."""
    found = (one for each in said.facts.environments.get() for one in each.frameworks.get())
    return {f"{one.package} {one.version}": str(one.pinned_at).rpartition(":")[2] for one in found if one.pinned_at}


@pytest.mark.parametrize(
    "case",
    [
        ("uv.lock", UV, X86, {}, {"torch 2.8.0+cu129": "41"}),
        ("uv.lock", UV, WINDOWS, {}, {"torch 2.8.0+cpu": "36"}),
        ("uv.lock", UV, X86, {"groups": ("dev",)}, {"torch 2.8.0+cu129": "41", "onnxruntime-gpu 1.22.0": "31"}),
        ("poetry.lock", POETRY, X86, {}, {"torch 2.6.0+cu124": "2"}),
        ("poetry.lock", POETRY, ARM, {}, {"torch 2.6.0+cpu": "2"}),
        ("poetry.lock", POETRY, WINDOWS, {}, {"torch 2.6.0+cpu": "8"}),
        ("poetry.lock", POETRY, X86, {"extras": ("onnx",)}, {"torch 2.6.0+cu124": "2", "onnxruntime-gpu 1.22.0": "17"}),
        ("pdm.lock", PDM, X86, {}, {"torch 2.6.0+cu124": "2"}),
        ("pdm.lock", PDM, X86, {"groups": ("gpu",)}, {"torch 2.6.0+cu124": "2", "onnxruntime-gpu 1.22.0": "8"}),
        ("pylock.toml", PYLOCK, X86, {}, {"torch 2.8.0+cu126": "3"}),
        ("pylock.toml", PYLOCK, WINDOWS, {}, {"torch 2.8.0+cpu": "8"}),
        ("Pipfile.lock", PIPFILE, X86, {}, {"torch 2.6.0+cu124": "15"}),
        ("Pipfile.lock", PIPFILE, MAC, {}, {}),
        ("pixi.lock", PIXI, X86, {}, {"torch 2.6.0+cu124": "7"}),
        ("conda-lock.yml", CONDA_LOCK, X86, {}, {"torch 2.6.0": "3"}),
        ("conda-lock.yml", CONDA_LOCK, WINDOWS, {}, {"torch 2.6.0+cpu": "8"}),
        ("environment.yml", YML, X86, {}, {"torch 2.6.0+cu124": "5"}),
        ("requirements.txt", TXT, X86, {}, {"torch 2.6.0+cu124": "2"}),
    ],
)
def test_each_platform_gets_its_build(case: tuple[Any, ...], tmp_path: Path) -> None:
    name, text, platform, more, expected = case
    assert builds(checked(tmp_path, name, text, platform, **more)) == expected


FAULTS = [
    ("uv.lock", UV, WINDOWS, {"assume_gpus": ("RTX 4090",)}, "cpu-only-wheel"),
    ("poetry.lock", POETRY, ARM, {"assume_gpus": ("GH200",)}, "cpu-only-wheel"),
    ("poetry.lock", POETRY, X86, {"assume_gpus": ("RTX 5090",)}, "gpu-too-new-for-cuda"),
    ("uv.lock", UV, X86, {"assume_driver": "470.57.02"}, "driver-too-old-for-runtime"),
    ("conda-lock.yml", CONDA_LOCK, WINDOWS, {"assume_gpus": ("RTX 4090",)}, "cpu-only-wheel"),
    ("requirements.txt", "torch==2.9.1\ntorchvision==0.15.0\n", X86, {}, "companion-version-mismatch"),
    ("requirements.txt", "onnxruntime==1.22.0\nonnxruntime-gpu==1.22.0\n", X86, {}, "two-onnxruntimes"),
    ("requirements.txt", "torch\n", X86, {"assume_driver": "550.54.14"}, "framework-not-pinned"),
    ("requirements.txt", "tensorflow==2.18.0\n", X86, {"assume_gpus": ("L4",)}, "dockerfile-libraries-missing"),
    ("requirements.txt", f"--extra-index-url {WHL}/cu130\ntorch==2.9.1+cu130\n", X86, {"assume_driver": "550.54.14"},
     "driver-too-old-for-runtime"),
    ("uv.lock", UV.replace('name = "numpy"\nversion = "1.26.4"', 'name = "torchvision"\nversion = "0.23.0"').replace(
        '{ name = "numpy" }', '{ name = "torchvision" }').replace("cu129", "cu130"), X86, {"extras": ("old",)},
     "companion-version-mismatch"),
    ("uv.lock", UV.replace("1.26.4", "2.1.0").replace("2.8.0", "2.2.0"), WINDOWS, {"extras": ("old",)},
     "numpy-abi-mismatch"),
]  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_faults(case: tuple[Any, ...], tmp_path: Path) -> None:
    name, text, platform, more, code = case
    said = checked(tmp_path, name, text, platform, **more)
    [finding] = [one for one in said.findings if one.code == code]
    assert any(one.file.endswith(name) and one.line for one in finding.evidence), finding.evidence


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("uv.lock", UV, {"assume_gpus": ("H100",), "assume_driver": "575.57.08"}),
        ("poetry.lock", POETRY, {"assume_gpus": ("H100",), "assume_driver": "560.35.05"}),
        ("pixi.lock", PIXI, {"assume_gpus": ("H100",), "assume_driver": "560.35.05"}),
        ("requirements.txt", TXT, {"assume_gpus": ("L4",), "assume_driver": "560.35.05"}),
        ("requirements.txt", "tensorflow[and-cuda]==2.18.0\n", {"assume_gpus": ("L4",), "assume_driver": "560.35.05"}),
        ("requirements.txt", "tensorflow==2.18.0\n", {}),
    ],
)
def test_healthy_ones_are_silent(name: str, text: str, more: dict[str, Any], tmp_path: Path) -> None:
    said = checked(tmp_path, name, text, **more)
    assert [one.code for one in said.findings if one.severity is not Severity.INFO] == []
    assert exit_status(said, Severity.ERROR) == 0, [
        one for one in said.answers if one.kind.value == "unknown" and one.blocks_verdict
    ]


def test_what_is_not_read_is_unknown(tmp_path: Path) -> None:
    said = checked(tmp_path, "requirements.txt", "-r more.txt\n-e ./mine\ntorch==2.9.1\n")
    assert exit_status(said, Severity.ERROR) == 4
    [answer] = [one for one in said.answers if one.code == "plan-incomplete"]
    assert "requirements.txt:2 installs ./mine" in answer.why


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("uv.lock", "version = 9\n", "reads version 1"),
        ("uv.lock", "version = 1\n", "it has no project"),
        ("pylock.toml", "torch==2.9.1\n", "it is a requirements file, not TOML: rename it to requirements.txt"),
        ("poetry.lock", "[[", "it is not TOML:"),
        ("Pipfile.lock", "{", "it is not JSON"),
        ("poetry.lock", "", "it is empty"),
        ("pylock.toml", "# of nothing\n", "it is empty"),
        ("Pipfile.lock", "[]", "no section default"),
        ("pixi.lock", "environments: {}\n", "nothing is locked for linux-64"),
        ("conda-lock.yml", CONDA_LOCK.replace("linux-64", "osx-64"), "nothing is locked for linux-64"),
        ("environment.yml", "name: a\n", "it has no dependencies"),
        ("Cargo.lock", "", "gpudoctor does not read this file"),
        ("poetry.lock", POETRY.replace("sys_platform ==", "sys_platform !!"), "cannot be read"),
        ("uv.lock", f"version = 1\n{'.'.join('a' * 20_000)} = 1\n", "a key has more than 32 parts"),
        ("uv.lock", UV.replace('source = { virtual = "." }', "source = 3"), "`source` is no table"),
        ("uv.lock", UV.replace("marker = \"sys_platform == 'darwin'\"", "marker = 3"), "`marker` is no text"),
        ("uv.lock", UV.replace('requires-python = ">=3.10"', "requires-python = 3.12"), "`requires-python` is no text"),
        ("poetry.lock", 'metadata = "x"\n', "`metadata` is no table"),
        ("poetry.lock", '[[package]]\nname = "torch"\nsource = "x"\n', "`source` is no table"),
        ("pylock.toml", '[[packages]]\nname = "torch"\nwheels = true\n', "`wheels` is no list"),
        ("Pipfile.lock", '{"_meta": [], "default": {}}', "`_meta` is no table"),
        ("Pipfile.lock", '{"default": {"torch": {"index": []}}}', "`index` is no text"),
    ],
)
def test_other_files_end_in_one_line(name: str, text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=says) as raised:
        checked(tmp_path, name, text)
    assert "\n" not in str(raised.value)


def test_the_remedy_of_a_lock_file_edits_the_project(tmp_path: Path) -> None:
    said = checked(tmp_path, "uv.lock", UV, WINDOWS, assume_gpus=("RTX 4090",))
    [finding] = [one for one in said.findings if one.code == "cpu-only-wheel"]
    first, *lines = finding.remedies[0].commands
    assert first == "# in pyproject.toml, then run `uv lock`:"
    assert 'torch = { index = "pytorch-cu129" }' in lines
    assert f'url = "{WHL}/cu129"' in lines


def test_a_list_without_a_framework_says_so(tmp_path: Path) -> None:
    said = render(checked(tmp_path, "requirements.txt", "pandas==2.2.0\n"), TextStyle())
    assert "No line that was read installs a GPU framework" in said


@pytest.mark.parametrize(
    ("asks", "python"),
    [
        ("python=3.10", "3.10"),
        ("conda-forge::python ==3.9.18", "3.9"),
        ("python 3.8", "3.8"),
        ("python >=3.9,<3.11", "3.10"),
        ("python", "3.12"),
        ("python-dateutil=2.9", "3.12"),
    ],
)
def test_the_python_of_an_environment_file(asks: str, python: str, tmp_path: Path) -> None:
    text = f"dependencies:\n  - {asks}\n  - pip:\n    - torch==2.1.2\n"
    said = checked(tmp_path, "environment.yml", text)
    [environment] = said.facts.environments.get()
    assert environment.python.get() == python
    codes = [one.code for one in said.findings]
    assert ("python-version-no-wheel" in codes) == (python == "3.12")


def test_a_python_that_is_assumed_is_named_so(tmp_path: Path) -> None:
    text = "torch==2.1.2\n"
    [finding] = [one for one in checked(tmp_path, "requirements.txt", text).findings if one.code.startswith("python")]
    assert "assumed from requirements.txt: --python-version sets another" in str(finding.evidence)
    [finding] = [
        one
        for one in checked(tmp_path, "requirements.txt", text, python_version="3.12").findings
        if one.code.startswith("python")
    ]
    assert "assumed from" not in str(finding.evidence)


@pytest.mark.parametrize(
    ("asked", "python"),
    [("3.11.*", "3.11"), ("~3.10", "3.10"), ("^3.13", "3.13"), ("3.9", "3.9"), (">=3.8,<3.11", "3.10"),
     ("~3.9 || ~3.10", "3.10"), ("^3.8", "3.12"), (">=3.10 <>", "3.12")],
)  # fmt: skip
def test_a_python_as_poetry_writes_it(asked: str, python: str, tmp_path: Path) -> None:
    said = checked(tmp_path, "poetry.lock", POETRY.replace(">=3.10,<3.12", asked))
    assert [str(one.python.get()) for one in said.facts.environments.get()] == [python]


def test_a_pixi_lock_says_its_python_and_gets_its_own_lines(tmp_path: Path) -> None:
    text = PIXI.replace(
        "packages: []\n", "packages:\n- conda: https://example.org/linux-64/python-3.10.19-h3c07f61_3_cpython.conda\n"
    ).replace("cp312-cp312", "cp310-cp310")
    said = checked(tmp_path, "pixi.lock", text, assume_gpus=("RTX 5090",), assume_driver="580.65")
    [environment] = said.facts.environments.get()
    assert environment.python.get() == "3.10"
    shown = render(said, TextStyle())
    assert f'torch = {{ version = "==2.7.0", index = "{WHL}/cu128" }}' in shown
    assert "pip install" not in shown


def test_a_poetry_lock_gets_the_commands_of_poetry(tmp_path: Path) -> None:
    said = checked(tmp_path, "poetry.lock", POETRY, assume_gpus=("RTX 5090",), assume_driver="580.65")
    shown = render(said, TextStyle())
    assert "poetry add --source pytorch-cu128" in shown
    assert "pip install" not in shown


def test_a_pipfile_says_its_python(tmp_path: Path) -> None:
    text = json.dumps({"_meta": {"requires": {"python_version": "3.9"}}, "default": {"torch": {"version": "==2.6.0"}}})
    said = checked(tmp_path, "Pipfile.lock", text)
    assert [str(one.python.get()) for one in said.facts.environments.get()] == ["3.9"]


def test_a_long_list_with_hashes_is_read(tmp_path: Path) -> None:
    hashes = "".join(f" \\\n    --hash=sha256:{number:064x}" for number in range(8_000))
    said = checked(tmp_path, "requirements.txt", f"numpy==2.0.0{hashes}\ntorch==2.6.0\n")
    assert builds(said) == {"torch 2.6.0+cu124": "8002"}
    assert "plan-incomplete" not in {one.code for one in said.answers if one.kind.value == "bad"}


def test_a_line_of_blanks_takes_no_time(tmp_path: Path) -> None:
    started = time.perf_counter()
    checked(tmp_path, "requirements.txt", f"torch==2.6.0{' ' * 400_000}x\n")
    assert time.perf_counter() - started < 5


def test_a_line_that_pip_refuses_is_unknown(tmp_path: Path) -> None:
    found = checked(tmp_path, "requirements.txt", "torch==\nnumpy==1.26.4\n")
    assert exit_status(found, Severity.ERROR) == 4


@pytest.mark.parametrize("platform", [MAC, "darwin/amd64"])
def test_a_wheel_for_both_processors_is_published_for_both(platform: str, tmp_path: Path) -> None:
    for version in ("1.17.0", "1.20.1", "1.22.1"):
        text = f"onnxruntime=={version}\n"
        assert not checked(tmp_path, "requirements.txt", text, platform, python_version="3.11").findings


def test_a_build_that_no_named_index_has_is_open(tmp_path: Path) -> None:
    bare = checked(tmp_path, "requirements.txt", "torch==2.6.0+cu124\n")
    assert exit_status(bare, Severity.ERROR) == 4
    named = checked(tmp_path, "requirements.txt", f"--extra-index-url {WHL}/cu124\ntorch==2.6.0+cu124\n")
    assert exit_status(named, Severity.ERROR) == 0
