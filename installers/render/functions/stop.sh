stop() {
  printf 'stopped: %s\n' "$*" >&2
  exit 1
}
