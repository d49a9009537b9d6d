replaced=$staging/replaced/$(date -u +%Y%m%dT%H%M%SZ)

is_same() { # FILE FILE: two links with one text, or two files with one content
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ -L "$1" ] && [ -L "$2" ] && [ "$(readlink -- "$1")" = "$(readlink -- "$2")" ]
  else
    [ -f "$2" ] && cmp -s -- "$1" "$2"
  fi
}

copy() { # DIRECTORY FILE...: symlinks stay symlinks; replaced files are kept
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
