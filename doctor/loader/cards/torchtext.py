"""torchtext: operators that are compiled against one torch; source: torchtext/_extension.py of 0.18.0, the last one."""

from __future__ import annotations

from doctor.loader.cards import Card
from doctor.loader.cards.torch import extension_loading, follower

CARD = Card(
    ("torchtext",),
    follower("torchtext"),
    loading=extension_loading("torchtext/_torchtext.*so", "torchtext/lib/libtorchtext.*so"),
)
