copy_all() { # DIRECTORY SOURCE: everything below it
  local folder file
  while IFS= read -r -d '' folder; do
    while IFS= read -r -d '' file; do
      copy "$1${folder#"$2"}" "$file"
    done < <(find "$folder" -mindepth 1 -maxdepth 1 ! -type d -print0)
  done < <(find "$2" -type d -print0)
}
