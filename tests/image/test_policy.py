"""An image against the policy of a good machine, and variables that were left in its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.diagnose import exit_status
from doctor.model.encode import encode_report
from doctor.model.finding import Severity
from tests.image.pack import config_of, docker, tar_of, tar_with
from tests.lab.cudnn_tree import copy_of
from tests.lab.parts import DISK, VENV, at, together

ASSUME = '[assume]\ndriver = "580.65.06"\ngpu = "L4"\n'
TORCH = '[require.frameworks]\ntorch = { version = "==2.9.*", build = "cu128" }\n'


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A disk with torch 2.9.1 and its cuDNN 9.10.2, and another cuDNN below /opt."""
    root = tmp_path_factory.mktemp("image") / "tree"
    root.mkdir()
    together(DISK, at("/opt/cudnn/lib", copy_of, "9.5.1"))(root)
    return tar_of(root)


def checked(layer: bytes, folder: Path, policy: str = "", **env: str) -> tuple[list[dict[str, Any]], int]:
    """The findings and the exit status of `check --image`, with a policy where its text is given."""
    (folder / "app.tar").write_bytes(tar_with(docker([layer], config_of([layer], {"PATH": f"{VENV}/bin", **env}))))
    (folder / "good.toml").write_text(policy)
    report = report_of(
        CheckSubject(image=str(folder / "app.tar"), policy=str(folder / "good.toml") if policy else ""), 0.0
    )
    return encode_report(report)["findings"], exit_status(report, Severity.ERROR)


@pytest.mark.parametrize(
    ("policy", "status", "line"),
    [
        (f'[require]\ndriver = ">=570"\ncudnn = "==9.10.*"\n{TORCH}{ASSUME}', 0, 0),
        (f'[require]\ncudnn = ">=9.11"\n{TORCH}{ASSUME}', 1, 2),
        (f"{TORCH.replace('cu128', 'cu130')}{ASSUME}", 1, 2),
        (f'[require.frameworks]\njax = ">=0.7"\n{ASSUME}', 1, 2),
        (f'[require]\ndriver = ">=590"\n{ASSUME}', 1, 2),
        (f'[require]\ndriver = ">=570"\n{TORCH}', 4, 0),
    ],
)
def test_a_policy(policy: str, status: int, line: int, layer: bytes, tmp_path: Path) -> None:
    findings, exited = checked(layer, tmp_path, policy)
    places = [link["source"] for one in findings if one["code"] == "policy-not-met" for link in one["evidence"]]
    assert (exited, bool(places)) == (status, status == 1), findings
    assert all(one.endswith(f"good.toml:{line}") for one in places)


def test_a_policy_forbids_what_is_left_in(layer: bytes, tmp_path: Path) -> None:
    policy = f'[findings]\nforbid = ["container-gpus-hidden"]\n{ASSUME}'
    findings, status = checked(layer, tmp_path, policy, NVIDIA_VISIBLE_DEVICES="void")
    assert [(one["code"], one["severity"], status) for one in findings] == [("container-gpus-hidden", "error", 1)]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("CUDA_VISIBLE_DEVICES", "", "cuda-visible-devices-empty-or-invalid"),
        ("CUDA_VISIBLE_DEVICES", "-1", "cuda-visible-devices-empty-or-invalid"),
        ("NVIDIA_VISIBLE_DEVICES", "void", "container-gpus-hidden"),
        ("NVIDIA_VISIBLE_DEVICES", "none", "container-gpus-hidden"),
        ("NVIDIA_DRIVER_CAPABILITIES", "utility", "container-without-compute"),
        ("LD_LIBRARY_PATH", "/opt/cudnn/lib", "ld-library-path-shadowing"),
        ("NVIDIA_VISIBLE_DEVICES", "all", ""),
        ("CUDA_VISIBLE_DEVICES", "0", ""),
        ("LD_LIBRARY_PATH", "/usr/local/lib", ""),
    ],
)
def test_a_variable_that_was_left_in(name: str, value: str, code: str, layer: bytes, tmp_path: Path) -> None:
    """The finding names the line of the image's history."""
    findings, _ = checked(layer, tmp_path, **{name: value})
    causes = [one["code"] for one in findings if not one["explained_by"]]
    assert causes == ([code] if code else [])
    line = f"the image's history, line 3: ENV {name}={value}"
    assert not code or any(line in f"{link}" for link in findings[0]["evidence"]), findings[0]["evidence"]
