is_for() { # CUDA, DIRECTORY of its headers: not that of another major
  local found
  [ -r "$2/cuda.h" ] || return 0
  found=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\)[0-9][0-9][0-9].*/\1/p' "$2/cuda.h")
  [ -z "$found" ] || [ "$found" = "$1" ] || stop "$2 has the headers of CUDA $found, but the archive is for CUDA $1"
}
