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
