"""What the configuration of an image says of the process that is started in it.

Sources: the OCI image specification, "OCI Image Configuration"; Docker's `docker image inspect`, which has the same
below `Config`.
"""

from __future__ import annotations

from typing import Any

from compat.base.record import NamedTuple
from doctor.host import Host
from doctor.host.documents import parse_json
from doctor.host.optional_reads import text_of
from doctor.image import SMALL_BYTES, ImageError
from doctor.model.facts.seen import Place

_TEXTS_AT_MOST = 10_000
_TEXT_AT_MOST_CHARS = 128 << 10  # Linux passes no longer variable
_SHOWN_CHARS = 160


class Step(NamedTuple):
    """A line of the image's history."""

    text: str  # "ENV LD_LIBRARY_PATH=/opt/lib", "RUN /bin/sh -c pip install torch"
    layer: int  # that it made, from 1; 0 for a line that changes only the configuration


class Config(NamedTuple):
    """The configuration of an image."""

    env: tuple[tuple[str, str], ...] = ()
    user: str = ""
    folder: str = ""  # the working directory
    command: tuple[str, ...] = ()  # entrypoint and arguments
    history: tuple[Step, ...] = ()
    os_family: str = "linux"
    machine: str = ""  # as Go calls it: "amd64", "arm64"
    variant: str = ""  # of the machine: "v7"
    diff_ids: tuple[str, ...] = ()  # digests of the layers unpacked
    sources: tuple[tuple[str, str | Place], ...] = ()  # where variables were set, of an image with them in its files
    is_known: bool = False  # false for a root tar, of which nobody says with which variables it runs

    @property
    def environ(self) -> dict[str, str]:
        """The variables of its process; the last one of a name counts."""
        found = dict(self.env)
        if self.folder:
            found.setdefault("PWD", self.folder)
        return found

    def set_by(self, name: str) -> str | Place:
        """The line, of the history or of a file, that gave a variable its value, "" where none is known."""
        if name in dict(self.sources):
            return dict(self.sources)[name]
        for number in range(len(self.history), 0, -1):
            text = self.history[number - 1].text
            if text.startswith("ENV ") and f"{name}=" in text:
                return f"the image's history, line {number}: {text[:_SHOWN_CHARS]}"
        return ""


def parse_config(content: bytes, shown: str) -> Config:
    """An image's configuration, or the answer of `docker image inspect`; raises ImageError."""
    said = read_json(content, shown)
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    if not isinstance(said, dict):
        raise ImageError(f"{shown}: it is not an image configuration (a JSON object)")
    inner = said.get("config", said.get("Config"))
    inner = inner if isinstance(inner, dict) else {}
    rootfs = said.get("rootfs", said.get("RootFS"))
    rootfs = rootfs if isinstance(rootfs, dict) else {}
    return Config(
        env=tuple(_pair(one) for one in _texts(inner.get("Env"))),
        user=_text(inner.get("User")),
        folder=_text(inner.get("WorkingDir")),
        command=(*_texts(inner.get("Entrypoint")), *_texts(inner.get("Cmd"))),
        history=_history(said.get("history")),
        os_family=_text(said.get("os", said.get("Os"))) or "linux",
        machine=_text(said.get("architecture", said.get("Architecture"))),
        variant=_text(said.get("variant", said.get("Variant"))),
        is_known=True,
        diff_ids=_texts(rootfs.get("diff_ids", rootfs.get("Layers"))),
    )


def environ_in(host: Host, config: Config) -> dict[str, str]:
    """The variables of its process, with the home of its user, as what starts a container finds it in /etc/passwd.

    Of an image that has its variables in its files the user is whoever starts it. Source: the OCI image specification,
    "User"; moby, libcontainer's user package (name or number, and a group behind a colon).
    """
    found = config.environ
    user = config.user.partition(":")[0] or "root"
    if not config.is_known or config.sources or "HOME" in found:
        return found
    fields = (line.split(":") for line in text_of(host, "/etc/passwd", SMALL_BYTES).splitlines())
    home = next((one[5] for one in fields if len(one) > 5 and user in {one[0], one[2]}), "")
    return {**found, "HOME": home} if home.startswith("/") else found


def read_json(content: bytes, shown: str) -> Any:
    """A value; raises ImageError for what is none, or absurd."""
    if len(content) > SMALL_BYTES:
        raise ImageError(f"{shown}: {len(content)} bytes, where a manifest or configuration has 4 MiB at most")
    try:
        return parse_json(content)
    except ValueError as error:
        raise ImageError(f"{shown}: it is not JSON ({str(error)[:80]})") from error


def _history(said: Any) -> tuple[Step, ...]:
    found, layer = [], 0
    for one in said[:_TEXTS_AT_MOST] if isinstance(said, list) else ():
        if not isinstance(one, dict):
            continue
        empty = one.get("empty_layer") is True
        layer += not empty
        found.append(Step(_step_text(_text(one.get("created_by"))), 0 if empty else layer))
    return tuple(found)


def _step_text(said: str) -> str:
    """As a Dockerfile has it: builders before BuildKit write `/bin/sh -c #(nop)  ENV A=b`."""
    text = said.removeprefix("/bin/sh -c #(nop)").strip() if "#(nop)" in said else said
    if text == said and said.startswith("/bin/sh -c "):
        text = f"RUN {said[len('/bin/sh -c ') :]}"
    return " ".join(text.removesuffix("# buildkit").split())


def _texts(said: Any) -> tuple[str, ...]:
    if isinstance(said, str):
        return (said[:_TEXT_AT_MOST_CHARS],)
    if not isinstance(said, list):
        return ()
    return tuple(one[:_TEXT_AT_MOST_CHARS] for one in said[:_TEXTS_AT_MOST] if isinstance(one, str))


def _text(said: Any) -> str:
    return said[:_TEXT_AT_MOST_CHARS] if isinstance(said, str) else ""


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value
