"""Dumps as their programs print them become facts, and the rules of `check` judge them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.commands.explain.command import explained
from doctor.commands.explain.document import ExplainDocument
from doctor.commands.explain.dump import Field, all_dumps, tell
from doctor.commands.explain.report_from_text import causes_of_report, report_of
from doctor.messages.causes import Cause
from doctor.messages.reading import WORDS, read
from doctor.model.facts.seen import Place, Seen, value_or
from doctor.model.finding import Report, Status
from doctor.output.document import TextStyle

_VISION = "torchvision==0.14.1+cu117"
_VISION_21 = "torchvision==0.21.0+cu124"
FOLDER = Path(__file__).parent / "dumps"
MATRIX = Matrix()
NAME = "the text's machine"


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def document(text: str) -> ExplainDocument:
    return explained(read(io.BytesIO(text.encode())), NAME, MATRIX)


def report(text: str) -> Report:
    told = tell(read(io.BytesIO(text.encode())))
    assert told.titles
    return report_of(told, NAME, MATRIX)


def causes(text: str) -> tuple[Cause, ...]:
    return causes_of_report(report(text), read(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("collect_env-1.13.1", Field.GPU, ["0 NVIDIA GeForce RTX 4090", "1 NVIDIA GeForce RTX 4090"]),
        ("collect_env-2.0.1", Field.DRIVER, ["535.129.03"]),
        ("collect_env-2.9.1", Field.PACKAGE, ["torch==2.9.1+cu128", "numpy==2.1.2", "nvidia-cudnn-cu12==9.10.2.21"]),
        ("vllm", Field.TORCH_CUDA, ["12.4"]),
        ("vllm", Field.GPU, ["0 NVIDIA GeForce RTX 5090", "1 NVIDIA GeForce RTX 5090"]),
        ("nvidia-smi-470", Field.DRIVER_CUDA, ["11.4"]),
        ("nvidia-smi-470", Field.GPU, ["0 Tesla K20m", "1 NVIDIA GeForce ..."]),
        ("nvidia-smi-580", Field.GPU, ["0 NVIDIA H100 80GB HBM3"]),
        ("jax-0.10.2", Field.PACKAGE, ["jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"]),
        ("jax-0.10.2", Field.PLATFORM, ["Linux-6.12.9-amd64-x86_64"]),
        ("cupy-13", Field.DRIVER_CUDA, ["12.4"]),
        ("cupy-13", Field.CAPABILITY, ["0 8.6"]),
        ("cudnn-frontend-1.32", Field.GLIBC, ["2.36"]),
        ("cudnn-frontend-1.32", Field.SYSTEM, ["Debian GNU/Linux 12 (bookworm)"]),
        ("tensorflow-2.17-windows", Field.PLATFORM, ["Windows-10-10.0.22631-SP0"]),
        ("ds_report", Field.PACKAGE, ["torch==2.1.2+cu121", "deepspeed==0.14.0"]),
        ("ds_report-0.19", Field.PACKAGE, ["torch==2.13.0+cpu", "deepspeed==0.19.8"]),
        ("transformers-5.23", Field.PACKAGE, ["transformers==5.23.0", "accelerate==1.15.0", "torch==2.13.0+cpu"]),
        ("transformers-5.23", Field.PLATFORM, ["Linux-6.8.0-45-generic-x86_64-with-glibc2.36"]),
        ("transformers-4.46", Field.GPU, ["0 NVIDIA GeForce RTX 5090"]),
        ("transformers-4.46", Field.CUDA_WORKS, ["yes"]),
        ("accelerate-1.15", Field.PACKAGE, ["accelerate==1.15.0", "numpy==2.4.6", "torch==2.13.0+cpu"]),
        ("accelerate-1.15", Field.CUDA_FAILS, ["yes"]),
        ("jax-0.4.13", Field.PACKAGE, ["jax==0.4.13", "jaxlib==0.4.13", "numpy==1.26.4"]),
        ("jax-0.4.13", Field.GPU, ["0 Tesla V100-SXM2-16GB"]),
        ("jax-0.4.13", Field.CUDA_WORKS, []),
        ("jax-0.10.2-variables", Field.CUDA_WORKS, ["yes"]),
        ("jax-0.10.2-variables", Field.DRIVER, ["535.104.05"]),
        ("tensorflow-2.4", Field.VARIABLE, ["LD_LIBRARY_PATH=/usr/local/cuda-11.0/lib64"]),
        ("tensorflow-form", Field.PACKAGE, ["tensorflow==2.18.0"]),
        ("tensorflow-form", Field.GPU, ["0 Nvidia RTX 3060"]),
        ("tensorflow-form", Field.SYSTEM, ["Linux Ubuntu 22.04"]),
        ("nvidia-smi-535-xml", Field.DRIVER, ["535.104.05"]),
        ("nvidia-smi-535-xml", Field.DRIVER_CUDA, ["12.2"]),
        ("nvidia-smi-535-xml", Field.GPU, ["0 Tesla V100-SXM2-16GB"]),
        ("pip-list", Field.FAMILY, ["linux"]),
        ("pip-freeze", Field.PACKAGE, ["certifi==2025.1.31", "numpy==1.26.4", "torch==1.13.1+cu117", _VISION]),
        ("conda-list", Field.CONDA_PACKAGE, ["cudatoolkit==11.8.0", "numpy==1.26.4", "pytorch==2.1.2"]),
        ("conda-list", Field.PACKAGE, ["xformers==0.0.23"]),
        ("sglang", Field.GPU, ["0 NVIDIA GeForce RTX 5090", "1 NVIDIA GeForce RTX 5090"]),
        ("sglang", Field.NVCC, ["12.4.131"]),
        ("detectron2", Field.CAPABILITY, ["0 7.0", "1 7.0"]),
        ("detectron2", Field.DRIVER, ["470.82.01"]),
        ("bitsandbytes-0.48", Field.TORCH_CUDA, ["12.8"]),
        ("bitsandbytes-0.48", Field.CUDA_FAILS, ["yes"]),
        ("xformers-0.0.31", Field.PACKAGE, ["xformers==0.0.31", "torch==2.7.1+cu126"]),
        ("comfyui", Field.GPU, ["0 NVIDIA GeForce GTX 1070"]),
        ("numba", Field.DRIVER_CUDA, ["12.4"]),
        ("ollama-0.12", Field.GPU, ["0 NVIDIA GeForce GTX 1080"]),
        ("ollama-0.12", Field.DRIVER_CUDA, ["12.9"]),
        ("ollama-0.3", Field.GPU, ["0 NVIDIA GeForce RTX 4090"]),
        ("ollama-0.3", Field.CAPABILITY, ["0 8.9"]),
        ("llama-cpp", Field.GPU, ["0 NVIDIA GeForce RTX 3080", "1 Tesla V100-PCIE-16GB"]),
        ("llama-cpp", Field.CAPABILITY, ["0 8.6", "1 7.0"]),
        ("nvidia-smi-query", Field.GPU, ["0 NVIDIA GeForce RTX 4090", "1 Tesla T4"]),
        ("nvidia-smi-query", Field.DRIVER, ["550.54.14"]),
        ("nvidia-smi-query", Field.CAPABILITY, ["0 8.9", "1 7.5"]),
        ("nvidia-smi-query-noheader", Field.GPU, ["0 Tesla T4"]),
        ("nvidia-smi-query-noheader", Field.DRIVER, ["535.104.05"]),
        ("conda-info", Field.DRIVER_CUDA, ["12.4"]),
        ("conda-info", Field.GLIBC, ["2.35"]),
        ("conda-info", Field.MACHINE, ["x86_64"]),
        (
            "dkms-status",
            Field.DKMS,
            ["nvidia 550.54.14 6.8.0-45-generic installed", "nvidia 550.54.14 6.8.0-47-generic built"],
        ),
        ("lsmod-nouveau", Field.MODULE, ["nouveau"]),
        ("lsmod", Field.MODULE, ["nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"]),
        ("mokutil", Field.SECURE_BOOT, ["on"]),
        ("ldconfig", Field.CUDNN_FILE, ["/usr/local/lib/libcudnn.so.9.1.0", "/usr/local/lib/libcudnn_ops.so.9.1.0"]),
        ("dpkg", Field.DRIVER_PACKAGE, ["550.54.14"]),
        ("rpm", Field.DRIVER_PACKAGE, ["560.35.03"]),
        ("apt", Field.DRIVER_PACKAGE, ["570.86.15"]),
        ("invokeai", Field.PACKAGE, ["accelerate==1.8.1", "numpy==1.26.4", "torch==2.6.0+cu124", _VISION_21]),
        ("invokeai", Field.TORCH_CUDA, ["12.4"]),
        ("pip-inspect", Field.PACKAGE, ["torch==2.5.1+cu124", "nvidia-cudnn-cu12==9.1.0.70"]),
        ("pip-inspect", Field.PYTHON, ["3.11.2"]),
        ("nvidia-ctk-cdi", Field.DRIVER, ["560.35.03"]),
        ("nvidia-smi-topo", Field.FAMILY, ["linux"]),
    ],
)
def test_what_is_read(name: str, field: Field, values: list[str]) -> None:
    assert [one.value for one in tell(read(io.BytesIO(text_of(name).encode()))).of(field)] == values


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_facts_are_those_of_check(path: Path) -> None:
    """Of this machine nothing: what the text does not show is unseen; a value says in which line it stands."""
    judged = report(path.read_text(encoding="utf-8"))
    facts = judged.facts
    assert facts.machine.kind == "dump"
    assert not isinstance(facts.pci, Seen)
    assert not isinstance(facts.loader.search, Seen)
    for fact in (*facts.driver, *facts.system):
        assert not isinstance(fact, Seen) or (isinstance(fact.how, Place) and fact.how.file == "" and fact.how.line)


def test_every_dump_has_its_words() -> None:
    """Its lines are found in a large log, and no two formats take each other's."""
    for name, dump in all_dumps().items():
        assert dump.source, name
        assert any(re.search(dump.mark, path.read_text(encoding="utf-8"), re.MULTILINE) for path in FOLDER.iterdir())
    assert b"nvidia" in WORDS


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("collect_env-2.0.1", "gpu-too-new-for-cuda"),
        ("collect_env-2.9.1", "driver-too-old-for-runtime"),
        ("vllm", "gpu-too-new-for-cuda"),
        ("tensorflow-2.17-windows", "tf-native-windows-after-2-10"),
        ("transformers-4.46", "gpu-too-new-for-cuda"),
        ("pip-list", "gpu-too-new-for-cuda"),
        ("sglang", "gpu-too-new-for-cuda"),
        ("comfyui", "gpu-too-old-dropped"),
    ],
)
def test_the_rules_judge_them(name: str, code: str) -> None:
    assert document(text_of(name)).plain()["causes"][0]["code"] == code


@pytest.mark.parametrize(
    "name",
    [
        *("collect_env-1.13.1", "jax-0.10.2", "cupy-13", "nvidia-smi-470", "nvidia-smi-580", "ds_report", "numba"),
        *("pip-freeze", "conda-list", "xformers-0.0.31", "detectron2"),
    ],
)
def test_what_shows_no_fault_is_given_none(name: str) -> None:
    assert not [one for one in causes(text_of(name)) if one.blames_stack]


def test_a_part_of_the_variables_says_nothing_of_the_others() -> None:
    facts = report(text_of("jax-0.10.2-variables")).facts
    assert [one.name for one in facts.configuration.shown.get()][:2] == ["XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_FLAGS"]
    assert not isinstance(facts.configuration.variables, Seen)
    answers = report(text_of("jax-0.10.2-variables") + "JAX_X=1\n").answers
    assert next(one for one in answers if one.code == "cuda-visible-devices-empty-or-invalid").kind is Status.UNKNOWN


def test_commands_are_for_the_system_of_the_text() -> None:
    found = next(one for one in causes(text_of("collect_env-2.9.1")) if one.code == "driver-too-old-for-runtime")
    commands = [line for one in found.remedies for line in one.commands]
    assert found.remedies[0].proven
    assert any("debian12" in line or "apt-get" in line for line in commands)
    assert {one.line for one in found.matched} == {19}


def test_without_a_distribution_only_pip_commands_are_given() -> None:
    lines = [line for line in text_of("collect_env-2.9.1").splitlines() if not re.match("OS:|Python platform:", line)]
    plain = document("\n".join(lines)).plain()
    assert plain["causes"][0]["code"] == "driver-too-old-for-runtime"  # by the message of the dump itself
    commands = [line for one in plain["causes"] for each in one["remedies"] for line in each["commands"]]
    assert all(line.startswith(("#", "python -m pip ")) for line in commands)
    bare = document("RuntimeError: CUDA driver version is insufficient for CUDA runtime version").text(TextStyle())
    assert "To get the commands, run on that machine: gpudoctor check\n" in bare  # all rules: another one may report it


def test_what_works_is_not_refuted_by_a_table() -> None:
    """CUDA started, so that the driver serves it: cuda-compat, or a build that is another than the row's."""
    works = text_of("collect_env-2.9.1").replace("Is CUDA available: False", "Is CUDA available: True")
    assert not [one for one in report(works).findings if one.code == "driver-too-old-for-runtime"]
    compat = (
        text_of("collect_env-2.9.1") + "| NVIDIA-SMI 470.256.02   Driver Version: 470.256.02   CUDA Version: 12.8 |\n"
    )
    assert not [one for one in report(compat).findings if one.code == "driver-too-old-for-runtime"]


def test_two_machines_in_one_text_are_not_mixed() -> None:
    both = text_of("collect_env-2.9.1") + text_of("nvidia-smi-580")
    judged = report(both)
    assert not isinstance(judged.facts.driver.release, Seen)
    assert not isinstance(judged.facts.gpus, Seen)
    assert not [one for one in judged.findings if one.code == "driver-too-old-for-runtime"]


def test_what_is_not_shown_is_unknown() -> None:
    answers = {one.code: one.kind for one in report(text_of("collect_env-2.9.1")).answers}
    assert answers["secure-boot-unsigned-module"] is not Status.BAD
    assert answers["driver-libraries-missing"] is not Status.BAD
    assert answers["cudnn-missing"] in {Status.UNKNOWN, Status.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("text", "family", "identity", "version"),
    [
        ("Ubuntu 22.04.5 LTS (x86_64)", "linux", "ubuntu", "22.04"),
        ("Red Hat Enterprise Linux Server 7.6 (Maipo)", "linux", "rhel", "7.6"),
        ("Debian GNU/Linux 11 (bullseye) (x86_64)", "linux", "debian", "11"),
        ("Rocky Linux 8.9 (Green Obsidian) (x86_64)", "linux", "rocky", "8.9"),
        ("Microsoft Windows 11 Pro", "windows", "", ""),
        ("macOS 14.5 (arm64)", "macos", "", ""),
        ("Arch Linux (x86_64)", "linux", "arch", ""),
    ],
)
def test_systems(text: str, family: str, identity: str, version: str) -> None:
    lines = [line for line in text_of("collect_env-2.9.1").splitlines() if not line.startswith("Python platform:")]
    system = report("\n".join(f"OS: {text}" if line.startswith("OS:") else line for line in lines)).facts.system
    assert value_or(system.family, "") == family
    assert (value_or(system.distribution_id, ""), value_or(system.distribution_version, "")) == (identity, version)


def test_a_framework_that_sees_its_gpu_is_no_fault_of_the_stack() -> None:
    text = text_of("collect_env-1.13.1")
    assert document(text).verdict == "unknown"  # it says that CUDA is not there, and not why
    assert document(text.replace("Is CUDA available: False", "Is CUDA available: True")).verdict == "not-a-stack-fault"


@pytest.mark.parametrize(
    ("text", "family", "machine"),
    [
        ("| GPU  Name                 Persistence-M |", "linux", "x86_64"),
        ("| GPU  Name                  Driver-Model |", "windows", "x86_64"),
        ("| GPU  Name            TCC/WDDM |", "windows", "x86_64"),
        ("", "", "x86_64"),
    ],
)
@pytest.mark.parametrize(("card", "other"), [("NVIDIA GeForce RTX 5090", ""), ("NVIDIA GH200 480GB", "aarch64")])
def test_the_system_by_its_signs(text: str, family: str, machine: str, card: str, other: str) -> None:
    """nvidia-smi names no system; its table's head differs, and the card tells of the machines that it sits in."""
    told = f"NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0\n{text}\n"
    system = report(f"{told}|   0  {card}        Off |   00000000:01:00.0 Off |\n").facts.system
    assert (value_or(system.family, ""), value_or(system.machine, "")) == (family, other or machine)


def test_a_message_and_a_more_exact_rule_are_one_cause() -> None:
    found = causes_and_codes("comfyui")
    assert found[0] == "gpu-too-old-dropped"
    assert "gpu-arch-not-in-build" not in found


def causes_and_codes(name: str) -> list[str]:
    return [one["code"] for one in document(text_of(name)).plain()["causes"]]
