locate() { # NAME: as a browser saved it, here, beside this script or among the downloads
  local place
  for place in . "$(dirname -- "$0")" "$HOME/Downloads"; do
    if [ -r "$place/$1" ]; then printf '%s\n' "$place/$1"; return; fi
  done
  stop "$1 is not here, not beside this script and not in $HOME/Downloads"
}
