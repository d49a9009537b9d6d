unpack() { # ARCHIVE DIRECTORY
  mkdir -p -- "$2"
  case $1 in
    *.zip) python3 -m zipfile -e "$1" "$2" ;;
    *) tar --extract --no-same-owner --file "$1" --directory "$2" ;;
  esac
}
