"""The environment that pipenv keeps for the project in a directory, outside of the project.

Sources: pypa/pipenv, pipenv/project.py (virtualenv_location, _sanitize, get_name), pipenv/utils/virtualenv.py (the file
.project), pipenv/utils/shell.py (get_workon_home); its documentation, "Configuration" (WORKON_HOME, PIPENV_MAX_DEPTH).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from compat.base.user_dirs import user_dir
from doctor.host import Host
from doctor.host.optional_reads import names_of, text_of

_LEVELS_AT_MOST = 4  # PIPENV_MAX_DEPTH is 3 directories above
_NAMES_AT_MOST = 500
_NAME_AT_MOST = 42  # of the project's name in that of the environment
_UNSAFE = r'[ &$`!*@"()\[\]\\\r\n\t]'
_PATH_BYTES = 4096


def pipenv_environments(host: Host, folder: str) -> Iterator[str]:
    """Yield the prefixes whose file .project names the directory of the Pipfile around a directory."""
    root = folder
    for _ in range(_LEVELS_AT_MOST):
        if not root or host.is_file(f"{root}/Pipfile"):
            break
        root = root.rpartition("/")[0]
    else:
        return
    if not root:
        return
    home = _home(host)
    stem = re.sub(_UNSAFE, "_", root.rpartition("/")[2])[:_NAME_AT_MOST]
    for name in [one for one in names_of(host, home)[:_NAMES_AT_MOST] if one.startswith(f"{stem}-")]:
        project = text_of(host, f"{home}/{name}/.project", _PATH_BYTES).strip().replace("\\", "/")
        if project and os.path.normcase(os.path.realpath(project)) == os.path.normcase(os.path.realpath(root)):
            yield f"{home}/{name}"


def _home(host: Host) -> str:
    named = host.environ.get("WORKON_HOME", "").replace("\\", "/").rstrip("/")
    if named:
        return os.path.expanduser(named)
    if host.os_family == "windows":
        return f"{host.environ.get('USERPROFILE', '').replace(chr(92), '/')}/.virtualenvs"
    if host.environ.get("XDG_DATA_HOME") or host.os_family == "linux":
        return user_dir(host.environ, "linux", "data", "virtualenvs")
    return f"{host.environ.get('HOME', '')}/.local/share/virtualenvs"
