"""TensorFlow's nightly builds, under names of their own."""

from doctor.frameworks.tensorflow import CARD

__all__ = ["CARD"]
