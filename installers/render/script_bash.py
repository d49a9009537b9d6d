"""A plan as a bash script that a person can review and run: it stops at the first error and can be run again.

It works without gpudoctor, with what every distribution has, and never calls sudo for the copies: where a directory is
not writable it says so before anything is changed.
"""

from __future__ import annotations

from hashlib import sha256
from shlex import quote

from installers.plan import (
    ByHand,
    ChangeMode,
    Check,
    Command,
    CopyTree,
    Download,
    EditText,
    Extract,
    MakeLink,
    Plan,
    RefreshLoader,
    Step,
    Target,
    UseFile,
    WriteFile,
)
from installers.render.bash import quoted_glob, quoted_path, step_lines
from installers.render.comments import comment
from installers.render.words import reason, title

_HEAD = """\
# Stops at the first error; running it again does no harm. What is fetched and unpacked lies in a directory of its own
# (GPUDOCTOR_STAGING names another one), and what is replaced is kept there, below "replaced".
# shellcheck disable=SC2016 # what is said is for a person to type, not to be expanded here
set -euo pipefail
umask 022
"""
_END_OF_FILE = "END OF FILE"  # with blanks: no line of a file that gpudoctor writes
_ROOT = '[ "$(id -u)" -eq 0 ] || stop "some of these steps need root: run this script as root"'
_FUNCTIONS = {
    "say": """\
say() { printf '%s\\n' "$*"; }
""",
    "stop": """\
stop() {
  printf 'stopped: %s\\n' "$*" >&2
  exit 1
}
""",
    "writable": """\
writable() { # DIRECTORY: it, or the directory that it will be made in
  local place=$1
  [ -d "$place" ] || place=$(dirname -- "$place")
  [ -d "$place" ] || stop "$place is not there: install the CUDA toolkit first"
  [ -w "$place" ] || stop "$place is not writable for $(id -un): run this script as root"
}
""",
    "is_for": """\
is_for() { # CUDA, DIRECTORY of its headers: not that of another major
  local found
  [ -r "$2/cuda.h" ] || return 0
  found=$(sed -n 's/^#define CUDA_VERSION \\([0-9]*\\)[0-9][0-9][0-9].*/\\1/p' "$2/cuda.h")
  [ -z "$found" ] || [ "$found" = "$1" ] || stop "$2 holds the headers of CUDA $found, and the archive is for CUDA $1"
}
""",
    "fetch": """\
get() { # URL FILE: appends to it; 0 when all has arrived, 75 when another try may bring more
  local status=0 code
  if command -v curl >/dev/null 2>&1; then
    code=$(curl --fail --location --silent --show-error --connect-timeout 30 --speed-limit 1 --speed-time 60 \\
      --continue-at - --output "$2" --write-out '%{http_code}' "$1") || status=$?
    case $status,$code in
      0,*) return 0 ;;
      33,* | 36,* | 22,416) rm -f -- "$2" ;; # the server has nothing that goes on from here: from the start
      22,408 | 22,429 | 22,5*) ;;
      22,* | [1-4],* | 23,*) return 1 ;; # no such file, no such address, no room
    esac
    return 75
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --tries=4 --timeout=60 --continue --output-document="$2" "$1" || status=$?
    if [ "$status" -eq 4 ]; then return 75; fi
    if [ "$status" -eq 8 ]; then printf 'wget: no such file (404), or an error of the server\\n' >&2; fi
    return "$status"
  fi
  python3 -c 'import os, shutil, sys, urllib.error, urllib.request
url, path = sys.argv[1:]
there = os.path.getsize(path) if os.path.exists(path) else 0
request = urllib.request.Request(url, headers={"Range": "bytes=%d-" % there} if there else {})
try:
    with urllib.request.urlopen(request, timeout=60) as source:
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

fetch() { # URL FILE SHA256...: goes on where an earlier run stopped; a part of another file is thrown away once
  local url=$1 file=$2 part=$2.part there=
  shift 2
  if [ -f "$file" ] && is_one_of "$file" "$@"; then
    say "  it is there already"
    return
  fi
  if [ -s "$part" ]; then there=$(stat --format %s -- "$part"); fi
  if [ -z "$there" ] || ! is_one_of "$part" "$@"; then
    if [ -n "$there" ]; then say "  going on after $there bytes"; fi
    receive "$url" "$part"
    if [ -n "$there" ] && ! is_one_of "$part" "$@"; then
      say "  what was there is not the beginning of this file: from the start"
      rm -f -- "$part"
      receive "$url" "$part"
    fi
  fi
  verify "$part" "$@"
  mv -f -- "$part" "$file"
}
""",
    "verify": """\
is_one_of() { # FILE SHA256...: or GPUDOCTOR_SHA256
  local found one
  found=$(sha256sum <"$1")
  shift
  for one in "$@" ${GPUDOCTOR_SHA256:+"$GPUDOCTOR_SHA256"}; do
    if [ "${found%% *}" = "$one" ]; then return 0; fi
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
  if [ $# -eq 0 ]; then stop "nobody knows the digest of $file: if you trust that one, set GPUDOCTOR_SHA256 to it"; fi
  stop "$file is not the file that was meant: another digest"
}
""",
    "unpack": """\
unpack() { # ARCHIVE DIRECTORY
  mkdir -p -- "$2"
  case $1 in
    *.zip) python3 -m zipfile -e "$1" "$2" ;;
    *) tar --extract --no-same-owner --file "$1" --directory "$2" ;;
  esac
}
""",
    "rename": """\
rename() { # FILE FILE: what is there under the first name gets the second one; files of a folder join those of another
  if [ ! -e "$1" ]; then return; fi
  mkdir -p -- "$(dirname -- "$2")"
  if [ -d "$1" ] && [ -d "$2" ]; then
    cp -a -- "$1/." "$2/"
    rm -r -- "$1"
  else
    mv -f -T -- "$1" "$2"
  fi
}
""",
    "copy": """\
is_same() { # FILE FILE: two links with one text, or two files with one content
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ -L "$1" ] && [ -L "$2" ] && [ "$(readlink -- "$1")" = "$(readlink -- "$2")" ]
  else
    [ -f "$2" ] && cmp -s -- "$1" "$2"
  fi
}

copy() { # DIRECTORY FILE...: links stay links; what is replaced is kept
  local into=$1 file to
  shift
  mkdir -p -- "$into"
  for file in "$@"; do
    to=$into/${file##*/}
    [ -e "$file" ] || [ -L "$file" ] || stop "the archive has no $file"
    if is_same "$file" "$to"; then continue; fi
    if [ -d "$to" ] && [ ! -L "$to" ]; then stop "$to is a directory"; fi
    if [ -e "$to" ] || [ -L "$to" ]; then
      mkdir -p -- "$replaced$into"
      cp -P -p -- "$to" "$replaced$into/"
    fi
    rm -f -- "$to.gpudoctor-new"
    cp -P --preserve=mode,timestamps -- "$file" "$to.gpudoctor-new"
    mv -f -T -- "$to.gpudoctor-new" "$to"
  done
}
""",
    "copy_all": """\
copy_all() { # DIRECTORY SOURCE: everything below it
  local folder file
  while IFS= read -r -d '' folder; do
    while IFS= read -r -d '' file; do
      copy "$1${folder#"$2"}" "$file"
    done < <(find "$folder" -mindepth 1 -maxdepth 1 ! -type d -print0)
  done < <(find "$2" -type d -print0)
}
""",
    "write": """\
write() { # FILE: standard input takes its place; what was there is kept beside it
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
""",
    "edit": """\
edit() { # FILE SECTION KEY VALUE [once]: without a KEY, VALUE is a line to add; what stands there stays
  local file
  file=$(readlink -m -- "$1")
  if [ ! -e "$file" ]; then file=/dev/null; fi
  section=$2 key=$3 value=$4 once=${5-} awk '
    function head(row) { return row ~ /^[ \t]*\\[[^\\]]*\\][ \t]*([#;].*)?$/ }
    function name(row) { sub(/^[ \t]*\\[/, "", row); sub(/\\].*/, "", row); return row }
    function is_key(row) {
      if (key == "" || !match(row, /[=:]/)) return 0
      row = tolower(substr(row, 1, RSTART - 1)); gsub(/^[ \t]+|[ \t]+$/, "", row)
      return row == tolower(key)
    }
    function drop(at) { # the indented lines that go on with a value
      if (row[at] ~ /^[ \t]/) return
      for (at++; at < stop && row[at] ~ /^[ \t]+[^ \t]/; at++) gone[at] = 1
    }
    BEGIN { section = ENVIRON["section"]; key = ENVIRON["key"]; value = ENVIRON["value"]; once = ENVIRON["once"] }
    { if (sub(/\r$/, "")) end = "\r"; row[NR] = $0 }
    END {
      begin = section == "" ? 1 : 0; stop = NR + 1
      for (i = 1; i <= NR; i++) if (head(row[i])) {
        if (begin) { stop = i; break }
        if (name(row[i]) == section) begin = i + 1
      }
      count = NR
      if (!begin) {
        if (count) row[++count] = ""
        row[++count] = "[" section "]"; begin = stop = count + 1
      }
      line = key == "" ? value : key " = " value
      for (i = begin; i < stop; i++) if (key == "" ? row[i] == line : is_key(row[i])) {
        if (last && once) { gone[last] = 1; drop(last) }
        last = i
      }
      if (last && key != "") {
        drop(last)
        match(row[last], /^[ \t]*/)
        row[last] = substr(row[last], 1, RLENGTH) line
      }
      for (at = stop; at > begin && row[at - 1] !~ /[^ \t]/; at--);
      for (i = 1; i <= count; i++) {
        if (!last && i == at) print line end
        if (!(i in gone)) print row[i] end
      }
      if (!last && at > count) print line end
    }' "$file" | write "$1"
}
""",
}
_CALLS = {"fetch": ("verify",), "copy_all": ("copy",), "edit": ("write",)}  # what the functions call themselves


def script(plan: Plan, target: Target) -> str:
    """The whole script, ending with a line feed."""
    steps = [line for number, step in enumerate(plan.steps, 1) for line in _step(number, step, target)]
    first = [f"mkdir -p -- {quote(step.into)}" for step in plan.steps if isinstance(step, CopyTree) and step.is_new]
    first += [f"writable {quote(step.into)}" for step in plan.steps if isinstance(step, CopyTree)]
    majors = [step for step in plan.steps if isinstance(step, CopyTree) and step.cuda_major]
    first += [f"is_for {step.cuda_major} {quote(_headers(step))}" for step in majors]
    needing = [step for step in plan.steps if isinstance(step, (RefreshLoader, WriteFile, Command))]
    first += [_ROOT for step in needing if step.needs_root and not getattr(step, "place", "")]
    body = "\n".join([*dict.fromkeys(first), *steps, *_end(plan)]) + "\n"
    head = "\n".join(("#!/usr/bin/env bash", *comment(f"{plan.summary}: written by gpudoctor, to be read, then run.")))
    return f"{head}\n{_HEAD}\n{_staging(plan)}{_needed(body)}\n{body}"


def _headers(step: CopyTree) -> str:
    return f"{step.into}/include" if step.patterns == ("**",) else step.into


def _needed(body: str) -> str:
    """The functions that the script calls."""
    called = {line.split()[0] for line in body.splitlines() if line}
    called.update({"write"} if "| write " in body else ())
    for name in [name for name in _CALLS if name in called]:
        called.update(_CALLS[name])
    if called & {"writable", "is_for", "verify", "copy", "["}:
        called.add("stop")
    return "\n".join(text for name, text in _FUNCTIONS.items() if name in called)


def _staging(plan: Plan) -> str:
    """A directory of the user's, one a plan: not in /tmp, where others could put files of the same names first."""
    if not any(isinstance(step, (Download, UseFile, Extract, CopyTree)) for step in plan.steps):
        return ""
    name = sha256(repr(plan).encode()).hexdigest()[:16]
    lines = [f"staging=${{GPUDOCTOR_STAGING:-${{XDG_CACHE_HOME:-$HOME/.cache}}/gpudoctor/scripts/{name}}}"]
    if any(isinstance(step, CopyTree) for step in plan.steps):
        lines.append("replaced=$staging/replaced/$(date -u +%Y%m%dT%H%M%SZ)")
    lines.append('mkdir -p -- "$staging"')
    return "\n".join(lines) + "\n\n"


def _step(number: int, step: Step, target: Target) -> tuple[str, ...]:
    what = title(step).splitlines()[0]
    why = comment(reason(step))
    return ("", *why, f"say {quote(f'{number}. {what}')}", *_lines(step, target))


def _lines(step: Step, target: Target) -> tuple[str, ...]:
    if isinstance(step, Download):
        return (" ".join(("fetch", quote(step.url), _staged(step.to), *step.sha256)),)
    if isinstance(step, UseFile):
        file = _staged(step.to)
        return (" ".join(("verify", quote(step.path), *step.sha256)), f"cp -- {quote(step.path)} {file}")
    if isinstance(step, Extract):
        unpack = f"unpack {_staged(step.archive)} {_staged(step.to)}"
        below = f"{step.to}/" if step.to else ""
        pairs = ((_staged(f"{below}{before}"), _staged(f"{below}{after}")) for before, after in step.renames)
        return (unpack, *(f"rename {before} {after}" for before, after in pairs))
    if isinstance(step, CopyTree):
        return tuple(_copy(step, pattern) for pattern in step.patterns)
    return _on_machine(step, target)


def _on_machine(step: Step, target: Target) -> tuple[str, ...]:
    if isinstance(step, ChangeMode):
        return (f"chmod {step.add} {' '.join(map(quoted_glob, step.paths))}",)
    if isinstance(step, RefreshLoader):
        return ("ldconfig",)
    if isinstance(step, (EditText, WriteFile)):
        return _text(step)
    if isinstance(step, MakeLink):
        return (f"ln -sfn -- {quote(step.text)} {quote(step.path)}",)
    if isinstance(step, ByHand):
        return tuple(f"say {quote(f'   {line}')}" for line in step.text.splitlines()[1:])
    if isinstance(step, Check):
        return ("say '   gpudoctor check'",)
    if isinstance(step, Command) and not step.place:
        return (" ".join(_staged(word) if word in step.staged else quote(word) for word in step.argv),)
    return tuple(map(_told, step_lines(step, target)))


def _text(step: EditText | WriteFile) -> tuple[str, ...]:
    if isinstance(step, WriteFile):
        return (f"write {quoted_path(step.path)} <<'{_END_OF_FILE}'", *step.lines, _END_OF_FILE)
    where = f"edit {quoted_path(step.path)} {quote(step.section)}"
    settings = (f"{where} {quote(k)} {quote(v)}{' once' if k in step.once else ''}" for k, v in step.settings)
    return (*settings, *(f"{where} '' {quote(line)}" for line in step.lines))


def _told(line: str) -> str:
    """What another machine or a person's own shell must do is said, not done."""
    return f"say {quote(f'   {line}')}"


def _staged(name: str) -> str:
    return f'"$staging"/{quote(name)}' if name else '"$staging"'


def _copy(step: CopyTree, pattern: str) -> str:
    below, _, last = pattern.rpartition("/")
    source, into = (f"{one}/{below}".rstrip("/") for one in (step.source, step.into))
    if last == "**":
        return f"copy_all {quote(into)} {_staged(source)}"
    return f'copy {quote(into)} "$staging"/{quoted_glob(f"{source}/{last}")}'


def _end(plan: Plan) -> tuple[str, ...]:
    copies = any(isinstance(step, CopyTree) for step in plan.steps)
    kept = 'if [ -d "$replaced" ]; then say "What was replaced is in $replaced"; fi'
    return ("", "say 'Done.'", *((kept,) if copies else ()))
