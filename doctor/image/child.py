"""A program that writes an image to its output, which is read while it is written; it ends with what reads it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from compat.base.process import Launch, Process
from compat.base.trust import NotTrusted
from doctor.image import CHUNK_BYTES, Damaged, ImageError

_WORDS_CHARS = 300
_MEMORY_AT_MOST_BYTES = 1 << 30  # of addresses; what reads a damaged file asks for any amount
_END_S = 30
_NO_SUCH_IMAGE = re.compile(r'": not found|does not resolve to an image ID')  # of ctr and of skopeo
_LAST_LOGGED = 'level=fatal msg="'


class Piped:
    """A child whose output is an image."""

    def __init__(
        self, argv: tuple[str, ...], program: str, shown: str, *, is_bounded: bool = False, hint: str = ""
    ) -> None:
        """Start it; raises OSError, ImageError where another user could change the program.

        The hint is for where it finds nothing.
        """
        self._argv, self._shown, self._hint = argv, shown, hint
        try:
            self._child = Process(Launch((program, *argv[1:]), is_piped=True, before=_bound if is_bounded else None))
        except NotTrusted as refused:
            raise ImageError(f"{shown}: {program} was not started: {refused.why}") from refused

    def __enter__(self) -> Piped:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """It is ended; where the image is of no use because it failed, its own words say why."""
        with self._child:
            self._child.kill()
            status = self._child.wait(0) or 0
            said = self._child.stderr()[:4096].decode("utf-8", "replace").strip()
        if isinstance(error, ImageError) and status > 0 and said:
            hint = f". {self._hint}" if self._hint and _NO_SUCH_IMAGE.search(said) else ""
            said = said.rpartition(_LAST_LOGGED)[2].removesuffix('"') if _LAST_LOGGED in said else said
            raise ImageError(f"{shlex.join(self._argv)}: {' '.join(said.split())[:_WORDS_CHARS]}{hint}") from None

    def chunks(self) -> Iterator[bytes]:
        """What it writes; raises Damaged where it failed in the end."""
        yield from self._child.chunks(CHUNK_BYTES)
        status = self._child.wait(_END_S)
        if status is None:
            raise Damaged(f"{self._shown}: {self._argv[0]} wrote all of it and did not end")
        if status:
            raise Damaged(f"{self._shown}: {self._argv[0]} ended with status {status}")


def _bound() -> None:
    """In the child, before it starts."""
    import resource  # late: no system but POSIX has it

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_AT_MOST_BYTES, _MEMORY_AT_MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # its words; the image goes to a pipe
