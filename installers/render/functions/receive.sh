get() { # URL FILE: appends to it; 0 when all has arrived, 75 when another try may bring more
  local status=0 code
  if command -v curl >/dev/null 2>&1; then
    code=$(curl --fail --location --proto "=${1%%:*}" --silent --show-error --connect-timeout 30 \
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

