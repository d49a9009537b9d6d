"""What a text shows besides its message gives the cause its commands: by the rules, else by gpudoctor's own plans."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from doctor.model.facts.seen import Seen
from doctor.output.document import TextStyle
from tests.commands.explain.test_dumps import document

_TOO_OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update"
_NO_CODE = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
_CUFFT = "OSError: libcufft.so.11: cannot open shared object file: No such file or directory"
_NO_OPS = "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}"
_NOT_DRIVEN = "NVRM: installed in this system is not supported by the"
_NO_GPU = "RuntimeError: CUDA error: no CUDA-capable device is detected"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (f"Ubuntu 22.04\n{_TOO_OLD}", "gpudoctor install driver --distribution ubuntu-22.04"),
        (f"Debian GNU/Linux 12\n{_TOO_OLD}", "gpudoctor install driver --distribution debian-12"),
        (f"Rocky Linux 9.4\n{_TOO_OLD}", "gpudoctor install driver --distribution rocky-9"),
        (f"Windows 11\n{_TOO_OLD}", "gpudoctor install driver --os windows"),
        (f"Ubuntu 22.04 in WSL 2\n{_TOO_OLD}", "gpudoctor install driver --os windows"),
        (f"Ubuntu 22.04, then Ubuntu 24.04\n{_TOO_OLD}", "gpudoctor install driver"),
        (_TOO_OLD, "gpudoctor install driver"),
        (f"torch\n{_TOO_OLD}", "gpudoctor install torch"),
        (f"GPU: RTX 5090\n{_NO_CODE}", 'gpudoctor matrix solve torch --gpu "RTX 5090"'),
        ("AssertionError: Torch not compiled with CUDA enabled", "gpudoctor install torch"),
        (_CUFFT, "python -m pip install nvidia-cufft-cu12"),
        (f"Ubuntu 24.04\n{_CUFFT}", "gpudoctor install cuda 12 --distribution ubuntu-24.04"),
        ("ImportError: libcudart.so.10.0: cannot open shared object file", "gpudoctor install cuda 10.0"),
        ("./app: error while loading shared libraries: libcublas.so.11: cannot open shared object file",
         "gpudoctor install cuda 11"),
        (f"python app.py\n{_NO_OPS}", 'python -m pip install -U "nvidia-cudnn-cu12>=9,<10"'),
        (f"app\n{_NO_OPS}", "gpudoctor install cudnn 9"),
        (f"Windows 11\n{_NO_OPS}", "gpudoctor install cudnn 9 --os windows --cuda-version 12.9"),
        (
            f"Windows 11\nC:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4\\bin\n{_NO_OPS}",
            "gpudoctor install cudnn 9 --os windows --cuda-version 12.4",
        ),
        ("thread panicked: Unable to dynamically load the \"cudnn\" shared library", "gpudoctor install cudnn 9"),
        ("error: libcudnn.so.12: cannot open shared object file: No such file", "gpudoctor install cudnn 9"),
        ("Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0", "gpudoctor install cudnn 8.6.0"),
        ("F cuda_dnn.cc:383] could not set cudnn filter descriptor: CUDNN_STATUS_BAD_PARAM", "gpudoctor which cudnn"),
        ("ERROR: No matching distribution found for torch==2.1.0", "gpudoctor matrix solve torch"),
        (_NO_GPU, "unset CUDA_VISIBLE_DEVICES"),
        (f"Windows 11\n{_NO_GPU}", "set CUDA_VISIBLE_DEVICES="),
        (f"Ubuntu 24.04, RTX 5090\n{_NOT_DRIVEN}",
         'gpudoctor install driver --distribution ubuntu-24.04 --gpu "RTX 5090"'),
        ("GPU: RTX 5090\napp: CUDA error: no kernel image is available for execution on the device",
         "cmake -DCMAKE_CUDA_ARCHITECTURES=120"),
        ("ERROR: Could not find a version that satisfies the requirement flash-attn==2.9",
         "python -m pip index versions flash-attn"),
        ("/usr/bin/ld: cannot find -lcudart", "-L/usr/local/cuda/lib64 -lcudart"),
        ("OSError: libnvshmem_host.so.3: cannot open shared object file", "apt-file search libnvshmem_host.so.3"),
        ("ImportError: libnvinfer.so.8: cannot open shared object file",
         "apt-file search libnvinfer.so.8"),
    ],
)  # fmt: skip
def test_the_first_cause_has_a_command_for_what_the_text_shows(text: str, command: str) -> None:
    first = document(text).plain()["causes"][0]
    assert f"`{command}`" in first["mends"], first


@pytest.mark.parametrize("message", [_TOO_OLD, _NO_CODE, "AssertionError: Torch not compiled with CUDA enabled"])
def test_a_jetson_gets_no_command_of_another_machine(message: str) -> None:
    first = document(f"Jetson AGX Orin, JetPack 6\n{message}").plain()["causes"][0]
    assert "gpudoctor install" not in first["mends"]
    assert "gpudoctor matrix solve" not in first["mends"]


@pytest.mark.parametrize(
    "command",
    [
        "gpudoctor install driver --distribution rocky-9",
        "gpudoctor install driver --os windows",
        'gpudoctor install driver --distribution ubuntu-24.04 --gpu "RTX 5090"',
        "gpudoctor install cuda 11 --distribution ubuntu-22.04",
        "gpudoctor install cudnn 9 --distribution ubuntu-24.04",
        "gpudoctor install cudnn 9 --os windows --cuda-version 12.9",
        'gpudoctor matrix solve torch --gpu "RTX 5090"',
    ],
)
def test_such_a_command_works(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_command_is_repeated_unbroken() -> None:
    shown = document(f"Ubuntu 24.04\n{_CUFFT}").text(TextStyle(width=60))
    assert re.search(r"^ +gpudoctor install cuda 12 --distribution ubuntu-24\.04$", shown, re.MULTILINE)


def test_lines_that_name_a_build_let_the_rules_print_the_remedy() -> None:
    text = f"Ubuntu 22.04, Python 3.11, RTX 5090, torch 2.6.0+cu124\n{_NO_CODE}"
    first = document(text).plain()["causes"][0]
    assert first["code"] == "gpu-too-new-for-cuda"
    assert any("pip install torch==2.7.0 --index-url" in line for one in first["remedies"] for line in one["commands"])


def test_words_complete_what_a_dump_leaves_open() -> None:
    dump = "name, driver_version\nNVIDIA GeForce RTX 5090, 575.57.08"
    text = f"Ubuntu 22.04, Python 3.11, torch 2.6.0+cu124\n{dump}\n{_NO_CODE}"
    plain = document(text).plain()
    first = plain["causes"][0]
    assert first["code"] == "gpu-too-new-for-cuda"
    assert any("pip install torch==2.7.0" in line for one in first["remedies"] for line in one["commands"])
    assert "unseen" in plain["facts"]["environments"]  # the facts are those of the dump alone


@pytest.mark.parametrize(
    "text",
    [
        f"it worked with torch 2.6.0+cu124 and fails with torch 2.5.0+cu121, RTX 5090, Ubuntu 22.04\n{_NO_CODE}",
        f"RTX 5090 and RTX 3090, torch 2.6.0+cu124, Ubuntu 22.04\n{_NO_CODE}",
    ],
)
def test_two_values_of_a_field_are_none(text: str) -> None:
    assert document(text).plain()["causes"][0]["remedies"] == []


def test_words_make_no_cause_and_no_facts_of_their_own() -> None:
    text = f"Ubuntu 22.04, Python 3.11, RTX 5090, torch 2.6.0+cu124\n{_NO_CODE}"
    plain = document(text).plain()
    assert plain["facts"] is None
    assert {one["code"] for one in plain["causes"]} == {"gpu-too-new-for-cuda"}
    assert document("torch 2.6.0+cu124 on an RTX 5090\nValueError: shapes differ").plain()["verdict"] != "stack-fault"


@pytest.mark.parametrize(
    ("dump", "seen"),
    [("SecureBoot enabled", True), ("SecureBoot disabled", False)],
)
def test_secure_boot_is_a_fact(dump: str, seen: bool) -> None:
    facts = document(dump)._facts
    assert facts
    assert isinstance(facts.system.secure_boot, Seen)
    assert facts.system.secure_boot.value is seen
