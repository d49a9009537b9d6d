"""What the C library and the shell print in other languages is read as its English, and shown as it was printed."""

from __future__ import annotations

import io

import pytest

from compat.matrix import Matrix
from doctor.messages.causes import causes_of
from doctor.messages.reading import read
from doctor.messages.translated import in_english

LOADER = (
    "libcudart.so.12: Kann die Shared-Object-Datei nicht öffnen: Datei oder Verzeichnis nicht gefunden",
    "libcudart.so.12: Ne peut ouvrir le fichier d'objet partagé: Aucun fichier ou dossier de ce type",
    "libcudart.so.12: impossibile aprire il file oggetto condiviso: File o directory non esistente",
    "libcudart.so.12: 共有オブジェクトファイルを開けません: そのようなファイルやディレクトリはありません",
    "libcudart.so.12: nie można otworzyć pliku obiektu dzielonego: Nie ma takiego pliku ani katalogu",
)


@pytest.mark.parametrize("printed", LOADER)
def test_the_loader_in_other_languages(printed: str) -> None:
    english = "libcudart.so.12: cannot open shared object file: No such file or directory"
    assert list(in_english([printed])) == [english]
    (told, *_), (meant, *_) = (causes_of(read(io.BytesIO(text.encode())), Matrix()) for text in (printed, english))
    assert (told.code, told.confidence, told.summary) == (meant.code, meant.confidence, meant.summary)
    assert told.matched[0].text == printed


def test_a_longer_phrase_comes_before_its_beginning() -> None:
    assert list(in_english(["modprobe: Kein passendes Gerät bzw. keine passende Adresse gefunden"])) == [
        "modprobe: No such device or address"
    ]


def test_the_shell() -> None:
    assert list(in_english(["make: nvcc: Kommando nicht gefunden"])) == ["make: nvcc: command not found"]


def test_english_stays_as_it_is() -> None:
    lines = ["RuntimeError: CUDA error: out of memory", "", "Größe: 3"]
    assert in_english(lines) is lines
