"""The line of a shell script that sets a variable, edited for good: `sed -i.bak` keeps the file as it was beside it.

Whatever else the line says stays, and a line that does not say it, or no longer, stays as it is. Where it names the
directory through a variable of its own ("~/.bashrc, line 118, by $CUDNN_HOME/lib"), the line is put out of force as a
whole: `:` is a command that does nothing, so that an `if` around it stays valid. Source: GNU sed's manual, "Numeric
Addresses", "t label" and "-i[SUFFIX]".
"""

from __future__ import annotations

import re

from installers.plan import Target
from installers.render.bash import quote, quoted_path, sudo, variable
from installers.render.comments import comment

Lines = tuple[str, ...]

_PLACE = re.compile(r"(?P<file>.+?), line (?P<line>\d+)(?P<indirectly>, by .+)?$")
_ENDS = "([^[:alnum:]_./-]|$)"  # what may follow the last directory of a list
_EMPTY = r"#=(.?)\$\{(\w+):\+:#=\1${\2:+#"  # ${NAME:+:$NAME} at the front would leave an empty element


def without_entry(directory: str, place: str, target: Target) -> Lines:
    """Take a directory out of the line, however many slashes end it; () where no line is known."""
    found = _PLACE.match(place)
    if found and found["indirectly"]:
        return put_out(place, target)
    spelled = rf"\B{_literal(directory.rstrip('/') or '/')}/*"  # \B: no directory that only ends so
    return _edited(place, f"{{s#{spelled}:##;t;s#:?{spelled}{_ENDS}#\\1#;s{_EMPTY}}}", target)


def with_value(name: str, value: str, place: str, target: Target) -> Lines:
    """Let the line set another value; () where no line is known."""
    new = quote(value).replace("\\", r"\\").replace("&", r"\&").replace("#", r"\#")
    return _edited(place, rf"s#((^|[ ;]){variable(name)}[= ])[^;&]*#\1{new}#", target)


def put_out(place: str, target: Target) -> Lines:
    """Let the line do nothing; () where no line is known."""
    mark = "#" if place.startswith("/etc/environment") else ": #"  # pam_env(8) reads that one: no shell
    return _edited(place, f"s/^/{mark} /", target)


def in_image(name: str, value: str) -> Lines:
    """For every login of an image's machine (pam_env(8)); the image of a container has it in its configuration.

    Source: Docker's documentation, "Dockerfile reference", ENV.
    """
    line = f"{variable(name)}={value}"
    return (
        *comment(f"a container's image has it in its Dockerfile instead: ENV {variable(name)}={quote(value)}"),
        f"printf '%s\\n' {quote(line)} >> /etc/environment",
    )


def cannot_unset(name: str) -> str:
    """What to do where a line of an image's Dockerfile sets a variable: ENV gives a value, and an empty one is one.

    CUDA_VISIBLE_DEVICES="" hides every GPU. Source: Docker's documentation, "Dockerfile reference", ENV.
    """
    return (
        f"delete {variable(name)} from the ENV line that sets it. If the base image sets it, start programs with"
        f" `env -u {name}`: a Dockerfile cannot unset a variable."
    )


def _edited(place: str, script: str, target: Target) -> Lines:
    found = _PLACE.match(place)
    if not found:
        return ()
    as_root = sudo(target, needs_root=found["file"].startswith("/etc/"))
    return (f"{as_root}sed -i.bak -E {quote(found['line'] + script)} {quoted_path(found['file'])}",)


def _literal(text: str) -> str:
    """A text as an extended regular expression between `#` signs."""
    return re.sub(r"([][\\.^$*+?(){}|#])", r"\\\1", text)
