"""NamedTuple as in typing, defined in a third of the time.

A check defines some 140 classes of values before it looks at anything. typing examines every annotation of every field
when a class is made, which was a fifth of the whole run; here they are kept as they are written, and
`typing.get_type_hints` reads them as ever.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # from then on annotations are not evaluated before they are asked for
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - it is exported
else:
    _NOT_COPIED = frozenset({"__annotations__", "__module__", "__name__", "__qualname__", "__classcell__"})

    class _Maker(type):
        """Makes of a class statement what `collections.namedtuple` makes of a list of names."""

        def __new__(cls, name: str, _: tuple[type, ...], namespace: dict[str, Any]) -> type:
            hints = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in hints if field in namespace]
            if any(field not in namespace for field in [*hints][len(hints) - len(defaults) :]):
                raise TypeError(f"{name}: a field without a default follows one that has one")
            made = namedtuple(name, hints, defaults=defaults, module=namespace["__module__"])  # type: ignore[misc]
            made.__annotations__ = hints
            for key, value in namespace.items():
                if key not in hints and key not in _NOT_COPIED:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
