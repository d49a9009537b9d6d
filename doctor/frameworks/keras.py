"""Keras: pure Python over another framework."""

from __future__ import annotations

from doctor.frameworks import Card

CARD = Card(("keras", "keras-nightly"), module="keras")
