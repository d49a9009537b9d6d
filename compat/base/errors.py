"""The one base class of every error this project raises on purpose."""

from __future__ import annotations


class GpudoctorError(Exception):
    """Something went wrong that a user can act on; `hint` says how."""

    hint: str = ""


class DataError(GpudoctorError):
    """A shipped table or registry breaks its own contract: a fault of ours."""

    hint = "This is a fault in gpudoctor itself: please report it."
