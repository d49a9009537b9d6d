"""A package with a repository's signing key: real keys, real packages, and what an attacker puts in their place."""

from __future__ import annotations

import http.server
import subprocess
import threading
from pathlib import Path

import pytest

from compat.matrix import Matrix
from compat.need import InstallToolkit
from installers.apply import apply
from installers.choose import plan_for
from installers.fetch import BadAnswer
from installers.journal import State
from installers.plan import Plan
from installers.render import commands, script_bash
from installers.steps.fetch_keyring import FetchKeyring, WrongKey
from tests.installers import target as machines
from tests.installers.archives import served
from tests.installers.needs import ANYWHERE, LINUX_ONLY, plans_for

MATRIX = Matrix()
INSIDE = "./usr/share/keyrings/cuda-archive-keyring.gpg"


def gpg(home: Path, *argv: str) -> bytes:
    return subprocess.run(
        ["gpg", "--homedir", str(home), "--batch", *argv], check=True, capture_output=True, timeout=60
    ).stdout


def key(home: Path, name: str) -> str:
    """A new signing key with a subkey of its own; its fingerprint."""
    home.mkdir(mode=0o700, exist_ok=True)
    gpg(home, "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "0")
    rows = [line.split(":") for line in gpg(home, "--list-keys", "--with-colons", name).decode().splitlines()]
    found = next(row[9] for row in rows if row[0] == "fpr")
    gpg(home, "--passphrase", "", "--quick-add-key", found, "ed25519", "sign", "0")
    return found


def package(folder: Path, keyring: bytes) -> None:
    """cuda-keyring.deb with that keyring."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True, exist_ok=True)
    (tree / "DEBIAN/control").write_text(
        "Package: cuda-keyring\nVersion: 1.1-1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: keys\n"
    )
    path = tree / INSIDE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(keyring)
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", str(tree), str(folder / "cuda-keyring.deb")],
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    home = tmp_path_factory.mktemp("g") / "h"
    return home, key(home, "maker"), key(home, "stranger")


@pytest.mark.parametrize(("held", "is_good"), [("maker", True), ("stranger", False), ("both", False), ("none", False)])
def test_only_the_makers_key_is_taken(
    held: str, is_good: bool, keys: tuple[Path, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By gpg in the staging directory: a home that cannot be made does not matter."""
    home, maker, stranger = keys
    monkeypatch.setenv("HOME", str(tmp_path / "no" / "home"))
    names = {"maker": [maker], "stranger": [stranger], "both": [maker, stranger], "none": []}[held]
    package(tmp_path, gpg(home, "--export", *names) if names else b"")
    with served(tmp_path) as url:
        step = FetchKeyring(f"{url}/cuda-keyring.deb", "cuda-keyring.deb", INSIDE, (maker,), "the key")
        plan = Plan("add a repository", (step,))
        if is_good:
            apply(plan, State(str(tmp_path / "state")))
        else:
            with pytest.raises(WrongKey):
                apply(plan, State(str(tmp_path / "state")))
        monkeypatch.setenv("GPUDOCTOR_STAGING", str(tmp_path / "staging"))
        text = script_bash.script(plan, machines.ROOT)
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60)
        assert (done.returncode == 0) is is_good, done.stderr


def test_a_person_types_the_makers_two_lines_in_a_fresh_directory() -> None:
    plan = plan_for(InstallToolkit("==12.8.*"), machines.UBUNTU, MATRIX)
    folder, fetched, installed = commands(plan, machines.UBUNTU)[2:5]
    assert folder == "keyring=$(mktemp -d)"
    assert fetched.startswith('curl -fsSL --proto =https -o "$keyring"/cuda-keyring.deb https://developer.download.')
    assert installed == 'sudo dpkg -i "$keyring"/cuda-keyring.deb'


def test_no_name_in_a_shared_directory_is_in_any_plan() -> None:
    """Another user's file under a name that is known beforehand would be installed as root."""
    for target in machines.LINUX.values():
        for need, plan in plans_for((*ANYWHERE, *LINUX_ONLY), target, MATRIX):
            text = "\n".join((*commands(plan, target), script_bash.script(plan, target)))
            assert "/tmp/" not in text, need
            assert "/var/tmp/" not in text, need


def test_the_keyring_is_fetched_into_the_staging_directory() -> None:
    target = machines.LINUX["debian"]
    text = script_bash.script(plan_for(InstallToolkit("==12.8.*"), target, MATRIX), target)
    assert 'dpkg -i "$staging"/cuda-keyring.deb' in text
    assert text.index("gpg -q") < text.index("dpkg -i")


def test_what_is_not_encrypted_is_never_asked_for(tmp_path: Path) -> None:
    step = FetchKeyring("http://192.0.2.1/cuda-keyring.deb", "cuda-keyring.deb", INSIDE, ("A" * 40,), "the key")
    with pytest.raises(BadAnswer, match="not encrypted"):
        apply(Plan("x", (step,)), State(str(tmp_path / "state")))


def test_what_is_not_encrypted_is_not_asked_for_after_a_redirect(tmp_path: Path) -> None:
    class Away(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", "http://192.0.2.1/cuda-keyring.deb")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Away) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/cuda-keyring.deb"
        step = FetchKeyring(url, "cuda-keyring.deb", INSIDE, ("A" * 40,), "the key")
        with pytest.raises(BadAnswer, match=r"192\.0\.2\.1/cuda-keyring\.deb: refused"):
            apply(Plan("x", (step,)), State(str(tmp_path / "state")))
        server.shutdown()
