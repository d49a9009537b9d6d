"""Theano: Python and C sources that are compiled when a function runs, with the CUDA found then."""

from __future__ import annotations

from doctor.loader.cards import Card

CARD = Card(("theano", "theano-pymc"), module="theano")
