"""TensorFlow's nightly builds, under names of their own."""

from doctor.loader.cards.tensorflow import CARD

__all__ = ["CARD"]
