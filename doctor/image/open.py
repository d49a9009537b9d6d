"""What `check` is asked to look at when it is an image, or a root with the configuration of one; and what it cites."""

from __future__ import annotations

from doctor.host import Host
from doctor.host.root import RootHost
from doctor.image.config import Config, environ_in
from doctor.image.facts import of_config
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, config_file, open_image
from doctor.model.facts.seen import Seen
from doctor.model.finding import Evidence, Report

_LINE_CHARS = 120


class ConfiguredRoot(RootHost):
    """A root directory with the variables of its container's configuration."""

    def __init__(self, root: str, config: Config) -> None:
        """Raises NotADirectory."""
        super().__init__(root, config.environ)
        self.environ = environ_in(self, config)
        self.set_by = config.set_by
        self.image_facts = Seen(of_config(config), "its configuration")


def machine_of_image(root: str | None, image: str | None, platform: str, config: str, *, uses_cache: bool) -> Host:
    """Return an image, or a root with a configuration; raises BadRequest."""
    if image is not None:
        return ImageHost(open_image(ImageRequest(image, platform, config, uses_cache)))
    return ConfiguredRoot(root or "", config_file(config))


def annotate_with_layers(report: Report, host: Host) -> Report:
    """The report with the layer that brought each file that is evidence; nothing where there is only one."""
    if not isinstance(host, ImageHost) or len(host.image.layers) < 2:
        return report
    findings = tuple(
        one._replace(evidence=tuple(_with_layer(item, host) for item in one.evidence)) for one in report.findings
    )
    return report._replace(findings=findings)


def _with_layer(item: Evidence, host: ImageHost) -> Evidence:
    number = host.layer_of(item.file) if item.file.startswith("/") else 0
    if not number:
        return item
    made_by = host.image.layers[number - 1].made_by[:_LINE_CHARS]
    return item._replace(detail=f"{item.detail} (layer {number}{f': {made_by}' if made_by else ''})")
