"""`check` and `which` take the same answers: on a machine of the lab, library by library."""

from __future__ import annotations

from typing import Any

from doctor.commands.which.answer import Item, about, subjects_of
from doctor.commands.which.product import PRODUCTS, Product, product_of
from doctor.commands.which.windows import about_dlls
from doctor.loader.cache import whole_cache
from doctor.loader.predictions import is_of_interest
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import value_or
from doctor.probes import environment, loader
from tests.lab.case import Examined

_EVERY = Product("every", "|".join(f"({product_of(name).pattern})" for name in PRODUCTS))  # by one simulation


def by_which(host: Any) -> dict[tuple[str, str], dict[str, tuple[str, Outcome]]]:
    """By environment and package: name, real path and outcome of every library that is asked for."""
    is_windows = host.os_family == "windows"
    answers_of, is_predicted = (about_dlls, _is_cudnn) if is_windows else (about, is_of_interest)
    products = [product_of(name) for name in PRODUCTS] if is_windows else [_EVERY]
    search = loader.look(host)._replace(cache=whole_cache(host))
    found: dict[tuple[str, str], dict[str, tuple[str, Outcome]]] = {}
    for one in value_or(environment.look(host, ()), ()):
        for subject in subjects_of(one, ""):
            assert isinstance(subject.framework, Framework)
            told = found.setdefault((one.prefix, subject.framework.package), {})
            for product in products:
                for item in answers_of(host, search, subject, product).items:
                    if is_predicted(item.name) and _counts(item):
                        told[item.name] = (item.path, item.outcome)
    return found


def _is_cudnn(name: str) -> bool:
    """Whether check predicts it on Windows."""
    return name.startswith("cudnn")


def _counts(item: Item) -> bool:
    return not item.undone and not (item.optional and not item.path)


def _as_told(prediction: Prediction) -> tuple[str, Outcome]:
    return value_or(prediction.path, ""), prediction.outcome


def disagreements(examined: Examined) -> list[str]:
    """What one of the two tells otherwise than the other."""
    host = examined.host
    predictions = value_or(examined.facts.loader.predictions, ())
    which = by_which(host)
    if host.os_family == "windows":  # where which says that it does not know how a framework opens them, check may know
        which = {one: told for one, told in which.items() if told}
    wrong = []
    for (prefix, package), told in which.items():
        mine = {one.soname: one for one in predictions if (one.environment, one.asker) == (prefix, package)}
        paths = {value_or(one.path, "") for one in mine.values()}
        for name, (path, outcome) in told.items():
            if path and path not in paths:
                wrong.append(f"which: {package} loads {path} for {name}; check does not say so")
            lacks = not path and outcome is Outcome.MISSING and name in mine
            if lacks and mine[name].outcome not in {Outcome.MISSING, Outcome.UNREAD}:
                wrong.append(f"which: {package} lacks {name}; check: {mine[name].outcome}")
        shown = {path for path, _ in told.values()}
        wrong += [
            f"check: {package} loads {one.path} for {one.soname}; which does not"
            for one in mine.values()
            if one.outcome is Outcome.FOUND and _as_told(one)[0] not in shown
        ]
    return wrong
