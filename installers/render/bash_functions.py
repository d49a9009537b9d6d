"""Functions of bash scripts that several kinds of step call."""

STOP = """\
stop() {
  printf 'stopped: %s\\n' "$*" >&2
  exit 1
}
"""
AS_ROOT = """\
as_root() { # COMMAND...: with sudo if this script does not run as root
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -- "$@"; fi
}
"""
AS_USER = """\
as_user() { # COMMAND...: runs as the user who started sudo
  if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "${SUDO_USER:-}" != root ]; then
    sudo -H -u "$SUDO_USER" -- "$@"
  else
    "$@"
  fi
}
"""
VERIFY = """\
is_one_of() { # FILE SHA256...: or GPUDOCTOR_SHA256
  local found one
  found=$(sha256sum <"$1")
  shift
  for one in "$@" ${GPUDOCTOR_SHA256:+"$GPUDOCTOR_SHA256"}; do
    if [ "${found%% *}" = "${one,,}" ]; then return 0; fi
  done
  return 1
}

verify() { # FILE SHA256...: any of them
  local file=$1
  shift
  [ -r "$file" ] || stop "$file cannot be read"
  if is_one_of "$file" "$@"; then return; fi
  if head -c 1024 "$file" | grep -qiE '<(!doctype )?html'; then
    stop "$file is a web page: log in, and download again"
  fi
  say "  its SHA-256 is $(sha256sum <"$file")"
  if [ $# -eq 0 ]; then stop "the checksum of $file is unknown: to trust it, set GPUDOCTOR_SHA256 to its checksum"; fi
  stop "$file is not the file that was meant: another digest"
}
"""
LOCATE = """\
locate() { # NAME: as a browser saved it, here, beside this script or among the downloads
  local place
  for place in . "$(dirname -- "$0")" "$HOME/Downloads"; do
    if [ -r "$place/$1" ]; then printf '%s\\n' "$place/$1"; return; fi
  done
  stop "$1 is not here, not beside this script and not in $HOME/Downloads"
}
"""
WRITE = """\
write() { # FILE: writes standard input to the file; the old file is kept beside it
  local file new
  file=$(readlink -m -- "$1")
  mkdir -p -- "$(dirname -- "$file")"
  new=$(mktemp -- "$file.gpudoctor-XXXXXX")
  cat >"$new"
  if [ -f "$file" ] && cmp -s -- "$file" "$new"; then
    rm -f -- "$new"
  elif [ -f "$file" ]; then
    cp -p -- "$file" "$file.$(date -u +%Y%m%dT%H%M%SZ).before"
    cat -- "$new" >"$file"
    rm -f -- "$new"
  else
    chmod 644 -- "$new"
    mv -f -T -- "$new" "$file"
  fi
}
"""
RECEIVE = """\
get() { # URL FILE: appends to it; 0 when all has arrived, 75 when another try may bring more
  local status=0 code
  if command -v curl >/dev/null 2>&1; then
    code=$(curl --fail --location --proto "=${1%%:*}" --silent --show-error --connect-timeout 30 \\
      --speed-limit 1 --speed-time 60 --continue-at - --output "$2" --write-out '%{http_code}' "$1") || status=$?
    case $status,$code in
      0,*) return 0 ;;
      33,* | 36,* | 22,416) rm -f -- "$2" ;; # the server has nothing that goes on from here: from the start
      22,408 | 22,429 | 22,5*) ;;
      22,* | [1-4],* | 23,*) return 1 ;; # no such file, no such address, no room
    esac
    return 75
  fi
  python3 -c 'import os, shutil, sys, urllib.error, urllib.request
url, path = sys.argv[1:]
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, request, file, code, message, headers, new):
        if url.startswith("https:") and not new.startswith("https:"):
            sys.exit("redirected to %s, which is not encrypted" % new)
        return super().redirect_request(request, file, code, message, headers, new)
there = os.path.getsize(path) if os.path.exists(path) else 0
request = urllib.request.Request(url, headers={"Range": "bytes=%d-" % there} if there else {})
try:
    with urllib.request.build_opener(Stay).open(request, timeout=60) as source:
        goes_on = there and (source.headers["Content-Range"] or "").startswith("bytes %d-" % there)
        with open(path, "ab" if goes_on else "wb") as file:
            begun = file.tell()
            shutil.copyfileobj(source, file)
            length = source.headers["Content-Length"]
            sys.exit(75 if length and file.tell() - begun < int(length) else 0)
except urllib.error.HTTPError as error:
    print(error, file=sys.stderr)
    if error.code == 416:
        os.remove(path)
    sys.exit(75 if error.code in (408, 416, 429) or error.code >= 500 else 1)
except OSError as error:
    print(error, file=sys.stderr)
    sys.exit(75)' "$1" "$2"
}

receive() { # URL FILE: goes on after what is there, and again for as long as that brings something
  local failed=0 status before
  while :; do
    before=$(stat --format %s -- "$2" 2>/dev/null || printf 0)
    status=0
    get "$1" "$2" || status=$?
    if [ "$status" -eq 0 ]; then return; fi
    [ "$status" -eq 75 ] || stop "$1 could not be fetched"
    if [ "$(stat --format %s -- "$2" 2>/dev/null || printf 0)" -gt "$before" ]; then failed=0; fi
    failed=$((failed + 1))
    [ "$failed" -lt 4 ] || stop "the connection broke again and again: run this script again to go on from here"
    sleep "$failed"
  done
}

"""
