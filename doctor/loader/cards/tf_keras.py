"""Keras 2 under the name that it has beside Keras 3."""

from __future__ import annotations

from doctor.loader.cards import Card

CARD = Card(("tf-keras",), module="tf_keras")
