"""What becomes of CUDA's own libraries: missing, in a wheel out of reach, of two releases, conda's, shadowed."""

from __future__ import annotations

from typing import Any

import pytest

from compat.matrix import accepts
from compat.need import AssignVariable, ChangePackages, DropFromPath, InstallPackage, InstallToolkit, as_json
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Variable
from doctor.model.facts.loader import FoundBy, Outcome, Prediction, SearchDir, Way
from doctor.model.finding import Severity, Status, Symptom
from doctor.rules.shared.engine import judge, load_rules, root_causes
from tests.machine import (
    CUDNN_DIR,
    RUNPATH,
    SITE,
    VENV,
    configuration,
    cudnn_copy,
    distribution,
    environment,
    framework,
    loader,
    machine,
    seen,
    system,
    toolkit,
    toolkits,
    unseen,
)
from tests.rules.case import MATRIX, answer

CODES = (
    "cudart-soname-missing",
    "nvrtc-missing",
    "wheel-libs-not-on-loader-path",
    "tf-cannot-dlopen-gpu-libs",
    "cublas-mismatch",
    "conda-cudatoolkit-vs-pip",
)
FOLDERS = {"libcudart": "cuda_runtime", "libcublasLt": "cublas", "libnvJitLink": "nvjitlink", "libnvrtc": "cuda_nvrtc"}
OPT = "/usr/local/cuda-12.4/lib64"
HERE = AssignVariable("LD_LIBRARY_PATH", "/usr/local/cuda-12.8/lib64")  # the toolkit, which no path names
TENSORFLOW = framework(
    "tensorflow", "2.16.1", cuda=seen(CudaVersion(12, 3)), requires=seen(("nvidia-cublas-cu12; extra",))
)
CUPY = framework("cupy-cuda12x", "13.6.0", cuda=unseen("a range"), requires=seen(()), path=f"{SITE}/cupy")
ORT = framework(
    "onnxruntime-gpu", "1.22.0", cuda=seen(CudaVersion(12, 8)), requires=seen(()), path=f"{SITE}/onnxruntime"
)
CTRANSLATE2 = framework(
    "ctranslate2", "4.8.5", build=seen(""), cuda=unseen("no text"), requires=seen(()), path=f"{SITE}/ctranslate2"
)
WHEELS = (
    distribution("nvidia-cublas-cu12", "12.8.4.1"),
    distribution("nvidia-cuda-runtime-cu12", "12.8.90"),
    distribution("nvidia-nvjitlink-cu12", "12.8.93"),
    distribution("nvidia-cuda-nvrtc-cu12", "12.8.93"),
)


def own(soname: str) -> str:
    """Where the wheel has it."""
    stem = soname.partition(".so")[0]
    return f"{SITE}/nvidia/{FOLDERS.get(stem, stem.removeprefix('lib'))}/lib/{soname}"


def told(asker: Any, soname: str, path: str = "", /, **changes: Any) -> Prediction:
    """The wheel's copy is loaded, or the one that is said."""
    found = Prediction(VENV, asker.package, soname, seen(path or own(soname)), seen(own(soname)), RUNPATH)
    return found._replace(**changes)


def lost(asker: Any, soname: str, /, **changes: Any) -> Prediction:
    """Nothing answers."""
    found = told(asker, soname)
    found = found._replace(
        path=unseen(f"no {soname}"),
        way=None,
        intended=unseen("every package on Alpine may have wheels for musl"),
        outcome=Outcome.MISSING,
    )
    return found._replace(**changes)


CTRANSLATE2 = framework("ctranslate2", "4.6.0", cudnn=unseen("none"), requires=seen(()))


def on(one: Any, *predictions: Prediction, **changes: Any) -> Facts:
    """A machine with this framework and these predictions; `kind` is that of its environment."""
    kind = changes.pop("kind", "venv")
    installed = (distribution(one.package, one.version), *WHEELS, *changes.pop("more", ()))
    there = environment(one)._replace(kind=kind, distributions=seen(installed))
    return machine(environments=seen((there,)), loader=loader(predictions=seen(predictions)))._replace(**changes)


TORCH = framework()
HEALTHY = ("libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libnvJitLink.so.12", "libnvrtc.so.12")


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("one", [TORCH, TENSORFLOW, CUPY, ORT])
def test_healthy(code: str, one: Any) -> None:
    facts = on(one, *(told(one, name) for name in HEALTHY))
    assert answer(code, facts).kind in {Status.OK, Status.NOT_APPLICABLE}


def test_wheels_come_before_a_second_cuda_and_a_toolkit_that_is_here_before_both() -> None:
    alone = answer("cudart-soname-missing", on(ORT, lost(ORT, "libcurand.so.10")))
    in_a_wheel = lost(ORT, "libcublas.so.12", intended=seen(own("libcublas.so.12")))
    beside = answer("cudart-soname-missing", on(ORT, lost(ORT, "libcurand.so.10"), in_a_wheel))
    assert [as_json(one).product for one in alone.needs] == ["variable", "onnxruntime-gpu", "cuda"]
    assert [as_json(one).product for one in beside.needs] == ["onnxruntime-gpu", "cuda"]


@pytest.mark.parametrize("code", CODES)
def test_nothing_to_say(code: str) -> None:
    on_cudnn_alone = Status.OK if code == "wheel-libs-not-on-loader-path" else Status.NOT_APPLICABLE
    assert answer(code, machine()).kind is on_cudnn_alone
    windows = on(TORCH, told(TORCH, HEALTHY[0]), system=system(family=seen("windows")))
    assert answer(code, windows).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize("code", ["cudart-soname-missing", "nvrtc-missing", "wheel-libs-not-on-loader-path"])
def test_not_told(code: str) -> None:
    unread = told(CUPY, "libcudart.so.12", path=unseen("a cache that is damaged"))
    assert answer(code, on(CUPY, unread)).kind is Status.UNKNOWN
    assert answer(code, on(CUPY)._replace(loader=loader(predictions=unseen("failed")))).kind is Status.UNKNOWN


def test_tensorflow_not_told() -> None:
    facts = on(TENSORFLOW, told(TENSORFLOW, "libcudart.so.12", path=unseen("a cache that is damaged")))
    assert answer("tf-cannot-dlopen-gpu-libs", facts).kind is Status.UNKNOWN


def test_a_soname_is_missing() -> None:
    found = answer("cudart-soname-missing", on(CUPY, lost(CUPY, "libcublas.so.12"), lost(CUPY, "libcudart.so.12")))
    assert found.why == "cupy-cuda12x 13.6.0 cannot use the GPU: libcublas.so.12 and libcudart.so.12 are missing"
    wheels = ChangePackages(("nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12"), f"{VENV}/bin/python")
    assert found.needs == (HERE, wheels, InstallToolkit("==12.*"))


@pytest.mark.parametrize(
    ("toolkits_here", "searched", "first"),
    [
        (toolkits(), (), "variable"),
        (toolkits(), ("/usr/local/cuda-12.8/lib64",), "wheels"),  # it is searched: that would change nothing
        (toolkits(toolkit("11.8.0")), (), "wheels"),
        (toolkits(toolkit(kind="conda")), (), "wheels"),
        (toolkits()._replace(toolkits=unseen()), (), "wheels"),
    ],
)
def test_a_toolkit_that_no_path_names_comes_before_a_second_one(
    toolkits_here: Any, searched: tuple[str, ...], first: str
) -> None:
    asked = on(CUPY, lost(CUPY, "libcublas.so.12"))
    search = seen(tuple(SearchDir(path=one, why=FoundBy.LIBRARY_PATH, exists=True) for one in searched))
    facts = asked._replace(toolkit=toolkits_here, loader=asked.loader._replace(search=search))
    assert as_json(answer("cudart-soname-missing", facts).needs[0]).product == first
    missing = on(CUPY, lost(CUPY, "libnvrtc.so.12"))
    facts = missing._replace(toolkit=toolkits_here, loader=missing.loader._replace(search=search))
    assert ("variable" in [as_json(one).product for one in answer("nvrtc-missing", facts).needs]) is (
        first == "variable"
    )


def test_until_cuda_10_no_other_minor_version_serves() -> None:
    old = framework("cupy-cuda101", "7.8.0", cuda=seen(CudaVersion(10, 1)), requires=seen(()), path=f"{SITE}/cupy")
    found = answer("nvrtc-missing", on(old, told(old, "libcudart.so.10.1"), lost(old, "libnvrtc.so.10.1")))
    assert found.needs == (InstallToolkit("==10.1.*"),)


def test_the_names_of_another_cuda_that_are_tried_as_well_are_not_what_is_missing() -> None:
    """cuda.pathfinder tries libcublas.so.13 before .12, whatever CuPy is for."""
    found = answer("cudart-soname-missing", on(CUPY, lost(CUPY, "libcublas.so.13"), lost(CUPY, "libcublas.so.12")))
    assert found.why == "cupy-cuda12x 13.6.0 cannot use the GPU: libcublas.so.12 is missing"


ORT_13 = ORT._replace(
    version="1.31.1",
    cuda=seen(CudaVersion(13, 0)),
    requires=seen(('nvidia-curand~=10.0; extra == "cuda"', 'nvidia-cudnn-cu13~=9.0; extra == "cudnn"')),
)


@pytest.mark.parametrize(("copies", "with_cudnn"), [((), True), ((cudnn_copy(),), False)])
def test_a_provider_that_lacks_cublas_gets_cudnn_in_the_same_command(copies: Any, with_cudnn: bool) -> None:
    """It cannot be loaded without cuBLAS, so that nothing asks for cuDNN yet."""
    facts = on(ORT_13, lost(ORT_13, "libcublas.so.13"), lost(ORT_13, "libcurand.so.10"), cudnn=seen(copies))
    found = answer("cudart-soname-missing", facts)
    assert found.needs[0] == InstallPackage("onnxruntime-gpu", "==1.31.1", f"{VENV}/bin/python")  # with its extra
    assert (Symptom("cudnn-missing", ORT_13.label) in found.explains) is with_cudnn


@pytest.mark.parametrize(
    ("copies", "named"), [((cudnn_copy(),), True), ((cudnn_copy(environment="/other"),), False), ((), False)]
)
def test_the_path_to_a_wheel_leads_to_its_cudnn_too(copies: Any, named: bool) -> None:
    name = "libcublas.so.13"
    facts = on(ORT_13, lost(ORT_13, name, intended=seen(f"{SITE}/nvidia/cu13/lib/{name}")), cudnn=seen(copies))
    *_, need = answer("wheel-libs-not-on-loader-path", facts).needs
    assert isinstance(need, AssignVariable)
    assert (CUDNN_DIR in need.value.split(":")) is named


def test_what_only_a_stray_library_asks_for_is_no_wheel_out_of_reach() -> None:
    """cuDNN's graph library alone in a directory of LD_LIBRARY_PATH opens its parts beside itself."""
    by_variable = Way(FoundBy.LIBRARY_PATH, "libcudnn.so.9", "/opt/x", "/opt/x", "")
    stray = told(TORCH, "libcudnn_graph.so.9", "/opt/x/libcudnn_graph.so.9", way=by_variable)
    heuristic = "libcudnn_heuristic.so.9"
    asked = lost(TORCH, heuristic, intended=seen(own(heuristic)), library="/opt/x/libcudnn_graph.so.9")
    code = "wheel-libs-not-on-loader-path"
    assert answer(code, on(TORCH, stray, asked)).kind is Status.OK
    whole = told(TORCH, "libcudnn_graph.so.9")
    assert answer(code, on(TORCH, whole, asked)).kind is Status.BAD


def test_a_name_that_no_row_knows() -> None:
    found = answer("cudart-soname-missing", on(CUPY, lost(CUPY, "libcudart.so.10.1")))
    assert [as_json(need).product for need in found.needs] == ["by-hand"]


@pytest.mark.parametrize(
    ("one", "wheels", "kind"),
    [
        (ORT, False, Status.BAD),  # published for GPUs only
        (ORT, True, Status.BAD),
        (CUPY, False, Status.BAD),
        (TORCH, False, Status.BAD),
        (CTRANSLATE2, False, Status.NOT_APPLICABLE),  # one wheel serves the CPU as well
        (CTRANSLATE2, True, Status.BAD),
    ],
)
def test_without_a_card_what_cannot_be_imported_counts_and_what_is_meant_for_one(
    one: Any, wheels: bool, kind: Status
) -> None:
    facts = on(one, lost(one, "libcublas.so.12"), pci=seen(()), gpus=seen(()))
    if not wheels:
        there = environment(one)._replace(distributions=seen((distribution(one.package, one.version),)))
        facts = facts._replace(environments=seen((there,)))
    assert answer("cudart-soname-missing", facts).kind is kind


def test_nvrtc() -> None:
    facts = on(CUPY, told(CUPY, "libcudart.so.12"), lost(CUPY, "libnvrtc.so.12"))
    found = answer("nvrtc-missing", facts)
    assert (found.kind, as_json(found.needs[0]).spec) == (Status.BAD, "nvidia-cuda-nvrtc-cu12")
    assert answer("cudart-soname-missing", facts).kind is Status.OK


def test_a_wheel_out_of_reach() -> None:
    names = ("libcudart.so.12", "libcublas.so.12")
    facts = on(TENSORFLOW, *(lost(TENSORFLOW, name, intended=seen(own(name))) for name in names))
    found = answer("wheel-libs-not-on-loader-path", facts)
    folders = f"{SITE}/nvidia/cublas/lib:{SITE}/nvidia/cuda_runtime/lib"
    assert (found.kind, found.severity) == (Status.BAD, Severity.ERROR)
    assert found.needs == (AssignVariable("LD_LIBRARY_PATH", folders),)
    roots = root_causes(judge(facts, MATRIX, load_rules(CODES)))
    assert roots["tf-cannot-dlopen-gpu-libs", TENSORFLOW.label].code == "wheel-libs-not-on-loader-path"


def test_what_the_variable_holds_is_kept() -> None:
    facts = on(TENSORFLOW, lost(TENSORFLOW, "libcudart.so.12", intended=seen(own("libcudart.so.12"))))
    said = Variable("LD_LIBRARY_PATH", "/opt/a", "~/.bashrc, line 3")
    facts = facts._replace(configuration=configuration(variables=seen((said,))))
    (need,) = answer("wheel-libs-not-on-loader-path", facts).needs
    assert (as_json(need).spec, as_json(need).where) == (f"={SITE}/nvidia/cuda_runtime/lib:/opt/a", "~/.bashrc, line 3")


def test_onnxruntime_can_preload() -> None:
    found = answer(
        "wheel-libs-not-on-loader-path",
        on(ORT, lost(ORT, "libcublasLt.so.12", intended=seen(own("libcublasLt.so.12")))),
    )
    assert (found.severity, as_json(found.needs[0]).product) == (Severity.INFO, "by-hand")
    assert (
        as_json(found.needs[0]).spec
        == "In the program, call onnxruntime.preload_dlls() before any other use of onnxruntime-gpu."
    )


def test_an_onnxruntime_without_preload_dlls() -> None:
    old = ORT._replace(version="1.20.1")
    found = answer(
        "wheel-libs-not-on-loader-path",
        on(old, lost(old, "libcublasLt.so.12", intended=seen(own("libcublasLt.so.12")))),
    )
    assert (found.severity, [as_json(need).product for need in found.needs]) == (Severity.WARNING, ["variable"])


@pytest.mark.parametrize(
    ("torch_has", "wanted", "severity"),
    [
        ("libcublas.so.12", "libcublas.so.12", Severity.INFO),
        ("libcublas.so.13", "libcublas.so.12", Severity.WARNING),
        ("libcudnn_graph.so.9", "libcudnn_graph.so.9", Severity.WARNING),  # torch's import opens the main library alone
    ],
)
def test_beside_what_opens_it_when_it_is_imported(torch_has: str, wanted: str, severity: Severity) -> None:
    facts = on(CTRANSLATE2, lost(CTRANSLATE2, wanted, intended=seen(own(wanted))), told(TORCH, torch_has))
    there = facts.environments.get()[0]._replace(frameworks=seen((CTRANSLATE2, TORCH)))
    found = answer("wheel-libs-not-on-loader-path", facts._replace(environments=seen((there,))))
    assert (found.severity, "torch is imported" in found.why) == (severity, severity is Severity.INFO)


def test_tensorflow_lacks_them() -> None:
    found = answer("tf-cannot-dlopen-gpu-libs", on(TENSORFLOW, lost(TENSORFLOW, "libcufft.so.11")))
    assert found.kind is Status.BAD
    assert found.needs[0] == ChangePackages(("nvidia-cufft-cu12",), f"{VENV}/bin/python")
    assert found.needs[1:] == (HERE, InstallToolkit("==12.3.*"))
    older = TENSORFLOW._replace(version="2.10.0", cuda=seen(CudaVersion(12, 3)))  # looks into no wheel
    assert answer("tf-cannot-dlopen-gpu-libs", on(older, lost(older, "libcufft.so.11"))).needs[0] == HERE


def test_tensorflow_goes_on_without_tensorrt() -> None:
    assert answer("tf-cannot-dlopen-gpu-libs", on(TENSORFLOW, lost(TENSORFLOW, "libnvinfer.so.8"))).kind is Status.OK


def test_the_framework_that_wants_another_cuda_is_the_root() -> None:
    bare = TENSORFLOW._replace(requires=seen(()))
    facts = on(bare, lost(bare, "libcudart.so.12"), toolkit=toolkits(toolkit("11.8.0")))
    there = environment(bare)._replace(distributions=seen((distribution("tensorflow", "2.16.1"),)))
    facts = facts._replace(environments=seen((there,)))
    roots = root_causes(judge(facts, MATRIX, load_rules((*CODES, "framework-wants-other-cuda"))))
    assert roots["tf-cannot-dlopen-gpu-libs", bare.label].code == "framework-wants-other-cuda"


@pytest.mark.parametrize("code", ["cublas-mismatch", "conda-cudatoolkit-vs-pip"])
def test_what_is_loaded_is_not_known(code: str) -> None:
    facts = on(TORCH, kind="conda")._replace(loader=loader(predictions=unseen("the cache cannot be read")))
    assert answer(code, facts).kind is Status.UNKNOWN


@pytest.mark.parametrize(
    ("soname", "path", "kind"),
    [
        ("libcublasLt.so.12", f"{OPT}/libcublasLt.so.12.4.5.8", Status.BAD),
        ("libcublasLt.so.12", "/usr/local/cuda-12.9/lib64/libcublasLt.so.12.9.1.4", Status.BAD),  # not one release
        ("libcublasLt.so.12", "/opt/copy/libcublasLt.so.12.8.4.1", Status.OK),
        ("libcublasLt.so.12", "/opt/copy/libcublasLt.so.12", Status.OK),  # of an unknown release
        ("libnvJitLink.so.12", f"{OPT}/libnvJitLink.so.12.4.127", Status.BAD),
        ("libnvJitLink.so.12", "/usr/local/cuda-12.9/lib64/libnvJitLink.so.12.9.86", Status.OK),  # newer ones serve
    ],
)
def test_two_releases(soname: str, path: str, kind: Status) -> None:
    others = tuple(told(TORCH, name) for name in HEALTHY if name != soname)
    found = answer("cublas-mismatch", on(TORCH, *others, told(TORCH, soname, path)))
    assert found.kind is kind
    assert kind is Status.OK or path in as_json(found.needs[0]).spec


@pytest.mark.parametrize(
    ("releases", "kind"),
    [(("12.1", "12.8"), Status.BAD), (("12.9", "12.8"), Status.OK), (("", "12.8"), Status.OK)],
)
def test_a_link_of_the_jit_whose_file_names_no_release(releases: tuple[str, str], kind: Status) -> None:
    link = told(TORCH, "libnvJitLink.so.12", f"{OPT}/libnvJitLink.so.12", way=BY_VARIABLE, releases=releases)
    facts = on(TORCH, *(told(TORCH, name) for name in HEALTHY if "Jit" not in name), link)
    assert answer("cublas-mismatch", facts).kind is kind
    shadowed = answer("ld-library-path-shadowing", facts)
    assert (shadowed.kind is Status.BAD) is (kind is Status.BAD)
    assert kind is Status.OK or "12.1 instead of its own 12.8" in shadowed.why


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"{VENV}/lib/libcublas.so.12.1.0.26", Status.BAD),
        (f"{VENV}/lib/libcublas.so.12.9.1.4", Status.OK),  # a newer one serves
        ("/usr/lib/libcublas.so.12.1.0.26", Status.OK),  # not conda's
    ],
)
def test_conda(path: str, kind: Status) -> None:
    more = (distribution("cuda-libraries", "12.1.0", kind="conda"),)
    found = answer("conda-cudatoolkit-vs-pip", on(TORCH, told(TORCH, "libcublas.so.12", path), kind="conda", more=more))
    assert found.kind is kind
    assert kind is Status.OK or "conda's cuda-libraries from" in as_json(found.needs[0]).spec


def test_conda_with_a_framework_of_its_own() -> None:
    facts = on(TORCH, told(TORCH, "libcublas.so.12", f"{VENV}/lib/libcublas.so.12.1.0.26"), kind="conda")
    (there,) = facts.environments.get()
    packages = tuple(one._replace(kind="conda") for one in there.distributions.get())
    facts = facts._replace(environments=seen((there._replace(distributions=seen(packages)),)))
    assert answer("conda-cudatoolkit-vs-pip", facts).kind is Status.NOT_APPLICABLE


BY_VARIABLE = Way(FoundBy.LIBRARY_PATH, "libcublas.so.12", OPT, OPT)


@pytest.mark.parametrize(
    ("soname", "file", "kind", "severity"),
    [
        ("libcublasLt.so.12", "libcublasLt.so.12.4.5.8", Status.BAD, Severity.ERROR),
        ("libnvrtc.so.12", "libnvrtc.so.12.4.127", Status.BAD, Severity.WARNING),
        ("libnvrtc.so.12", "libnvrtc.so.12.9.86", Status.NOT_APPLICABLE, Severity.ERROR),
        ("libnvrtc.so.12", "libnvrtc.so.12", Status.NOT_APPLICABLE, Severity.ERROR),
    ],
)
def test_shadowing(soname: str, file: str, kind: Status, severity: Severity) -> None:
    facts = on(TORCH, told(TORCH, soname, f"{OPT}/{file}", way=BY_VARIABLE))
    facts = facts._replace(configuration=configuration(variables=seen((Variable("LD_LIBRARY_PATH", OPT, ""),))))
    found = answer("ld-library-path-shadowing", facts)
    assert (found.kind, found.severity) == (kind, severity)
    if kind is Status.BAD:
        assert found.needs == (DropFromPath("LD_LIBRARY_PATH", OPT),)


def test_shadowing_is_the_root() -> None:
    stray = told(TORCH, "libcublasLt.so.12", f"{OPT}/libcublasLt.so.12.4.5.8", way=BY_VARIABLE)
    facts = on(TORCH, told(TORCH, "libcublas.so.12"), stray)
    roots = root_causes(judge(facts, MATRIX, load_rules((*CODES, "ld-library-path-shadowing"))))
    assert roots["cublas-mismatch", TORCH.label].code == "ld-library-path-shadowing"


@pytest.mark.parametrize(
    "code", ["cudnn-missing", "cudnn-sublibrary-missing", "cudnn-version-mismatch-loaded-vs-compiled"]
)
def test_who_does_not_come_to_ask_for_cudnn(code: str) -> None:
    """A library that is not found ends it before, and that is another finding; else it is not known."""
    ends = on(ORT, lost(ORT, "libcublasLt.so.12", intended=seen(own("libcublasLt.so.12"))))
    assert answer(code, ends).kind is Status.NOT_APPLICABLE
    goes_on = on(ORT, lost(ORT, "libnccl.so.2", optional=True), told(ORT, "libcublasLt.so.12"))
    assert answer(code, goes_on).kind is Status.UNKNOWN


def test_a_library_that_no_row_names_comes_by_the_pin_that_is_not_there() -> None:
    torch = framework(requires=seen(("nvidia-nccl-cu12==2.27.5", "nvidia-cublas-cu12==12.8.4.1")))
    found = answer("cudart-soname-missing", on(torch, lost(torch, "libnccl.so.2")))
    assert found.needs[0] == ChangePackages(("nvidia-nccl-cu12==2.27.5",), f"{VENV}/bin/python")


def test_the_nvrtc_that_is_asked_for_first_is_what_is_missing() -> None:
    """CuPy for CUDA 13 asks for that of CUDA 12 after its own, and CuPy 14 for CUDA 12 for that of 13 before it."""
    for_13 = CUPY._replace(package="cupy-cuda13x")
    for one, wheel in ((for_13, "nvidia-cuda-nvrtc==13.*"), (CUPY, "nvidia-cuda-nvrtc-cu12")):
        found = answer("nvrtc-missing", on(one, lost(one, "libnvrtc.so.13"), lost(one, "libnvrtc.so.12")))
        assert as_json(found.needs[0]).spec == wheel


@pytest.mark.parametrize(("lost_name", "bad"), [("libcusolver.so.10", True), ("libcurand.so.10", True), ("", False)])
def test_tensorflow_2_4_insists_on_the_libraries_of_cuda_11_0(lost_name: str, bad: bool) -> None:
    one = framework("tensorflow", "2.4.1", cuda=seen(CudaVersion(11, 0)), requires=seen(()))
    names = ("libcudart.so.11.0", "libcublas.so.11", "libcusolver.so.10", "libcurand.so.10")
    asked = (lost(one, name) if name == lost_name else told(one, name) for name in names)
    found = answer("tf-cannot-dlopen-gpu-libs", on(one, *asked))
    assert found.kind is (Status.BAD if bad else Status.OK)
    assert lost_name in found.why


def test_tensorflow_2_1_insists_on_no_cublaslt() -> None:
    one = framework("tensorflow", "2.1.0", cuda=seen(CudaVersion(10, 1)), requires=seen(()))
    found = answer("tf-cannot-dlopen-gpu-libs", on(one, told(one, "libcudart.so.10.1"), lost(one, "libcublasLt.so.10")))
    assert found.kind is Status.OK
    found = answer("tf-cannot-dlopen-gpu-libs", on(one, lost(one, "libcudart.so.10.1")))
    assert (found.kind, found.needs[-1]) == (Status.BAD, InstallToolkit("==10.1.*"))


def test_a_cudnn_that_asks_for_nvrtc_without_a_number_is_replaced_by_one_that_does_not() -> None:
    """libcudnn_cnn_infer.so.8 of 8.7 aborts without libnvrtc.so, a name that no wheel has."""
    one = framework("tensorflow", "2.14.1", cuda=seen(CudaVersion(11, 8)), requires=seen(()))
    copy = cudnn_copy("8.7.0", owner="nvidia-cudnn-cu11 8.7.0.84")
    asked = lost(one, "libnvrtc.so", library=f"{copy.path}/libcudnn_cnn_infer.so.8")
    (need,) = answer("nvrtc-missing", on(one, asked, cudnn=seen((copy,)))).needs
    assert (as_json(need).product, as_json(need).where) == ("nvidia-cudnn-cu11", f"{VENV}/bin/python")
    assert accepts(as_json(need).spec, "8.9.6")
    assert not accepts(as_json(need).spec, "8.7.0")
    system = copy._replace(origin="toolkit", owner="")
    (need,) = answer("nvrtc-missing", on(one, asked, cudnn=seen((system,)))).needs
    assert as_json(need)[:2] == ("cuda", "==11.*")  # a toolkit has the name for linkers


@pytest.mark.parametrize("cudnn_lacks", [True, False])
def test_cudnn_comes_with_the_libraries_that_its_extra_would_have_brought(*, cudnn_lacks: bool) -> None:
    """onnxruntime-gpu[cuda] without [cudnn] has no cuBLAS either, which the wheel of cuDNN requires."""
    in_a_wheel = lost(ORT, "libcurand.so.10", intended=seen(own("libcurand.so.10")))
    cudnn = lost(ORT, "libcudnn.so.9") if cudnn_lacks else told(ORT, "libcudnn.so.9")
    facts = on(ORT, in_a_wheel, lost(ORT, "libcublas.so.12"), cudnn)
    found = answer("cudart-soname-missing", facts)
    assert found.needs[0] == InstallPackage("onnxruntime-gpu", "==1.22.0", f"{VENV}/bin/python")
    assert (Symptom("cudnn-missing", ORT.label) in found.explains) is cudnn_lacks


@pytest.mark.parametrize(
    ("asker", "found", "severity"),
    [
        ("cudf-cu12", True, Severity.INFO),
        ("cudf-cu12", False, Severity.ERROR),  # it has none of CUDA's libraries at all
        ("", True, Severity.ERROR),
    ],
)
def test_what_another_framework_brought_without_libraries_that_it_does_not_use(
    asker: str, found: bool, severity: Severity
) -> None:
    """`pip install cudf-cu12` brings CuPy, NVRTC and the runtime, and no cuBLAS."""
    runtime = told(CUPY, "libcudart.so.12") if found else lost(CUPY, "libcudart.so.12")
    facts = on(CUPY, runtime, lost(CUPY, "libcublas.so.12"))
    if asker:
        other = framework(asker, "25.10.0", requires=seen(("cupy-cuda12x>=12.0.0",)))
        there = facts.environments.get()[0]._replace(frameworks=seen((CUPY, other)))
        facts = facts._replace(environments=seen((there,)))
    assert answer("cudart-soname-missing", facts).severity is severity
