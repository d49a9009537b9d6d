"""Files of packages whose paths have more characters than Windows takes from a program without long paths.

Sources: Microsoft, "Maximum Path Length Limitation" (MAX_PATH is 260, the NUL at the end among them); PyPA, "Recording
installed projects".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.snapshot import remembered
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Seen, Unseen, value_or
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES

MOST_CHARACTERS = 259
_KIND = "longest path of RECORD"
_NAMED_AT_MOST = 10_000


def look(
    host: Host, distributions: Fact[tuple[Distribution, ...]], frameworks: Fact[tuple[Framework, ...]]
) -> Fact[tuple[str, ...]]:
    """Of what frameworks and NVIDIA's wheels list, but for compiled modules, which Python goes without."""
    if isinstance(distributions, Unseen):
        return distributions
    names = {one.package for one in value_or(frameworks, ())}
    asked = (one for one in distributions.value if one.kind == "wheel" and not one.hidden_by)
    ours = (one for one in asked if one.name in names or one.name.startswith("nvidia-"))
    found = [path for one in ours for path in _of(host, one)]
    return Seen(tuple(found[:_NAMED_AT_MOST]), "RECORD files")


def _of(host: Host, one: Distribution) -> Iterator[str]:
    path, room = f"{one.metadata}/RECORD", MOST_CHARACTERS - len(one.site) - 1
    try:
        longest = remembered(
            host, path, _KIND, lambda: max(map(len, _names(host, path)), default=0), lambda said: type(said) is int
        )
        if longest > room:
            yield from (f"{one.site}/{name}" for name in _names(host, path) if len(name) > room)
    except HostError:
        return  # an egg, or what nobody may read


def _names(host: Host, path: str) -> Iterator[str]:
    """Paths below the site directory; raises HostError. One with a comma stands in quotes."""
    text = host.read_text(path, RECORD_AT_MOST_BYTES)
    for quoted, plain in re.findall(r'(?m)^(?:"([^"\n]+)"|([^,"\n]+)),', text):
        name = quoted or plain
        if "__pycache__/" not in name and not name.startswith(("..", "/")):
            yield name
