"""Triton as PyTorch's own package indexes name it."""

from doctor.frameworks.triton import CARD

__all__ = ["CARD"]
