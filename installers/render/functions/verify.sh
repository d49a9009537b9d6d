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
