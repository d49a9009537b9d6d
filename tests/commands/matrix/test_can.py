"""`gpudoctor matrix can`: cards by name, choice among builds, text and JSON, exit status."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from compat.can import answer, can, packages_of, ranked
from compat.cards import NoGpuName, gpu_card_of, gpu_cards_of
from compat.matrix import Matrix, Uncovered
from compat.solve.search import Problem, solve
from compat.spec import parse_spec, parse_specs
from compat.target import TargetMachine
from compat.version import ComputeCapability, DriverRelease
from doctor.cli import execute
from doctor.rules.shared.products import known_product

MATRIX = Matrix()


def ask(*words: str) -> int:
    return execute(["matrix", "can", *words])


def on(gpu: str, **changes: Any) -> TargetMachine:
    return TargetMachine(capabilities=(ComputeCapability.parse(gpu),))._replace(**changes)


@pytest.mark.parametrize(
    ("text", "name", "capabilities"),
    [
        ("RTX 5090", "NVIDIA GeForce RTX 5090", "12.0"),
        ("NVIDIA GeForce RTX 5090", "NVIDIA GeForce RTX 5090", "12.0"),
        ("rtx-5090", "NVIDIA GeForce RTX 5090", "12.0"),
        ("GTX1080Ti", "NVIDIA GeForce GTX 1080 Ti", "6.1"),
        ("5090", "NVIDIA GeForce RTX 5090", "12.0"),
        ("B200", "NVIDIA B200", "10.0"),
        ("GT 640M", "NVIDIA GeForce GT 640M", "3.0"),
        ("GT 640", "NVIDIA GeForce GT 640", "2.1 3.0 3.5"),
        ("sm_89", "sm_89", "8.9"),
        ("SM 120", "sm_120", "12.0"),
        ("8.9", "sm_89", "8.9"),
        ("compute capability 10.0", "sm_100", "10.0"),
        ("sm_90a", "sm_90", "9.0"),
        ("rtx4090", "NVIDIA GeForce RTX 4090", "8.9"),
        ("RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
        ("RTX 2080 with Max-Q Design", "NVIDIA GeForce RTX 2080", "7.5"),
        ("RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
        ("RTX PRO 6000 Blackwell", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
        ("NVIDIA Thor", "Jetson AGX Thor", "11.0"),
        ("Orin Nano", "Jetson Orin Nano", "8.7"),
        ("Jetson AGX Orin 64GB", "Jetson AGX Orin", "8.7"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A100-SXM4-40GB", "8.0"),
        ("H100 MIG 2g.20gb", "NVIDIA H100 80GB HBM3", "9.0"),
        ("B100", "NVIDIA B100", "10.0"),
        ("B300", "NVIDIA B300", "10.3"),
        ("DGX Spark", "NVIDIA GB10", "12.1"),
        ("l40s", "NVIDIA L40S", "8.9"),
    ],
)
def test_cards_by_name(text: str, name: str, capabilities: str) -> None:
    card = gpu_card_of(text, MATRIX)
    assert card.name == name
    assert " ".join(map(str, card.capabilities)) == capabilities


@pytest.mark.parametrize("text", ["RTX 9090", "GeForce", "Voodoo 5500"])
def test_cards_that_no_row_has(text: str) -> None:
    with pytest.raises(Uncovered, match="the GPU"):
        gpu_card_of(text, MATRIX)


@pytest.mark.parametrize(
    ("texts", "spec"),
    [
        (["torch", "2.9.1"], "torch==2.9.1"),
        (["torch 2.9.1"], "torch==2.9.1"),
        (["torch", "v2.9.1+cu128"], "torch==2.9.1+cu128"),
        (["jax[cuda12]", "==0.7.0"], "jax[cuda12]==0.7.0"),
        (["cuda 12.4"], "cuda==12.4"),
    ],
)
def test_a_release_may_stand_apart_from_its_name(texts: list[str], spec: str) -> None:
    assert [str(one) for one in parse_specs(texts)] == [spec]


@pytest.mark.parametrize("option", ["driver", "python", "os", "arch", "glibc"])
def test_a_variable_that_was_not_set_is_no_question_about_any_machine(option: str) -> None:
    assert execute(["matrix", "can", "torch", f"--{option}="]) == 2
    assert execute(["matrix", "solve", "torch", f"--{option}", ""]) == 2


@pytest.mark.parametrize("text", ["-1", "0", "", "8.9.1", "-8.9", "--", "none", "CPU"])
def test_what_names_no_gpu(text: str) -> None:
    """Not the first of the Jetsons, TK1, for -1."""
    with pytest.raises(NoGpuName):
        gpu_card_of(text, MATRIX)
    assert execute(["matrix", "can", "torch", f"--gpu={text}"]) == 2
    assert execute(["matrix", "solve", "torch", f"--gpu={text}"]) == 2


@pytest.mark.parametrize(
    ("spec", "where", "best"),
    [
        ("torch==2.9.1", on("8.9"), "torch 2.9.1 (cu128)"),  # the default of the package index comes first
        ("torch==2.9.1", on("6.1"), "torch 2.9.1 (cu126)"),
        ("torch==2.9.1+cu130", on("8.9"), "torch 2.9.1 (cu130)"),
        ("torch<2.8", on("12.0"), "torch 2.7.1 (cu128)"),
        ("torch>=2.4,<2.6", on("6.1"), "torch 2.5.1 (cu124)"),
        ("torch", on("8.9", python="3.8"), "torch 2.4.1 (cu121)"),
        ("jax==0.7.0", on("8.9"), "jax-cuda12-plugin 0.7.0"),
        ("jax[cuda13]==0.8.0", on("8.9"), "jax-cuda13-plugin 0.8.0"),
        ("onnxruntime==1.20.1", on("8.9"), "onnxruntime-gpu 1.20.*"),
        ("tensorflow==1.15.0", TargetMachine(os_family="windows"), "tensorflow 1.15.0"),
        ("tensorflow==1.15.3", TargetMachine(os_family="windows"), "tensorflow-gpu >=1.15,<1.15.4"),
        ("cuda", on("6.1"), "CUDA 12.9"),
        ("cudnn", on("6.1"), "cuDNN 9.10.2 for CUDA 12"),
        ("cudnn==9.10.2.21", on("6.1"), "cuDNN 9.10.2 for CUDA 12"),
        ("cuda==12", on("6.1"), "CUDA 12.9"),
        ("theano==0.10.0b1", TargetMachine(), "theano 0.10.0b1 (gpuarray)"),
        ("cudnn==9.10.2+cu11", on("6.1"), "cuDNN 9.10.2 for CUDA 11"),
    ],
)
def test_the_best_build_answers(spec: str, where: TargetMachine, best: str) -> None:
    found = ranked(parse_spec(spec), where, MATRIX)[0]
    assert found.name == best
    assert found.verdict in {"yes", "unknown"}


@pytest.mark.parametrize(
    ("spec", "gpu", "instead"),
    [
        ("torch==2.6.0", "12.0", ("torch 2.7.0 (cu128)",)),
        ("torch==2.15.0", "6.1", ("torch 2.14.1 (cu126)",)),
        ("cuda==13.0", "6.1", ("CUDA 12.9",)),
        ("cuda==8.0", "8.9", ("CUDA 11.0",)),  # its code for 8.0 runs on 8.9
    ],
)
def test_what_fits_instead(spec: str, gpu: str, instead: tuple[str, ...]) -> None:
    found = answer(parse_spec(spec), on(gpu), MATRIX)
    assert found.verdict == "no"
    assert found.instead == instead


@pytest.mark.parametrize(
    ("gpu", "arch"), [("Jetson Orin Nano", "jetson"), ("NVIDIA Thor", "sbsa"), ("GH200", "sbsa"), ("H100", "x86_64")]
)
def test_a_card_says_in_which_machine_it_sits(gpu: str, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask("cuda==13.0", "--gpu", gpu, "--format", "json")
    assert json.loads(capsys.readouterr().out)["circumstances"]["arch"] == arch
    ask("cuda==13.0", "--gpu", gpu, "--arch", "x86_64", "--format", "json")
    assert json.loads(capsys.readouterr().out)["circumstances"]["arch"] == "x86_64"


@pytest.mark.parametrize(
    ("typed", "arch"),
    [("aarch64", "sbsa"), ("arm64", "sbsa"), ("amd64", "x86_64"), ("x64", "x86_64"), ("sbsa", "sbsa")],
)
def test_machines_have_the_names_that_people_type(typed: str, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask("torch==2.11.0", "--arch", typed, "--format", "json")
    assert json.loads(capsys.readouterr().out)["circumstances"]["arch"] == arch


@pytest.mark.parametrize(
    ("spec", "gpu", "verdict"),
    [
        # release notes of 0.4.0.post1: 0.4.0 came without code for Volta and Turing
        ("vllm==0.4.0", "7.0", "no"),
        ("vllm==0.4.0.post1", "7.0", "yes"),
        ("vllm==0.4.0", "8.0", "yes"),
        ("vllm>=0.4.0,<0.4.1", "7.0", "yes"),
    ],
)
def test_a_post_release_is_another_release(spec: str, gpu: str, verdict: str) -> None:
    assert answer(parse_spec(spec), on(gpu), MATRIX).verdict == verdict


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("ctranslate2==4.8.5 --gpu GH200", 1),  # the ARM wheel has no GPU code
        ("ctranslate2==4.8.5 --gpu 8.9 --driver 535.183.01", 0),
        ("ctranslate2==4.8.5 --gpu 8.9 --driver 470.256.02", 1),
        ("ctranslate2==4.8.5 --gpu 5.2", 1),
        ("ctranslate2==3.24.0 --gpu 5.2", 0),
        ("ctranslate2==4.5.0 cudnn==8.9 --gpu 8.9", 1),
        ("ctranslate2==4.4.0 cudnn==8.9 --gpu 8.9", 0),
        ("ctranslate2==3.24.0 cudnn==8.9 --gpu 8.9", 0),
    ],
)
def test_ctranslate2(asked: str, status: int) -> None:
    assert ask(*asked.split()) == status


@pytest.mark.parametrize(
    ("spec", "arch", "verdict"),
    [
        ("torch==2.2.2", "x86_64", "yes"),
        ("torch==2.3.0", "x86_64", "no"),  # from then on there are wheels for Apple's own processors alone
        ("torch==2.3.0", "sbsa", "yes"),
        ("torch==1.7.1", "sbsa", "unknown"),
        ("tensorflow==2.16.2", "x86_64", "yes"),
        ("tensorflow==2.17.0", "x86_64", "no"),
        ("tensorflow==2.17.0", "sbsa", "yes"),
    ],
)
def test_macos_has_the_wheels_that_the_index_has(spec: str, arch: str, verdict: str) -> None:
    assert answer(parse_spec(spec), TargetMachine(os_family="macos", arch=arch), MATRIX).verdict == verdict


@pytest.mark.parametrize(
    ("gpu", "driver", "system", "named"),
    [
        ("V100", "418.87.01", "linux", True),
        ("RTX 2080", "418.87.01", "linux", False),  # no data-centre card
        ("V100", "410.104", "linux", False),  # not on that branch
        ("V100", "418.87", "windows", False),
        ("sm_70", "418.87.01", "linux", False),  # of which card it is nobody said
    ],
)
def test_a_forward_compatibility_package_is_named_where_it_would_help(
    gpu: str, driver: str, system: str, named: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("cuda==11.1", "--gpu", gpu, "--driver", driver, "--os", system) != 0
    assert ("cuda-compat-11-1" in capsys.readouterr().out) is named


def test_a_source_is_that_of_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    ask("tensorflow==2.15.0", "--gpu", "RTX 4090", "--driver", "535.183.01", "--sources")
    shown = " ".join(capsys.readouterr().out.split("Sources")[1].split())
    for name in ("tensorflow.builds[tensorflow-2.15.0]", "driver.branches[r535]", "gpu.generations[ada]"):
        assert f"{name}: {MATRIX.row_named(name).source}" in shown


@pytest.mark.parametrize(
    ("name", "found"),
    [("tf", "tensorflow"), ("pytorch", "torch"), ("bnb", "bitsandbytes"), ("nvcc", "cuda"), ("cudf", "cudf")],
)
def test_names_that_people_type(name: str, found: str) -> None:
    assert known_product(parse_spec(name), "cuda", "cudnn").name == found


def test_every_name_leads_somewhere() -> None:
    for row in MATRIX.rows("package", "names"):
        assert row.note or row.package
        if row.package:
            assert known_product(parse_spec(row.id), "cuda", "cudnn").name == row.package
    cards = {row.id for row in MATRIX.rows("gpu", "products")}
    assert {one for row in MATRIX.rows("platform", "cards") for one in row.cards} <= cards


def test_extras_and_packages() -> None:
    assert packages_of(parse_spec("jax[cuda13]"), MATRIX) == ("jax-cuda13-plugin",)
    assert packages_of(parse_spec("jax[cuda12_local]==0.4.34"), MATRIX) == ("jax-cuda12-plugin",)
    assert "jaxlib" in packages_of(parse_spec("jax[cuda12_local]==0.4.20"), MATRIX)
    assert packages_of(parse_spec("torch"), MATRIX) == ("torch",)
    assert "tensorflow-gpu" in packages_of(parse_spec("tensorflow"), MATRIX)


def test_a_name_for_several_chips_is_judged_chip_by_chip() -> None:
    card = gpu_card_of("GT 640", MATRIX)
    reply = can((parse_spec("cuda==10.2"),), (card,), TargetMachine(), MATRIX)
    assert [case.verdict for case in reply.cases] == ["no", "yes", "yes"]
    assert reply.verdict == "unknown"
    same = can((parse_spec("cuda==13.0"),), (card,), TargetMachine(), MATRIX)
    assert same.verdict == "no"


def test_too_many_chips_to_look_at_are_unknown() -> None:
    cards = (gpu_card_of("GT 640", MATRIX),) * 4
    reply = can((parse_spec("cuda==13.0"),), cards, TargetMachine(), MATRIX)
    assert len(reply.cases) == 16
    assert reply.verdict == "unknown"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("torch==2.9.1", "--gpu", "8.9"), 0),
        (("torch==2.6.0", "--gpu", "12.0"), 1),
        (("torch==99.0",), 4),
        (("torch==2.9.1", "torch==99.0"), 4),
        (("torch==2.9.1", "cuda==12"), 0),
        (("torch==2.9.1rc1",), 4),
        (("torch==2.6.0+cpu",), 0),
        (("torch==2.6.77+cpu",), 4),
        (("torch==2.6.0", "torch==99.0", "--gpu", "12.0"), 1),  # one no is a no
    ],
)
@pytest.mark.parametrize("style", ["text", "json"])
def test_text_and_json_exit_alike(
    words: tuple[str, ...], status: int, style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*words, "--format", style) == status
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("machine", [(), ("--os", "windows"), ("--arch", "sbsa")])
@pytest.mark.parametrize(("cuda", "status"), [("12.8", 0), ("12.9", 1)])
def test_a_wheel_with_a_library_for_each_cuda(
    machine: tuple[str, ...], cuda: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CUDA is that of torch, wherever it comes from: bitsandbytes 0.46.0 holds libraries up to 12.8."""
    assert ask("bitsandbytes==0.46.0", f"cuda=={cuda}", *machine) == status
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("trch",), "no product 'trch'; did you mean torch"),
        (("zzz",), "known names is similar. For a list: gpudoctor matrix list"),
        (("sklern",), "no product 'sklern'; did you mean sklearn"),
        (("sklearn",), "scikit-learn computes on the CPU"),
        (("pandas",), "pandas computes on the CPU"),
        (("torch", "--driver", "new"), "'new' is not a driver release"),
        (("torch", "--python", "three"), "'three' is not a Python version such as 3.12"),
        (("torch", "--glibc", "musl"), "'musl' is not a glibc version such as 2.31"),
        (("torch", "--os", "beos"), "no operating system 'beos'; known are"),
        (("torch", "--arch", "arm"), "no architecture 'arm'"),
        (("torch", "--format", "jsn"), "no format 'jsn'; did you mean json"),
        (("cuda==twelve",), "is not a package with a version specifier"),
        ((), "SPEC"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


def test_json_holds_every_reason_with_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    ask("torch==2.6.0", "--gpu", "RTX 5090", "--driver", "570.86", "--python", "3.12", "--format", "json")
    reply = json.loads(capsys.readouterr().out)
    assert (reply["schema"], reply["verdict"]) == ("gpudoctor.can/1", "no")
    assert reply["circumstances"]["gpus"] == [
        {"name": "NVIDIA GeForce RTX 5090", "capabilities": ["12.0"], "row": "gpu.products[geforce-rtx-5090]"}
    ]
    (found,) = reply["cases"][0]["answers"]
    assert found["instead"] == ["torch 2.7.0 (cu128)"]
    assert {one["verdict"] for one in found["candidates"]} == {"no"}
    for reason in (reason for candidate in found["candidates"] for reason in candidate["reasons"]):
        assert reason["rows"]
        assert reason["source"]


def test_a_card_that_nobody_knows_is_unknown_with_near_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("torch", "--gpu", "RTX 5095") == 4
    assert "--gpu sm_89" in capsys.readouterr().out
    assert ask("torch", "--gpu", "RTX 5095", "--format", "json") == 4
    assert json.loads(capsys.readouterr().out)["verdict"] == "unknown"


def test_the_page_is_at_most_80_wide(capsys: pytest.CaptureFixture[str]) -> None:
    ask("torch", "--gpu", "RTX 5090", "--driver", "570.86", "--python", "3.9")
    for line in capsys.readouterr().out.splitlines():
        assert len(line) <= 80 or "://" in line


@pytest.mark.parametrize("name", ["RTX 5090 Ti", "RTX5090Ti", "rtx 5090ti"])
def test_a_card_that_is_not_there_has_near_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "torch==2.9.1", "--gpu", name]) == 4
    assert "near names are GeForce RTX 50" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("xformers==0.0.32.post2 torch==2.8.0", 0, "fit together: xformers 0.0.32.post2, torch 2.8.0"),
        ("xformers==0.0.32.post2 torch==2.9.0", 1, "xformers 0.0.32.post2 requires torch==2.8.0"),
        ("jax[cuda12]==0.6.0 tensorflow==2.16.1", 1, "requires ml-dtypes"),
        ("jax==0.6.0 jaxlib==0.5.0 --os macos", 1, "jax 0.6.0 requires jaxlib"),  # builds for the CPU: by their pins
        ("torch==2.9.1 jax==0.7.0 --os macos", 0, ""),
        (
            "flash-attn==2.7.4 torch==2.6.0 --gpu A100",
            0,
            "fit together:",
        ),  # that no wheel is known is no doubt of the set
        ("torch==2.9.1 flash-attn==2.7.4 vllm==0.5.0", 1, "vllm 0.5.0 requires torch==2.3.0"),
        ("ctranslate2==4.4.0 torch==2.5.1", 0, "cuDNN >=8,<9 from the system"),  # torch brings 9
        ("torch==2.9.1 torch==2.9.1", 0, ""),
        ("torch==2.9.1 cuda==12.4 cudnn==9.1", 0, ""),  # of the system: no members of the environment
    ],
)
def test_several_frameworks_are_judged_in_one_environment(
    asked: str, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*asked.split()) == status
    text = " ".join(capsys.readouterr().out.split())
    assert says in text
    assert ("in one environment" in text) is bool(says)


def test_the_verdict_on_all_of_them_is_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    ask("xformers==0.0.32.post2", "torch==2.9.0", "--format", "json")
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert [one["verdict"] for one in case["answers"]] == ["yes", "yes"]
    assert (case["verdict"], case["together"]["kind"]) == ("no", "bad")


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("torch==2.8.0+cu118", 1, "the index of cu118 has torch >=2.0.0,<=2.7.1"),
        ("torch==2.5.0+cu126", 1, "the index of cu126 has torch >=2.6.0"),
        ("torch==2.7.1+cu118", 0, ""),
        ("torch==2.9.1+cu125", 4, ""),  # of no index is anything known
        ("torch==2.99+cu118", 4, ""),  # the release is not known
        ("cupy-cuda11x==14.0.1", 1, "CuPy 14 has no build for CUDA 11"),
        ("cupy-cuda11x==13.9", 4, ""),
    ],
)
def test_a_build_that_no_row_has_and_none_can_have(
    asked: str, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*asked.split()) == status
    assert says in " ".join(capsys.readouterr().out.split())


def test_a_mac_is_one_of_apples_own_processors_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("torch==2.9.1", "--os", "macos") == 0
    assert "on macos sbsa" in capsys.readouterr().out
    assert ask("torch==1.7.0", "--os", "macos") == 0  # for Intel's alone
    assert "on macos x86_64" in capsys.readouterr().out


def test_what_has_no_wheels_for_macos_at_all_is_a_no_without_a_gpu() -> None:
    """The row that there is no CUDA for macOS, which lets CPU builds pass, hid the one of the package."""
    assert ask("triton==3.5.0", "--os", "macos") == 1


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("numba==0.57.0 cuda==12.1 --driver 525.105.17", 1),  # PTX is not covered by minor version compatibility
        ("numba==0.57.0 cuda==12.1 --driver 530.30.02", 0),
        ("numba==0.57.0 --driver 525.105.17", 0),  # with whichever CUDA
        ("numba==0.57.0 cuda==12.1 --driver 699.1", 4),
        ("cupy-cuda12x==13.0.0 cuda==12.1 --driver 525.105.17", 0),  # NVRTC makes machine code
    ],
)
def test_a_driver_compiles_the_ptx_of_its_cuda_and_older(asked: str, status: int) -> None:
    assert ask(*asked.split()) == status


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("tensorrt==10.7.0 --gpu 12.0", 1),  # "Target GPU SM 120 is not supported by this TensorRT release"
        ("tensorrt-cu12==10.7.0 --gpu 10.0", 1),
        ("tensorrt==10.8.0.43 --gpu 12.0", 0),
        ("tensorrt==8.4.1.5 --gpu 8.9", 1),
        ("tensorrt==8.5.1.7 --gpu 8.9", 0),
        ("tensorrt==7.0.0.11 --gpu 8.6", 1),
        ("tensorrt==8.4.1.5 --gpu 8.0", 4),  # what it was built for is not recorded
    ],
)
def test_a_release_that_refuses_newer_cards(asked: str, status: int) -> None:
    assert ask(*asked.split()) == status


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("numba==0.45", 0),  # whose CUDA no row knows: that of macOS, which has none, is not all that there is
        ("numba==0.42.0 --os windows", 0),
        ("numba==0.42.1 --os windows", 1),
        ("tensorflow==1.10.0 --os windows", 0),
        ("tensorflow==1.10.1 --os windows", 1),  # releases without the wheel that their neighbours have
        ("tensorflow-gpu==1.4.1 --os windows", 1),
        ("tensorflow==2.15.0 --os windows", 0),
        ("tensorflow==2.15.0.post1 --os windows", 1),
        ("cupy-cuda80==4.3.0 --os windows", 1),
        ("cupy-cuda80==4.4.0 --os windows", 0),
        ("cupy-cuda110==9.0.0", 1),
        ("cupy-cuda110==9.0.0 --os windows", 0),
    ],
)
def test_a_release_is_judged_by_its_own_wheels(asked: str, status: int) -> None:
    assert ask(*asked.split()) == status


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("torch==2.9.1+cu128 --os wsl --gpu 'RTX 5090' --driver 576.88", 0, "supports sm_120"),
        ("torch==2.9.1+cu130 --os wsl2 --gpu 'RTX 5090' --driver 576.88", 1, "CUDA 13.0 needs driver 580"),
        ("torch==2.9.1+cu126 --os WSL --gpu 'GTX 1080 Ti' --driver 591.44", 1, "branch 580 is its last"),
        ("torch==2.9.1+cu128 --os wsl --gpu 'RTX 5090' --driver 699.99", 4, "no matrix row covers driver branch 699"),
        ("torch==2.9.1+cu128 --os ubuntu --gpu 'RTX 5090' --driver 576.88", 4, ": add --os windows, or --os wsl"),
        ("torch==2.9.1+cu128 --os linux --gpu 'RTX 5090' --driver R570", 0, "driver 570 supports sm_120"),
        ("torch==2.9.1+cu128 --os linux --driver 535.183.01-1 --python cp312", 0, "Python 3.12"),
    ],
)
def test_linux_inside_windows_has_its_driver(
    asked: str, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """NVIDIA, CUDA on WSL User Guide: the driver of Windows is the only one that is installed."""
    assert execute(["matrix", "can", *shlex.split(asked)]) == status
    assert says in " ".join(capsys.readouterr().out.split())


def test_a_machine_in_wsl_is_judged_by_the_driver_of_windows() -> None:
    """NVML there reports the release of Windows, 576.88, which no branch of Linux has."""
    where = TargetMachine(wsl=True, capabilities=(ComputeCapability(12, 0),), driver=DriverRelease.parse("576.88"))
    found = solve(Problem((parse_spec("torch"),), where, MATRIX))
    assert found is not None
    assert found.chosen[0].row.cuda == "==12.9"  # as branch 575 has it, the newest that needs no newer driver


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("torch=2.6", "did you mean torch==2.6?"),
        ("torch@2.6", "did you mean torch==2.6?"),
        ("torch=>2.6", "did you mean torch>=2.6?"),
        ("cuda12.4", "did you mean cuda==12.4?"),
        ("cudnn8", "did you mean cudnn==8.*?"),
        ("torch==latest", "Write a name"),
        ("cupy-cuda12", "did you mean cupy-cuda12x"),
        ("mxnet-cu999", "did you mean mxnet-cu92"),
        ("tensorflow-rocm", "its family has data for tensorflow, tensorflow-cpu, tensorflow-gpu"),
        ("onnxruntime-directml", "its family has data for onnxruntime, onnxruntime-gpu"),
        ("numpy", "has no data of its own: NumPy computes on the CPU"),
    ],
)
def test_what_people_type_is_asked_back(typed: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Another package's builds answered for tensorflow-rocm and mxnet-cu999."""
    assert execute(["matrix", "can", typed]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("command", ["can", "solve"])
def test_an_extra_that_a_release_has_not_is_no(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """pip warns of it and leaves it out: jax[cuda13]==0.6.0 is jax for the CPU."""
    assert execute(["matrix", command, "jax[cuda13]==0.6.0", "--gpu", "L4", "--os", "linux"]) == 1
    assert "has the extra cuda13 only in >=0.7.0; pip ignores it here" in " ".join(capsys.readouterr().out.split())


def test_a_python_that_no_later_release_has_is_no(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "torch==0.4.1", "--python", "3.16", "--os", "linux"]) == 1
    assert ", nor has a later one" in " ".join(capsys.readouterr().out.split())
    assert execute(["matrix", "can", "flash-attn", "--python", "3.16", "--os", "linux"]) == 4  # no row says any


def test_pins_rule_out_what_is_unknown_besides(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever torch 2.9.1 is there for Jetson boards, vLLM 0.10.0 asks for another torch."""
    asked = ["torch==2.9.1", "vllm==0.10.0", "--gpu", "Jetson Orin Nano"]
    execute(["matrix", "can", *asked])
    assert "requires torch==2.7.1" in " ".join(capsys.readouterr().out.split())


def test_a_range_ends_before_the_release_that_it_excludes(capsys: pytest.CaptureFixture[str]) -> None:
    """The CPU row >=1.13,<2, of which no Python is recorded, is none of torch 2.0."""
    assert execute(["matrix", "can", "torch>=2.0,<2.1", "--python", "3.12", "--os", "linux"]) == 1
    assert ">=1.13" not in capsys.readouterr().out


def test_a_pure_wheel_with_libraries_for_linux_is_no_gpu_build_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    """From 0.4.26 to 0.4.29 jax itself asks for NVIDIA's libraries; 0.4.29 was the answer on macOS."""
    assert execute(["matrix", "can", "jax", "--os", "macos"]) == 0
    assert "jax 0.4.29: yes" not in capsys.readouterr().out
    assert execute(["matrix", "can", "jax==0.4.28", "--os", "windows", "--gpu", "RTX 4090"]) == 1


def test_show_knows_the_names_that_people_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "show", "pytorch", "2.9.1"]) == 0
    assert "cu128" in capsys.readouterr().out
    assert execute(["matrix", "show", "numpy"]) == 2
    assert "NumPy computes on the CPU" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "cards"),
    [
        ("8xH100", ["NVIDIA H100 80GB HBM3"]),
        ("2 x RTX 3090", ["NVIDIA GeForce RTX 3090"]),
        ("RTX 3090 (x2)", ["NVIDIA GeForce RTX 3090"]),
        ("4x 3090", ["NVIDIA GeForce RTX 3090"]),
        ("RTX 3090, 2x RTX 3060", ["NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3060"]),
        ("H100,H100,", ["NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"]),
        ("8.9, sm_90", ["sm_89", "sm_90"]),
    ],
)
def test_several_cards_as_people_write_them(typed: str, cards: list[str]) -> None:
    assert [card.name for card in gpu_cards_of([typed], MATRIX)] == cards


@pytest.mark.parametrize(
    "typed",
    [
        *("Radeon RX 7900", "Intel Arc A770", "M2 Max", "Apple M4", "AMD Instinct MI300X", "Radeon 9700"),
        *("RX 7900 XTX", "rx5700", "MI300X"),
    ],
)
def test_a_card_of_another_maker_is_none_that_is_not_known(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "torch", "--gpu", typed]) == 2
    assert "is not an NVIDIA GPU; CUDA needs one" in capsys.readouterr().err
    assert gpu_card_of("Tesla M4", MATRIX).capabilities == gpu_card_of("M4", MATRIX).capabilities


def test_of_several_cards_the_one_of_another_maker_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "torch", "--gpu", "GTX 1080 Ti, Radeon VII"]) == 2
    assert capsys.readouterr().err.startswith("gpudoctor: 'Radeon VII' is not an NVIDIA GPU")


def test_a_cudnn_for_another_cuda_says_for_which_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "cudnn==9", "cuda==10.2", "--os", "linux"]) == 1
    assert "is not for CUDA 10.2: built for 13.0 and newer of CUDA 13" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("cudnn --os macos --arch arm64", 1),
        ("cuda==10.2 --os macos --arch arm64", 1),
        ("cuda==10.2 --os macos --arch x86_64", 0),
        ("cudnn --os macos", 0),
        ("tensorrt --os macos", 1),
        ("vllm --os windows", 1),
        ("vllm --os wsl", 0),
    ],
)
def test_systems_for_which_there_is_nothing(asked: str, status: int) -> None:
    """CUDA for macOS was for Intel's processors; where no GPU was named vLLM on Windows was unknown."""
    assert execute(["matrix", "can", *asked.split()]) == status
