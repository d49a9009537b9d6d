"""Keras: pure Python over another framework."""

from __future__ import annotations

from doctor.loader.cards import Card

CARD = Card(("keras", "keras-nightly"), module="keras")
