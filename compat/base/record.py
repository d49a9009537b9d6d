"""NamedTuple as in typing, defined in a tenth of the time.

A check defines some 140 classes of values before it looks at anything. typing examines every annotation of every field
when a class is made, which was a fifth of the whole run; here they are kept as they are written, and
`typing.get_type_hints` reads them as ever. `collections.namedtuple` compiles a constructor and makes five methods for
each class; here all share the methods, and the constructors of all classes with as many fields are one code, in
which the names of the fields are put.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # from then on annotations are not evaluated before they are asked for
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - it is exported
else:
    from collections import _tuplegetter
    from types import CodeType, FunctionType

    _NOT_COPIED = frozenset({"__annotations__", "__qualname__"})
    _codes: dict[int, CodeType] = {}  # of constructors, by the number of fields

    def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        count = len(fields)
        if count not in _codes:
            asked = "".join(f"_{number}, " for number in range(count))
            _codes[count] = eval(f"lambda _cls, {asked}: _new(_cls, ({asked}))").__code__  # noqa: S307 - numbers alone
        code = _codes[count].replace(co_varnames=("_cls", *fields), co_name="__new__")
        made = FunctionType(code, {"_new": tuple.__new__, "__builtins__": {}}, "__new__", defaults)
        made.__qualname__ = f"{name}.__new__"
        return made

    @classmethod
    def _make(cls: Any, values: Any) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: Any, /, **changes: Any) -> Any:
        made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self: Any) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _repr(self: Any) -> str:
        told = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
        return f"{type(self).__name__}({told})"

    def _values(self: Any) -> tuple[Any, ...]:
        return tuple(self)

    _METHODS = {
        "__slots__": (),
        "_make": _make,
        "_replace": _replace,
        "__replace__": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": _values,
    }

    class _Maker(type):
        """Makes of a class statement what `collections.namedtuple` makes of a list of names."""

        def __new__(cls, name: str, _: tuple[type, ...], namespace: dict[str, Any]) -> type:
            hints = namespace.get("__annotations__", {})
            fields = tuple(hints)
            defaults = {field: namespace[field] for field in fields if field in namespace}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one that has one")
            if any(field.startswith("_") for field in fields):
                raise ValueError(f"{name}: field names cannot start with an underscore")
            content = _METHODS | {key: value for key, value in namespace.items() if key not in _NOT_COPIED}
            for number, field in enumerate(fields):
                content[field] = _tuplegetter(number, f"Alias for field number {number}")
            content |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            content["__new__"] = _constructor(name, fields, tuple(defaults.values()))
            content.setdefault("__doc__", f"{name}({', '.join(fields)})")
            made = type(name, (tuple,), content)
            made.__annotations__ = hints
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
