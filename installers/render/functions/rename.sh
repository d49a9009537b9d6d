rename() { # FILE FILE: renames the first to the second; a folder is merged into an existing one
  if [ ! -e "$1" ]; then return; fi
  mkdir -p -- "$(dirname -- "$2")"
  if [ -d "$1" ] && [ -d "$2" ]; then
    cp -a -- "$1/." "$2/"
    rm -r -- "$1"
  else
    mv -f -T -- "$1" "$2"
  fi
}
