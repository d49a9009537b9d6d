"""TorchCodec: decoders that are compiled against one torch, which its metadata does not name.

What needs FFmpeg is tried for each release of that, and may fail; the rest, from 0.13 on, is opened by the import.
Source: torchcodec/_internally_replaced_utils.py of 0.17.0.
"""

from __future__ import annotations

from doctor.loader.cards import Card
from doctor.loader.cards.torch import extension_loading, follower

CARD = Card(("torchcodec",), follower("torchcodec"), loading=extension_loading("torchcodec/libtorchcodec_image*.so"))
