"""What channels serve that an answer does not speak of, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compat.channels import Offer
from compat.reason import row_name
from doctor.output.page import Page


def write_offers(page: Page, offers: tuple[Offer, ...], covered: tuple[str, ...]) -> None:
    """What channels serve that the answer does not speak of, each with its command."""
    if not offers:
        return
    page.gap()
    page.paragraph(f"Other channels (this answer covers {' and '.join(covered)})", colour="bold")
    for offer in offers:
        cuda = f", CUDA {' or '.join(map(str, offer.cudas))}" if offer.cudas else ""
        code = f", code for {', '.join(chip.sm for chip in offer.cards)}" if offer.cards else ""
        note = f" ({offer.row.note})" if offer.row.note else ""
        page.paragraph(f"  {offer.label} from {offer.row.channel}{cuda}{code}{note}", hang=4)
        page.verbatim(offer.row.command, indent=4)


def offer_json(offer: Offer) -> dict[str, Any]:
    """What a channel serves, with the row that says it."""
    return {
        "package": offer.row.package,
        "channel": offer.row.channel,
        "releases": offer.row.versions,
        "cuda": list(map(str, offer.cudas)),
        "targets": None if offer.row.targets is None else list(map(str, offer.row.targets)),
        "command": offer.row.command,
        "row": row_name("index", "channels", offer.row),
        "source": offer.row.source,
    }


def offer_sources(offers: Iterable[Offer]) -> dict[str, str]:
    """The row of each, and where a reader can check it."""
    return {row_name("index", "channels", offer.row): offer.row.source for offer in offers}
