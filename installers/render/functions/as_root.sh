as_root() { # COMMAND...: with sudo if this script does not run as root
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -- "$@"; fi
}
