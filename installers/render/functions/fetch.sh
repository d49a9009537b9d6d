fetch() { # URL FILE SHA256...: resumes an interrupted download; a part of another file is deleted once
  local url=$1 file=$2 part=$2.part there=
  shift 2
  if [ -f "$file" ] && is_one_of "$file" "$@"; then
    say "  it already exists"
    return
  fi
  if [ -s "$part" ]; then there=$(stat --format %s -- "$part"); fi
  if [ -z "$there" ] || ! is_one_of "$part" "$@"; then
    if [ -n "$there" ]; then say "  resuming after $there bytes"; fi
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
