"""One test that goes over many values of equal shape, and names each that fails.

Thousands of collected tests of a line each cost more time than what they compare.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test for each value, as `pytest.mark.parametrize` would, within one test. Fixtures are shared."""
    alone, swept = isinstance(names, str), (names,) if isinstance(names, str) else names
    cases = [dict(zip(swept, (value,) if alone else value, strict=True)) for value in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            assert cases
            failed: dict[str, Exception] = {}
            for case in cases:
                try:
                    test(**case, **fixtures)
                except Exception as error:  # noqa: BLE001  all of them are shown
                    failed[", ".join(str(getattr(one, "id", one)) for one in case.values())] = error
            if failed:
                lines = [f"{case}: {type(error).__name__}: {error}" for case, error in failed.items()]
                raise AssertionError("\n".join((f"{len(failed)} of {len(cases)}", *lines))) from next(
                    iter(failed.values())
                )

        own = inspect.signature(test)
        left = [parameter for name, parameter in own.parameters.items() if name not in swept]
        run.__signature__ = own.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
