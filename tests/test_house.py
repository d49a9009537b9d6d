"""The rules of the house: the flow is one-way, every rule has its page and its tests, lint and types are clean."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it reads, and runs nothing of ours
ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("compat", "installers", "doctor")
MAY_IMPORT = {"compat": {"compat"}, "installers": {"installers", "compat"}, "doctor": set(PACKAGES)}
PRINTING = ROOT / "doctor" / "cli"
LONGEST_FUNCTION = 50
MOST_POSITIONAL = 4  # fields of a value


@functools.cache
def modules() -> list[tuple[str, Path, ast.Module]]:
    """Every module of ours, read once."""
    return [
        (package, path, ast.parse(path.read_text(encoding="utf-8")))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


@pytest.fixture(scope="module", autouse=True)
def _trees_are_not_kept() -> Iterator[None]:
    yield
    modules.cache_clear()


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_the_flow_is_one_way() -> None:
    for package, path, tree in modules():
        ours = {name.split(".")[0] for name in imported(tree)} & set(PACKAGES)
        assert ours <= MAY_IMPORT[package], f"{path} imports {ours - MAY_IMPORT[package]}"


def test_rules_read_nothing_and_probes_judge_nothing() -> None:
    for _, path, tree in modules():
        name = module_name(path)
        names = set(imported(tree))
        if name.startswith("doctor.rules."):
            names = {one for one in names if not one.startswith("doctor.probes.independent")}  # for the types of facts
            assert not any(one.startswith(("doctor.host", "doctor.probes", "os", "subprocess")) for one in names), name
        if name.startswith("doctor.probes."):
            assert not any(one.startswith(("doctor.rules", "doctor.diagnose", "compat.matrix")) for one in names), name


def test_only_the_command_line_prints() -> None:
    for _, path, tree in modules():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        prints = any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
        assert not prints or PRINTING in path.parents or path.name.endswith("_worker.py"), path


def test_no_circular_imports() -> None:
    """Late imports count; those for types alone do not."""
    graph: dict[str, set[str]] = {}
    known = {module_name(path) for _, path, _ in modules()}
    for _, path, tree in modules():
        graph[module_name(path)] = {one for one in runtime_imports(tree, known) if one != module_name(path)}
    done: set[str] = set()
    for start in graph:
        walk(start, graph, (), done)


def runtime_imports(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(without_type_checking(tree)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            below = {f"{node.module}.{name.name}" for name in node.names} & known
            yield from below or {node.module}


def without_type_checking(tree: ast.Module) -> ast.Module:
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    ]
    return ast.Module(body, [])


def walk(name: str, graph: dict[str, set[str]], path: tuple[str, ...], done: set[str]) -> None:
    assert name not in path, " -> ".join((*path, name))
    if name in done:
        return
    for below in graph.get(name, ()):
        walk(below, graph, (*path, name), done)
    done.add(name)


def test_no_function_is_too_long() -> None:
    for _, path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{path}:{node.lineno} {node.name} has {length} lines"


def test_values_of_many_fields_are_made_with_keywords() -> None:
    """Fourteen texts in a row may be swapped, and still have the right types."""
    made: dict[tuple[str, str], list[str]] = {}
    for _, path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "NamedTuple" for base in node.bases):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                made[module_name(path), node.name] = [ast.unparse(one.target) for one in fields]
    for _, path, tree in modules():
        names = {name: (module_name(path), name) for module, name in made if module == module_name(path)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names |= {one.asname or one.name: (node.module or "", one.name) for one in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and names.get(node.func.id) in made:
                assert len(node.args) <= MOST_POSITIONAL, f"{path}:{node.lineno} {node.func.id}"


def rule_names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "doctor" / "rules").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", rule_names())
def test_every_rule_has_its_page(name: str) -> None:
    """That its tests show OK, BAD and UNKNOWN is told by what happens when they run: tests/rules/shown.py."""
    code = name.replace("_", "-")
    page = ROOT / "docs" / "rules" / f"{code}.md"
    assert page.is_file(), f"{page} is missing"
    assert page.read_text(encoding="utf-8").startswith(f"# {code}\n")


def test_every_code_has_its_page() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert pages == {code for code, _, _ in rows_of_codes()}


def test_the_title_of_a_page_is_its_meaning_in_the_table() -> None:
    table = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    for code, meaning in re.findall(r"^\| \[?`([\w-]+)`.* \| (.*) \|$", table, re.MULTILINE):
        page = (ROOT / "docs" / "rules" / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}\n\n*{meaning}.*\n\n"), code


def rows_of_codes() -> list[tuple[str, str, str]]:
    """Code, who sees it, and whether it has a rule."""
    table = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    rows: list[tuple[str, str, str]] = re.findall(
        r"^\| \[?`([\w-]+)`\S* \| ([\w, ]+) \| (yes|no) \|", table, re.MULTILINE
    )
    assert len(rows) == table.count("\n| ") - 2
    return rows


def test_the_table_of_codes_knows_every_rule() -> None:
    rows = rows_of_codes()
    assert [code for code, _, _ in rows] == sorted(code for code, _, _ in rows)
    with_rule = {code for code, _, rule in rows if rule == "yes"}
    assert with_rule == {name.replace("_", "-") for name in rule_names()}
    assert all("check" in seen for code, seen, rule in rows if rule == "yes")


# Names of frameworks, as a literal would hold them: "torch", "jax-cuda12-plugin", "tensorflow/python".
FRAMEWORK_NAME = re.compile(
    r"\^?\(?(torch|tensorflow|tf-nightly|tf-keras|jax|jaxlib|onnxruntime|cupy|theano|keras|mxnet|paddle|ctranslate2|tensorrt"
    r"|numba|cudf|rmm|cuml|nvidia-dali|xformers|flash|bitsandbytes|vllm|triton|deepspeed|chainer|faiss|opencv)(?![a-z])"
)
# Where they may stand, and why. Everywhere else a card or a row of traits says it.
MAY_NAME_FRAMEWORKS = {
    "doctor/loader/cards/": "the cards",
    "doctor/messages/decide/": "messages of the frameworks",
    "doctor/commands/explain/dumps/": "what the frameworks print of themselves",
    "doctor/commands/explain/advice.py": "names as people write them",
    "doctor/commands/explain/prose.py": "names as people write them",
    "doctor/commands/explain/facts.py": "torch says its CUDA in a line of its own",
    "doctor/commands/verify/frameworks/": "programs, one for each framework",
    "doctor/cli/": "names of commands and choices",
    "compat/solve/candidates.py": "what TensorFlow's extra asks for besides the libraries of CUDA",
    "doctor/commands/dockerfile/build.py": "names in a line that bring no library of CUDA",
    "doctor/rules/dockerfile_libraries_missing.py": "whose cuDNN is optional, and which may be meant for the CPU",
    "doctor/rules/framework_not_published.py": "of torch the rows hold every build",
    "doctor/rules/jax_plugin_version_mismatch.py": "about JAX alone",
    "doctor/rules/multiple_cupy.py": "about CuPy alone",
    "doctor/rules/tf_cannot_dlopen_gpu_libs.py": "about TensorFlow alone",
    "doctor/rules/tf_native_windows_after_2_10.py": "about TensorFlow alone",
    "doctor/rules/theano_cudnn_unfit.py": "about Theano alone",
    "doctor/rules/theanorc_misconfigured.py": "about Theano alone",
    "doctor/rules/two_onnxruntimes.py": "about ONNX Runtime alone",
    "doctor/rules/wheel_does_not_fit.py": "about wheels that are compiled for torch",
    "doctor/rules/wrong_nvcc_vs_torch_cuda.py": "about torch's extension builder alone",
    "doctor/commands/install/stack.py": "what Keras is planned with, which names no backend itself",
    "doctor/commands/install/configure.py": "the settings of Theano and Keras",
    "doctor/pyenv/half_installed.py": "what the wheel of torch unpacks last",
    "doctor/probes/configuration.py": "the settings of Theano and Keras",
    "installers/configuration.py": "the settings of Theano and Keras",
    "doctor/commands/bench/": "CuPy computes for us",
    "doctor/commands/verify/cudnn_trial/": "CuPy computes for us",
    "doctor/commands/verify/command.py": "CuPy computes for us",
    "doctor/commands/verify/missing.py": "CuPy computes for us",
    "doctor/output/private_forms.py": "words that a report keeps",
    "doctor/pyenv/distributions.py": "conda's packages, which are none of the index's",
}


def test_frameworks_are_named_in_their_cards() -> None:
    found = {}
    for _, path, tree in modules():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(tuple(MAY_NAME_FRAMEWORKS)):
            literals = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
            words = [text for text in literals if isinstance(text, str) and not re.search(r"\s", text)]
            found[name] = sorted({text for text in words if FRAMEWORK_NAME.match(text)})
    assert not {name: texts for name, texts in found.items() if texts}


def test_who_may_name_frameworks_does() -> None:
    """An entry that is not needed any more goes."""
    named = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if FRAMEWORK_NAME.search(path.read_text(encoding="utf-8"))
    }
    for entry in MAY_NAME_FRAMEWORKS:
        assert any(name.startswith(entry) for name in named), entry
