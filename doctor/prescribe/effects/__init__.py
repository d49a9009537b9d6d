"""What each kind of effect makes of the facts: one file a kind, named after its type in `installers.effect`.

Each has one pure function `apply(effect, world) -> world`. What an effect leaves open becomes Unseen with a reason.
"""
