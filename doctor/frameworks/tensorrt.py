"""TensorRT: the bindings for Python; its libraries lie in a distribution of their own, tensorrt-cu12-libs.

Source: tensorrt_bindings/__init__.py of tensorrt-cu12-bindings 11.4.0, which imports `tensorrt_libs`. What that package
opens was not read, so how it loads is not known here.
"""

from __future__ import annotations

from doctor.frameworks import Card

CARD = Card(("tensorrt-bindings", "tensorrt-cu*-bindings"), module="tensorrt_bindings")
