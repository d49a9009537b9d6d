"""`gpudoctor check --from`: reports, dumps, bug reports and archives that were made elsewhere."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.explain.evidence import load
from doctor.host import BadRequest
from doctor.model.decode import NotAReport, facts_of_report
from doctor.model.encode import encode_facts, encode_report
from doctor.model.facts.environment import Setting
from doctor.model.facts.seen import Place, Seen, Unseen, WhyNot
from doctor.model.finding import Report
from doctor.probes import independent_probes
from tests.machine import configuration, driver, gpu, machine, report_on, seen

KINDS = {name: one.kind for name, one in independent_probes().items()}
DUMPS = Path(__file__).parent / "dumps"
BUG_REPORT = (DUMPS / "nvidia-bug-report.txt").read_text(encoding="utf-8")
RAS = (DUMPS / "ncclras-2.28.txt").read_text(encoding="utf-8")


def written(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def codes_of(report: Report) -> set[str]:
    return {one.code for one in report.findings}


def packed(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def saved(**changes: Any) -> bytes:
    return json.dumps(encode_report(report_on(machine(**changes)))).encode()


def test_a_saved_report_is_judged_again(tmp_path: Path) -> None:
    """By the same rules, with the same answers, and with remedies that are proven on its facts."""
    before = report_on(machine(driver=driver("470.256.02", "11.4")))
    path = written(tmp_path, "report.json", json.dumps(encode_report(before)).encode())
    after = report_of(CheckSubject(source=path), 0.0)
    assert encode_facts(after.facts) == encode_facts(before.facts)
    assert codes_of(after) == codes_of(before) >= {"driver-too-old-for-runtime"}
    assert after.facts.machine.kind == "dump"
    assert any(one.remedies and one.remedies[0].commands for one in after.findings)


def test_a_real_report_survives_the_way(tmp_path: Path) -> None:
    path = tmp_path / "here.json"
    argv = (sys.executable, "-m", "gpudoctor", "check", "--format", "json", "--output", str(path))
    subprocess.run(argv, check=False, cwd=Path(__file__).resolve().parents[3])
    document = json.loads(path.read_text(encoding="utf-8"))
    assert encode_facts(facts_of_report(document, KINDS)) == document["facts"]


@pytest.mark.parametrize("made", [None, [1], {}, {"at": 5}, {"at": "<b>\x1b[31m" * 9}, {"at": "2026-01-02T03:04:05Z"}])
def test_when_a_saved_report_was_made_is_a_time_or_nothing(tmp_path: Path, made: Any) -> None:
    text = json.dumps({**json.loads(saved()), "made": made})
    report = report_of(CheckSubject(source=written(tmp_path, "report.json", text.encode())), 0.0)
    assert report.made_at == ("2026-01-02T03:04:05Z" if "2026" in str(made) else "")


_NEWER = {"file", "line", "set_at", "at", "pinned_at", "why_not"}  # fields that facts had not at first


def _older(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _older(one) for name, one in value.items() if name not in _NEWER}
    return [*map(_older, value)] if isinstance(value, list) else value


def test_a_report_of_an_older_form_is_read() -> None:
    setting = Setting("theano", "~/a, b/.theanorc, line 2", "device", "cpu", "", Place("~/a, b/.theanorc", 2))
    lost = Unseen("NVML: NVMLError_GpuIsLost (15): GPU is lost", WhyNot.LOST)
    facts = machine(configuration=configuration(settings=seen((setting,))), gpus=seen((gpu(uuid=lost),)))
    document = _older(encode_report(report_on(facts)))
    assert "file" not in json.dumps(document["facts"]["configuration"])
    read = facts_of_report(document, KINDS)
    assert read.configuration.settings.get() == (setting,)
    uuid = read.gpus.get()[0].uuid
    assert isinstance(uuid, Unseen)
    assert uuid.why_not is WhyNot.LOST


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("dump.txt", (DUMPS / "collect_env-2.9.1.txt").read_bytes(), "driver-too-old-for-runtime"),
        ("nvidia-bug-report.log.gz", gzip.compress(BUG_REPORT.encode(), mtime=0), "open-kernel-module-required"),
        ("nvidia-bug-report.log", BUG_REPORT.encode(), "ecc-xid-hardware-fault"),
        (
            "must-gather.tar.gz",
            packed(
                {
                    "node/nvidia-bug-report.log.gz": gzip.compress(BUG_REPORT.encode(), mtime=0),
                    "node/x.bin": b"\x00" * 100,
                }
            ),
            "open-kernel-module-required",
        ),
        ("must-gather.tar", packed({"a/pod.log": BUG_REPORT.encode()}, "w"), "open-kernel-module-required"),
        (
            "error.json",
            json.dumps(
                {
                    "message": {
                        "message": "The NVIDIA driver on your system is too old (found version 11040)",
                        "extraInfo": {},
                    }
                }
            ).encode(),
            "driver-too-old-for-runtime",
        ),
    ],
    ids=["dump", "bug report", "bug report unpacked", "must-gather", "must-gather unpacked", "torchelastic"],
)
def test_what_a_file_shows(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    report = report_of(CheckSubject(source=written(tmp_path, name, content)), 0.0)
    assert code in codes_of(report)
    assert report.facts.machine.kind == "dump"
    assert report.facts.machine.name == f"the machine of {name}"


def test_a_bug_report_names_module_and_kernel(tmp_path: Path) -> None:
    facts = report_of(CheckSubject(source=written(tmp_path, "a.log", BUG_REPORT.encode())), 0.0).facts
    assert facts.driver.flavour.get() == "proprietary"
    assert str(facts.driver.module_release.get()) == "570.86.15"
    assert facts.system.kernel.get() == "6.8.0-45-generic"
    assert (facts.system.distribution_id.get(), facts.system.distribution_version.get()) == ("ubuntu", "24.04")


def test_the_kernels_log_names_the_module_that_was_loaded_last(tmp_path: Path) -> None:
    line = "[ 1{}.0] NVRM: loading NVIDIA UNIX {}  {}  Release Build\n"
    text = line.format(1, "x86_64 Kernel Module", "550.54.14") + line.format(
        2, "Open Kernel Module for x86_64", "580.95.05"
    )
    facts = report_of(CheckSubject(source=written(tmp_path, "dmesg", text.encode())), 0.0).facts
    assert (str(facts.driver.module_release.get()), facts.driver.flavour.get()) == ("580.95.05", "open")
    whole = report_of(CheckSubject(source=written(tmp_path, "a.log", f"{BUG_REPORT}{text}".encode())), 0.0).facts
    assert str(whole.driver.module_release.get()) == "570.86.15", "what runs, not what a start of before loaded"


def test_nccls_ras(tmp_path: Path) -> None:
    facts = report_of(CheckSubject(source=written(tmp_path, "ras.txt", RAS.encode())), 0.0).facts
    assert str(facts.driver.cuda.get()) == "13.0"


def test_nothing_of_this_machine_is_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    report = report_of(CheckSubject(source=written(tmp_path, "ras.txt", RAS.encode())), 0.0)
    assert "cuda-visible-devices-empty-or-invalid" not in codes_of(report)
    assert not isinstance(report.facts.environments, Seen)
    assert not isinstance(report.facts.system.kernel, Seen)


def test_exit_status_and_pipe(tmp_path: Path) -> None:
    old = written(tmp_path, "old.json", saved(driver=driver("470.256.02", "11.4")))
    assert execute(["check", "--from", old]) == 1
    assert execute(["check", "--from", written(tmp_path, "fine.json", saved())]) == 0
    assert execute(["check", "--from", written(tmp_path, "ras.txt", RAS.encode())]) == 4
    done = subprocess.run(
        (sys.executable, "-m", "gpudoctor", "check", "--from", "-"),
        input=(DUMPS / "collect_env-2.9.1.txt").read_bytes(),
        capture_output=True,
        check=False,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert done.returncode == 1
    assert b"driver-too-old-for-runtime" in done.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no text"),
        (b"root:x:0:0:root:/root:/bin/sh", "no report, dump or message that gpudoctor knows"),
        (gzip.compress(b"x" * 10_000, mtime=0)[:40], "no report, dump or message that gpudoctor knows"),
        (b'{"schema": "gpudoctor.report/9", "facts": {}}', "its schema is"),
        (b'{"schema": "gpudoctor.report/1"}', "facts: not there"),
        (b'{"schema": "gpudoctor.report/1", "facts": {"os": 3}}', "not an object"),
    ],
    ids=["empty", "of something else", "cut short", "of another release", "without facts", "with a number for a group"],
)
def test_what_is_none_is_one_line(
    tmp_path: Path, content: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["check", "--from", written(tmp_path, "x", content)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "option",
    [
        *(
            ["--root", "/"],
            ["--deep"],
            ["--python", "python3"],
            ["--framework", "torch"],
            ["--platform", "linux/arm64"],
        ),
        *(["--config", "x"], ["--assume-driver", "580"], ["--assume-gpu", "RTX 4090"], ["--policy", "x"], ["--fix"]),
    ],
)
def test_what_asks_for_another_machine(tmp_path: Path, option: list[str]) -> None:
    assert execute(["check", "--from", written(tmp_path, "ras.txt", RAS.encode()), *option]) == 2


def test_an_archive_that_unpacks_to_anything_is_bounded(tmp_path: Path) -> None:
    bomb = gzip.compress(gzip.compress(b"\0" * (1 << 28)))
    started = time.process_time()
    assert len(load(written(tmp_path, "bomb.gz", bomb)).text) <= 64 << 20
    many = packed({f"{number}.log": b"\0" * (1 << 20) for number in range(100)})
    assert len(load(written(tmp_path, "many.tar.gz", many)).text) <= 64 << 20
    assert time.process_time() - started < 20


def test_a_report_with_wrong_values_is_refused() -> None:
    """300 reports in which one value is another: each is read, or refused with the place; nothing else is raised."""
    rng = random.Random(3)
    text = saved()
    for _ in range(300):
        document = json.loads(text)
        _spoil(document["facts"], rng)
        with suppress(NotAReport):
            facts_of_report(document, KINDS)


def _spoil(value: Any, rng: random.Random) -> None:
    while isinstance(value, (dict, list)) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if rng.random() < 0.25 or not isinstance(value[key], (dict, list)) or not value[key]:
            value[key] = rng.choice([None, 3, -1.5, "x", [], {}, True, [[]], {"unseen": 3}, {"value": 1}])
            return
        value = value[key]


def test_mutants_of_archives_raise_one_error(tmp_path: Path) -> None:
    rng = random.Random(5)
    whole = packed({"node/nvidia-bug-report.log.gz": gzip.compress(BUG_REPORT.encode(), mtime=0)})
    for _ in range(150):
        raw = bytearray(whole)
        for _ in range(rng.randrange(1, 5)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        with suppress(BadRequest):
            load(written(tmp_path, "x", bytes(raw[: rng.randrange(1, len(raw) + 1)])))


def test_of_a_large_text_the_beginning_and_what_can_matter_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is thinned as `explain` does; its end is read, gzipped or not."""
    monkeypatch.setattr("doctor.commands.explain.evidence._WHOLE_BYTES", 1 << 16)
    step, dump = b"step 1 loss 0.5\n" * 20_000, (DUMPS / "collect_env-2.9.1.txt").read_bytes()
    bus = b"NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
    for at, text in enumerate((step + dump, dump + step + bus)):
        for name, content in (("a.log", text), ("a.log.gz", gzip.compress(text, mtime=0))):
            assert len(load(written(tmp_path, name, content)).text) <= 1 << 16
            judged = report_of(CheckSubject(source=str(tmp_path / name)), 0.0)
            assert "driver-too-old-for-runtime" in codes_of(judged)
            assert ("ecc-xid-hardware-fault" in codes_of(judged)) == bool(at)


_MEASURED = """
import sys
from doctor.cli import execute
execute(["check", "--from", sys.argv[1], "--output", "/dev/null"])
sys.stderr.write(open("/proc/self/status").read())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="by /proc")
def test_a_large_log_takes_little_memory(tmp_path: Path) -> None:
    """200 MB take no more: of a log the first 4 MiB are kept."""
    path = written(tmp_path, "a.log", b"epoch 3 step 12345 loss 0.123456 on cuda:0\n" * 600_000)
    done = subprocess.run((sys.executable, "-c", _MEASURED, path), capture_output=True, text=True, check=False)
    peak_kib = re.search(r"VmHWM:\s+(\d+) kB", done.stderr)
    assert peak_kib
    assert int(peak_kib[1]) <= 100 << 10


def test_a_bomb_of_nothing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.commands.explain.unpacking.UNPACKED_BYTES", 1 << 22)
    path = written(tmp_path, "bomb.gz", gzip.compress(bytes(1 << 24), mtime=0))
    for command in (["explain", path], ["check", "--from", path]):
        assert execute(command) == 2


def gzipped(content: bytes, times: int) -> bytes:
    for _ in range(times):
        content = gzip.compress(content, mtime=0)
    return content


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_gzip_within_gzip(tmp_path: Path, times: int) -> None:
    """A log, an archive and a file of one."""
    member = gzipped(BUG_REPORT.encode(), times)
    whole = (
        BUG_REPORT.encode(),
        packed({"node/a.log": BUG_REPORT.encode()}, "w"),
        packed({"node/a.log.gz": member}, "w"),
    )
    codes = [
        codes_of(report_of(CheckSubject(source=written(tmp_path, "a", gzipped(one, times))), 0.0)) for one in whole
    ]
    assert codes[0] == codes[1] == codes[2] != set()


def test_gzip_without_end(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="compressed more than 3 times"):
        load(written(tmp_path, "a.gz", gzipped(BUG_REPORT.encode(), 4)))
    members = {"node/a.log": BUG_REPORT.encode(), "node/b.log.gz": gzipped(b"x", 4)}
    [unread] = load(written(tmp_path, "a.tar.gz", packed(members))).unread
    assert unread.why.startswith("it is compressed more than 3 times")


@pytest.mark.parametrize("cut", [20, 200])
def test_what_ends_early_within_gzip(tmp_path: Path, cut: int) -> None:
    inner = gzip.compress(BUG_REPORT.encode(), mtime=0)
    for content in (gzip.compress(inner[:-cut], mtime=0), gzip.compress(inner, 0, mtime=0)[:-cut]):
        assert "it ends early" in load(written(tmp_path, "a.gz.gz", content)).unread[0].why


def test_many_members_of_gzip_with_nothing_in_them(tmp_path: Path) -> None:
    path = written(tmp_path, "a.gz.gz", gzip.compress(gzip.compress(b"", mtime=0) * 5_000_000, 1))
    started = time.process_time()
    with pytest.raises(BadRequest, match="is damaged; no part of it can be read"):
        load(path)
    assert time.process_time() - started < 10


COLLECT_ENV = """Collecting environment information...
PyTorch version: {torch}
CUDA used to build PyTorch: {cuda}

OS: Ubuntu 22.04.5 LTS (x86_64)
Libc version: glibc-2.35

Python version: 3.10.12 (main, Nov  4 2025, 08:48:33) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-6.8.0-52-generic-x86_64-with-glibc2.35
Is CUDA available: True
CUDA runtime version: Could not collect
GPU models and configuration: GPU 0: NVIDIA {gpu}
Nvidia driver version: {driver}

Versions of relevant libraries:
[pip3] torch=={torch}
[conda] Could not collect
"""


@pytest.mark.parametrize(
    ("shown", "wanted", "tag"),
    [
        (("2.6.0+cu124", "12.4", "GeForce RTX 5090", "570.86.10"), "torch==2.7.0", "cu128"),
        (("1.13.1+cu117", "11.7", "H100 80GB HBM3", "550.54.15"), "torch==2.0.0", "cu118"),
    ],
)
def test_a_text_gets_the_command_that_the_same_facts_get(
    tmp_path: Path, shown: tuple[str, ...], wanted: str, tag: str
) -> None:
    """The packages are not all named in it; a remedy replaces the framework all the same."""
    text = COLLECT_ENV.format(**dict(zip(("torch", "cuda", "gpu", "driver"), shown, strict=True)))
    source = written(tmp_path, "env.txt", text.encode())
    first = report_of(CheckSubject(source=source), time.perf_counter()).findings[0]
    assert first.code == "gpu-too-new-for-cuda"
    index = f"https://download.pytorch.org/whl/{tag}"
    assert first.remedies[0].commands == (
        "python -m pip uninstall -y torch &&",  # pip takes 2.7.1+cu126 for the 2.7.1 that it is asked for
        f"python -m pip install {wanted} --index-url {index}",
    )


def test_what_follows_torch_in_a_text_comes_with_it(tmp_path: Path) -> None:
    text = COLLECT_ENV.format(torch="2.7.1+cu126", cuda="12.6", gpu="GeForce RTX 5080", driver="580.95.05")
    source = written(tmp_path, "env.txt", f"{text}[pip3] torchvision==0.22.1\n".encode())
    first = report_of(CheckSubject(source=source), time.perf_counter()).findings[0]
    assert first.remedies[0].commands == (
        "python -m pip uninstall -y torch torchvision &&",
        "python -m pip install torch==2.7.1 torchvision --index-url https://download.pytorch.org/whl/cu128",
    )
