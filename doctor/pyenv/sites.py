"""Where an environment's Python looks for packages: the directories on its sys.path, in order.

Source: CPython's `site` module (venv, user site, site-packages, .pth files).
"""

from __future__ import annotations

from doctor.host import Host, HostError, Missing
from doctor.host.optional_reads import names_of, text_of
from doctor.pyenv.prefixes import Located

_PTH_BYTES = 64 << 10
_PTH_FILES_AT_MOST = 200
_SITES_AT_MOST = 256
_USERS, _USERS_AT_MOST = "C:/Users", 50
_LINES_AT_MOST = 5_000  # of all .pth files of one Python; each is a directory to be looked for


class SearchPath:
    """The directories, in order, and what is in each."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._real: set[str] = set()
        self.listings: dict[str, tuple[str, ...]] = {}
        self._lines_left = _LINES_AT_MOST
        self.unreadable: list[str] = []  # site directories that are there and cannot be listed, with the reason

    @property
    def sites(self) -> tuple[str, ...]:
        """The directories in the order of sys.path."""
        return tuple(self.listings)

    def add(self, folder: str, *, first: bool = False) -> bool:
        """Add a directory that is there and not yet known under any name; `first` puts it before all others.

        Raises HostError for one that cannot be listed, Missing where there is none.
        """
        real = self._host.real_path(folder)
        if real in self._real or len(self.listings) >= _SITES_AT_MOST:
            return False
        names = self._host.names(folder)
        self._real.add(real)
        self.listings = {folder: names, **self.listings} if first else {**self.listings, folder: names}
        return True

    def try_to_add(self, folder: str, *, first: bool = False) -> None:
        """Add a directory; Python passes over one that it cannot list, and so do we."""
        try:
            self.add(folder, first=first)
        except HostError:
            return

    def add_site(self, folder: str) -> None:
        """Add a site directory and what the path lines of its .pth files name; their code lines are not run."""
        try:
            if not self.add(folder):
                return
        except Missing:
            return
        except HostError as error:
            self.unreadable.append(str(error))
            return
        files = [name for name in self.listings[folder] if name.endswith(".pth") and not name.startswith(".")]
        for name in files[:_PTH_FILES_AT_MOST]:
            text = text_of(self._host, f"{folder}/{name}", _PTH_BYTES)
            # setuptools' easy-install.pth moves its eggs before everything else (sys.__egginsert)
            first = "__egginsert" in text
            lines = path_lines(text)
            for line in reversed(lines) if first else lines:
                if self._lines_left > 0:
                    self.try_to_add(resolve(folder, line), first=first)
                self._lines_left -= 1


def path_lines(text: str) -> list[str]:
    """The lines of a .pth file that name a directory."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(("#", "import ", "import\t")) and "\0" not in line]


def resolve(folder: str, line: str) -> str:
    """A path of a .pth file or an egg-link, relative to the directory it is in, "." and ".." taken out."""
    import posixpath  # late: only environments with path lines need it

    line = line.replace("\\", "/")
    absolute = line.startswith("/") or line[1:2] == ":"
    return posixpath.normpath(line if absolute else f"{folder}/{line}")


def search_path(host: Host, located: Located) -> SearchPath:
    """The directories on sys.path that hold packages (not the standard library)."""
    path = SearchPath(host)
    separator = ";" if host.os_family == "windows" else ":"
    for folder in host.environ.get("PYTHONPATH", "").split(separator):
        if folder.startswith("/") or folder[1:2] == ":":
            path.try_to_add(folder.replace("\\", "/").rstrip("/") or "/")
    is_virtual = located.kind == "venv"
    if is_virtual:
        _add_all(path, site_folders(host, located.prefix, located.tag))
    if not is_virtual or located.uses_base_sites:
        users = user_sites(host, located)
        for user in users[:1]:
            path.add_site(user)
        if len(users) > 1:
            path.unreadable.append(
                f"{len(users)} users have packages of their own for it: who will run it is not known"
            )
        _add_all(path, site_folders(host, located.base, located.tag))
    return path


def _add_all(path: SearchPath, folders: list[str]) -> None:
    for folder in folders:
        path.add_site(folder)


def site_folders(host: Host, prefix: str, tag: str) -> list[str]:
    """The site directories that a Python with this prefix has."""
    if host.os_family == "windows":
        return [f"{prefix}/Lib/site-packages"]
    if prefix == "/usr":
        return _system_folders(host, tag)
    own, other = (f"{prefix}/{lib}/{tag}/site-packages" for lib in ("lib", "lib64"))
    folders = [other] if not host.is_dir(own) and host.is_dir(other) else [own]
    if prefix == "/usr/local":
        folders.append(f"{prefix}/lib/{tag}/dist-packages")
    return folders


def _system_folders(host: Host, tag: str) -> list[str]:
    """The distribution's own Python: dist-packages on Debian's family, lib64 and lib elsewhere."""
    if host.is_dir("/usr/lib/python3/dist-packages") or host.is_dir(f"/usr/lib/{tag}/dist-packages"):
        common = "/usr/lib/python3/dist-packages" if tag.startswith("python3") else ""
        own = [f"/usr/local/lib/{tag}/dist-packages", common, f"/usr/lib/{tag}/dist-packages"]
        return [folder for folder in own if folder]
    return [f"{prefix}/{lib}/{tag}/site-packages" for prefix in ("/usr/local", "/usr") for lib in ("lib64", "lib")]


def user_sites(host: Host, located: Located) -> list[str]:
    """The user's own site directory, none where it is switched off or there is no user (PEP 370)."""
    home, tag = host.environ.get("HOME", ""), located.tag
    if host.environ.get("PYTHONNOUSERSITE"):
        return []
    if host.os_family == "windows":
        return _user_sites_on_windows(host, located)
    base = host.environ.get("PYTHONUSERBASE") or (f"{home}/.local" if home else "")
    return [f"{base}/lib/{tag}/site-packages"] if base and tag else []


def _user_sites_on_windows(host: Host, located: Located) -> list[str]:
    """Those of this user; on a disk, those of every user that has one."""
    digits = "".join(str(getattr(located.python, "value", "")).split(".")[:2])
    if not digits:
        return []
    from doctor.pyenv.store_python import family_of, site_of  # late: only Windows has it

    folder = f"Python{digits}/site-packages"
    is_store = family_of(located.base) and not host.environ.get("PYTHONUSERBASE")
    local, base = host.environ.get("LOCALAPPDATA", "").replace("\\", "/"), user_base_on_windows(host)
    if host.is_live or base:
        return [site_of(located.base, local, digits)] if is_store and local else [f"{base}/{folder}"] if base else []
    homes = [f"{_USERS}/{name}/AppData" for name in names_of(host, _USERS)[:_USERS_AT_MOST]]
    sites = [
        site_of(located.base, f"{home}/Local", digits) if is_store else f"{home}/Roaming/Python/{folder}"
        for home in homes
    ]
    return [site for site in sites if host.is_dir(site)]


def user_base_on_windows(host: Host) -> str:
    """What sysconfig calls "userbase", "" where there is no user."""
    own, roaming = (host.environ.get(name, "").replace("\\", "/") for name in ("PYTHONUSERBASE", "APPDATA"))
    return own or (f"{roaming}/Python" if roaming else "")
