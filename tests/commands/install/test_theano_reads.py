"""What `install config theano` writes, read back by the configuration code of real Theano releases."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from doctor.cli import execute
from tests.wheels import CACHE, fetch, unpack

# Theano's own configparser.py and configdefaults.py run as they are. For the package's __init__, which would go on to a
# compiler and to NumPy's C API, and for theano/compat stands in only what those two ask of them.
READER = """
import configparser, json, os, sys, types
names = json.loads(sys.argv[1])
sys.path[:0] = sys.argv[2:4]
def stand_in(name, **content):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(content)
    return module
if not hasattr(configparser, "SafeConfigParser"):
    configparser.SafeConfigParser = configparser.ConfigParser  # Python 3.12 dropped the old name of this class
ignored = lambda *_: None
compat = stand_in("theano.compat", configparser=configparser, PY3=True, maybe_add_to_os_environ_pathlist=ignored)
theano = stand_in("theano", __path__=[os.path.join(sys.argv[2], "theano")], compat=compat, __version__="0")
numpy = stand_in("numpy", __version__="1.11", inf=float("inf"), __path__=[])
stand_in("numpy.distutils", __path__=[], __config__=types.SimpleNamespace(blas_opt_info={}))
stand_in("numpy.distutils.system_info", blas_info=None)
import theano.configparser
theano.config = theano.configparser.config
theano.configdefaults = None
try:
    import theano.configdefaults
except Exception as error:
    stopped = repr(error)
else:
    stopped = ""
known = {one.fullname: one for one in theano.configparser._config_var_list}
print(json.dumps([{name: known[name].__get__(True, None) if name in known else None for name in names}, stopped]))
"""


def release(version: str) -> Path:
    """The unpacked source of a release: downloaded once through the user's own pip configuration."""
    folder = CACHE / f"theano-{version}-source"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*/theano/configparser.py")):
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
            subprocess.run([*command, "--dest", str(folder), f"Theano=={version}"], check=True)
            [packed] = folder.glob("*.tar.gz")
            with tarfile.open(packed) as archive:
                archive.extractall(folder, [one for one in archive if "/theano/" in one.name and one.isfile()])
    [found] = folder.glob("*/theano/configparser.py")
    return found.parent.parent


def read_back(version: str, home: Path, names: list[str], flags: str = "") -> tuple[dict[str, object], str]:
    six = unpack(fetch("six==1.17.0"), home.parent / "six")
    command = [sys.executable, "-W", "ignore", "-c", READER, json.dumps(names), str(release(version)), str(six)]
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "THEANO_FLAGS": flags}
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values, stopped = json.loads(done.stdout.splitlines()[-1])
    return values, stopped


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("THEANORC", "THEANO_FLAGS", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))
    return tmp_path / "home"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "words", "values"),
    [
        (
            "0.8.2",
            "--cnmem 0.8 --nvcc-flags=-arch=sm_30 --cudnn-home /opt/cudnn",
            {
                "device": "gpu",
                "floatX": "float32",
                "optimizer_including": "cudnn",
                "lib.cnmem": 0.8,
                "nvcc.flags": "-arch=sm_30",
                "dnn.include_path": "/opt/cudnn/include",
                "dnn.library_path": "/opt/cudnn/lib64",
            },
        ),
        ("0.9.0", "--device gpu1 --cnmem 0", {"device": "gpu1", "optimizer_including": "cudnn", "lib.cnmem": 0.0}),
        ("0.9.0", "--cnmem 0.5", {"device": "cuda", "dnn.enabled": "True", "gpuarray.preallocate": 0.5}),
        (
            "1.0.5",
            "--device 1 --cnmem 1 --cudnn-home /opt/cudnn",
            {
                "device": "cuda1",
                "floatX": "float32",
                "gpuarray.preallocate": 1.0,
                "dnn.enabled": "True",
                "dnn.include_path": "/opt/cudnn/include",
                "dnn.library_path": "/opt/cudnn/lib64",
                "dnn.bin_path": "/opt/cudnn/lib64",
                "lib.cnmem": None,
                "nvcc.flags": None,
            },
        ),
    ],
)
def test_a_release_reads_what_was_written(version: str, words: str, values: dict[str, object], home: Path) -> None:
    """None is an option that the release does not have."""
    assert execute(["install", "config", "theano", "--theano", version, *words.split(), "--apply"]) == 0
    assert read_back(version, home, list(values)) == (values, "")


@pytest.mark.slow
@pytest.mark.parametrize(("version", "said"), [("1.0.5", "old GPU back-end"), ("0.9.0", "")])
def test_a_device_of_the_old_back_end(version: str, said: str, home: Path) -> None:
    (home / ".theanorc").write_text("[global]\ndevice = gpu\n")
    _, stopped = read_back(version, home, ["device"])
    assert said in stopped
    assert bool(said) == bool(stopped)


@pytest.mark.slow
def test_flags_win_over_the_file(home: Path) -> None:
    (home / ".theanorc").write_text("[global]\ndevice = cuda\nmode = FAST_COMPILE\n")
    values, stopped = read_back("1.0.5", home, ["device", "mode"], "device=cpu,mode=FAST_RUN")
    assert (values, stopped) == ({"device": "cpu", "mode": "FAST_RUN"}, "")
