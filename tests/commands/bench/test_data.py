"""Real pictures: read, sized and labelled; hostile and broken ones passed over by name."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doctor.commands.bench.networks import load
from doctor.commands.bench.outcome import Network
from doctor.commands.bench.pictures import Pictures, notes_on, pictures_for
from doctor.host import BadRequest

DOGS, DIGITS = load("dogs-vs-cats"), load("mnist")
RED, BLUE = (250, 10, 10), (10, 10, 250)


def put(folder: Path, name: str, colour: tuple[int, int, int], size: tuple[int, int] = (64, 48)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(folder / name)
    return folder / name


def cats_and_dogs(root: Path, each: int = 3) -> Path:
    for number in range(each):
        put(root / "train" / "cats", f"{number}.jpg", RED)
        put(root / "train" / "dogs", f"{number}.JPG", BLUE)
    return root


def read(network: Network, root: Path, tmp_path: Path, batch: int = 2) -> Pictures:
    into = tmp_path / "into"
    into.mkdir()
    return pictures_for(network, str(root), batch, str(into))


def test_pictures_come_sized_and_labelled_in_turn(tmp_path: Path) -> None:
    found = read(DOGS, cats_and_dogs(tmp_path / "data"), tmp_path)
    x, y = (np.load(f"{found.folder}/{name}.npy") for name in ("x", "y"))
    assert (x.dtype, x.shape) == (np.uint8, (6, *DOGS.shape))
    assert (y.dtype, y.tolist()) == (np.int64, [0, 1, 0, 1, 0, 1])
    assert found[1:] == (("cats", "dogs"), 6, 6, 0, ())
    for image, label in zip(x, y, strict=True):
        assert np.abs(image.mean(axis=(1, 2)) - (RED, BLUE)[label]).max() < 6, "channels first, in the order RGB"
    assert notes_on(DOGS, found) == ("dogs-vs-cats: 6 of 6 pictures, 2 classes",)


def test_grey_networks_get_grey_pictures(tmp_path: Path) -> None:
    found = read(DIGITS, cats_and_dogs(tmp_path / "data", 1), tmp_path)
    x = np.load(f"{found.folder}/x.npy")
    assert x.shape == (2, 1, 28, 28)
    assert np.ptp(x[0]) <= 2
    assert x[0, 0, 0, 0] == pytest.approx(0.299 * 250 + 0.587 * 10 + 0.114 * 10, abs=4)


def test_no_more_is_read_than_is_trained_on(tmp_path: Path) -> None:
    found = read(DOGS, cats_and_dogs(tmp_path / "data", 40), tmp_path, batch=1)
    assert (found.found, found.read, found.usable) == (80, 64, 80)
    assert np.bincount(np.load(f"{found.folder}/y.npy")).tolist() == [32, 32]


def bomb(path: Path) -> None:
    """A PNG of a few hundred bytes that says to be 60,000 pixels square."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 60_000)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def test_broken_and_hostile_pictures_are_passed_over(tmp_path: Path) -> None:
    root = cats_and_dogs(tmp_path / "data")
    cats = root / "train" / "cats"
    whole = (cats / "0.jpg").read_bytes()
    (cats / "a_empty.jpg").write_bytes(b"")
    (cats / "b_text.jpg").write_text("not a picture", encoding="utf-8")
    (cats / "c_cut.jpg").write_bytes(whole[: len(whole) // 2])
    bomb(cats / "d_bomb.png")
    os.mkfifo(cats / "e_fifo.jpg")
    (cats / "f_directory.jpg").mkdir()
    Image.new("RGB", (4, 4)).save(cats / "g_other.gif.png", format="GIF")
    (cats / "h_gone.jpg").symlink_to("nowhere.jpg")
    with (cats / "i_sparse.jpg").open("wb") as stream:
        stream.truncate(65 << 20)
    found = read(DOGS, root, tmp_path)
    reasons = dict(found.skipped)
    assert sorted(Path(name).name[0] for name in reasons) == list("abcdefghi")
    assert (found.read, found.bad, found.usable) == (6, 9, 6)
    assert "DecompressionBomb" in reasons["cats/d_bomb.png"]
    assert "not a regular file" in reasons["cats/e_fifo.jpg"]
    assert "68157440 bytes" in reasons["cats/i_sparse.jpg"]
    assert len(np.load(f"{found.folder}/y.npy")) == 6
    count, named = notes_on(DOGS, found)[0], notes_on(DOGS, found)[1]
    assert count == "dogs-vs-cats: 6 of 15 pictures, 2 classes"
    assert named.startswith("dogs-vs-cats: 9 pictures could not be read and were passed over: cats/a_empty.jpg (")
    assert named.endswith(" and others")


def nothing(root: Path) -> None:
    root.mkdir()


def no_classes(root: Path) -> None:
    put(root / "train", "loose.jpg", RED)


def too_many_classes(root: Path) -> None:
    for name in ("cats", "dogs", "mice"):
        put(root / "train" / name, "0.jpg", RED)


def no_pictures(root: Path) -> None:
    (root / "train" / "cats").mkdir(parents=True)


def one_picture(root: Path) -> None:
    put(root / "train" / "cats", "0.jpg", RED)


def all_broken(root: Path) -> None:
    (root / "train" / "cats").mkdir(parents=True)
    (root / "train" / "cats" / "0.jpg").write_bytes(b"\xff\xd8\xff")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (nothing, "there is no directory .*/train"),
        (no_classes, "there is no class"),
        (too_many_classes, "3 classes are more than dogs-vs-cats can tell apart, 2"),
        (no_pictures, "of 0 pictures none could be read"),
        (one_picture, "1 pictures are too few for a step of dogs-vs-cats, which takes 2"),
        (all_broken, r"of 1 pictures none could be read; the first: cats/0.jpg: "),
    ],
)
def test_what_is_not_fit_is_refused_in_one_line(make: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    make(tmp_path / "data")
    with pytest.raises(BadRequest, match=words) as refused:
        read(DOGS, tmp_path / "data", tmp_path)
    assert "\n" not in str(refused.value)


def test_without_pillow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "PIL.py").write_text("raise ModuleNotFoundError('No module named PIL', name='PIL')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    with pytest.raises(BadRequest, match=r"--data needs PIL, which is not installed: install 'gpudoctor\[bench\]'"):
        read(DOGS, cats_and_dogs(tmp_path / "data"), tmp_path)


def test_a_reader_that_dies_is_no_crash_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "PIL.py").write_text("import os\nos.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    with pytest.raises(BadRequest, match="ended without an answer"):
        read(DOGS, cats_and_dogs(tmp_path / "data"), tmp_path)
