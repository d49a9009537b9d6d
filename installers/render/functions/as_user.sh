as_user() { # COMMAND...: runs as the user who started sudo
  if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "${SUDO_USER:-}" != root ]; then
    sudo -H -u "$SUDO_USER" -- "$@"
  else
    "$@"
  fi
}
