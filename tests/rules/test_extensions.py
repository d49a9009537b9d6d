"""extension-built-for-other-arch, extension-built-for-other-cuda and extension-built-for-other-torch."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import ClearVariable, as_json
from compat.version import CodeTarget, CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Extension, Lacking, Variable
from doctor.model.facts.loader import Outcome
from doctor.model.finding import Severity, Status
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    SITE,
    configuration,
    distribution,
    driver,
    environment,
    framework,
    gpu,
    loader,
    machine,
    prediction,
    seen,
    toolkit,
    toolkits,
    unseen,
)
from tests.rules.case import MATRIX, answer, answers

ARCH = "extension-built-for-other-arch"
CUDA = "extension-built-for-other-cuda"
TORCH = "extension-built-for-other-torch"
_LACKS = seen(Lacking(("_ZN3c104cuda9SetDeviceEa",), 1))
_ALL_THERE = seen(Lacking((), 0))


def extension(code: str = "sm_80 sm_90 compute_90", name: str = "_C.so", **changes: Any) -> Extension:
    """xFormers' library as its file shows it."""
    parsed = seen(tuple(map(CodeTarget.parse, code.split())))
    asked = seen(("libc10.so", "libtorch_cuda.so"))
    found = Extension("xformers", "0.0.33", f"{SITE}/xformers/{name}", parsed, parsed, seen("libcudart.so.12"), asked)
    return found._replace(**changes)


def with_extensions(*modules: Extension, capabilities: tuple[str, ...] = ("8.9",), **changes: Any) -> Facts:
    """The healthy machine with these extensions beside torch."""
    gpus = tuple(gpu(f"GPU {one}", one, number=number) for number, one in enumerate(capabilities))
    return machine(gpus=seen(gpus), environments=seen((environment(extensions=seen(modules)),)), **changes)


@pytest.mark.parametrize(
    ("targets", "capability", "kind"),
    [
        ("sm_80", "8.9", Status.OK),
        ("sm_80", "8.0", Status.OK),
        ("sm_86", "8.0", Status.BAD),
        ("sm_80 sm_90", "12.0", Status.BAD),
        ("sm_80 compute_90", "12.0", Status.OK),
        ("sm_90a", "9.0", Status.OK),
        ("sm_90a", "10.0", Status.BAD),
        ("sm_120", "8.9", Status.BAD),
    ],
)
def test_other_arch(targets: str, capability: str, kind: Status) -> None:
    found = answer(ARCH, with_extensions(extension(targets), capabilities=(capability,)))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.subject == "xformers 0.0.33"
        assert f"TORCH_CUDA_ARCH_LIST={capability}" in as_json(found.needs[0]).spec
        assert any(f"{SITE}/xformers/_C.so" == one.source for one in found.evidence)


def test_a_library_for_newer_cards_beside_others_is_no_fault() -> None:
    modules = (extension("sm_80"), extension("sm_90a", "flash_attn_3/_C.so"))
    assert [one.kind for one in answers(ARCH, with_extensions(*modules))] == [Status.OK]


def test_one_of_two_gpus_is_a_warning() -> None:
    found = answer(ARCH, with_extensions(extension("sm_80"), capabilities=("8.9", "12.0")))
    assert (found.kind, found.severity) == (Status.BAD, Severity.WARNING)
    assert "sm_120" in found.why
    assert "8.9" not in as_json(found.needs[0]).spec


@pytest.mark.parametrize(
    "changes",
    [
        {"targets": unseen("damaged"), "every_target": unseen("damaged")},
        {"every_target": unseen("3 pieces of its GPU code are neither SASS nor PTX")},
    ],
)
def test_what_could_not_be_read_is_unknown_and_leaves_the_verdict_alone(changes: dict[str, Any]) -> None:
    found = answer(ARCH, with_extensions(extension("sm_80", **changes), capabilities=("12.0",)))
    assert (found.kind, found.blocks_verdict) == (Status.UNKNOWN, False)


def test_what_was_read_is_enough_where_it_serves() -> None:
    some = extension("sm_80", every_target=unseen("some pieces are LTO-IR"))
    assert answer(ARCH, with_extensions(some)).kind is Status.OK


def test_a_rare_kernel_counts_as_code() -> None:
    rare = extension("sm_80", every_target=seen((CodeTarget.parse("sm_80"), CodeTarget.parse("sm_90a"))))
    assert answer(ARCH, with_extensions(rare, capabilities=("9.0",))).kind is Status.OK


def test_torch_without_code_explains_its_extensions() -> None:
    built = framework(targets=seen((CodeTarget.parse("sm_80"),)))
    installed = environment(built, extensions=seen((extension("sm_80"),)))
    facts = machine(gpus=seen((gpu("RTX 5090", "12.0"),)), environments=seen((installed,)))
    found = judge(facts, MATRIX, load_rules([ARCH, "gpu-arch-not-in-build"]))
    assert root_causes(found)[ARCH, "xformers 0.0.33"].code == "gpu-arch-not-in-build"


@pytest.mark.parametrize("code", [ARCH, CUDA])
@pytest.mark.parametrize(
    "installed",
    [
        environment(),
        environment(framework(version="2.9.1+cpu", build=seen("cpu")), extensions=unseen("no CUDA build of torch")),
        environment(framework(version="2.9.1+rocm6.4", build=seen("rocm6.4")), extensions=seen((extension(),))),
        environment(framework("keras", "3.9.0", build=unseen("pure Python")), extensions=unseen("no torch")),
    ],
)
def test_without_an_extension_of_a_cuda_torch_they_do_not_apply(code: str, installed: Any) -> None:
    assert answer(code, machine(environments=seen((installed,)))).kind is Status.NOT_APPLICABLE


def test_without_a_gpu_or_offline_the_code_does_not_matter() -> None:
    assert (
        answer(ARCH, with_extensions(extension())._replace(gpus=seen(()), pci=seen(()))).kind is Status.NOT_APPLICABLE
    )


@pytest.mark.parametrize("code", [ARCH, CUDA])
def test_extensions_that_could_not_be_looked_at_are_unknown(code: str) -> None:
    found = answer(code, machine(environments=seen((environment(extensions=unseen("too many")),))))
    assert (found.kind, found.blocks_verdict) == (Status.UNKNOWN, False)


@pytest.mark.parametrize(
    ("cuda", "cudart", "kind"),
    [
        ("12.8", "libcudart.so.12", Status.OK),
        ("12.8", "libcudart.so.11.0", Status.BAD),
        ("11.8", "libcudart.so.11.0", Status.OK),
        ("13.0", "libcudart.so.12", Status.BAD),
        ("10.2", "libcudart.so.10.1", Status.BAD),
        ("10.2", "libcudart.so.10.2", Status.OK),
        ("12.8", "", Status.NOT_APPLICABLE),
        ("12.8", "libcudart-e409450e.so.11.0", Status.NOT_APPLICABLE),  # the wheel's own copy
    ],
)
def test_other_cuda(cuda: str, cudart: str, kind: Status) -> None:
    built = framework(cuda=seen(CudaVersion.parse(cuda), "torch/version.py"))
    installed = environment(built, extensions=seen((extension(cudart=seen(cudart)),)))
    found = answer(CUDA, machine(environments=seen((installed,))))
    assert found.kind is kind
    if kind is Status.BAD:
        assert {one.detail for one in found.evidence} >= {f"needs {cudart}"}


def test_one_library_that_fits_is_enough() -> None:
    modules = (extension(name="a.so", cudart=seen("libcudart.so.11.0")), extension(name="b.so"))
    assert answer(CUDA, with_extensions(*modules)).kind is Status.OK


def test_what_a_library_asks_for_may_be_unknown() -> None:
    windows = extension(cudart=unseen("a Windows library"))
    assert answer(CUDA, with_extensions(windows)).kind is Status.UNKNOWN


OLD = extension(cudart=seen("libcudart.so.11.0"))
OWN = extension(distribution="my_ops", version="", cudart=seen("libcudart.so.11.0"))


@pytest.mark.parametrize(
    ("module", "release", "expected"),
    [
        (OLD, "12.8.1", "`CUDA_HOME=/usr/local/cuda-12.8 uv pip install --python"),
        (OLD, "12.8.1", "--no-binary xformers xformers==0.0.33`"),
        (OLD, "13.0.1", "needs a CUDA 12.8 toolkit with nvcc, which was not found here"),
        (OWN, "12.8.1", "again from its source in this environment, with CUDA_HOME=/usr/local/cuda-12.8"),
    ],
)
def test_how_it_is_built_again(module: Extension, release: str, expected: str) -> None:
    facts = with_extensions(module, toolkit=toolkits(toolkit(release)))
    found = answer(CUDA, facts)
    assert expected in as_json(found.needs[0]).spec


def test_it_is_built_for_the_card_that_lacks_code() -> None:
    assert (
        "TORCH_CUDA_ARCH_LIST=12.0 "
        in as_json(answer(ARCH, with_extensions(extension("sm_90"), capabilities=("12.0",))).needs[0]).spec
    )


def test_an_environment_with_pip_builds_with_it() -> None:
    installed = environment(extensions=seen((OLD,)), distributions=seen((distribution("pip", "25.0"),)))
    found = answer(CUDA, machine(environments=seen((installed,))))
    assert "/bin/python -m pip install --force-reinstall --no-deps --no-build-isolation" in as_json(found.needs[0]).spec


def test_it_is_no_fault_of_a_torch_whose_cuda_is_unknown_alone() -> None:
    built = framework(cuda=unseen("no version.py"))
    installed = environment(built, extensions=seen((extension("sm_90"),)))
    found = answer(ARCH, machine(gpus=seen((gpu(capability="12.0"),)), environments=seen((installed,))))
    assert found.kind is Status.BAD
    assert "the CUDA that torch was built with" in as_json(found.needs[0]).spec


def bitsandbytes(*digits: str, targets: str = "sm_80 sm_90") -> tuple[Extension, ...]:
    """Its libraries for these CUDA versions."""
    return tuple(
        extension(targets, distribution="bitsandbytes", version="0.45.5", path=f"{SITE}/libbitsandbytes_cuda{one}.so")
        for one in digits
    )


@pytest.mark.parametrize(
    ("digits", "variable", "kind"),
    [
        (("118", "126", "128"), "", Status.OK),
        (("118", "126"), "", Status.BAD),
        (("118", "126"), "126", Status.OK),
        (("118_nocublaslt", "128_nocublaslt"), "", Status.OK),
    ],
)
def test_bitsandbytes_chooses_by_name(digits: tuple[str, ...], variable: str, kind: Status) -> None:
    variables = (Variable("BNB_CUDA_VERSION", variable, ""),) if variable else ()
    facts = with_extensions(*bitsandbytes(*digits), configuration=configuration(variables=seen(variables)))
    found = answer(CUDA, facts)
    assert found.kind is kind
    if kind is Status.BAD:
        assert "12.8" in found.why
        assert answer(ARCH, facts).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("torch", "spec"),
    [("2.9.1", "==0.45.3"), ("1.0", "")],  # no release goes with so old a torch
)
def test_the_nearest_bitsandbytes_that_has_a_library_for_torch_is_named(torch: str, spec: str) -> None:
    old = framework("bitsandbytes", "0.44.1", build=seen("cuda"), requires=seen(()))
    facts = with_extensions(*bitsandbytes("118", "126"))
    (there,) = facts.environments.get()
    both = (framework(version=f"{torch}+cu128"), old)
    needs = answer(CUDA, facts._replace(environments=seen((there._replace(frameworks=seen(both)),)))).needs
    assert [as_json(one).product for one in needs] == ["bitsandbytes"] * bool(spec) + ["by-hand"]
    assert not spec or as_json(needs[0]).spec == spec


@pytest.mark.parametrize(
    ("digits", "variable", "kind", "opened"),
    [
        (("118", "121", "126", "130"), "", Status.OK, "12.6"),
        (("118", "129"), "", Status.OK, "12.9"),
        (("118", "130"), "", Status.BAD, ""),
        (("118", "126"), "127", Status.BAD, ""),
    ],
)
def test_bitsandbytes_from_0_50_takes_the_nearest_of_the_major(
    digits: tuple[str, ...], variable: str, kind: Status, opened: str
) -> None:
    variables = (Variable("BNB_CUDA_VERSION", variable, ""),) if variable else ()
    modules = tuple(one._replace(version="0.50.2") for one in bitsandbytes(*digits))
    found = answer(CUDA, with_extensions(*modules, configuration=configuration(variables=seen(variables))))
    assert found.kind is kind
    assert opened in found.why


@pytest.mark.parametrize(("version", "kind"), [("0.40.0.post4", Status.UNKNOWN), ("0.40.1", Status.BAD)])
def test_before_0_40_1_bitsandbytes_did_not_ask_torch(version: str, kind: Status) -> None:
    """cuda_setup/main.py: it asked the libcudart.so that it found by variables such as CONDA_PREFIX."""
    facts = with_extensions(*(one._replace(version=version) for one in bitsandbytes("118", "126")))
    found = answer(CUDA, facts)
    assert found.kind is kind
    assert kind is Status.BAD or "libcudart.so found through" in found.why
    assert answer(ARCH, facts).kind is (Status.UNKNOWN if kind is Status.UNKNOWN else Status.NOT_APPLICABLE)


def test_only_the_chosen_library_counts_for_the_gpu() -> None:
    modules = (*bitsandbytes("118", targets="sm_80"), *bitsandbytes("128", targets="sm_120"))
    assert answer(ARCH, with_extensions(*modules, capabilities=("12.0",))).kind is Status.OK
    assert answer(ARCH, with_extensions(*modules, capabilities=("8.9",))).kind is Status.BAD


@pytest.mark.parametrize(
    ("modules", "kind", "severity"),
    [
        ((_ALL_THERE,), Status.OK, None),
        ((_LACKS,), Status.BAD, Severity.ERROR),
        ((_LACKS, _ALL_THERE, _LACKS), Status.BAD, Severity.ERROR),
        ((_LACKS, _ALL_THERE), Status.BAD, Severity.WARNING),
        ((_LACKS, unseen("damaged")), Status.BAD, Severity.WARNING),
        ((_ALL_THERE, unseen("damaged")), Status.UNKNOWN, None),
    ],
)
def test_other_torch(modules: tuple[Any, ...], kind: Status, severity: Severity | None) -> None:
    found = [extension(name=f"_C{number}.so", lacking=one) for number, one in enumerate(modules)]
    told = answer(TORCH, with_extensions(*found))
    assert (told.kind, told.severity if kind is Status.BAD else None) == (kind, severity)
    if kind is Status.BAD:
        assert "undefined symbol _ZN3c104cuda9SetDeviceEa" in told.why
        assert "for torch 2.9.1" in as_json(told.needs[0]).spec


def test_the_other_abi_is_named() -> None:
    name = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
    told = answer(TORCH, with_extensions(extension(lacking=seen(Lacking((name,), 9, other_abi=True)))))
    assert "other ABI of std::string" in told.why
    assert f"needs {name} and 8 more" in told.evidence[0].detail


def test_another_torch_explains_another_cuda() -> None:
    one = extension(cudart=seen("libcudart.so.11.0"), lacking=_LACKS)
    found = judge(with_extensions(one), MATRIX, load_rules([CUDA, TORCH]))
    assert root_causes(found)[CUDA, "xformers 0.0.33"].code == TORCH


def test_what_only_the_host_computes_by_has_no_cards() -> None:
    assert answer(ARCH, with_extensions(extension(""))).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("torch", "label", "cudart", "branch", "need"),
    [
        # no xformers for CUDA 13 and this torch is published
        ("2.14.1+cu130", "xformers 0.0.35", "libcudart.so.12", 580, ("torch", "==2.14.1", "cu126")),
        ("2.15.0+cu132", "xformers 0.0.35", "libcudart.so.12", 580, ("torch", "==2.14.1", "cu126")),
        ("2.9.0+cu130", "xformers 0.0.33.post1", "libcudart.so.12", 580, ("xformers", "==0.0.33", "")),
        ("2.13.0+cu126", "torchcodec 0.14.0", "libcudart.so.13", 580, ("torch", "==2.13.0", "cu132")),
        ("2.13.0+cu126", "torchcodec 0.14.0", "libcudart.so.13", 550, None),  # that driver runs no CUDA 13
        ("2.9.1+cu128", "flash-attn 2.8.3", "libcudart.so.11.0", 580, None),  # everybody compiles it himself
        ("2.9.1+cu128", "my-ops 1.0", "libcudart.so.11.0", 580, None),  # built at home for an older torch
    ],
)
def test_a_build_that_goes_with_the_other(
    torch: str, label: str, cudart: str, branch: int, need: tuple[str, str, str] | None
) -> None:
    name, version = label.split()
    build = torch.partition("+")[2]
    base = framework("torch", torch, build=seen(build), cuda=seen(CudaVersion.from_tag(build)))
    own = framework(name, version, build=seen("cuda"), cuda=unseen("none"), requires=seen(("torch>=2.9",)))
    module = extension(cudart=seen(cudart))._replace(distribution=name, version=version)
    frameworks = (base, own) if name != "my-ops" else (base,)
    here = environment(*frameworks, python=seen("3.12.4"), extensions=seen((module,)))
    first, *_ = answer(CUDA, machine(environments=seen((here,)), driver=driver(f"{branch}.95.05"))).needs
    shown = as_json(first)
    assert (shown.product, shown.spec, shown.build) == need if need else shown.product == "by-hand"


@pytest.mark.parametrize(
    ("variable", "lost", "told"),
    [
        (
            "118",
            "libcudart.so.11.0",
            "BNB_CUDA_VERSION=118 makes bitsandbytes 0.45.5 use its library for CUDA 11.8,",
        ),
        ("117", "", "BNB_CUDA_VERSION=117 makes bitsandbytes 0.45.5 use its library for CUDA 11.7, and it has none"),
        ("118", "", ""),  # a toolkit has its runtime
        ("", "", ""),
    ],
)
def test_a_variable_that_names_a_cuda_which_is_not_here_is_unset(variable: str, lost: str, told: str) -> None:
    variables = (Variable("BNB_CUDA_VERSION", variable, "~/.bashrc, line 3"),) if variable else ()
    asked = prediction(soname=lost, way=None, outcome=Outcome.MISSING)._replace(asker="bitsandbytes")
    facts = with_extensions(
        *bitsandbytes("118", "128"),
        configuration=configuration(variables=seen(variables)),
        loader=loader(predictions=seen((asked._replace(path=unseen("no such file")),) if lost else ())),
    )
    found = answer(CUDA, facts)
    assert found.why.startswith(told) if told else found.kind is Status.OK
    assert not told or found.needs == (ClearVariable("BNB_CUDA_VERSION", "~/.bashrc, line 3"),)


LACKING = Lacking(("_ZN3c105ErrorC2Ev",), 1)


@pytest.mark.parametrize(
    ("version", "tags", "kind"),
    [
        ("2.9.1+cu128", ("28", "29"), Status.OK),  # that of 2.9 lacks nothing
        ("2.8.0+cu128", ("28", "29"), Status.BAD),
        ("2.14.1+cu130", ("28", "29"), Status.NOT_APPLICABLE),  # none is loaded
        ("2.10.0+cu128", ("210",), Status.BAD),
    ],
)
def test_of_libraries_for_several_torches_that_of_the_installed_one_counts(
    version: str, tags: tuple[str, ...], kind: Status
) -> None:
    """Names as in torch-c-dlpack-ext 0.1.5."""
    modules = (
        extension(name=f"libtorch_c_dlpack_addon_torch{tag}-cuda.so", lacking=seen(none if tag == "29" else LACKING))
        for tag in tags
        for none in (Lacking((), 0),)
    )
    here = environment(framework(version=version), extensions=seen(tuple(modules)))
    assert answer("extension-built-for-other-torch", machine(environments=seen((here,)))).kind is kind


@pytest.mark.parametrize(
    ("code", "severity"),
    [("sm_90a sm_100a", Severity.INFO), ("sm_80 sm_90a", Severity.ERROR), ("sm_90", Severity.ERROR)],
)
def test_what_is_made_for_some_cards_alone_is_information(code: str, severity: Severity) -> None:
    """No rebuild of such code serves another card."""
    module = extension(code, distribution="sgl-flash-mla", version="0.1")
    found = answer(ARCH, with_extensions(module, capabilities=("7.5",)))
    assert (found.severity, bool(found.needs)) == (severity, severity is Severity.ERROR)


@pytest.mark.parametrize(("is_named", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)])
def test_one_wrong_library_that_the_import_loads_is_an_error(is_named: bool, severity: Severity) -> None:
    """fbgemm_gpu 1.9.0 beside torch 2.15: of 19 libraries one lacks names, and its __init__.py loads it."""
    fine = [extension(name=f"libfine{number}.so", lacking=seen(Lacking((), 0))) for number in range(4)]
    wrong = extension(name="fbgemm_gpu_py.so", lacking=seen(LACKING), is_named_in_init=is_named)
    assert answer("extension-built-for-other-torch", with_extensions(*fine, wrong)).severity is severity
