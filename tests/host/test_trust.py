"""What may be started: nothing that another user could have put there; and what healthy machines have, may."""

from __future__ import annotations

import os
import shutil
import struct
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from compat.base import private_dirs, trust
from compat.base.trust import NotTrusted, owner_of, refuse

ROOT, ANN, BOB = 0, 12345, 12346
POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
AS_ROOT = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
TAG = "python3.11"


def python_at(prefix: Path) -> Path:
    """A Python with its standard library, as conda or pyenv lays one; its program."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / TAG).write_bytes(b"\x7fELF")
    (prefix / "bin" / TAG).chmod(0o755)
    (prefix / "bin" / "python").symlink_to(TAG)
    library = prefix / "lib" / TAG
    for name in ("os.py", "encodings/__init__.py", "site-packages/numpy/__init__.py", "site-packages/own.pth"):
        (library / name).parent.mkdir(parents=True, exist_ok=True)
        (library / name).write_text("")
    return prefix / "bin" / "python"


def venv_at(prefix: Path, base: Path) -> Path:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib" / TAG / "site-packages").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(base)
    (prefix / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3.11.7\n")
    return prefix / "bin" / "python"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return python_at(tmp_path / "opt")


@pytest.fixture
def venv(tmp_path: Path, base: Path) -> Path:
    return venv_at(tmp_path / "project" / ".venv", base)


def give(path: Path, uid: int = ANN) -> None:
    os.chown(path, uid, uid, follow_symlinks=False)


def accept(path: Path, uid: int = ROOT, **environ: str) -> None:
    refuse(str(path), uid=uid, environ=environ)


def expect_refused(path: Path, uid: int = ROOT, **environ: str) -> str:
    with pytest.raises(NotTrusted) as caught:
        refuse(str(path), uid=uid, environ=environ)
    return caught.value.place


@AS_ROOT
def test_root_starts_what_is_his_own(base: Path, venv: Path) -> None:
    for path in (base, venv, Path(sys.executable), Path("/usr/bin/env")):
        accept(path)


@AS_ROOT
@pytest.mark.parametrize(
    "theirs",
    [
        "project",
        "project/.venv",
        "project/.venv/bin",
        "project/.venv/bin/python",
        "project/.venv/pyvenv.cfg",
        f"project/.venv/lib/{TAG}/site-packages",
        "opt",
        "opt/bin",
        "opt/bin/python",
        f"opt/bin/{TAG}",
        "opt/bin/pybuilddir.txt",
        "opt/lib/python311.zip",
        "opt/lib",
        f"opt/lib/{TAG}",
        f"opt/lib/{TAG}/os.py",
        f"opt/lib/{TAG}/encodings",
        f"opt/lib/{TAG}/encodings/__init__.py",
    ],
)
def test_root_starts_no_python_of_which_a_part_is_another_users(tmp_path: Path, venv: Path, theirs: str) -> None:
    if theirs.endswith((".txt", ".zip")):
        (tmp_path / theirs).write_text("")
    give(tmp_path / theirs)
    assert expect_refused(venv) == str(tmp_path / theirs)


@AS_ROOT
@pytest.mark.parametrize("name", ["numpy", "own.pth", "sitecustomize.py"])
def test_what_a_python_imports_when_it_starts_is_a_part_of_it(tmp_path: Path, base: Path, name: str) -> None:
    place = tmp_path / "opt" / "lib" / TAG / "site-packages" / name
    if not place.exists():
        place.write_text("")
    give(place)
    assert expect_refused(base) == str(place)


@AS_ROOT
def test_a_pth_file_leads_to_no_directory_of_another_user(tmp_path: Path, base: Path) -> None:
    (tmp_path / "theirs").mkdir()
    give(tmp_path / "theirs")
    pth = tmp_path / "opt" / "lib" / TAG / "site-packages" / "own.pth"
    pth.write_text(f"# {tmp_path}/theirs\nimport os\n{tmp_path}/not-there\n")
    accept(base)
    pth.write_text(f"{tmp_path}/theirs\n")
    assert expect_refused(base) == str(tmp_path / "theirs")


@AS_ROOT
@pytest.mark.parametrize("name", ["python", "nvidia-smi", "nvcc", "gcc"])
@pytest.mark.parametrize("beside", [True, False])
def test_a_home_of_another_user_beside_a_link_to_the_systems_python(tmp_path: Path, name: str, beside: bool) -> None:
    """The attack itself: only pyvenv.cfg's `home` is another user's."""
    python_at(tmp_path / "theirs")
    give(tmp_path / "theirs")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    link = tmp_path / "env" / "bin" / name
    link.symlink_to(os.path.realpath(sys.executable))
    accept(link)
    configuration = tmp_path / "env" / ("bin" if beside else "") / "pyvenv.cfg"
    configuration.write_text(f"include-system-site-packages = false\nHOME={tmp_path}/theirs/bin\n")
    assert expect_refused(link) == str(tmp_path / "theirs")
    configuration.write_text("home = theirs/bin\n")  # from where one is
    assert expect_refused(link) == str(configuration)


@AS_ROOT
def test_a_chain_of_links_is_looked_at_link_by_link(tmp_path: Path, base: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "bin").mkdir(parents=True)
    (tmp_path / "a" / "bin" / "x").symlink_to("../../b/bin/y")
    (tmp_path / "b" / "bin" / "y").symlink_to(base)
    accept(tmp_path / "a" / "bin" / "x")
    (tmp_path / "b" / "pyvenv.cfg").write_text("")
    give(tmp_path / "b" / "pyvenv.cfg")
    assert expect_refused(tmp_path / "a" / "bin" / "x") == f"{tmp_path}/a/bin/../../b/pyvenv.cfg".replace(
        "a/bin/../../", ""
    )


@AS_ROOT
@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_no_pyvenv_cfg_can_be_put_beside_a_python_afterwards(tmp_path: Path, base: Path, mode: int) -> None:
    """A sticky directory keeps others from replacing root's file, not from making pyvenv.cfg or lib/python3.11."""
    accept(base)
    (tmp_path / "opt").chmod(mode)
    assert expect_refused(base) == str(tmp_path / "opt")


@AS_ROOT
def test_a_script_is_its_interpreter(tmp_path: Path, base: Path) -> None:
    script = tmp_path / "tool"
    script.write_text(f"#!{base} -E\n")
    script.chmod(0o755)
    accept(script)
    give(tmp_path / "opt" / "bin" / TAG)
    assert expect_refused(script) == str(tmp_path / "opt" / "bin" / TAG)
    script.write_text("#!/usr/bin/env -S A=1 python -E\n")
    assert expect_refused(script, PATH=f"/none:{tmp_path}/opt/bin:/usr/bin") == str(tmp_path / "opt" / "bin" / TAG)
    script.write_text(f"#!{script}\n")
    assert expect_refused(script) == str(script)


def acl(*entries: tuple[int, int, int]) -> bytes:
    """Return the attribute that setfacl writes (linux/posix_acl_xattr.h)."""
    everyone = [(0x01, 7, 2**32 - 1), *entries, (0x04, 5, 2**32 - 1), (0x10, 7, 2**32 - 1), (0x20, 5, 2**32 - 1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in sorted(everyone))


@AS_ROOT
@pytest.mark.parametrize(
    ("entry", "runs"),
    [
        ((0x02, 7, ANN), False),
        ((0x02, 5, ANN), True),
        ((0x02, 7, ROOT), True),
        ((0x08, 7, 987654), False),
        ((0x08, 7, 0), True),
    ],
)
@pytest.mark.parametrize("place", ["project/.venv/bin", f"opt/lib/{TAG}/os.py", "opt"])
def test_an_access_control_list_may_let_others_write(
    tmp_path: Path, venv: Path, place: str, entry: tuple[int, int, int], runs: bool
) -> None:
    try:
        os.setxattr(tmp_path / place, "system.posix_acl_access", acl(entry))
    except OSError as error:
        pytest.skip(f"no access control lists here: {error}")
    if runs:
        accept(venv)
    else:
        assert expect_refused(venv) == str(tmp_path / place)
    if place == "opt":  # nor does anything of ours go there
        descriptor = os.open(tmp_path / place, os.O_RDONLY)
        assert private_dirs._is_ours(descriptor, is_last=True) is runs
        os.close(descriptor)


@AS_ROOT
@pytest.mark.parametrize(("gid", "runs"), [(0, True), (987654, False), (65534, False)])
def test_group_write_is_for_roots_group(tmp_path: Path, venv: Path, gid: int, runs: bool) -> None:
    os.chown(tmp_path / "opt" / "bin", 0, gid)
    (tmp_path / "opt" / "bin").chmod(0o775)
    (accept if runs else expect_refused)(venv)


@AS_ROOT
def test_what_is_not_a_python_may_stand_in_a_sticky_directory(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    shutil.copy("/bin/true", tool)
    tmp_path.chmod(0o1777)
    accept(tool)


@POSIX
def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    # A user decides where his own links lead: the kernel tells him that this one cannot be started.
    with nullcontext() if os.geteuid() else pytest.raises(OSError, match="Too many levels"):
        refuse(str(tmp_path / "a"), environ={})


@AS_ROOT
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_user_starts_his_own_environment_whatever_it_is_made_from(
    tmp_path: Path, base: Path, venv: Path, mode: int
) -> None:
    """A cluster: the base belongs to who installs software, the project's directory to somebody else."""
    give(tmp_path / "project", BOB)
    for path in (tmp_path / "opt", *(tmp_path / "opt").rglob("*")):
        give(path, BOB)
    for path in (tmp_path / "project" / ".venv", *(tmp_path / "project" / ".venv").rglob("*")):
        give(path)
        if not path.is_symlink():
            path.chmod(mode)
    accept(venv, ANN)
    accept(tmp_path / "project" / ".venv" / "lib" / TAG / "site-packages", ANN)
    accept(Path("/usr/bin/env"), ANN)


@AS_ROOT
@pytest.mark.parametrize("theirs", ["", "bin", "bin/python", "pyvenv.cfg"])
def test_a_user_starts_nothing_of_another_user(tmp_path: Path, venv: Path, theirs: str) -> None:
    environment = tmp_path / "project" / ".venv"
    for path in (environment, *environment.rglob("*")):
        give(path)
    accept(venv, ANN)
    for path in [environment, *environment.rglob("*")] if not theirs else [environment / theirs]:
        give(path, BOB)
    expect_refused(venv, ANN)


@AS_ROOT
@pytest.mark.parametrize("variable", ["PATH", "VIRTUAL_ENV"])
def test_a_user_starts_what_his_own_variables_name(tmp_path: Path, base: Path, variable: str) -> None:
    """`module load python`; root does not."""
    for path in (tmp_path / "opt", *(tmp_path / "opt").rglob("*")):
        give(path, BOB)
    named = f"{tmp_path}/opt/bin:/usr/bin" if variable == "PATH" else f"{tmp_path}/opt"
    expect_refused(base, ANN, **{variable: f"opt/bin:{tmp_path}/op"})
    accept(base, ANN, **{variable: named})
    expect_refused(base, ROOT, **{variable: named})


@AS_ROOT
def test_the_machines_root_has_no_number_in_a_rootless_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver's files there belong to nobody; so do other users' files, which are in no directory of the system."""
    step = trust.Step("/usr/lib/libcuda.so.1", os.stat_result((0o100755, 1, 1, 1, 65534, 65534, 1, 0, 0, 0)))
    assert not trust._owns(0, step)
    monkeypatch.setattr(trust, "_unmapped", lambda: 65534)
    assert trust._owns(0, step)
    assert not trust._owns(0, step._replace(place="/home/ann/libcuda.so.1"))


@AS_ROOT
def test_whose_it_is(tmp_path: Path) -> None:
    assert owner_of(str(tmp_path)) is None
    give(tmp_path)
    assert owner_of(str(tmp_path)) == ANN
    assert owner_of(str(tmp_path), ANN) is None
    assert owner_of(str(tmp_path / "none")) is None
