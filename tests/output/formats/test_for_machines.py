"""What other programs read: each format by its schema or by the parser of its own world, on machines of every kind."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
import zipfile
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lxml.html
import pytest
from lxml import etree
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif  # of the official schema

from compat.version import CudaVersion
from doctor.cli import execute
from doctor.commands.check import sections
from doctor.commands.check.command import CheckSubject, ReportOptions, check, report_of
from doctor.commands.check.document import CheckDocument
from doctor.model.facts import Facts, Machine
from doctor.model.facts.failure import Failure
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Evidence, Finding, Report, Severity, Symptom, bad, not_applicable, ok, unknown
from doctor.output.comment import AT_MOST
from doctor.output.document import TextStyle
from doctor.output.finding_views import line, parts_of, place_of
from doctor.output.write import format_for
from tests.image.pack import config_of, oci, tar_with
from tests.lab.case import examine
from tests.lab.cases import CASES
from tests.machine import driver, environment, framework, gpu, machine, nvml, report_on, seen, system, unseen
from tests.wheels import CACHE

HOSTILE = '2.9"><script>%0A::error\n::error title=x::`y`]]>\u202e\udcff\x00\\[a](http://x)](b){0}@you</script>'


def hostile() -> Facts:
    """A machine whose every text is against us."""
    torch = framework("torch", HOSTILE, cudnn=unseen(HOSTILE), path=HOSTILE)
    card = gpu(HOSTILE, ecc_uncorrected=seen(4), compute_mode=seen("prohibited"), now=gpu().now)
    log = (f"NVRM: Xid (PCI:0000:01:00): 79, {HOSTILE}",)
    return machine(
        machine=Machine("image", f"/tmp/{HOSTILE}"),
        system=system(distribution=seen(HOSTILE), kernel_log=seen(log)),
        environments=seen((environment(torch, framework("jax", HOSTILE)),)),
        gpus=seen((card,)),
    )


def invented(number: int = 1, text: str = HOSTILE) -> Report:
    """A report with findings in hostile words, each place of evidence among them."""
    sources = (
        Evidence(text, label="NVML"),
        Evidence(text, "/etc/ld.so.conf"),
        Evidence(text, "~/.bashrc", 12, "LD_LIBRARY_PATH, set in ~/.bashrc, line 12"),
        Evidence(text, "Dockerfile", 3),
        Evidence(text, label=text),
        Evidence(text, f"/{text}"),
    )
    findings = [
        Finding(
            code="ld-library-path-shadowing",
            severity=list(Severity)[one % 3],
            subject=f"{text} {one}",
            summary=text,
            evidence=(sources[one % len(sources)], Evidence(text)),
            explains=(Symptom("cudnn-missing", text),),
            explained_by="cudnn-missing" if one % 5 == 4 else "",
            remedies=(),
            docs="",
        )
        for one in range(number)
    ]
    return report_on(machine())._replace(findings=tuple(findings))


def lost() -> Facts:
    """Nobody answers."""
    return machine(gpus=unseen("NVML hung"), pci=unseen("no sysfs"), environments=unseen("no listing"))


SITE = "usr/lib/python3/dist-packages"
NAME = '2.9"><script>%0A::error'


def of_image(files: Mapping[str, bytes | str | None], env: Mapping[str, str] = {}) -> Report:
    """By `check --image`, of a layer with these files."""
    layer = tar_with(files)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{NAME.replace('/', '')}.tar"
        path.write_bytes(tar_with(oci([layer], config_of([layer], env))))
        return report_of(CheckSubject(image=str(path), policy=""), 0.0)


def of_dockerfile(text: str, name: str = "Dockerfile") -> Report:
    """By `check --dockerfile`, of a file in a directory of the project."""
    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text)
        report = report_of(CheckSubject(dockerfile=f"{folder}/{name}", platform="linux/amd64", policy=""), 0.0)
    return report._replace(facts=report.facts._replace(machine=Machine("dockerfile", f"./images//gpu/{name}")))


BASE = "FROM nvidia/cuda:12.8.0-runtime-ubuntu22.04\n"
QUOTE, ESCAPED = '"', '\\"'  # an open quote is no Dockerfile
HOSTILE_LINES = (
    f"ENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/x{NAME.replace(QUOTE, ESCAPED)}",
    f"RUN apt-get update && apt-get install -y cuda-toolkit-12-4 'nvidia-driver-{NAME}'",
    f"RUN pip install 'torch=={NAME}' 'torch==2.9.1+cu126' 'jax[cuda12{NAME}]==0.4'",
)
REPORTS: dict[str, Callable[[], Report]] = {
    "healthy image": lambda: of_image({"etc/os-release": b"ID=debian\n"}),
    "hostile image": lambda: of_image(
        {
            "etc/os-release": f'ID=debian\nPRETTY_NAME="</testcase>{NAME}"\n'.encode(),
            f"{SITE}/torch-2.9.1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {NAME}\n".encode(),
            "usr/local/cuda": f"cuda-{NAME}",
            "usr/lib/x86_64-linux-gnu/libcudnn.so.9": f"libcudnn.so.{NAME}",
        },
        {"NVIDIA_VISIBLE_DEVICES": "void", "LD_LIBRARY_PATH": f"/x{NAME}", "NVIDIA_REQUIRE_CUDA": NAME},
    ),
    "healthy Dockerfile": lambda: of_dockerfile(f"{BASE}RUN pip install --no-cache-dir torch==2.9.1\n"),
    "hostile Dockerfile": lambda: of_dockerfile(f"{BASE}{chr(10).join(HOSTILE_LINES)}\n"),
    "Dockerfile of a hostile name": lambda: of_dockerfile(f"{BASE}{HOSTILE_LINES[1]}\n", f"D:4{NAME.replace('/', '')}"),
    "healthy": lambda: report_on(machine()),
    "no GPU": lambda: report_on(machine(pci=seen(()), gpus=seen(()))),
    "broken": lambda: report_on(machine(gpus=seen((gpu(compute_mode=seen("prohibited")),)))),
    "unknown": lambda: report_on(lost()),
    "root": lambda: report_on(machine(machine=Machine("root", "/mnt/disk"))),
    "hostile": lambda: report_on(hostile()),
    "hostile findings": lambda: invented(12),
    "hostile and live": lambda: report_on(hostile()._replace(machine=Machine("live", HOSTILE))),
}


def rendered(style: str, report: Report) -> str:
    return format_for(style, CheckDocument).render(CheckDocument(report), TextStyle())


@cache
def made(name: str) -> Report:
    return REPORTS[name]()


@pytest.fixture(params=sorted(REPORTS))
def report(request: pytest.FixtureRequest) -> Report:
    return made(request.param)


@pytest.mark.parametrize("name", ["hostile and live", *(name for name in REPORTS if re.search("hostile [iDn]", name))])
def test_the_hostile_machine_is_told_of(name: str) -> None:
    """What is fed to the formats below: texts that break out of each of them."""
    said = (f"{one.subject} {one.summary} {one.evidence}" for one in made(name).findings)
    assert any("<script>" in one for one in said)


@pytest.mark.parametrize("name", [name for name in REPORTS if "Dockerfile" in name and name != "healthy Dockerfile"])
def test_what_is_said_of_a_dockerfile_names_its_line(name: str) -> None:
    """The file as the user named it, not by the last part of that: there may be another one of that name."""
    report = made(name)
    places = [place_of(one, report.facts.machine) for one in report.findings]
    assert len(places) > 1
    for place in places:
        assert place is not None
        assert place.file == report.facts.machine.name.replace("./images//", "images/")
        assert 1 <= place.line <= 4
    for one in rendered("github", report).splitlines()[: len(places)]:
        assert re.match(r"::\w+ file=images/gpu/D[^,]*,line=[1-4],title=", one)


def test_sarif(report: Report) -> None:
    log = json.loads(rendered("sarif", report))
    Sarif.model_validate(log)
    (run_of_it,) = log["runs"]
    rules = run_of_it["tool"]["driver"]["rules"]
    assert len(run_of_it["results"]) == len(report.findings)
    assert all(one["help"]["text"] and one["shortDescription"]["text"] and one["helpUri"] for one in rules)
    for result, finding in zip(run_of_it["results"], report.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        assert result["level"] == {"info": "note"}.get(finding.severity.value, finding.severity.value)
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(file:///)?[A-Za-z0-9._~%-][A-Za-z0-9._~%/-]*", uri), uri
        base = location["physicalLocation"]["artifactLocation"].get("uriBaseId")
        assert base is None or base in run_of_it["originalUriBaseIds"]
        text = result["message"]["text"]
        assert not re.search(r"(?<!\\)\[[^\[\]]*\]\(", text), "an embedded link"
        assert not re.search(r"(?<!\{)\{\d+\}(?!\})", text), "a placeholder"
    open_questions = run_of_it["invocations"][0]["toolExecutionNotifications"]
    assert bool(open_questions) == any(one.kind.value == "unknown" and one.blocks_verdict for one in report.answers)


@pytest.mark.parametrize(
    ("facts", "successful"),
    [
        (machine(), True),
        (machine(gpus=seen((gpu(compute_mode=seen("prohibited")),))), True),
        (lost(), True),
        (machine(failures=(Failure("gpus", "RuntimeError: forced to fail", "x.py:1"),)), False),
    ],
)
def test_only_a_fault_of_ours_is_an_execution_that_failed(facts: Facts, successful: bool) -> None:
    log = json.loads(rendered("sarif", report_on(facts)))
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is successful


@pytest.mark.parametrize(
    ("answer", "element"),
    [
        (ok("said"), ""),
        (not_applicable("said"), "skipped"),
        (unknown("said"), "error"),
        (unknown("said")._replace(blocks_verdict=False), "skipped"),
        (bad("said"), "failure"),
        (bad("said", severity=Severity.WARNING), "failure"),
        (bad("said", severity=Severity.INFO), ""),
        (bad("said", severity=Severity.WARNING)._replace(code="check-error"), "error"),
        (bad("said", severity=Severity.INFO)._replace(code="check-error"), "error"),
    ],
)
def test_what_a_build_server_makes_of_an_answer(answer: Answer, element: str) -> None:
    answer = answer._replace(code=answer.code or "cudnn-missing", subject="x")
    suite = ET.fromstring(rendered("junit", report_on(machine())._replace(answers=(answer,), findings=())))
    assert [one.tag for one in suite.iterfind("testcase/*")] == [element] * bool(element)
    assert (suite.attrib["failures"], suite.attrib["errors"]) == (
        str(int(element == "failure")),
        str(int(element == "error")),
    )


@pytest.mark.parametrize(
    ("kind", "file", "uri"),
    [
        ("live", "/etc/ld.so.conf", "file:///etc/ld.so.conf"),
        ("live", "C:/cuda/x y.dll", "file:///C%3A/cuda/x%20y.dll"),
        ("live", "/home/a/pro,ject (b): c/x.so", "file:///home/a/pro%2Cject%20%28b%29%3A%20c/x.so"),
        ("live", "", "this-machine"),
        ("live", "Dockerfile", "Dockerfile"),
        ("image", "/etc/ld.so.conf", "etc/ld.so.conf"),
        ("image", "", "app.tar"),
        ("dockerfile", "app.tar", "app.tar"),
        ("dockerfile", "", "app.tar"),
        ("dockerfile", "/etc/ld.so.conf", "app.tar"),
        ("live", "~/.bashrc", ".bashrc"),
    ],
)
def test_where_a_result_is(kind: str, file: str, uri: str) -> None:
    finding = invented(1).findings[0]._replace(evidence=(Evidence("", file, label="in words"),))
    facts = machine(machine=Machine(kind, "app.tar"))
    log = json.loads(rendered("sarif", report_on(machine())._replace(facts=facts, findings=(finding,))))
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        ((Evidence("", label="NVML"), Evidence("", line=12), Evidence("", label="/proc/modules, /sys/module")), None),
        ((Evidence("", "/etc/profile.d/x.sh", 4),), Place("/etc/profile.d/x.sh", 4)),
        ((Evidence("", "/usr/lib/libcudnn.so.9"), Evidence("", "/root/.bashrc", 2)), Place("/root/.bashrc", 2)),
        ((Evidence("", "/a, b: (c)/x.so", label="in words"),), Place("/a, b: (c)/x.so")),
    ],
)
def test_the_file_that_a_finding_names(evidence: tuple[Evidence, ...], place: Place | None) -> None:
    finding = invented(1).findings[0]._replace(evidence=evidence)
    assert place_of(finding, Machine("live", "x")) == place


def test_junit(report: Report) -> None:
    suite = ET.fromstring(rendered("junit", report))
    failed, wrong, skipped = (len(suite.findall(f"testcase/{name}")) for name in ("failure", "error", "skipped"))
    said = (int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped"))
    assert tuple(said) == (len(report.answers), failed, wrong, skipped)
    assert {one.tag for one in suite.iter()} <= {"testsuite", "testcase", "failure", "error", "skipped", "system-out"}


def run_pip_download(requirement: str, name: str, *options: str) -> Path:
    """The directory of the cache that holds it."""
    folder = CACHE / name
    if not list(folder.glob("*")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
        subprocess.run([*command, "--dest", str(folder), requirement], check=True)
    return folder


@pytest.fixture(scope="session")
def jenkins_schema() -> etree.XMLSchema:
    """Jenkins' junit-10.xsd, which pytest's own source release holds for its tests."""
    found = list(run_pip_download("pytest==8.3.5", "junit-10", "--no-binary=:all:").glob("*.tar.gz"))
    with tarfile.open(found[0]) as archive:
        member = next(one for one in archive.getmembers() if one.name.endswith("example_scripts/junit-10.xsd"))
        stream = archive.extractfile(member)
        assert stream is not None
        return etree.XMLSchema(etree.parse(io.BytesIO(stream.read())))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REPORTS))
def test_junit_is_as_jenkins_wants_it(name: str, jenkins_schema: etree.XMLSchema) -> None:
    jenkins_schema.assertValid(etree.fromstring(rendered("junit", made(name)).encode()))


def samples(text: str) -> dict[str, list[Any]]:
    return {one.name: one.samples for one in text_string_to_metric_families(text)}


def test_prometheus(report: Report) -> None:
    text = rendered("prometheus", report)
    assert text.endswith("\n")
    found = samples(text)
    assert all(one.timestamp is None for family in found.values() for one in family)
    keys = [(one.name, *sorted(one.labels.items())) for family in found.values() for one in family]
    assert len(keys) == len(set(keys))
    (verdict,) = found["gpudoctor_verdict_info"]
    assert verdict.labels == {"verdict": report.verdict}
    roots = [one for one in report.findings if not one.explained_by]
    assert sum(one.value for one in found["gpudoctor_findings"]) == len(roots)
    assert {one.labels["code"] for one in found.get("gpudoctor_finding_info", [])} == {
        one.code for one in report.findings
    }


COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^:,%\r\n]*(?:%(?:25|3A|2C)[^:,%\r\n]*)*,?)+)::([^\r\n]*)")


def test_github(report: Report) -> None:
    """The grammar of the runner: each line is one command of ours, and every other sign of it is escaped."""
    *lines, last = rendered("github", report).splitlines()
    assert last == f"gpudoctor: {report.verdict}"
    assert len(lines) >= len(report.findings)
    for one in lines:
        match = COMMAND.fullmatch(one)
        assert match, one
        assert re.fullmatch(r"(?:[^%]|%25|%0A)*", match[3])


def test_markdown(report: Report) -> None:
    """By CommonMark: nothing of a machine becomes mark-up; only our own marks are there."""
    tokens = MarkdownIt("commonmark").enable("table").parse(rendered("markdown", report))
    inner = [child for token in tokens for child in token.children or ()]
    assert {one.type for one in inner} <= {"text", "strong_open", "strong_close", "code_inline", "softbreak"}
    assert [one.content for one in tokens if one.type == "html_block"] == ["<!-- gpudoctor -->\n"]
    assert all(one.content != "@you" and "@you" not in one.content for one in inner)


OUR_MARKS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "article", "p", "ul", "ol", "li"),
    *("span", "strong", "div", "a", "pre", "code", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"),
}
OUR_ATTRIBUTES = {"class", "open", "id", "href", "tabindex", "role", "aria-label", "scope"}


def test_html(report: Report) -> None:
    """Nothing of a machine becomes mark-up; each finding is there with what mends it, and the links lead to it."""
    page = lxml.html.document_fromstring(rendered("html", report))
    assert {one.tag for one in page.iter()} <= OUR_MARKS
    assert {name for one in page.iterfind(".//body//*") for name in one.attrib} <= OUR_ATTRIBUTES
    roots = [one for one in report.findings if not one.explained_by]
    assert [one.findtext("h3") for one in page.iterfind(".//article")] == [line(one.summary) for one in roots]
    assert [one.text for one in page.iterfind(".//article//pre/code")] == [
        "\n".join(part) for one in roots for each in one.remedies for is_command, part in parts_of(each) if is_command
    ]
    assert page.findtext(".//pre[@class='whole']") == CheckDocument(report).text(TextStyle())
    targets = {f"#{one.get('id')}" for one in page.iterfind(".//article")}
    assert {one.get("href") for one in page.iterfind(".//a")} == targets
    (style,) = page.iterfind(".//style")
    (policy,) = (one.get("content") for one in page.iterfind(".//meta") if one.get("http-equiv"))
    digest = b64encode(sha256((style.text or "").encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'"


@pytest.mark.parametrize(
    ("facts", "layer", "mark"),
    [
        ({"driver": driver("450.80.02")}, "Driver", "error"),
        ({"gpus": unseen("NVML does not answer")}, "GPU", "unknown"),
        ({"gpus": unseen("no driver"), "pci": seen(())}, "GPU", ""),
        ({}, "Driver", "ok"),
    ],
)
def test_the_layer_that_is_to_be_mended_is_marked(facts: dict[str, Any], layer: str, mark: str) -> None:
    torch = framework("torch", "2.9.1+cu128", cuda=seen(CudaVersion.parse("12.8")))
    seen_of = machine(**{"gpus": seen((gpu(),)), "environments": seen((environment(torch),)), **facts})
    layers = {one.name: one for one in sections.layers(report_on(seen_of))}
    assert layers[layer].mark == mark


@pytest.mark.system
@pytest.mark.parametrize("name", ["broken", "hostile findings", "hostile image", "healthy"])
def test_html_in_a_browser(name: str, tmp_path: Path) -> None:
    """Chromium makes of it what was written: no element more, nothing fetched, no complaint."""
    (tmp_path / "page.html").write_text(rendered("html", made(name)))
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    argv += [f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert ":CONSOLE" not in done.stderr
    shown = lxml.html.document_fromstring(done.stdout)
    written = lxml.html.document_fromstring((tmp_path / "page.html").read_text())
    assert [(one.tag, one.text_content().strip()) for one in shown.iterfind(".//body//*")] == [
        (one.tag, one.text_content().strip()) for one in written.iterfind(".//body//*")
    ]


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_that_everybody_can_read(scheme: str, tmp_path: Path) -> None:
    """By axe-core in Chromium: landmarks, names, contrast of all texts; a telephone has no sideways scroll."""
    (script,) = run_pip_download("axe-playwright-python==0.1.8", "axe").glob("*.whl")
    with zipfile.ZipFile(script) as wheel:
        axe = wheel.read("axe_playwright_python/axe.min.js").decode()
    page = rendered("html", made("broken")).replace("<details>", "<details open>")
    page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace(
        "</body>",
        f"<script>{axe}</script><script>axe.run().then(r => document.documentElement.dataset.axe = JSON.stringify("
        "[r.violations.map(v => v.id), r.passes.map(v => v.id), document.body.scrollWidth]))</script></body>",
    )
    if scheme == "dark":  # the option of headless Chromium for it changes with its releases
        page = page.replace("(prefers-color-scheme: dark)", "(min-width: 0)").replace("light dark", "dark")
    (tmp_path / "page.html").write_text(page)
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=20000"]
    argv += ["--window-size=500,900", f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    told = lxml.html.document_fromstring(done.stdout).get("data-axe")
    assert told, done.stderr[-500:]
    violations, passes, width = json.loads(told)
    assert violations == []
    assert {"color-contrast", "landmark-one-main", "page-has-heading-one", "list"} <= {*passes}
    assert width <= 500


def test_a_large_machine_has_a_short_beginning() -> None:
    """64 cards and 200 findings: the stack and the list at the top stay short, the rest follows."""
    report = report_on(machine(gpus=seen(tuple(gpu()._replace(number=one) for one in range(64)))))
    page = lxml.html.document_fromstring(rendered("html", report._replace(findings=invented(200).findings)))
    (gpus,) = (one for one in page.iterfind(".//ol/li") if one.findtext("div/strong") == "GPU")
    assert [(one.text or "").partition(":")[0] for one in gpus.iterfind("div/p")] == [
        *map(str, range(16)),
        "and 48 more lines",
    ]
    assert [one.text_content() for one in page.iterfind("body/main/ul/li")][12] == "and 148 more follow below"
    assert len(page.findall(".//article")) == 160
    assert len(page.findall(".//table")[0].findall("tbody/tr")) == 64


def test_a_comment_has_room_for_its_end() -> None:
    text = rendered("markdown", invented(400))
    assert len(text) < AT_MOST + 200 < 65_536
    assert "more parts" in text


def test_a_finding_that_is_too_long_keeps_no_other_out() -> None:
    report = invented(2)
    long = report.findings[0]._replace(summary="x" * AT_MOST)
    text = rendered("markdown", report._replace(findings=(long, *report.findings[1:])))
    assert "and 1 more part;" in text
    assert "| layer |" in text
    assert "/etc/ld" in text


def test_a_hostile_root_by_the_command_line(tmp_path: Path) -> None:
    root = tmp_path / "r`%0A::error"
    site = root / "usr/lib/python3/dist-packages"
    info = site / "torch-2.9.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text('Metadata-Version: 2.1\nName: torch\nVersion: 2.9"><script>%0A::error\n')
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nPRETTY_NAME="</testcase>::error::x"\n')
    names = ("r.json", "r.sarif", "r.xml", "r.prom", "r.md", "r.html", "r.txt")
    options = ReportOptions(outputs=tuple(str(tmp_path / name) for name in names))
    check(CheckSubject(root=str(root)), options, TextStyle())
    Sarif.model_validate(json.loads((tmp_path / "r.sarif").read_text()))
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "gpudoctor.report/1"
    assert ET.parse(tmp_path / "r.xml").getroot().tag == "testsuite"
    assert "gpudoctor_verdict_info" in samples((tmp_path / "r.prom").read_text())
    assert (tmp_path / "r.md").read_text().startswith("<!-- gpudoctor -->")
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert "The stack" in (tmp_path / "r.txt").read_text()
    assert sorted(one.name for one in tmp_path.glob("r.*")) == sorted(names)


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        ({"x.json": '{\n  "schema"'}, ""),
        ({"x.JSON": '{\n  "schema"'}, ""),
        ({"x": "The stack"}, ""),
        ({"x": '{\n  "schema"', "--format": "json"}, ""),
        ({"x.txt": '{\n  "schema"', "--format": "json"}, ""),
        ({"x.sarif": '{\n  "$schema"', "y": '{\n  "schema"', "--format": "json"}, ""),
        ({"x.sarif": '{\n  "$schema"', "-": ""}, "The stack"),
        ({"x.sarif": '{\n  "$schema"', "-": "", "--format": "github"}, "gpudoctor: "),
    ],
)
def test_the_suffix_decides(
    options: dict[str, str], begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    argv = ["check", "--root", str(root), "--only", "cudnn-missing"]
    style = options.pop("--format", "")
    argv += ["--format", style] if style else []
    for name in options:
        argv += ["--output", name if name == "-" else str(tmp_path / name)]
    execute(argv)
    printed = capsys.readouterr().out
    assert begins in printed
    assert (printed == "") == (begins == "")
    for name, text in options.items():
        assert name == "-" or text in (tmp_path / name).read_text()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.json").write_text("old")
    argv = ["check", "--root", str(tmp_path), "--output", str(tmp_path / "no" / "x.prom")]
    assert execute([*argv, "--output", str(tmp_path / "old.json")]) == 2
    assert "x.prom" in capsys.readouterr().err
    assert (tmp_path / "old.json").read_text() == "old"


def test_an_answer_of_nvml_is_no_mark_up() -> None:
    """From the driver's words to the page, without a made-up finding between."""
    facts = machine(driver=machine().driver._replace(nvml=seen(nvml(state="error", error=HOSTILE, code=999))))
    text = rendered("junit", report_on(facts))
    assert "<script>" not in text
    assert ET.fromstring(text).findall("testcase/failure")


def test_a_comma_and_a_blank_in_a_directory(tmp_path: Path) -> None:
    """The file of the evidence, whatever its name: no format takes it out of a sentence."""
    case = next(one for one in CASES if one.name == "mixed-on-disk")
    tree = case.build(tmp_path / "tree")
    (tree / "home/user/project").rename(tree / "home/user/pro,ject of: mine")
    report = examine(case, tree).report
    result = json.loads(rendered("sarif", report))["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place.startswith("home/user/pro%2Cject%20of%3A%20mine/.venv/")
    assert rendered("github", report).startswith("::error file=/home/user/pro%2Cject of%3A mine/.venv/")
