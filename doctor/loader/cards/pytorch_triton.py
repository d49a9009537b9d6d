"""Triton as PyTorch's own package indexes name it."""

from doctor.loader.cards.triton import CARD

__all__ = ["CARD"]
