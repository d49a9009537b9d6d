writable() { # DIRECTORY: it, or the directory that it will be made in
  local place=$1
  [ -d "$place" ] || place=$(dirname -- "$place")
  [ -d "$place" ] || stop "$place does not exist: install the CUDA toolkit first"
  [ -w "$place" ] || stop "$place is not writable for $(id -un): run this script as root"
}
