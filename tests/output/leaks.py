"""What a shared report must not hold: kinds of private text, each three times; and what must stay.

Each case is a text and the part of it that is private. All are made up.
"""

from __future__ import annotations

import base64
import hashlib
import random

_CHANCE = random.Random(35)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def some(length: int, letters: str = _LETTERS) -> str:
    """Letters without order, the same in each run; never without a digit, a small and a big letter."""
    tail = "q7Z" if letters == _LETTERS else ""
    return "".join(_CHANCE.choice(letters) for _ in range(length - len(tail))) + tail


def hexadecimal(length: int) -> str:
    return hashlib.sha512(_CHANCE.randbytes(8)).hexdigest()[:length]


def encoded(size: int) -> str:
    return base64.b64encode(_CHANCE.randbytes(size)).decode()


def _each(form: str, *secrets: str) -> list[tuple[str, str]]:
    return [(form.replace("{}", one), one) for one in secrets]


def _thrice(form: str, length: int = 24) -> list[tuple[str, str]]:
    return _each(form, *(some(length) for _ in range(3)))


_WORDS = ("hunter2", "Tr0ub4dor", "s3cr.et/x")
_HOSTS = ("gpu07", "login-a1", "dgx3")
_USERS = ("mmuster", "j.doe", "x_ab12")
KINDS: dict[str, list[tuple[str, str]]] = {
    "variable": _each("DB_PASSWORD={}", *_WORDS),
    "exported variable": _each("export MY_TOKEN={}", *_WORDS),
    "quoted variable": _each("API_SECRET='{}'", *_WORDS),
    "ENV of Docker": _each("ENV DB_PASSWORD {}", *_WORDS),
    "ENV with a sign": _each("ENV REDIS_PASSWORD={}", *_WORDS),
    "ARG": _each("ARG GITHUB_PAT={}", *_WORDS),
    "name and a blank": _each("DB_PASSWORD {}", *_WORDS),
    "small name and a blank": _each("using password {} for login", "hunter2", "Tr0ub4dor", "pa55.w0rd"),
    "community": _each("SNMP_COMMUNITY={}", *_WORDS),
    "DSN": _each("SENTRY_DSN={}", *_WORDS),
    "webhook": _each("SLACK_WEBHOOK={}", *_WORDS),
    "salt": _each("HASH_SALT={}", *_WORDS),
    "passphrase": _each("SSH_PASSPHRASE={}", *_WORDS),
    "connection string": _each("Server=x;Uid=me;Pwd={};", *_WORDS),
    "JSON": _each('{"password": "{}"}', *_WORDS),
    "escaped JSON": _each('{\\"api_key\\": \\"{}\\"}', *_WORDS),
    "YAML": _each("client_secret: {}", *_WORDS),
    "XML": _each("<password>{}</password>", *_WORDS),
    "option": _each("tool --password {} --verbose", *_WORDS),
    "option with a sign": _each("tool --api-key={} x", *_WORDS),
    "user option": _each("curl -u bob:{} https://x.example", *_WORDS),
    "docker login": _each("docker login -u bob -p {}", *_WORDS),
    "mysql": _each("mysql -p{} -u root", *_WORDS),
    "sshpass": _each("sshpass -p {} ssh x", *_WORDS),
    "netrc": _each("machine x login me password {}", *_WORDS),
    "netrc by lines": _each("  password {}", *_WORDS),
    "URL": _each("https://me:{}@x.example/simple", *_WORDS),
    "query": _each("https://x.example/?token={}&y=1", *_WORDS),
    "conda channel": _each("https://conda.example/t/{}/main", "ab-12345", "cd-999", "xy_1z2"),
    "cookie": _each("Set-Cookie: sid={}; Path=/", *_WORDS),
    "basic": _each("Authorization: Basic {}", encoded(12), encoded(15), encoded(18)),
    "bearer": _thrice("sent Bearer {} to"),
    "AccountKey": _each("AccountKey={};Suffix=x", encoded(64), encoded(32), encoded(48)),
    "SAS": _each("https://x.example/c?sv=2024&sig={}", *(some(40) for _ in range(3))),
    "JWT": _each("got {} now", *(f"eyJhbGciOi.{some(12)}.{some(20)}" for _ in range(3))),
    "Hugging Face": _thrice("got hf_{}", 34),
    "GitHub": _thrice("got ghp_{}", 36),
    "GitLab": _thrice("got glpat-{}", 20),
    "GitLab runner": _thrice("got glrt-{}", 20),
    "NVIDIA": _thrice("got nvapi-{}", 64),
    "OpenAI": _thrice("got sk-proj-{}", 40),
    "Anthropic": _thrice("got sk-ant-api03-{}", 40),
    "Stripe": _thrice("got sk_live_{}", 24),
    "Slack": _thrice("got xoxb-{}", 24),
    "Google": _thrice("got AIza{}", 35),
    "Google OAuth": _thrice("got ya29.{}", 40),
    "Databricks": _each("got dapi{}", *(hexadecimal(32) for _ in range(3))),
    "Docker Hub": _thrice("got dckr_pat_{}", 27),
    "Vault": _thrice("got hvs.{}", 24),
    "SendGrid": _each("got {}", *(f"SG.{some(22)}.{some(43)}" for _ in range(3))),
    "npm": _thrice("got npm_{}", 36),
    "Groq": _thrice("got gsk_{}", 52),
    "Replicate": _thrice("got r8_{}", 37),
    "Grafana": _thrice("got glsa_{}", 32),
    "AWS key": _each("id {}", *(f"AKIA{some(16, _LETTERS[:26])}" for _ in range(3))),
    "AWS secret": _thrice("found {} in the file", 40),
    "line of a key": _each("{}", *(encoded(48) for _ in range(3))),
    "long base64": _each("blob {} end", encoded(33), encoded(66), encoded(99)),
    "long hexadecimal": _each("value {} end", hexadecimal(32), hexadecimal(40), hexadecimal(64)),
    "e-mail": _each("mail {} today", "a.b@x.example", "q@y.example", "first.last+z@mail.x.example"),
    "account at a host": _each("ssh {} failed", *(f"{a}@{b}" for a, b in zip(_USERS, _HOSTS, strict=True))),
    "prompt": _each("{}:~$ nvidia-smi", *(f"{a}@{b}" for a, b in zip(_USERS, _HOSTS, strict=True))),
    "internal name": _each("cannot reach {} now", "nas.corp", "gpu1.cluster.internal", "a-b.lab"),
    "internal URL": _each("http://{}/simple", "nexus.lan", "mirror.corp", "pypi.home.arpa"),
    "short URL": _each("https://{}:8443/simple", *_HOSTS),
    "syslog": _each("Nov 26 10:11:12 {} kernel: NVRM: Xid", *_HOSTS),
    "syslog with a year": _each("2026-11-26T10:11:12.123+00:00 {} sshd[12]: x", *_HOSTS),
    "host variable": _each("SLURMD_NODENAME={}", *_HOSTS),
    "UNC": _each(r"\\{}\share\x", *_HOSTS),
    "user variable": _each("SLURM_JOB_USER={}", *_USERS),
    "user of JSON": _each('"USER": "{}"', *_USERS),
    "home": _each("/home/{}/x", *_USERS),
    "home elsewhere": _each("/u/{}/x", _USERS[0])
    + _each("/nfs/home2/{}/x", _USERS[1])
    + _each("/gpfs/users/{}/x", _USERS[2]),
    "home of macOS": _each("/Users/{}/x", *_USERS),
    "home of Windows": _each(r"C:\Users\{}\x", *_USERS),
    "home of WSL": _each(r"\\\\wsl.localhost\Ubuntu\home\{}\x", *_USERS),
    "home by its tilde": _each("in ~{}/.bashrc", *_USERS),
    "uid": _each("uid=1000({}) gid=1000", *_USERS),
    "host by its name": _each("hostname: {}", *_HOSTS),
    "IPv4 of NCCL": _each("NCCL INFO Bootstrap : Using eth0:{}<0>", "10.1.2.3", "100.64.7.9", "203.0.113.7"),
    "UUID": _each("id {}", *(f"{hexadecimal(8)}-abcd-4bcd-8bcd-{hexadecimal(12)}" for _ in range(3))),
    "UUID of a GPU": _each("GPU-{}", *(f"{hexadecimal(8)}-abcd-4bcd-8bcd-{hexadecimal(12)}" for _ in range(3))),
    "serial of nvidia-smi": _each("    Serial Number                     : {}", "1324517000123", "0322", "1654922"),
    "serial of DMI": _each("Serial Number: {}", "VMware-56-4d", "CZ1234ABCD", "J900XYZ"),
    "serial of XML": _each("<serial>{}</serial>", "1324517000123", "0322", "1654922"),
    "asset tag": _each("Asset Tag: {}", "IT-00123", "A1B2C3", "0042-x"),
    "machine-id": _each("Machine ID: {}", *(hexadecimal(32) for _ in range(3))),
    "SID": _each("user {} x", *(f"S-1-5-21-{n}-{n + 7}-{n // 3}-1001" for n in (1004336348, 77, 3623811015))),
    "MAC": _each("link {} up", "02:42:ac:11:00:02", "B8:CE:F6:01:02:03", "00:1a:2b:3c:4d:5e"),
    "MAC and a colon": _each("{}: link down", "02:42:ac:11:00:02", "B8:CE:F6:01:02:03", "00:1a:2b:3c:4d:5e"),
    "MAC of Windows": _each("link {} up", "02-42-AC-11-00-02", "b8-ce-f6-01-02-03", "00-1A-2B-3C-4D-5E"),
    "MAC of Cisco": _each("link {} up", "0242.ac11.0002", "b8ce.f601.0203", "001a.2b3c.4d5e"),
    "GUID": _each("node guid: {}", "0x506b4b0300c0ffee", "506b:4b03:00c0:ffee", "0xb8cef60300010203"),
    "IPv4 by a word": _each("connect to {} failed", "10.1.2.3", "100.64.7.9", "203.0.113.7"),
    "IPv4 of a variable": _each("MASTER_ADDR={}", "10.1.2.3", "100.64.7.9", "203.0.113.7"),
    "IPv4 with a port": _each("tcp {}:29500", "10.1.2.3", "100.64.7.9", "203.0.113.7"),
    "IPv4 network": _each("route {}/24 dev eth0", "10.1.2.0", "100.64.7.0", "203.0.113.0"),
    "IPv6": _each("at {} now", "fe80::42:acff:fe11:2", "2001:db8:0:1:2:3:4:5", "fd00::9"),
}
DIGEST = hexadecimal(64)
COMMIT = hexadecimal(40)
KEPT = (
    "torch 2.9.1+cu128 in /opt/venv/lib/python3.12/site-packages/torch",
    "/usr/lib/x86_64-linux-gnu/libcudnn_engines_precompiled.so.9.10.2",
    "/usr/local/cuda-12.8/targets/x86_64-linux/lib/libcublasLt.so.12.8.4.1",
    "/nix/store/0c7mnfrqvp1xzk3vgbzq9l4ylzr2w1r8-cuda_cudart-12.4.99/lib",
    "/opt/spack/linux-rocky9/gcc-13/cuda-12.4.0-qwz7m3k5l2n4p6r8s0t1u3v5w7x9y2a4/lib64",
    "nvidia-curand-cu12 10.3.2.106, nvidia-cudnn-cu12==9.10.2.21, driver 580.65.06",
    "libcufft.so.11.3.3.83 and 12.4.5.8 and 11.6.1.9",
    "cuDNN 9.10.2.21 from conda-forge; from 8.9.7.29 on",
    f"sha256:{DIGEST}",
    f"{DIGEST}  cudnn-linux-x86_64-9.10.2.21_cuda12-archive.tar.xz",
    f"cudnn.tar.xz: SHA-256 is {DIGEST}, expected {DIGEST[::-1]}",
    f"--hash=sha256:{DIGEST}",
    f"git_version = '{COMMIT}'",
    f"built from commit {COMMIT}",
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    "undefined symbol: _ZNK5torch8autograd4Node4nameB5cxx11Ev",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8",
    "volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc2nchw_tn_v1",
    "cudnnGetConvolutionForwardAlgorithmMaxCount_v7 returned CUDNN_STATUS_EXECUTION_FAILED_CUDART",
    "torch-2.9.1+cu128-cp312-cp312-manylinux_2_28_x86_64.whl",
    "tensorflow.python.framework.errors_impl.InternalError: Failed precondition",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
    "NVIDIA H100 80GB HBM3, NVIDIA GeForce RTX 4090, NVIDIA A100-SXM4-80GB MIG 1g.10gb",
    "libtorch_cuda.so@LIBCUDART_12 and memcpy@GLIBC_2.14",
    "pytorch/pytorch:RELEASE.md@v2.9.1; NVIDIA/cuda-samples:README.md@main",
    "nvidia-persistenced@0.service and getty@tty1.service",
    "TOKENIZERS_PARALLELISM=true PYTHONNOUSERSITE=1 PIP_USER=yes",
    "the password was wrong; token is missing; secret sharing",
    "https://docs.nvidia.com/cuda and https://github.com/NVIDIA/cudnn-frontend",
    "PATH=/usr/local/cuda/bin:/usr/bin LD_LIBRARY_PATH=/usr/local/cuda/lib64",
    "127.0.0.1:8080 and 0.0.0.0 and http://localhost:8888/x",
    "2026-11-22T04:13:08 kernel 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC",
    "Serial Number : N/A and Serial Number: [N/A]",
    "at 0x7f3a5c2d1e40 in cudnnCreate () from /usr/lib/libcudnn.so.9",
    "BuildID[sha1]=" + COMMIT,
    "registry.example/x/y@sha256:" + DIGEST,
    "/home/<user>/x and <host> and <secret>",
    "/usr/share/users/x and /opt/home.d",
    "error 802 from cuInit: system not yet initialized",
    "jax.private and torch.internal and absl.internal",
)
