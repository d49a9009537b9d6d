driver_runs() { # RELEASE: or a newer one
  local found PATH=$PATH:/usr/lib/wsl/lib
  found=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null) || return 1
  found=${found%%$'\n'*}
  case $found in [0-9]*) ;; *) return 1 ;; esac
  [ "$(printf '%s\n' "$1" "$found" | sort -V | head -n 1)" = "$1" ]
}
