"""Redaction touches values, never names of fields; what is planted in a machine is in no report of it."""

from __future__ import annotations

import functools
import json
import re
import tempfile
import time
from pathlib import Path

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, ReportOptions, check
from doctor.commands.check.document import CheckDocument
from doctor.diagnose import make_report
from doctor.host.root import RootHost
from doctor.model.facts import Machine
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import Unseen, WhyNot
from doctor.model.finding import Evidence
from doctor.output.document import TextStyle
from doctor.output.redact import Redactor, redact
from doctor.output.write import format_for
from doctor.probes import ProbeRequest, configuration, look
from doctor.probes.private import PrivateWords
from doctor.probes.private import look as private_words
from doctor.rules.shared.engine import codes, judge, load_rules
from tests.each import each
from tests.lab.case import LabHost
from tests.lab.cases import CASES
from tests.machine import gpu, machine, seen
from tests.output import leaks
from tests.probes.tree import offline

WORDS = PrivateWords(
    users=("alice", "torch", "Jane", "Jane Doe", "zoe", "anna-zoe", "al", "bob", "q"),
    homes=("/home/alice", "/scratch/x7", "/scratch/x7/home", "/data"),
    hosts=("box17.lab", "box17"),
)
REDACTOR = Redactor(WORDS, ["0324517000123"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/.venv/bin/python", "/home/<user>/.venv/bin/python"),
        ("/home/bob/x", "/home/<user>/x"),
        ("C:/Users/Bob/x", "C:/Users/<user>/x"),
        ("/data/alice/env", "/data/<user>/env"),
        ("/data/alice-old/env", "/data/<user>-old/env"),
        ("/opt/alice_gcc/bin", "/opt/<user>_gcc/bin"),
        ("/opt/malice/bin", "/opt/malice/bin"),
        ("/scratch/x7/home/.venv", "<home>/.venv"),
        ("alice", "<user>"),
        ("Alice and ALICE_x", "<user> and <user>_x"),
        ("/data/AL/env of al", "/data/<user>/env of <user>"),  # also names of two and three letters
        ("/data/Bob/env of bob", "/data/<user>/env of <user>"),
        ("q is a letter", "q is a letter"),
        ("anna-zoe, zoe", "<user>, <user>"),
        ("on BOX17", "on <host>"),
        ("built by alice.", "built by <user>."),
        ("built by Jane Doe, not by Jane.", "built by <user>, not by <user>."),
        ("/scratch/x7/env", "<home>/env"),
        ("/data/env", "/data/env"),  # a home that is no more than a mount is in every path
        ("/root/.bashrc, line 3", "/root/.bashrc, line 3"),
        ("torch 2.9.1+cu128 in /opt/venv", "torch 2.9.1+cu128 in /opt/venv"),
        ("/home/torch/.venv", "/home/<user>/.venv"),
        ("Nov 20 box17 kernel: NVRM", "Nov 20 <host> kernel: NVRM"),
        ("box17.lab and box170", "<host> and box170"),
        ("GPU-5e6a2cfd-6d2c-4b51-9d2b-0d2b7c0b3e55", "GPU-<uuid>"),
        ("MIG-GPU-5e6a2cfd-6d2c-4b51-9d2b-0d2b7c0b3e55/1/0", "MIG-GPU-<uuid>"),
        ("MIG-5e6a2cfd-6d2c-4b51-9d2b-0d2b7c0b3e55", "MIG-<uuid>"),
        ("serial 0324517000123", "serial <serial>"),
        ("nvidia-curand-cu12 10.3.2.106 and 9.10.2.21", "nvidia-curand-cu12 10.3.2.106 and 9.10.2.21"),
        ("/opt/cudnn/9.10.2.21/lib", "/opt/cudnn/9.10.2.21/lib"),
        ("http://10.1.2.3:8080/simple", "http://<address>:8080/simple"),
        ("http://me:secret@mirror/simple", "http://<credentials>@<host>/simple"),
        ("10.1.2.3:29500", "<address>:29500"),
        ("/net/192.168.7.9/share", "/net/<address>/share"),
        *((f"of 172.{second}.7.9 ", f"of 172.{second}.7.9 ") for second in (15, 32, 116)),
        *((f"of 172.{second}.7.9 ", "of <address> ") for second in (16, 19, 20, 29, 30, 31)),
        ("mail first.last@lab.example today", "mail <address> today"),
        ("0000:01:00.0 and 00000000:01:00.0", "0000:01:00.0 and 00000000:01:00.0"),
        ("02:42:ac:11:00:02", "<address>"),
        ("fe80::42:acff:fe11:2", "<address>"),
        ("at 12:34:56 on 2026-11-22T04:13:08", "at 12:34:56 on 2026-11-22T04:13:08"),
        ("export HF_TOKEN=hf_abc123; x", "export HF_TOKEN=<secret>; x"),
        ('"api_key": "k-123"', '"api_key": "<secret>"'),
        ("Key was rejected by service", "Key was rejected by service"),
        (r"\\fileserver\share\x", r"\\<host>\share\x"),
        (r"\\?\UNC\fileserver\share", r"\\?\UNC\<host>\share"),
        ("//nas01/share/cuda", "//<host>/share/cuda"),
        ("//usr/lib/x", "//usr/lib/x"),
        (r"D:\Users\Bob Smith\x", r"D:\Users\<user>\x"),
        ("C:/Users/Jane Doe/x", "C:/Users/<user>/x"),
        ("https://conda.example/t/ab-12345/main", "https://conda.example/t/<secret>/main"),
        ("index-url = https://u:p@x.example/simple", "index-url = https://<credentials>@x.example/simple"),
        ("Authorization: Basic dTpwYXNz x", "Authorization: <secret> <secret> x"),
        ("sent Bearer abcdefgh12345678 to", "sent Bearer <secret> to"),
        ("eyJhbGciOi.eyJzdWIiOi.Sfl-x_w end", "<secret> end"),
        ("got hf_abcdefghijklmnop1234", "got <secret>"),
        ("AKIAIOSFODNN7EXAMPLE", "<secret>"),
        ("x?X-Amz-Signature=abc&y=1", "x?X-Amz-Signature=<secret>&y=1"),
        ("XLA_FLAGS=--token=abc --y", "XLA_FLAGS=--token=<secret> --y"),
        ("A_TOKEN =            abc", "A_TOKEN =            <secret>"),
        ("DB_PASS=x BYPASS=1", "DB_PASS=<secret> BYPASS=1"),
        ("[2001:db8::7]:443 2001:db8:0:1:2:3:4:5", "[<address>]:443 <address>"),
        ("::ffff:10.1.2.3 fd00::9", "<address> <address>"),
        ("c10::add std::out a::b ::1", "c10::add std::out a::b ::1"),
        ("x='a' MASTER_KEY='one two' b", "x='a' MASTER_KEY='<secret>' b"),
        ("SSHKEY=abc keyboard: us TOKENIZERS_PARALLELISM=1", "SSHKEY=<secret> keyboard: us TOKENIZERS_PARALLELISM=1"),
        ("MYSQL_PWD=abc PWD=/opt/x PIP_AUTH=abc", "MYSQL_PWD=<secret> PWD=/opt/x PIP_AUTH=<secret>"),
        ("https://u:p,q;r)s@x.example/y", "https://<credentials>@x.example/y"),
        ("https://u:p/q@x.example/y", "https://<credentials>@x.example/y"),
        ("git+https://x.example:8443/y@v1", "git+https://x.example:8443/y@v1"),
        ("pip --token abc --no-deps", "pip --token <secret> --no-deps"),
        ("aa:bb:cc, aa:bb:cc:dd", "aa:bb:cc, <address>"),
        ("aaaa:b:c:d, aaaaa:b:c:d", "<address>, aaaaa:b:c:d"),
        (":".join("1" * 21), "<address>"),
        (":".join("1" * 22), ":".join("1" * 22)),
        ("1::2:3, 1:::2:3, 1::2", "<address>, 1:::2:3, 1::2"),
        (
            '--password "a b" c --api_key k --access-key=k',
            "--password <secret> c --api_key <secret> --access-key=<secret>",
        ),
        ("curl -u bob:p -x y; curl --user 'bob:p'", "curl -u <user>:<secret> -x y; curl --user '<user>:<secret>'"),
        ("docker run -u 1000:1000 -p 80:80 x", "docker run -u 1000:1000 -p 80:80 x"),
        ("docker login -u bo -p abc && mkdir -p /x", "docker login -u bo -p <secret> && mkdir -p /x"),
        ("sshpass -p abc ssh x; mysql -pabc -u root", "sshpass -p <secret> ssh x; mysql -p<secret> -u root"),
        ("machine x login me password abc", "machine x login me password <secret>"),
        ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: <secret>"),
        ("ENV DB_PASSWORD abc def", "ENV DB_PASSWORD <secret>"),
        ("ENV PATH /opt/x:/usr/bin", "ENV PATH /opt/x:/usr/bin"),
        ("setenv DB_PASSWORD abc", "setenv DB_PASSWORD <secret>"),
        ("DBPASS=abc PASS='a b' BYPASS=1 PASS: test_x", "DBPASS=<secret> PASS=<secret> BYPASS=1 PASS: test_x"),
        ("Server=x;Uid=me;Pwd=abc;", "Server=x;Uid=me;Pwd=<secret>;"),
        ("AccountKey=abc;x=y", "AccountKey=<secret>;x=y"),
        ("<password>abc</password>", "<password><secret></password>"),
        (r"{\"password\": \"abc\"}", r"{\"password\": \"<secret>\"}"),
        ("a?key=abc&pass=def&token=ghi&n=1", "a?key=<secret>&pass=<secret>&token=<secret>&n=1"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END", "-----BEGIN PRIVATE KEY-----<secret>-----END"),
        ("2001::7 1001::7 fe80::1 fe81::1 fd00::1", "<address> 1001::7 <address> fe81::1 <address>"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert REDACTOR.text(text) == expected


OF_THE_STACK = (
    "/home/media /run/media/data /usr/local/cuda/lib64 /usr/share/include /opt/conda/envs/test/bin/python3 /etc/env"
    " /var/tmp/scratch /srv/project/venv /mnt/work /sys/dev /proc/live /lib/driver site-packages dist-packages"
    " error: healthy image, broken docker, podman dump; ok warning info bad unknown dockerfile"
    " ubuntu debian fedora centos linux windows distribution system wheel pip python"
    " nvidia gpu gpus cudnn torch pytorch tensorflow jax jaxlib cupy keras theano onnxruntime projects tests"
)


def test_accounts_that_are_called_like_the_stack_cost_no_words() -> None:
    words = PrivateWords(users=tuple(re.findall(r"[\w-]+", OF_THE_STACK)), hosts=("cuda", "ubuntu"))
    assert Redactor(words).text(OF_THE_STACK) == OF_THE_STACK.replace("/home/media", "/home/<user>")


@pytest.mark.parametrize("name", ["code", "kind", "severity", "schema", "verdict", "explained_by"])
def test_fields_with_words_of_ours_are_kept(name: str) -> None:
    assert REDACTOR.value({name: "alice", "why": ["alice"]}) == {name: "alice", "why": ["<user>"]}


@pytest.mark.parametrize(
    "text",
    [
        "1:1:1:" + "a" * 100_000 + "g", "a@" + "a." * 50_000 + "1", "a" + " " * 100_000 + "b", "A_KEY" + ":" * 50_000,
        *(piece * 50_000 for piece in (":", "TOKEN", "TOKEN=", "a.", "a@", "\\", "/", "://", "?a-", "1.", "_", "-")),
        *(piece * 10_000 for piece in ("eyJaaa.", "ghp_", "authorization: a ", "aaaaaaaa:", "C:\\Users\\", "/home/")),
        *(piece * 10_000 for piece in ("-u ", "-u a", "login a ", "set -a ", "docker login ", "mysql -", "cookie ")),
        *(piece * 10_000 for piece in ("BEGIN PRIVATE KEY-----", "APASS", "PASS=A", "--a_", "</token>", "; pwd ")),
        *(piece * 10_000 for piece in ("&a-", "\\\"", "A_", "a_key ", "host ")),
        *(piece * 10_000 for piece in ("Serial ", "a.local", "a@b ", "1.2.3.4/")),
        *(piece * 10_000 for piece in ("mysql ", "curl -u ", "echo '", "echo x | ", "<a b='c' ", "<a>")),
        *(piece * 10_000 for piece in ("config set a", "user=a%", "sqlplus -a ", "chpasswd <<< ", "<a key='")),
        *(piece * 10_000 for piece in ("net use ", "net use \\\\a ")),
        "curl " + "\t" * 100_000, "<a " + " " * 100_000, "mysql '" * 30_000,
        *(piece * 50_000 for piece in ("aA0", "a0", "serial_", "_IP", "-u:")),
        "GPU-" + "aaaa-" * 20_000,
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_long_texts_are_no_trap(text: str) -> None:
    """An image says how long its words are: `/opt/1:1:1:aaaaaaaaaaaaaaaaaaaaaaaaaaag` was looked at for hours."""
    started = time.thread_time()
    REDACTOR.text(text)
    assert time.thread_time() - started < 2


def test_facts_keep_their_shape() -> None:
    facts = machine(machine=Machine("live", "box17"), gpus=seen((gpu(serial=seen("0324517000123")),)))
    clean = REDACTOR.value(facts)
    assert type(clean) is type(facts)
    assert clean.machine.name == "<host>"
    assert clean.gpus.get()[0].uuid.get() == "GPU-<uuid>"
    assert clean.gpus.get()[0].serial.get() == "<serial>"
    assert clean.driver == facts.driver


def test_what_is_private_is_read_from_the_machine(tmp_path: Path) -> None:
    offline(
        tmp_path,
        {
            "/etc/passwd": "root:x:0:0::/root:/bin/bash\nzoe:x:1001:1001:Zoe:/data/zoe:/bin/sh\nsvc:x:200:200::/x:/y\n"
            "sys:x:999:1::/x:/y\nfirst:x:1000:1::/data/first\nlast:x:60000:1::/data/last\nafter:x:60001:1::/x:/y\n"
            "short:x:1002:1:no home\nodd:x:a:1::/x:/y\n",
            "/etc/hostname": "node7\n",
            "/etc/hosts": "127.0.0.1 localhost\n10.0.0.8 node8\n"
            "10.0.0.7 node7.cluster.example node7 alias-of-the-same-node # here\n",
            "/home/yan/": "",
        },
    )
    host = RootHost(str(tmp_path), {"SUDO_USER": "xaver", "HOME": "/scratch/xaver"})
    assert private_words(host) == PrivateWords(
        users=("xaver", "zoe", "first", "last", "yan"),
        homes=("/scratch/xaver", "/data/zoe", "/data/first", "/data/last"),
        hosts=("alias-of-the-same-node", "node7.cluster.example", "node7"),
    )


PLANTED = tuple(f"zq{number:03}person" for number in range(200))


def planted(root: Path, **variables: str) -> LabHost:
    """A machine of the lab, with a secret in every place that can reach a report, and further variables."""
    case = next(one for one in CASES if one.name == "F23")
    names = iter(PLANTED)
    people = [next(names) for _ in range(100)]
    hosts = [next(names) for _ in range(20)]
    rest = list(names)
    said = case.variables()
    folders = [f"/data/{one}/lib" for one in people[:20]] + [f"/opt/{one}_gcc/lib64" for one in people[20:40]]
    said["LD_LIBRARY_PATH"] = ":".join([said.get("LD_LIBRARY_PATH", ""), *folders])
    said["CUDA_HOME"] = f"/scratch/{people[41]}-old/cuda"
    said["CUDA_PATH"] = f"/home/{people[42]}/cuda"
    said["NCCL_TOPO_FILE"] = f"http://{rest[0]}:{rest[1]}@10.0.0.9/topo?api_key={rest[2]}"
    said["XLA_FLAGS"] = f"--xla_token={rest[3]} --mail={rest[4]}@{rest[5]}.example"
    said["CUPY_CACHE_DIR"] = f"/net/192.168.1.20/{people[43]}"
    for number, one in enumerate(rest[6:]):
        said[
            ("HF_TOKEN_{}", "TORCH_{}_KEY", "NCCL_{}_SECRET", "TF_VAR_{}", "NVIDIA_{}_PASS")[number % 5].format(number)
        ] = one
    host = LabHost(case.build(root), case._replace(environ={**said, **variables}))
    (root / "etc" / "passwd").write_text(
        "".join(f"{one}:x:{1000 + n}:1::/home/{one}:/bin/sh\n" for n, one in enumerate(people))
    )
    (root / "etc" / "hostname").write_text(f"{hosts[0]}\n")
    (root / "etc" / "hosts").write_text(f"10.0.0.1 {' '.join(hosts)}\n")
    return host


def test_two_hundred_planted_secrets_are_in_no_report(tmp_path: Path) -> None:
    host = planted(tmp_path)
    facts, matrix = look(host, ProbeRequest()), Matrix.of_user()
    report = make_report(facts, judge(facts, matrix, load_rules(codes())), matrix, 0.0)
    open_text = json.dumps(CheckDocument(report).plain())
    assert sum(one in open_text for one in PLANTED) >= 40, "too little was planted where reports are made of"
    document = CheckDocument(redact(report, host, report.facts))
    for text in (json.dumps(document.plain()), document.text(TextStyle())):
        assert [one for one in PLANTED if one in text] == []
        assert "10.0.0.9" not in text
        assert "192.168.1.20" not in text


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        *(
            (kind, "zq77person31415926")
            for kind in (
                *("http://{}:x@mirror.example/simple", "https://conda.example/t/{}/main", "//{}/share/lib"),
                *("\\\\{}\\share\\lib", "C:\\Users\\{} Doe\\x", "user.email={}@mail.example", "--xla_token={}"),
                *("eyJ{}.eyJzdWI.Sfl-x", "Bearer {}", "Authorization: Basic {}", "hf_{}abcdefgh12345"),
                "/scratch/x?X-Amz-Signature={}",
            )
        ),
        ("[2001:db8::{}]:443", "beef"),
        ("::ffff:10.1.2.{}", "77"),
    ],
)
def test_a_secret_of_every_kind_is_in_no_fact(tmp_path: Path, kind: str, secret: str) -> None:
    host = planted(tmp_path, XLA_FLAGS=kind.format(secret))
    facts = look(host, ProbeRequest())
    assert kind.format(secret) in str(facts).replace("\\\\", "\\"), "nobody sees it"
    assert kind.format(secret) not in str(redact(facts, host, facts)).replace("\\\\", "\\")
    assert secret not in str(redact(facts.configuration, host, facts))


def test_redacted_reports_keep_their_codes(tmp_path: Path) -> None:
    """An account may be called like a word of ours."""
    root = tmp_path / "root"
    offline(root, {"/etc/passwd": "wheel:x:1001:1::/home/wheel:/bin/sh\nerror:x:1002:1::/home/error:/bin/sh\n"})
    for style in ("json", "text"):
        plain, _ = check(CheckSubject(root=str(root)), ReportOptions(style=style), TextStyle())
        clean, _ = check(CheckSubject(root=str(root)), ReportOptions(style=style, redact=True), TextStyle())
        if style == "json":
            assert [one["code"] for one in json.loads(clean)["answers"]] == [
                one["code"] for one in json.loads(plain)["answers"]
            ]


FORMATS = ("github", "html", "json", "junit", "markdown", "prometheus", "sarif", "text")
SECRETS = """FROM nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04
ARG GIT_TOKEN=LEAKarg
ENV DB_PASSWORD=LEAKa SSHKEY="LEAKb" MASTER_KEY='LEAKc LEAKd' MYSQL_PWD=LEAKe COMBINED=${GIT_TOKEN}x
ENV HF_TOKEN LEAKf LEAKg
ENV PIP_EXTRA_INDEX_URL=https://bob:LEAK,h@pypi.example/simple CONN="Server=x;Pwd=LEAKi"
ENV LD_LIBRARY_PATH=/opt/kept/lib:/usr/local/cuda/lib64/stubs CUDA_HOME=/opt/kept LD_PRELOAD=/opt/kept/x.so
RUN DB_PASSWORD=LEAKj pip install --index-url https://bob:LEAKk@pypi.example/simple torch==2.7.1
"""
SERVICE = """services:
  app:
    build: {context: ., args: {GIT_TOKEN: LEAKl}}
    environment: {DB_PASSWORD: LEAKm, URL: "postgres://u:LEAKn@db/x", OTHER_SECRET: "LEAKo LEAKp"}
"""


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("source", ["Dockerfile", "compose.yaml"])
def test_a_dockerfile_shows_names_and_no_values(
    tmp_path: Path, form: str, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("Dockerfile", SECRETS), ("compose.yaml", SERVICE)):
        (tmp_path / name).write_text(text)
    given = ["--dockerfile", str(tmp_path / source), "--build-arg", "GIT_TOKEN=LEAKq", "--redact", "--format", form]
    execute(["check", *given])
    printed = capsys.readouterr().out
    assert len(printed) > 100
    assert "LEAK" not in printed
    if form == "json":
        shown = {
            one["name"]: one["value"] for one in json.loads(printed)["facts"]["configuration"]["variables"]["value"]
        }
        assert {"DB_PASSWORD", "HF_TOKEN", "COMBINED", "CONN"} <= shown.keys()
        assert shown["CUDA_HOME"] == "/opt/kept"
        assert shown["LD_PRELOAD"] == "/opt/kept/x.so"


def test_variables_that_decide_are_no_secrets() -> None:
    """Their values are needed to judge a report again."""
    told = [Variable(name, "/opt/x", "") for name in configuration._NAMES]
    assert REDACTOR.value(told) == told


@each("kind", leaks.KINDS)
def test_no_kind_of_private_text_is_left(kind: str) -> None:
    assert len(leaks.KINDS[kind]) == 3
    for text, private in leaks.KINDS[kind]:
        for around in ("{}", "warning: {}", "x; {}"):
            clean = Redactor(PrivateWords()).text(around.replace("{}", text))
            assert private not in clean, clean


def test_there_are_many_kinds() -> None:
    assert len(leaks.KINDS) >= 210


@pytest.mark.parametrize("text", leaks.KEPT)
def test_what_tells_of_the_stack_stays(text: str) -> None:
    assert Redactor(PrivateWords()).text(text) == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["tool", "--password", "hunter2", "-x"], ["tool", "--password", "<secret>", "-x"]),
        (("tool", "--token", "a b c"), ("tool", "--token", "<secret>")),
        (["tool", "--api-key", "--token", "x"], ["tool", "--api-key", "<secret>", "x"]),
        (["curl", "-u", "bob:hunter2"], ["curl", "-u", "<user>:<secret>"]),
        (["curl", "--user", "Administrator:hunter2", "-v"], ["curl", "--user", "Administrator:<secret>", "-v"]),
        (["curl", "-sfu", "bob:hunter2"], ["curl", "-sfu", "<user>:<secret>"]),
        (["sudo", "/usr/bin/mysql", "-phunter2", "-P", "3306"], ["sudo", "/usr/bin/mysql", "-p<secret>", "-P", "3306"]),
        (["docker", "login", "-p", "hunter2", "x"], ["docker", "login", "-p", "<secret>", "x"]),
        (["docker", "run", "-p", "80:80", "x"], ["docker", "run", "-p", "80:80", "x"]),
        (["smbclient", "//h/s", "hunter2"], ["smbclient", "//<host>/s", "<secret>"]),
        (["net", "use", "Z:", r"\\h\s", "hunter2"], ["net", "use", "Z:", r"\\<host>\s", "<secret>"]),
        (["net", "start", "x"], ["net", "start", "x"]),
        (["openssl", "rsa", "-passin", "pass:hunter2"], ["openssl", "rsa", "-passin", "<secret>"]),
        (["docker", "run", "-u", "1000:1000"], ["docker", "run", "-u", "1000:1000"]),
        (["DB_PASSWORD", "x"], ["DB_PASSWORD", "<secret>"]),
        ((("DB_PASSWORD", "x"), ("PATH", "/bin")), (("DB_PASSWORD", "<secret>"), ("PATH", "/bin"))),
        ({"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_PASSWORD", "value": "<secret>"}),
        ({"key": "token", "value": "x y"}, {"key": "token", "value": "<secret>"}),
        ({"name": "PATH", "value": "/bin"}, {"name": "PATH", "value": "/bin"}),
        ({"sha256": leaks.DIGEST, "value": leaks.DIGEST}, {"sha256": leaks.DIGEST, "value": "<secret>"}),
        ({"digests": [leaks.DIGEST]}, {"digests": [leaks.DIGEST]}),
    ],
)
def test_pairs(value: object, expected: object) -> None:
    assert Redactor(PrivateWords(users=("bob",))).value(value) == expected


@pytest.mark.parametrize("prefix", ["", "  ", "Nov 26 10:11:12 app[7]: "])
def test_the_lines_of_a_private_key_one_by_one(prefix: str) -> None:
    """The last line is short, and without order only by chance."""
    body = [leaks.encoded(48), "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", "abcdefgh", "ab=="]
    lines = ["before", "-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "torch 2.9.1"]
    clean = Redactor(PrivateWords()).value([f"{prefix}{one}" for one in lines])
    assert clean[-1].endswith("torch 2.9.1")
    assert not [one for one in body if any(one in line for line in clean)]


def test_what_was_not_seen_keeps_why() -> None:
    clean = REDACTOR.value(Unseen("/home/alice/x: denied", WhyNot.LOST))
    assert (clean.why, clean.why_not) == ("/home/<user>/x: denied", WhyNot.LOST)


def test_numbers_of_the_machine_are_read(tmp_path: Path) -> None:
    numbers = {
        "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "/sys/class/dmi/id/product_serial": "CZ-99821\n",
    }
    host = offline(tmp_path, {**numbers, "/sys/class/dmi/id/board_serial": "Default string\n"})
    assert private_words(host).serials == ("0123456789abcdef0123456789abcdef", "CZ-99821")
    assert redact("of CZ-99821", host) == "of <serial>"


LEAKING = [case for cases in leaks.KINDS.values() for case in cases]


@functools.cache
def leaking() -> CheckDocument:
    """Each kind stands where a report quotes what it read: in a summary, in evidence, in a place."""
    with tempfile.TemporaryDirectory() as folder:
        host = planted(Path(folder))
        facts, matrix = look(host, ProbeRequest()), Matrix.of_user()
        report = make_report(facts, judge(facts, matrix, load_rules(codes())), matrix, 0.0)
        example = next(one for one in report.findings if not one.explained_by)
        findings = tuple(
            example._replace(summary=text, evidence=(Evidence(text, "/x", 1), Evidence("said", label=text)))
            for text, _ in LEAKING
        )
        return CheckDocument(redact(report._replace(findings=findings), host, facts))


@pytest.mark.parametrize("style", FORMATS)
def test_no_format_of_a_report_leaks(style: str) -> None:
    document = leaking()
    out = "".join(format_for(style, CheckDocument).render(document, TextStyle()).split())
    assert len(out) > 20 * len(LEAKING) or style == "prometheus"
    assert not [private for _, private in LEAKING if "".join(private.split()) in out]
