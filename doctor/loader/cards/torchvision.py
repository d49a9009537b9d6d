"""torchvision: operators and codecs that are compiled against one torch; source: torchvision/extension.py of 0.24.1."""

from __future__ import annotations

from doctor.loader.cards import Card
from doctor.loader.cards.torch import extension_loading, follower

CARD = Card(
    ("torchvision",), follower("torchvision"), loading=extension_loading("torchvision/_C*.so", "torchvision/image*.so")
)
