"""torchaudio: operators that are compiled against one torch; source: torchaudio/_extension/__init__.py of 2.11.0.

Those for SoX and FFmpeg (`_torchaudio_sox.so`, up to 2.8.0) are opened where they are called, and may lack theirs.
"""

from __future__ import annotations

from doctor.loader.cards import Card
from doctor.loader.cards.torch import extension_loading, follower

_FOLDER = "torchaudio/lib"

CARD = Card(
    ("torchaudio",),
    follower("torchaudio"),
    loading=extension_loading(f"{_FOLDER}/_torchaudio.*so", f"{_FOLDER}/libtorchaudio.*so"),
)
